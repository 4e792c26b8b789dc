/* A coordinator waits until all sites are done, and removes what is left.
 *
 *   AWAITING <--> GATHERING <--> REMOVING --> ENDED
 *                  ^     ^         ^
 *                  v     v         v
 *            CHECKING CLEARING RESTORING
 *
 * A site that is done has deleted its znode.  When all have, GATHERING finds
 * none.  After the decision a site's znodes change in no other way; where they
 * do, somebody else has had a hand in it, and CHECKING asks, once after each
 * change, whether the entry of the site's inbox stands: a site without it is
 * done, whatever has its name. CLEARING deletes znodes that are no site's.
 * RESTORING makes `coordinators` again, which a successor's REMOVING needs.
 *
 * How it can fail.  A site that has died is waited for: it is told of the
 * decision when it starts again.  Another coordinator, or the sites, may have
 * removed the transaction before: that is as good.
 */
#include "recipes/two_phase/tx_internal.h"

#include <string.h>

#include "lib/base/mem.h"

enum { CHECK_MS = 2000 }; /* After a change. */

void evzk__tx_await(struct evzk__machine *m)
{
    const struct evzk_tx *tx = evzk__tx_of(m);

    if (evzk__watch_missing(m, (enum evzk__which)ON_VOTES))
        evzk__machine_move(m, GATHERING);
    else if (tx->checked_at != tx->listed_at)
        evzk__machine_set_deadline(m, CHECK_MS);
}

/* The watch for the decision may still tell of that. */
int evzk__tx_awaited(struct evzk__machine *m, const struct evzk__event *e)
{
    return e->which == (enum evzk__which)ON_TX
               ? EVZK_OK
               : evzk__machine_move(m, GATHERING);
}

static int clear_foreign(struct evzk__machine *m,
                         const struct evzk__names *names)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    if (evzk__read_all_take(&tx->all, tx->steps.tx, names) != EVZK_OK)
        return evzk__machine_again_later(m);
    return evzk__machine_move(m, CLEARING);
}

/* A site that is done stays so: what has its name later is not the site's.
 * Returns how many sites are not done. */
static uint32_t note_done(struct evzk_tx *tx)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < tx->text.n; i++) {
        tx->done[i] = tx->done[i] || tx->znodes[i] == 0;
        left += !tx->done[i];
    }
    return left;
}

int evzk__tx_gathered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_NONODE)
        return evzk__machine_finish(m, EVZK_OK);
    if (r->first_rc != EVZK_OK || r->rc != EVZK_OK)
        return r->first_rc != EVZK_OK ? r->first_rc : r->rc;
    tx->listed_at = r->res->stat.pzxid;
    evzk__votes_count(&tx->text, &r->res->names, tx->znodes, &tx->votes);
    if (note_done(tx) > 0)
        return evzk__machine_move(m, AWAITING);
    return r->res->names.n > 0 ? clear_foreign(m, &r->res->names)
                               : evzk__machine_move(m, REMOVING);
}

/* Has each site that is not done its entry? */
void evzk__tx_check(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    struct evzk__tx_steps *s = &tx->steps;

    tx->making_rc = EVZK_OK;
    evzk__tx_steps_clear(s);
    for (uint32_t i = 0; i < tx->text.n; i++) {
        tx->asked[i] = !tx->done[i];
        if (tx->asked[i])
            evzk__tx_step_inbox(s, EVZK__STEP_EXISTS, tx->text.site[i]);
    }
    evzk__ask(m, s->v, s->n, EVZK__EACH);
}

/* The site that a part of the request is about. */
static uint32_t site_at(const struct evzk_tx *tx, unsigned part)
{
    uint32_t i = 0;

    for (;; i++) {
        if (tx->asked[i] && part-- == 0)
            return i;
    }
}

