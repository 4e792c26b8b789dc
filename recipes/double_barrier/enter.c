/* How a participant comes in: from its znode to the moment when `ready` covers
 * it.
 *
 *   LOOKING --> READING --> INSIDE         `ready` covers the own number
 *      |        |    ^ |
 *      v        v    | `----> WAITING      another participant forms the round
 *      LISTING --> VETTING --> FORMING     or this one does:
 *         |            |          ^
 *         |            `---> REREADING     a stale `ready` stands in its way
 *         `------> BARRED                  so does a participant of the round
 *                                          before, until its end
 *
 * Which participant forms the round.  Numbers are given in order.  So the first
 * look behind the create shows all that came before, and the participant with
 * which they are `count` forms the round; so does any that comes later still.
 * A participant that fewer than `count` have come up to never forms it,
 * whatever happens afterwards, since no participant comes in before it: it
 * waits for `ready` alone.  Three bounds say so without a listing: the number
 * of the directory's children, its own number where no round was formed, and
 * the numbers since the last one of the round before.
 *
 * When `ready` is believed.  It names the directory that it was written in: in
 * another one, it is stale.  Numbers only grow.  So a `ready` that covers the
 * own number, and is older than the own znode, was made by hand: nobody can
 * know who is inside, and it is EVZK_ERR_FOREIGN.
 *
 * How it can fail.  Another client may delete the own znode: the participant
 * comes anew, at the end.  FORGETTING takes its watch off the old name first.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "recipes/double_barrier/double_barrier_internal.h"
#include "recipes/parts/numbers.h"

/* The steps of LOOKING. */
enum { OWN, DIR, READY };

static bool is_deaf(const struct evzk_double_barrier *d)
{
    return evzk__watch_missing(&d->m, (enum evzk__which)ON_OWN) ||
           evzk__watch_missing(&d->m, (enum evzk__which)ON_READY);
}

/* The own znode is read, and not only looked for: servers do not tell a session
 * of the end of a znode that the session may not read. */
void evzk__double_barrier_look(struct evzk__machine *m)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    evzk__double_barrier_drop_forming(d);
    d->own_rc = EVZK_OK;
    d->step[OWN] = (struct evzk__step){.verb = EVZK__STEP_GET,
                                       .name = d->make.name,
                                       .watch = EVZK__WITH(ON_OWN)};
    d->step[DIR] = (struct evzk__step){.verb = EVZK__STEP_EXISTS, .name = ""};
    d->step[READY] = (struct evzk__step){.verb = EVZK__STEP_EXISTS,
                                         .name = EVZK__READY,
                                         .watch = EVZK__WITH(ON_READY)};
    evzk__ask(m, d->step, 3, EVZK__EACH);
}

static int own_rc(const struct evzk_double_barrier *d,
                  const struct evzk__reply *reply)
{
    bool copied = reply->rc == EVZK_OK &&
                  !evzk__double_barrier_owns(d, &reply->res->stat);

    return copied ? EVZK_ERR_NONODE : reply->rc;
}

/* Is the participant with this number in the round that `ready` says? */
static bool is_covered(const struct evzk_double_barrier *d, int32_t seq)
{
    return d->ready_stands && d->ready_is_here &&
           evzk__round_covers(&d->round, seq);
}

/* How many participants there can be at most up to this one, of those that are
 * in no round yet? */
static uint32_t most_up_to_own(const struct evzk_double_barrier *d)
{
    if (d->ready_stands && d->ready_is_here)
        return (uint32_t)d->seq - (uint32_t)d->round.last;
    return d->seq >= 0 ? (uint32_t)d->seq + 1 : UINT32_MAX;
}

/* No round is formed that this participant is in. */
static int consider(struct evzk_double_barrier *d)
{
    if (d->children < d->count || most_up_to_own(d) < d->count)
        d->others_form = true;
    return evzk__machine_move(&d->m, d->others_form ? WAITING : LISTING);
}

