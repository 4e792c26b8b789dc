/* The rules of guarded writes.
 *
 * In the state in which a write is done, the guard's znode stands: the very one
 * that stood when the write was called.  A write is done once at most, with all
 * its operations.  DONE: it was done.  REFUSED: the guard's znode is gone, and
 * the write was not done, and never will be.  FAILED: the same, with an error
 * that the scene explains.  UNKNOWN: only where the client has got the write,
 * and the session ended before the answer, or the write was stopped, or
 * somebody meddled with the receipt, or the servers refused to say it.  A write
 * that is canceled is told at once.
 *
 * How it can fail: the tree is looked at after every step, and no two
 * transactions are committed in one step. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene.h"
#include "scene_guard.h"

static bool stands(const struct guarded *w)
{
    struct ens_seen seen;

    return ens_look(w->guard, &seen) && seen.czxid == w->guard_made;
}

static void check_done(int i, const struct guarded *w,
                       const evzk_guard_result *result)
{
    int32_t versions[OPS];

    guard_versions(i, versions);
    if (!w->landed)
        sim_violation("writer %d: DONE, and it was not done", i);
    else if (w->rc != EVZK_OK || !result->version ||
             memcmp(result->version, versions, sizeof versions) != 0)
        sim_violation("writer %d: DONE, with wrong results", i);
    else if (result->zxid != w->landed && !fault_wrote(result->zxid) &&
             (result->zxid != 0 || !guard_lost_receipt(w)))
        sim_violation("writer %d: DONE with another zxid", i);
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
        if (!guard_may_fail(i, w, result))
            sim_violation("writer %d: FAILED with %s", i, evzk_errname(w->rc));
        break;
    case EVZK_GUARD_UNKNOWN:
        if (!guard_may_be_unknown(i, w))
            sim_violation("writer %d: UNKNOWN with %s", i, evzk_errname(w->rc));
        if (!w->sent)
            sim_violation("writer %d: UNKNOWN, and it was never sent", i);
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

/* A write that is canceled waits no more: its process has nothing else to do at
 * that moment. */
static void check_canceled(int i)
{
    enum { SOON_US = 1000 };
    struct writer *w = &guarding.writer[i];
    struct guarded *of = w->n > 0 ? &w->of[w->n - 1] : NULL;
    int proc = guard_plan_of(i)->proc;

    if (!w->g || of->told)
        return;
    if (process_is_late(proc, of->due))
        sim_violation("writer %d: a write's time is over, and not told", i);
    if (!of->canceled_at)
        return;
    if (sim_is_slow(proc) || process_was_frozen(proc, of->canceled_at))
        of->canceled_at = sim_now();
    else if (sim_now() > of->canceled_at + SOON_US)
        sim_violation("writer %d: a write is canceled, and not told", i);
}

/* Each write is told. */
void guard_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < WRITERS; i++) {
        const struct writer *w = &guarding.writer[i];

        sim_owe(debt,
                guard_plan_of(i)->proc == proc && w->g && !w->of[w->n - 1].told,
                "a write is not told", i);
        debt->paid += (uint64_t)w->n;
    }
}

void guard_check(void)
{
    for (int i = 0; i < WRITERS; i++)
        check_canceled(i);
    if (ens_has_changed(&guarding.looked)) {
        for (int i = 0; i < WRITERS; i++) {
            for (int k = 0; k < guarding.writer[i].n; k++) {
                struct guarded *w = &guarding.writer[i].of[k];

                w->tampered = w->tampered || guard_is_written(w->receipt);
                check_write(i, k, w);
            }
        }
    }
    processes_check();
}

static bool is_of(int proc, int64_t session)
{
    const struct process *p = process_of(proc);

    for (unsigned k = 0; k < p->n_ids; k++) {
        if (p->ids[k] == session)
            return true;
    }
    return false;
}

static void check_dir(int proc, const char *dir)
{
    const char *names[32];
    size_t n = ens_children(dir, names, 32);

    for (size_t k = 0; k < n && k < 32; k++) {
        struct ens_seen seen;
        char path[160];

        snprintf(path, sizeof path, "%s/%s", dir, names[k]);
        if (strstr(path, "-receipt") && ens_look(path, &seen) &&
            !guard_is_written(path) && is_of(proc, seen.owner) &&
            !session_over(seen.owner))
            sim_violation("p%d: %s is left", proc, names[k]);
    }
}

/* A receipt that may not be read is not known again in another connection. */
static bool may_read(int proc)
{
    for (int i = 0; i < WRITERS; i++) {
        const struct guard_plan *plan = guard_plan_of(i);

        if (plan->proc == proc && plan->perms &&
            !(plan->perms & EVZK_PERM_READ))
            return false;
    }
    return true;
}

void guard_check_left(int proc)
{
    const struct process *p = process_of(proc);

    if (ens_denied(proc) || process_lacked_memory(proc) || !may_read(proc))
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