int evzk__tx_checked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_NONODE)
        tx->done[site_at(tx, r->part)] = true;
    else if (r->rc != EVZK_OK && tx->making_rc == EVZK_OK)
        tx->making_rc = r->rc;
    if (!r->last)
        return EVZK_OK;
    if (evzk__tx_steps_lost(r) != EVZK_OK)
        return r->first_rc;
    tx->checked_at = tx->listed_at;
    return tx->making_rc != EVZK_OK ? tx->making_rc
                                    : evzk__machine_move(m, GATHERING);
}

void evzk__tx_clear(struct evzk__machine *m)
{
    static const struct evzk__step step = {.verb = EVZK__STEP_DELETE};
    struct evzk_tx *tx = evzk__tx_of(m);

    tx->making_rc = EVZK_OK;
    evzk__ask_each(m, &step, tx->all.names, tx->all.n);
}

int evzk__tx_cleared(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (tx->making_rc == EVZK_OK && r->rc != EVZK_ERR_NONODE)
        tx->making_rc = r->rc;
    if (!r->last)
        return EVZK_OK;
    if (tx->making_rc == EVZK_OK)
        tx->making_rc = evzk__tx_steps_lost(r);
    if (tx->making_rc != EVZK_OK)
        return tx->making_rc;
    return evzk__machine_move(m, GATHERING);
}

/* A successor removes nothing while the session that began the transaction
 * lives: its coordinator is to find the decision.  The znode of that session
 * can be made only if it does not exist. */
void evzk__tx_remove(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    struct evzk__tx_steps *s = &tx->steps;

    evzk__tx_steps_clear(s);
    if (tx->recovers) {
        strcpy(stpcpy(tx->tag, EVZK__COORDINATORS "/"), tx->text.tag);
        evzk__tx_step_name(s, EVZK__STEP_CREATE, tx->tag);
        evzk__tx_step_name(s, EVZK__STEP_DELETE, tx->tag);
    }
    evzk__tx_step(s, EVZK__STEP_DELETE);
    evzk__tx_steps_commit(m, s);
}

int evzk__tx_removed(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_NONODE && evzk__tx_of(m)->recovers &&
        e->reply->part == 0)
        return evzk__machine_move(m, RESTORING);
    if (rc == EVZK_OK || rc == EVZK_ERR_NONODE || rc == EVZK_ERR_NODEEXISTS)
        return evzk__machine_finish(m, EVZK_OK);
    return rc == EVZK_ERR_NOTEMPTY ? evzk__machine_move(m, GATHERING) : rc;
}

void evzk__tx_restore(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    struct evzk__step *step;

    evzk__tx_steps_clear(&tx->steps);
    step =
        evzk__tx_step_name(&tx->steps, EVZK__STEP_CREATE, EVZK__COORDINATORS);
    step->acl = tx->acl;
    step->acl_count = tx->acl_count;
    evzk__tx_steps_commit(m, &tx->steps);
}

/* Where the root is missing, so is the transaction. */
int evzk__tx_restored(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_NONODE)
        return evzk__machine_finish(m, EVZK_OK);
    return rc != EVZK_OK && rc != EVZK_ERR_NODEEXISTS
               ? rc
               : evzk__machine_move(m, REMOVING);
}

/* Stopped, or out of time; and then the session was closed: then the program
 * does not hear that nothing was begun. */
static int result(struct evzk_tx *tx)
{
    bool closed = evzk__may_begin(evzk__machine_session(&tx->m)) != EVZK_OK;

    return closed && tx->may_stand && tx->m.rc != EVZK_OK ? EVZK_ERR_CLOSED
                                                          : tx->m.rc;
}

void evzk__tx_end(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    int rc = result(tx);

    evzk__tx_tell(tx, rc == EVZK_OK ? EVZK_TX_FINISHED : EVZK_TX_FAILED, NULL,
                  rc);
}

void evzk__tx_destroy(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    evzk__tx_text_free(&tx->text);
    evzk__tx_steps_free(&tx->steps);
    evzk__read_all_clear(&tx->all);
    evzk__acl_free(&tx->own_acl);
    evzk__free(tx->znodes);
    evzk__free(tx);
}
