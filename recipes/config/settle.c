/* The row SETTLING: the last transaction of a replacement has made `ready`, or
 * not; its answer was lost.
 *
 * The look goes behind a write that changes nothing: all that the session ever
 * sent has been done by then, or never will be.
 *
 * How it can fail.  `ready` is there, and its data names this replacement: it
 * was done.  The list of keys, to which `ready` belongs, has not changed since
 * the step before, by its pzxid: it was not done.  Else another replacement, or
 * an operator, was there, before this one could be done, or behind it: nobody
 * can tell, and the caller hears so.
 */
#include <string.h>

#include "recipes/config/config_internal.h"

enum { FIRST, READY, LISTED };

void evzk__update_settle(struct evzk__machine *m)
{
    struct evzk_config_update *u = evzk__update_of(m);

    u->settled_ready = 0;
    u->settled_ours = false;
    u->steps[FIRST] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = u->nobody};
    u->steps[READY] =
        (struct evzk__step){.verb = EVZK__STEP_GET, .name = EVZK__CONFIG_READY};
    u->steps[LISTED] =
        (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = ""};
    evzk__ask(m, u->steps, 3, EVZK__EACH);
}

static void note_ready(struct evzk_config_update *u,
                       const struct evzk__reply *reply)
{
    if (reply->rc != EVZK_OK)
        return;
    u->settled_ready = reply->res->stat.czxid;
    u->settled_ours =
        reply->res->len == EVZK__GUID_LEN &&
        memcmp(reply->res->data, evzk__config_guid(u), EVZK__GUID_LEN) == 0;
}

static bool is_undone(const struct evzk_config_update *u,
                      const struct evzk__reply *reply)
{
    return reply->rc == EVZK_OK && reply->res->stat.pzxid <= u->changed;
}

int evzk__update_settled(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_config_update *u = evzk__update_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == READY)
        note_ready(u, reply);
    if (!reply->last)
        return EVZK_OK;
    if (u->settled_ours) { /* A sighting, whatever was refused before it. */
        u->number = u->settled_ready;
        return evzk__machine_finish(m, EVZK_OK);
    }
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (reply->first_rc == EVZK_ERR_SERVER)
        return evzk__machine_refused(m, reply);
    return is_undone(u, reply) ? evzk__machine_move(m, EVZK__UPDATE_LISTING)
                               : EVZK_ERR_CONNLOSS;
}
