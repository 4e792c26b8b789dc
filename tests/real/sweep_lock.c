/*
 * The locks' scenarios, each between two contenders of which the first, the
 * second, or both are behind the proxy:
 *
 * - lock: both acquire, hold and release; the first gives it back when the
 *   second stands in the queue, so each has every step: create, list, watch,
 *   grant, delete.
 * - lock-shared: one writes, another waits to read; the first downgrades, and
 *   both hold it.
 * - lock-revoke: one holds, another waits and has the first asked to let go; it
 *   does.
 * - lock-priority: one that is less urgent holds, a more urgent one waits in
 *   the priority wait, and the first is asked by policy.
 *
 * Must hold whatever the network does: two at once only if both read, one grant
 * and one final event each, tokens that grow, one request heard once.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

enum part { FAR_FIRST, NEAR_FIRST, BOTH_FAR };
enum kind { EXCLUSIVE, SHARED, REVOKE, PRIORITY };

static const char *const parts[] = {"holder", "waiter", "both", NULL};

struct contender {
    evzk_lock *l;
    struct recorder rec;
    bool far, released, down, told_down;
    int grants, asked;
};

struct duel {
    struct sweep_run *run;
    enum kind kind;
    struct contender c[2];
    evzk_lock_query *query;
    bool answered;
    evzk_lock_revoke *revoke;
    bool revoked;
};

static bool reads(const struct contender *c)
{
    return evzk_lock_mode_of(c->l) == EVZK_LOCK_READ;
}

static bool both_held(const struct duel *d)
{
    const struct contender *a = &d->c[0], *b = &d->c[1];

    return a->l && b->l && evzk_lock_held(a->l) && evzk_lock_held(b->l) &&
           !(reads(a) && reads(b));
}

static void granted(struct duel *d, struct contender *c)
{
    uint64_t token = evzk_lock_token(c->l);

    if (++c->grants > 1)
        sweep_complain(d->run, SWEEP_DOUBLED, "granted twice");
    if (token <= d->run->token)
        sweep_complain(d->run, SWEEP_WRONG, "token %llx after %llx",
                       (unsigned long long)token,
                       (unsigned long long)d->run->token);
    d->run->token = token;
}

static void note(struct duel *d, struct contender *c, evzk_lock_event event,
                 int rc)
{
    if (event == EVZK_LOCK_GRANTED)
        granted(d, c);
    if (event == EVZK_LOCK_REVOKE_REQUESTED && ++c->asked > 1)
        sweep_complain(d->run, SWEEP_DOUBLED, "asked twice");
    if (event == EVZK_LOCK_DOWNGRADED && (c->told_down || rc))
        sweep_complain(d->run, SWEEP_DOUBLED, "downgraded: %d", rc);
    c->told_down = c->told_down || event == EVZK_LOCK_DOWNGRADED;
}

static void on_event(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct duel *d = arg;
    struct contender *c = &d->c[l == d->c[1].l];

    if (c->rec.finals > 0)
        sweep_complain(d->run, SWEEP_DOUBLED, "%s after the end",
                       lock_event_name(event));
    recorder_on_lock(l, event, rc, &c->rec);
    if (both_held(d))
        sweep_complain(d->run, SWEEP_BOTH_HELD, "at %s",
                       lock_event_name(event));
    note(d, c, event, rc);
}

static void enter(struct duel *d, struct contender *c)
{
    bool first = c == &d->c[0];
    evzk_session *s = c->far ? d->run->far : d->run->near;
    evzk_lock_priority urgency = {.priority = first ? 5 : 1,
                                  .revoke = d->kind == PRIORITY};
    evzk_lock_options opt = {.mode = EVZK_LOCK_WRITE,
                             .revocable = d->kind == REVOKE};
    int rc;

    if (d->kind == EXCLUSIVE)
        opt.mode = EVZK_LOCK_EXCLUSIVE;
    if (d->kind == SHARED && !first)
        opt.mode = EVZK_LOCK_READ;
    if (d->kind == PRIORITY)
        opt.priority = &urgency;
    rc = evzk_lock_acquire(s, d->run->dir, &opt, on_event, d, &c->l);
    if (rc)
        support_fail("sweep: acquire: %d", rc);
}

static void begin(struct duel *d, enum kind kind, struct sweep_run *run)
{
    enum part part = (enum part)run->part;

    d->kind = kind;
    d->run = run;
    d->c[0].far = part != NEAR_FIRST;
    d->c[1].far = part != FAR_FIRST;
    enter(d, &d->c[0]);
    if (kind == EXCLUSIVE && part == BOTH_FAR)
        enter(d, &d->c[1]);
}

static void begin_lock(void *scene, struct sweep_run *run)
{
    begin(scene, EXCLUSIVE, run);
}

static void begin_shared(void *scene, struct sweep_run *run)
{
    begin(scene, SHARED, run);
}

static void begin_revoke(void *scene, struct sweep_run *run)
{
    begin(scene, REVOKE, run);
}

static void begin_priority(void *scene, struct sweep_run *run)
{
    begin(scene, PRIORITY, run);
}

static bool over(const struct contender *c) { return c->rec.finals > 0; }

static bool in_queue(const struct contender *c)
{
    return c->l && (over(c) || evzk_lock_node(c->l)[0]);
}

static void give_back(struct duel *d, struct contender *c)
{
    int rc = evzk_lock_release(c->l);

    c->released = true;
    if (rc || evzk_lock_held(c->l))
        sweep_complain(d->run, SWEEP_WRONG, "release: %d%s", rc,
                       rc ? "" : ", and it is still held");
}

static void on_revoked(evzk_lock_revoke *revoke, int rc, const evzk_revoked *v,
                       size_t n, void *arg)
{
    struct duel *d = arg;

    (void)revoke;
    if (d->revoked)
        sweep_complain(d->run, SWEEP_DOUBLED, "revoked twice");
    d->revoked = true;
    for (size_t i = 0; i < n; i++)
        if (v[i].how != EVZK_REVOKED_YIELDED)
            sweep_complain(d->run, SWEEP_WRONG, "revoked: how %d", v[i].how);
    if (rc)
        sweep_complain(d->run, SWEEP_WRONG, "revocation: %d", rc);
}

/* Contenders before the second one are asked: the first. */
static void ask(struct duel *d)
{
    evzk_session *s = d->c[1].far ? d->run->far : d->run->near;
    evzk_lock_revoke_options opt = {.mode = EVZK_LOCK_WRITE,
                                    .before = evzk_lock_node(d->c[1].l)};

    if (evzk_lock_revoke_start(s, d->run->dir, &opt, on_revoked, d,
                               &d->revoke) != EVZK_OK)
        support_fail("sweep: revoke");
}

