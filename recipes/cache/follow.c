/* Follows one znode of a cache: its data, and the names of its children.
 *
 *   WAITING --> READING <--> LISTING --> MERGING --> SWEEPING --> FOLLOWING
 *      ^        |  |            |                                  |
 *      |        |  v            |                                  |
 *      |        | EMPTYING <----'                                  |
 *      |        v  |    ^                                          |
 *      +--- ROOTING-----'                                          |
 *      `-----------+-----------------------------------------------'
 *
 * The znode is read, and watched; then its children are listed, and watched, if
 * they belong to the view.  A listing makes followers for new children.  Of
 * children that it does not have any more, the followers look again: each
 * follower tells of its own znode, and of no other.  So what is told about a
 * znode comes from reads of that znode alone, which are answered in the order
 * in which they were sent.
 *
 * If another znode was listed than the one that was read, the listing waits
 * until that znode was read.
 *
 * An event says only that the znode is to be read again.  If the data changed,
 * the data is read; if the children changed, the children are listed.
 *
 *   WAITING    for its turn: only some followers read at the same time
 *   READING    the znode, with its data
 *   ROOTING    the root is missing, and nothing was told: is the session's
 *              chroot missing, too?  That ends the cache
 *   MERGING    a listing into the view, some names in each look
 *   SWEEPING   through the children, for those that the listing does not have
 *   EMPTYING   the znode is gone: waits until its children are gone, too
 *
 * How it can fail.  The next server may know less than the last one: so a sync
 * goes before each read of the root, and before the first reads of each
 * connection; and an answer that is older than what was told is not taken.  A
 * znode may be gone, or be another one, whenever it is looked at.  A new znode
 * of the same path counts as a change of the old znode.  Servers tell a session
 * nothing of a znode that it may not read: such a znode has no watch, and is
 * looked at again whenever the children above it are listed.  Without memory a
 * znode is read again in a while.
 */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/cache/cache_internal.h"
#include "recipes/kinds.h"
#include "recipes/parts/rooted.h"

/* The data is not older than what was told before. */
#define SYNC_ONCE                                                              \
    {                                                                          \
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true, .once = true      \
    }

/* Of the root, which is read first: the data is not older than the cache's
 * start either. */
#define SYNC_NOW                                                               \
    {                                                                          \
        .verb = EVZK__STEP_SYNC, .name = "", .shared = true                    \
    }

static const struct evzk__step read_steps[] = {
    SYNC_ONCE,
    {.verb = EVZK__STEP_GET, .name = "", .watch = EVZK__WITH(EVZK__OWN)}};

/* The root may not be there. */
static const struct evzk__step read_root_steps[] = {
    SYNC_NOW,
    {.verb = EVZK__STEP_GET,
     .name = "",
     .watch = EVZK__WITH(EVZK__OWN),
     .or_absent = true}};

/* Of the root, where only names are kept. */
static const struct evzk__step look_steps[] = {
    SYNC_NOW,
    {.verb = EVZK__STEP_EXISTS, .name = "", .watch = EVZK__WITH(EVZK__OWN)}};

static const struct evzk__step list_steps[] = {
    SYNC_ONCE,
    {.verb = EVZK__STEP_CHILDREN, .name = "", .watch = EVZK__WITH(EVZK__PRED)}};

/* Would it not hear of a change?  A hidden znode has no watch, and is looked at
 * once on each connection. */
static bool is_deaf(const struct evzk__follower *f)
{
    if (f->n->hidden)
        return f->connection_no != f->m.seen.connection_no;
    return (evzk__follower_reads(f) && evzk__follower_misses(f, EVZK__OWN)) ||
           (evzk__follower_lists(f) && evzk__follower_misses(f, EVZK__PRED));
}

/* The actions. */

static int next_look(const struct evzk__follower *f)
{
    if (!evzk__follower_reads(f))
        return LISTING;
    if (!evzk__follower_misses(f, EVZK__OWN) && evzk__follower_lists(f) &&
        evzk__follower_misses(f, EVZK__PRED))
        return LISTING;
    return READING;
}

