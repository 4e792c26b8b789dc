/* The recipes that the explorer knows, and their scenes. */
#include "scene_lock.h"

#define COUNT(v) (sizeof(v) / sizeof(v)[0])

/* Which process starts a lock, and when. */
#define AT(process, ms) .proc = (process), .start_ms = (ms)

/* clang-format off */
static const struct lock_scene
one = {
    .plan = {{AT(0, 1), .hold_ms = 20}}},
two = {
    .plan = {{AT(0, 1), .hold_ms = 20}, {AT(1, 2), .hold_ms = 10}},
    .route = {0, 1}},
three = {
    .plan = {{AT(0, 1), .hold_ms = 10}, {AT(1, 2), .hold_ms = 5}, {AT(2, 3)}},
    .route = {0, 1, 2}, .parents = true},
leader = {
    .plan = {{AT(0, 1), .hold_ms = 15}, {AT(1, 1), .hold_ms = 10}},
    .parents = true},
followers = {
    .plan = {{AT(0, 1), .hold_ms = 10}, {AT(1, 1), .hold_ms = 5}, {AT(2, 1)}},
    .route = {1, 2, 1}, .parents = true},
try_once = {
    .plan = {{AT(0, 1), .hold_ms = 40}, {AT(1, 15), .try_once = true}, {AT(1, 70), .try_once = true, .timeout_ms = 2000}},
    .route = {1, 2}, .parents = true},
deadline = {
    .plan = {{AT(0, 1), .hold_ms = 80}, {AT(1, 10), .timeout_ms = 40}, {AT(2, 15), .hold_ms = 5}},
    .route = {0, 1, 2}, .parents = true},
cancel = {
    .plan = {{AT(0, 1), .hold_ms = 60}, {AT(1, 10), .cancel_ms = 20}, {AT(2, 15)}},
    .route = {1, 1, 2}, .parents = true},
at_once = {
    .plan = {{AT(0, 1)}, {AT(1, 1), .free_held = true}, {AT(0, 30), .cancel_ms = 1}},
    .route = {2, 0}},
free_any = {
    .plan = {{AT(0, 1), .hold_ms = 50, .free_held = true}, {AT(1, 10), .free_ms = 20}, {AT(2, 15)}},
    .route = {0, 1, 2}, .parents = true},
no_requeue = {
    .plan = {{AT(0, 1), .hold_ms = 60}, {AT(1, 10), .no_requeue = true}},
    .deed = {{LOCK_EXPIRE, 30, 1}},
    .route = {0, 1}, .parents = true},
requeue = {
    .plan = {{AT(0, 1), .hold_ms = 60}, {AT(1, 10), .hold_ms = 5}, {AT(2, 15), .hold_ms = 5}},
    .deed = {{LOCK_EXPIRE, 30, 1}},
    .route = {0, 1, 2}, .parents = true},
no_own_watch = {
    .plan = {{AT(0, 1), .hold_ms = 20, .no_own_watch = true}, {AT(1, 2), .hold_ms = 10, .no_own_watch = true}},
    .route = {1, 2}, .parents = true},
same_session = {
    .plan = {{AT(0, 1), .hold_ms = 15, .again = true}, {.hold_ms = 5}, {AT(0, 2), .hold_ms = 5}, {AT(1, 3)}},
    .route = {1, 0}},
end_of_numbers = {
    .plan = {{AT(0, 1), .hold_ms = 30}, {AT(1, 10)}, {AT(2, 15)}},
    .route = {0, 1, 2}, .parents = true, .sequence = true, .end = true, .first = INT32_MAX - 1},
wrap = {
    .plan = {{AT(0, 1), .hold_ms = 40}, {AT(1, 10)}, {AT(2, 20), .hold_ms = 5}},
    .route = {0, 1, 2}, .parents = true, .sequence = true, .first = INT32_MAX - 1},
foreign = {
    .plan = {{AT(0, 1), .hold_ms = 10}, {AT(1, 3)}},
    .deed = {{LOCK_CLEAR, 40, 0}},
    .route = {1, 2}, .parents = true, .foreign = true},
chroot_made = {
    .plan = {{AT(0, 1), .hold_ms = 15}, {AT(1, 1)}},
    .route = {0, 1}, .chroot = "/app", .make_chroot = true},
broken_holder = {
    .plan = {{AT(0, 1), .hold_ms = 50}, {AT(1, 10), .hold_ms = 5}},
    .deed = {{LOCK_BREAK, 25, 0}},
    .route = {1, 2}, .parents = true},
