/* Shows who is at a double barrier: one listing as new as the leader's, then
 * `ready` and the data of all participants, read side by side.
 *
 *   LISTING <--> READING --> ENDED
 *      |                       ^
 *      `------> ROOTING -------'
 *
 * If the directory does not exist, the chroot may not exist either, which is an
 * error: ROOTING finds out.
 *
 * How it can fail.  A participant may leave between listing and reading: it is
 * left out.  A participant whose data may not be read is shown without data.
 * If a reply is lost in the middle, the look-up starts again from nothing.
 */
#include "evzk/double_barrier.h"

#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/double_barrier/round.h"
#include "recipes/kinds.h"
#include "recipes/parts/read_all.h"
#include "recipes/parts/rooted.h"

struct evzk_double_barrier_query {
    struct evzk__machine m;
    struct evzk__read_all all; /* `ready`, then the participants in order. */
    evzk_participant *v;       /* Owned, with the data; names are of `all`. */
    size_t n;                  /* Participants that were read. */
    bool ready_stands;
    struct evzk__round round; /* If `ready` stands. */
    int64_t dir_czxid;        /* Of the directory. */
    bool no_memory;           /* For the data of one of them. */
    evzk_double_barrier_query_cb *cb;
    void *arg;
};

enum { LISTING, READING, ROOTING, ENDED, STATES };

static struct evzk_double_barrier_query *query_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_double_barrier_query, m);
}

static void clear(struct evzk_double_barrier_query *q)
{
    for (size_t i = 0; i < q->n; i++)
        evzk__free((char *)(uintptr_t)q->v[i].data);
    evzk__free(q->v);
    evzk__read_all_clear(&q->all);
    q->v = NULL;
    q->n = 0;
    q->ready_stands = q->no_memory = false;
}

/* Drops what an earlier look found. */
static void list(struct evzk__machine *m)
{
    clear(query_of(m));
    evzk__sync_list(m);
}

/* The names that are to be read. */
static int take_names(struct evzk_double_barrier_query *q,
                      const struct evzk__contender *v, size_t n)
{
    char **names = evzk__zalloc((n + 1) * sizeof *names);
    static char ready[] = EVZK__READY;
    int rc = EVZK_ERR_NOMEM;

    q->v = evzk__zalloc((n + 1) * sizeof *q->v);
    if (names && q->v) {
        names[0] = ready;
        for (size_t i = 0; i < n; i++)
            names[i + 1] = (char *)(uintptr_t)v[i].name;
        rc = evzk__read_all_take(&q->all, "",
                                 &(struct evzk__names){.n = n + 1, .v = names});
    }
    evzk__free(names);
    return rc;
}

static int take_list(struct evzk_double_barrier_query *q,
                     const struct evzk__names *names)
{
    size_t n;
    struct evzk__contender *v = evzk__round_sort(names, &n);
    int rc = v ? take_names(q, v, n) : EVZK_ERR_NOMEM;

    evzk__free(v);
    return rc;
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_double_barrier_query *q = query_of(m);
    int rc = e->reply->rc;

    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (rc == EVZK_ERR_NONODE)
        return evzk__chroot_unsure(m) ? evzk__machine_move(m, ROOTING)
                                      : evzk__machine_finish(m, EVZK_OK);
    if (rc == EVZK_OK) {
        q->dir_czxid = e->reply->res->stat.czxid;
        rc = take_list(q, &e->reply->res->names);
    }
    return rc != EVZK_OK ? rc : evzk__machine_move(m, READING);
}

static void read_each(struct evzk__machine *m)
{
    evzk__read_all_ask(m, &query_of(m)->all);
}

static void note_participant(struct evzk_double_barrier_query *q,
                             const struct evzk__reply *reply)
{
    evzk_participant *p = &q->v[q->n];

    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NOAUTH)
        return;
    *p = (evzk_participant){.node = evzk__read_all_name(&q->all, reply),
                            .hidden = reply->rc != EVZK_OK};
    if (reply->rc == EVZK_OK) {
        p->session = reply->res->stat.owner;
        p->created_ms = reply->res->stat.ctime_ms;
        p->data_len = reply->res->len;
        p->data = evzk__memdup(reply->res->data, reply->res->len);
        q->no_memory = q->no_memory || !p->data;
    }
    q->n++;
}

static void note(struct evzk_double_barrier_query *q,
                 const struct evzk__reply *reply)
{
    if (reply->part > 0)
        note_participant(q, reply);
    else if (reply->rc == EVZK_OK)
        q->ready_stands =
            evzk__round_parse(&q->round, reply->res->data, reply->res->len);
}

/* A `ready` that is foreign, or of another directory, lets nobody in. */
static void say_who_is_inside(struct evzk_double_barrier_query *q)
{
    for (size_t i = 0; i < q->n; i++) {
        int32_t seq;

        q->v[i].inside = q->ready_stands && q->round.dir == q->dir_czxid &&
                         evzk__seq_parse(q->v[i].node, EVZK__IN, &seq) &&
                         evzk__round_covers(&q->round, seq);
    }
}

static int was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_double_barrier_query *q = query_of(m);
    int rc;

    note(q, e->reply);
    if (!evzk__read_all_note(&q->all, e->reply, &rc))
        return EVZK_OK;
    if (rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, LISTING);
    if (rc != EVZK_OK || q->no_memory)
        return rc != EVZK_OK ? rc : EVZK_ERR_NOMEM;
    say_who_is_inside(q);
    return evzk__machine_finish(m, EVZK_OK);
}

static void end(struct evzk__machine *m)
{
    struct evzk_double_barrier_query *q = query_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);
    size_t n = m->rc == EVZK_OK ? q->n : 0;

    if (q->cb)
        q->cb(q, m->rc, n ? q->v : NULL, n, q->arg);
    evzk__machine_called(s, begun);
}

static void destroy(struct evzk__machine *m)
{
    clear(query_of(m));
    evzk__free(query_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state    entry              reaction      main     on stop  on expiry  flags */
ROW(LISTING, list,              listed,       READING, ENDED,   LISTING,   NOTHING_SENT|RETRY,
    ON(REPLY, READING, ROOTING, ENDED, FAIL)),
ROW(READING, read_each,         was_read,     ENDED,   ENDED,   LISTING,   0,
    ON(REPLY, ENDED, LISTING, FAIL, HERE),
    RARELY(EXPIRED, LISTING)), /* The lost connection leads to LISTING first. */
ROW(ROOTING, evzk__look_chroot, evzk__rooted, ASIDE,   ENDED,   LISTING,   RETRY,
    ON(REPLY, ENDED, FAIL)),
END(ENDED,   end),
};
/* clang-format on */

const struct evzk__kind evzk__double_barrier_query_kind = {
    .name = "double-barrier-query",
    .rows = rows,
    .n_rows = STATES,
    .destroy = destroy};

int evzk_double_barrier_query_start(evzk_session *s, const char *path,
                                    evzk_double_barrier_query_cb *cb, void *arg,
                                    evzk_double_barrier_query **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_double_barrier_query *q;
    int rc;

    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    q = evzk__zalloc(sizeof *q);
    if (!q)
        return EVZK_ERR_NOMEM;
    q->cb = cb;
    q->arg = arg;
    rc = evzk__machine_begin(&q->m, s, &evzk__double_barrier_query_kind, path,
                             0);
    if (rc == EVZK_OK)
        *out = q;
    return rc;
}

void evzk_double_barrier_query_free(evzk_double_barrier_query *q)
{
    if (q) {
        q->cb = NULL;
        evzk__machine_let_go(&q->m);
    }
}
