/*
 * What the tests of elections share: candidates and observers, and a record of
 * what they said.
 */
#ifndef TESTS_REAL_TEST_ELECTION_H
#define TESTS_REAL_TEST_ELECTION_H

#include "evzk/election.h"
#include "test_lock.h"

/* A candidate, and what it said; what it does inside one of its events. */
struct candidate {
    evzk_election *e;
    evzk_session *s;
    const char *dir;
    char text[512];
    int finals, rc;
    evzk_election_event last;
    evzk_election_event at;
    int (*act)(struct candidate *c); /* NULL: nothing. */
    struct candidate *next;          /* That it may start. */
    int act_rc;
    bool acted, freed;
};

static inline const char *election_word(evzk_election_event ev)
{
    return evzk_election_event_name(ev);
}

static inline void say_word(char *text, size_t size, const char *word, int rc)
{
    size_t n = strlen(text);

    if (rc == EVZK_OK)
        snprintf(text + n, size - n, "%s%s", n ? " " : "", word);
    else
        snprintf(text + n, size - n, "%s%s(%s)", n ? " " : "", word,
                 evzk_errname(rc) + strlen("EVZK_ERR_"));
}

static inline void candidate_hear(evzk_election *e, evzk_election_event ev,
                                  int rc, void *arg)
{
    struct candidate *c = arg;

    ck_assert_int_eq(c->finals, 0);
    ck_assert(!c->freed);
    ck_assert_ptr_eq(e, c->e); /* Not from inside the call that started it. */
    say_word(c->text, sizeof c->text, election_word(ev), rc);
    c->finals += ev >= EVZK_ELECTION_RESIGNED;
    c->last = ev;
    c->rc = rc;
    if (c->act && !c->acted && ev == c->at) {
        c->acted = true;
        c->act_rc = c->act(c);
    }
}

/* As it is, but for what it is to do. */
static inline void find_again(struct candidate *c, evzk_session *s,
                              const char *dir, const evzk_election_options *opt)
{
    c->s = s;
    c->dir = dir;
    ck_assert_int_eq(
        evzk_election_volunteer(s, dir, opt, candidate_hear, c, &c->e),
        EVZK_OK);
    ck_assert_str_eq(c->text, "");
}

static inline void stand(struct candidate *c, evzk_session *s, const char *dir,
                         const evzk_election_options *opt)
{
    memset(c, 0, sizeof *c);
    find_again(c, s, dir, opt);
}

static inline void stand_acting(struct candidate *c, evzk_session *s,
                                const char *dir,
                                const evzk_election_options *opt,
                                evzk_election_event at,
                                int (*act)(struct candidate *c))
{
    memset(c, 0, sizeof *c);
    c->at = at;
    c->act = act;
    find_again(c, s, dir, opt);
}

static inline bool in_state(const struct candidate *c, const char *state)
{
    return strcmp(evzk_election_state(c->e), state) == 0;
}

/* Waits until it stands behind another. */
static inline void stand_behind(struct candidate *c, evzk_session *s,
                                const char *dir,
                                const evzk_election_options *opt)
{
    stand(c, s, dir, opt);
    WAIT(in_state(c, "WATCHING") && evzk_election_node(c->e)[0]);
}

/* How often it heard a word. */
static inline int times(const struct candidate *c, const char *word)
{
    const char *at = c->text;
    int n = 0;

    while ((at = strstr(at, word)) != NULL) {
        at += strlen(word);
        n++;
    }
    return n;
}

static inline void stand_elected(struct candidate *c, evzk_session *s,
                                 const char *dir)
{
    stand(c, s, dir, NULL);
    WAIT(evzk_election_elected(c->e));
    ck_assert_str_eq(c->text, "ELECTED");
    ck_assert(!evzk_election_leading(c->e));
}

static inline void lead(struct candidate *c, const char *data)
{
    ck_assert_int_eq(evzk_election_acknowledge(c->e, data, strlen(data)),
                     EVZK_OK);
    WAIT(evzk_election_leading(c->e));
}

static inline void resign(struct candidate *c)
{
    ck_assert_int_eq(evzk_election_resign(c->e), EVZK_OK);
    ck_assert(!evzk_election_elected(c->e));
    WAIT(c->finals == 1);
    ck_assert_int_eq(c->last, EVZK_ELECTION_RESIGNED);
    ck_assert_int_eq(c->rc, EVZK_OK);
    evzk_election_free(c->e);
    c->e = NULL;
}

/* An observer, and what it said: "-" for nobody, or what the leader says. */
struct watcher {
    evzk_observer *o;
    char text[512];
    char node[128];
    uint64_t epoch, highest;
    int64_t session;
    size_t len;
    int told, rc;
    bool freed;
    const char *at;                 /* The word at which ... */
    void (*act)(struct watcher *w); /* ... it does this, or NULL. */
    void *arg;
};

static inline void watcher_hear(evzk_observer *o, int rc,
                                const evzk_leader *leader, void *arg)
{
    struct watcher *w = arg;
    char word[64] = "-";

    ck_assert_ptr_eq(o, w->o);
    ck_assert_int_eq(w->rc, EVZK_OK);
    ck_assert(!w->freed);
    if (leader)
        snprintf(word, sizeof word, "%.*s", (int)leader->data_len,
                 (const char *)leader->data);
    if (rc != EVZK_OK)
        snprintf(word, sizeof word, "END");
    say_word(w->text, sizeof w->text, word, rc);
    if (leader) { /* Epochs never go back. */
        ck_assert_uint_ge(leader->epoch, w->highest);
        w->highest = leader->epoch;
        w->session = leader->session;
        w->len = leader->data_len;
        snprintf(w->node, sizeof w->node, "%s", leader->node);
    }
    w->epoch = leader ? leader->epoch : 0;
    w->rc = rc;
    w->told++;
    if (w->act && strcmp(word, w->at) == 0)
        w->act(w);
}

