/* A handle.
 *
 *   CREATING --> FOLLOWING --> OPEN --> CLOSING --> ENDED
 *    |  ^  |        ^
 *    v  |  '-> RESOLVING
 *   MAKING_DIR
 *
 * CREATING, MAKING_DIR, RESOLVING  make the file (chubby/create.c)
 * FOLLOWING  the copy of the file is being read (chubby/follow.c)
 * OPEN       operations are begun, and answered
 * CLOSING    waits for writes that were sent, and for the lock
 *
 * A handle sends few requests of its own.  It is put together of others: its
 * copy is a cache, its writes are guarded writes, its lock is a lock; each
 * tells the handle what it hears, and posts a user event.
 *
 * How it can fail.  The file is deleted: the copy tells so, or a write that was
 * refused, whichever comes first.  The session ends: so does the handle, since
 * its lock and an ephemeral file go with the session.
 */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/kinds.h"

enum {
    CREATING = EVZK__CHUBBY_CREATING,
    MAKING_DIR = EVZK__CHUBBY_MAKING_DIR,
    RESOLVING = EVZK__CHUBBY_RESOLVING,
    FOLLOWING = EVZK__CHUBBY_FOLLOWING,
    OPEN = EVZK__CHUBBY_OPEN,
    CLOSING = EVZK__CHUBBY_CLOSING,
    ENDED = EVZK__CHUBBY_ENDED,
    STATES = EVZK__CHUBBY_STATES
};

/* ---- Opening. ---- */

/* Entered again after a lost connection; and in a while when there was no
 * memory: the session sends the question behind its pause. */
static void follow(struct evzk__machine *m)
{
    static const struct evzk__step exists = {.verb = EVZK__STEP_EXISTS,
                                             .name = ""};
    struct evzk_chubby *h = evzk__chubby_of(m);
    int rc = evzk__chubby_follow(h);

    if (rc == EVZK_OK)
        rc = evzk__chubby_follow_queue(h);
    if (rc == EVZK_ERR_NOMEM) {
        evzk__machine_pause(m);
        evzk__ask(m, &exists, 1, 0);
        return;
    }
    if (rc != EVZK_OK)
        h->copy_rc = rc;
    evzk__machine_ask(m);
}

/* The file that the handle has made may have been deleted since, and another
 * made. */
static int take_file(struct evzk_chubby *h, const evzk_cache_entry *root)
{
    if (root->hidden)
        return EVZK_ERR_NOAUTH;
    if (h->created && root->czxid != h->instance) {
        h->created = false;
        h->anchored = ANCHOR_UNKNOWN;
        if (h->create == EVZK_CHUBBY_MUST_CREATE)
            return EVZK_ERR_NODEEXISTS;
    }
    h->instance = root->czxid;
    h->owner = root->ephemeral_owner;
    return evzk__machine_move(&h->m, OPEN);
}

/* The file has gone before it was read: it is made all the same. */
static int has_gone(struct evzk_chubby *h)
{
    if (h->create != EVZK_CHUBBY_MAY_CREATE || h->tries++ == EVZK__CHUBBY_TRIES)
        return EVZK_ERR_NONODE;
    h->created = false;
    h->anchored = ANCHOR_UNKNOWN;
    evzk_cache_free(h->copy);
    h->copy = NULL;
    h->copy_ready = false;
    return evzk__machine_move(&h->m, CREATING);
}

static int followed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_chubby *h = evzk__chubby_of(m);
    evzk_cache_entry root;

    if (e->type == EVZK__EV_REPLY)
        return evzk__machine_again(m);
    if (h->copy_rc != EVZK_OK)
        return h->copy_rc;
    if (!h->copy_ready)
        return EVZK_OK;
    if (evzk_cache_get(h->copy, "", &root) != EVZK_OK)
        return has_gone(h);
    return take_file(h, &root);
}

/* ---- Open. ---- */

/* The doubt may have begun before the handle was open. */
static void tell_doubt(struct evzk_chubby *h)
{
    bool certain;

    if (h->m.place.ended)
        return;
    certain = evzk__machine_certain(&h->m);
    if (h->jeopardy != certain)
        return;
    h->jeopardy = !certain;
    evzk__chubby_tell(h, certain ? EVZK_CHUBBY_SAFE : EVZK_CHUBBY_JEOPARDY,
                      EVZK_OK, NULL);
}

/* Entered again after every doubt. */
static void open(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    evzk__machine_ask(m);
    evzk__machine_end_doubt(m);
    if (!h->opened) {
        h->opened = true;
        evzk__machine_no_deadline(m);
        evzk__chubby_tell(h, EVZK_CHUBBY_OPENED, EVZK_OK, NULL);
    }
    tell_doubt(h);
}

