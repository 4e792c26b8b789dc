/* The transaction of a guarded write: writes to the receipt, checks that the
 * guard's znode exists, and does the operations.
 *
 * How it can fail.  The servers refuse a step: then nothing was done, and which
 * step that was says whose fault it is.  Or the answer is lost: then the
 * receipt tells (guard/settle.c).
 */
#include <string.h>

#include "recipes/guard/guard_internal.h"

static void give_acls(struct evzk_guard *g)
{
    struct evzk__create_args session = evzk__default_args(&g->m, NULL);

    for (size_t i = 0; i < g->n; i++) {
        struct evzk__step *step = &g->step[EVZK__GUARD_OPS + i];

        step->acl = g->acls[i].v ? g->acls[i].v : session.acl;
        step->acl_count = g->acls[i].v ? g->acls[i].n : session.acl_count;
    }
}

void evzk__guard_write(struct evzk__machine *m)
{
    struct evzk_guard *g = evzk__guard_of(m);

    give_acls(g);
    evzk__guard_note(g, EVZK_GUARD_UNKNOWN, EVZK_OK);
    g->step[EVZK__GUARD_MARK] =
        (struct evzk__step){.verb = EVZK__STEP_SET,
                            .name = g->receipt,
                            .versioned = true,
                            .data = g->receipt,
                            .len = (uint32_t)strlen(g->receipt)};
    evzk__ask(m, g->step, (uint32_t)g->n + EVZK__GUARD_OPS,
              EVZK__COMMIT | EVZK__JOIN);
}

/* The servers have refused a step: nothing was done. */
static int refused(struct evzk_guard *g, uint32_t part, int rc)
{
    if (part == EVZK__GUARD_MARK)
        return evzk__guard_mark_anew(g, rc);
    if (part == EVZK__GUARD_CHECK_IT && rc == EVZK_ERR_NONODE)
        return evzk__guard_found_out(g, EVZK_GUARD_REFUSED, EVZK_ERR_NODEGONE);
    if (part >= EVZK__GUARD_OPS)
        g->failed = part - EVZK__GUARD_OPS;
    return evzk__guard_found_out(g, EVZK_GUARD_FAILED, rc);
}

int evzk__guard_written(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->rc == EVZK_OK)
        return evzk__guard_done(g, reply->res->stat.czxid);
    if (reply->rc == EVZK_ERR_NOMEM) /* Not sent. */
        return evzk__machine_again_later(m);
    if (reply->rc != EVZK_ERR_CONNLOSS && reply->part < g->n + EVZK__GUARD_OPS)
        return refused(g, reply->part, reply->rc);
    if (reply->rc != EVZK_ERR_CONNLOSS && m->tries++ == EVZK__GUARD_TRIES)
        return evzk__guard_found_out(g, EVZK_GUARD_UNKNOWN, reply->rc);
    return evzk__machine_move(m, SETTLING);
}
