/* The lock of a file, with its lock-delay: the table.
 *
 *   WAITING --> LOOKING --> MARKING --> HELD
 *                  |           ^          |
 *                  '-> DELAYED-'          v
 *                                     UNMARKING --> LEAVING --> ENDED
 *
 * WAITING   a lock (recipes/lock) waits in the queue
 * LOOKING   the lock is granted: lists what former holders have left
 * DELAYED   a former holder has ended in an unclean way: waits for its delay
 * MARKING   makes the own mark, and deletes those of former holders
 * UNMARKING the lock is given back: deletes the own mark
 * LEAVING   the lock in the queue goes; once the handle is done with it, in the
 *           background
 *
 * A mark that the servers refused to delete goes in the background, too.
 *
 * The lock in the queue is in chubby/lock.c, the marks in chubby/marks.c.
 */
#include "lib/base/mem.h"
#include "lib/machine/rows.h"
#include "recipes/chubby/chubby_internal.h"
#include "recipes/kinds.h"

enum {
    WAITING = EVZK__LOCK_WAITING,
    LOOKING = EVZK__LOCK_LOOKING,
    DELAYED = EVZK__LOCK_DELAYED,
    MARKING = EVZK__LOCK_MARKING,
    HELD = EVZK__LOCK_HELD,
    UNMARKING = EVZK__LOCK_UNMARKING,
    LEAVING = EVZK__LOCK_LEAVING,
    ENDED = EVZK__LOCK_ENDED,
    STATES = EVZK__LOCK_STATES
};

static void end(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);
    struct evzk_chubby *h = l->h;

    if (!h)
        return;
    h->old = l->old;
    l->old = NULL;
    l->hooks->ended(h, m->rc);
}

static void detach(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    evzk__timer_free(l->wait);
    l->wait = NULL;
    evzk_lock_free(l->lock);
    l->lock = NULL;
}

static void destroy(struct evzk__machine *m)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    evzk__timer_free(l->wait);
    evzk__acl_free(&l->acl);
    evzk__free(l->old);
    evzk__free(l->release);
    evzk__free(l);
}

/* A lock that was given back leaves no delay to others.  That of one that was
 * lost stays. */
static bool left(struct evzk__machine *m, unsigned i, struct evzk__left *out)
{
    struct evzk__chubby_lock *l = evzk__chubby_lock_of(m);

    out->name = l->mark_stands ? l->mark : NULL;
    out->stays = true;
    return i == 0;
}

/* clang-format off */
#define LOCK(state, enter, react, ...) \
    ROW(state, evzk__chubby_##enter, evzk__chubby_##react, __VA_ARGS__)
static const struct evzk__row rows[STATES] = {
/*   state      entry           reaction         main       on stop    on expiry flags */
LOCK(WAITING,   lock_acquire,   lock_waited,     LOOKING,   LEAVING,   ENDED,    0,
    ON(USER_EVENT, LOOKING, LEAVING)),
LOCK(LOOKING,   marks_look,     marks_looked,    MARKING,   UNMARKING, ENDED,    RETRY,
    ON(REPLY, DELAYED, MARKING, HELD, UNMARKING, LEAVING)),
LOCK(DELAYED,   marks_delay,    marks_delayed,   ASIDE,     UNMARKING, ENDED,    RETRY,
    ON(USER_EVENT, MARKING, UNMARKING, LEAVING), RARELY(USER_EVENT, HERE)),
LOCK(MARKING,   marks_mark,     marks_marked,    HELD,      UNMARKING, ENDED,    RETRY,
    ON(REPLY, HELD, LOOKING, MARKING, UNMARKING)),
LOCK(HELD,      lock_hold,      lock_still_held, UNMARKING, UNMARKING, ENDED,    RETRY,
    ON(USER_EVENT, UNMARKING, LEAVING, HERE)),
LOCK(UNMARKING, marks_unmark,   marks_unmarked,  LEAVING,   STAY,      ENDED,    RETRY,
    ON(ENTRY, LEAVING),
    ON(REPLY, LEAVING),
    ON(STOP,  LEAVING)),
LOCK(LEAVING,   lock_give_back, lock_given_back, ENDED,     ENDED,     ENDED,    0,
    ON(ENTRY,      ENDED),
    ON(USER_EVENT, ENDED, HERE)),
END(ENDED,      end),
};
#undef LOCK
/* clang-format on */

const struct evzk__kind evzk__chubby_lock_kind = {.name = "chubby-lock",
                                                  .rows = rows,
                                                  .n_rows = STATES,
                                                  .destroy = destroy,
                                                  .detach = detach,
                                                  .left = left};

static int start(struct evzk_chubby *h, struct evzk__chubby_lock *l)
{
    evzk_session *s = evzk__machine_session(&h->m);
    int rc = evzk__acl_copy(&l->acl, h->acl.v, h->acl.n);

    l->release = evzk__chubby_op_new(OP_RELEASE, NULL, 0);
    if (rc == EVZK_OK && !l->release)
        rc = EVZK_ERR_NOMEM;
    if (rc == EVZK_OK) {
        l->wait = evzk__session_timer(s, evzk__chubby_marks_go_on, l);
        rc = l->wait ? EVZK_OK : EVZK_ERR_NOMEM;
    }
    if (rc == EVZK_OK)
        rc = evzk__machine_init(&l->m, s, &evzk__chubby_lock_kind,
                                evzk__machine_path(&h->m), 0);
    if (rc != EVZK_OK)
        destroy(&l->m);
    return rc;
}

int evzk__chubby_lock_begin(struct evzk_chubby *h,
                            const struct evzk__chubby_lock_hooks *hooks,
                            bool shared, bool try_once,
                            struct evzk__chubby_lock **out)
{
    struct evzk__chubby_lock *l = evzk__zalloc(sizeof *l);
    int rc;

    if (!l)
        return EVZK_ERR_NOMEM;
    l->h = h;
    l->hooks = hooks;
    l->shared = shared;
    l->try_once = try_once;
    l->delay_ms = h->delay_ms;
    rc = start(h, l);
    if (rc != EVZK_OK)
        return rc;
    l->old = h->old;
    h->old = NULL;
    *out = l;
    return EVZK_OK;
}
