/* A coordinator collects votes, and decides.
 *
 *   LISTING <--> COLLECTING
 *      |  ^        |
 *      v  |        |
 *   READING_VOTES  |
 *      |           |
 *      v           v
 *   DECIDING --> READING --> GATHERING
 *    |  ^   `--> AWAITING
 *    v  |
 *   REFUSED, LOOKING
 *
 * The names of the znodes say how the sites vote; READING_VOTES reads what they
 * have written, if the program wants that.  DECIDING writes the decision,
 * unless somebody else has; then READING reads it.  A site or a successor may
 * decide at any time: so the transaction itself is watched, too, and what is
 * not watched is not decided: LOOKING sees that it is undecided, and watches
 * it.  REFUSED waits when the servers refuse the decision, and DECIDING asks
 * for it again.
 *
 * How it can fail.  A vote that somebody has written to, or deleted, or that
 * another znode of the site contradicts, is no vote: then the decision is to
 * abort.  Somebody may have written nonsense to
 * the transaction: then there will be no decision, and all give up.
 */
#include "recipes/two_phase/tx_internal.h"

#include "lib/base/mem.h"
#include "lib/base/os.h"

/* After the decision nobody writes to the transaction: its watch is for
 * LISTING.
 */
void evzk__tx_list(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    struct evzk__tx_steps *s = &tx->steps;

    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    if (m->state == LISTING &&
        evzk__watch_missing(m, (enum evzk__which)ON_TX)) {
        tx->decided_before = false;
        tx->other_before = true; /* Until the answer is looked at. */
        tx->begun.good = tx->begun.good && !tx->sought; /* The first alone. */
        tx->sought = true;
        evzk__tx_step(s, EVZK__STEP_EXISTS)->watch = EVZK__WITH(ON_TX);
    }
    evzk__tx_step(s, EVZK__STEP_CHILDREN)->watch = EVZK__WITH(ON_VOTES);
    evzk__ask(m, s->v, s->n, m->state == LISTING ? EVZK__EACH : 0);
}

static int choose(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    tx->wish = evzk__votes_verdict(&tx->votes);
    return evzk__machine_move(m,
                              tx->wish == EVZK_TX_NONE ? COLLECTING : DECIDING);
}

static void tell_vote(struct evzk_tx *tx, uint32_t i,
                      const struct evzk__result *res)
{
    evzk_tx_vote vote = {
        .site = tx->text.site[i],
        .verdict = evzk__standing_vote(evzk__standing_of(tx->znodes[i]))};

    if (res) {
        vote.data = res->data;
        vote.len = res->len;
    }
    tx->told[i] = 1;
    evzk__tx_tell(tx, EVZK_TX_VOTE, &vote, EVZK_OK);
}

static bool is_news(const struct evzk_tx *tx, uint32_t i)
{
    return !tx->told[i] &&
           evzk__standing_vote(evzk__standing_of(tx->znodes[i])) !=
               EVZK_TX_NONE;
}

/* The names of the votes that were not told yet. */
static int take_news(struct evzk_tx *tx, const struct evzk__names *names)
{
    char **v = evzk__zalloc((names->n + 1) * sizeof *v);
    struct evzk__names news = {.n = 0, .v = v};
    int rc;

    if (!v)
        return EVZK_ERR_NOMEM;
    for (size_t i = 0; i < names->n; i++) {
        const char *site;
        enum evzk__standing s = evzk__standing_parse(names->v[i], &site);
        int at = s == EVZK__ABSENT ? -1 : evzk__tx_text_find(&tx->text, site);

        if (at >= 0 && is_news(tx, (uint32_t)at))
            v[news.n++] = names->v[i];
    }
    rc = evzk__read_all_take(&tx->all, tx->steps.tx, &news);
    evzk__free(v);
    return rc;
}

/* What the sites say, as it is listed. */
static int take_votes(struct evzk__machine *m, const struct evzk__reply *r)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    evzk__votes_count(&tx->text, &r->res->names, tx->znodes, &tx->votes);
    if (tx->vote_data) {
        if (take_news(tx, &r->res->names) != EVZK_OK)
            return evzk__machine_again_later(m);
        if (tx->all.n > 0)
            return evzk__machine_move(m, READING_VOTES);
    }
    for (uint32_t i = 0; i < tx->text.n && !tx->vote_data; i++) {
        if (is_news(tx, i))
            tell_vote(tx, i, NULL);
    }
    return choose(m);
}

/* Is an undecided znode with this czxid the one that was begun, or that was
 * read?  A copy of one that was decided looks undecided, too. */
