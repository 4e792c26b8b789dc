/* The turn of an attempt: a lock in front of the leases.
 *
 *   QUEUEING       waits for the lock
 *   WITHDRAWING    the user has canceled: waits until the lock's znode is gone
 *
 * How it can fail.  The lock may be lost at any time: its session ends, or
 * somebody deletes its znode.  So the lease is made in a transaction that rests
 * on the lock's own znode; and an attempt whose lock is lost queues again.  A
 * lock that only waits does that by itself.
 *
 * The end of a lock that is lost with the session's lease is told before its
 * znode has gone.  Such a lock is kept until LOCK_GONE: a canceled attempt
 * waits for that. */
#include <string.h>

#include "recipes/lock/lock_internal.h"
#include "recipes/semaphore/semaphore_internal.h"

enum { AGAIN_US = 100000 };

static void forget(struct evzk_semaphore *p)
{
    evzk_lock *turn = p->turn;

    p->turn = NULL;
    p->has_turn = false;
    evzk_lock_free(turn);
}

static void forget_old(struct evzk_semaphore *p)
{
    evzk_lock *turn = p->old_turn;

    p->old_turn = NULL;
    evzk_lock_free(turn);
}

void evzk__semaphore_pass_on(struct evzk_semaphore *p) { forget(p); }

void evzk__semaphore_turn_gone(struct evzk_semaphore *p)
{
    if (!p->turn_lost)
        p->turn_rc = EVZK_ERR_NODEGONE; /* Else the lock has told why. */
    p->turn_lost = true;
    forget(p);
}

void evzk__semaphore_again(void *semaphore)
{
    struct evzk_semaphore *p = semaphore;

    evzk__machine_ask(&p->m);
}

static void granted(struct evzk_semaphore *p)
{
    p->has_turn = true;
    p->left_rc = EVZK_OK; /* A lock before would be in the way of this one. */
    forget_old(p);
    strcpy(stpcpy(stpcpy(p->turn_node, p->turn_path), "/"),
           evzk_lock_node(p->turn));
}

/* The lock has ended: is its znode proved gone? */
static void note_left(struct evzk_semaphore *p, const evzk_lock *turn, int rc)
{
    p->left_rc = turn->may_stand ? rc : EVZK_OK;
}

/* The lock has ended after it was granted.  Unless its work is over, LOCK_GONE
 * follows. */
static void lost(struct evzk_semaphore *p, int rc)
{
    if (p->turn->m.place.ended) {
        note_left(p, p->turn, rc);
        forget(p);
        return;
    }
    forget_old(p);
    p->old_turn = p->turn;
    p->turn = NULL;
    p->has_turn = false;
}

/* The user hears of a new place in the queue from here alone. */
static void take_event(struct evzk_semaphore *p, evzk_lock_event event, int rc)
{
    switch (event) {
    case EVZK_LOCK_GRANTED:
        granted(p);
        break;
    case EVZK_LOCK_LOST:
        p->turn_lost = true;
        p->turn_rc = rc;
        lost(p, rc);
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_FAILED:
        p->turn_rc = rc;
        note_left(p, p->turn, rc);
        forget(p);
        break;
    case EVZK_LOCK_REQUEUED:
        p->requeued_rc = rc;
        break;
    case EVZK_LOCK_SUSPENDED:
    case EVZK_LOCK_RESUMED:
    case EVZK_LOCK_DOWNGRADED:
    case EVZK_LOCK_REVOKE_REQUESTED:
        return;
    }
    evzk__machine_ask(&p->m);
}

/* LOCK_GONE, of a lock that was lost. */
static void old_gone(struct evzk_semaphore *p, int rc)
{
    note_left(p, p->old_turn, rc);
    forget_old(p);
    evzk__machine_ask(&p->m);
}

static void heard(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct evzk_semaphore *p = arg;
    evzk_session *s = evzk__machine_session(&p->m);
    int64_t begun = evzk__machine_call_in(s);

    if (l == p->old_turn)
        old_gone(p, rc);
    else
        take_event(p, event, rc);
    evzk__machine_called_in(s, begun);
}

static int acquire(struct evzk_semaphore *p)
{
    struct evzk__create_args args = evzk__semaphore_args(p);
    evzk_lock_options opt = {.try_once = p->try_once,
                             .no_requeue = p->m.no_requeue,
                             .dialect = p->dialect,
                             .data = args.data,
                             .data_len = args.len,
                             .acl = args.acl,
                             .acl_count = args.acl_count};

    return evzk_lock_acquire(evzk__machine_session(&p->m), p->turn_path, &opt,
                             heard, p, &p->turn);
}