static void wait_for_turn(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);

    if (evzk__follower_is_over(f))
        return;
    evzk__follower_count(f);
    if (evzk__follower_take_turn(f))
        evzk__machine_move(m, next_look(f));
}

static int turn_came(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__follower *f = evzk__follower_of(m);

    (void)e;
    if (evzk__follower_is_over(f) || !f->has_turn)
        return EVZK_OK;
    return evzk__machine_move(m, next_look(f));
}

static void ask(struct evzk__machine *m, const struct evzk__step *steps)
{
    struct evzk__follower *f = evzk__follower_of(m);

    if (f->c)
        evzk__follower_count(f);
    evzk__ask(m, steps, 2, 0);
}

static void read_znode(struct evzk__machine *m)
{
    const struct evzk__follower *f = evzk__follower_of(m);
    const struct evzk__step *steps = read_steps;

    if (f->c && evzk__follower_is_first(f))
        steps = f->c->names_only ? look_steps : read_root_steps;
    ask(m, steps);
}

static void list(struct evzk__machine *m) { ask(m, list_steps); }

static int rc_of(const struct evzk__reply *reply)
{
    return reply->first_rc == EVZK_OK ? reply->rc : reply->first_rc;
}

/* A cache whose root may not be read, or whose chroot is missing, ends; but not
 * once it has told anything, be it that there is nothing. */
static bool goes_on(const struct evzk__follower *f)
{
    return f->n->told || f->c->was_whole || !evzk__follower_is_first(f);
}

/* A root of which only names are kept, and that might not be listed: only a
 * listing says that it may be now. */
static bool hides_names(const struct evzk__follower *f)
{
    return f->n->hidden && f->c->names_only && evzk__follower_is_first(f) &&
           f->c->depth != EVZK_CACHE_NODE;
}

static int was_read(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__follower *f = evzk__follower_of(m);
    int rc = rc_of(e->reply);

    if (evzk__follower_is_over(f))
        return EVZK_OK;
    if (rc == EVZK_ERR_NOAUTH && goes_on(f))
        return evzk__follower_hide(f);
    if (rc == EVZK_OK && hides_names(f))
        return evzk__machine_move(m, LISTING);
    if (rc == EVZK_ERR_NONODE)
        return evzk__machine_move(
            m, goes_on(f) || !evzk__chroot_unsure(m) ? EMPTYING : ROOTING);
    return rc != EVZK_OK ? rc : evzk__follower_take(f, e->reply->res);
}

static int rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    if (evzk__follower_is_over(evzk__follower_of(m)))
        return EVZK_OK;
    return rc != EVZK_OK ? rc : evzk__machine_move(m, EMPTYING);
}

/* The znode has changed since it was read; or, where only names are kept, the
 * listing alone says what it is, and whether it may be read. */
static int not_listed(struct evzk__follower *f, int rc)
{
    bool says_all = f->c->names_only && evzk__follower_is_first(f);

    evzk__merge_drop(f);
    if (rc == EVZK_ERR_NOAUTH && says_all && !f->c->was_whole)
        return rc;
    if (evzk__follower_reads(f) && !(rc == EVZK_ERR_NOAUTH && says_all))
        return evzk__machine_move(&f->m, READING);
    return rc == EVZK_ERR_NOAUTH ? evzk__follower_hide(f)
                                 : evzk__machine_move(&f->m, EMPTYING);
}

/* Was another znode listed than the one that was read?  Then it is read first:
 * the watch does not tell if the session might not read the first one. */
static bool is_another(const struct evzk__follower *f,
                       const struct evzk__stat *listed)
{
    return evzk__follower_reads(f) && listed->czxid != f->n->czxid;
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk__follower *f = evzk__follower_of(m);
    int rc = rc_of(e->reply);

    if (evzk__follower_is_over(f))
        return EVZK_OK;
    if (rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_NONODE)
        return not_listed(f, rc);
    if (rc != EVZK_OK)
        return rc;
    if (evzk__merge_take(f, &e->reply->res->names) != EVZK_OK)
        return evzk__machine_again_later(m);
    if (hides_names(f))
        return evzk__follower_take(f, e->reply->res);
    if (is_another(f, &e->reply->res->stat))
        return evzk__machine_move(m, READING);
    return evzk__follower_reads(f) ? evzk__machine_move(m, MERGING)
                                   : evzk__follower_take(f, e->reply->res);
}

