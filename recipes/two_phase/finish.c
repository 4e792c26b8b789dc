/* A site's transaction after the decision.
 *
 *   APPLYING --> ACKNOWLEDGING --> LINGERING --> ENDED
 *                  |      ^   ^      |     ^       ^ ^
 *                  v      |   |      |     |       | |
 *               DROPPING -'---'------|-----'-------' |
 *                                    `-> REMOVING ---'
 *                                          |  ^
 *                                          v  |
 *                                       OUTLASTING
 *
 * APPLYING waits until the program has made the decision durable.
 * ACKNOWLEDGING deletes the site's znode and the entry of its inbox, both or
 * none: so does a site that was overruled (two_phase/cast.c).  If they are not
 * as they should be, DROPPING deletes whatever the site may have.  Then the
 * program is told that this is over.  LINGERING waits until the coordinator has
 * removed the transaction, or its session has ended: then REMOVING deletes the
 * transaction, if this site is the last.  Else OUTLASTING waits until the
 * others are done: the last one may end before it has removed the transaction.
 *
 * How it can fail.  If all sites have been ended, or closed their sessions,
 * before the servers have ended the session of a dead coordinator, nobody
 * removes the transaction.  The transaction stays, without a site's znode, for
 * evzk_tx_query_start() to find.  While servers refuse what LINGERING, REMOVING
 * or OUTLASTING asks for, the site asks again, ten times a second.
 */
#include "recipes/two_phase/site_tx_internal.h"

#include "lib/base/mem.h"

RB_GENERATE(evzk__site_txs, evzk_site_tx, node, evzk__site_tx_compare)

void evzk__site_tx_apply(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    if (!t->told_decision) {
        t->told_decision = true;
        evzk__site_tx_tell(t, EVZK_SITE_DECIDED, EVZK_OK);
    }
}

int evzk__site_tx_applied(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__site_tx_of(m)->done ? evzk__machine_move(m, ACKNOWLEDGING)
                                     : EVZK_OK;
}

void evzk__site_tx_acknowledge(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__tx_steps *s = &t->steps;

    if (t->standing == EVZK__ABSENT || t->standing == EVZK__FORGED) {
        evzk__machine_move(m, DROPPING);
        return;
    }
    evzk__tx_steps_clear(s);
    evzk__site_tx_delete_own(t);
    evzk__tx_step_inbox(s, EVZK__STEP_DELETE, t->name);
    evzk__tx_steps_commit(m, s);
}

/* The callback may end the site: then the next row hears so. */
static int finish(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    int to = t->gone ? REMOVING : LINGERING;

    evzk__site_tx_has_left(t);
    if (t->result != EVZK_OK || (m->stopping && !t->gone))
        return evzk__machine_finish(m, t->result);
    t->over = true;
    if (t->told_decision)
        evzk__site_tx_tell(t, EVZK_SITE_FINISHED, EVZK_OK);
    return evzk__machine_move(m, to);
}

int evzk__site_tx_acknowledged(struct evzk__machine *m,
                               const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_OK)
        return finish(m);
    return e->reply->rc == EVZK_ERR_NONODE ? evzk__machine_move(m, DROPPING)
                                           : e->reply->rc;
}

/* The entry goes last: as long as it stands, the site finds the rest again.
 * Votes go before what says that there is none: of two znodes that contradict
 * each other, one may be forged, and a vote that stood alone would be believed.
 * What the site has of a transaction that stands goes only if this says what
 * the site has read: a text that was written since may be of a newer format. */
void evzk__site_tx_drop(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__tx_steps *s = &t->steps;

    if (t->result == EVZK_ERR_FOREIGN && !evzk__site_tx_has_watched(t)) {
        t->sure = false;
        evzk__machine_move(m, LOOKING);
        return;
    }
    t->look_rc = EVZK_OK;
    evzk__tx_steps_clear(s);
    for (int i = EVZK__STANDINGS - 1; i >= EVZK__OPEN; i--)
        evzk__tx_step_site(s, EVZK__STEP_DELETE, (enum evzk__standing)i,
                           t->name);
    evzk__tx_step_inbox(s, EVZK__STEP_DELETE, t->name);
    evzk__ask(m, s->v, s->n, EVZK__EACH | EVZK__PROVED);
}

int evzk__site_tx_dropped(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (t->look_rc == EVZK_OK && r->rc != EVZK_ERR_NONODE)
        t->look_rc = r->rc;
    if (!r->last)
        return EVZK_OK;
    if (t->look_rc == EVZK_OK)
        t->look_rc = evzk__tx_steps_lost(r);
    return t->look_rc != EVZK_OK ? t->look_rc : finish(m);
}

