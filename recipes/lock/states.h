/* The states of locks and elections, and the functions that their files share.
 * No two of these files use each other: a file uses those above it in this
 * header.  The tables are in lock/lock.c and election/table.c. */
#ifndef EVZK_LOCK_STATES_H
#define EVZK_LOCK_STATES_H

#include "lib/base/order.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"

/* States that a lock and an election share have the same number in both tables,
 * and are written once. */
enum {
    CREATING,
    MAKING_PARENTS,
    RESOLVING,
    ADOPTING,
    LISTING,
    WATCHING,
    CONFIRMING,
    FORGETTING,
    HELD,
    VERIFYING,
    CHECKING,
    DELETING,
    CONTENDER_STATES,
    ELECTED = HELD /* Of an election. */
};

/* States of a lock only. */
enum {
    PRIO_LISTING = CONTENDER_STATES,
    PRIO_WATCHING,
    PRIO_CONFIRMING,
    READING_OWN,
    ENTERING,
    RESOLVING_ENTRY,
    ADOPTING_ENTRY,
    CHECKING_WRITER,
    SWAPPING,
    SWAPPING_AGAIN,
    CHECKING_SWAP,
    CHECKING_READER,
    LOCK_ENDED,
    LOCK_STATES
};

/* States of an election only. */
enum {
    CHECKING_ELECTED = CONTENDER_STATES,
    ANNOUNCING,
    CHECKING_RIVAL,
    REPLACING,
    LEADING,
    VERIFYING_LEADER,
    CHECKING_LEADING,
    REANNOUNCING,
    SETTLING_LEADER,
    CHECKING_LEADER,
    ELECTION_ENDED,
    ELECTION_STATES
};

/* lock/common.c */

/* May free the lock: touch nothing after. */
void evzk__lock_tell(struct evzk_lock *l, evzk_lock_event ev, int rc);
void evzk__lock_tell_end(struct evzk_lock *l, int rc);

/* Reports the end now; the work on the server goes on. */
void evzk__lock_end_early(struct evzk_lock *l, int rc);

/* For every state in which the lock is held.  suspend: the lock is in doubt;
 * lose: the lock is not held any more; break: its znode is gone. */
void evzk__lock_suspend(struct evzk_lock *l, bool first);
int evzk__lock_lose(struct evzk_lock *l, int rc);
int evzk__lock_break(struct evzk_lock *l);

/* The data and the ACL of the lock's znodes. */
struct evzk__create_args evzk__lock_args(struct evzk_lock *l);

/* Asks to replace the lock's own znode by given->name. */
void evzk__lock_swap(struct evzk_lock *l, bool numbered);

/* lock/own_node.c, and FORGETTING */

/* Reads the own znode, with a watch where that may be set. */
void evzk__lock_read_own(struct evzk__machine *m);

/* The own znode was not to be read, and nothing has told that it may be now. */
bool evzk__lock_own_hidden(const struct evzk_lock *l);

/* Checks the own znode by exists. */
void evzk__lock_check(struct evzk__machine *m);

/* The result of that read, or of an exists. */
enum evzk__own {
    EVZK__OWN_THERE,
    EVZK__OWN_GONE,   /* Or replaced by another client's. */
    EVZK__OWN_HIDDEN, /* May not be read: read_own() uses exists next. */
    EVZK__OWN_UNKNOWN /* The answer is another error. */
};
enum evzk__own evzk__lock_verify(struct evzk_lock *l, int rc,
                                 const struct evzk__first *stat);

/* Does the lock's own znode exist, and is its watch set and silent? */
bool evzk__lock_watches_own(const struct evzk_lock *l);

/* Is a watch on its own znode worth setting now? */
bool evzk__lock_wants_own_watch(const struct evzk_lock *l);

/* The znode before the lock's own was read: if a contender of our session
 * should own it, notes whether it does. */
void evzk__lock_verify_before(struct evzk__machine *m,
                              const struct evzk__stat *stat);

/* Handles new data in the lock's own znode, each version once. */
enum evzk__heard {
    EVZK__HEARD_NOTHING, /* Or a request to let go, which was told. */
    EVZK__HEARD_PASSED,  /* A notification: a contender came before it. */
    EVZK__HEARD_STOP     /* The application stopped the lock. */
};
enum evzk__heard evzk__lock_hear(struct evzk_lock *l,
                                 const struct evzk__first *own);

