/*
 * What the tests of shards share: members, each with a session of its own, or
 * some in one; and the rules that are looked at in every callback: no shard has
 * two leaders, and epochs grow.
 */
#ifndef TESTS_REAL_TEST_SHARDS_H
#define TESTS_REAL_TEST_SHARDS_H

#include "evzk/shards.h"
#include "test_lock.h"

/* Opcodes that the proxy is asked for. */
enum { OP_CREATE_1 = 1, OP_SET = 5, OP_MULTI = 14 };

enum { SHARD_MEMBERS = 6 };

/* A member, the events that it heard, and its reactions inside an event. */
struct member {
    struct peer p;
    evzk_session *s; /* Its own, or another's. */
    evzk_shards *a;
    uint32_t count;
    int planned, balanced, finals, rc;
    evzk_shards_event last;
    int elected, leading, refused, suspended, resumed;
    int resigned, lost, failed, lost_rc;
    evzk_election_event at_shard;  /* At the first of these, or ... */
    evzk_shards_event at_all;      /* ... of these, ... */
    void (*act)(struct member *m); /* ... it does this; NULL: nothing. */
    bool acted, freed;
};

/* Those of a test; NULL: not there. */
static struct member *shard_members[SHARD_MEMBERS];
static uint64_t shard_epochs[EVZK_SHARDS_MAX];
static int64_t shard_left[EVZK_SHARDS_MAX], shard_longest;

/* An operator has ended a session before its time: who had it hears of that
 * when it hears from the server, and others may be sooner. */
static bool shard_unheard;

static inline int leaders_of(uint32_t shard)
{
    int n = 0;

    for (int i = 0; i < SHARD_MEMBERS; i++) {
        if (shard_members[i])
            n += evzk_shards_elected(shard_members[i]->a, shard);
    }
    return n;
}

/* Those of the first `n` that somebody leads; none of them is led twice. */
static inline uint32_t shards_led(uint32_t n)
{
    uint32_t led = 0;

    for (uint32_t i = 0; i < n; i++) {
        int leaders = leaders_of(i);

        if (leaders > 1 && !shard_unheard)
            ck_abort_msg("shard %u has %d leaders", i, leaders);
        led += leaders >= 1;
    }
    return led;
}

static inline void shard_gained(struct member *m, uint32_t shard)
{
    uint64_t epoch = evzk_shards_epoch(m->a, shard);
    int64_t gap = shard_left[shard] ? now_ms() - shard_left[shard] : 0;

    m->elected++;
    if ((leaders_of(shard) != 1 && !shard_unheard) ||
        !evzk_shards_elected(m->a, shard) || evzk_shards_leading(m->a, shard) ||
        epoch <= shard_epochs[shard])
        ck_abort_msg("shard %u: %d leaders, epoch %llu after %llu", shard,
                     leaders_of(shard), (unsigned long long)epoch,
                     (unsigned long long)shard_epochs[shard]);
    shard_epochs[shard] = epoch;
    shard_left[shard] = 0;
    if (gap > shard_longest)
        shard_longest = gap;
}

static inline void shard_gone(struct member *m, uint32_t shard, int rc)
{
    if (evzk_shards_elected(m->a, shard) || evzk_shards_leading(m->a, shard))
        ck_abort_msg("shard %u is led after its end", shard);
    if (evzk_shards_epoch(m->a, shard) == 0)
        ck_abort_msg("shard %u: the epoch that it lost is forgotten", shard);
    shard_left[shard] = now_ms();
    if (rc != EVZK_OK)
        m->lost_rc = rc;
}

static inline void act_at(struct member *m, bool now)
{
    if (m->act && !m->acted && now) {
        m->acted = true;
        m->act(m);
    }
}

static inline void hear_shard(evzk_shards *a, uint32_t shard,
                              evzk_election_event ev, int rc, void *arg)
{
    struct member *m = arg;

    if (a != m->a || shard >= m->count || m->finals > 0 || m->freed)
        ck_abort_msg("event %d of shard %u is out of turn", (int)ev, shard);
    if (ev == EVZK_ELECTION_ELECTED)
        shard_gained(m, shard);
    if (ev == EVZK_ELECTION_LEADING && rc == EVZK_OK &&
        evzk_shards_elected(a, shard) && !evzk_shards_leading(a, shard))
        ck_abort_msg("shard %u is not led", shard);
    if (ev == EVZK_ELECTION_RESIGNED || ev == EVZK_ELECTION_LOST)
        shard_gone(m, shard, rc);
    m->leading += ev == EVZK_ELECTION_LEADING && rc == EVZK_OK;
    m->refused += ev == EVZK_ELECTION_LEADING && rc != EVZK_OK;
    m->suspended += ev == EVZK_ELECTION_SUSPENDED;
    m->resumed += ev == EVZK_ELECTION_RESUMED;
    m->resigned += ev == EVZK_ELECTION_RESIGNED;
    m->lost += ev == EVZK_ELECTION_LOST;
    m->failed += ev == EVZK_ELECTION_FAILED;
    if (ev == EVZK_ELECTION_FAILED)
        m->lost_rc = rc;
    act_at(m, ev == m->at_shard);
}

