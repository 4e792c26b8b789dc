/* A lock, as its states (lock/states.h) and its calls (lock/calls.c) know it.
 */
#ifndef EVZK_LOCK_OWN_H
#define EVZK_LOCK_OWN_H

#include "evzk/lock.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

enum { OWN_MAX = EVZK__GUID_LEN + sizeof "-write-" + 11 };

/* Marks of those in the queue are evzk_lock_mode's; in the room others. */
enum { LOCK_ROOM = EVZK_LOCK_READ }; /* Added to WRITE and READ. */
enum { LOCK_STANDS = EVZK_LOCK_READ + LOCK_ROOM + 1 }; /* In an election. */

/* Told like the events of evzk_lock_event, of one that stands in an election:
 * its leader znode stands, or was refused; its own znode is there; of a
 * patient one, that it knows who is before it, or why it does not. */
enum { LOCK_ANNOUNCED = EVZK_LOCK_FAILED + 1, LOCK_PLACED, LOCK_BEHIND };

/* Of one that stands in an election: its leader znode. */
struct leader_znode {
    void *text; /* Owned: what it says; or NULL. */
    uint32_t len;
    int32_t seen_on; /* The connection by which it was made, or seen; -1. */
    int64_t czxid;   /* 0: not known. */
    enum {
        LEADER_NONE,    /* It was never asked for, or is not its own. */
        LEADER_UNKNOWN, /* Its create was not answered: it may come yet. */
        LEADER_ANSWERED /* It may be there. */
    } is;
};

/* What the caller gave for this lock alone, and what only some locks need. */
struct given {
    struct evzk__acl acl;
    void *data; /* Owned; NULL: the session's. */
    uint32_t len;
    bool urgent;    /* It has a priority. */
    bool checked;   /* Its znode was looked at as it leaves. */
    bool watched;   /* What was read when its watch was set was its own. */
    bool arrived;   /* Those that it has come before in the room know. */
    uint8_t failed; /* So often those less urgent could not be asked. */
    evzk_lock_priority priority;
    evzk_lock_revoke *press; /* Owned: they are asked; or NULL. */
    struct evzk__swap swap;
    bool swapped;   /* Its znode was changed for one that reads. */
    bool either;    /* That may have been done, or not: see lock/downgrade.c. */
    uint64_t czxid; /* Of the znode, when it was swapped; 0: not known. */
    int refused;    /* Why it may not have been. */
    char name[EVZK__NAME_MAX]; /* That it is to have, or had. */
    evzk_lease *lease; /* With a reference; NULL: nobody asked for one. */
    struct leader_znode leader;
};

/* What an election's leader makes beside its own znode. */
#define EVZK__LEADER "leader"

struct evzk_election;

/* The flags are bits, since there are a hundred thousand locks.  None of them
 * says what the lock does next: that is its state.  They are of five kinds:
 * what the lock was asked to be; what its user was told; what its user wants;
 * what is known of its own znode; and of the znode for which it waits. */
struct evzk_lock {
    struct evzk__machine m;
    uint8_t mode : 2;  /* evzk_lock_mode: an index of evzk__lock_marks. */
    bool stands : 1;   /* In an election. */
    bool try_once : 1; /* It does not wait. */
    bool watch_own : 1, eager : 1; /* Its own znode; at once. */
    bool tolerant : 1; /* Other libraries' contenders are nothing to it. */
    bool patient : 1;  /* See lock/patient.c. */

    bool granted : 1, suspended : 1, leads : 1;
    bool told : 1; /* The final event, ahead of the end. */

    bool released : 1; /* The end of what was granted. */
    bool asked : 1;    /* To become a read lock, or to say that it leads. */

    bool known : 1;  /* It is the lock's place: the czxid is `token`. */
    bool broken : 1; /* The last place was lost to somebody's delete. */
    bool blind : 1;  /* It may not be read: not even by its owner. */

    bool second : 1; /* When `pred` has gone, the lock is first. */
    bool looks : 1, barred : 1, unowned : 1, anew : 1; /* lock/patient.c */
    int32_t seen; /* The version of its own data that was read last. */
    char *pred;   /* Owned: the znode for which it waits. */
    uint64_t token;
    struct given *given; /* Owned; NULL: the session's serve. */
    evzk_lock_cb *cb;    /* NULL once the caller freed us. */
    void *arg;
    char own[]; /* Our znode; while not known, its prefix. */
};

static inline struct evzk_lock *lock_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_lock, m);
}

extern const struct evzk__mark evzk__lock_marks[];

/* lock/calls.c: evzk_lock_acquire(), for a lock or for an election. */
int evzk__lock_begin(evzk_session *s, const struct evzk__kind *kind,
                     const char *path, const evzk_lock_options *opt,
                     evzk_lock_cb *cb, void *arg, evzk_lock **out);

/* election.c: evzk_election_acknowledge(). */
int evzk__election_say(evzk_lock *l, const char *function, const void *data,
                       size_t len);

/* The mode of one whose name was read by them. */
evzk_lock_mode evzk__lock_mode_named(const struct evzk__contender *c);

/* A fresh name with one of the marks, but for its number.  0 or
 * EVZK_ERR_INTERNAL. */
int evzk__lock_name(const struct evzk_lock *l, char *out, unsigned mark);

/* election.c: what it is at bottom, for the tests. */
struct evzk_lock *evzk__election_lock(const struct evzk_election *e);

/* Has it a priority?  Then its first znode is in the room. */
static inline bool evzk__lock_urgent(const struct evzk_lock *l)
{
    return l->given && l->given->urgent;
}

/* lock/priority.c: tells those that it has come before, and those in its way.
 * 0, or an error: then it is to look again in a while. */
int evzk__lock_look_round(struct evzk_lock *l, const struct evzk__roll *roll);

/* lock/patient.c: looks again at who is before it. */
void evzk__lock_try_again(struct evzk_lock *l);

/* Nobody is in its way any more, or it wants no more of it. */
void evzk__lock_calm(struct evzk_lock *l);

/* lock/calls.c: evzk_lock_lease(), as `function`; NULL has none. */
int evzk__lock_lease(struct evzk_lock *l, const char *function,
                     evzk_lease **out);

/* lock/common.c: its lease, if there is one, says no from now on. */
void evzk__lock_over(struct evzk__machine *m);

void evzk__lock_destroy(struct evzk__machine *m);

#endif