/* The znode was created, or found: the lock has a place in the queue. */
void evzk__lock_take_place(struct evzk_lock *l, uint64_t czxid);

/* The lock's znode is gone, and the lock was not held: queues again, at the
 * end. */
int evzk__lock_lose_place(struct evzk_lock *l);

void evzk__lock_forget_own(struct evzk__machine *m);
int evzk__lock_forgotten(struct evzk__machine *m, const struct evzk__event *e);

/* lock/patient.c: list_denied: a lock that may not list the directory waits.
 * The others find out whether any session owns the znode before the lock's own.
 */
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

/* Which contender is before the lock?  By a listing; or, without one, by what
 * the session knows of its own contenders. */
int evzk__lock_look(struct evzk_lock *l, const struct evzk__result *list);
int evzk__lock_look_around(struct evzk_lock *l);

/* Shared with locks that wait by priority.  `in`: the two rows in which a lock
 * waits.  look_by: looks at an ordered listing.  read_order: reads the order of
 * a listing (false: the lock has moved because of it, or fails with *rc).
 * await: waits for `pred`.  If a contender of our session owns that, it is
 * `ours`: it notifies the lock when it leaves, and a watch is set all the same.
 */
struct evzk__waiting {
    int list, watch;
};
int evzk__lock_look_by(struct evzk_lock *l, const struct evzk__result *list,
                       int (*look)(struct evzk_lock *l,
                                   const struct evzk__result *list));
bool evzk__lock_read_order(struct evzk_lock *l, const struct evzk__waiting *in,
                           const struct evzk__result *list,
                           struct evzk__order *order, int *rc);
int evzk__lock_await(struct evzk_lock *l, const struct evzk__waiting *in,
                     const char *pred, struct evzk__machine *ours);

/* Handles a read of the own znode while the lock waits.  True: the lock goes on
 * waiting; false: it has moved, or fails with *rc. */
bool evzk__lock_own_read(struct evzk_lock *l, const struct evzk__reply *reply,
                         enum evzk__heard *heard, int *rc);

/* A server told the end of another contender's znode. */
void evzk__lock_hear_of_another(struct evzk_lock *l);

/* lock/priority_wait.c: the PRIO rows, and READING_OWN */
int evzk__lock_prio_look(struct evzk_lock *l, const struct evzk__result *list);
int evzk__lock_prio_listed(struct evzk__machine *m,
                           const struct evzk__event *e);
void evzk__lock_prio_watch(struct evzk__machine *m);
int evzk__lock_prio_watched(struct evzk__machine *m,
                            const struct evzk__event *e);
