/* A site that has voted waits for the decision; or it decides.
 *
 *   VOTED <--> LISTING --> DECIDING --> READING
 *     `----------'-------------'-----------+-----> APPLYING
 *
 * As a rule the coordinator decides, and VOTED hears that the transaction was
 * written to.  In the plain variant LISTING looks at all votes whenever one
 * comes.  In the others it does so once the coordinator's session has ended.
 *
 * How it can fail.  Many may decide at the same time: the first counts, and
 * READING reads it.  The decision requires version 0 of the transaction, and a
 * copy of one that was decided has that, too.  So only a site decides that has
 * watched the transaction until then.  A copy that an operator makes while the
 * site's process stands still, or its decision is on its way, is decided once
 * more.
 */
#include "recipes/two_phase/site_tx_internal.h"

static bool watches_all(const struct evzk_site_tx *t)
{
    return t->text.variant == EVZK_TX_PLAIN;
}

/* Where VOTED leads; or STATES: nowhere yet. */
static int way_on(struct evzk_site_tx *t)
{
    if (t->wants_abort) {
        t->plan = EVZK_TX_ABORT;
        return DECIDING;
    }
    if (watches_all(t))
        return evzk__watch_missing(&t->m, (enum evzk__which)ON_ALL) ? LISTING
                                                                    : STATES;
    return t->gone ? LISTING : STATES;
}

void evzk__site_tx_wait(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    int to;

    t->plan = EVZK_TX_NONE;
    if (evzk__watch_missing(m, (enum evzk__which)ON_TX)) {
        evzk__machine_move(m, LOOKING);
        return;
    }
    if (!t->told_vote) {
        t->told_vote = true;
        t->cast = evzk__standing_vote((enum evzk__standing)t->standing);
        evzk__site_tx_tell(t, EVZK_SITE_VOTED, EVZK_OK);
    }
    to = way_on(t);
    if (to != STATES && !m->stopping)
        evzk__machine_move(m, to);
}

int evzk__site_tx_waited(struct evzk__machine *m, const struct evzk__event *e)
{
    int to;

    if (e->type != EVZK__EV_USER)
        return evzk__machine_move(
            m, e->which == (enum evzk__which)ON_TX ? READING : LISTING);
    to = way_on(evzk__site_tx_of(m));
    return to != STATES ? evzk__machine_move(m, to) : EVZK_OK;
}

void evzk__site_tx_list(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__tx_steps *s = &t->steps;
    struct evzk__step *step;

    t->plan = EVZK_TX_NONE;
    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    step = evzk__tx_step(s, EVZK__STEP_CHILDREN);
    if (watches_all(t))
        step->watch = EVZK__WITH(ON_ALL);
    evzk__ask(m, s->v, s->n, 0);
}

bool evzk__site_tx_has_watched(const struct evzk_site_tx *t)
{
    enum evzk__which which = (enum evzk__which)ON_TX;

    return !evzk__watch_missing(&t->m, which) &&
           !evzk__watch_fires(&t->m, which);
}

int evzk__site_tx_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    const struct evzk__reply *r = e->reply;
    struct evzk__votes votes;

    if (r->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(m, READING);
    if (r->first_rc != EVZK_OK || r->rc != EVZK_OK)
        return evzk__site_tx_unanswered(t, r->first_rc != EVZK_OK ? r->first_rc
                                                                  : r->rc);
    if (!evzk__site_tx_has_watched(t))
        return evzk__machine_move(m, READING);
    evzk__votes_count(&t->text, &r->res->names, t->all_znodes, &votes);
    t->plan = evzk__votes_verdict(&votes);
    if (t->plan == EVZK_TX_NONE && !watches_all(t))
        t->plan = EVZK_TX_ABORT; /* There is no coordinator to wait. */
    return evzk__machine_move(m, t->plan == EVZK_TX_NONE ? VOTED : DECIDING);
}

/* Entered again after a lost connection: then somebody may have decided. */
void evzk__site_tx_decide(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    if (!evzk__site_tx_has_watched(t)) {
        evzk__machine_move(m, READING);
        return;
    }
    evzk__tx_steps_decide(&t->steps, &t->text, t->plan);
    evzk__tx_steps_commit_proved(m, &t->steps);
}

int evzk__site_tx_decided(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_OK)
        return evzk__site_tx_take(t, t->plan, r->first.czxid);
    if (r->rc == EVZK_ERR_TOOLARGE)
        return evzk__site_tx_deny(t, r->rc);
    if (r->rc != EVZK_ERR_NONODE && r->rc != EVZK_ERR_BADVERSION)
        return r->rc;
    if (r->part + 1 >= t->steps.n)
        return evzk__machine_move(m, READING);
    t->plan = EVZK_TX_ABORT; /* A vote is none. */
    return evzk__machine_again(m);
}

void evzk__site_tx_read(struct evzk__machine *m)
{
    struct evzk__tx_steps *s = &evzk__site_tx_of(m)->steps;

    evzk__watch_begins(m, (enum evzk__which)ON_TX);
    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    evzk__tx_step(s, EVZK__STEP_GET)->watch = EVZK__WITH(ON_TX);
    evzk__ask(m, s->v, s->n, 0);
}

/* Behind a lost connection the site finds what it has seen.  A detour would
 * hide from the session at which request the servers hang up. */
static bool may_still_decide(const struct evzk_site_tx *t,
                             const struct evzk__result *res)
{
    return t->plan != EVZK_TX_NONE && res->stat.version == 0 &&
           res->stat.czxid == t->czxid &&
           evzk__tx_text_is_open(&t->text, res->data, res->len);
}

int evzk__site_tx_was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    const struct evzk__reply *r = e->reply;
    evzk_tx_verdict said;

    t->result = EVZK_ERR_NODEGONE;
    if (r->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(m, DROPPING);
    if (r->rc == EVZK_ERR_NOAUTH)
        return evzk__site_tx_deny(t, EVZK_ERR_NOAUTH);
    if (r->first_rc != EVZK_OK || r->rc != EVZK_OK)
        return evzk__site_tx_unanswered(t, r->first_rc != EVZK_OK ? r->first_rc
                                                                  : r->rc);
    if (may_still_decide(t, r->res))
        return evzk__machine_move(m, DECIDING);
    if (r->res->stat.version == 0) { /* Nobody has written to it. */
        t->sure = false;
        return evzk__machine_move(m, LOOKING);
    }
    said = evzk__tx_text_verdict(&t->text, r->res->data, r->res->len);
    if (said != EVZK_TX_NONE && r->res->stat.version == 1)
        return evzk__site_tx_take(t, said, r->res->stat.mzxid);
    return evzk__site_tx_spoiled(t);
}
