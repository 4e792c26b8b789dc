/* Voting, as a recipe: see ballot.h.
 *
 *   CREATING (recipes/parts/make.h) --> VOTING <--> ASKING
 *      LISTING --> READING --> WAITING --> LISTING
 *      READING --> OPENING --> REWRITING --> REMOVING --> ENDED
 */
#include "ballot.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "lib/request/path_watch.h"
#include "recipes/parts/make.h"
#include "recipes/parts/read_all.h"
#include "world.h"

enum {
    CREATING,
    MAKING_DIR,
    RESOLVING,
    ADOPTING,
    VOTING,
    ASKING,
    LISTING,
    READING,
    WAITING,
    OPENING,
    REWRITING,
    REMOVING,
    ENDED,
    STATES
};

#define ON_GATE EVZK__PATH
#define ON_QUESTION (EVZK__PATH + 1)
#define ON_NAMES (EVZK__PATH + 2)

/* The steps of LISTING. */
enum { FIRST, GATE, QUESTION, NAMES, LOOKS };

struct ballot {
    struct evzk__machine m;
    struct evzk__path_watch watch[3];
    struct evzk__make make;
    struct evzk__read_all all;
    struct evzk__step step[LOOKS];
    struct ballot_options opt;
    char vote[EVZK__NAME_MAX];
    uint32_t votes; /* Read so far. */
    uint16_t conn;  /* The connection by which it has listed. */
    int rc;         /* Of the first step that was refused. */
    bool open, own; /* The gate is; its own vote is there. */
    ballot_cb *cb;
    void *arg;
};

static struct ballot *ballot_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct ballot, m);
}

static struct evzk__make *make_of(struct evzk__machine *m)
{
    return &ballot_of(m)->make;
}

MAKE_ACTIONS(make_of)

static int made(struct evzk__machine *m, int rc)
{
    struct ballot *b = ballot_of(m);

    if (rc != EVZK_OK)
        return rc;
    snprintf(b->vote, sizeof b->vote, "%.*s-vote", EVZK__GUID_LEN,
             b->make.name);
    return evzk__machine_move(m, m->stopping ? REMOVING : VOTING);
}

static const struct evzk__make_rows make_rows = MAKE_ROWS_OF(made);

/* The vote. */

static void vote(struct evzk__machine *m)
{
    struct ballot *b = ballot_of(m);

    b->step[0] =
        (struct evzk__step){.verb = EVZK__STEP_CHECK, .name = b->make.name};
    b->step[1] = (struct evzk__step){.verb = EVZK__STEP_CREATE,
                                     .name = b->vote,
                                     .data = &b->opt.vote,
                                     .len = 1};
    b->step[2] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = b->make.name};
    evzk__ask(m, b->step, 3, EVZK__COMMIT);
}

static int go_on(struct evzk__machine *m, int state)
{
    return evzk__machine_move(m, m->stopping ? REMOVING : state);
}

static int voted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, ASKING);
    if (rc == EVZK_OK)
        return go_on(m, LISTING);
    if (rc == EVZK_ERR_NOMEM && !m->stopping)
        return evzk__machine_again_later(m);
    if (rc == EVZK_ERR_NONODE && e->reply->part == 0)
        return go_on(m, CREATING); /* The round is not here any more. */
    return evzk__machine_give_up(m, rc, REMOVING);
}

/* A delete that must fail: what was sent before it was done, or never will be.
 */
static void ask_whether(struct evzk__machine *m)
{
    static const struct evzk__step ask[] = {{.verb = EVZK__STEP_DELETE,
                                             .versioned = true,
                                             .version = EVZK__NO_VERSION},
                                            {.verb = EVZK__STEP_EXISTS}};

    evzk__ask_about(m, ballot_of(m)->vote, ask, 2, 0);
}

static int told(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (e->reply->first_rc == EVZK_ERR_SERVER)
        rc = EVZK_ERR_SERVER;
    if (rc == EVZK_OK)
        return go_on(m, LISTING);
    if (rc == EVZK_ERR_NONODE)
        return go_on(m, VOTING);
    return evzk__machine_give_up(m, rc, REMOVING);
}

/* The others' votes. */

/* Watches of both sorts are tried. */
static enum evzk__which on_names(const struct ballot *b)
{
    return b->opt.persistent ? (enum evzk__which)ON_NAMES : EVZK__PRED;
}

static bool is_deaf(struct ballot *b)
{
    return evzk__watch_missing(&b->m, ON_GATE) ||
           evzk__watch_missing(&b->m, ON_QUESTION) ||
           evzk__watch_missing(&b->m, on_names(b));
}

