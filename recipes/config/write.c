/* Replaces a configuration.
 *
 *   LISTING --> FINISHING --> ENDED     all in one transaction
 *
 *   LISTING --> LOCKING --> LISTING --> WRITING ... --> FINISHING --> ENDED
 *
 * A set that fits into one transaction needs no lock while `ready` stands: that
 * transaction deletes the very `ready` that was read, and is refused if another
 * replacement was quicker, or has begun to write a larger set.
 *
 * How it can fail.
 *
 * - The directory is not as it was listed, or an answer in the midst was lost:
 *   LISTING begins again, under the lock, with the first key.  To write a key
 *   twice does no harm, since nobody else writes and `ready` is gone.
 * - Another program makes and deletes the keys, or the lock, as fast as they
 * are listed.  The replacement is given up after some tries.  But tries count
 *   only in a row: while other replacements are done in between, somebody gets
 *   on.
 * - The servers refuse something for now, as those do that throttle: it was not
 *   done, and is asked for again, some times.
 * - The lock is lost: every transaction is refused by its znode.  Another one
 *   may have written since, and all is written again under a new lock; but a
 *   replacement of one certain configuration ends, since others may have been
 *   whole meanwhile.
 * - The answer to the last transaction was lost: SETTLING (config/settle.c).
 */
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/config/config_internal.h"
#include "recipes/kinds.h"

enum {
    LISTING = EVZK__UPDATE_LISTING,
    MAKING_DIR = EVZK__UPDATE_MAKING_DIR,
    LOCKING = EVZK__UPDATE_LOCKING,
    WRITING = EVZK__UPDATE_WRITING,
    FINISHING = EVZK__UPDATE_FINISHING,
    SETTLING = EVZK__UPDATE_SETTLING,
    ENDED = EVZK__UPDATE_ENDED,
    STATES = EVZK__UPDATE_STATES
};

/* A transaction is refused when the directory was changed since the look; it is
 * not tried for ever. */
enum { TRIES = 8 };

static bool may_try_again(struct evzk__machine *m)
{
    if (m->tries == TRIES)
        return false;
    m->tries++;
    return true;
}

/* ---- LISTING ---- */

enum { SYNCED, LISTED, READY };

static void list(struct evzk__machine *m)
{
    static const struct evzk__step steps[] = {
        [SYNCED] = {.verb = EVZK__STEP_SYNC, .name = "", .shared = true},
        [LISTED] = {.verb = EVZK__STEP_CHILDREN, .name = ""},
        [READY] = {.verb = EVZK__STEP_GET, .name = EVZK__CONFIG_READY}};

    evzk__update_of(m)->list_rc = EVZK_OK;
    evzk__ask(m, steps, 3, EVZK__EACH);
}

static void take_list(struct evzk_config_update *u,
                      const struct evzk__reply *reply)
{
    u->list_rc = reply->rc;
    if (reply->rc != EVZK_OK)
        return;
    u->changed = reply->res->stat.pzxid;
    u->list_rc = evzk__read_all_take(&u->there, "", &reply->res->names);
    if (u->list_rc == EVZK_OK)
        evzk__config_sort(&u->there);
}

/* Has another replacement been done since the last look? */
static void note_other(struct evzk_config_update *u)
{
    if (!u->mark[0] || u->ready == u->last_ready)
        return;
    u->last_ready = u->ready;
    u->m.tries = 0;
}

/* A `ready` that was made by hand has no child. */
static void take_ready(struct evzk_config_update *u,
                       const struct evzk__reply *reply)
{
    const struct evzk__result *res = reply->res;
    char *end = stpcpy(u->mark, EVZK__CONFIG_READY "/");

    u->ready = reply->rc == EVZK_OK ? res->stat.czxid : 0;
    if (u->ready && res->stat.children > 0 && res->len == EVZK__GUID_LEN &&
        evzk__name_ok(res->data, res->len)) {
        memcpy(end, res->data, res->len);
        end[res->len] = '\0';
    } else
        u->mark[0] = '\0';
    note_other(u);
}

/* The next transaction, of those that are left.  Each names the lock's znode;
 * but where another znode of its name stands, nobody refuses.  So the news that
 * the lock is lost counts as well. */