broken_waiter = {
    .plan = {{AT(0, 1), .hold_ms = 50}, {AT(1, 10), .hold_ms = 5}, {AT(2, 15), .no_requeue = true}},
    .deed = {{LOCK_BREAK, 30, 1}, {LOCK_BREAK, 35, 2}},
    .route = {0, 1, 2}, .parents = true},
long_hold = {
    .plan = {{AT(0, 1), .hold_ms = 1500}, {AT(1, 10)}},
    .route = {1, 0}, .parents = true},
held_over = {
    .plan = {{AT(0, 1), .hold_ms = 700, .no_own_watch = true}, {AT(1, 10), .hold_ms = 5}},
    .deed = {{LOCK_EXPIRE, 200, 0}},
    .route = {0, 2}, .parents = true},
kept = {
    .plan = {{AT(0, 1), .hold_ms = 5000}, {AT(0, 3), .hold_ms = 5}, {AT(1, 10), .hold_ms = 5}},
    .deed = {{LOCK_BREAK, 1200, 0}},
    .route = {1, 2}, .parents = true},
kept_canceled = {
    .plan = {{AT(0, 1), .hold_ms = 5000}, {AT(0, 3), .cancel_ms = 400}, {AT(1, 10), .hold_ms = 5}},
    .deed = {{LOCK_BREAK, 1200, 0}},
    .route = {1, 2}, .parents = true},
lingers = {
    .plan = {{AT(0, 1), .hold_ms = 80}, {AT(1, 10), .timeout_ms = 40, .linger_ms = 300}, {AT(1, 15), .hold_ms = 5}},
    .route = {0, 1}, .parents = true},
lapsed = {
    .plan = {{AT(0, 1), .hold_ms = 6000, .linger_ms = 300}, {AT(0, 3), .hold_ms = 5}, {AT(0, 5500)}},
    .deed = {{LOCK_DOUBT, 400, 0}},
    .route = {1}, .parents = true},
broken_away = {
    .plan = {{AT(0, 1), .hold_ms = 1000}, {AT(1, 10), .hold_ms = 5}},
    .deed = {{LOCK_AWAY, 300, 0}, {LOCK_BREAK, 400, 0}},
    .route = {1, 2}, .parents = true},
broken_blind = {
    .plan = {{AT(0, 1), .hold_ms = 50}, {AT(1, 10), .hold_ms = 5, .no_own_watch = true}},
    .deed = {{LOCK_BREAK, 30, 1}},
    .route = {1, 2}, .parents = true},
closed_away = {
    .plan = {{AT(0, 1), .hold_ms = 60}, {AT(1, 10), .cancel_ms = 30}},
    .deed = {{LOCK_SILENCE, 30, 1}, {LOCK_CLOSE, 60, 1}},
    .route = {1, 2}, .parents = true},
late_answers = {
    .plan = {{AT(0, 1), .hold_ms = 5000}},
    .deed = {{LOCK_LATE, 508, 0}, {LOCK_LATE, 789, 0}, {LOCK_OFF, 795, 0}},
    .route = {1}, .parents = true, .tick_ms = 334},
doubt = {
    .plan = {{AT(0, 1), .hold_ms = 20}, {AT(1, 2), .hold_ms = 5}},
    .deed = {{LOCK_DOUBT, 34, 1}},
    .route = {0, 1}, .parents = true},
batch = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 30), .hold_ms = 10, .place = 1}, {AT(0, 30), .hold_ms = 10, .place = 2}},
    .route = {1}, .top = true},
batch_new = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 30), .hold_ms = 10, .place = 1}, {AT(0, 30), .place = 2}},
    .route = {1}},
batch_there = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 30), .hold_ms = 10, .place = 1}, {AT(0, 30), .hold_ms = 10, .place = 2}},
    .route = {1}, .there = 1 << 1},
batch_held = {
    .plan = {{AT(1, 20), .hold_ms = 50, .place = 1}, {AT(0, 40), .hold_ms = 10}, {AT(0, 40), .place = 1}, {AT(0, 40), .hold_ms = 10, .place = 2}},
    .route = {1, 2}, .top = true},
batch_waits = {
    .plan = {{AT(0, 30), .hold_ms = 40}, {AT(0, 30), .hold_ms = 40, .place = 1}, {AT(0, 30), .hold_ms = 40, .place = 2}, {AT(1, 50), .place = 1}},
    .route = {1, 2}, .top = true},