static void list(struct evzk__machine *m)
{
    struct ballot *b = ballot_of(m);

    b->step[FIRST] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    b->step[GATE] = (struct evzk__step){.verb = EVZK__STEP_EXISTS,
                                        .name = "gate",
                                        .watch = EVZK__WITH(ON_GATE)};
    b->step[QUESTION] = (struct evzk__step){
        .verb = EVZK__STEP_GET, .name = "", .watch = EVZK__WITH(ON_QUESTION)};
    b->step[NAMES] = (struct evzk__step){.verb = EVZK__STEP_CHILDREN,
                                         .name = "",
                                         .watch = EVZK__WITH(on_names(b))};
    b->open = false;
    evzk__ask(m, b->step, LOOKS, EVZK__EACH);
}

/* Each reply is about a step that was asked for. */
static void check_part(const struct evzk__reply *reply, uint32_t n)
{
    if (reply->part >= n)
        sim_violation("a reply about step %u of %u", reply->part, (unsigned)n);
}

static int take_names(struct ballot *b, const struct evzk__names *names)
{
    b->votes = 0;
    b->own = false;
    b->conn = b->m.seen.connection_no;
    if (is_deaf(b) || evzk__read_all_take(&b->all, "", names) != EVZK_OK)
        return evzk__machine_again_later(&b->m);
    return evzk__machine_move(&b->m, names->n ? READING : WAITING);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct ballot *b = ballot_of(m);
    const struct evzk__reply *reply = e->reply;

    check_part(reply, LOOKS);
    if (reply->part == GATE && reply->rc == EVZK_OK)
        b->open = true;
    if (!reply->last)
        return EVZK_OK;
    if (reply->rc != EVZK_OK)
        return reply->rc == EVZK_ERR_NONODE ? EVZK_ERR_NODEGONE : reply->rc;
    if (b->open)
        return evzk__machine_move(m, REWRITING);
    return take_names(b, &reply->res->names);
}

static void read_votes(struct evzk__machine *m)
{
    evzk__read_all_ask(m, &ballot_of(m)->all);
}

static void count(struct ballot *b, const struct evzk__reply *reply)
{
    const char *name = evzk__read_all_name(&b->all, reply);

    if (strlen(name) < 5 || strcmp(name + strlen(name) - 5, "-vote") != 0)
        return;
    b->votes += reply->res->len == 1;
    b->own = b->own || strcmp(name, b->vote) == 0;
}

static int has_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct ballot *b = ballot_of(m);
    int rc;

    check_part(e->reply, b->all.n);
    if (e->reply->rc != EVZK_ERR_CONNLOSS &&
        e->reply->rc != EVZK_ERR_TOOLARGE && /* Its connection was lost, too. */
        b->conn != m->seen.connection_no)
        sim_violation("what was listed is read by another connection");
    if (e->reply->rc == EVZK_OK)
        count(b, e->reply);
    if (!evzk__read_all_note(&b->all, e->reply, &rc))
        return EVZK_OK;
    if (rc == EVZK_ERR_NOMEM)
        evzk__machine_pause(m);
    if (rc == EVZK_ERR_NOMEM || rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, LISTING);
    if (rc != EVZK_OK)
        return rc;
    if (b->votes >= b->opt.voters)
        return evzk__machine_move(m, OPENING);
    return b->own ? evzk__machine_move(m, WAITING) : EVZK_ERR_NODEGONE;
}

static void wait_for(struct evzk__machine *m)
{
    if (is_deaf(ballot_of(m)))
        evzk__machine_move(m, LISTING);
}

static int heard(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LISTING);
}

/* The end. */

static void open_gate(struct evzk__machine *m)
{
    static const struct evzk__step open[] = {
        {.verb = EVZK__STEP_CREATE, .name = "gate"}};

    evzk__ask(m, open, 1, 0);
}

static int opened(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc == EVZK_OK || rc == EVZK_ERR_NODEEXISTS)
        return evzk__machine_move(m, REWRITING);
    return rc == EVZK_ERR_NONODE ? EVZK_ERR_NODEGONE : rc;
}

/* The write counts: two bytes are no vote. */
static void rewrite(struct evzk__machine *m)
{
    static const struct evzk__step strike[] = {{.verb = EVZK__STEP_SET,
                                                .data = "--",
                                                .len = 2,
                                                .versioned = true,
                                                .version = 0}};

    evzk__ask_about(m, ballot_of(m)->vote, strike, 1, EVZK__SOON);
}

/* BADVERSION: it has been done, and the answer was lost. */
static int rewritten(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = e->reply->rc;

    if (rc == EVZK_OK || rc == EVZK_ERR_BADVERSION)
        return evzk__machine_move(m, REMOVING);
    return rc == EVZK_ERR_NONODE ? EVZK_ERR_NODEGONE : rc;
}