/* The watch that READING, or an earlier look, has set; or another. */
void evzk__site_tx_linger(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__tx_steps *s = &t->steps;

    if (t->gone) {
        evzk__machine_move(m, REMOVING);
        return;
    }
    if (!evzk__watch_missing(m, (enum evzk__which)ON_TX))
        return;
    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_EXISTS)->watch = EVZK__WITH(ON_TX);
    evzk__ask(m, s->v, s->n, 0);
}

/* Servers that refuse for now answer in a while.  By then nobody else may be
 * there to remove the transaction. */
static bool was_refused(const struct evzk__machine *m,
                        const struct evzk__reply *r)
{
    return !m->stopping &&
           (r->rc == EVZK_ERR_SERVER || r->first_rc == EVZK_ERR_SERVER);
}

int evzk__site_tx_lingered(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->type == EVZK__EV_REPLY && was_refused(m, e->reply))
        return evzk__machine_again_later(m);
    if (e->type == EVZK__EV_REPLY)
        return e->reply->rc != EVZK_OK ? evzk__machine_finish(m, EVZK_OK)
                                       : EVZK_OK;
    if (e->type == EVZK__EV_DELETED)
        return evzk__machine_finish(m, EVZK_OK);
    return evzk__machine_again(m);
}

void evzk__site_tx_remove(struct evzk__machine *m)
{
    struct evzk__tx_steps *s = &evzk__site_tx_of(m)->steps;

    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_DELETE);
    evzk__tx_steps_commit(m, s);
}

/* Other sites may have removed the transaction, or may not be done. */
int evzk__site_tx_removed(struct evzk__machine *m, const struct evzk__event *e)
{
    if (was_refused(m, e->reply))
        return evzk__machine_again_later(m);
    return e->reply->rc == EVZK_ERR_NOTEMPTY && !m->stopping
               ? evzk__machine_move(m, OUTLASTING)
               : evzk__machine_finish(m, EVZK_OK);
}

void evzk__site_tx_outlast(struct evzk__machine *m)
{
    struct evzk__tx_steps *s = &evzk__site_tx_of(m)->steps;

    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    evzk__tx_step(s, EVZK__STEP_CHILDREN)->watch = EVZK__WITH(ON_ALL);
    evzk__ask(m, s->v, s->n, 0);
}

int evzk__site_tx_outlasted(struct evzk__machine *m,
                            const struct evzk__event *e)
{
    const struct evzk__reply *r = e->reply;

    if (e->type == EVZK__EV_CHANGED)
        return e->which == (enum evzk__which)ON_ALL ? evzk__machine_again(m)
                                                    : EVZK_OK;
    if (e->type != EVZK__EV_DELETED && was_refused(m, r))
        return evzk__machine_again_later(m);
    if (e->type == EVZK__EV_DELETED || r->first_rc != EVZK_OK ||
        r->rc != EVZK_OK)
        return evzk__machine_finish(m, EVZK_OK);
    return r->res->names.n == 0 ? evzk__machine_move(m, REMOVING) : EVZK_OK;
}

/* A transaction of which nothing was told ends in silence, if it is over; not
 * if somebody deleted it, or wrote to it, and the site may owe a decision. */
static bool tells_end(const struct evzk_site_tx *t)
{
    bool known = t->asked || t->told_vote || t->told_decision || t->tells,
         lost = t->owes && t->m.rc != EVZK_OK && t->m.rc == t->result,
         again = t->denied && t->m.rc == t->denied_rc;

    return !t->over && !again && (known || lost);
}

void evzk__site_tx_end(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk_site *site = t->site;

    if (!site)
        return;
    evzk__presence_leave(t);
    if (m->rc != EVZK_OK)
        site->entries = EVZK__ENTRIES_UNSURE; /* Its own may stand. */
    if (m->rc != EVZK_OK && m->rc != t->result) {
        site->lost = true;
        evzk__site_look_later(site, m->rc);
    }
    RB_REMOVE(evzk__site_txs, &site->txs, t);
    if (tells_end(t))
        evzk__site_tx_tell(
            t, m->rc == EVZK_OK ? EVZK_SITE_FINISHED : EVZK_SITE_FAILED, m->rc);
    t->site = NULL;
    evzk__machine_unref(m);
}

void evzk__site_tx_destroy(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    if (t->lender)
        evzk__machine_unref(&t->lender->m);
    evzk__tx_text_free(&t->text);
    evzk__tx_steps_free(&t->steps);
    evzk__free(t->all_znodes);
    evzk__free(t->data);
    evzk__free(t);
}