batch_rival = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 30), .place = 1}, {AT(0, 30), .hold_ms = 10, .place = 2},
             {AT(1, 30), .hold_ms = 10, .place = 2}, {AT(1, 30), .place = 1}, {AT(1, 30)}},
    .route = {1, 2}, .top = true},
batch_denied = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 30), .hold_ms = 10, .place = 1}, {AT(0, 30), .hold_ms = 10, .place = 2}},
    .route = {1}, .denies = 1 << 1},
batch_expired = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 30), .hold_ms = 10, .place = 1, .no_requeue = true}, {AT(0, 30), .hold_ms = 10, .place = 2}},
    .deed = {{LOCK_EXPIRE, 31, 0}},
    .route = {1}, .top = true},
batch_given_up = {
    .plan = {{AT(0, 30), .cancel_ms = 1}, {AT(0, 30), .hold_ms = 10, .place = 1}, {AT(0, 30), .free_ms = 2, .place = 2}, {AT(1, 32), .place = 2}},
    .route = {1, 2}, .top = true},
nested = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 30), .hold_ms = 20, .place = 2}, {AT(1, 35), .hold_ms = 10, .place = 1}},
    .route = {1, 2}, .nested = true},
row = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(0, 50), .hold_ms = 5}, {AT(1, 58), .hold_ms = 5}, {AT(0, 66)}, {AT(0, 68), .hold_ms = 5}, {AT(1, 76)}},
    .route = {1, 2}, .top = true},
chain = {
    .plan = {{AT(0, 30)}, {AT(0, 30)}, {AT(0, 30)}},
    .route = {1}, .top = true},
handed = {
    .plan = {{AT(0, 30)}, {AT(0, 30)}},
    .route = {1}, .parents = true},
chain_away = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(0, 31), .hold_ms = 20}, {AT(0, 32)}, {AT(1, 33), .hold_ms = 5}},
    .deed = {{LOCK_AWAY, 80, 0}},
    .route = {1, 2}, .top = true},
chain_expired = {
    .plan = {{AT(0, 30), .hold_ms = 30}, {AT(0, 31), .hold_ms = 5}, {AT(1, 32), .hold_ms = 5}, {AT(0, 33)}},
    .deed = {{LOCK_EXPIRE, 68, 0}},
    .route = {1, 2}, .top = true},
chain_leaves = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(0, 31), .cancel_ms = 20}, {AT(0, 32), .timeout_ms = 40}, {AT(0, 33), .free_ms = 56}, {AT(0, 34), .hold_ms = 5}, {AT(1, 35)}},
    .route = {1, 2}, .top = true},
chain_broken = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(0, 31), .hold_ms = 5}, {AT(0, 32), .hold_ms = 5}, {AT(1, 33)}},
    .deed = {{LOCK_BREAK, 60, 1}, {LOCK_BREAK, 89, 2}},
    .route = {1, 2}, .top = true},
chain_broken_first = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(1, 33), .hold_ms = 5}, {AT(0, 34), .hold_ms = 5}},
    .deed = {{LOCK_BREAK, 93, 0}},
    .route = {1, 2}, .top = true},
chain_broken_late = {
    .plan = {{AT(0, 30), .hold_ms = 900}, {AT(0, 31), .hold_ms = 5}, {AT(0, 32), .hold_ms = 700}, {AT(1, 33)}},
    .deed = {{LOCK_BREAK, 500, 1}, {LOCK_BREAK, 960, 2}},
    .route = {1, 2}, .top = true},
broken_late = {
    .plan = {{AT(0, 30), .hold_ms = 900}, {AT(1, 40), .hold_ms = 5}, {AT(2, 45)}},
    .deed = {{LOCK_BREAK, 500, 1}, {LOCK_BREAK, 600, 0}},
    .route = {1, 2, 0}, .top = true},
broken_early = {
    .plan = {{AT(0, 30), .hold_ms = 900}, {AT(1, 40), .hold_ms = 600}},
    .deed = {{LOCK_BREAK, 60, 1}, {LOCK_BREAK, 90, 0}},
    .route = {1, 2}, .top = true},
emptied = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 80), .hold_ms = 5}, {AT(1, 81)}},
    .deed = {{LOCK_REMOVE, 70, 0}, {LOCK_REMOVE, 83, 0}},
    .route = {1, 2}, .there = 1 << 0},