static bool is_that(struct evzk_tx *tx, int64_t czxid)
{
    if (tx->czxid == 0 && evzk__proof_lasts(&tx->begun, &tx->m))
        tx->czxid = czxid;
    return tx->czxid == czxid;
}

static void note_before(struct evzk_tx *tx, const struct evzk__stat *stat)
{
    tx->decided_before = stat->version > 0;
    tx->other_before = !tx->decided_before && !is_that(tx, stat->czxid);
}

int evzk__tx_listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (!r->last && r->part > 0 && r->rc == EVZK_OK)
        note_before(tx, &r->res->stat);
    if (!r->last)
        return EVZK_OK;
    if (r->rc == EVZK_ERR_NONODE)
        return evzk__machine_finish(m, EVZK_ERR_NODEGONE);
    if (r->first_rc != EVZK_OK || r->rc != EVZK_OK)
        return r->first_rc != EVZK_OK ? r->first_rc : r->rc;
    if (tx->decided_before)
        return evzk__machine_move(m, READING);
    return tx->other_before ? evzk__machine_move(m, LOOKING) : take_votes(m, r);
}

/* A watch was lost with a connection: lists again. */
void evzk__tx_collect(struct evzk__machine *m)
{
    if (evzk__watch_missing(m, (enum evzk__which)ON_VOTES) ||
        evzk__watch_missing(m, (enum evzk__which)ON_TX))
        evzk__machine_move(m, LISTING);
}

int evzk__tx_collected(struct evzk__machine *m, const struct evzk__event *e)
{
    return evzk__machine_move(m, e->which == (enum evzk__which)ON_TX ? READING
                                                                     : LISTING);
}

void evzk__tx_read_votes(struct evzk__machine *m)
{
    evzk__read_all_ask(m, &evzk__tx_of(m)->all);
}

int evzk__tx_votes_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;
    const char *site;
    int rc, at;

    if (r->rc == EVZK_OK) {
        evzk__standing_parse(evzk__read_all_name(&tx->all, r), &site);
        at = evzk__tx_text_find(&tx->text, site);
        tell_vote(tx, (uint32_t)at, r->res);
    }
    if (!evzk__read_all_note(&tx->all, r, &rc))
        return EVZK_OK;
    if (rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_NOMEM)
        return evzk__machine_move(m, LISTING);
    return rc != EVZK_OK ? rc : choose(m);
}

/* The transaction is the one that this coordinator has looked at, and nobody
 * has written to it. */
static bool has_watched(const struct evzk__machine *m)
{
    enum evzk__which which = (enum evzk__which)ON_TX;

    return !evzk__watch_missing(m, which) && !evzk__watch_fires(m, which);
}

/* A coordinator that is to stop decides to abort.  Somebody may have decided
 * behind a lost connection, or while there was no memory to ask: then it looks
 * first. */
void evzk__tx_decide(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    if (!has_watched(m) || tx->other_before) {
        evzk__machine_move(m, LOOKING);
        return;
    }
    if (m->stopping || tx->wish == EVZK_TX_NONE)
        tx->wish = EVZK_TX_ABORT;
    evzk__tx_steps_decide(&tx->steps, &tx->text, tx->wish);
    evzk__tx_steps_commit_proved(m, &tx->steps);
}

/* Sites that are done already tell no more. */
static int take_decision(struct evzk__machine *m, evzk_tx_verdict decision,
                         int64_t token)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    evzk__machine_no_deadline(m);
    tx->decision = decision;
    tx->token = token;
    evzk__tx_tell(tx, EVZK_TX_DECIDED, NULL, m->stopping ? m->rc : EVZK_OK);
    return evzk__machine_move(m, tx->votes.absent > 0 ? GATHERING : AWAITING);
}

static int be_refused(struct evzk__machine *m, int rc)
{
    evzk__tx_of(m)->refused_rc = rc;
    return evzk__machine_move(m, REFUSED);
}

int evzk__tx_decided(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;
    bool gone = r->rc == EVZK_ERR_NONODE, old = r->rc == EVZK_ERR_BADVERSION;

    if (r->rc == EVZK_OK)
        return take_decision(m, tx->wish, r->first.czxid);
    if (r->part + 1 == tx->steps.n && old)
        return evzk__machine_move(m, READING);
    if (r->part + 1 == tx->steps.n && gone)
        return evzk__machine_finish(m, EVZK_ERR_NODEGONE);
    if (r->part + 1 > tx->steps.n || (!old && !gone))
        return be_refused(m, r->rc);
    tx->wish = EVZK_TX_ABORT; /* A vote is none. */
    return evzk__machine_again(m);
}

