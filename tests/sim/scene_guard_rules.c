/* The rules of guarded writes.
 *
 * In the state in which a write is done, the guard's znode stands: the very one
 * that stood when the write was called.  A write is done once at most, with all
 * its operations.  DONE: it was done.  REFUSED: the guard's znode is gone, and
 * the write was not done, and never will be.  FAILED: the same, with an error
 * that the scene explains.  UNKNOWN: only where the session ended before the
 * answer, or the write was stopped, or somebody meddled with the receipt.
 *
 * How it can fail: the tree is looked at after every step, and no two
 * transactions are committed in one step. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_guard.h"

const char guard_dir[] = "/g",
           guard_znode[] = "123e4567-e89b-42d3-a456-426614174000-lock-";

void guard_op_path(char out[32], int op, int writer, int64_t write)
{
    static const char *const names[OPS] = {"set", "new", "old", "seal"};

    if (op == OP_CHECK)
        snprintf(out, 32, "/w/seal");
    else
        snprintf(out, 32, "/w/%s-%d-%d", names[op], writer, (int)write);
}

bool guard_lock_rc_ok(int i, int rc)
{
    int proc = guard_plan_of(i)->proc;

    return process_may_return(proc, rc) || rc == EVZK_ERR_CANCELED ||
           rc == EVZK_ERR_NODEGONE || rc == EVZK_ERR_LEASE ||
           rc == EVZK_ERR_EXPIRED ||
           (rc == EVZK_ERR_SERVER && ens_throttled(proc)) ||
           rc == EVZK_ERR_FOREIGN; /* Of no interest here. */
}

