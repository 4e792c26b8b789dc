/* The states of a lock, and what the files share in which they are written.
 * No two of these files use each other: a file uses those above it in this
 * header.  The table is in lock.c. */
#ifndef EVZK_LOCK_STATES_H
#define EVZK_LOCK_STATES_H

#include "lib/base/order.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"

enum {
    CREATING,
    MAKING_PARENTS,
    RESOLVING,
    ADOPTING,
    LISTING,
    WATCHING,
    CONFIRMING,
    HELD,
    ENTERING,
    SWAPPING,
    ANNOUNCING,
    LEADING,
    FORGETTING,
    CHECKING_SWAP,
    CHECKING,
    SETTLING_LEADER,
    CHECKING_LEADER,
    DELETING,
    ENDED,
    STATES
};

/* lock/common.c */

/* May free the lock: touch nothing after. */
void evzk__lock_tell(struct evzk_lock *l, evzk_lock_event ev, int rc);
void evzk__lock_tell_end(struct evzk_lock *l, int rc);

/* Reports the end now; what is left to do on the server goes on. */
void evzk__lock_end_early(struct evzk_lock *l, int rc);

/* What every state does in which the lock is held: the lock is in doubt; it is
 * held no longer; its znode has gone. */
void evzk__lock_suspend(struct evzk_lock *l);
int evzk__lock_lose(struct evzk_lock *l, int rc);
int evzk__lock_break(struct evzk_lock *l);

/* What its znodes are made with. */
struct evzk__create_args evzk__lock_args(struct evzk_lock *l);

/* Asks for the znode given->name in the place of its own. */
void evzk__lock_swap(struct evzk_lock *l, bool numbered);

/* lock/own_node.c, and FORGETTING */

/* Reads the own znode, with a watch where that may be set. */
void evzk__lock_read_own(struct evzk__machine *m);

/* Looks at it by exists. */
void evzk__lock_check(struct evzk__machine *m);

/* What that read, or an exists, has shown. */
enum evzk__own {
    EVZK__OWN_THERE,
    EVZK__OWN_GONE,   /* Or another's is there under its name. */
    EVZK__OWN_HIDDEN, /* It may not be read: read_own() looks at it next. */
    EVZK__OWN_UNKNOWN /* The answer is another error. */
};
enum evzk__own evzk__lock_verify(struct evzk_lock *l, int rc,
                                 const struct evzk__first *stat);

/* Is its own znode there, for all that a watch on that has told? */
bool evzk__lock_watches_own(const struct evzk_lock *l);

/* Is a watch on its own znode worth setting now? */
bool evzk__lock_wants_own_watch(const struct evzk_lock *l);

/* The znode before ours was read: if that one should be of our session too,
 * notes whether it is. */
void evzk__lock_verify_before(struct evzk__machine *m,
                              const struct evzk__stat *stat);

/* Tells of what somebody has written to our znode, each time once.  False: the
 * application wants no more of the lock. */
bool evzk__lock_hear(struct evzk_lock *l, const struct evzk__first *own);

/* The znode was created, or found: it is a place in the queue. */
void evzk__lock_take_place(struct evzk_lock *l, uint64_t czxid);

/* Our znode is gone, and we held nothing: to the end of the queue. */
int evzk__lock_lose_place(struct evzk_lock *l);

void evzk__lock_forget_own(struct evzk__machine *m);
int evzk__lock_forgotten(struct evzk__machine *m, const struct evzk__event *e);

/* lock/patient.c: a lock that may not list waits; whose is the znode before its
 * own, and is that to be asked now? */
int evzk__lock_list_denied(struct evzk_lock *l);
int evzk__lock_ask_whose(struct evzk_lock *l, int rc);
bool evzk__lock_asks_whose(const struct evzk_lock *l);
int evzk__lock_told_whose(struct evzk_lock *l, const struct evzk__reply *reply);

/* lock/wait.c: LISTING, WATCHING and CONFIRMING */
void evzk__lock_list(struct evzk__machine *m);
int evzk__lock_listed(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_watch(struct evzk__machine *m);
int evzk__lock_watched(struct evzk__machine *m, const struct evzk__event *e);
int evzk__lock_confirmed(struct evzk__machine *m, const struct evzk__event *e);

/* Who is before us?  Of a listing; and of our own alone, without one. */
int evzk__lock_look(struct evzk_lock *l, const struct evzk__result *list);
int evzk__lock_look_around(struct evzk_lock *l);

/* lock/enter.c: ENTERING */
void evzk__lock_enter_queue(struct evzk__machine *m);
int evzk__lock_entered(struct evzk__machine *m, const struct evzk__event *e);

/* RESOLVING has shown that the change was not done: the znode in the room is
 * still ours, or was broken. */
int evzk__lock_not_entered(struct evzk_lock *l);

/* RESOLVING fails: what stood in the room may still stand there. */
int evzk__lock_unresolved(struct evzk_lock *l, int rc);

/* lock/place.c: the states from CREATING to ADOPTING */
void evzk__lock_create(struct evzk__machine *m);
int evzk__lock_created(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_make_parents(struct evzk__machine *m);
int evzk__lock_parents_made(struct evzk__machine *m,
                            const struct evzk__event *e);
void evzk__lock_resolve(struct evzk__machine *m);
int evzk__lock_resolved(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_adopt(struct evzk__machine *m);
int evzk__lock_adopted(struct evzk__machine *m, const struct evzk__event *e);

/* lock/downgrade.c: SWAPPING and CHECKING_SWAP */
void evzk__lock_become_reader(struct evzk__machine *m);
int evzk__lock_became_reader(struct evzk__machine *m,
                             const struct evzk__event *e);
int evzk__lock_checked_swap(struct evzk__machine *m,
                            const struct evzk__event *e);

/* The znode was not changed: the old one is still ours, or was broken. */
void evzk__lock_take_back(struct evzk_lock *l);

/* A downgrade of unknown outcome: exchanges the name for the other one that its
 * znode may have.  False: it has no other. */
bool evzk__lock_other_name(struct evzk_lock *l);

/* lock/held.c: HELD */
void evzk__lock_hold(struct evzk__machine *m);
int evzk__lock_still_held(struct evzk__machine *m, const struct evzk__event *e);

/* lock/leave.c: DELETING, what comes before that, and ENDED */
void evzk__lock_drop(struct evzk__machine *m);
int evzk__lock_dropped(struct evzk__machine *m, const struct evzk__event *e);
int evzk__lock_checked(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_settle_leader(struct evzk__machine *m);
int evzk__lock_settled_leader(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__lock_check_leader(struct evzk__machine *m);
int evzk__lock_checked_leader(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__lock_end(struct evzk__machine *m);

/* election/announce.c: ANNOUNCING */
void evzk__lock_announce(struct evzk__machine *m);
int evzk__lock_announced(struct evzk__machine *m, const struct evzk__event *e);

#endif
