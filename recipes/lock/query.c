/* Shows which contenders hold a lock, and which wait for it: one listing as new
 * as the leader's, then the data of all contenders, read side by side.
 *
 *   LISTING <--> READING --> ENDED
 *      |                       ^
 *      `------> ROOTING -------'
 *
 * If the directory does not exist, the chroot may not exist either, which is an
 * error: ROOTING finds out.
 *
 * How it can fail.  A contender may leave between listing and reading: it is
 * left out.  A contender whose data may not be read is shown without data.  If
 * the connection is lost in the middle, the look-up starts again from nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "evzk/lock.h"
#include "lib/base/foreign.h"
#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"
#include "recipes/parts/rooted.h"

struct evzk_lock_query {
    struct evzk__machine m;
    evzk_contender *v; /* Owned, names and data included. */
    char **names;      /* Owned array; the names are those of `v`. */
    size_t n;
    bool read_lost; /* A read was lost: look again. */
    int failed;     /* The first error of a read, or 0. */
    evzk_lock_query_cb *cb;
    void *arg;
};

enum { LISTING, READING, ROOTING, ENDED, STATES };

static struct evzk_lock_query *query_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_lock_query, m);
}

static void clear(struct evzk_lock_query *q)
{
    for (size_t i = 0; i < q->n; i++) {
        evzk__free((char *)(uintptr_t)q->v[i].node);
        evzk__free((char *)(uintptr_t)q->v[i].data);
    }
    evzk__free(q->v);
    evzk__free(q->names);
    q->v = NULL;
    q->names = NULL;
    q->n = 0;
    q->read_lost = false;
    q->failed = EVZK_OK;
}

/* A contender of another library has a number, and no flags. */
static struct evzk__contender place_of(const evzk_contender *c)
{
    struct evzk__contender place = {.name = c->node};
    struct evzk__foreign f;

    if (!evzk__contender_parse(c->node, evzk__lock_all_marks, &place) &&
        evzk__foreign_parse(c->node, &f))
        place.seq = f.seq;
    return place;
}

static int in_order(const void *pa, const void *pb)
{
    const evzk_contender *ca = pa, *cb = pb;
    struct evzk__contender a = place_of(ca), b = place_of(cb);

    if (ca->foreign != cb->foreign)
        return cb->foreign ? -1 : 1; /* Foreign ones come last. */
    if ((a.flags ^ b.flags) & EVZK__WAITS)
        return b.flags & EVZK__WAITS ? -1 : 1; /* Priority waits come later. */

    return evzk__contender_before(&a, &b) ? -1 : 1;
}

/* Reads a contender's mode and library off its name.  False: no contender. */
static bool read_name(evzk_contender *c, const char *name,
                      const struct evzk__mark *marks)
{
    struct evzk__contender ours;
    struct evzk__foreign f;
    bool known = evzk__foreign_parse(name, &f);

    c->library = known ? f.library : evzk__foreign_maker(name);
    if (evzk__contender_parse(name, marks, &ours)) {
        c->mode = evzk__lock_mode_named(&ours);
        c->priority = ours.priority;
        return true;
    }
    if (!known)
        return false;
    c->foreign = true;
    c->mode = f.shares ? EVZK_LOCK_READ : EVZK_LOCK_EXCLUSIVE;
    return true;
}

static int copy_names(struct evzk_lock_query *q,
                      const struct evzk__names *names)
{
    const struct evzk__mark *marks = evzk__lock_marks_in(names);

    q->v = evzk__zalloc(names->n * sizeof *q->v);
    q->names = evzk__zalloc(names->n * sizeof *q->names);
    if (!q->v || !q->names)
        return EVZK_ERR_NOMEM;
    for (size_t i = 0; i < names->n; i++) {
        if (!read_name(&q->v[q->n], names->v[i], marks))
            continue;
        q->v[q->n].node = evzk__strdup(names->v[i]);
        if (!q->v[q->n].node)
            return EVZK_ERR_NOMEM;
        q->n++;
    }
    if (q->n > 1)
        qsort(q->v, q->n, sizeof *q->v, in_order);
    for (size_t i = 0; i < q->n; i++)
        q->names[i] = (char *)(uintptr_t)q->v[i].node;
    return EVZK_OK;
}