static void on_query(evzk_lock_query *query, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    struct duel *d = arg;

    (void)query;
    d->answered = true;
    if (rc || (evzk_lock_held(d->c[0].l) &&
               (n < 1 || v[0].token != evzk_lock_token(d->c[0].l))))
        sweep_complain(d->run, SWEEP_WRONG, "look-up: %d, %d contenders", rc,
                       (int)n);
}

/*
 * In the holder's part it asks who holds the lock before it gives it back, and
 * goes on holding while it is in doubt: so there are frames to strike while it
 * holds, and it is seen to let go when another may have the lock.
 */
static bool is_ready(struct duel *d, const struct contender *c)
{
    if (!in_queue(&d->c[c == &d->c[0]]))
        return false;
    if (d->run->part != FAR_FIRST || !c->far)
        return true;
    if (!d->query && evzk_lock_query_start(d->run->far, d->run->dir, on_query,
                                           d, &d->query) != EVZK_OK)
        support_fail("sweep: query");
    return d->answered && c->rec.last != EVZK_LOCK_SUSPENDED;
}

/* When has it held it long enough? */
static bool is_done(struct duel *d, const struct contender *c)
{
    const struct contender *a = &d->c[0], *b = &d->c[1];

    if (d->kind == EXCLUSIVE)
        return is_ready(d, c);
    if (d->kind == SHARED)
        return (b->grants > 0 || over(b)) && (a->told_down || over(a));
    return c == b || a->asked > 0;
}

static void push(struct duel *d)
{
    struct contender *a = &d->c[0];

    if (d->kind == SHARED && !a->down && evzk_lock_held(a->l)) {
        a->down = true;
        if (evzk_lock_downgrade(a->l) != EVZK_OK)
            sweep_complain(d->run, SWEEP_WRONG, "downgrade");
    }
    if (d->kind == REVOKE && !d->revoke && !over(&d->c[1]))
        ask(d);
}

static bool turn(void *scene)
{
    struct duel *d = scene;

    if (both_held(d))
        sweep_complain(d->run, SWEEP_BOTH_HELD, "between events");
    if (!d->c[1].l && (d->c[0].grants > 0 || over(&d->c[0])))
        enter(d, &d->c[1]);
    if (d->c[1].l && in_queue(&d->c[1]))
        push(d);
    for (int i = 0; i < 2; i++) {
        struct contender *c = &d->c[i];

        if (c->l && !c->released && evzk_lock_held(c->l) && is_done(d, c))
            give_back(d, c);
    }
    return over(&d->c[0]) && over(&d->c[1]) && (d->revoked || !d->revoke);
}

/* Released as asked; or lost, by one whose session was let die. */
static bool well_ended(const struct duel *d, const struct contender *c)
{
    const struct recorder *rec = &c->rec;

    if (c->grants != 1)
        return false;
    if (rec->last == EVZK_LOCK_RELEASED)
        return rec->rc == EVZK_OK;
    return c->far && d->run->may_lose && rec->last == EVZK_LOCK_LOST &&
           (rec->rc == EVZK_ERR_LEASE || rec->rc == EVZK_ERR_EXPIRED);
}

static void judge(void *scene)
{
    struct duel *d = scene;

    for (int i = 0; i < 2; i++)
        if (!well_ended(d, &d->c[i]))
            sweep_complain(d->run, SWEEP_WRONG, "%s contender's end",
                           i ? "second" : "first");
}

static void end(void *scene)
{
    struct duel *d = scene;

    for (int i = 0; i < 2; i++) {
        evzk_lock_free(d->c[i].l);
        d->c[i].l = NULL;
    }
    evzk_lock_query_free(d->query);
    d->query = NULL;
    evzk_lock_revoke_free(d->revoke);
    d->revoke = NULL;
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct duel *d = scene;
    const char *state[2];

    for (int i = 0; i < 2; i++)
        state[i] = d->c[i].l ? evzk_lock_state(d->c[i].l) : "none";
    snprintf(text, size, "[%s: %s] [%s: %s]%s", state[0], d->c[0].rec.text,
             state[1], d->c[1].rec.text, d->revoked ? " revoked" : "");
}

#define RECIPE(recipe, kind)                                                   \
    {                                                                          \
        .name = (recipe), .parts = parts, .size = sizeof(struct duel),         \
        .begin = (kind), .turn = turn, .judge = judge, .end = end,             \
        .tell = tell                                                           \
    }

const struct sweep_recipe sweep_lock = RECIPE("lock", begin_lock);
const struct sweep_recipe sweep_shared = RECIPE("lock-shared", begin_shared);
const struct sweep_recipe sweep_revoke = RECIPE("lock-revoke", begin_revoke);
const struct sweep_recipe sweep_priority =
    RECIPE("lock-priority", begin_priority);
