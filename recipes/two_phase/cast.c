/* A site's transaction until its vote.
 *
 *   LOOKING --> ENTERING --> ASKED --> VOTING --> VOTED
 *    ^   ^----------'----------'----------'
 *    v
 *   DENIED
 *
 * LOOKING reads the transaction, and, where that is not known, what has become
 * of the site's own znode.  ENTERING is for the variant with presence: the
 * site's znode gets another name, and an ephemeral one beside it.  ASKED waits
 * for the program.  VOTING replaces the site's znode by its vote, unless it is
 * decided.  LEAVING and TAKING_BACK take back what ENTERING did; if the servers
 * refuse that, the session goes on with it (lib/machine/left_overs.c).  DENIED
 * may not read the transaction, or does not understand it, or has voted to
 * commit it and reads what no coordinator has written, or asks for what the
 * servers hang up at, each time: the program is told so, once, and LOOKING
 * tries again in a while.
 *
 * How it can fail.  Whatever is not as the site thought leads back to LOOKING:
 * a lost answer, an earlier start of the same site, an operator.  A site whose
 * znode is gone without a vote, or beside whose znode another says something
 * else, has voted for nothing: it decides to abort.  A decision to commit is
 * taken only by a site whose vote to commit stands, and nothing beside it;
 * otherwise somebody has voted in its place, and the site is told what that is:
 * EVZK_ERR_FOREIGN.
 */
#include "recipes/two_phase/site_tx_internal.h"

#include <string.h>

#include "lib/base/mem.h"

enum { SYNC, SELF, ALL, HERE_ZNODE, ENTRY }; /* Steps of LOOKING. */

void evzk__site_tx_tell(struct evzk_site_tx *t, evzk_site_event event, int rc)
{
    struct evzk_site *site = t->site;
    evzk_session *s = evzk__machine_session(&t->m);
    int64_t begun = evzk__machine_call_out(s);
    bool ends = event == EVZK_SITE_FINISHED || event == EVZK_SITE_FAILED;

    t->denied = t->denied && event == EVZK_SITE_FAILED;
    if (site && site->cb && (ends || evzk__may_tell(s)))
        site->cb(site, event, t, rc, site->arg);
    evzk__machine_called(s, begun);
}

/* While its session lives, a site that was asked has two. */
void evzk__site_tx_delete_own(struct evzk_site_tx *t)
{
    if (t->standing == EVZK__PRESENT)
        evzk__tx_step_site(&t->steps, EVZK__STEP_DELETE, EVZK__DEAD, t->name);
    evzk__tx_step_site(&t->steps, EVZK__STEP_DELETE,
                       (enum evzk__standing)t->standing, t->name);
}

/* Asks only for what is not known for sure. */
void evzk__site_tx_look(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__tx_steps *s = &t->steps;

    t->look_rc = EVZK_OK;
    t->rests = false;
    t->plan = EVZK_TX_NONE;
    evzk__proof_drop(&t->proof);
    evzk__watch_begins(m, (enum evzk__which)ON_TX);
    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    evzk__tx_step(s, EVZK__STEP_GET)->watch = EVZK__WITH(ON_TX);
    if (!t->sure) {
        evzk__tx_step(s, EVZK__STEP_CHILDREN);
        evzk__tx_step_site(s, EVZK__STEP_EXISTS, EVZK__PRESENT, t->name);
        evzk__tx_step_inbox(s, EVZK__STEP_EXISTS, t->name);
    }
    evzk__ask(m, s->v, s->n, EVZK__EACH);
}

static int take_text(struct evzk_site_tx *t, const struct evzk__result *res)
{
    int rc = evzk__tx_text_parse(&t->text, res->data, res->len);
    uint8_t *znodes;

    if (rc != EVZK_OK)
        return rc;
    if (evzk__tx_text_find(&t->text, t->name) < 0)
        return EVZK_ERR_FOREIGN;
    znodes = evzk__zalloc(t->text.n);
    if (!znodes)
        return EVZK_ERR_NOMEM;
    evzk__free(t->all_znodes);
    t->all_znodes = znodes;
    return EVZK_OK;
}