/* Drops what an earlier look found. */
static void list(struct evzk__machine *m)
{
    clear(query_of(m));
    evzk__sync_list(m);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock_query *q = query_of(m);
    int rc = e->reply->rc;

    if (e->reply->first_rc != EVZK_OK)
        return e->reply->first_rc;
    if (rc == EVZK_OK)
        rc = copy_names(q, &e->reply->res->names);
    if (rc == EVZK_ERR_NONODE && evzk__chroot_unsure(m))
        return evzk__machine_move(m, ROOTING);
    if (rc == EVZK_ERR_NONODE || (rc == EVZK_OK && q->n == 0))
        return evzk__machine_finish(m, EVZK_OK); /* No contender. */
    return rc != EVZK_OK ? rc : evzk__machine_move(m, READING);
}

static void read_all(struct evzk__machine *m)
{
    struct evzk_lock_query *q = query_of(m);

    evzk__read_many(m, q->names, (uint32_t)q->n);
}

static int note(evzk_contender *c, const struct evzk__result *res)
{
    int64_t age = evzk__wall_ms() - res->stat.ctime_ms;

    c->session = res->stat.owner;
    if (!c->foreign && !(place_of(c).flags & EVZK__WAITS))
        c->token = (uint64_t)res->stat.czxid;
    c->created_ms = res->stat.ctime_ms;
    c->age_ms = age > 0 ? age : 0;
    c->data_len = res->len;
    c->data = evzk__memdup(res->data, res->len);
    return c->data ? EVZK_OK : EVZK_ERR_NOMEM;
}

/* Is this contender a holder: the first in the queue, or a reader behind a
 * reader? */
static bool holds(const struct evzk_lock_query *q, size_t i)
{
    bool share =
        q->v[i].mode == EVZK_LOCK_READ && q->v[0].mode == EVZK_LOCK_READ;

    return !q->v[i].foreign && !(place_of(&q->v[i]).flags & EVZK__WAITS) &&
           (i == 0 || share);
}

/* Leaves out the contenders that have left. */
static void pack(struct evzk_lock_query *q)
{
    size_t kept = 0;

    for (size_t i = 0; i < q->n; i++) {
        if (q->names[i])
            q->v[kept++] = q->v[i];
        else {
            evzk__free((char *)(uintptr_t)q->v[i].node);
            evzk__free((char *)(uintptr_t)q->v[i].data);
        }
    }
    q->n = kept;
    for (size_t i = 0; i < kept && holds(q, i); i++)
        q->v[i].holder = true;
}

static int answered(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_lock_query *q = query_of(m);
    const struct evzk__reply *reply = e->reply;
    int rc = EVZK_OK;

    if (reply->rc == EVZK_ERR_CONNLOSS)
        q->read_lost = true;
    else if (reply->rc == EVZK_ERR_NONODE)
        q->names[reply->part] = NULL;
    else if (reply->rc == EVZK_OK)
        rc = note(&q->v[reply->part], reply->res);
    else if (reply->rc == EVZK_ERR_NOAUTH)
        q->v[reply->part].hidden = true;
    else
        rc = reply->rc;
    if (rc != EVZK_OK)
        q->failed = rc; /* The other answers are still to come. */
    if (!reply->last)
        return EVZK_OK;
    if (q->failed)
        return q->failed;
    if (q->read_lost)
        return evzk__machine_move(m, LISTING);
    pack(q);
    return evzk__machine_finish(m, EVZK_OK);
}

static void end(struct evzk__machine *m)
{
    struct evzk_lock_query *q = query_of(m);
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
/*  state    entry              reaction  main     on stop  on expiry  flags */
ROW(LISTING, list,              listed,   READING, ENDED,   LISTING,   NOTHING_SENT|RETRY,
    ON(REPLY, READING, ROOTING, ENDED, FAIL)),
ROW(READING, read_all,          answered, ENDED,   ENDED,   LISTING,   0,
    ON(REPLY, ENDED, LISTING, FAIL, HERE),
    RARELY(EXPIRED, LISTING)), /* The lost connection leads to LISTING first. */
ROW(ROOTING, evzk__look_chroot, evzk__rooted, ASIDE,   ENDED,   LISTING,   RETRY,
    ON(REPLY, ENDED, FAIL)),
END(ENDED,   end),
};
/* clang-format on */

const struct evzk__kind evzk__lock_query_kind = {
    .name = "lock-query", .rows = rows, .n_rows = STATES, .destroy = destroy};

int evzk_lock_query_start(evzk_session *s, const char *path,
                          evzk_lock_query_cb *cb, void *arg,
                          evzk_lock_query **out)
{
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_lock_query *q;
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
    rc = evzk__machine_begin(&q->m, s, &evzk__lock_query_kind, path, 0);
    if (rc == EVZK_OK)
        *out = q;
    return rc;
}

void evzk_lock_query_free(evzk_lock_query *q)
{
    if (q) {
        q->cb = NULL;
        evzk__machine_let_go(&q->m);
    }
}