/* The first time soon: a right may come back.  Not later than its time is over:
 * to abort may be allowed. */
static uint32_t wait_ms(const struct evzk_tx *tx)
{
    uint32_t ms =
        evzk__tx_again_ms(tx->refused ? tx->refused_rc : EVZK_ERR_SERVER);
    int64_t left = (tx->due_us - evzk__now_us()) / 1000;

    if (tx->m.stopping || tx->due_us == 0 || left >= ms)
        return ms;
    return left > 0 ? (uint32_t)left + 1 : 1;
}

/* DOUBTING, too. */
void evzk__tx_be_refused(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    evzk__machine_set_deadline(m, wait_ms(tx));
    tx->refused = true;
    if (tx->told_refused)
        return;
    tx->told_refused = true;
    evzk__tx_tell(tx, EVZK_TX_REFUSED, NULL, tx->refused_rc);
}

/* A transaction that may not be read may still be seen. */
void evzk__tx_look(struct evzk__machine *m)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    struct evzk__tx_steps *s = &tx->steps;

    tx->looked_version = 0;
    tx->looked_czxid = 0;
    evzk__watch_begins(m, (enum evzk__which)ON_TX);
    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    evzk__tx_step(s, EVZK__STEP_EXISTS)->watch = EVZK__WITH(ON_TX);
    evzk__tx_step(s, EVZK__STEP_GET);
    evzk__ask(m, s->v, s->n, EVZK__EACH);
}

/* Nobody has written to the znode that stands: is it undecided? */
static int consider(struct evzk__machine *m, const struct evzk__reply *r)
{
    struct evzk_tx *tx = evzk__tx_of(m);

    if (r->rc == EVZK_OK && r->res->stat.version == 0 &&
        !evzk__tx_text_is_open(&tx->text, r->res->data, r->res->len))
        return evzk__machine_finish(m, EVZK_ERR_FOREIGN); /* A copy. */
    if (r->rc == EVZK_OK)
        tx->czxid = tx->looked_czxid;
    if (!is_that(tx, tx->looked_czxid))
        return be_refused(m, r->rc);
    tx->other_before = false;
    return evzk__machine_move(m, m->stopping ? DECIDING : LISTING);
}

int evzk__tx_looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_tx *tx = evzk__tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (!r->last && r->part > 0 && r->rc == EVZK_OK) {
        tx->looked_version = r->res->stat.version;
        tx->looked_czxid = r->res->stat.czxid;
    }
    if (!r->last)
        return EVZK_OK;
    if (r->rc == EVZK_ERR_NONODE)
        return evzk__machine_finish(m, EVZK_ERR_NODEGONE);
    if (r->first_rc != EVZK_OK || tx->looked_czxid == 0)
        return be_refused(m, r->first_rc != EVZK_OK ? r->first_rc : r->rc);
    if (r->rc != EVZK_OK && r->rc != EVZK_ERR_NOAUTH)
        return be_refused(m, r->rc);
    return tx->looked_version > 0 ? evzk__machine_move(m, READING)
                                  : consider(m, r);
}

/* Somebody else has decided.  Votes do not matter any more. */
int evzk__tx_overtaken(struct evzk__machine *m, const struct evzk__event *e)
{
    return e->which == (enum evzk__which)ON_TX && e->type == EVZK__EV_CHANGED
               ? evzk__machine_move(m, READING)
               : EVZK_OK;
}

/* The deadline may have been that of REFUSED, or of DOUBTING. */
void evzk__tx_keep_time(struct evzk__machine *m)
{
    int64_t due = evzk__tx_of(m)->due_us, left = (due - evzk__now_us()) / 1000;

    if (due != 0 && left <= 0)
        evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    else if (due != 0)
        evzk__machine_set_deadline(m, (uint32_t)left);
}

int evzk__tx_was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__result *res = e->reply->res;
    evzk_tx_verdict decision;

    if (e->reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_finish(m, EVZK_ERR_NODEGONE);
    if (e->reply->first_rc != EVZK_OK || e->reply->rc != EVZK_OK)
        return e->reply->first_rc != EVZK_OK ? e->reply->first_rc
                                             : e->reply->rc;
    if (res->stat.version == 0) /* Another one. */
        return evzk__machine_move(m, LOOKING);
    decision =
        evzk__tx_text_verdict(&evzk__tx_of(m)->text, res->data, res->len);
    if (decision == EVZK_TX_NONE || res->stat.version != 1)
        return EVZK_ERR_FOREIGN;
    evzk__tx_of(m)->votes.absent = 1; /* For all that this coordinator knows. */
    return take_decision(m, decision, res->stat.mzxid);
}
