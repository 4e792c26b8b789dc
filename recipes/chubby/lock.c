/* The lock of a file in its queue: how it waits there, is held, and goes.
 *
 * How it can fail.  The lock may be lost at any time.  A holder hears so at
 * once, and its mark stays on the servers (chubby/marks.c).
 */
#include "recipes/chubby/chubby_internal.h"

static void take_event(struct evzk__chubby_lock *l, evzk_lock_event ev, int rc)
{
    switch (ev) {
    case EVZK_LOCK_GRANTED:
        l->inner = INNER_GRANTED;
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        l->inner = INNER_OVER;
        l->inner_rc = rc;
        break;
    case EVZK_LOCK_SUSPENDED:
    case EVZK_LOCK_RESUMED:
    case EVZK_LOCK_REQUEUED:
    case EVZK_LOCK_DOWNGRADED:
    case EVZK_LOCK_REVOKE_REQUESTED:
        return;
    }
    evzk__machine_ask(&l->m);
}

/* A holder hears of its loss at once.  May free the handle. */
static void tell_lost(struct evzk__chubby_lock *l)
{
    if (l->inner != INNER_OVER || !l->held || l->leaves)
        return;
    l->leaves = l->lost = true;
    l->marked = false; /* The mark stays: that is the unclean end. */
    l->rc = l->inner_rc;
    if (l->h)
        l->hooks->lost(l->h, l->inner_rc);
}

static void heard(evzk_lock *lock, evzk_lock_event ev, int rc, void *arg)
{
    struct evzk__chubby_lock *l = arg;
    evzk_session *s = evzk__machine_session(&l->m);
    int64_t begun = evzk__machine_call_in(s);

    (void)lock;
    take_event(l, ev, rc);
    tell_lost(l);
    evzk__machine_called_in(s, begun);
}

void evzk__chubby_lock_acquire(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    const evzk_lock_options opt = {.mode = l->shared ? EVZK_LOCK_READ
                                                     : EVZK_LOCK_WRITE,
                                   .try_once = l->try_once,
                                   .acl = l->acl.v,
                                   .acl_count = l->acl.n};

    int rc = evzk_lock_acquire(evzk__machine_session(m), evzk__machine_path(m),
                               &opt, heard, l, &l->lock);

    l->inner = rc == EVZK_OK ? INNER_WAITS : INNER_OVER;
    l->inner_rc = rc;
    if (rc != EVZK_OK)
        evzk__machine_ask(m);
}

/* The lock in the queue has ended, or is to end; the mark goes before it. */
int evzk__chubby_lock_go(struct evzk__chubby_lock *l, int rc)
{
    l->rc = l->leaves ? l->rc : rc;
    l->leaves = true;
    return evzk__machine_move(&l->m, l->marked ? EVZK__LOCK_UNMARKING
                                               : EVZK__LOCK_LEAVING);
}

int evzk__chubby_lock_waited(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    (void)e;
    if (l->leaves || l->inner == INNER_OVER)
        return evzk__chubby_lock_go(l, l->inner_rc);
    return l->inner == INNER_GRANTED ? evzk__machine_move(m, EVZK__LOCK_LOOKING)
                                     : EVZK_OK;
}

/* Entered again after a lost connection.  A lock that was lost meanwhile, or
 * whose session is being closed, tells so soon. */
void evzk__chubby_lock_hold(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    evzk__machine_ask(m);
    if (l->held || !l->h || l->inner != INNER_GRANTED || l->leaves ||
        !evzk_lock_held(l->lock))
        return;
    l->held = true;
    l->hooks->acquired(l->h);
}

int evzk__chubby_lock_still_held(struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    (void)e;
    if (l->inner == INNER_OVER)
        return evzk__chubby_lock_go(l, l->inner_rc);
    return l->leaves ? evzk__machine_move(m, EVZK__LOCK_UNMARKING) : EVZK_OK;
}

/* Once the handle is done with it, the lock in the queue goes by itself. */
void evzk__chubby_lock_give_back(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    if (m->stopping) {
        evzk__machine_finish(m, l->rc);
        return;
    }
    if (l->lock && evzk_lock_release(l->lock) == EVZK_ERR_STATE)
        evzk_lock_cancel(l->lock);
    evzk__machine_ask(m);
}

int evzk__chubby_lock_given_back(struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    int rc = l->rc;

    (void)e;
    if (l->inner != INNER_OVER)
        return EVZK_OK;
    if (rc == EVZK_OK && l->inner_rc != EVZK_ERR_CANCELED)
        rc = l->inner_rc;
    return evzk__machine_finish(m, rc);
}

void evzk__chubby_lock_leave(struct evzk__chubby_lock *l)
{
    if (l->leaves)
        return;
    l->leaves = true;
    evzk__machine_ask(&l->m);
}

void evzk__chubby_lock_drop(struct evzk__chubby_lock *l)
{
    l->h = NULL;
    l->leaves = true;
    evzk__machine_let_go(&l->m);
}

bool evzk__chubby_lock_held(const struct evzk__chubby_lock *l)
{
    return l && l->held && !l->leaves && l->lock && evzk_lock_held(l->lock);
}
