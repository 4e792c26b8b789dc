/* A lock, as its states (lock/states.h) and its calls (lock/calls.c) know it.
 */
#ifndef EVZK_LOCK_OWN_H
#define EVZK_LOCK_OWN_H

#include "evzk/lock.h"
#include "lib/base/acl.h"
#include "lib/machine/machine.h"

enum { OWN_MAX = EVZK__GUID_LEN + sizeof "-write-" + 11 };

/* Contenders in the queue have the marks of evzk_lock_mode; those that wait by
 * priority have others. */
enum { LOCK_PRIO = EVZK_LOCK_READ }; /* Added to WRITE and READ. */
enum { LOCK_STANDS = EVZK_LOCK_READ + LOCK_PRIO + 1 }; /* In an election. */

/* Events besides those of evzk_lock_event, for elections.  ANNOUNCED: the
 * leader znode exists, or was refused.  PLACED: the candidate's own znode
 * exists.  BEHIND: a patient candidate knows the contender before it, or why it
 * does not.
 *
 * For a recipe that has set `tells_gone`.  GONE: the work on the server is
 * over, that an end which was told early has left. */
enum {
    LOCK_ANNOUNCED = EVZK_LOCK_FAILED + 1,
    LOCK_PLACED,
    LOCK_BEHIND,
    LOCK_GONE
};

/* A candidate's leader znode. */
struct leader_znode {
    void *text; /* Owned: its data; or NULL. */
    uint32_t len;
    int32_t seen_on; /* The connection in which it was made, or seen; -1. */
    int64_t czxid;   /* 0: not known. */
    enum {
        LEADER_NONE,    /* Never asked for, or not the candidate's own. */
        LEADER_UNKNOWN, /* The create was not answered: it may exist later. */
        LEADER_ANSWERED /* May exist. */
    } is;
};

/* The caller's options for this lock alone, and data that only some locks need.
 */
struct given {
    struct evzk__acl acl;
    void *data; /* Owned; NULL: the session's. */
    uint32_t len;
    bool has_priority;
    bool own_checked;   /* Its own znode was checked before the delete. */
    bool own_was_there; /* Its own watch was set on its own znode. */
    int8_t entry_rc;    /* Why it gave up before it knew whether it is in the
                         * queue; or EVZK_OK. */
    bool told_passed;   /* Contenders that it has passed were told. */
    bool may_not_press; /* Has no right to ask less urgent contenders. */
    evzk_lock_priority priority;
    evzk_lock_revoke *press; /* Owned: asks them; or NULL. */
    struct evzk__swap swap;
    enum {
        SWAP_NOT_DONE, /* The lock has the znode with which it came. */
        SWAP_SENT,     /* Perhaps it has: `name` is the other one. */
        SWAP_DOUBTED,  /* Perhaps it has a read lock's: `name` as above. */
        SWAP_DONE      /* Its znode was replaced by a read lock's. */
    } downgrade : 2;   /* See lock/downgrade.c. */
    uint64_t czxid;    /* Of the znode, when it was swapped; 0: not known. */
    int refused;       /* Why the change was refused. */
    char name[EVZK__NAME_MAX]; /* Its next name, or its last one. */
    evzk_lease *lease;         /* With a reference; NULL: never asked for. */
    struct leader_znode leader;
};

/* The znode that an election's leader makes beside its own. */
#define EVZK__LEADER "leader"

struct evzk_election;

/* Options of a lock. */
enum evzk__lock_option {
    LOCK_TRY_ONCE = 1,      /* Does not wait. */
    LOCK_WATCHES_OWN = 2,   /* Watches its own znode ... */
    LOCK_WATCHES_EARLY = 4, /* ... before it has stayed in a row. */
    LOCK_TOLERANT = 8,      /* Ignores the contenders of other libraries. */
    LOCK_PATIENT = 16       /* See lock/patient.c. */
};

/* The lock's report to its user; a later value is never followed by an earlier
 * one. */
enum evzk__lock_report {
    REPORTED_NOTHING,
    REPORTED_FAILED, /* FAILED was told, ahead of the end. */
    REPORTED_GRANTED,
    REPORTED_LEADING, /* LEADING was told, of a candidate. */
    REPORTED_RELEASE, /* The user has released it: RELEASED is to be told. */
    REPORTED_LOST     /* LOST was told, ahead of the end. */
};

/* The lock's place in the queue, as far as the lock knows. */
enum evzk__lock_position {
    POSITION_NONE,
    POSITION_BROKEN, /* Somebody has deleted the znode that the lock had. */
    POSITION_KNOWN,  /* `token` is the czxid of the lock's znode. */
    POSITION_SECOND  /* The same; when `pred` has gone, the lock is first. */
};

/* Does a patient lock know who owns `pred`?  See lock/patient.c. */
enum evzk__lock_whose {
    WHOSE_KNOWN, /* Or the lock is not patient. */
    WHOSE_ASKED, /* The lock asks, once the watch on `pred` is set. */
    WHOSE_BARRED /* The lock asks at once: `pred` may not be read. */
};

/* The flags are bits, since there are a hundred thousand locks.  None of them
 * says what the lock does next: that is its state. */