static int go_on(struct evzk__machine *m)
{
    struct evzk_config_update *u = evzk__update_of(m);

    if (u->guarded && !u->has_lock)
        return evzk__machine_move(m, LOCKING);
    return evzk__machine_move(m, evzk__chunk_choose(u) ? FINISHING : WRITING);
}

/* Is the configuration the one that is to be replaced?  While this lock is held
 * nobody else takes `ready` away, once this replacement has. */
static bool may_replace(const struct evzk_config_update *u)
{
    if (u->if_number == 0)
        return true;
    if (u->ready)
        return u->ready == u->if_number;
    return u->if_number == EVZK_CONFIG_NONE || u->wrote;
}

static int begin(struct evzk__machine *m)
{
    struct evzk_config_update *u = evzk__update_of(m);

    if (!may_replace(u))
        return EVZK_ERR_BADVERSION;
    if (evzk__chunk_begin(u) != EVZK_OK)
        return evzk__machine_again_later(m);
    if (!u->has_lock && !(u->ready && evzk__chunk_choose(u)))
        return evzk__machine_move(m, LOCKING);
    u->guarded = u->has_lock;
    return go_on(m);
}

static int listed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_config_update *u = evzk__update_of(m);
    const struct evzk__reply *reply = e->reply;

    if (reply->part == LISTED)
        take_list(u, reply);
    if (!reply->last)
        return EVZK_OK;
    if (reply->first_rc != EVZK_OK && reply->first_rc != EVZK_ERR_NONODE)
        return reply->first_rc;
    if (reply->rc != EVZK_OK && reply->rc != EVZK_ERR_NONODE)
        return reply->rc;
    take_ready(u, reply);
    if (u->list_rc == EVZK_ERR_NOMEM)
        return evzk__machine_again_later(m);
    if (u->list_rc == EVZK_ERR_NONODE)
        return evzk__machine_move(m, MAKING_DIR);
    if (u->list_rc != EVZK_OK)
        return u->list_rc;
    /* The list is older than `ready`: it may be that of another set. */
    if (evzk__config_lists_again(m, &u->older, u->changed < u->ready))
        return EVZK_OK;
    return begin(m);
}

/* ---- MAKING_DIR ---- */

static void make_dir(struct evzk__machine *m)
{
    struct evzk_config_update *u = evzk__update_of(m);

    evzk__own_dir(m, u->acl, u->acl_count);
}

static int dir_made(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc != EVZK_OK)
        return e->reply->rc;
    return may_try_again(m) ? evzk__machine_move(m, LISTING) : EVZK_ERR_NONODE;
}

/* ---- LOCKING ---- */

/* Was nothing done for want of memory, or since the server refuses for now? */
static bool is_for_now(struct evzk_config_update *u, int rc)
{
    return rc == EVZK_ERR_NOMEM ||
           (rc == EVZK_ERR_SERVER && u->refusals++ < EVZK__CONFIG_REFUSALS);
}

static void lock(struct evzk__machine *m)
{
    int rc = evzk__config_lock(evzk__update_of(m));

    if (rc != EVZK_OK)
        evzk__machine_finish(m, rc);
}

static int locked(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_config_update *u = evzk__update_of(m);

    (void)e;
    if (u->has_lock)
        return evzk__machine_move(m, LISTING);
    if (is_for_now(u, u->lock_rc))
        return evzk__machine_again_later(m);
    if (u->lock_rc != EVZK_OK)
        return u->lock_rc;
    return u->lock ? EVZK_OK : evzk__machine_move(m, LOCKING);
}

/* ---- WRITING, FINISHING ---- */

static void write_some(struct evzk__machine *m)
{
    struct evzk_config_update *u = evzk__update_of(m);

    u->wrote = u->has_lock;
    evzk__chunk_ask(u, false);
}

static void finish(struct evzk__machine *m)
{
    evzk__chunk_ask(evzk__update_of(m), true);
}

/* Is the directory, or the lock, not as it was seen? */
static bool is_stale(const struct evzk_config_update *u,
                     const struct evzk__reply *reply)
{
    return reply->rc == EVZK_ERR_NONODE || reply->rc == EVZK_ERR_NODEEXISTS ||
           (reply->rc == EVZK_ERR_NOTEMPTY && reply->part < u->first);
}