/* A lock that waits is given up; one that is held stays. */
static void end_all(struct evzk_chubby *h, int rc)
{
    if (h->lock && !h->lock->held)
        evzk__chubby_lock_leave(h->lock);
    evzk__chubby_ops_end(h, rc, false);
}

static void tell_invalid(struct evzk_chubby *h)
{
    if (h->invalid_told)
        return;
    h->invalid_told = true;
    end_all(h, h->invalid);
    evzk__chubby_tell(h, EVZK_CHUBBY_INVALID, h->invalid, NULL);
}

static int opened(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    tell_doubt(h);
    if (e->type != EVZK__EV_USER)
        return EVZK_OK;
    if (h->closes)
        return evzk__machine_move(m, CLOSING);
    if (h->invalid != EVZK_OK)
        tell_invalid(h);
    else if (h->poisoned)
        end_all(h, EVZK_ERR_CANCELED);
    else
        evzk__chubby_begin_all(h);
    if (evzk__chubby_goes_on(h))
        evzk__chubby_look_at_queue(h, false);
    return EVZK_OK;
}

/* ---- Closing. ---- */

/* Entered again after a lost connection. */
static void close(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    evzk__machine_ask(m);
    if (h->lock)
        evzk__chubby_lock_leave(h->lock);
    evzk__chubby_ops_end(h, EVZK_ERR_CANCELED, false);
}

static int closed(struct evzk__machine *m, const struct evzk__event *e)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    (void)e;
    return h->lock || h->n_ops ? EVZK_OK : evzk__machine_finish(m, h->lock_rc);
}

static void end(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);
    bool closed = h->closes && m->rc == h->lock_rc;

    evzk__chubby_ops_end(h, m->rc, true);
    evzk__chubby_tell(h, closed ? EVZK_CHUBBY_CLOSED : EVZK_CHUBBY_ENDED, m->rc,
                      NULL);
}

/* Operations are ended behind it: end() tells them. */
static void detach(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    if (h->lock)
        evzk__chubby_lock_drop(h->lock);
    h->lock = NULL;
    evzk_cache_free(h->copy);
    evzk_cache_free(h->queue);
    h->copy = h->queue = NULL;
    evzk__finder_free(h->finder);
    h->finder = NULL;
    evzk__chubby_drop_sequencer(h);
}

void evzk__chubby_destroy(struct evzk__machine *m)
{
    struct evzk_chubby *h = evzk__chubby_of(m);

    evzk__chubby_ops_free(h);
    evzk__free(h->old);
    evzk__free(h->known);
    evzk__acl_free(&h->acl);
    evzk__free(h->data);
    evzk__free(h->path);
    evzk__free(h);
}

static void on_deadline(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
}

/* clang-format off */
static const struct evzk__row rows[STATES] = {
/*  state       entry                    reaction                 main       on stop  on expiry flags */
ROW(CREATING,   evzk__chubby_create,     evzk__chubby_created_it, FOLLOWING, ENDED,   ENDED,    0,
    ON(ENTRY, FOLLOWING),
    ON(REPLY, FOLLOWING, RESOLVING, MAKING_DIR, FAIL), RARELY(REPLY, CREATING), RARELY(ENTRY, ENDED)),
ROW(MAKING_DIR, evzk__chubby_make_dir,   evzk__chubby_dir_made,   ASIDE,     ENDED,   ENDED,    RETRY,
    ON(REPLY, CREATING, FAIL)),
ROW(RESOLVING,  evzk__chubby_resolve,    evzk__chubby_resolved,   ASIDE,     ENDED,   ENDED,    RETRY|SIGHTS,
    ON(REPLY, CREATING, FOLLOWING), RARELY(REPLY, FAIL)),
ROW(FOLLOWING,  follow,                  followed,                OPEN,      ENDED,   ENDED,    RETRY,
    ON(USER_EVENT, OPEN, CREATING, FAIL, HERE), RARELY(REPLY, FOLLOWING)),
ROW(OPEN,       open,                    opened,                  CLOSING,   ENDED,   ENDED,    RETRY|HOLDS,
    ON(USER_EVENT, CLOSING, HERE)),
ROW(CLOSING,    close,                   closed,                  ENDED,     ENDED,   ENDED,    RETRY,
    ON(USER_EVENT, ENDED, HERE)),
END(ENDED,      end),
};
/* clang-format on */

const struct evzk__kind evzk__chubby_kind = {.name = "chubby",
                                             .rows = rows,
                                             .n_rows = STATES,
                                             .on_deadline = on_deadline,
                                             .on_stop =
                                                 evzk__machine_stop_at_once,
                                             .destroy = evzk__chubby_destroy,
                                             .detach = detach};