int evzk__lock_prio_confirmed(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__lock_reread_own(struct evzk__machine *m);
int evzk__lock_own_reread(struct evzk__machine *m, const struct evzk__event *e);

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

/* Looks in a listing for a znode whose create has an unknown outcome.  `own` is
 * the name without the number, and gets the number. */
enum evzk__found {
    EVZK__FOUND,
    EVZK__FOUND_NONE,   /* The create was not done. */
    EVZK__FIND_LATER,   /* A patient lock may not list yet. */
    EVZK__FIND_REFUSED, /* Nothing is seen, and nothing is settled. */
    EVZK__FIND_FAILED   /* With the reply's error. */
};
enum evzk__found evzk__lock_find(struct evzk_lock *l, char *own,
                                 const struct evzk__reply *reply);

/* lock/enter.c: ENTERING, RESOLVING_ENTRY and ADOPTING_ENTRY */
void evzk__lock_enter_queue(struct evzk__machine *m);
int evzk__lock_entered(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_resolve_entry(struct evzk__machine *m);
int evzk__lock_resolved_entry(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__lock_adopt_entry(struct evzk__machine *m);
int evzk__lock_adopted_entry(struct evzk__machine *m,
                             const struct evzk__event *e);

/* lock/held.c: HELD and VERIFYING */
void evzk__lock_hold(struct evzk__machine *m);
int evzk__lock_still_held(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_verify_held(struct evzk__machine *m);

/* `held`: the row to go back to. */
int evzk__lock_verified(struct evzk__machine *m, const struct evzk__event *e,
                        int held);

/* To HELD, or to VERIFYING if there is something to be verified. */
int evzk__lock_go_on(struct evzk_lock *l);

/* For every row in which the lock is held.  doubt: handles the session's doubt.
 * own_there: the own znode was read, and exists.  own_not_there: it does not
 * exist, or could not be read. */
int evzk__lock_doubt(struct evzk_lock *l, const struct evzk__event *e);
void evzk__lock_own_there(struct evzk_lock *l, const struct evzk__first *stat);
int evzk__lock_own_not_there(struct evzk_lock *l, enum evzk__own own, int rc);

/* The same two, by the reply to a read.  False: the znode does not exist, or
 * the lock is to stop; then the reaction returns *rc. */
bool evzk__lock_see_own(struct evzk_lock *l, const struct evzk__reply *reply,
                        int *rc);

/* The reaction of a row that reads the own znode, and then goes to `next`. */
int evzk__lock_checked_for(struct evzk__machine *m, const struct evzk__event *e,
                           int next);

/* lock/downgrade.c: CHECKING_WRITER, SWAPPING, SWAPPING_AGAIN, CHECKING_SWAP
 * and CHECKING_READER; and HELD and VERIFYING of what may be asked to become a
 * read lock. */
int evzk__lock_held_or_asked(struct evzk__machine *m,
                             const struct evzk__event *e);
int evzk__lock_verified_or_asked(struct evzk__machine *m,
                                 const struct evzk__event *e);
int evzk__lock_checked_writer(struct evzk__machine *m,
                              const struct evzk__event *e);
void evzk__lock_become_reader(struct evzk__machine *m);
int evzk__lock_became_reader(struct evzk__machine *m,
                             const struct evzk__event *e);
int evzk__lock_checked_swap(struct evzk__machine *m,
                            const struct evzk__event *e);
int evzk__lock_checked_reader(struct evzk__machine *m,
                              const struct evzk__event *e);

/* After a downgrade of unknown outcome: takes the other name that the znode may
 * have.  False: it has no other. */
bool evzk__lock_other_name(struct evzk_lock *l);

/* lock/leave.c: DELETING, CHECKING and ENDED; what all kinds of locks have. */
void evzk__lock_drop(struct evzk__machine *m);
void evzk__lock_drop_with(struct evzk__machine *m, const char *also);
int evzk__lock_dropped(struct evzk__machine *m, const struct evzk__event *e);
int evzk__lock_checked(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_end(struct evzk__machine *m);
void evzk__lock_on_deadline(struct evzk__machine *m);

/* election/announce.c: ELECTED and LEADING, and what is between */
int evzk__election_elected(struct evzk__machine *m,
                           const struct evzk__event *e);
int evzk__election_verified(struct evzk__machine *m,
                            const struct evzk__event *e);
int evzk__election_checked_elected(struct evzk__machine *m,
                                   const struct evzk__event *e);
void evzk__election_announce(struct evzk__machine *m);
int evzk__election_announced(struct evzk__machine *m,
                             const struct evzk__event *e);
int evzk__election_checked_rival(struct evzk__machine *m,
                                 const struct evzk__event *e);
void evzk__election_replace(struct evzk__machine *m);
void evzk__election_lead(struct evzk__machine *m);
int evzk__election_leads(struct evzk__machine *m, const struct evzk__event *e);
int evzk__election_verified_leader(struct evzk__machine *m,
                                   const struct evzk__event *e);
int evzk__election_checked_leading(struct evzk__machine *m,
                                   const struct evzk__event *e);
void evzk__election_reannounce(struct evzk__machine *m);

/* election/resign.c: DELETING, SETTLING_LEADER and CHECKING_LEADER */
void evzk__election_drop(struct evzk__machine *m);
void evzk__election_settle_leader(struct evzk__machine *m);
int evzk__election_settled_leader(struct evzk__machine *m,
                                  const struct evzk__event *e);
void evzk__election_check_leader(struct evzk__machine *m);
int evzk__election_checked_leader(struct evzk__machine *m,
                                  const struct evzk__event *e);

#endif