swept = {
    .plan = {{AT(0, 30), .hold_ms = 5}, {AT(0, 31), .hold_ms = 70, .no_own_watch = true}, {AT(1, 90), .hold_ms = 400}, {AT(1, 92), .hold_ms = 5}, {AT(0, 110), .cancel_ms = 7}, {AT(0, 111), .hold_ms = 5}},
    .deed = {{LOCK_BREAK, 60, 1}, {LOCK_REMOVE, 62, 0}},
    .route = {1, 2}, .top = true},
leaving = {
    .plan = {{AT(0, 30), .hold_ms = 20}, {AT(0, 57)}, {AT(0, 58)}, {AT(0, 59)}, {AT(0, 60)}, {AT(0, 61)}, {AT(0, 63)}},
    .route = {1}, .top = true},
behind = {
    .plan = {{AT(0, 30), .hold_ms = 20}, {AT(0, 31), .place = 1}, {AT(0, 32), .place = 1}, {AT(0, 33)}, {AT(0, 36)}, {AT(0, 37)}},
    .route = {1}, .top = true},
two_acls = {
    .plan = {{AT(0, 30), .own_acl = true}, {AT(0, 30), .place = 1}, {AT(0, 30), .place = 1, .own_acl = true}},
    .route = {1}, .top = true},
crowd_new = {
    .plan = {{AT(0, 30), .hold_ms = 5}, {AT(0, 30)}, {AT(0, 30), .place = 1}, {AT(0, 30), .cancel_ms = 8}, {AT(0, 30), .hold_ms = 5}},
    .route = {1}},
again = {
    .plan = {{AT(0, 30), .again_inside = true}, {.again_inside = true}, {.hold_ms = 5, .again = true}, {.hold_ms = 0}},
    .route = {1}, .top = true},
again_rival = {
    .plan = {{AT(0, 30), .hold_ms = 15, .again_inside = true}, {.again_inside = true}, {.hold_ms = 5}, {AT(1, 32), .hold_ms = 5}},
    .route = {1, 2}, .top = true},
look = {
    .plan = {{AT(0, 1), .hold_ms = 30}, {AT(1, 2), .hold_ms = 5}},
    .deed = {{LOCK_ASK, 12, 1}},
    .route = {0, 1}, .parents = true},
look_empty = {
    .plan = {{AT(1, 40)}},
    .deed = {{LOCK_ASK, 5, 0}, {LOCK_ASK, 80, 0}},
    .route = {0, 1}},
look_foreign = {
    .plan = {{AT(0, 1), .hold_ms = 40, .hidden = true}},
    .deed = {{LOCK_CLEAR, 15, 0}, {LOCK_ASK, 10, 1}, {LOCK_ASK, 30, 1}},
    .route = {1, 2}, .parents = true, .foreign = true};