struct evzk_lock {
    struct evzk__machine m;
    uint8_t mode : 3;      /* evzk_lock_mode, or LOCK_STANDS. */
    uint8_t options : 5;   /* enum evzk__lock_option */
    uint8_t reported : 3;  /* enum evzk__lock_report */
    uint8_t position : 2;  /* enum evzk__lock_position */
    uint8_t whose : 2;     /* enum evzk__lock_whose */
    bool user_asked : 1;   /* The user has asked for a downgrade, or, of a
                              candidate, to say that it leads; not done yet. */
    bool own_hidden : 1;   /* Its own znode may not be read. */
    bool pred_unowned : 1; /* No session owns `pred`. */
    bool unowned_said : 1; /* The log has said so. */
    bool watch_anew : 1;   /* The watches are to be set once more. */
    bool tells_gone : 1;   /* LOCK_GONE is to be told. */
    bool may_stand : 1;    /* Was asked for or is to be deleted, and no server
                              has said that it is gone. */
    uint8_t dialect : 2;   /* evzk_dialect */
    int32_t seen;          /* The version of its own data that was read last. */
    char *pred;            /* Owned: the znode for which it waits. */
    uint64_t token;
    struct given *given; /* Owned; NULL: the session's options. */
    evzk_lock_cb *cb;    /* NULL once the caller freed us. */
    void *arg;
    char own[]; /* Our znode; while not known, its prefix. */
};

static inline bool evzk__lock_is(const struct evzk_lock *l,
                                 enum evzk__lock_option option)
{
    return l->options & (unsigned)option;
}

/* GRANTED was told, whatever came after. */
static inline bool evzk__lock_granted(const struct evzk_lock *l)
{
    return l->reported >= REPORTED_GRANTED;
}

/* Its znode was changed for one that reads, for all that it knows. */
static inline bool evzk__lock_swapped(const struct evzk_lock *l)
{
    return l->given && l->given->downgrade >= SWAP_DOUBTED;
}

static inline bool evzk__lock_stands(const struct evzk_lock *l)
{
    return l->mode == LOCK_STANDS;
}

static inline struct evzk_lock *lock_of(struct evzk__machine *m)
{
    return evzk__container_of(m, struct evzk_lock, m);
}

/* lock/dialect.c: the marks of evzk's own names; those of all dialects; those
 * of a lock's own dialect and family. */
extern const struct evzk__mark evzk__lock_marks[];
extern const struct evzk__mark evzk__lock_all_marks[];
const struct evzk__mark *evzk__lock_marks_of(const struct evzk_lock *l);

/* lock/dialect.c: the marks of all names of a dialect. */
const struct evzk__mark *evzk__lock_marks_for(evzk_dialect dialect);

/* lock/dialect.c: the marks by which a directory is to be read, for what is no
 * contender there: evzk's if any name has them, else those of the library that
 * has most. */
const struct evzk__mark *evzk__lock_marks_in(const struct evzk__names *names);

/* lock/calls.c: evzk_lock_acquire(), for a lock or for an election. */
int evzk__lock_begin(evzk_session *s, const struct evzk__kind *kind,
                     const char *path, const evzk_lock_options *opt,
                     evzk_lock_cb *cb, void *arg, evzk_lock **out);

/* election.c: evzk_election_acknowledge(). */
int evzk__election_say(evzk_lock *l, const char *function, const void *data,
                       size_t len);

/* The mode of a contender, by its name. */
evzk_lock_mode evzk__lock_mode_named(const struct evzk__contender *c);

/* lock/dialect.c: a fresh name with one of the marks, without the number.  0 or
 * EVZK_ERR_INTERNAL. */
int evzk__lock_name(const struct evzk_lock *l, char *out, unsigned mark);

/* election.c: the lock that an election is built on, for the tests. */
struct evzk_lock *evzk__election_lock(const struct evzk_election *e);

/* Has the lock a priority?  Then its first znode waits by priority. */
static inline bool evzk__lock_urgent(const struct evzk_lock *l)
{
    return l->given && l->given->has_priority;
}

/* lock/priority.c: notifies the contenders that the lock has passed, and asks
 * those in its way to let go.  An error: the lock is to look again in a while.
 */
int evzk__lock_look_round(struct evzk_lock *l,
                          const struct evzk__ordered *ordered);

/* lock/patient.c: looks again at the contender before the lock. */
void evzk__lock_try_again(struct evzk_lock *l);

/* Stops asking others to let go: none is in the lock's way any more, or the
 * lock ends. */
void evzk__lock_stop_revoking(struct evzk_lock *l);

/* lock/calls.c: evzk_lock_lease(), as `function`; NULL has none. */
int evzk__lock_lease(struct evzk_lock *l, const char *function,
                     evzk_lease **out);

/* lock/common.c: ends the lock's lease for other threads, if there is one. */
void evzk__lock_over(struct evzk__machine *m);

/* lock/leave.c: what it may have left when it has ended. */
bool evzk__lock_left(struct evzk__machine *m, unsigned i,
                     struct evzk__left *out);

/* lock/leave.c: how long a contender's name is without its number, which may be
 * missing. */
size_t evzk__lock_prefix(const struct evzk_lock *l, const char *name);

void evzk__lock_destroy(struct evzk__machine *m);

#endif
