/* Reads a value once, or follows it.
 *
 *   LOOKING <--> WATCHING --> ENDED
 *      |            ^           ^
 *      +-----> ROOTING ---------|
 *      `------------------------'
 *
 * A query ends with the answer to its look.  If the znode does not exist, and
 * nothing was told, the session's chroot may not exist either: ROOTING finds
 * out.
 *
 * Each look goes behind a sync, and so is as new as the ensemble's leader.  The
 * look of a follower sets a watch as it reads, on a znode that does not exist,
 * too: no later change is missed.
 *
 * How it can fail.
 *
 * - The follower is connected to another server, which is behind: the sync
 *   comes first.  And a value that is older than the last one told, by its
 *   mzxid, is asked for again, unless history has begun anew
 *   (parts/history.h).
 * - The znode may not be read any more.  A follower that has told a value
 *   waits until it may.
 * - The znode is deleted and made anew while the connection is lost: its
 *   versions begin at 0 again, but its mzxid is greater.
 * - A watch could not be set for want of memory: the follower looks again, and
 *   tells nothing before a watch stands.
 */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/kinds.h"
#include "recipes/parts/rooted.h"
#include "recipes/value/value_internal.h"

enum { LOOKING, ROOTING, WATCHING, ENDED, STATES };

static struct evzk__value_read *read_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__value_read, m);
}

static void look(struct evzk__machine *m)
{
    static const struct evzk__step once[] = {
        {.verb = EVZK__STEP_SYNC, .name = "", .shared = true},
        {.verb = EVZK__STEP_GET, .name = ""}};
    static const struct evzk__step follow[] = {
        {.verb = EVZK__STEP_SYNC, .name = "", .shared = true},
        {.verb = EVZK__STEP_GET,
         .name = "",
         .watch = EVZK__WITH(EVZK__OWN),
         .or_absent = true}};

    evzk__ask(m, read_of(m)->follows ? follow : once, 2, 0);
}

static evzk_value value_of(const struct evzk__reply *reply)
{
    const struct evzk__result *res = reply->res;

    if (reply->rc != EVZK_OK)
        return (evzk_value){0};
    return (evzk_value){.exists = true,
                        .data = res->data,
                        .len = res->len,
                        .stamp = {res->stat.czxid, res->stat.version},
                        .mzxid = res->stat.mzxid};
}

static bool is_news(const struct evzk__value_read *r, const evzk_value *v,
                    uint64_t print)
{
    if (v->exists)
        return v->mzxid != r->newest || print != r->print;
    return !r->told || !r->told_absent;
}

static int follow(struct evzk__machine *m, const evzk_value *v)
{
    struct evzk__value_read *r = read_of(m);
    uint64_t print = evzk__history_print(0, v->data, v->len);
    bool news = is_news(r, v, print);

    if (evzk__watch_missing(m, EVZK__OWN) ||
        evzk__history_doubts(&r->history, m, v->exists && v->mzxid < r->newest))
        return evzk__machine_again_later(m);
    evzk__machine_move(m, WATCHING);
    if (!news)
        return EVZK_OK;
    r->told = true;
    r->told_absent = !v->exists;
    if (v->exists) {
        r->newest = v->mzxid;
        r->print = print;
    }
    r->tell(r, EVZK_OK, v);
    return EVZK_OK;
}

static int looked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__value_read *r = read_of(m);
    const struct evzk__reply *reply = e->reply;
    evzk_value v = value_of(reply);

    if (reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NONODE)
        return reply->first_rc;
    if (reply->rc == EVZK_ERR_NOAUTH && r->told)
        return evzk__machine_move(m, WATCHING);
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    if (!v.exists && !r->told && evzk__chroot_unsure(m))
        return evzk__machine_move(m, ROOTING);
    if (r->follows)
        return follow(m, &v);
    r->value = v;
    return evzk__machine_finish(m, EVZK_OK);
}

static void look_root(struct evzk__machine *m)
{
    if (read_of(m)->follows)
        evzk__look_root(m);
    else
        evzk__look_chroot(m);
}

static int rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    static const evzk_value none;
    int rc = evzk__chroot_looked(e);

    if (rc != EVZK_OK)
        return rc;
    return read_of(m)->follows ? follow(m, &none)
                               : evzk__machine_finish(m, EVZK_OK);
}

/* The watch was lost with its connection: the znode is read again. */
static void watch(struct evzk__machine *m)
{
    if (evzk__watch_missing(m, EVZK__OWN))
        evzk__machine_move(m, LOOKING);
}

static int watched(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, LOOKING);
}

static void end(struct evzk__machine *m)
{
    struct evzk__value_read *r = read_of(m);

    if (r->over)
        return;
    r->over = true;
    r->tell(r, m->rc, m->rc == EVZK_OK ? &r->value : NULL);
}

/* A cancel and a time-out do not wait for an answer. */
static void on_stop(struct evzk__machine *m, const struct evzk__reply *reply)
{
    if (!reply)
        end(m);
}

/* The machine is the first member of a query, and of a follower. */
static void destroy(struct evzk__machine *m) { evzk__free(read_of(m)); }

static void on_deadline(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state     entry      reaction  main      on stop  on expiry  flags */
ROW(LOOKING,  look,      looked,   WATCHING, ENDED,   LOOKING,   RETRY|NOTHING_SENT,
    ON(REPLY,       WATCHING, ROOTING, ENDED, LOOKING, FAIL)),
ROW(ROOTING,  look_root, rooted,   ASIDE,    ENDED,   LOOKING,   RETRY,
    ON(ENTRY,       LOOKING),
    ON(REPLY,       WATCHING, ENDED, FAIL)),
ROW(WATCHING, watch,     watched,  ENDED,    ENDED,   LOOKING,   RETRY,
    ON(ENTRY,       LOOKING),
    ON(OWN_DELETED, LOOKING),
    ON(OWN_CHANGED, LOOKING),
    ON(EXPIRED,     NEVER)),
END(ENDED,    end),
};
/* clang-format on */

const struct evzk__kind evzk__value_read_kind = {.name = "value-read",
                                                 .rows = rows,
                                                 .n_rows = STATES,
                                                 .on_deadline = on_deadline,
                                                 .on_stop = on_stop,
                                                 .destroy = destroy};