static void follow(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);

    if (evzk__follower_is_over(f))
        return;
    if (is_deaf(f)) {
        evzk__machine_move(m, WAITING);
        return;
    }
    evzk__follower_rest(f);
    evzk__follower_settle(f);
}

static int changed(struct evzk__machine *m, const struct evzk__event *e)
{
    (void)e;
    return evzk__machine_move(m, WAITING);
}

/* The machine ends by itself: its znode is gone (gone.c), its session was
 * closed, or it has failed, and the cache with it. */
static void leave(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);

    if (!f->c)
        return;
    if (m->rc != EVZK_OK && evzk__cache_tells(f->c))
        evzk__machine_stop(&f->c->m, m->rc);
    evzk__follower_leave(f);
    evzk__machine_unref(m);
}

static void destroy(struct evzk__machine *m)
{
    struct evzk__follower *f = evzk__follower_of(m);

    evzk__merge_drop(f);
    evzk__free(f);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state      entry                  reaction              main       on stop  on expiry  flags */
ROW(WAITING,   wait_for_turn,         turn_came,            READING,   LEFT,    WAITING,   RETRY,
    ON(ENTRY,        READING, LISTING),
    ON(USER_EVENT,   READING, LISTING), RARELY(USER_EVENT, HERE)),
ROW(READING,   read_znode,            was_read,             LISTING,   LEFT,    WAITING,   RETRY|NOTHING_SENT,
    ON(REPLY,        LISTING, MERGING, FOLLOWING, EMPTYING, ROOTING, HERE, FAIL)),
ROW(ROOTING,   evzk__look_root,       rooted,               ASIDE,     LEFT,    WAITING,   RETRY,
    ON(ENTRY,        WAITING),
    ON(REPLY,        EMPTYING, HERE, FAIL),
    ON(EXPIRED,      NEVER)),
ROW(LISTING,   list,                  listed,               MERGING,   LEFT,    WAITING,   RETRY|NOTHING_SENT,
    ON(REPLY,        MERGING, READING, FOLLOWING, EMPTYING, HERE, FAIL)),
ROW(MERGING,   evzk__follower_merge,  evzk__follower_go_on, SWEEPING,  LEFT,    WAITING,   RETRY,
    ON(ENTRY,        SWEEPING, WAITING, LISTING),
    ON(USER_EVENT,   MERGING),
    ON(EXPIRED,      NEVER)),
ROW(SWEEPING,  evzk__follower_sweep,  evzk__follower_go_on, FOLLOWING, LEFT,    WAITING,   RETRY,
    ON(ENTRY,        FOLLOWING, WAITING),
    ON(USER_EVENT,   SWEEPING),
    ON(EXPIRED,      NEVER)),
ROW(FOLLOWING, follow,                changed,              LEFT,      LEFT,    WAITING,   RETRY,
    ON(ENTRY,        WAITING),
    ON(OWN_DELETED,  WAITING),
    ON(OWN_CHANGED,  WAITING),
    ON(PRED_DELETED, WAITING),
    ON(PRED_CHANGED, WAITING),
    ON(EXPIRED,      NEVER)),
ROW(EMPTYING,  evzk__follower_empty,  evzk__follower_emptied, ASIDE,   LEFT,    WAITING,   RETRY,
    ON(ENTRY,        FOLLOWING, WAITING, LEFT),
    RARELY(OWN_DELETED, WAITING),
    ON(OWN_CHANGED,  WAITING),
    RARELY(PRED_DELETED, HERE),
    ON(PRED_CHANGED, HERE),
    ON(USER_EVENT,   EMPTYING),
    RARELY(EXPIRED,  WAITING)),
END(LEFT,      leave),
};
/* clang-format on */

const struct evzk__kind evzk__cache_node_kind = {
    .name = "cache-node", .rows = rows, .n_rows = STATES, .destroy = destroy};