static inline void observe(struct watcher *w, evzk_session *s, const char *dir)
{
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(evzk_election_observe(s, dir, watcher_hear, w, &w->o),
                     EVZK_OK);
    ck_assert_int_eq(w->told, 0);
}

static inline void blind(struct watcher *w)
{
    evzk_observer_free(w->o);
    w->o = NULL;
    w->freed = true;
}

/* Until it has said just this. */
#define WAIT_TEXT(w, words) WAIT(strcmp((w)->text, words) == 0)

/* Candidates, observers, and a session for each. */
struct hall {
    const char *dir;
    struct peer p, q, r;
    struct candidate a, b;
    struct watcher w;
};

static inline void hall_open(struct hall *h, const char *dir)
{
    memset(h, 0, sizeof *h);
    h->dir = dir;
    peer_open(&h->p, the_server());
    peer_open(&h->q, the_server());
    peer_open(&h->r, the_server());
    observe(&h->w, h->r.s, dir);
    WAIT_TEXT(&h->w, "-");
}

static inline void hall_close(struct hall *h)
{
    if (h->w.o)
        blind(&h->w);
    nothing_left(h->dir, h->p.s);
    nothing_left(h->dir, h->q.s);
    nothing_left(h->dir, h->r.s);
    peer_close(&h->p);
    peer_close(&h->q);
    peer_close(&h->r);
}

/* What the leader znode says; its owner. */
struct said {
    char text[256];
    int len;
    struct Stat stat;
};

static inline const char *leader_path(const char *dir)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/leader", dir);
    return path;
}

static inline bool leader_there(const char *dir)
{
    return raw_exists(op(), leader_path(dir), NULL) == ZOK;
}

static inline void leader_read(const char *dir, struct said *said)
{
    memset(said, 0, sizeof *said);
    said->len = (int)sizeof said->text - 1;
    ck_assert_int_eq(
        raw_get(op(), leader_path(dir), said->text, &said->len, &said->stat),
        ZOK);
}

/* Checks that the leader znode is this candidate's, with this data. */
static inline void check_leader(const struct candidate *c, const char *data)
{
    char want[256];
    struct said said;

    leader_read(c->dir, &said);
    snprintf(want, sizeof want, "%llu %s\n%s",
             (unsigned long long)evzk_election_epoch(c->e),
             evzk_election_node(c->e), data);
    ck_assert_str_eq(said.text, want);
    ck_assert_int_eq(said.stat.ephemeralOwner, evzk_session_id(c->s));
}

/* ---- Scenes ---- */

/* The first leads, and who observes has heard it. */
static inline void hall_led(struct hall *h, const char *dir,
                            const evzk_election_options *opt)
{
    uint64_t epoch;

    hall_open(h, dir);
    stand(&h->a, h->p.s, dir, opt);
    WAIT(evzk_election_elected(h->a.e));
    ck_assert_str_eq(h->a.text, "ELECTED");
    ck_assert(!evzk_election_leading(h->a.e));
    epoch = evzk_election_epoch(h->a.e);
    lead(&h->a, "a");
    ck_assert_uint_eq(evzk_election_epoch(h->a.e), epoch);
    WAIT_TEXT(&h->w, "- a");
}

/* After the first, which is heard to be gone, the second leads and resigns. */
static inline void hall_next(struct hall *h)
{
    WAIT(evzk_election_elected(h->b.e));
    lead(&h->b, "b");
    check_leader(&h->b, "b");
    WAIT_TEXT(&h->w, "- a - b");
    resign(&h->b);
    WAIT_TEXT(&h->w, "- a - b -");
}

/* A candidate behind a proxy, the next one without a proxy, and an observer. */
struct gate {
    const char *dir;
    struct scene sc;
    struct candidate c, next;
    struct watcher w; /* Its o is NULL: nobody does. */
};

static inline void gate_open(struct gate *g, const char *dir,
                             uint32_t timeout_ms)
{
    memset(g, 0, sizeof *g);
    g->dir = dir;
    scene_open(&g->sc, timeout_ms);
}

static inline void gate_observed(struct gate *g, const char *dir,
                                 uint32_t timeout_ms)
{
    gate_open(g, dir, timeout_ms);
    observe(&g->w, g->sc.rival.s, dir);
    WAIT_TEXT(&g->w, "-");
}

/* The one behind the proxy is elected, and says this, or nothing (NULL); the
 * next one waits. */
static inline void gate_elected(struct gate *g, const char *dir,
                                uint32_t timeout_ms, const char *data)
{
    char heard[64];

    gate_observed(g, dir, timeout_ms);
    stand_elected(&g->c, g->sc.p.s, dir);
    if (data) {
        lead(&g->c, data);
        snprintf(heard, sizeof heard, "- %s", data);
        WAIT_TEXT(&g->w, heard);
    }
    stand_behind(&g->next, g->sc.rival.s, dir, NULL);
}

/* The next one, which is elected, resigns: then nobody is left. */
static inline void gate_close(struct gate *g)
{
    resign(&g->next);
    if (g->w.o) {
        WAIT(g->w.epoch == 0);
        blind(&g->w);
    }
    scene_close(&g->sc, g->dir);
}

#endif