static const struct sim_scene lock_scenes[] = {
    {"one", "nobody else wants it", 1, true, &one},
    {"two", "one holds, one waits", 2, true, &two},
    {"three", "each with another server", 3, true, &three},
    {"leader", "all with the leader, the directory is there", 2, false, &leader},
    {"followers", "all with followers, at the same moment", 3, false, &followers},
    {"try", "looks once: held, and free", 2, false, &try_once},
    {"timeout", "one in the middle of the queue waits too long", 3, false, &deadline},
    {"cancel", "one in the middle of the queue gives up", 3, false, &cancel},
    {"at-once", "let go in the callback, canceled at once", 2, false, &at_once},
    {"free", "freed while held, and while waiting", 3, false, &free_any},
    {"no-requeue", "a waiter's session is ended, and it fails", 2, false, &no_requeue},
    {"requeue", "a waiter's session is ended, and it waits anew", 3, false, &requeue},
    {"no-own-watch", "without a watch on the own znode", 2, false, &no_own_watch},
    {"same-session", "several locks of one session on one path", 2, false, &same_session},
    {"sequence-end", "the last of the sequence numbers", 3, false, &end_of_numbers},
    {"sequence-wrap", "servers that begin again below zero", 3, false, &wrap},
    {"foreign", "a contender that is nobody's, and what is none", 2, false, &foreign},
    {"chroot", "below a chroot that is to be made", 2, false, &chroot_made},
    {"broken-holder", "an operator deletes the holder's znode", 2, false, &broken_holder},
    {"broken-waiter", "an operator deletes waiters' znodes", 3, false, &broken_waiter},
    {"long", "held for longer than any doubt lasts", 2, false, &long_hold},
    {"held-over", "the holder's session is ended", 2, false, &held_over},
    {"doubt", "first, but the servers confirm nothing", 2, false, &doubt},
    {"kept", "held for long, until an operator deletes the znode", 2, false, &kept},
    {"kept-canceled", "the same, and one that watched it gives up before", 2, false, &kept_canceled},
    {"lingers", "not freed as soon as its end is told", 2, false, &lingers},
    {"lapsed", "the lease ends, and the session does not", 1, false, &lapsed},
    {"broken-away", "an operator deletes the znode of one that is away", 2, false, &broken_away},
    {"broken-blind", "a waiter's znode is deleted, and it does not watch", 2, false, &broken_blind},
    {"closed-away", "it gives up and closes, and no server answers", 2, false, &closed_away},
    {"late-answers", "two are late, and then its follower is cut off", 1, false, &late_answers},
    {"batch", "three directories in one turn, all to be made", 1, true, &batch},
    {"batch-new", "and what is above them", 1, false, &batch_new},
    {"batch-there", "one of them is there, and empty", 1, false, &batch_there},
    {"batch-held", "one of them is there, and another holds", 2, false, &batch_held},
    {"batch-waits", "all are let go in one turn, and one is waited for", 2, false, &batch_waits},
    {"batch-rival", "two want the same three at the same moment", 2, false, &batch_rival},
    {"batch-denied", "one of them lets nobody in", 1, false, &batch_denied},
    {"batch-expired", "the session is ended while they are made", 1, false, &batch_expired},
    {"batch-given-up", "and given up, or freed, at once", 2, false, &batch_given_up},
    {"nested", "a lock's directory above two others", 2, false, &nested},
    {"row", "several of one session in a row, others in between", 2, false, &row},
    {"chain", "three of one session, each let go when granted", 1, false, &chain},
    {"handed", "two of one session, the directory is there", 1, true, &handed},
    {"chain-away", "handed over while the connection is cut", 2, false, &chain_away},
    {"chain-expired", "the session is ended when it was handed over", 2, false, &chain_expired},
    {"chain-leaves", "those before the last give up in their ways", 2, false, &chain_leaves},
    {"chain-broken", "an operator deletes those that wait", 2, false, &chain_broken},
    {"chain-broken-first", "an operator deletes what is about to be let go", 2, false, &chain_broken_first},
    {"chain-broken-late", "those that waited, or held, for long", 2, false, &chain_broken_late},
    {"broken-late", "an operator deletes what was there for long", 3, false, &broken_late},
    {"broken-early", "what was just made, and is then there for long", 2, false, &broken_early},
    {"emptied", "an operator deletes the directory in between", 2, false, &emptied},
    {"swept", "an operator deletes the directory under a holder", 2, false, &swept},
    {"leaving", "asked for while the last one leaves with its directory", 1, false, &leaving},
    {"behind", "asked for while another makes the directory", 1, false, &behind},
    {"two-acls", "in one turn, in two directories", 1, false, &two_acls},
    {"crowd-new", "several on one path, and nothing of it is there", 1, false, &crowd_new},
    {"again", "let go and asked for again, inside callbacks", 1, false, &again},
    {"again-rival", "the same, and another wants it", 2, false, &again_rival},
};

static const struct sim_scene lock_query_scenes[] = {
    {"look", "while two contend", 2, true, &look},
    {"look-empty", "without a directory, and when all have left", 2, false, &look_empty},
    {"look-foreign", "one that hides, and what is no session's", 2, false, &look_foreign},
};
/* clang-format on */

const struct sim_recipe sim_lock = {
    .name = "lock",
    .kind = &evzk__lock_kind,
    .scenes = lock_scenes,
    .n_scenes = COUNT(lock_scenes),
    .begin = lock_begin,
    .check = lock_check,
    .done = lock_done,
    .check_end = lock_check_end,
    .calls = lock_calls,
    .call = lock_call,
};

const struct sim_recipe sim_lock_query = {
    .name = "lock-query",
    .kind = &evzk__lock_query_kind,
    .scenes = lock_query_scenes,
    .n_scenes = COUNT(lock_query_scenes),
    .begin = lock_begin,
    .check = lock_check,
    .done = lock_done,
    .check_end = lock_check_end,
    .calls = lock_calls,
    .call = lock_call,
};

const struct sim_recipe *const sim_recipes[] = {&sim_lock, &sim_lock_query,
                                                NULL};
