/* The states of locks and elections, and what the files share in which they are
 * written.  No two of these files use each other: a file uses those above it in
 * this header.  The tables are in lock/lock.c and election/table.c. */
#ifndef EVZK_LOCK_STATES_H
#define EVZK_LOCK_STATES_H

#include "lib/base/order.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"

/* The rows of a lock and of an election have the same numbers as far as both
 * have them: what they share is written once. */
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

/* The others of a lock. */
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

/* The others of an election. */
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

/* Tells of what somebody has written to its own znode, each time once. */
enum evzk__heard {
    EVZK__HEARD_NOTHING, /* Or a wish that it lets go, which was told. */
    EVZK__HEARD_PASSED,  /* Its own data once more: another came before it. */
    EVZK__HEARD_STOP     /* The application wants no more of the lock. */
};
enum evzk__heard evzk__lock_hear(struct evzk_lock *l,
                                 const struct evzk__first *own);

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

/* The same for those that wait in the room: the two rows in which a lock waits;
 * a look at an ordered listing; the order that a listing shows (false: the lock
 * has moved on account of it, or fails with *rc); waits for this contender,
 * which is `ours` too when it is of our own session: that one tells us itself
 * when it leaves, and a watch is set on it all the same. */
struct evzk__waiting {
    int list, watch;
};
int evzk__lock_look_by(struct evzk_lock *l, const struct evzk__result *list,
                       int (*look)(struct evzk_lock *l,
                                   const struct evzk__result *list));
bool evzk__lock_read_order(struct evzk_lock *l, const struct evzk__waiting *in,
                           const struct evzk__result *list,
                           struct evzk__stand *stand, int *rc);
int evzk__lock_await(struct evzk_lock *l, const struct evzk__waiting *in,
                     const char *pred, struct evzk__machine *ours);

/* What was read of its own znode while it waits.  True: it goes on waiting;
 * false: it has moved, or fails with *rc. */
bool evzk__lock_own_read(struct evzk_lock *l, const struct evzk__reply *reply,
                         enum evzk__heard *heard, int *rc);

/* A server has told of the end of another's znode. */
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

/* What a listing shows of a create whose outcome is unknown: `own`, the name
 * that it was to have, becomes the name that it has. */
enum evzk__found {
    EVZK__FOUND,
    EVZK__FOUND_NONE, /* It was not done. */
    EVZK__FIND_LATER, /* A patient lock may not list: it tries again. */
    EVZK__FIND_FAILED /* With evzk__lock_find_error(). */
};
enum evzk__found evzk__lock_find(struct evzk_lock *l, char *own,
                                 const struct evzk__reply *reply);
int evzk__lock_find_error(const struct evzk__reply *reply);

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

/* `held`: the row beside which it is. */
int evzk__lock_verified(struct evzk__machine *m, const struct evzk__event *e,
                        int held);

/* To HELD, or to VERIFYING if there is something to be verified. */
int evzk__lock_go_on(struct evzk_lock *l);

/* What is told in every row in which it is held: of the session; when its own
 * znode was read, and is there; and when it is not there, or was not read. */
int evzk__lock_doubt(struct evzk_lock *l, const struct evzk__event *e);
void evzk__lock_own_there(struct evzk_lock *l, const struct evzk__first *stat);
int evzk__lock_own_not_there(struct evzk_lock *l, enum evzk__own own, int rc);

/* The same of an answer.  False: it is not there, or wants no more of it; then
 * *rc is what the reaction returns. */
bool evzk__lock_see_own(struct evzk_lock *l, const struct evzk__reply *reply,
                        int *rc);

/* The reaction of a row that reads the own znode before `next`. */
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

/* A downgrade of unknown outcome: exchanges the name for the other one that its
 * znode may have.  False: it has no other. */
bool evzk__lock_other_name(struct evzk_lock *l);

/* lock/leave.c: DELETING, CHECKING and ENDED; what all kinds of locks have. */
void evzk__lock_drop(struct evzk__machine *m);
void evzk__lock_drop_with(struct evzk__machine *m, const char *also);
int evzk__lock_dropped(struct evzk__machine *m, const struct evzk__event *e);
int evzk__lock_checked(struct evzk__machine *m, const struct evzk__event *e);
void evzk__lock_end(struct evzk__machine *m);
void evzk__lock_late(struct evzk__machine *m);

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