static inline void hear_shards(evzk_shards *a, evzk_shards_event ev, int rc,
                               void *arg)
{
    struct member *m = arg;

    ck_assert_ptr_eq(a, m->a);
    ck_assert_int_eq(m->finals, 0);
    ck_assert(!m->freed);
    shards_led(m->count);
    m->planned += ev == EVZK_SHARDS_PLANNED;
    m->balanced += ev == EVZK_SHARDS_BALANCED;
    m->finals += ev >= EVZK_SHARDS_DRAINED;
    m->last = ev;
    m->rc = rc;
    act_at(m, ev == m->at_all);
}

static inline void member_join(struct member *m, int slot, evzk_session *s,
                               const char *path, const evzk_shards_options *opt)
{
    m->s = s;
    m->count = opt->count;
    shard_members[slot] = m;
    ck_assert_int_eq(
        evzk_shards_join(s, path, opt, hear_shard, hear_shards, m, &m->a),
        EVZK_OK);
    ck_assert_int_eq(m->planned + m->elected, 0);
}

/* As if it had never been: no more is heard of it. */
static inline void member_free(struct member *m)
{
    m->freed = true;
    for (uint32_t i = 0; i < m->count; i++) {
        if (evzk_shards_elected(m->a, i))
            shard_left[i] = now_ms();
    }
    evzk_shards_free(m->a);
    m->a = NULL;
}

static inline void member_leave(struct member *m, int slot)
{
    member_free(m);
    shard_members[slot] = NULL;
}

static inline evzk_shards_stats stats_of(const struct member *m)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(m->a, &st);
    return st;
}

static inline uint32_t led_by(const struct member *m)
{
    return stats_of(m).leading;
}

/* All that is planned for it is led by it, and nothing else; and there are so
 * many members. */
static inline bool is_balanced(const struct member *m, uint32_t members)
{
    evzk_shards_stats st = stats_of(m);

    return st.members == members && st.leading == st.planned &&
           st.elected == st.leading;
}

/* ---- Several, in one place ---- */

/* Slot i of v[] is that of shard_members[]. */
struct team {
    const char *path;
    int sessions;
    struct member v[SHARD_MEMBERS];
    struct proxy *proxy[SHARD_MEMBERS]; /* Of those that are behind one. */
};

static inline struct team *team_open(const char *path, int sessions)
{
    static struct team t;

    memset(&t, 0, sizeof t);
    memset(shard_epochs, 0, sizeof shard_epochs);
    memset(shard_left, 0, sizeof shard_left);
    shard_longest = 0;
    shard_unheard = false;
    t.path = path;
    t.sessions = sessions;
    for (int i = 0; i < sessions; i++)
        peer_open(&t.v[i].p, the_server());
    return &t;
}

static inline void team_join(struct team *t, int i,
                             const evzk_shards_options *opt)
{
    member_join(&t->v[i], i, t->v[i].p.s, t->path, opt);
}

/* A new one, where one has left. */
static inline void team_join_anew(struct team *t, int i,
                                  const evzk_shards_options *opt)
{
    struct peer p = t->v[i].p;

    ck_assert(t->v[i].freed);
    t->v[i] = (struct member){.p = p};
    team_join(t, i, opt);
}

/* All know of one plan, for so many, and lead what it gives them. */
static inline bool team_is_balanced(const struct team *t, uint32_t members)
{
    uint64_t plan = 0;
    bool all = true;

    for (int i = 0; i < SHARD_MEMBERS; i++) {
        const struct member *m = &t->v[i];
        evzk_shards_stats st;

        if (!m->a || m->finals > 0)
            continue;
        st = stats_of(m);
        plan = plan ? plan : st.plan;
        all = all && is_balanced(m, members) && st.plan == plan;
    }
    return all && plan > 0;
}

/* Each says of every shard who leads it, and so it is. */
static inline void check_leaders(const struct team *t, uint32_t count)
{
    evzk_shards_member to;

    for (int i = 0; i < SHARD_MEMBERS; i++) {
        const struct member *m = &t->v[i];

        for (uint32_t k = 0; m->a && !m->finals && k < count; k++) {
            bool known = evzk_shards_leader(m->a, k, &to);

            if (known != (leaders_of(k) == 1) ||
                (known && to.self != evzk_shards_leading(m->a, k)))
                ck_abort_msg("%d says who leads %u, and it is not so", i, k);
        }
    }
}

