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