int evzk__double_barrier_looked(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == OWN)
        d->own_rc = own_rc(d, reply);
    if (reply->part == DIR && reply->rc == EVZK_OK) {
        d->children = (uint32_t)reply->res->stat.children;
        d->dir_czxid = reply->res->stat.czxid;
        d->used_up = evzk__numbers_used_up(d->seq, &reply->res->stat);
    }
    if (!reply->last)
        return EVZK_OK;
    if (reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NONODE)
        return reply->first_rc; /* Not all has been said. */
    if (d->own_rc == EVZK_ERR_NONODE)
        return evzk__double_barrier_rejoin(d);
    if (d->own_rc != EVZK_OK)
        return d->own_rc;
    if (d->used_up)
        return EVZK_ERR_SEQUENCE;
    m->place.own_verified = true;
    d->ready_stands = false;
    if (reply->rc == EVZK_OK)
        return evzk__machine_move(m, READING);
    return reply->rc == EVZK_ERR_NONODE ? consider(d) : reply->rc;
}

/* REREADING asks the same. */
void evzk__double_barrier_read(struct evzk__machine *m)
{
    static const struct evzk__step get[] = {{.verb = EVZK__STEP_GET,
                                             .name = EVZK__READY,
                                             .watch = EVZK__WITH(ON_READY),
                                             .or_absent = true}};

    if (evzk__watch_missing(m, (enum evzk__which)ON_OWN))
        evzk__machine_move(m, LOOKING);
    else
        evzk__ask(m, get, 1, 0);
}

/* The own znode stands: its watch does, and has not fired.  WAITING hears what
 * the watch says. */
static int covered(struct evzk_double_barrier *d)
{
    if (evzk__watch_fires(&d->m, (enum evzk__which)ON_OWN))
        return evzk__machine_move(&d->m, WAITING);
    return evzk__machine_move(&d->m, evzk__machine_certain(&d->m) ? INSIDE
                                                                  : CONFIRMING);
}

static int take_ready(struct evzk_double_barrier *d,
                      const struct evzk__result *ready)
{
    if (!evzk__round_parse(&d->round, ready->data, ready->len))
        return EVZK_ERR_FOREIGN;
    d->ready_stands = true;
    d->ready_mzxid = ready->stat.mzxid;
    d->ready_version = ready->stat.version;
    d->ready_is_here = d->round.dir == d->dir_czxid;
    if (!is_covered(d, d->seq))
        return consider(d);
    return d->ready_mzxid < d->make.czxid ? EVZK_ERR_FOREIGN : covered(d);
}

int evzk__double_barrier_was_read(struct evzk__machine *m,
                                  const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    evzk__double_barrier_drop_forming(d);
    d->ready_stands = false;
    if (e->reply->rc == EVZK_OK)
        return take_ready(d, e->reply->res);
    return e->reply->rc == EVZK_ERR_NONODE ? consider(d) : e->reply->rc;
}

void evzk__double_barrier_list(struct evzk__machine *m)
{
    if (is_deaf(evzk__double_barrier_of(m)))
        evzk__machine_move(m, LOOKING);
    else
        evzk__list(m);
}

/* How many participants are not behind this one? */
static size_t up_to_own(const struct evzk_double_barrier *d,
                        const struct evzk__contender *v, size_t n)
{
    size_t i = 0;

    while (i < n && strcmp(v[i].name, d->make.name) != 0)
        i++;
    return i < n ? i + 1 : 0;
}

/* `v` has all `n` participants in order. */
static int judge(struct evzk_double_barrier *d, const struct evzk__contender *v,
                 size_t n)
{
    size_t older = 0, up_to = up_to_own(d, v, n);

    while (older < n && is_covered(d, v[older].seq))
        older++;
    if (up_to - older < d->count) {
        d->others_form = true;
        return evzk__machine_move(&d->m, WAITING);
    }
    if (older > 0) {
        evzk__double_barrier_aim(d, v[0].name);
        return evzk__machine_move(&d->m, BARRED);
    }
    if (evzk__double_barrier_prepare(d, v) != EVZK_OK)
        return evzk__machine_again_later(&d->m);
    return evzk__machine_move(&d->m, VETTING);
}