/* The transaction was not done. */
static int refused(struct evzk__machine *m, const struct evzk__reply *reply)
{
    struct evzk_config_update *u = evzk__update_of(m);
    bool unlocked = u->guarded && reply->part == 0;

    if (is_for_now(u, reply->rc))
        return evzk__machine_again_later(m);
    if (!is_stale(u, reply))
        return reply->rc;
    if (!may_try_again(m))
        return unlocked ? EVZK_ERR_NODEGONE : reply->rc;
    if (!unlocked)
        return evzk__machine_move(m, LISTING);
    evzk__config_unlock(u);
    return evzk__machine_move(m, LOCKING);
}

static int written(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_config_update *u = evzk__update_of(m);

    if (e->reply->rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, LISTING);
    if (e->reply->rc != EVZK_OK)
        return refused(m, e->reply);
    u->ready = 0;
    u->refusals = 0;
    u->changed = e->reply->first.czxid;
    u->at += u->chunk;
    return go_on(m);
}

static int finished(struct evzk__machine *m, const struct evzk__event *e)
{
    if (e->reply->rc == EVZK_ERR_CONNLOSS)
        return evzk__machine_move(m, SETTLING);
    if (e->reply->rc != EVZK_OK)
        return refused(m, e->reply);
    evzk__update_of(m)->number = e->reply->first.czxid;
    return evzk__machine_finish(m, EVZK_OK);
}

/* ---- The end ---- */

static void end(struct evzk__machine *m)
{
    struct evzk_config_update *u = evzk__update_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);

    if (u->cb)
        u->cb(u, m->rc, m->rc == EVZK_OK ? u->number : 0, u->arg);
    evzk__machine_called(s, begun);
}

static void detach(struct evzk__machine *m)
{
    evzk__config_unlock(evzk__update_of(m));
}

static void on_deadline(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
}

void evzk__update_destroy(struct evzk_config_update *u)
{
    evzk__acl_free(&u->own_acl);
    evzk__read_all_clear(&u->there);
    evzk__free(u->gone);
    evzk__free(u->steps);
    evzk__free(u->guard);
    evzk__free(u->lock_path);
    evzk__free(u->key);
    evzk__free(u);
}

static void destroy(struct evzk__machine *m)
{
    evzk__update_destroy(evzk__update_of(m));
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state       entry                reaction              main       on stop  on expiry  flags */
ROW(LISTING,    list,                listed,               FINISHING, ENDED,   LISTING,   RETRY,
    ON(REPLY,      FINISHING, WRITING, LOCKING, MAKING_DIR, HERE, FAIL),
    RARELY(REPLY,  LISTING)),
ROW(MAKING_DIR, make_dir,            dir_made,             ASIDE,     ENDED,   LISTING,   RETRY,
    ON(REPLY,      LISTING, FAIL)),
ROW(LOCKING,    lock,                locked,               ASIDE,     ENDED,   LOCKING,   0,
    ON(ENTRY,      ENDED),
    ON(USER_EVENT, LISTING, LOCKING, HERE, FAIL)),
ROW(WRITING,    write_some,          written,              ASIDE,     ENDED,   LISTING,   0,
    ON(REPLY,      FINISHING, WRITING, LISTING, LOCKING, FAIL)),
ROW(FINISHING,  finish,              finished,             ENDED,     ENDED,   SETTLING,  0,
    ON(REPLY,      ENDED, SETTLING, LISTING, LOCKING, FINISHING, FAIL)),
ROW(SETTLING,   evzk__update_settle, evzk__update_settled, ASIDE,     ENDED,   SETTLING,  RETRY,
    ON(REPLY,      ENDED, LISTING, HERE, FAIL)),
END(ENDED,      end),
};
/* clang-format on */

const struct evzk__kind evzk__config_write_kind = {
    .name = "config-write",
    .rows = rows,
    .n_rows = STATES,
    .on_deadline = on_deadline,
    .on_stop = evzk__machine_stop_at_once,
    .detach = detach,
    .destroy = destroy};
