/* The parts of a multi-lock: each is a lock, acquired as any program would.
 *
 * How it can fail.  A lock may be lost at any time: its session ends, or
 * somebody deletes its znode.  When all were granted, that is told at once.  A
 * lock that is lost with the session's lease tells so before its znode has
 * gone: the part waits for LOCK_GONE.
 */
#include "recipes/lock/lock_internal.h"
#include "recipes/multi_lock/multi_lock_internal.h"

enum { AGAIN_US = 100000 };

static void forget(struct multi_part *t)
{
    evzk_lock *lock = t->lock;

    t->lock = NULL;
    t->state = PART_NONE;
    evzk_lock_free(lock);
}

static void blame(struct multi_part *t, int *of, int rc)
{
    if (*of != EVZK_OK)
        return; /* The first one counts. */
    *of = rc;
    t->all->blame = t->index;
}

/* Nothing of the lock is left, or the session goes on deleting what is. */
static void over(struct multi_part *t, int rc)
{
    bool left = t->lock->may_stand;

    if (left)
        t->all->failed = EVZK_OK; /* Then that counts for more. */
    if (left || (t->state == PART_WAITS && !t->all->leaves))
        blame(t, &t->all->failed, rc);
    forget(t);
}

/* Was the part lost to its session or to an operator?  Then it may be taken
 * again.  What the servers refuse, they refuse the next part, too. */
static bool may_be_taken_again(int rc)
{
    return rc == EVZK_ERR_EXPIRED || rc == EVZK_ERR_LEASE ||
           rc == EVZK_ERR_NODEGONE;
}

/* The application may free the multi-lock. */
static void lost(struct multi_part *t, int rc)
{
    struct evzk_multi_lock *p = t->all;

    t->state = PART_LEAVES;
    if (t->lock->m.place.ended)
        forget(t);
    if (p->leaves || p->m.stopping)
        return;
    if (p->failed == EVZK_OK)
        blame(t, may_be_taken_again(rc) ? &p->lost : &p->failed, rc);
    if (!evzk__multi_lock_granted(p))
        return;
    evzk__machine_stop(&p->m, rc);
    evzk__multi_lock_tell_end(p, rc);
}

static void take_event(struct multi_part *t, int ev, int rc)
{
    switch (ev) {
    case EVZK_LOCK_GRANTED:
        t->state = PART_HELD;
        t->token = evzk_lock_token(t->lock);
        break;
    case EVZK_LOCK_REQUEUED:
        t->all->requeued = rc;
        break;
    case EVZK_LOCK_LOST:
        lost(t, rc);
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_FAILED:
    case LOCK_GONE:
        over(t, rc);
        break;
    default:
        break;
    }
}

static void heard(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct multi_part *t = arg;
    struct evzk_multi_lock *p = t->all;
    evzk_session *s = evzk__machine_session(&p->m);
    int64_t begun = evzk__machine_call_in(s);

    (void)l;
    evzk__machine_ask(&p->m);
    take_event(t, (int)ev, rc);
    evzk__machine_called_in(s, begun);
}

static int acquire(struct multi_part *t)
{
    const struct evzk_multi_lock *p = t->all;
    const evzk_lock_options opt = {.mode = (evzk_lock_mode)t->mode,
                                   .try_once = p->try_once,
                                   .no_requeue = p->m.no_requeue,
                                   .data = p->data,
                                   .data_len = p->len,
                                   .acl = p->acl.v,
                                   .acl_count = p->acl.n};

    return evzk_lock_acquire(evzk__machine_session(&p->m), t->path, &opt, heard,
                             t, &t->lock);
}

/* In a session that is being closed no lock begins: the multi-lock ends, too.
 */
void evzk__multi_lock_begin(struct multi_part *t)
{
    int rc = acquire(t);

    if (rc == EVZK_OK) {
        t->state = PART_WAITS;
        t->lock->tells_gone = true;
    } else if (rc == EVZK_ERR_NOMEM) {
        evzk__timer_set(t->all->again, AGAIN_US);
    }
}

/* A lock that refuses to be asked is about to end by itself. */
void evzk__multi_lock_give_up(struct evzk_multi_lock *p)
{
    for (uint16_t i = 0; i < p->n_parts; i++) {
        struct multi_part *t = &p->part[i];

        if (t->state == PART_WAITS)
            evzk_lock_cancel(t->lock);
        else if (t->state == PART_HELD)
            evzk_lock_release(t->lock);
        else
            continue;
        t->state = PART_LEAVES;
    }
}

bool evzk__multi_lock_is_bare(const struct evzk_multi_lock *p)
{
    for (uint16_t i = 0; i < p->n_parts; i++) {
        if (p->part[i].state != PART_NONE)
            return false;
    }
    return true;
}

bool evzk__multi_lock_stands(struct evzk_multi_lock *p)
{
    if (!evzk__machine_certain(&p->m))
        return false;
    for (uint16_t i = 0; i < p->n_parts; i++) {
        struct multi_part *t = &p->part[i];

        if (t->state != PART_HELD || t->lock->m.in_doubt)
            return false;
        if (evzk__machine_is_behind(&t->lock->m)) {
            evzk__machine_hasten(&t->lock->m);
            evzk__machine_ask(&p->m);
            return false;
        }
    }
    return true;
}
