/* Revocations, and their rules.
 *
 * The report was true: who is said to have gone has gone; who is said to have
 * been removed was, and not before its grace time; and when all is said to be
 * well, nobody who was in the way when it was asked is there.  Nobody is
 * removed whom no revocation, and no urgent lock, has asked.
 *
 * How it can fail: who deleted a znode is not written on it.  A znode that is
 * gone while its session lives, and that its lock has not let go, was removed:
 * by whoever may, at that moment.
 */
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene_lock.h"

static struct revoke {
    evzk_lock_revoke *r; /* NULL: free. */
    int64_t proc, began;
    int64_t stopped_at; /* When it was canceled; 0: it was not. */
    bool canceled, used;
    const struct lock_revoke_plan *plan;
    bool there[LOCK_NODES]; /* In the way at the beginning. */
} revokes[LOCK_REVOKES];
SIM_KEEP(revokes)

bool lock_revoking(int proc)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        if (revokes[i].r && (proc < 0 || revokes[i].proc == proc))
            return true;
    }
    return false;
}

static bool is_due(const struct revoke *v)
{
    bool waits = false;

    for (int64_t i = 0; i < lock_world.nodes; i++)
        waits = waits || (v->there[i] && lock_world.node[i].live);
    return v->canceled || !waits;
}

bool lock_revoke_is_due(int proc)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        if (revokes[i].r && revokes[i].proc == proc && is_due(&revokes[i]))
            return true;
    }
    return false;
}

/* A delete that was sent is awaited; else the end is told in time, whether the
 * servers answer or not. */
void lock_revoke_check(void)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        const struct revoke *v = &revokes[i];
        int64_t due = v->stopped_at;

        if (!v->r || v->plan->remove)
            continue;
        if (!due && v->plan->timeout_ms)
            due = v->began + in_us(v->plan->timeout_ms);
        if (process_is_late((int)v->proc, due))
            sim_violation("p%d: a revocation is to end, and is not told so",
                          (int)v->proc);
    }
}

static void end_revoke(struct revoke *v)
{
    evzk_lock_revoke *gone = v->r;
    int proc = (int)v->proc;

    v->r = NULL;
    process_call_begins(proc);
    evzk_lock_revoke_free(gone);
    process_call_ends(proc);
    lock_maybe_close(proc);
}

static struct revoke *of_proc(int proc)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        if (revokes[i].r && revokes[i].proc == proc)
            return &revokes[i];
    }
    return NULL;
}

bool lock_revoke_free(int proc)
{
    struct revoke *v = of_proc(proc);

    if (v)
        end_revoke(v);
    return v != NULL;
}

bool lock_revoke_cancel(int proc)
{
    struct revoke *v = of_proc(proc);
    int rc;

    if (!v)
        return false;
    process_call_begins(proc);
    rc = evzk_lock_revoke_cancel(v->r);
    process_call_ends(proc);
    sim_say("p%d cancels its revocation: %s", proc, evzk_errname(rc));
    if (rc != EVZK_OK && rc != EVZK_ERR_STATE)
        sim_violation("p%d: canceling a revocation gave %s", proc,
                      evzk_errname(rc));
    if (rc == EVZK_OK) {
        v->canceled = true;
        v->stopped_at = sim_now();
    }
    return true;
}

/* Somebody may delete it now: the grace time is over since it was asked. */
static bool may_remove(const struct lock_node *n)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        const struct revoke *v = &revokes[i];

        if (v->used && v->plan->remove && n->asks &&
            sim_now() >= n->first_asked + in_us(v->plan->grace_ms))
            return true;
    }
    for (int64_t i = 0; i < lock_world.slots; i++) {
        const struct lock_plan *p = lock_world.slot[i].plan;

        if (p->revoke && p->grace_ms && n->asks && p->priority < n->priority &&
            sim_now() >= n->first_asked + in_us(p->grace_ms))
            return true;
    }
    return false;
}

/* The lock deletes its own znode, or has replaced it. */
static bool deletes(const struct lock_slot *k)
{
    const struct lock_node *n = lock_world.node;

    if (lock_is_leaving(k))
        return true;
    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n->seen && n->slot == k - lock_world.slot)
            return true;
    }
    return false;
}

bool lock_removing(void)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        if (revokes[i].used && revokes[i].plan->remove)
            return true;
    }
    return false;
}

bool lock_removed(const struct lock_node *n)
{
    const struct lock_slot *k;

    if (n->slot < 0 || !ens_alive(n->owner) || operator_deleted(n->czxid))
        return false;
    k = &lock_world.slot[n->slot];
    if (k->let_go || k->freed || k->ended || deletes(k))
        return false;
    if (!may_remove(n))
        sim_violation("lock %d was removed, or too early", n->slot);
    return true;
}

static bool in_the_way(const struct lock_revoke_plan *plan,
                       const struct lock_node *n)
{
    return !n->waits && !(plan->mode == EVZK_LOCK_READ && n->shares) &&
           n->priority >= plan->priority;
}

/* Nobody else may have removed anybody. */
static bool alone(const struct revoke *v)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        if (revokes[i].used && &revokes[i] != v)
            return false;
    }
    for (int64_t i = 0; i < lock_world.slots; i++) {
        if (lock_world.slot[i].plan->revoke)
            return false;
    }
    return true;
}

static bool has(const evzk_revoked *o, size_t n, const struct lock_node *node)
{
    for (size_t i = 0; i < n; i++) {
        if (lock_node_named(o[i].node) == node)
            return true;
    }
    return false;
}

/* Has a znode of this name gone since the revocation began?  An operator may
 * have put another one there by now. */