static int note_self(struct evzk_site_tx *t, const struct evzk__reply *r)
{
    if (r->rc != EVZK_OK)
        return r->rc;
    t->version = r->res->stat.version;
    t->said = evzk__tx_text_decision(r->res->data, r->res->len);
    t->said_token = r->res->stat.mzxid;
    t->czxid = r->res->stat.czxid;
    return take_text(t, r->res);
}

static void note_all(struct evzk_site_tx *t, const struct evzk__reply *r)
{
    const struct evzk__names *names = &r->res->names;
    uint8_t znodes = 0;

    for (size_t i = 0; r->rc == EVZK_OK && i < names->n; i++) {
        const char *site;
        enum evzk__standing s = evzk__standing_parse(names->v[i], &site);

        if (s != EVZK__ABSENT && strcmp(site, t->name) == 0)
            znodes |= EVZK__ZNODE(s);
    }
    t->standing = (uint8_t)evzk__standing_of(znodes);
}

static void note_here(struct evzk_site_tx *t, const struct evzk__reply *r)
{
    t->here_is_ours = evzk__proof_is_own(&t->m, r, 0);
    if (t->here_is_ours)
        evzk__proof_give(&t->proof);
    if (r->rc == EVZK_OK || r->rc == EVZK_ERR_NONODE)
        t->enters = false;
}

/* Deletes what the site has of a transaction that is none, and ends. */
static int drop(struct evzk_site_tx *t, int rc)
{
    t->result = rc;
    return evzk__machine_move(&t->m, DROPPING);
}

static int abort_it(struct evzk_site_tx *t)
{
    t->plan = EVZK_TX_ABORT;
    return evzk__machine_move(&t->m, DECIDING);
}

/* The transaction is not decided. */
static int go_on(struct evzk_site_tx *t)
{
    switch ((enum evzk__standing)t->standing) {
    case EVZK__OPEN:
        return evzk__machine_move(
            &t->m, t->text.variant == EVZK_TX_PRESENCE ? ENTERING : ASKED);
    case EVZK__PRESENT:
        return t->here_is_ours ? evzk__machine_move(&t->m, ASKED) : abort_it(t);
    case EVZK__COMMITS:
    case EVZK__ABORTS:
        return evzk__machine_move(&t->m, VOTED);
    case EVZK__ABSENT:
    case EVZK__DEAD:
    case EVZK__FORGED:
        break;
    }
    return abort_it(t);
}

static bool is_false_commit(const struct evzk_site_tx *t,
                            evzk_tx_verdict verdict)
{
    return verdict == EVZK_TX_COMMIT &&
           (t->standing != EVZK__COMMITS || t->cast == EVZK_TX_ABORT ||
            t->disowned);
}

/* Looks at its own znodes, too. */
static int look_closely(struct evzk_site_tx *t)
{
    t->sure = false;
    return t->m.state == LOOKING ? evzk__machine_again(&t->m)
                                 : evzk__machine_move(&t->m, LOOKING);
}

int evzk__site_tx_take(struct evzk_site_tx *t, evzk_tx_verdict verdict,
                       int64_t token)
{
    if (is_false_commit(t, verdict) && t->sure && t->cast != EVZK_TX_ABORT)
        return look_closely(t);
    if (is_false_commit(t, verdict)) {
        t->tells = true;
        t->result =
            t->standing == EVZK__ABSENT ? EVZK_ERR_NODEGONE : EVZK_ERR_FOREIGN;
        return evzk__machine_move(&t->m, ACKNOWLEDGING);
    }
    t->result = EVZK_OK;
    t->decision = verdict;
    t->token = token;
    return evzk__machine_move(&t->m, APPLYING);
}

