/* Looks at a queue: counts its items, and reads the first ones.
 *
 *   LOOKING --> LISTING --> COUNTING --> READING --> ENDED
 *    ^  |           |           |            |         ^
 *    |  |           `-----------+------------+---------'
 *    |  `--> ROOTING ----------------------------------'
 *    `------------- FOLLOWING <----- (instead of ENDED, if it follows)
 *
 * LOOKING asks how many children the queue has, before anything is listed: a
 * directory of another program may be too large for any client.  It also sets
 * the watch on `signal`, which every put writes.  A plain queue has no signal:
 * LISTING sets a watch on the directory itself.
 *
 * How it can fail.  The watch is set before the listings, so no put is missed:
 * what came after the listing has fired the watch.  COUNTING and READING are
 * not entered again after a lost connection: the look begins anew, since
 * another server may know less.  A segment or an item that is gone when its
 * turn comes is left out.  If the queue does not exist, the chroot may not
 * exist either, which is an error: ROOTING finds out.
 */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/queue/query_internal.h"

enum { LOOKING, ROOTING, LISTING, COUNTING, READING, FOLLOWING, ENDED, STATES };

/* The steps of LOOKING and LISTING. */
enum { SYNC, SIGNAL, DEAD, DIRECTORY, STEPS };

enum { NO_WATCH = -1 };

struct evzk_queue_query {
    struct evzk__machine m; /* Its directory is the queue. */
    struct evzk__path_watch watch[1];
    struct evzk__step steps[STEPS];
    evzk_queue_layout layout;
    bool follow;
    bool listed; /* A plain queue exists, and was listed. */
    struct evzk__count count;
    struct evzk__read_all reads;
    bool denied; /* A segment may not be listed. */
    evzk_queue_item items[EVZK_QUEUE_PEEK_MAX]; /* Their data is owned. */
    bool there[EVZK_QUEUE_PEEK_MAX];            /* Of items: still there. */
    evzk_queue_query_cb *cb; /* NULL once the caller freed the look. */
    void *arg;
    char signal[]; /* Its path. */
};

static struct evzk_queue_query *query_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_queue_query, m);
}

static bool is_plain(const struct evzk_queue_query *q)
{
    return evzk__queue_is_plain(q->layout);
}

static void clear(struct evzk_queue_query *q)
{
    for (uint32_t i = 0; i < q->count.n_peeked; i++)
        evzk__free((void *)(uintptr_t)q->items[i].data);
    memset(q->items, 0, sizeof q->items);
    memset(q->there, 0, sizeof q->there);
    evzk__read_all_clear(&q->reads);
    evzk__count_clear(&q->count);
}

/* Leaves out the items that are gone. */
static size_t pack(struct evzk_queue_query *q)
{
    size_t kept = 0;

    for (uint32_t i = 0; i < q->count.n_peeked; i++) {
        if (!q->there[i])
            continue;
        if (kept < i) {
            q->items[kept] = q->items[i];
            q->items[i].data = NULL;
        }
        kept++;
    }
    return kept;
}

/* May free the look: touch nothing after. */
static void tell(struct evzk_queue_query *q, int rc)
{
    evzk_session *s = evzk__machine_session(&q->m);
    int64_t begun = evzk__machine_call_out(s);
    evzk_queue_report report = {.size = q->count.size,
                                .claimed = q->count.claimed,
                                .dead = q->count.dead,
                                .items = q->items,
                                .n_items = pack(q)};

    if (q->cb && (q->m.place.ended || evzk__may_tell(s)))
        q->cb(q, rc, rc == EVZK_OK ? &report : NULL, q->arg);
    evzk__machine_called(s, begun);
}

/* All is known. */
static int found(struct evzk__machine *m)
{
    struct evzk_queue_query *q = query_of(m);

    if (!q->follow)
        return evzk__machine_finish(m, EVZK_OK);
    evzk__machine_move(m, FOLLOWING);
    tell(q, EVZK_OK);
    return EVZK_OK;
}

static struct evzk__step exists(const char *name, int watch)
{
    return (struct evzk__step){.verb = EVZK__STEP_EXISTS,
                               .name = name,
                               .watch = watch < 0 ? 0 : EVZK__WITH(watch)};
}

static void look(struct evzk__machine *m)
{
    struct evzk_queue_query *q = query_of(m);
    bool plain = is_plain(q);

    clear(q);
    q->listed = false;
    q->steps[SYNC] = (struct evzk__step){
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true};
    q->steps[SIGNAL] =
        exists(q->signal, q->follow && !plain ? EVZK__PATH : NO_WATCH);
    q->steps[DEAD] = exists(EVZK__QUEUE_DEAD, NO_WATCH);
    q->steps[DIRECTORY] = exists("", q->follow && plain ? EVZK__OWN : NO_WATCH);
    evzk__ask(m, q->steps, STEPS, EVZK__EACH);
}

