/* A coordinator begins a transaction, or finds one that another has begun.
 *
 *   PROVING <--> MAKING <--> MAKING_ROOT
 *      ^
 *      v
 *   BEGINNING --> REPEATING --> RESOLVING <--> DOUBTING
 *      `--------------`-------------+------> LISTING <-- RECOVERING --> ROOTING
 *
 * BEGINNING makes all of the transaction, or nothing, while the znode of its
 * session stands in `coordinators`.  PROVING sees that this has been made,
 * before the first transaction of the session; MAKING makes it, and what else
 * is missing.  REPEATING follows a lost answer.  As long as the session's znode
 * stands, nobody else removes the transaction: so if it exists, it was begun.
 * RESOLVING asks whether it exists when that proves nothing any more, because
 * the session has ended, say.  Where the servers refuse to tell, DOUBTING
 * waits, and RESOLVING asks again: sites that have found the transaction wait
 * for its coordinator while its session lives.  RECOVERING reads another
 * coordinator's; if there is no such transaction, ROOTING looks whether the
 * session's chroot exists.
 *
 * How it can fail.  If RESOLVING finds nothing, the transaction was never
 * begun, or the sites have decided, and removed it: nobody knows.
 */
#include "recipes/two_phase/tx_internal.h"

#include <string.h>

#include "lib/base/mem.h"

enum { PRESENCE, SELF }; /* Steps of BEGINNING. */
enum { TRIES = 8 };      /* To make what others delete at once. */

void evzk__tx_tell(struct evzk_tx *tx, evzk_tx_event event,
                   const evzk_tx_vote *vote, int rc)
{
    evzk_session *s = evzk__machine_session(&tx->m);
    int64_t begun = evzk__machine_call_out(s);

    if (tx->cb && (evzk_tx_event_is_final(event) || evzk__may_tell(s)))
        tx->cb(tx, event, vote, rc, tx->arg);
    evzk__machine_called(s, begun);
}

int evzk__tx_make_room(struct evzk_tx *tx)
{
    size_t n = tx->text.n;

    evzk__free(tx->znodes);
    tx->znodes = evzk__zalloc(4 * n + 1);
    tx->told = tx->znodes ? tx->znodes + n : NULL;
    tx->done = tx->znodes ? tx->znodes + 2 * n : NULL;
    tx->asked = tx->znodes ? tx->znodes + 3 * n : NULL;
    return tx->znodes ? evzk__tx_steps_init(&tx->steps, &tx->text,
                                            evzk__tx_steps_id(&tx->steps))
                      : EVZK_ERR_NOMEM;
}

static struct evzk__step *give_acl(const struct evzk_tx *tx,
                                   struct evzk__step *step)
{
    step->acl = tx->acl;
    step->acl_count = tx->acl_count;
    return step;
}

/* The session's znode in `coordinators`. */
static int name_presence(struct evzk_tx *tx)
{
    char tag[EVZK__TAG_LEN + 1];
    int rc = evzk__machine_session_tag(&tx->m, tag);

    if (rc != EVZK_OK)
        return rc;
    strcpy(stpcpy(tx->tag, EVZK__COORDINATORS "/"), tag);
    evzk__tx_text_sign(&tx->text, tag);
    return EVZK_OK;
}

static void put_together(struct evzk_tx *tx)
{
    struct evzk__tx_steps *s = &tx->steps;
    struct evzk__step *step;

    evzk__tx_steps_clear(s);
    evzk__tx_step_name(s, EVZK__STEP_CHECK, tx->tag);
    step = give_acl(tx, evzk__tx_step(s, EVZK__STEP_CREATE));
    step->data = tx->text.data;
    step->len = tx->text.len;
    for (uint32_t i = 0; i < tx->text.n; i++) {
        const char *site = tx->text.site[i];

        give_acl(tx,
                 evzk__tx_step_site(s, EVZK__STEP_CREATE, EVZK__OPEN, site));
        give_acl(tx, evzk__tx_step_inbox(s, EVZK__STEP_CREATE, site));
    }
}

/* REPEATING, too. */
void evzk__tx_begin(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    if (tx->recovers)
        evzk__machine_move(m, RECOVERING);
    else if (name_presence(tx) != EVZK_OK)
        evzk__machine_finish(m, EVZK_ERR_INTERNAL);
    else if (m->state == BEGINNING && !evzk__machine_noted(m))
        evzk__machine_move(m, PROVING);
    else {
        tx->may_stand = true;
        put_together(tx);
        evzk__tx_steps_commit(m, &tx->steps);
    }
}

/* If the callback stops the machine, LISTING hears so. */
static int go_on(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    int to = m->stopping ? DECIDING : LISTING;

    m->tries = 0;
    tx->refused = tx->told_refused = false; /* The decision was not. */
    evzk__tx_tell(tx, EVZK_TX_BEGUN, NULL, EVZK_OK);
    return evzk__machine_move(m, to);
}

static int not_begun(struct evzk__machine *m, int rc)
{
    evzk__tx_of(m)->may_stand = false;
    return m->stopping ? evzk__machine_finish(m, m->rc) : rc;
}

int evzk__tx_begun(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_OK) {
        evzk__proof_last(&evzk__tx_of(m)->begun, m);
        return go_on(m);
    }
    if (r->rc == EVZK_ERR_CONNLOSS || r->rc == EVZK_ERR_SERVER)
        return evzk__machine_move(m, REPEATING);
    evzk__tx_of(m)->may_stand = false;
    if (r->rc == EVZK_ERR_NOMEM && !m->stopping) /* Not sent. */
        return evzk__machine_again_later(m);
    if (m->stopping || r->rc != EVZK_ERR_NONODE || r->part > SELF ||
        m->tries++ == TRIES)
        return not_begun(m, r->rc);
    evzk__machine_note(m, false);
    return evzk__machine_move(m, MAKING);
}