static bool shows_ready(const struct evzk__names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        if (strcmp(names->v[i], EVZK__READY) == 0)
            return true;
    }
    return false;
}

static int listed(struct evzk_double_barrier *d,
                  const struct evzk__names *names)
{
    struct evzk__contender *v;
    size_t n;
    int rc;

    if (shows_ready(names) != d->ready_stands)
        return evzk__machine_move(&d->m, READING);
    v = evzk__double_barrier_sort(d, names, &n);
    if (!v)
        return evzk__machine_again_later(&d->m);
    rc = judge(d, v, n);
    evzk__free(v);
    return rc;
}

int evzk__double_barrier_listed(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);
    struct evzk__order order;

    if (e->reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(m, LOOKING); /* So is the own znode. */
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    evzk__order(&order, &e->reply->res->names, evzk__round_marks, d->make.name);
    if (!order.found)
        return evzk__machine_move(m, LOOKING);
    if (order.before + 1 < d->count) {
        d->others_form = true;
        return evzk__machine_move(m, WAITING);
    }
    return listed(d, &e->reply->res->names);
}

void evzk__double_barrier_wait(struct evzk__machine *m)
{
    if (is_deaf(evzk__double_barrier_of(m)))
        evzk__machine_move(m, LOOKING);
}

int evzk__double_barrier_waited(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    return evzk__machine_move(
        m, e->which == (enum evzk__which)ON_READY ? READING : LOOKING);
}

void evzk__double_barrier_bar(struct evzk__machine *m)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (is_deaf(d))
        evzk__machine_move(m, LOOKING);
    else
        evzk__double_barrier_watch_target(d);
}

/* A copy never goes: the participant is not behind it. */
static int looked_before(struct evzk_double_barrier *d,
                         const struct evzk__reply *reply)
{
    bool copy = evzk__double_barrier_is_copy(reply);

    if (copy && evzk__double_barrier_note_copy(d, d->target) != EVZK_OK)
        return evzk__machine_again_later(&d->m);
    if (copy || reply->rc == EVZK_ERR_NONODE)
        return evzk__machine_move(&d->m, LISTING);
    d->looked = reply->rc == EVZK_OK;
    return reply->rc;
}

int evzk__double_barrier_barred(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    if (e->type == EVZK__EV_REPLY)
        return looked_before(evzk__double_barrier_of(m), e->reply);
    if (e->which == (enum evzk__which)ON_OTHER)
        return evzk__machine_move(m, LISTING);
    return evzk__double_barrier_waited(m, e);
}

/* A stale `ready` is replaced by version.  But versions begin anew when `ready`
 * is made anew.  So `ready` is read again behind the listing. */
int evzk__double_barrier_reread(struct evzk__machine *m,
                                const struct evzk__event *e)
{
    struct evzk_double_barrier *d = evzk__double_barrier_of(m);

    if (e->reply->rc == EVZK_OK && e->reply->res->stat.mzxid == d->ready_mzxid)
        return evzk__machine_move(m, FORMING);
    return evzk__double_barrier_was_read(m, e);
}

void evzk__double_barrier_forget(struct evzk__machine *m)
{
    static const struct evzk__step unwatch[] = {
        {.verb = EVZK__STEP_UNWATCH, .watch = EVZK__WITH(ON_OWN)}};

    evzk__ask(m, unwatch, 1, 0);
}

int evzk__double_barrier_forgotten(struct evzk__machine *m,
                                   const struct evzk__event *e)
{
    (void)e;
    return m->stopping ? evzk__machine_finish(m, m->rc)
                       : evzk__machine_move(m, CREATING);
}
