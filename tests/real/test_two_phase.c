/*
 * Two-phase commit on a real server: a coordinator that sleeps while a
 * successor decides the opposite, sites that start again, thousands of
 * transactions at once, and what is refused.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

#include <event2/event.h>

enum { SITES = 3 };
static const char *const names[SITES] = {"a", "b", "c"};

/* A site, and what it said; `held` is the transaction it was told of last. */
struct site {
    evzk_site *site;
    evzk_site_tx *held;
    evzk_tx_verdict vote; /* NONE: it does not vote. */
    bool waits;           /* The test says when the site is done. */
    int asked, voted, decided, commits, finished, failed, ended;
    int why; /* The last has failed. */
    evzk_tx_verdict decision;
    int64_t token;
};

static void on_site(evzk_site *site, evzk_site_event event, evzk_site_tx *tx,
                    int rc, void *arg)
{
    struct site *s = arg;

    ck_assert_ptr_eq(site, s->site);
    s->held = tx;
    switch (event) {
    case EVZK_SITE_QUESTION:
        s->asked++;
        if (s->vote != EVZK_TX_NONE)
            ck_assert_int_eq(evzk_site_tx_vote(tx, s->vote, "data", 4),
                             EVZK_OK);
        break;
    case EVZK_SITE_VOTED:
        s->voted++;
        ck_assert_int_ne(evzk_site_tx_own_vote(tx), EVZK_TX_NONE);
        break;
    case EVZK_SITE_DECIDED:
        s->decided++;
        s->decision = evzk_site_tx_decision(tx);
        s->token = evzk_site_tx_token(tx);
        s->commits += s->decision == EVZK_TX_COMMIT;
        if (!s->waits)
            ck_assert_int_eq(evzk_site_tx_done(tx), EVZK_OK);
        break;
    case EVZK_SITE_FINISHED:
        ck_assert_int_eq(rc, EVZK_OK);
        s->finished++;
        break;
    case EVZK_SITE_FAILED:
        s->failed++;
        s->why = rc;
        break;
    case EVZK_SITE_ENDED:
        s->ended++;
        break;
    }
}

static void start(struct site *s, evzk_session *session, const char *root,
                  const char *name, evzk_tx_verdict vote)
{
    *s = (struct site){.vote = vote};
    ck_assert_int_eq(
        evzk_site_start(session, root, name, NULL, on_site, s, &s->site),
        EVZK_OK);
}

static void start_all(struct site v[SITES], evzk_session *s, const char *root)
{
    for (int i = 0; i < SITES; i++)
        start(&v[i], s, root, names[i], EVZK_TX_COMMIT);
    for (int i = 0; i < SITES; i++)
        WAIT(strcmp(evzk_site_state(v[i].site), "WATCHING") == 0);
}

static void free_all(struct site v[SITES])
{
    for (int i = 0; i < SITES; i++)
        evzk_site_free(v[i].site);
}

/* A coordinator, and what it said. */
struct asker {
    evzk_tx *tx;
    int begun, votes, finals, rc, why, refused;
    evzk_tx_event last;
    evzk_tx_verdict decision;
    int64_t token;
    char data[8]; /* Of the last vote. */
    bool aborts;  /* When it has begun. */
};

static int ended; /* Of all. */

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    struct asker *a = arg;

    ck_assert_ptr_eq(tx, a->tx);
    ck_assert_int_eq(a->finals, 0);
    if (event == EVZK_TX_BEGUN) {
        a->begun++;
        if (a->aborts)
            ck_assert_int_eq(evzk_tx_abort(tx), EVZK_OK);
    }
    if (event == EVZK_TX_VOTE) {
        a->votes++;
        snprintf(a->data, sizeof a->data, "%.*s", (int)vote->len,
                 vote->data ? (const char *)vote->data : "");
    }
    if (event == EVZK_TX_DECIDED) {
        a->decision = evzk_tx_decision(tx);
        a->token = evzk_tx_token(tx);
        a->why = rc;
    }
    if (event == EVZK_TX_REFUSED) {
        a->refused++;
        a->why = rc;
    }
    if (evzk_tx_event_is_final(event)) {
        a->finals++;
        a->rc = rc;
        ended++;
    }
    a->last = event;
}