/* Somebody wrote to the transaction.  A vote to commit stays, and the entry:
 * others may have heard a decision, before something was put beside the vote.
 * So does all of what cannot be read: it may be of a newer format.
 */
int evzk__site_tx_spoiled(struct evzk_site_tx *t)
{
    bool stays = t->text.n == 0 || t->standing == EVZK__COMMITS ||
                 t->standing == EVZK__FORGED;

    if (t->sure) /* A vote whose answer was lost may stand. */
        return look_closely(t);
    return stays ? evzk__site_tx_deny(t, EVZK_ERR_FOREIGN)
                 : drop(t, EVZK_ERR_FOREIGN);
}

static int consider(struct evzk_site_tx *t)
{
    int rc;

    if (t->look_rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(&t->m);
    if (t->look_rc == EVZK_ERR_NONODE)
        return drop(t, EVZK_ERR_NODEGONE);
    if (t->look_rc == EVZK_ERR_FOREIGN)
        return evzk__site_tx_spoiled(t);
    if (t->look_rc == EVZK_ERR_NOAUTH)
        return evzk__site_tx_deny(t, EVZK_ERR_NOAUTH);
    if (t->look_rc != EVZK_OK)
        return t->look_rc;
    if (evzk__presence_join(t) != EVZK_OK ||
        evzk__tx_steps_init(&t->steps, &t->text,
                            evzk__tx_steps_id(&t->steps)) != EVZK_OK)
        return evzk__machine_again_later(&t->m);
    if (t->version == 0 && t->said == EVZK_TX_NONE) {
        t->sure = true;
        return go_on(t);
    }
    if (t->version != 1 || t->said == EVZK_TX_NONE)
        return evzk__site_tx_spoiled(t);
    rc = evzk__site_tx_take(t, t->said, t->said_token);
    t->sure = t->m.state != LOOKING;
    return rc;
}

static void note_entry(struct evzk_site_tx *t, const struct evzk__reply *r)
{
    t->owes = r->rc == EVZK_OK;
    t->disowned = r->rc == EVZK_ERR_NONODE;
}

int evzk__site_tx_looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (r->part == SELF)
        t->look_rc = note_self(t, r);
    else if (r->part == ALL)
        note_all(t, r);
    else if (r->part == HERE_ZNODE)
        note_here(t, r);
    else if (r->part == ENTRY)
        note_entry(t, r);
    if (!r->last)
        return EVZK_OK;
    return r->first_rc != EVZK_OK ? evzk__site_tx_unanswered(t, r->first_rc)
                                  : consider(t);
}

int evzk__site_tx_unanswered(struct evzk_site_tx *t, int rc)
{
    return rc == EVZK_ERR_TOOLARGE ? evzk__site_tx_deny(t, rc) : rc;
}

/* The site tells all anew, as of a transaction that has just come. */
static void forget_told(struct evzk_site_tx *t)
{
    t->asked = t->told_vote = t->told_decision = t->done = false;
    t->wants_abort = false;
    t->sure = false;
    t->wish = t->cast = EVZK_TX_NONE;
    evzk__free(t->data);
    t->data = NULL;
    t->arg = NULL;
}

int evzk__site_tx_deny(struct evzk_site_tx *t, int rc)
{
    t->denied = t->denied && t->denied_rc == rc;
    t->denied_rc = rc;
    return evzk__machine_move(&t->m, DENIED);
}

/* Entered again, behind a lost connection, it has no watch any more, and looks.
 * But what servers hang up at is not asked for again soon. */
void evzk__site_tx_be_denied(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    if (t->rests && t->denied_rc != EVZK_ERR_TOOLARGE) {
        evzk__machine_move(m, LOOKING);
        return;
    }
    t->rests = true;
    if (t->site)
        evzk__site_look_later(t->site, t->denied_rc);
    t->sure = false;
    if (t->denied)
        return;
    t->denied = true;
    evzk__site_tx_tell(t, EVZK_SITE_FAILED, t->denied_rc);
    forget_told(t);
}