/* What fails behind the transaction's own znode says that this did not exist.
 */
int evzk__tx_begun_again(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_OK || (r->rc == EVZK_ERR_NODEEXISTS && r->part == SELF))
        return go_on(m);
    if (r->part > SELF && r->part < evzk__tx_of(m)->steps.n)
        return not_begun(m, r->rc);
    evzk__tx_of(m)->making_rc = r->rc;
    return evzk__machine_move(m, RESOLVING);
}

/* Is the znode of the session there?  That of all transactions was made before
 * it. */
void evzk__tx_prove(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    struct evzk__tx_steps *s = &tx->steps;

    evzk__tx_steps_clear(s);
    evzk__tx_step_name(s, EVZK__STEP_CHECK, tx->tag);
    evzk__tx_steps_commit(m, s);
}

int evzk__tx_proved(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_ERR_NONODE && m->tries++ < TRIES)
        return evzk__machine_move(m, MAKING);
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    evzk__machine_note(m, true);
    return evzk__machine_move(m, BEGINNING);
}

/* Goes before what waits: thousands may wait to prove the same. */
void evzk__tx_make(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    struct evzk__tx_steps *s = &tx->steps;

    tx->making_rc = EVZK_OK;
    evzk__tx_steps_clear(s);
    give_acl(tx, evzk__tx_step_name(s, EVZK__STEP_CREATE, EVZK__TX_DIR));
    give_acl(tx, evzk__tx_step_name(s, EVZK__STEP_CREATE, EVZK__COORDINATORS));
    give_acl(tx, evzk__tx_step_name(s, EVZK__STEP_CREATE, tx->tag))->mode =
        EVZK__EPHEMERAL;
    evzk__ask(m, s->v, s->n, EVZK__EACH | EVZK__SOON);
}

int evzk__tx_made(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (tx->making_rc == EVZK_OK && r->rc != EVZK_ERR_NODEEXISTS)
        tx->making_rc = r->rc;
    if (!r->last)
        return EVZK_OK;
    if (evzk__tx_steps_lost(r) != EVZK_OK)
        return r->first_rc;
    if (tx->making_rc == EVZK_ERR_NONODE && m->tries++ < TRIES)
        return evzk__machine_move(m, MAKING_ROOT);
    return tx->making_rc != EVZK_OK ? tx->making_rc
                                    : evzk__machine_move(m, PROVING);
}

void evzk__tx_make_root(struct evzk__machine *m)
{
    const struct evzk_tx *tx = evzk__tx_of(m);

    evzk__own_dir(m, tx->acl, tx->acl_count);
}

int evzk__tx_root_made(struct evzk__machine *m, const struct evzk__event *e)
{
    return e->reply->rc != EVZK_OK ? e->reply->rc
                                   : evzk__machine_move(m, MAKING);
}

/* A transaction that changes nothing: when it is answered, all that the session
 * and the one before it ever wrote is done. */
void evzk__tx_resolve(struct evzk__machine *m)
{
    struct evzk__tx_steps *s = &evzk__tx_of(m)->steps;

    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_CHECK);
    evzk__tx_steps_commit(m, s);
}

int evzk__tx_resolved(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_OK)
        return go_on(m);
    if (e->reply->rc != EVZK_ERR_NONODE) {
        evzk__tx_of(m)->refused_rc = e->reply->rc;
        return evzk__machine_move(m, DOUBTING);
    }
    return evzk__machine_finish(
        m, evzk__tx_of(m)->making_rc == EVZK_ERR_TOOLARGE ? EVZK_ERR_TOOLARGE
                                                          : EVZK_ERR_CONNLOSS);
}

void evzk__tx_read(struct evzk__machine *m)
{
    struct evzk__tx_steps *s = &evzk__tx_of(m)->steps;
    struct evzk__step *step;

    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    step = evzk__tx_step(s, EVZK__STEP_GET);
    if (m->state == RECOVERING)
        step->watch = EVZK__WITH(ON_TX);
    evzk__ask(m, s->v, s->n, 0);
}

/* `res` is what the transaction's znode says. */
static int recover(struct evzk__machine *m, const struct evzk__result *res)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    int rc = evzk__tx_text_parse(&tx->text, res->data, res->len);

    tx->czxid = res->stat.czxid;
    if (rc == EVZK_OK)
        rc = evzk__tx_make_room(tx);
    if (rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    if (rc != EVZK_OK)
        return rc;
    tx->may_stand = true;
    if (res->stat.version == 0 &&
        evzk__tx_text_decision(res->data, res->len) != EVZK_TX_NONE)
        return EVZK_ERR_FOREIGN; /* A copy: nobody has decided that here. */
    if (res->stat.version == 0)
        return go_on(m);
    evzk__tx_tell(tx, EVZK_TX_BEGUN, NULL, EVZK_OK);
    return evzk__machine_move(m, READING);
}

int evzk__tx_recovered(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__reply *r = e->reply;

    if (r->rc == EVZK_ERR_NONODE)
        return evzk__chroot_unsure(m) ? evzk__machine_move(m, ROOTING)
                                      : EVZK_ERR_NODEGONE;
    if (r->first_rc != EVZK_OK || r->rc != EVZK_OK)
        return r->first_rc != EVZK_OK ? r->first_rc : r->rc;
    return recover(m, r->res);
}

int evzk__tx_rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    (void)m;
    return rc != EVZK_OK ? rc : EVZK_ERR_NODEGONE;
}