static evzk_tx_options asked(int n)
{
    return (evzk_tx_options){.sites = names,
                             .n_sites = (size_t)n,
                             .question = "why not?",
                             .question_len = 8};
}

static void ask(struct asker *a, evzk_session *s, const char *root,
                const evzk_tx_options *opt)
{
    *a = (struct asker){0};
    ck_assert_int_eq(evzk_tx_begin(s, root, opt, on_tx, a, &a->tx), EVZK_OK);
}

static void expect(struct asker *a, evzk_tx_event last, int rc)
{
    WAIT(a->finals == 1);
    ck_assert_int_eq(a->last, last);
    ck_assert_int_eq(a->rc, rc);
    evzk_tx_free(a->tx);
    a->tx = NULL;
}

static int count_below(const char *root, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", root, name);
    return raw_count(op(), path);
}

/* ---- The coordinator that sleeps. ---- */

struct sleeper {
    struct event_base *base;
    evzk_session *s;
    bool closed;
};

static void on_sleeper(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    struct sleeper *z = arg;

    (void)s, (void)rc;
    z->closed = z->closed || event == EVZK_SESSION_CLOSED;
}

/* Its loop runs only here. */
static void wake(struct sleeper *z)
{
    event_base_loop(z->base, EVLOOP_NONBLOCK);
}

#define WAIT_AWAKE(z, cond) WAIT((wake(z), (cond)))

/* One run: the coordinator is asleep from the moment at which it was told that
 * the transaction is begun; a successor aborts it when all have voted to
 * commit; then the first one goes on. */
static void sleep_once(struct sleeper *z, struct site v[SITES],
                       evzk_session *other, const char *root)
{
    const evzk_tx_options opt = asked(SITES);
    struct asker first, second = {.aborts = true};

    for (int i = 0; i < SITES; i++) {
        v[i].asked = v[i].voted = v[i].decided = v[i].commits = v[i].finished =
            0;
        v[i].waits = true;
    }
    ask(&first, z->s, root, &opt);
    WAIT_AWAKE(z, first.begun == 1);
    WAIT(v[0].voted && v[1].voted && v[2].voted);
    ck_assert_int_eq(evzk_tx_recover(other, root, evzk_tx_id(first.tx), NULL,
                                     on_tx, &second, &second.tx),
                     EVZK_OK);
    WAIT(v[0].decided && v[1].decided && v[2].decided &&
         second.decision != EVZK_TX_NONE);
    WAIT_AWAKE(z, first.decision != EVZK_TX_NONE);
    for (int i = 0; i < SITES; i++) {
        ck_assert_int_eq(v[i].decision, EVZK_TX_ABORT);
        ck_assert(v[i].token == first.token);
        ck_assert_int_eq(evzk_site_tx_done(v[i].held), EVZK_OK);
    }
    ck_assert_int_eq(first.decision, EVZK_TX_ABORT);
    ck_assert_int_eq(second.decision, EVZK_TX_ABORT);
    ck_assert(first.token == second.token);
    WAIT_AWAKE(z, first.finals && second.finals);
    expect(&first, EVZK_TX_FINISHED, EVZK_OK);
    expect(&second, EVZK_TX_FINISHED, EVZK_OK);
    ck_assert_int_eq(count_below(root, "tx"), 0);
}

