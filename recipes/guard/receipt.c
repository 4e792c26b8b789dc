/* The receipt of a guarded write: made before the transaction, read when an
 * answer was lost, and deleted in the end.
 *
 * The receipt must exist before the transaction.  If the transaction made it,
 * a receipt that is missing could be one that an operator has deleted, and a
 * second try might do the write twice.
 *
 * How it can fail.  An operator may delete the receipt, write to it, or put a
 * copy in its place.  So a receipt that was not seen in the present connection
 * is looked at (CHECKING) before it is deleted (CLEANING).  A receipt that an
 * operator has written to before the transaction is left: it goes with the
 * session.
 */
#include <string.h>

#include "recipes/guard/guard_internal.h"

void evzk__guard_mark(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);
    struct evzk__create_args args = evzk__args_with_acl(m, NULL, &g->acl);

    g->look[0] = (struct evzk__step){.verb = EVZK__STEP_CREATE,
                                     .mode = EVZK__EPHEMERAL,
                                     .name = g->receipt,
                                     .acl = args.acl,
                                     .acl_count = args.acl_count};
    g->may_stand = true;
    evzk__ask(m, g->look, 1, EVZK__COMMIT | EVZK__JOIN);
}

int evzk__guard_marked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);

    switch (e->reply->rc) {
    case EVZK_OK:
        m->place.own_verified = true;
        return evzk__machine_move(m, WRITING);
    case EVZK_ERR_NODEEXISTS: /* By an earlier try: nobody else has its name. */
        return evzk__machine_move(m, WRITING);
    case EVZK_ERR_CONNLOSS:
    case EVZK_ERR_SERVER:
        return m->state == MARKING ? evzk__machine_move(m, MARKING_AGAIN)
                                   : e->reply->rc;
    case EVZK_ERR_NOMEM: /* Not sent. */
        return evzk__machine_again_later(m);
    case EVZK_ERR_NONODE: /* The guard's directory is missing. */
        g->may_stand = false;
        evzk__guard_note(g, EVZK_GUARD_REFUSED, EVZK_ERR_NODEGONE);
        return evzk__machine_finish(m, EVZK_OK);
    default:
        g->may_stand = m->state != MARKING;
        return e->reply->rc;
    }
}

int evzk__guard_mark_anew(struct evzk_guard *g, int rc)
{
    if (g->m.tries++ == EVZK__GUARD_TRIES || evzk__guid(g->receipt) != EVZK_OK)
        return evzk__guard_found_out(g, EVZK_GUARD_FAILED, rc);
    strcat(g->receipt, EVZK__GUARD_RECEIPT);
    evzk__guard_note(g, EVZK_GUARD_FAILED, EVZK_OK);
    return evzk__machine_move(&g->m, MARKING);
}

void evzk__guard_look(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    g->look[0] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = g->nobody};
    g->look[1] =
        (struct evzk__step){.verb = EVZK__STEP_GET, .name = g->receipt};
    evzk__ask(m, g->look, 2, 0);
}

bool evzk__guard_owns(struct evzk_guard *g, const struct evzk__reply *reply)
{
    if (reply->rc != EVZK_OK || !evzk__machine_owns(&g->m, &reply->res->stat))
        return false;
    g->m.place.own_verified = true;
    return true;
}

void evzk__guard_clean(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    if (!m->place.own_verified) {
        evzk__machine_move(m, CHECKING);
        return;
    }
    evzk__delete(m, g->receipt, NULL);
    evzk__guard_tell(g);
}

int evzk__guard_cleaned(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_OK || e->reply->rc == EVZK_ERR_NONODE)
        evzk__guard_of(m)->may_stand = false;
    return evzk__machine_finish(m, m->rc);
}

void evzk__guard_check(struct evzk__machine *m)
{
    evzk__guard_look(m);
    evzk__guard_tell(evzk__guard_of(m));
}

int evzk__guard_checked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);
    int rc = e->reply->rc;

    if (evzk__guard_owns(g, e->reply))
        return evzk__machine_move(m, CLEANING);
    if (e->reply->first_rc != EVZK_ERR_SERVER &&
        (rc == EVZK_OK || rc == EVZK_ERR_NONODE || rc == EVZK_ERR_NOAUTH))
        g->may_stand = false;
    return evzk__machine_finish(m, m->rc);
}

bool evzk__guard_left(struct evzk__machine *m, unsigned i,
                      struct evzk__left *out)
{
    struct evzk_guard *g = evzk__guard_of(m);

    out->name = g->receipt;
    return i == 0 && g->may_stand;
}
