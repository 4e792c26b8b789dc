/* The lock of a replacement that needs more than one transaction: one writes at
 * a time.  The lock is acquired as any program would.
 *
 * How it can fail.  The lock may be lost at any time.  So each transaction
 * rests on the lock's own znode, also those after the loss: a replacement that
 * began under a lock ends under a lock, or begins anew.
 */
#include <string.h>

#include "recipes/config/config_internal.h"
#include "recipes/lock/lock_internal.h"

void evzk__config_unlock(struct evzk_config_update *u)
{
    evzk_lock_free(u->lock);
    u->lock = NULL;
    u->has_lock = false;
    u->wrote = false;
}

static void granted(struct evzk_config_update *u)
{
    u->has_lock = true;
    strcpy(stpcpy(stpcpy(u->guard, u->lock_path), "/"),
           evzk_lock_node(u->lock));
}

/* A lock that was lost is asked for again, unless it was refused. */
static void over(struct evzk_config_update *u, evzk_lock_event event, int rc)
{
    evzk__config_unlock(u);
    if (event == EVZK_LOCK_FAILED)
        u->lock_rc = rc;
}

static void take_event(struct evzk_config_update *u, evzk_lock_event event,
                       int rc)
{
    switch (event) {
    case EVZK_LOCK_GRANTED:
        granted(u);
        break;
    case EVZK_LOCK_RELEASED:
    case EVZK_LOCK_LOST:
    case EVZK_LOCK_FAILED:
        over(u, event, rc);
        break;
    case EVZK_LOCK_SUSPENDED:
    case EVZK_LOCK_RESUMED:
    case EVZK_LOCK_REQUEUED:
    case EVZK_LOCK_DOWNGRADED:
    case EVZK_LOCK_REVOKE_REQUESTED:
        return;
    }
    evzk__machine_ask(&u->m);
}

static void heard(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct evzk_config_update *u = arg;
    evzk_session *s = evzk__machine_session(&u->m);
    int64_t begun = evzk__machine_call_in(s);

    (void)l;
    take_event(u, event, rc);
    evzk__machine_called_in(s, begun);
}

int evzk__config_lock(struct evzk_config_update *u)
{
    evzk_lock_options opt = {.acl = u->own_acl.v, .acl_count = u->own_acl.n};

    u->lock_rc = EVZK_OK;
    if (u->lock)
        return EVZK_OK;
    return evzk_lock_acquire(evzk__machine_session(&u->m), u->lock_path, &opt,
                             heard, u, &u->lock);
}