/* The queue does not exist. */
static int absent(struct evzk__machine *m)
{
    if (evzk__chroot_unsure(m))
        return evzk__machine_move(m, ROOTING);
    return found(m);
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_queue_query *q = query_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == DEAD && reply->rc == EVZK_OK && !is_plain(q))
        q->count.dead = (uint64_t)reply->res->stat.children;
    if (!reply->last)
        return EVZK_OK;
    if (reply->first_rc == EVZK_ERR_SERVER)
        return EVZK_ERR_SERVER;
    if (reply->rc == EVZK_ERR_NONODE)
        return absent(m);
    if (reply->rc != EVZK_OK)
        return reply->rc;
    if (reply->res->stat.children > EVZK_QUEUE_PLAIN_MAX)
        return EVZK_ERR_FOREIGN;
    return evzk__machine_move(m, LISTING);
}

static int rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    return rc != EVZK_OK ? rc : found(m);
}

/* An answer was lost: the look begins anew. */
static int begin_again(struct evzk__machine *m, int rc)
{
    if (rc == EVZK_ERR_NOMEM)
        evzk__machine_pause(m);
    return evzk__machine_move(m, LOOKING);
}

static bool is_lost(int rc)
{
    return rc == EVZK_ERR_CONNLOSS || rc == EVZK_ERR_NOMEM;
}

static void list(struct evzk__machine *m)
{
    struct evzk_queue_query *q = query_of(m);

    q->steps[0] = (struct evzk__step){
        .verb = EVZK__STEP_CHILDREN,
        .name = "",
        .watch = q->follow && is_plain(q) ? EVZK__WITH(EVZK__PRED) : 0};
    evzk__ask(m, q->steps, 1, 0);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_queue_query *q = query_of(m);
    int rc = e->reply->rc;

    q->listed = rc == EVZK_OK;
    if (rc == EVZK_ERR_NONODE)
        return absent(m);
    if (rc == EVZK_OK && is_plain(q))
        evzk__count_plain(&q->count, &e->reply->res->names);
    else if (rc == EVZK_OK)
        rc = evzk__count_segments(&q->count, &e->reply->res->names);
    if (is_lost(rc))
        return begin_again(m, rc);
    if (rc != EVZK_OK)
        return rc;
    if (q->count.n_segments > 0)
        return evzk__machine_move(m, COUNTING);
    return q->count.n_peeked > 0 ? evzk__machine_move(m, READING) : found(m);
}

/* Lists all segments, one after another. */
static void count(struct evzk__machine *m)
{
    static const struct evzk__step step = {.verb = EVZK__STEP_CHILDREN};
    struct evzk_queue_query *q = query_of(m);

    q->denied = false;
    evzk__ask_each(m, &step, q->count.lists.names, q->count.lists.n);
}

static int counted(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_queue_query *q = query_of(m);
    int rc;

    if (e->reply->rc == EVZK_OK)
        evzk__count_segment(&q->count, e->reply->part, &e->reply->res->names);
    q->denied = q->denied || e->reply->rc == EVZK_ERR_NOAUTH;
    if (!evzk__read_all_note(&q->count.lists, e->reply, &rc))
        return EVZK_OK;
    if (q->denied) /* Nobody knows how many items there are. */
        return EVZK_ERR_NOAUTH;
    if (is_lost(rc))
        return begin_again(m, rc);
    if (rc != EVZK_OK)
        return rc;
    return q->count.n_peeked > 0 ? evzk__machine_move(m, READING) : found(m);
}

static void read_first(struct evzk__machine *m)
{
    struct evzk_queue_query *q = query_of(m);

    if (evzk__count_names(&q->count, q->layout, &q->reads) == EVZK_OK)
        evzk__read_all_ask(m, &q->reads);
    else
        begin_again(m, EVZK_ERR_NOMEM);
}

/* False: no memory. */
static bool note(struct evzk_queue_query *q, uint32_t i,
                 const struct evzk__reply *reply)
{
    evzk_queue_item *item = &q->items[i];

    q->there[i] = reply->rc == EVZK_OK || reply->rc == EVZK_ERR_NOAUTH;
    item->hidden = reply->rc == EVZK_ERR_NOAUTH;
    item->priority = q->count.peeked[i].priority;
    item->claimed = q->count.peeked[i].claimed;
    if (reply->rc != EVZK_OK)
        return true;
    item->token = (uint64_t)reply->res->stat.czxid;
    item->created_ms = reply->res->stat.ctime_ms;
    item->len = reply->res->len;
    item->data = evzk__memdup(reply->res->data, reply->res->len);
    return item->data != NULL;
}

static int was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_queue_query *q = query_of(m);
    int rc;

    if (!note(q, e->reply->part, e->reply))
        q->reads.rc = EVZK_ERR_NOMEM;
    if (!evzk__read_all_note(&q->reads, e->reply, &rc))
        return EVZK_OK;
    if (is_lost(rc))
        return begin_again(m, rc);
    return rc != EVZK_OK ? rc : found(m);
}