static bool is_stopped(int i, const struct guarded *w)
{
    const struct guard_plan *plan = guard_plan_of(i);

    switch (w->rc) {
    case EVZK_ERR_CANCELED:
        return w->canceled;
    case EVZK_ERR_TIMEOUT:
        return plan->timeout_ms > 0;
    case EVZK_ERR_CLOSED:
        return process_of(plan->proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttled(plan->proc);
    default:
        return false;
    }
}

static bool session_ended(int proc)
{
    const struct process *p = process_of(proc);

    for (unsigned k = 0; k < p->n_ids; k++) {
        if (session_over(p->ids[k]))
            return true;
    }
    return false;
}

static bool stands(const struct guarded *w)
{
    struct ens_seen seen;

    return ens_look(w->guard, &seen) && seen.czxid == w->guard_made;
}

static void check_done(int i, const struct guarded *w,
                       const evzk_guard_result *result)
{
    static const int32_t versions[OPS] = {
        [OP_SET] = -1, [OP_CREATE] = 0, [OP_DELETE] = -1, [OP_CHECK] = 0};

    if (!w->landed)
        sim_violation("writer %d: DONE, and it was not done", i);
    else if (w->rc != EVZK_OK || !result->version ||
             memcmp(result->version, versions, sizeof versions) != 0)
        sim_violation("writer %d: DONE, with wrong results", i);
    else if (result->zxid != w->landed &&
             (result->zxid != 0 || !operator_deleted_any()))
        sim_violation("writer %d: DONE with another zxid", i);
}

static bool may_fail(int i, const struct guarded *w,
                     const evzk_guard_result *result)
{
    const struct guard_plan *plan = guard_plan_of(i);

    if (w->rc == EVZK_ERR_NODEEXISTS)
        return plan->clashes && result->failed == OP_CREATE;
    if (w->rc == EVZK_ERR_NONODE) /* An operator has deleted what it is for. */
        return operator_deleted_any() && result->failed < OPS;
    if (result->failed != OPS)
        return false;
    return is_stopped(i, w) ||
           (w->rc == EVZK_ERR_NOAUTH && guarding.own->denied) ||
           (w->rc == EVZK_ERR_NOMEM && process_lacked_memory(plan->proc));
}

/* An operator has written to the receipt. */
static bool is_written(const char *name, const struct ens_seen *seen)
{
    return seen->version > 0 && (seen->len != (int32_t)strlen(name) ||
                                 memcmp(seen->data, name, strlen(name)) != 0);
}

static bool any_written_in(const char *dir)
{
    const char *names[32];
    size_t n = ens_children(dir, names, 32);
    struct ens_seen seen;
    char path[160];

    for (size_t k = 0; k < n && k < 32; k++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        if (strstr(path, "-receipt") && ens_look(path, &seen) &&
            is_written(names[k], &seen))
            return true;
    }
    return false;
}

static bool any_written(void)
{
    return any_written_in("/l") || any_written_in(guard_dir);
}

static bool may_be_unknown(int i, const struct guarded *w)
{
    int proc = guard_plan_of(i)->proc;

    return is_stopped(i, w) ||
           (w->rc == EVZK_ERR_EXPIRED && session_ended(proc)) ||
           (w->rc == EVZK_ERR_CONNLOSS &&
            (operator_deleted_any() || any_written()));
}

void guard_check_told(int i, struct guarded *w, const evzk_guard_result *result)
{
    switch (w->outcome) {
    case EVZK_GUARD_DONE:
        check_done(i, w, result);
        return;
    case EVZK_GUARD_REFUSED:
        if (w->rc != EVZK_ERR_NODEGONE || stands(w))
            sim_violation("writer %d: REFUSED, and the guard stands", i);
        break;
    case EVZK_GUARD_FAILED:
        if (!may_fail(i, w, result))
            sim_violation("writer %d: FAILED with %s", i, evzk_errname(w->rc));
        break;
    case EVZK_GUARD_UNKNOWN:
        if (!may_be_unknown(i, w))
            sim_violation("writer %d: UNKNOWN with %s", i, evzk_errname(w->rc));
        return;
    }
    if (w->landed)
        sim_violation("writer %d: %s, and it was done", i,
                      evzk_guard_outcome_name(w->outcome));
}

/* The tree. */

static void check_landed(int i, int k, struct guarded *w, int64_t zxid)
{
    struct ens_seen seen;
    char path[32];

    sim_say("writer %d: write %d is done", i, k + 1);
    w->landed = zxid;
    if (!stands(w) && !operator_copied(w->guard_made))
        sim_violation("writer %d: it writes, and its guard is gone", i);
    if (w->told && w->outcome != EVZK_GUARD_UNKNOWN)
        sim_violation("writer %d: %s, and it was done later", i,
                      evzk_guard_outcome_name(w->outcome));
    guard_op_path(path, OP_CREATE, i, k);
    if (guard_plan_of(i)->clashes)
        snprintf(path, sizeof path, "/w/seal");
    if (!ens_look(path, &seen) || seen.czxid != zxid)
        sim_violation("writer %d: %s was not created with it", i, path);
    guard_op_path(path, OP_DELETE, i, k);
    if (ens_look(path, &seen))
        sim_violation("writer %d: %s was not deleted with it", i, path);
}

static void check_write(int i, int k, struct guarded *w)
{
    struct ens_seen seen;
    char path[32];

    guard_op_path(path, OP_SET, i, k);
    if (!ens_look(path, &seen) || seen.version == 0)
        return;
    if (!w->landed)
        check_landed(i, k, w, seen.mzxid);
    if (seen.version > 1)
        sim_violation("writer %d: write %d is done twice", i, k + 1);
}

void guard_check(void)
{
    if (ens_has_changed(&guarding.looked)) {
        for (int i = 0; i < WRITERS; i++) {
            for (int k = 0; k < guarding.writer[i].n; k++)
                check_write(i, k, &guarding.writer[i].of[k]);
        }
    }
    processes_check();
}

static void check_dir(int proc, const char *dir)
{
    const char *names[32];
    size_t n = ens_children(dir, names, 32);

    for (size_t k = 0; k < n && k < 32; k++) {
        const struct process *p = process_of(proc);
        struct ens_seen seen;
        char path[160];

        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        if (strstr(path, "-receipt") && ens_look(path, &seen) &&
            !is_written(names[k], &seen) && p->n_ids > 0 &&
            seen.owner == p->ids[p->n_ids - 1] && !session_over(seen.owner))
            sim_violation("p%d: %s is left", proc, names[k]);
    }
}

void guard_check_left(int proc)
{
    const struct process *p = process_of(proc);

    if (ens_throttled(proc) || process_lacked_memory(proc))
        return;
    if (!process_is_idle(p)) {
        if (evzk_session_connected(p->s))
            sim_violation("p%d: a write does not end", proc);
        return;
    }
    check_dir(proc, "/l");
    check_dir(proc, guard_dir);
}

void guard_check_end(void) { processes_check_end(); }