START_TEST(successor_decides_the_opposite)
{
    enum { RUNS = 200 };
    struct sleeper z = {.base = event_base_new()};
    struct site v[SITES];
    struct peer p, q;

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    ck_assert_int_eq(
        evzk_session_open(z.base, the_server(), NULL, on_sleeper, &z, &z.s),
        EVZK_OK);
    start_all(v, p.s, "/sleep");
    for (int i = 0; i < RUNS; i++)
        sleep_once(&z, v, q.s, "/sleep");
    printf("two-phase sleeper runs=%d one_decision=%d\n", RUNS, RUNS);
    free_all(v);
    evzk_session_close(z.s);
    WAIT_AWAKE(&z, z.closed);
    evzk_session_free(z.s);
    event_base_free(z.base);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* ---- Many ---- */

/* All of one session. */
START_TEST(thousands_at_once)
{
    enum { MANY = 3000 };
    struct asker *v = calloc(MANY, sizeof *v);
    evzk_tx_options opt = asked(SITES);
    struct site sites[SITES];
    uint64_t before;
    int64_t began;
    struct peer p;

    ck_assert_ptr_nonnull(v);
    peer_open(&p, the_server());
    start_all(sites, p.s, "/many");
    ended = 0;
    before = requests_of(p.s);
    began = now_ms();
    for (int i = 0; i < MANY; i++)
        ask(&v[i], p.s, "/many", &opt);
    WAIT(ended == MANY);
    began = now_ms() - began;
    before = requests_of(p.s) - before;
    printf("two-phase transactions=%d sites=%d requests_each=%.1f ms=%d "
           "each_s=%d\n",
           MANY, SITES, (double)before / MANY, (int)began,
           (int)(MANY * 1000 / (began ? began : 1)));
    for (int i = 0; i < MANY; i++) {
        ck_assert_int_eq(v[i].decision, EVZK_TX_COMMIT);
        ck_assert_int_eq(v[i].votes, SITES);
        expect(&v[i], EVZK_TX_FINISHED, EVZK_OK);
    }
    for (int i = 0; i < SITES; i++) {
        WAIT(sites[i].finished == MANY);
        ck_assert_int_eq(sites[i].commits, MANY);
    }
    ck_assert_int_eq(count_below("/many", "tx"), 0);
    ck_assert_int_eq(count_below("/many", "inbox/a"), 0);
    free_all(sites);
    peer_close(&p);
    free(v);
}
END_TEST

/* ---- Sites ---- */

/* A site that starts again is told what it owes; its vote is read. */
START_TEST(site_starts_again)
{
    evzk_tx_options opt = asked(2);
    struct site v[2];
    struct asker a;
    struct peer p, q;

    opt.variant = (evzk_tx_variant)_i;
    opt.vote_data = true;
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    start(&v[0], p.s, "/again", "a", EVZK_TX_COMMIT);
    start(&v[1], p.s, "/again", "b", EVZK_TX_NONE);
    WAIT(strcmp(evzk_site_state(v[0].site), "WATCHING") == 0 &&
         strcmp(evzk_site_state(v[1].site), "WATCHING") == 0);
    ask(&a, q.s, "/again", &opt);
    WAIT(v[0].voted == 1 && v[1].asked == 1 && a.votes == 1);
    ck_assert_str_eq(a.data, "data");
    evzk_site_free(v[0].site);
    start(&v[0], p.s, "/again", "a", EVZK_TX_COMMIT);
    WAIT(v[0].voted == 1);
    ck_assert_int_eq(v[0].asked, 0);
    ck_assert_int_eq(evzk_site_tx_own_vote(v[0].held), EVZK_TX_COMMIT);
    ck_assert_int_eq(evzk_site_tx_vote(v[0].held, EVZK_TX_ABORT, NULL, 0),
                     EVZK_ERR_STATE);
    v[1].waits = v[0].waits = true;
    ck_assert_int_eq(evzk_site_tx_vote(v[1].held, EVZK_TX_COMMIT, NULL, 0),
                     EVZK_OK);
    WAIT(v[0].decided && v[1].decided);
    evzk_site_free(v[0].site);
    start(&v[0], p.s, "/again", "a", EVZK_TX_COMMIT);
    WAIT(v[0].finished == 1);
    ck_assert_int_eq(v[0].commits, 1);
    ck_assert_int_eq(evzk_site_tx_done(v[1].held), EVZK_OK);
    expect(&a, EVZK_TX_FINISHED, EVZK_OK);
    ck_assert_int_eq(a.decision, EVZK_TX_COMMIT);
    for (int i = 0; i < 2; i++)
        evzk_site_free(v[i].site);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* With presence, a site that goes before its vote aborts. */
START_TEST(presence_goes)
{
    evzk_tx_options opt = asked(2);
    struct site v[2];
    struct asker a;
    struct peer p, q, r;

    opt.variant = EVZK_TX_PRESENCE;
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    peer_open(&r, the_server());
    start(&v[0], p.s, "/presence", "a", EVZK_TX_COMMIT);
    start(&v[1], r.s, "/presence", "b", EVZK_TX_NONE);
    WAIT(strcmp(evzk_site_state(v[0].site), "WATCHING") == 0 &&
         strcmp(evzk_site_state(v[1].site), "WATCHING") == 0);
    ask(&a, q.s, "/presence", &opt);
    WAIT(v[0].voted == 1 && v[1].asked == 1);
    evzk_site_free(v[1].site);
    peer_close(&r);
    WAIT(a.decision == EVZK_TX_ABORT && v[0].decided == 1);
    ck_assert_int_eq(v[0].decision, EVZK_TX_ABORT);
    start(&v[1], p.s, "/presence", "b", EVZK_TX_COMMIT);
    WAIT(v[1].finished == 1);
    ck_assert_int_eq(v[1].asked, 0);
    ck_assert_int_eq(v[1].decision, EVZK_TX_ABORT);
    expect(&a, EVZK_TX_FINISHED, EVZK_OK);
    for (int i = 0; i < 2; i++)
        evzk_site_free(v[i].site);
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* What a look-up has said. */
struct lookup {
    int answers;
    size_t n, orphans, hidden;
    char id[EVZK_TX_ID_LEN + 1];
};

static void on_lookup(evzk_tx_query *q, int rc, const evzk_tx_info *v, size_t n,
                      void *arg)
{
    struct lookup *l = arg;

    ck_assert_int_eq(rc, EVZK_OK);
    l->answers++;
    l->n = n;
    for (size_t i = 0; i < n; i++) {
        l->orphans += v[i].orphan;
        l->hidden += v[i].hidden;
        strcpy(l->id, v[i].id);
    }
    evzk_tx_query_free(q);
}

static struct lookup look_up(evzk_session *s, const char *root)
{
    struct lookup l = {0};
    evzk_tx_query *q;

    ck_assert_int_eq(evzk_tx_query_start(s, root, on_lookup, &l, &q), EVZK_OK);
    WAIT(l.answers == 1);
    return l;
}

/* The coordinator dies; the sites abort, since one has not voted; and when one
 * of them is away a successor finds the transaction. */
START_TEST(coordinator_dies)
{
    evzk_tx_options opt = asked(2);
    struct site v[2];
    struct asker a, b = {0};
    struct lookup l;
    struct peer p, q;

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    start(&v[0], p.s, "/dies", "a", EVZK_TX_COMMIT);
    start(&v[1], p.s, "/dies", "b", EVZK_TX_NONE);
    WAIT(strcmp(evzk_site_state(v[0].site), "WATCHING") == 0 &&
         strcmp(evzk_site_state(v[1].site), "WATCHING") == 0);
    ask(&a, q.s, "/dies", &opt);
    WAIT(v[0].voted == 1 && v[1].asked == 1);
    l = look_up(p.s, "/dies");
    ck_assert_uint_eq(l.n, 1);
    ck_assert_uint_eq(l.orphans, 0);
    v[1].waits = true;
    evzk_tx_free(a.tx);
    peer_close(&q);
    WAIT(v[0].finished == 1 && v[1].decided == 1);
    ck_assert_int_eq(v[0].decision, EVZK_TX_ABORT);
    ck_assert_int_eq(v[1].decision, EVZK_TX_ABORT);
    evzk_site_free(v[1].site);
    l = look_up(p.s, "/dies");
    ck_assert_uint_eq(l.orphans, 1);
    ck_assert_int_eq(
        evzk_tx_recover(p.s, "/dies", l.id, NULL, on_tx, &b, &b.tx), EVZK_OK);
    WAIT(b.decision == EVZK_TX_ABORT);
    start(&v[1], p.s, "/dies", "b", EVZK_TX_COMMIT);
    expect(&b, EVZK_TX_FINISHED, EVZK_OK);
    WAIT(v[1].finished == 1);
    ck_assert_uint_eq(look_up(p.s, "/dies").n, 0);
    for (int i = 0; i < 2; i++)
        evzk_site_free(v[i].site);
    peer_close(&p);
}
END_TEST

/* ---- What others write. ---- */

#define FORGED "123e4567-e89b-42d3-a456-426614174000"

/* A transaction that names such a session, which becomes part of a path. */
START_TEST(recover_forged)
{
    static const char *const tags[] = {
        "123e4567-e89b-42d3-a456/42661417400/-00001",
        "123e4567-e89b-42d3-a456//2661417400/-00001",
        "../x4567-e89b-42d3-a456-426614174000-00001",
        "123e4567-e89b-42d3-a456-426614174000-0000/",
        "123e4567-e89b-42d3-a456-42661417\x01x00-00001",
        ("\0"
         "23e4567-e89b-42d3-a456-426614174000-00001")};
    char text[] = "evzk-2pc 1 m ? 123e4567-e89b-42d3-a456-426614174000-00001\n"
                  "1\na\nwhy?";
    struct asker a;
    struct peer p;

    peer_open(&p, the_server());
    raw_mkdirs(op(), "/forged/tx");
    raw_mkdirs(op(), "/forged/coordinators");
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        memcpy(text + 15, tags[i], 42);
        ck_assert_int_eq(raw_create(op(), "/forged/tx/" FORGED, text,
                                    sizeof text - 1, 0, NULL, 0),
                         ZOK);
        a = (struct asker){0};
        ck_assert_int_eq(
            evzk_tx_recover(p.s, "/forged", FORGED, NULL, on_tx, &a, &a.tx),
            EVZK_OK);
        expect(&a, EVZK_TX_FAILED, EVZK_ERR_FOREIGN);
        ck_assert_int_eq(raw_delete(op(), "/forged/tx/" FORGED), ZOK);
    }
    peer_close(&p);
}
END_TEST

/* A vote to commit that the site has not cast, beside the znode that says so:
 * nothing is committed, and all is cleaned up. */
START_TEST(vote_forged)
{
    evzk_tx_options opt = asked(2);
    struct site v[2];
    struct asker a;
    struct peer p;
    char path[160];

    opt.variant = (evzk_tx_variant)_i;
    peer_open(&p, the_server());
    start(&v[0], p.s, "/forge", "a", EVZK_TX_NONE);
    start(&v[1], p.s, "/forge", "b", EVZK_TX_NONE);
    WAIT(strcmp(evzk_site_state(v[0].site), "WATCHING") == 0 &&
         strcmp(evzk_site_state(v[1].site), "WATCHING") == 0);
    ask(&a, p.s, "/forge", &opt);
    WAIT(v[0].asked == 1 && v[1].asked == 1);
    snprintf(path, sizeof path, "/forge/tx/%s/commit-b", evzk_tx_id(a.tx));
    ck_assert_int_eq(raw_create(op(), path, "", 0, 0, NULL, 0), ZOK);
    if (a.decision == EVZK_TX_NONE && v[0].decided == 0)
        ck_assert_int_eq(evzk_site_tx_vote(v[0].held, EVZK_TX_COMMIT, NULL, 0),
                         EVZK_OK);
    expect(&a, EVZK_TX_FINISHED, EVZK_OK);
    ck_assert_int_eq(a.decision, EVZK_TX_ABORT);
    for (int i = 0; i < 2; i++) {
        WAIT(v[i].finished == 1);
        ck_assert_int_eq(v[i].decision, EVZK_TX_ABORT);
    }
    ck_assert_int_eq(count_below("/forge", "tx"), 0);
    for (int i = 0; i < 2; i++)
        evzk_site_free(v[i].site);
    peer_close(&p);
}
END_TEST

/* Somebody writes over a transaction to which a site has voted to commit: it is
 * told so, and its vote stands.  The others may have heard a decision.  Nor
 * does the other site take away what it cannot read. */
START_TEST(text_spoilt)
{
    evzk_tx_options opt = asked(2);
    struct site v[2];
    struct asker a;
    struct peer p;
    char path[160];

    peer_open(&p, the_server());
    start(&v[0], p.s, "/spoilt", "a", EVZK_TX_COMMIT);
    start(&v[1], p.s, "/spoilt", "b", EVZK_TX_NONE);
    WAIT(strcmp(evzk_site_state(v[0].site), "WATCHING") == 0 &&
         strcmp(evzk_site_state(v[1].site), "WATCHING") == 0);
    ask(&a, p.s, "/spoilt", &opt);
    WAIT(v[0].voted == 1 && v[1].asked == 1);
    snprintf(path, sizeof path, "/spoilt/tx/%s", evzk_tx_id(a.tx));
    ck_assert_int_eq(raw_set(op(), path, "nothing", 7), ZOK);
    WAIT(v[0].failed == 1 && v[1].failed == 1);
    expect(&a, EVZK_TX_FAILED, EVZK_ERR_FOREIGN);
    strcat(path, "/commit-a");
    ck_assert_int_eq(raw_exists(op(), path, NULL), ZOK);
    ck_assert_int_eq(count_below("/spoilt", "inbox/a"), 1);
    ck_assert_int_eq(count_below("/spoilt", "inbox/b"), 1);
    ck_assert_int_eq(v[0].why, EVZK_ERR_FOREIGN);
    ck_assert_int_eq(v[1].why, EVZK_ERR_FOREIGN);
    for (int i = 0; i < 2; i++)
        evzk_site_free(v[i].site);
    peer_close(&p);
}
END_TEST

/* As after a copy of the whole tree: nobody has written to it yet. */
static void copy_in_place(const char *path)
{
    char text[256], vote[180];
    int len = sizeof text;

    snprintf(vote, sizeof vote, "%s/commit-b", path);
    ck_assert_int_eq(raw_get(op(), path, text, &len, NULL), ZOK);
    ck_assert_int_eq(raw_delete(op(), vote), ZOK);
    ck_assert_int_eq(raw_delete(op(), path), ZOK);
    ck_assert_int_eq(raw_create(op(), path, text, len, 0, NULL, 0), ZOK);
    ck_assert_int_eq(raw_create(op(), vote, "data", 4, 0, NULL, 0), ZOK);
}

/* What somebody does to a decided transaction while a site is down. */
static void do_wrong(int how, const char *path)
{
    char vote[180];

    snprintf(vote, sizeof vote, "%s/commit-b", path);
    if (how == 0)
        copy_in_place(path);
    else if (how == 1)
        ck_assert_int_eq(raw_set(op(), path, "nothing", 7), ZOK);
    else
        ck_assert_int_eq(raw_delete(op(), vote), ZOK);
    if (how == 2)
        ck_assert_int_eq(raw_delete(op(), path), ZOK);
}

/* A site has voted to commit, and is down when it is decided.  Meanwhile
 * somebody copies the transaction, writes over it or deletes it: the site is
 * told so when it starts again, and its vote stands.  A successor does not
 * decide anew. */
START_TEST(restart_spoilt)
{
    evzk_tx_options opt = asked(2);
    struct site v[2];
    struct asker a, b = {0};
    struct peer p, q;
    char root[16], path[160], vote[180], id[EVZK_TX_ID_LEN + 1];
    bool gone = _i == 2;

    snprintf(root, sizeof root, "/restart%d", _i);
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    start(&v[0], p.s, root, "a", EVZK_TX_COMMIT);
    start(&v[1], p.s, root, "b", EVZK_TX_COMMIT);
    v[1].waits = true;
    WAIT(strcmp(evzk_site_state(v[0].site), "WATCHING") == 0 &&
         strcmp(evzk_site_state(v[1].site), "WATCHING") == 0);
    ask(&a, q.s, root, &opt);
    strcpy(id, evzk_tx_id(a.tx));
    WAIT(v[0].finished == 1 && v[1].decided == 1);
    ck_assert_int_eq(v[0].decision, EVZK_TX_COMMIT);
    evzk_site_free(v[0].site);
    evzk_site_free(v[1].site);
    evzk_tx_free(a.tx);
    peer_close(&q);
    snprintf(path, sizeof path, "%s/tx/%s", root, id);
    snprintf(vote, sizeof vote, "%s/commit-b", path);
    do_wrong(_i, path);
    start(&v[1], p.s, root, "b", EVZK_TX_COMMIT);
    WAIT(v[1].failed == 1);
    ck_assert_int_eq(v[1].why, gone ? EVZK_ERR_NODEGONE : EVZK_ERR_FOREIGN);
    ck_assert_int_eq(raw_exists(op(), vote, NULL), gone ? ZNONODE : ZOK);
    ck_assert_int_eq(count_below(root, "inbox/b"), gone ? 0 : 1);
    ck_assert_int_eq(evzk_tx_recover(p.s, root, id, NULL, on_tx, &b, &b.tx),
                     EVZK_OK);
    expect(&b, EVZK_TX_FAILED, gone ? EVZK_ERR_NODEGONE : EVZK_ERR_FOREIGN);
    ck_assert_int_eq(b.decision, EVZK_TX_NONE);
    evzk_site_free(v[1].site);
    peer_close(&p);
}
END_TEST

/* A transaction of a newer format: a site is told so, and takes nothing of it
 * away; a look-up shows it. */
START_TEST(newer_format)
{
    static const char text[] =
        "evzk-2pc 2 m ? 123e4567-e89b-42d3-a456-426614174000-00001\n"
        "1\na\nwhy?";
    struct asker a = {0};
    struct lookup l;
    struct site v;
    struct peer p;

    peer_open(&p, the_server());
    raw_mkdirs(op(), "/newer/tx");
    raw_mkdirs(op(), "/newer/coordinators");
    raw_mkdirs(op(), "/newer/inbox/a");
    ck_assert_int_eq(raw_create(op(), "/newer/tx/" FORGED, text,
                                sizeof text - 1, 0, NULL, 0),
                     ZOK);
    ck_assert_int_eq(
        raw_create(op(), "/newer/tx/" FORGED "/open-a", "", 0, 0, NULL, 0),
        ZOK);
    ck_assert_int_eq(
        raw_create(op(), "/newer/inbox/a/" FORGED, "", 0, 0, NULL, 0), ZOK);
    start(&v, p.s, "/newer", "a", EVZK_TX_COMMIT);
    WAIT(v.failed == 1);
    ck_assert_int_eq(v.why, EVZK_ERR_FOREIGN);
    ck_assert_int_eq(count_below("/newer", "inbox/a"), 1);
    ck_assert_int_eq(count_below("/newer", "tx/" FORGED), 1);
    l = look_up(p.s, "/newer");
    ck_assert_uint_eq(l.n, 1);
    ck_assert_uint_eq(l.hidden, 1);
    ck_assert_int_eq(
        evzk_tx_recover(p.s, "/newer", FORGED, NULL, on_tx, &a, &a.tx),
        EVZK_OK);
    expect(&a, EVZK_TX_FAILED, EVZK_ERR_FOREIGN);
    evzk_site_free(v.site);
    peer_close(&p);
}
END_TEST

/* The right to write to a transaction is gone when the last vote comes, and
 * comes back: the coordinator is told so, and decides.  Its session lives on.
 */
START_TEST(decision_refused)
{
    static struct ACL one = {.id = {"world", "anyone"}};
    const struct ACL_vector acl = {.count = 1, .data = &one};
    evzk_tx_options opt = asked(2);
    struct site v[2];
    struct asker a;
    struct peer p, q;
    char path[160];

    opt.variant = _i == 0 ? EVZK_TX_MEDIATED : EVZK_TX_PRESENCE;
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    start(&v[0], p.s, "/denied", "a", EVZK_TX_COMMIT);
    start(&v[1], p.s, "/denied", "b", EVZK_TX_NONE);
    WAIT(strcmp(evzk_site_state(v[0].site), "WATCHING") == 0 &&
         strcmp(evzk_site_state(v[1].site), "WATCHING") == 0);
    ask(&a, q.s, "/denied", &opt);
    WAIT(v[0].voted == 1 && v[1].asked == 1);
    snprintf(path, sizeof path, "/denied/tx/%s", evzk_tx_id(a.tx));
    one.perms = ZOO_PERM_ALL & ~ZOO_PERM_WRITE;
    ck_assert_int_eq(raw_set_acl(op(), path, &acl), ZOK);
    ck_assert_int_eq(evzk_site_tx_vote(v[1].held, EVZK_TX_COMMIT, NULL, 0),
                     EVZK_OK);
    WAIT(a.refused == 1 || a.finals == 1);
    ck_assert_int_eq(a.finals, 0);
    ck_assert_int_eq(a.why, EVZK_ERR_NOAUTH);
    ck_assert_str_eq(evzk_tx_state(a.tx), "REFUSED");
    one.perms = ZOO_PERM_ALL;
    ck_assert_int_eq(raw_set_acl(op(), path, &acl), ZOK);
    expect(&a, EVZK_TX_FINISHED, EVZK_OK);
    ck_assert_int_eq(a.decision, EVZK_TX_COMMIT);
    ck_assert_int_eq(a.refused, 1);
    WAIT(v[0].finished == 1 && v[1].finished == 1);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(v[i].decision, EVZK_TX_COMMIT);
        evzk_site_free(v[i].site);
    }
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* What a site's transaction refuses; a time-out; no such site. */
START_TEST(refused)
{
    evzk_tx_options opt = asked(1);
    struct site v;
    struct asker a;
    struct peer p;
    size_t len;

    peer_open(&p, the_server());
    ask(&a, p.s, "/refused", &opt);
    expect(&a, EVZK_TX_FAILED, EVZK_ERR_NONODE);
    ck_assert_int_eq(a.begun, 0);
    start(&v, p.s, "/refused", "a", EVZK_TX_NONE);
    WAIT(strcmp(evzk_site_state(v.site), "WATCHING") == 0);
    opt.timeout_ms = 300;
    ask(&a, p.s, "/refused", &opt);
    WAIT(v.asked == 1);
    ck_assert_str_eq(evzk_site_tx_id(v.held), evzk_tx_id(a.tx));
    ck_assert_int_eq(memcmp(evzk_site_tx_question(v.held, &len), "why not?", 8),
                     0);
    ck_assert_uint_eq(len, 8);
    evzk_site_tx_set_arg(v.held, &len);
    ck_assert_ptr_eq(evzk_site_tx_arg(v.held), &len);
    ck_assert_str_eq(evzk_site_tx_state(v.held), "ASKED");
    ck_assert_int_eq(evzk_site_tx_vote(v.held, EVZK_TX_NONE, NULL, 0),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_site_tx_vote(v.held, EVZK_TX_COMMIT, NULL, 1),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(
        evzk_site_tx_vote(v.held, EVZK_TX_COMMIT, "", EVZK_TX_DATA_MAX + 1),
        EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_site_tx_done(v.held), EVZK_ERR_STATE);
    v.waits = true;
    WAIT(v.decided == 1);
    ck_assert_int_eq(a.why, EVZK_ERR_TIMEOUT);
    ck_assert_int_eq(evzk_site_tx_vote(v.held, EVZK_TX_COMMIT, NULL, 0),
                     EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_site_tx_abort(v.held), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_site_tx_done(v.held), EVZK_OK);
    ck_assert_int_eq(evzk_site_tx_done(v.held), EVZK_ERR_STATE);
    expect(&a, EVZK_TX_FINISHED, EVZK_OK);
    ck_assert_int_eq(evzk_site_cancel(v.site), EVZK_OK);
    WAIT(v.ended == 1);
    evzk_site_free(v.site);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("two-phase");
    TCase *many = lock_tests(suite, "many", 120000);
    TCase *few = lock_tests(suite, "few", 60000);

    tcase_add_test(many, successor_decides_the_opposite);
    tcase_add_test(many, thousands_at_once);
    tcase_add_loop_test(few, site_starts_again, 0, 2);
    tcase_add_test(few, presence_goes);
    tcase_add_test(few, coordinator_dies);
    tcase_add_test(few, recover_forged);
    tcase_add_loop_test(few, vote_forged, 0, 3);
    tcase_add_test(few, text_spoilt);
    tcase_add_loop_test(few, restart_spoilt, 0, 3);
    tcase_add_test(few, newer_format);
    tcase_add_loop_test(few, decision_refused, 0, 2);
    tcase_add_test(few, refused);
    return lock_suite_run(suite);
}