int evzk__site_tx_denied(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LOOKING);
}

static struct evzk__step *create(struct evzk_site_tx *t,
                                 enum evzk__standing standing)
{
    struct evzk__step *step =
        evzk__tx_step_site(&t->steps, EVZK__STEP_CREATE, standing, t->name);

    step->acl = t->lender->acl;
    step->acl_count = t->lender->acl_count;
    return step;
}

/* Its own znode is another one from now on, if the transaction is undecided. */
static struct evzk__step *replace(struct evzk_site_tx *t,
                                  enum evzk__standing next)
{
    evzk__tx_steps_clear(&t->steps);
    evzk__tx_step(&t->steps, EVZK__STEP_CHECK)->versioned = true;
    evzk__site_tx_delete_own(t);
    return create(t, next);
}

/* The znode was not replaced: nothing is sure any more.  What servers hang up
 * at each time is not sent to them again soon. */
static int look_again(struct evzk_site_tx *t, int rc)
{
    if (rc == EVZK_ERR_TOOLARGE)
        return evzk__site_tx_deny(t, rc);
    if (rc != EVZK_ERR_NONODE && rc != EVZK_ERR_BADVERSION &&
        rc != EVZK_ERR_NODEEXISTS)
        return rc;
    t->sure = false;
    return evzk__machine_move(&t->m, LOOKING);
}

void evzk__site_tx_enter(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    t->enters = true;
    replace(t, EVZK__DEAD);
    create(t, EVZK__PRESENT)->mode = EVZK__EPHEMERAL;
    evzk__tx_steps_commit(m, &t->steps);
}

int evzk__site_tx_entered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    if (e->reply->rc != EVZK_OK) {
        /* `open` is gone: a try that was not heard may have taken it. */
        t->enters =
            evzk__tx_is_lost(e->reply->rc) || e->reply->rc == EVZK_ERR_NONODE;
        return look_again(t, e->reply->rc);
    }
    t->enters = false;
    t->standing = EVZK__PRESENT;
    t->here_is_ours = true;
    return evzk__machine_move(m, ASKED);
}

/* Where ASKED leads; or STATES: nowhere yet.  Without its coordinator a
 * transaction that lacks a vote is aborted; in the plain variant it waits. */
static int way_on(struct evzk_site_tx *t)
{
    if (t->wants_abort || (t->gone && t->text.variant != EVZK_TX_PLAIN)) {
        t->plan = EVZK_TX_ABORT;
        return DECIDING;
    }
    return t->wish != EVZK_TX_NONE ? VOTING : STATES;
}

/* Its watch was lost with a connection: looks again. */
void evzk__site_tx_ask(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    int to;

    t->plan = EVZK_TX_NONE;
    if (evzk__watch_missing(m, (enum evzk__which)ON_TX)) {
        evzk__machine_move(m, LOOKING);
        return;
    }
    to = way_on(t);
    if (to != STATES) {
        evzk__machine_move(m, to);
        return;
    }
    evzk__proof_drop(&t->proof); /* The answer may take long. */
    if (!t->asked) {
        t->asked = true;
        evzk__site_tx_tell(t, EVZK_SITE_QUESTION, EVZK_OK);
    }
}

int evzk__site_tx_answered(struct evzk__machine *m, const struct evzk__event *e)
{
    int to;

    if (e->type != EVZK__EV_USER)
        return evzk__machine_move(m, READING);
    to = way_on(evzk__site_tx_of(m));
    return to != STATES ? evzk__machine_move(m, to) : EVZK_OK;
}

/* The vote takes `here` away: so the site looks whose that is. */
void evzk__site_tx_cast(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__step *step;

    if (t->standing == EVZK__PRESENT && !evzk__proof_use(&t->proof)) {
        look_closely(t);
        return;
    }
    step = replace(t, t->wish == EVZK_TX_COMMIT ? EVZK__COMMITS : EVZK__ABORTS);
    step->data = t->data;
    step->len = t->data_len;
    if (t->standing == EVZK__PRESENT)
        evzk__tx_steps_commit_proved(m, &t->steps);
    else
        evzk__tx_steps_commit(m, &t->steps);
}

