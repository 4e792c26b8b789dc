/*
 * The shards' scenario: one joins, and leads all; another joins, and takes its
 * half; the first drains, so that the other has all; and that one drains.  The
 * first, the second, or both are behind the proxy.
 *
 * Must hold whatever the network does: of each shard never two leaders, epochs
 * that grow, nothing led that was told to have ended, nothing heard after the
 * end, and the end is what was asked for.  The plan stays; so may directories
 * whose making was in doubt, which are the server's to take when they are
 * empty, and there is no ephemeral at the end of all.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <evzk/shards.h>
#include <stdio.h>

enum part { FAR_FIRST, NEAR_FIRST, BOTH_FAR };
enum { SHARDS = 2 };

static const char *const parts[] = {"first", "second", "both", NULL};

struct joiner {
    evzk_shards *a;
    struct realm *all;
    evzk_shards_event last;
    bool far, drains;
    int elected, leading, resigned, lost, planned, finals, rc;
};

struct realm {
    struct sweep_run *run;
    struct joiner m[2];
    uint64_t epoch[SHARDS];
};

static bool both_lead(const struct realm *r)
{
    for (uint32_t i = 0; i < SHARDS; i++) {
        if (evzk_shards_elected(r->m[0].a, i) &&
            evzk_shards_elected(r->m[1].a, i))
            return true;
    }
    return false;
}

static void elected(struct joiner *m, uint32_t shard)
{
    uint64_t epoch = evzk_shards_epoch(m->a, shard);
    struct realm *r = m->all;

    m->elected++;
    if (epoch <= r->epoch[shard])
        sweep_complain(r->run, SWEEP_WRONG, "epoch %llx after %llx",
                       (unsigned long long)epoch,
                       (unsigned long long)r->epoch[shard]);
    r->epoch[shard] = epoch;
}

static void on_shard(evzk_shards *a, uint32_t shard, evzk_election_event ev,
                     int rc, void *arg)
{
    struct joiner *m = arg;

    if (m->finals > 0)
        sweep_complain(m->all->run, SWEEP_DOUBLED, "heard after the end");
    if (both_lead(m->all))
        sweep_complain(m->all->run, SWEEP_BOTH_HELD, "shard %u", shard);
    if (ev == EVZK_ELECTION_ELECTED)
        elected(m, shard);
    m->leading += ev == EVZK_ELECTION_LEADING && rc == EVZK_OK;
    m->resigned += ev == EVZK_ELECTION_RESIGNED;
    m->lost += ev == EVZK_ELECTION_LOST;
    if (ev == EVZK_ELECTION_FAILED ||
        (ev == EVZK_ELECTION_LEADING && rc != EVZK_OK))
        sweep_complain(m->all->run, SWEEP_WRONG, "shard %u: event %d, %d",
                       shard, (int)ev, rc);
    if ((ev == EVZK_ELECTION_RESIGNED || ev == EVZK_ELECTION_LOST) &&
        evzk_shards_elected(a, shard))
        sweep_complain(m->all->run, SWEEP_WRONG, "shard %u is led on", shard);
}

static void on_all(evzk_shards *a, evzk_shards_event ev, int rc, void *arg)
{
    struct joiner *m = arg;

    (void)a;
    if (m->finals > 0)
        sweep_complain(m->all->run, SWEEP_DOUBLED, "heard after the end");
    m->planned += ev == EVZK_SHARDS_PLANNED;
    m->finals += ev >= EVZK_SHARDS_DRAINED;
    m->last = ev;
    m->rc = rc;
}

static void join(struct joiner *m)
{
    const evzk_shards_options opt = {.count = SHARDS};
    const struct sweep_run *run = m->all->run;
    int rc = evzk_shards_join(m->far ? run->far : run->near, run->dir, &opt,
                              on_shard, on_all, m, &m->a);

    if (rc)
        support_fail("sweep: join: %d", rc);
}

static void begin(void *scene, struct sweep_run *run)
{
    enum part part = (enum part)run->part;
    struct realm *r = scene;

    r->run = run;
    r->m[0].all = r->m[1].all = r;
    r->m[0].far = part != NEAR_FIRST;
    r->m[1].far = part != FAR_FIRST;
    join(&r->m[0]);
}

/* The member knows of so many members, and leads just its share. */
static bool has_share(const struct joiner *m, uint32_t members)
{
    evzk_shards_stats st;

    if (!m->a || m->finals > 0)
        return false;
    evzk_shards_get_stats(m->a, &st);
    return st.members == members && st.leading == SHARDS / members &&
           st.elected == st.leading;
}

static void drain(struct joiner *m)
{
    m->drains = true;
    if (evzk_shards_drain(m->a, 0) != EVZK_OK)
        sweep_complain(m->all->run, SWEEP_WRONG, "drain");
}

static bool turn(void *scene)
{
    struct realm *r = scene;
    struct joiner *a = &r->m[0], *b = &r->m[1];

    if (both_lead(r))
        sweep_complain(r->run, SWEEP_BOTH_HELD, "between events");
    if (!b->a && has_share(a, 1))
        join(b);
    if (!a->drains && has_share(a, 2) && has_share(b, 2))
        drain(a);
    if (!b->drains && a->finals > 0 && has_share(b, 1))
        drain(b);
    return (a->finals > 0 && b->finals > 0) || a->last == EVZK_SHARDS_FAILED ||
           b->last == EVZK_SHARDS_FAILED;
}

static void judge(void *scene)
{
    struct realm *r = scene;

    for (int i = 0; i < 2; i++) {
        const struct joiner *m = &r->m[i];

        if (m->last != EVZK_SHARDS_DRAINED || m->rc != EVZK_OK ||
            (m->lost > 0 && !(m->far && r->run->may_lose)))
            sweep_complain(r->run, SWEEP_WRONG, "%s member's end",
                           i ? "second" : "first");
    }
}

static void end(void *scene)
{
    struct realm *r = scene;

    for (int i = 0; i < 2; i++) {
        evzk_shards_free(r->m[i].a);
        r->m[i].a = NULL;
    }
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct realm *r = scene;
    int n = 0;

    for (int i = 0; i < 2 && n >= 0 && (size_t)n < size; i++) {
        const struct joiner *m = &r->m[i];
        evzk_shards_stats st = {0};

        if (m->a)
            evzk_shards_get_stats(m->a, &st);
        n +=
            snprintf(text + n, size - (size_t)n,
                     "[plan %d of %u members gives it %u; elected in %u, leads "
                     "%u%s; told: elected %d, leading %d, resigned %d, lost "
                     "%d, last %d(%d)] ",
                     (int)st.plan, st.members, st.planned, st.elected,
                     st.leading, m->drains ? ", drains" : "", m->elected,
                     m->leading, m->resigned, m->lost, (int)m->last, m->rc);
    }
}

const struct sweep_recipe sweep_shards = {.name = "shards",
                                          .parts = parts,
                                          .size = sizeof(struct realm),
                                          .keeps = 2 + SHARDS,
                                          .share = 10, /* Pairs are many. */
                                          .begin = begin,
                                          .turn = turn,
                                          .judge = judge,
                                          .end = end,
                                          .tell = tell};
