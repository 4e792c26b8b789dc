/* What the files share that ask the holders of a lock to let go.  The files
 * from the ground up; no file calls one above it:
 *
 *   lock/revoke_targets.c   the znodes in the way
 *   lock/revoke.c           the table, and what happens in its rows
 *   lock/revoke_calls.c     the calls
 */
#ifndef EVZK_LOCK_REVOKE_INTERNAL_H
#define EVZK_LOCK_REVOKE_INTERNAL_H

#include "recipes/lock/lock_internal.h"
#include "recipes/lock/revoke.h"

/* A contender in the way. */
struct evzk__revoke_target {
    int32_t version;
    enum {
        TARGET_THERE,  /* As far as we know; nothing is to be written. */
        TARGET_TO_ASK, /* The same, and its contender is to be asked. */
        TARGET_GONE    /* Or nothing more is to be done. */
    } is : 2;
    bool delete_sent : 1;
    void *data; /* Owned: its own data, to be written again. */
    uint32_t len;
};

struct evzk_lock_revoke {
    struct evzk__machine m;
    evzk_lock_revoke_options opt;
    char *before;    /* Owned; opt's. */
    evzk_revoked *v; /* Owned, names included. */
    struct evzk__revoke_target *target;
    char **names;           /* Owned array: the znodes to be read. */
    struct evzk__step *set; /* Owned array. */
    uint32_t *index; /* Owned array: which target each name, or set, is for. */
    uint32_t n, at;  /* `at`: the target waited for, or removed. */
    bool notify;     /* Only notifies: see evzk__lock_notify(). */
    bool read_again; /* An answer was lost, or came too late. */
    bool grace_runs;
    int failed;
    struct evzk__timer *grace; /* NULL: removes no znode. */
    evzk_lock_revoke_cb *cb;
    void *arg;
};

static inline struct evzk_lock_revoke *evzk__revoke_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_lock_revoke, m);
}

/* Makes room for so many targets.  0 or EVZK_ERR_NOMEM. */
int evzk__revoke_room(struct evzk_lock_revoke *r, size_t n);

/* Adds a target; there is room for it.  0 or EVZK_ERR_NOMEM. */
int evzk__revoke_add(struct evzk_lock_revoke *r, const char *name);

/* Takes from a listing the contenders that are in the way, in their order.  0
 * or EVZK_ERR_NOMEM. */
int evzk__revoke_choose(struct evzk_lock_revoke *r,
                        const struct evzk__names *names);

/* Frees all targets. */
void evzk__revoke_clear(struct evzk_lock_revoke *r);

#endif
