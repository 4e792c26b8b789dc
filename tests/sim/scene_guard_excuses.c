/* Which outcomes of a guarded write the scene explains: those that no library
 * can spare its user.
 *
 * How it can fail: what is excused too freely hides a defect.  So a stop, a
 * session's end and an operator count only if they have met this very write. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_guard.h"

bool guard_lock_rc_ok(int i, int rc)
{
    int proc = guard_plan_of(i)->proc;

    return process_may_return(proc, rc) || rc == EVZK_ERR_CANCELED ||
           rc == EVZK_ERR_NODEGONE || rc == EVZK_ERR_LEASE ||
           rc == EVZK_ERR_EXPIRED ||
           (rc == EVZK_ERR_SERVER && ens_throttled(proc)) ||
           (rc == EVZK_ERR_QUOTA && ens_full_at()) ||
           (rc == EVZK_ERR_TOOLARGE && ens_shut(proc)) ||
           (rc == EVZK_ERR_NOAUTH && ens_denied(proc)) ||
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
    case EVZK_ERR_TOOLARGE:
        return ens_shut(plan->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    default:
        return false;
    }
}

/* Has a session ended that the process had when the write began, or since? */
static bool session_ended(int proc, int64_t before)
{
    const struct process *p = process_of(proc);

    for (unsigned k = before > 0 ? (unsigned)before - 1 : 0; k < p->n_ids;
         k++) {
        if (session_over(p->ids[k]))
            return true;
    }
    return false;
}

/* An operator has deleted what the operation is for. */
static bool is_for_nothing(int i, const struct guarded *w, size_t op)
{
    struct ens_seen seen;
    char path[32];

    if (op >= OPS || !operator_deleted_any())
        return false;
    guard_op_path(path, (int)op, i, w - guarding.writer[i].of);
    if (op == OP_CREATE)
        snprintf(path, sizeof path, "/w");
    return !ens_look(path, &seen);
}

/* Does a write of this process cost its connection, again and again?  Others
 * go with it. */
static bool any_big(int proc)
{
    for (int i = 0; i < WRITERS; i++) {
        if (guard_plan_of(i)->proc == proc && guard_plan_of(i)->big)
            return true;
    }
    return false;
}

bool guard_may_fail(int i, const struct guarded *w,
                    const evzk_guard_result *result)
{
    const struct guard_plan *plan = guard_plan_of(i);

    if (w->rc == EVZK_ERR_NODEEXISTS)
        return plan->clashes && result->failed == OP_CREATE;
    if (w->rc == EVZK_ERR_BADVERSION)
        return plan->stale && result->failed == OP_SET;
    if (w->rc == EVZK_ERR_NONODE)
        return is_for_nothing(i, w, result->failed);
    if (w->rc == EVZK_ERR_QUOTA)
        return ens_full_at() != 0;
    if (result->failed != OPS)
        return false;
    return is_stopped(i, w) ||
           (w->rc == EVZK_ERR_EXPIRED &&
            session_ended(plan->proc, w->sessions)) ||
           (w->rc == EVZK_ERR_CONNLOSS && any_big(plan->proc)) ||
           (w->rc == EVZK_ERR_NOAUTH &&
            (ens_denied(plan->proc) || guarding.own->denied ||
             (plan->perms && !(plan->perms & EVZK_PERM_WRITE)))) ||
           (w->rc == EVZK_ERR_NOMEM && process_lacked_memory(plan->proc));
}

bool guard_lost_receipt(const struct guarded *w)
{
    return w->receipt_made ? operator_deleted(w->receipt_made)
                           : operator_deleted_any();
}

bool guard_is_written(const char *path)
{
    struct ens_seen seen;
    const char *name = strrchr(path, '/');

    return name && ens_look(path, &seen) && seen.version > 0 &&
           (seen.len != (int32_t)strlen(name + 1) ||
            memcmp(seen.data, name + 1, (size_t)seen.len) != 0);
}

bool guard_may_be_unknown(int i, const struct guarded *w)
{
    const struct guard_plan *plan = guard_plan_of(i);

    return is_stopped(i, w) ||
           (w->rc == EVZK_ERR_EXPIRED &&
            session_ended(plan->proc, w->sessions)) ||
           (w->rc == EVZK_ERR_NOAUTH && plan->perms &&
            !(plan->perms & EVZK_PERM_READ)) ||
           (w->rc == EVZK_ERR_CONNLOSS &&
            (guard_lost_receipt(w) || w->tampered ||
             ens_throttles(plan->proc) > REFUSALS)); /* At the receipt. */
}