/* In the end every shard is led, once, as the plan says. */
#define TEAM_BALANCED(t, members, count)                                       \
    do {                                                                       \
        WAIT(team_is_balanced(t, members) && shards_led(count) == (count));    \
        check_leaders(t, count);                                               \
    } while (0)

/* The first `n` join, one after another, and each takes its share. */
static inline void team_fill(struct team *t, int n, uint32_t count)
{
    const evzk_shards_options opt = {.count = count};

    for (int i = 0; i < n; i++)
        team_join(t, i, &opt);
    TEAM_BALANCED(t, (uint32_t)n, count);
}

/* So many sessions, of which the first `n` have joined. */
static inline struct team *team_start(const char *path, int sessions, int n,
                                      uint32_t count)
{
    struct team *t = team_open(path, sessions);

    team_fill(t, n, count);
    return t;
}

/* The next session is behind a proxy, until the team is closed. */
static inline struct proxy *behind_proxy(struct team *t, int i,
                                         uint32_t timeout_ms)
{
    const evzk_session_options opt = {.timeout_ms = timeout_ms};

    ck_assert_int_eq(i, t->sessions);
    t->proxy[i] = proxy_start(the_server());
    peer_start(&t->v[i].p, proxy_address(t->proxy[i]), &opt);
    WAIT(evzk_session_connected(t->v[i].p.s));
    t->sessions++;
    return t->proxy[i];
}

static inline const char *shard_path(const struct team *t, uint32_t i)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/shard-%u", t->path, i);
    return path;
}

static inline const char *members_path(const struct team *t)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/members", t->path);
    return path;
}

static inline const char *plan_path(const struct team *t)
{
    static char path[128];

    snprintf(path, sizeof path, "%s/plan", t->path);
    return path;
}

/* Its znode is there, and it does not know: nothing else comes from it. */
static inline struct proxy *join_frozen(struct team *t, int i,
                                        const evzk_shards_options *opt)
{
    struct proxy *proxy = behind_proxy(t, i, SESSION_MS);
    int there = raw_count(op(), members_path(t));

    proxy_trap(proxy, PROXY_S2C, OP_CREATE, 1, PROXY_FREEZE_BOTH);
    team_join(t, i, opt);
    WAIT(proxy_fired(proxy) == 1);
    WAIT(raw_count(op(), members_path(t)) == there + 1);
    WAIT(stats_of(&t->v[0]).members == (uint32_t)there + 1);
    return proxy;
}

/* Ended as it wished, and nothing was lost. */
static inline void wait_drained(const struct member *m)
{
    WAIT(m->finals == 1);
    ck_assert_int_eq(m->last, EVZK_SHARDS_DRAINED);
    ck_assert_int_eq(m->rc, EVZK_OK);
    ck_assert_int_eq(m->lost, 0);
}

static inline void wait_failed(const struct member *m, int rc)
{
    WAIT(m->finals == 1);
    ck_assert_int_eq(m->last, EVZK_SHARDS_FAILED);
    ck_assert_int_eq(m->rc, rc);
}

/* Ends the session of one who leads something, and waits until it knows. */
static inline void team_expire(struct team *t, int i)
{
    struct member *m = &t->v[i];
    int led = (int)led_by(m), lost = m->lost;

    ck_assert_int_gt(led, 0);
    shard_unheard = true;
    raw_expire(the_server(), evzk_session_id(m->s));
    WAIT(m->lost == lost + led);
    shard_unheard = false;
}

/* Members that have not left leave; then nothing is left but the plan. */
static inline void team_close(struct team *t)
{
    uint32_t count = 0;

    for (int i = 0; i < SHARD_MEMBERS; i++) {
        count = t->v[i].count > count ? t->v[i].count : count;
        if (t->v[i].a)
            member_leave(&t->v[i], i);
    }
    for (int i = 0; i < t->sessions; i++) {
        evzk_session_stats st;

        idle(t->v[i].p.s);
        evzk_session_get_stats(t->v[i].p.s, &st);
        ck_assert_int_eq(st.watches, 0);
    }
    wait_watches(0);
    WAIT(raw_count(op(), members_path(t)) <= 0);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_int_le(raw_count(op(), shard_path(t, i)), 0);
    for (int i = 0; i < t->sessions; i++)
        peer_close(&t->v[i].p);
    for (int i = 0; i < SHARD_MEMBERS; i++) {
        if (t->proxy[i])
            proxy_stop(t->proxy[i]);
    }
    raw_delete_tree(op(), t->path);
}

#endif
