/*
 * The exclusive lock's scenario: two contenders each acquire, hold and release.
 * The holder gives the lock back when the other stands in the queue, so each
 * part has every step of both: create, list, watch, grant, delete.
 *
 * Must hold whatever the network does: never two at once, one grant and one
 * final event each, tokens that grow.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>

enum part { FAR_FIRST, NEAR_FIRST, BOTH_FAR };

static const char *const parts[] = {"holder", "waiter", "both", NULL};

struct contender {
    evzk_lock *l;
    struct recorder rec;
    bool far;
    bool asked; /* To release. */
    int grants;
};

struct duel {
    struct sweep_stage *stage;
    struct contender c[2];
    evzk_lock_query *query;
    bool answered;
};

static bool both_held(const struct duel *d)
{
    return d->c[0].l && d->c[1].l && evzk_lock_held(d->c[0].l) &&
           evzk_lock_held(d->c[1].l);
}

static void granted(struct duel *d, struct contender *c)
{
    uint64_t token = evzk_lock_token(c->l);

    if (++c->grants > 1)
        sweep_complain(d->stage, SWEEP_DOUBLED, "granted twice");
    if (token <= d->stage->token)
        sweep_complain(d->stage, SWEEP_WRONG, "token %llx after %llx",
                       (unsigned long long)token,
                       (unsigned long long)d->stage->token);
    d->stage->token = token;
}

static void on_event(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    struct duel *d = arg;
    struct contender *c = &d->c[l == d->c[1].l];

    if (c->rec.finals > 0)
        sweep_complain(d->stage, SWEEP_DOUBLED, "%s after the end",
                       lock_event_name(event));
    recorder_on_lock(l, event, rc, &c->rec);
    if (both_held(d))
        sweep_complain(d->stage, SWEEP_BOTH_HELD, "at %s",
                       lock_event_name(event));
    if (event == EVZK_LOCK_GRANTED)
        granted(d, c);
}

static void enter(struct duel *d, struct contender *c)
{
    evzk_session *s = c->far ? d->stage->far : d->stage->near;
    int rc = evzk_lock_acquire(s, d->stage->dir, NULL, on_event, d, &c->l);

    if (rc)
        support_fail("sweep: acquire: %d", rc);
}

static void begin(void *scene, struct sweep_stage *stage)
{
    struct duel *d = scene;
    enum part part = (enum part)stage->part;

    d->stage = stage;
    d->c[0].far = part != NEAR_FIRST;
    d->c[1].far = part != FAR_FIRST;
    enter(d, &d->c[0]);
    if (part == BOTH_FAR)
        enter(d, &d->c[1]);
}

static bool in_queue(const struct contender *c)
{
    return c->l && (c->rec.finals > 0 || evzk_lock_node(c->l)[0]);
}

static void give_back(struct duel *d, struct contender *c)
{
    int rc = evzk_lock_release(c->l);

    c->asked = true;
    if (rc || evzk_lock_held(c->l))
        sweep_complain(d->stage, SWEEP_WRONG, "release: %d%s", rc,
                       rc ? "" : ", and it is still held");
}

static void on_query(evzk_lock_query *query, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    struct duel *d = arg;

    (void)query;
    d->answered = true;
    if (rc || (evzk_lock_held(d->c[0].l) &&
               (n < 1 || v[0].token != evzk_lock_token(d->c[0].l))))
        sweep_complain(d->stage, SWEEP_WRONG, "look-up: %d, %d contenders", rc,
                       (int)n);
}

/*
 * In the holder's part it asks who holds the lock before it gives it back, and
 * goes on holding while it is in doubt: so there are frames to strike while it
 * holds, and it is seen to let go when another may have the lock.
 */
static bool is_ready(struct duel *d, const struct contender *c)
{
    if (d->stage->part != FAR_FIRST || !c->far)
        return true;
    if (!d->query && evzk_lock_query_start(d->stage->far, d->stage->dir,
                                           on_query, d, &d->query) != EVZK_OK)
        support_fail("sweep: query");
    return d->answered && c->rec.last != EVZK_LOCK_SUSPENDED;
}

static bool turn(void *scene)
{
    struct duel *d = scene;

    if (both_held(d))
        sweep_complain(d->stage, SWEEP_BOTH_HELD, "between events");
    if (!d->c[1].l && (d->c[0].grants > 0 || d->c[0].rec.finals > 0))
        enter(d, &d->c[1]);
    for (int i = 0; i < 2; i++) {
        struct contender *c = &d->c[i];

        if (c->l && !c->asked && evzk_lock_held(c->l) && in_queue(&d->c[!i]) &&
            is_ready(d, c))
            give_back(d, c);
    }
    return d->c[0].rec.finals > 0 && d->c[1].rec.finals > 0;
}

/* Released as asked; or lost, by one whose session was let die. */
static bool well_ended(const struct duel *d, const struct contender *c)
{
    const struct recorder *rec = &c->rec;

    if (c->grants != 1)
        return false;
    if (rec->last == EVZK_LOCK_RELEASED)
        return rec->rc == EVZK_OK;
    return c->far && d->stage->may_lose && rec->last == EVZK_LOCK_LOST &&
           (rec->rc == EVZK_ERR_LEASE || rec->rc == EVZK_ERR_EXPIRED);
}

static void judge(void *scene)
{
    struct duel *d = scene;

    for (int i = 0; i < 2; i++)
        if (!well_ended(d, &d->c[i]))
            sweep_complain(d->stage, SWEEP_WRONG, "%s contender's end",
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
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct duel *d = scene;
    const char *state[2];

    for (int i = 0; i < 2; i++)
        state[i] = d->c[i].l ? evzk_lock_state(d->c[i].l) : "none";
    snprintf(text, size, "[%s: %s] [%s: %s]", state[0], d->c[0].rec.text,
             state[1], d->c[1].rec.text);
}

const struct sweep_recipe sweep_lock = {
    .name = "lock",
    .parts = parts,
    .size = sizeof(struct duel),
    .begin = begin,
    .turn = turn,
    .judge = judge,
    .end = end,
    .tell = tell,
};