static void remove_own(struct evzk__machine *m)
{
    struct ballot *b = ballot_of(m);

    b->step[0] = (struct evzk__step){.verb = EVZK__STEP_DELETE,
                                     .name = b->vote,
                                     .versioned = !m->stopping,
                                     .version = 1};
    b->step[1] =
        (struct evzk__step){.verb = EVZK__STEP_DELETE, .name = b->make.name};
    b->rc = EVZK_OK;
    evzk__unwatch_pred(m);
    evzk__ask(m, b->step, 2, EVZK__EACH);
}

static bool is_gone(int rc) { return rc == EVZK_OK || rc == EVZK_ERR_NONODE; }

static int removed(struct evzk__machine *m, const struct evzk__event *e)
{
    const struct evzk__reply *reply = e->reply;
    struct ballot *b = ballot_of(m);

    check_part(reply, 2);
    if (!is_gone(reply->rc) && is_gone(b->rc))
        b->rc = reply->rc;
    if (!reply->last)
        return EVZK_OK;
    if (!is_gone(b->rc))
        return b->rc;
    return evzk__machine_finish(m, m->stopping ? m->rc : EVZK_OK);
}

static void end(struct evzk__machine *m)
{
    struct ballot *b = ballot_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);

    if (b->cb)
        b->cb(b, m->rc, b->arg);
    evzk__machine_called(s, begun);
}

static void late(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
}

static void destroy(struct evzk__machine *m)
{
    evzk__read_all_clear(&ballot_of(m)->all);
    evzk__free(ballot_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
MAKE_ROWS(VOTING, TO(VOTING), TO(REMOVING)),
/*  state      entry        reaction   main       on stop   on expiry  flags */
ROW(VOTING,    vote,        voted,     LISTING,   STAY,     ASKING,    0,
    ON(REPLY,  LISTING, ASKING, CREATING, REMOVING), RARELY(REPLY, VOTING),
    ON(STOP,   ASKING, REMOVING)),
ROW(ASKING,    ask_whether, told,      ASIDE,     STAY,     ASKING,    RETRY,
    ON(REPLY,  VOTING, LISTING, REMOVING),
    ON(STOP,   REMOVING)),
ROW(LISTING,   list,        listed,    READING,   REMOVING, LISTING,   RETRY,
    ON(REPLY,  READING, WAITING, REWRITING, LISTING, HERE, FAIL)),
ROW(READING,   read_votes,  has_read,  WAITING,   REMOVING, LISTING,   0,
    ON(REPLY,  LISTING, WAITING, OPENING, HERE, FAIL),
    RARELY(EXPIRED, LISTING)), /* The lost connection leads there first. */
ROW(WAITING,   wait_for,    heard,     OPENING,   REMOVING, LISTING,   RETRY,
    ON(ENTRY,  LISTING),
    ON(PRED_DELETED, LISTING),
    ON(PRED_CHANGED, LISTING),
    ON(PATH_DELETED, LISTING),
    ON(PATH_CHANGED, LISTING), RARELY(EXPIRED, LISTING)),
ROW(OPENING,   open_gate,   opened,    REWRITING, REMOVING, OPENING,   RETRY,
    ON(REPLY,  REWRITING, FAIL)),
ROW(REWRITING, rewrite,     rewritten, REMOVING,  REMOVING, REWRITING, RETRY,
    ON(REPLY,  REMOVING, FAIL)),
ROW(REMOVING,  remove_own,  removed,   ENDED,     STAY,     REMOVING,  RETRY,
    ON(REPLY,  ENDED, HERE),
    ON(STOP,   ENDED, HERE)),
END(ENDED,     end),
};
/* clang-format on */

const struct evzk__kind ballot_kind = {
    .name = "ballot",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = late,
    .destroy = destroy,
    .outlives_session = true,
    EVZK__PATH_WATCHES(struct ballot, m, watch)};

int ballot_start(evzk_session *s, const char *path,
                 const struct ballot_options *opt, ballot_cb *cb, void *arg,
                 struct ballot **out)
{
    struct ballot *b = evzk__zalloc(sizeof *b);
    int rc;

    if (!b)
        return EVZK_ERR_NOMEM;
    b->opt = *opt;
    b->cb = cb;
    b->arg = arg;
    evzk__make_init(&b->make, &make_rows, "-here-",
                    opt->persistent ? EVZK__PERSISTENT_SEQUENTIAL
                                    : EVZK__EPHEMERAL_SEQUENTIAL);
    b->make.step.data = &b->opt.vote;
    b->make.step.len = 1;
    rc = evzk__machine_init(&b->m, s, &ballot_kind, path, opt->timeout_ms);
    if (rc != EVZK_OK) {
        evzk__free(b);
        return rc;
    }
    *out = b;
    return EVZK_OK;
}

void ballot_cancel(struct ballot *b)
{
    evzk__machine_stop(&b->m, EVZK_ERR_CANCELED);
}

void ballot_free(struct ballot *b)
{
    if (b) {
        b->cb = NULL;
        evzk__machine_let_go(&b->m);
    }
}