/* Its watch on the leases belongs to whoever has the turn. */
static void unwatch(struct evzk_semaphore *p)
{
    if (!evzk__watch_listed(&p->watch[ON_LEASES - EVZK__PATH].w))
        return;
    p->step[0] = (struct evzk__step){.verb = EVZK__STEP_UNWATCH,
                                     .watch = EVZK__WITH(ON_LEASES)};
    evzk__ask(&p->m, p->step, 1, 0);
}

/* May free the attempt. */
static void tell_requeued(struct evzk_semaphore *p)
{
    int rc = p->requeued_rc;

    p->requeued_rc = EVZK_OK;
    if (rc != EVZK_OK)
        evzk__semaphore_tell(p, EVZK_SEMAPHORE_REQUEUED, rc);
}

/* The lock begins, or a later turn of the loop hears why not. */
static void begin(struct evzk_semaphore *p)
{
    p->turn_lost = false;
    p->turn_rc = acquire(p);
    if (p->turn_rc == EVZK_OK)
        p->turn->tells_gone = true;
    else
        evzk__machine_ask(&p->m);
}

/* A lock of a session that has ended is of no use, if it was granted; if not,
 * the lock queues again by itself.  A turn may have been lost before that, and
 * no row has heard of it yet.  A canceled attempt only leaves. */
void evzk__semaphore_queue(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    p->may_stand = false; /* A lease has gone with its session. */
    if ((p->has_turn || p->turn_lost) && p->requeued_rc == EVZK_OK)
        p->requeued_rc = EVZK_ERR_EXPIRED;
    if (p->has_turn)
        forget(p);
    if (p->canceled)
        evzk__machine_ask(m);
    else if (!p->turn)
        begin(p);
    unwatch(p);
    if (!p->canceled)
        tell_requeued(p);
}

/* The lock has ended before it was granted, or could not begin; or the timer
 * says that it is to begin again. */
static int no_turn(struct evzk_semaphore *p)
{
    switch (p->turn_rc) {
    case EVZK_ERR_CLOSED:
        return EVZK_OK; /* So will the attempt. */
    case EVZK_ERR_NOMEM:
        p->turn_rc = EVZK_OK;
        evzk__timer_set(p->again, AGAIN_US);
        return EVZK_OK;
    case EVZK_OK:
        return evzk__machine_again(&p->m);
    default:
        return p->turn_lost ? evzk__semaphore_requeue(p, p->turn_rc)
                            : p->turn_rc;
    }
}

int evzk__semaphore_queued(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    if (e->type != EVZK__EV_USER)
        return EVZK_OK; /* The watch is off. */
    if (p->canceled)
        return evzk__machine_move(m, WITHDRAWING);
    if (!p->turn)
        return no_turn(p);
    if (p->has_turn)
        return evzk__machine_move(m, COUNTING);
    tell_requeued(p);
    return EVZK_OK;
}

int evzk__semaphore_requeue(struct evzk_semaphore *p, int rc)
{
    if (p->turn_lost)
        rc = p->turn_rc;
    if (p->canceled)
        return evzk__machine_move(&p->m, WITHDRAWING);
    if (p->turn)
        return evzk__machine_move(&p->m, COUNTING);
    if (p->m.no_requeue)
        return rc;
    p->requeued_rc = rc;
    return evzk__machine_move(&p->m, QUEUEING);
}

/* The lock tells in its last event, or in LOCK_GONE, that its work is over.
 * Where the servers refused to delete its znode, or to show it, the end is
 * their error: nothing is proved, and the session goes on deleting it. */
void evzk__semaphore_withdraw(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    if (p->turn) {
        if (evzk_lock_cancel(p->turn) != EVZK_OK)
            evzk_lock_release(p->turn); /* Or it is about to end by itself. */
    } else if (!p->old_turn)
        evzk__machine_finish(m, p->left_rc != EVZK_OK ? p->left_rc
                                                      : EVZK_ERR_CANCELED);
}

int evzk__semaphore_withdrew(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    if (e->type == EVZK__EV_USER && !evzk__semaphore_of(m)->turn)
        return evzk__machine_again(m);
    return EVZK_OK; /* A watch on leases. */
}

int evzk__semaphore_finish(struct evzk_semaphore *p, int rc)
{
    return p->canceled && !p->m.stopping
               ? evzk__machine_move(&p->m, WITHDRAWING)
               : evzk__machine_finish(&p->m, rc);
}