/* Is a watch of the last look missing?  Watches go with the connection. */
static bool is_deaf(struct evzk_queue_query *q)
{
    if (!is_plain(q))
        return evzk__watch_missing(&q->m, EVZK__PATH);
    return evzk__watch_missing(&q->m, EVZK__OWN) ||
           (q->listed && evzk__watch_missing(&q->m, EVZK__PRED));
}

static void follow(struct evzk__machine *m)
{
    if (is_deaf(query_of(m)))
        evzk__machine_move(m, LOOKING);
}

static int followed(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LOOKING);
}

static void end(struct evzk__machine *m) { tell(query_of(m), m->rc); }

static void destroy(struct evzk__machine *m)
{
    clear(query_of(m));
    evzk__free(query_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state      entry              reaction  main      on stop  on expiry  flags */
ROW(LOOKING,   look,              looked,   LISTING,  ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY,        LISTING, FOLLOWING, ROOTING, ENDED, HERE, FAIL)),
ROW(ROOTING,   evzk__look_chroot, rooted,   ASIDE,    ENDED,   LOOKING,   RETRY,
    ON(REPLY,        FOLLOWING, ENDED, FAIL)),
ROW(LISTING,   list,              listed,   COUNTING, ENDED,   LOOKING,   0,
    ON(REPLY,        COUNTING, READING, FOLLOWING, LOOKING, ENDED, FAIL),
    RARELY(REPLY,    ROOTING), /* The queue goes between two looks. */
    RARELY(EXPIRED,  LOOKING)), /* The lost connection leads to LOOKING first. */
ROW(COUNTING,  count,             counted,  READING,  ENDED,   LOOKING,   0,
    ON(REPLY,        READING, FOLLOWING, LOOKING, ENDED, HERE, FAIL),
    RARELY(EXPIRED,  LOOKING)),
ROW(READING,   read_first,        was_read, ENDED,    ENDED,   LOOKING,   0,
    ON(ENTRY,        LOOKING),
    ON(REPLY,        FOLLOWING, LOOKING, ENDED, HERE, FAIL),
    RARELY(EXPIRED,  LOOKING)),
ROW(FOLLOWING, follow,            followed, ASIDE,    ENDED,   LOOKING,   RETRY,
    ON(ENTRY,        LOOKING),
    ON(OWN_DELETED,  LOOKING),
    ON(OWN_CHANGED,  LOOKING),
    ON(PRED_DELETED, LOOKING),
    ON(PRED_CHANGED, LOOKING),
    ON(PATH_DELETED, LOOKING),
    ON(PATH_CHANGED, LOOKING),
    ON(EXPIRED,      NEVER)),
END(ENDED,     end),
};
/* clang-format on */

const struct evzk__kind evzk__queue_query_kind = {
    .name = "queue-query",
    .rows = rows,
    .n_rows = STATES,
    .destroy = destroy,
    EVZK__PATH_WATCHES(struct evzk_queue_query, m, watch)};

static bool is_bad(const struct evzk__call *call, const char *path,
                   const evzk_queue_query_options *opt)
{
    return evzk__broken(call, path[1], "path", "must not be the root") ||
           evzk__broken(call, opt->layout <= EVZK_QUEUE_PLAIN_PRIORITY,
                        "layout", "must be one of evzk_queue_layout") ||
           evzk__broken(call, opt->peek <= EVZK_QUEUE_PEEK_MAX, "peek",
                        "must be at most EVZK_QUEUE_PEEK_MAX") ||
           evzk__broken_reserved(call, opt->reserved);
}

static int start(evzk_session *s, const char *path,
                 const evzk_queue_query_options *opt, evzk_queue_query_cb *cb,
                 void *arg, evzk_queue_query **out)
{
    struct evzk_queue_query *q =
        evzk__zalloc(sizeof *q + strlen(path) + EVZK__QUEUE_NAME);
    int rc;

    if (!q)
        return EVZK_ERR_NOMEM;
    evzk__queue_side(q->signal, path, opt->layout, EVZK__QUEUE_SIGNAL);
    q->layout = opt->layout;
    q->follow = opt->follow;
    q->count.peek = opt->peek;
    q->cb = cb;
    q->arg = arg;
    rc = evzk__machine_begin(&q->m, s, &evzk__queue_query_kind, path, 0);
    if (rc == EVZK_OK)
        *out = q;
    return rc;
}

int evzk_queue_query_start(evzk_session *s, const char *path,
                           const evzk_queue_query_options *opt,
                           evzk_queue_query_cb *cb, void *arg,
                           evzk_queue_query **out)
{
    static const evzk_queue_query_options none;
    struct evzk__call call = evzk__call_of(s, __func__);
    int rc;

    if (!opt)
        opt = &none;
    if (evzk__broken_start(&call, s, path, cb != NULL, out != NULL) ||
        is_bad(&call, path, opt))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    return rc != EVZK_OK ? rc : start(s, path, opt, cb, arg, out);
}

void evzk_queue_query_free(evzk_queue_query *q)
{
    if (q) {
        q->cb = NULL;
        evzk__machine_let_go(&q->m);
    }
}
