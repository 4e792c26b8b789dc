/* The lock of a handle, as its files and the handle know it.
 *
 *   chubby/lock.c        the lock in its queue
 *   chubby/marks.c       the marks of the lock-delay
 *   chubby/lock_table.c  the table
 */
#ifndef EVZK_CHUBBY_LOCK_H
#define EVZK_CHUBBY_LOCK_H

#include "evzk/lock.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"
#include "recipes/chubby/names.h"

struct evzk_chubby;
struct evzk__chubby_op;

/* As in the table. */
enum evzk__chubby_lock_state {
    EVZK__LOCK_WAITING,
    EVZK__LOCK_LOOKING,
    EVZK__LOCK_DELAYED,
    EVZK__LOCK_MARKING,
    EVZK__LOCK_HELD,
    EVZK__LOCK_UNMARKING,
    EVZK__LOCK_LEAVING,
    EVZK__LOCK_ENDED,
    EVZK__LOCK_STATES
};

/* Marks of holders that are no more, each with the time since when it is known.
 */
enum { EVZK__CHUBBY_OLD_MAX = 16 };
struct evzk__old_marks {
    unsigned n;
    struct evzk__old_mark {
        char name[EVZK__CHUBBY_MARK_MAX];
        int64_t until_us;
        bool stays; /* Somebody's znode is below it: it cannot be deleted. */
    } v[EVZK__CHUBBY_OLD_MAX];
};

/* What becomes of the evzk_lock. */
enum evzk__inner { INNER_NONE, INNER_WAITS, INNER_GRANTED, INNER_OVER };

/* What a lock tells its handle.  ended: nothing is left of it; the handle lets
 * go of it. */
struct evzk__chubby_lock_hooks {
    void (*acquired)(struct evzk_chubby *h);
    void (*lost)(struct evzk_chubby *h, int rc);
    void (*ended)(struct evzk_chubby *h, int rc);
};

struct evzk__chubby_lock {
    struct evzk__machine m; /* Its directory is the lock's. */
    struct evzk_chubby *h;  /* NULL once the handle is done with it. */
    const struct evzk__chubby_lock_hooks *hooks;
    evzk_lock *lock; /* Owned. */
    enum evzk__inner inner;
    int inner_rc;
    bool shared, try_once;
    bool held;        /* The handle was told so. */
    bool lost;        /* And then, that it was lost. */
    bool leaves;      /* Is to be given back, or given up. */
    bool more;        /* There are more old marks than `old` has. */
    bool has_mark;    /* As it was listed last. */
    bool marked;      /* Its mark may exist, and is to go with it. */
    bool mark_stands; /* The lock was given back, and the servers refused to
                         delete its mark. */
    int rc;           /* With which it ends. */
    uint32_t delay_ms;
    struct evzk__timer *wait; /* Owned. */
    int64_t until_us;         /* The lock-delay of others ends then. */
    struct evzk__acl acl;     /* Owned; empty: the session's. */
    char mark[EVZK__CHUBBY_MARK_MAX];
    struct evzk__old_marks *old; /* Owned, while there is a lock; or NULL. */
    struct evzk__chubby_op *release; /* Owned: room for a release. */
    struct evzk__step step[EVZK__CHUBBY_OLD_MAX + 2];
};

static inline struct evzk__chubby_lock *
evzk__chubby_lock_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk__chubby_lock, m);
}

/* ---- chubby/lock.c ---- */

void evzk__chubby_lock_acquire(struct evzk__machine *m);
int evzk__chubby_lock_waited(struct evzk__machine *m,
                             const struct evzk__event *e);
void evzk__chubby_lock_hold(struct evzk__machine *m);
int evzk__chubby_lock_still_held(struct evzk__machine *m,
                                 const struct evzk__event *e);
void evzk__chubby_lock_give_back(struct evzk__machine *m);
int evzk__chubby_lock_given_back(struct evzk__machine *m,
                                 const struct evzk__event *e);
/* The lock ends, with `rc`; or with the reason for which it ends already.
 * Returns what a reaction returns. */
int evzk__chubby_lock_go(struct evzk__chubby_lock *l, int rc);

/* Gives it back, or up. */
void evzk__chubby_lock_leave(struct evzk__chubby_lock *l);
/* The handle is done with it: it is given back in the background. */
void evzk__chubby_lock_drop(struct evzk__chubby_lock *l);
/* Surely held, and not given back. */
bool evzk__chubby_lock_held(const struct evzk__chubby_lock *l);

/* ---- chubby/marks.c ---- */

void evzk__chubby_marks_look(struct evzk__machine *m);
int evzk__chubby_marks_looked(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__chubby_marks_delay(struct evzk__machine *m);
int evzk__chubby_marks_delayed(struct evzk__machine *m,
                               const struct evzk__event *e);
void evzk__chubby_marks_mark(struct evzk__machine *m);
int evzk__chubby_marks_marked(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__chubby_marks_unmark(struct evzk__machine *m);
int evzk__chubby_marks_unmarked(struct evzk__machine *m,
                                const struct evzk__event *e);
/* The timer of the lock: its delay is over. */
void evzk__chubby_marks_go_on(void *lock);

/* ---- chubby/lock_table.c ---- */

/* Begins to acquire the lock of the handle.  EVZK_OK, or EVZK_ERR_NOMEM. */
int evzk__chubby_lock_begin(struct evzk_chubby *h,
                            const struct evzk__chubby_lock_hooks *hooks,
                            bool shared, bool try_once,
                            struct evzk__chubby_lock **out);

#endif
