/* Finds out what became of a transaction whose answer was lost.
 *
 * The receipt is read behind a write that changes nothing: by then the
 * transaction was done, or it never will be.  The receipt has the text that
 * only the transaction writes: done.  It is the very same znode, of the version
 * before: not done, so that the transaction may be sent once more; not for
 * ever, as the write itself may be what costs the connection.
 *
 * How it can fail.  All else is no proof: an operator may have deleted the
 * receipt, written to it, or put a copy in its place.  Then the outcome is told
 * as unknown.
 */
#include <string.h>

#include "recipes/guard/guard_internal.h"

static bool is_marked(const struct evzk_guard *g,
                      const struct evzk__result *res)
{
    return res->len == strlen(g->receipt) &&
           memcmp(res->data, g->receipt, res->len) == 0;
}

/* The receipt may not be read, or the servers hang up at that, each time. */
static int why_unknown(const struct evzk__reply *reply)
{
    bool unread =
        reply->rc == EVZK_ERR_NOAUTH || reply->rc == EVZK_ERR_TOOLARGE;

    return unread ? reply->rc : EVZK_ERR_CONNLOSS;
}

void evzk__guard_learn_late(struct evzk_guard *g,
                            const struct evzk__reply *reply)
{
    bool own = evzk__guard_owns(g, reply);

    if (reply->first_rc == EVZK_ERR_SERVER) /* The read proves nothing. */
        evzk__guard_note(g, EVZK_GUARD_UNKNOWN, EVZK_ERR_SERVER);
    else if (reply->rc == EVZK_OK && is_marked(g, reply->res))
        evzk__guard_note_done(g, own ? reply->res->stat.mzxid : 0);
    else if (own && reply->res->stat.version == 0)
        evzk__guard_note(g, EVZK_GUARD_FAILED, EVZK_OK);
    else
        evzk__guard_note(g, EVZK_GUARD_UNKNOWN, why_unknown(reply));
}

int evzk__guard_settled(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);

    evzk__guard_learn_late(g, e->reply);
    if (evzk__guard_knows(g))
        return evzk__machine_move(m, CLEANING);
    if (m->tries++ == EVZK__GUARD_TRIES || g->lost == EVZK_ERR_TOOLARGE)
        return evzk__guard_found_out(g, EVZK_GUARD_FAILED, g->lost);
    return evzk__machine_move(m, WRITING);
}