static bool has_gone(const struct revoke *v, const struct lock_node *newest)
{
    const struct lock_node *n = lock_world.node;

    for (; n < lock_world.node + lock_world.nodes; n++) {
        if (n->name == newest->name && n->place == newest->place && !n->live &&
            n->died_at >= v->began)
            return true;
    }
    return false;
}

static void check_report(const struct revoke *v, int rc, const evzk_revoked *o,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct lock_node *node = lock_node_named(o[i].node);

        if (!node)
            sim_violation("a revocation tells of %s, which never was",
                          o[i].node);
        else if (o[i].how != EVZK_REVOKED_STAYS && node->live &&
                 !has_gone(v, node))
            sim_violation("a revocation is wrong about %s", o[i].node);
        else if (has(o, i, node))
            sim_violation("a revocation tells twice of %s", o[i].node);
        else if (!in_the_way(v->plan, node))
            sim_violation("%s was in nobody's way", o[i].node);
        if (node && o[i].how == EVZK_REVOKED_YIELDED && node->removed &&
            alone(v))
            sim_violation("%s was removed, and is said to have yielded",
                          o[i].node);
        if (o[i].how == EVZK_REVOKED_REMOVED && !v->plan->remove)
            sim_violation("%s was not to be removed", o[i].node);
        if (o[i].how == EVZK_REVOKED_STAYS && rc == EVZK_OK)
            sim_violation("a revocation is done, and %s stays", o[i].node);
    }
    for (int64_t i = 0; i < lock_world.nodes && rc == EVZK_OK; i++) {
        const struct lock_node *node = &lock_world.node[i];

        if (v->there[i] && node->live)
            sim_violation("a revocation is done, and %d is there", node->seq);
    }
}

/* Some let only their own session write to their znodes. */
static bool own_acls(void)
{
    for (int i = 0; i < LOCK_PLANS; i++) {
        if (lock_world.sc->locks[i].own_acl)
            return true;
    }
    return false;
}

static bool rc_ok(const struct revoke *v, int rc)
{
    int proc = (int)v->proc;

    if (rc == EVZK_ERR_CLOSED)
        return process_of(proc)->closing;
    if (rc == EVZK_ERR_CANCELED || v->canceled)
        return rc == EVZK_ERR_CANCELED && v->canceled;
    if (rc == EVZK_ERR_TIMEOUT)
        return v->plan->timeout_ms &&
               sim_now() >= v->began + in_us(v->plan->timeout_ms);
    if (rc == EVZK_ERR_NOTEMPTY)
        return lock_world.sc->foreign && v->plan->remove;
    if (rc == EVZK_ERR_TOOLARGE)
        return ens_shut(proc);
    if (rc == EVZK_ERR_QUOTA)
        return ens_full_at() != 0;
    if (rc == EVZK_ERR_SERVER)
        return ens_throttled(proc);
    if (rc == EVZK_ERR_NOAUTH)
        return ens_denied(proc) || lock_world.sc->locks[0].hidden ||
               lock_denied(0) || own_acls();
    if (rc == EVZK_ERR_NOMEM)
        return process_lacked_memory(proc);
    return rc == EVZK_ERR_NOCHROOT ? lock_rootless()
                                   : rc == EVZK_OK && !lock_world.sc->rootless;
}

static void on_end(evzk_lock_revoke *ended, int rc, const evzk_revoked *o,
                   size_t n, void *arg)
{
    struct revoke *v = &revokes[(intptr_t)arg];
    int proc = (int)v->proc;

    sim_say("p%d revocation: %s, of %zu", proc, evzk_errname(rc), n);
    if (v->r != ended) {
        sim_violation("a revocation ended after it was freed");
        return;
    }
    process_heard(proc, "a revocation's callback");
    if (!rc_ok(v, rc))
        sim_violation("p%d: a revocation gave %s", proc, evzk_errname(rc));
    check_report(v, rc, o, n);
    process_callback(proc);
    if (v->r == ended)
        end_revoke(v);
}

static struct revoke *free_one(void)
{
    for (int i = 0; i < LOCK_REVOKES; i++) {
        if (!revokes[i].used)
            return &revokes[i];
    }
    return NULL;
}

static int start(struct revoke *v)
{
    evzk_lock_revoke_options opt = {.mode = v->plan->mode,
                                    .dialect = lock_world.sc->dialect,
                                    .priority = v->plan->priority,
                                    .remove = v->plan->remove,
                                    .grace_ms = v->plan->grace_ms,
                                    .timeout_ms = v->plan->timeout_ms};
    int rc;

    process_call_begins((int)v->proc);
    rc = evzk_lock_revoke_start(process_of((int)v->proc)->s, lock_path(0), &opt,
                                on_end, (void *)(intptr_t)(v - revokes), &v->r);
    process_call_ends((int)v->proc);
    return rc;
}

bool lock_revoke(int proc, const struct lock_revoke_plan *plan)
{
    const struct process *p = process_of(proc);
    struct revoke *v = free_one();
    int rc;

    if (!v || !p->s)
        return false;
    *v = (struct revoke){.proc = proc, .began = sim_now(), .plan = plan};
    for (int64_t i = 0; i < lock_world.nodes; i++)
        v->there[i] = lock_world.node[i].live &&
                      lock_world.node[i].place == 0 &&
                      !lock_world.node[i].foreign &&
                      in_the_way(plan, &lock_world.node[i]);
    rc = start(v);
    sim_say("p%d revokes: %s", proc, evzk_errname(rc));
    if (rc == EVZK_OK) {
        v->used = true;
        lock_dirs_busy(proc);
        return true;
    }
    if (!(rc == EVZK_ERR_CLOSED && p->closing) &&
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
        sim_violation("p%d: a revocation gave %s at once", proc,
                      evzk_errname(rc));
    memset(v, 0, sizeof *v);
    return false;
}
