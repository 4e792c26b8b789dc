/* A consumer's turn: a lock, which the consumer acquires as any program would.
 *
 * How it can fail.  A turn may be lost at any time.  So each change to the
 * queue's free items is a transaction that rests on the lock's own znode.  The
 * view of the queue ends with the turn, but not before a request that uses it.
 */
#include <stdio.h>
#include <string.h>

#include "recipes/consumer/consumer_internal.h"

enum { AGAIN_US = 100000 };

static void forget(struct evzk_consumer *c)
{
    evzk_lock_free(c->turn);
    c->turn = NULL;
    c->has_turn = false;
    c->turn_got = 0;
    c->turn_aside = false;
}

void evzk__turn_end(struct evzk_consumer *c)
{
    if (c->turn)
        forget(c);
    evzk__view_clear(&c->view);
}

static void granted(struct evzk_consumer *c)
{
    c->has_turn = true;
    strcpy(stpcpy(stpcpy(c->turn_node, c->turn_path), "/"),
           evzk_lock_node(c->turn));
}

/* A turn that was lost is asked for again, unless it was refused. */
static void over(struct evzk_consumer *c, evzk_lock_event event, int rc)
{
    forget(c);
    if (event == EVZK_LOCK_LOST || rc == EVZK_ERR_CLOSED)
        return;
    if (rc == EVZK_ERR_NOMEM)
        evzk__timer_set(c->again, AGAIN_US);
    else if (c->m.state == AWAITING_TURN)
        c->turn_rc = rc;
}

static void take_event(struct evzk_consumer *c, evzk_lock_event event, int rc)
{
    switch (event) {
    case EVZK_LOCK_GRANTED:
        granted(c);
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        over(c, event, rc);
        break;
    case EVZK_LOCK_SUSPENDED:
    case EVZK_LOCK_RESUMED:
    case EVZK_LOCK_REQUEUED:
    case EVZK_LOCK_DOWNGRADED:
    case EVZK_LOCK_REVOKE_REQUESTED:
        return;
    }
    evzk__machine_ask(&c->m);
}

static void heard(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct evzk_consumer *c = arg;
    evzk_session *s = evzk__machine_session(&c->m);
    int64_t begun = evzk__machine_call_in(s);

    (void)l;
    take_event(c, event, rc);
    evzk__machine_called_in(s, begun);
}

void evzk__turn_again(void *consumer)
{
    struct evzk_consumer *c = consumer;

    evzk__machine_ask(&c->m);
}

void evzk__turn_ask(struct evzk_consumer *c)
{
    evzk_lock_options opt = {.acl = c->acl.v, .acl_count = c->acl.n};

    if (c->turn_rc != EVZK_OK) /* Not asked for again: the consumer ends. */
        evzk__machine_ask(&c->m);
    else if (!c->turn &&
             evzk_lock_acquire(evzk__machine_session(&c->m), c->turn_path, &opt,
                               heard, c, &c->turn) == EVZK_ERR_NOMEM)
        evzk__timer_set(c->again, AGAIN_US);
}