int evzk__site_tx_was_cast(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    if (e->reply->rc != EVZK_OK)
        return look_again(t, e->reply->rc);
    t->standing = t->wish == EVZK_TX_COMMIT ? EVZK__COMMITS : EVZK__ABORTS;
    evzk__site_tx_has_left(t);
    return evzk__machine_move(m, VOTED);
}

/* Whatever else stands of the site. */
static bool may_be_here(const struct evzk_site_tx *t)
{
    return t->here_is_ours || t->enters;
}

void evzk__site_tx_has_left(struct evzk_site_tx *t)
{
    t->here_is_ours = t->enters = false;
}

/* Nobody knows whose `here` stands: stopped in ENTERING, the site has not heard
 * whether its own is there; and an earlier look may be out of date. */
void evzk__site_tx_leave(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__tx_steps *s = &t->steps;

    if (!may_be_here(t)) {
        evzk__machine_finish(m, m->rc);
        return;
    }
    evzk__tx_steps_clear(s);
    evzk__tx_step(s, EVZK__STEP_SYNC)->shared = true;
    evzk__tx_step_site(s, EVZK__STEP_EXISTS, EVZK__PRESENT, t->name);
    evzk__ask(m, s->v, s->n, 0);
}

int evzk__site_tx_left(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    const struct evzk__reply *r = e->reply;

    if (evzk__proof_is_own(m, r, 0)) {
        evzk__proof_give(&t->proof);
        return evzk__machine_move(m, TAKING_BACK);
    }
    if (r->first_rc == EVZK_OK &&
        (r->rc == EVZK_OK || r->rc == EVZK_ERR_NONODE))
        evzk__site_tx_has_left(t);
    return evzk__machine_finish(m, m->rc);
}

/* Entered again, it looks again. */
void evzk__site_tx_take_back(struct evzk__machine *m)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);
    struct evzk__tx_steps *s = &t->steps;

    if (!evzk__proof_use(&t->proof)) {
        t->enters = true;
        evzk__machine_move(m, LEAVING);
        return;
    }
    evzk__tx_steps_clear(s);
    evzk__tx_step_site(s, EVZK__STEP_DELETE, EVZK__PRESENT, t->name);
    evzk__tx_steps_commit_proved(m, s);
}

int evzk__site_tx_taken_back(struct evzk__machine *m,
                             const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_OK || e->reply->rc == EVZK_ERR_NONODE)
        evzk__site_tx_has_left(evzk__site_tx_of(m));
    return evzk__machine_finish(m, m->rc);
}

/* Has the same site begun anew, and has the transaction?  Then `here` says that
 * of the new one. */
static bool is_twin(struct evzk__machine *m, struct evzk__machine *other)
{
    const struct evzk_site_tx *t = evzk__site_tx_of(m),
                              *o = evzk__site_tx_of(other);

    return strcmp(t->name, o->name) == 0 &&
           strcmp(t->steps.tx, o->steps.tx) == 0 &&
           strcmp(evzk__machine_path(m), evzk__machine_path(other)) == 0;
}

/* The servers refused to say whose `here` stands, or to delete it. */
bool evzk__site_tx_leaves(struct evzk__machine *m, unsigned i,
                          struct evzk__left *out)
{
    struct evzk_site_tx *t = evzk__site_tx_of(m);

    if (i > 0 || !may_be_here(t))
        return false;
    evzk__tx_steps_clear(&t->steps);
    evzk__tx_step_site(&t->steps, EVZK__STEP_DELETE, EVZK__PRESENT, t->name);
    out->name = evzk__machine_has_like(m, is_twin) ? NULL : t->steps.text;
    return true;
}
