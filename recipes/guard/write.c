/* The transaction of a guarded write: writes to the receipt, checks that the
 * guard's znode exists, and does the operations.
 *
 * How it can fail.  The servers refuse a step: then nothing was done, and which
 * step that was says whose fault it is.  Or the answer is lost: then the
 * receipt tells (guard/settle.c).  The write itself may be at fault: a server
 * closes the connection at a request that is too long for it.
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
    g->asked = true;
    g->step[EVZK__GUARD_MARK] =
        (struct evzk__step){.verb = EVZK__STEP_SET,
                            .name = g->receipt,
                            .versioned = true,
                            .data = g->receipt,
                            .len = (uint32_t)strlen(g->receipt)};
    /* A write that has cost its connection goes alone. */
    evzk__ask(m, g->step, (uint32_t)g->n + EVZK__GUARD_OPS,
              g->lost == EVZK_OK ? EVZK__COMMIT | EVZK__JOIN : EVZK__COMMIT);
}

/* Has somebody deleted the receipt, or written to it?  Another receipt fares no
 * better with any other error. */
static bool is_meddled(int rc)
{
    return rc == EVZK_ERR_NONODE || rc == EVZK_ERR_BADVERSION;
}

/* The servers have refused a step: nothing was done. */
static void note_refused(struct evzk_guard *g, uint32_t part, int rc)
{
    if (part == EVZK__GUARD_MARK && is_meddled(rc))
        evzk__guard_note(g, EVZK_GUARD_FAILED, EVZK_OK);
    else if (part == EVZK__GUARD_CHECK_IT && rc == EVZK_ERR_NONODE)
        evzk__guard_note(g, EVZK_GUARD_REFUSED, EVZK_ERR_NODEGONE);
    else
        evzk__guard_note(g, EVZK_GUARD_FAILED, rc);
    if (part >= EVZK__GUARD_OPS)
        g->failed = part - EVZK__GUARD_OPS;
}

void evzk__guard_learn(struct evzk_guard *g, const struct evzk__reply *reply)
{
    int rc = reply->rc;

    g->asked = false;
    if (rc == EVZK_OK)
        evzk__guard_note_done(g, reply->res->stat.czxid);
    else if (rc == EVZK_ERR_NOMEM) /* Not sent. */
        evzk__guard_note(g, EVZK_GUARD_FAILED, EVZK_OK);
    else if (rc != EVZK_ERR_CONNLOSS && reply->part < g->n + EVZK__GUARD_OPS)
        note_refused(g, reply->part, rc);
    else
        evzk__guard_note(g, EVZK_GUARD_UNKNOWN, EVZK_OK);
}

int evzk__guard_written(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_guard *g = evzk__guard_of(m);
    int rc = e->reply->rc;

    evzk__guard_learn(g, e->reply);
    if (evzk__guard_knows(g))
        return evzk__machine_move(m, CLEANING);
    if (rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    if (g->outcome == EVZK_GUARD_FAILED)
        return evzk__guard_mark_anew(g, rc);
    g->lost = rc;
    return evzk__machine_move(m, SETTLING);
}
