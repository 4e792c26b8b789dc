/* The recipes that the explorer knows, and the scenes of the lock; those of
 * elections are in scene_election_list.c, those of shards in
 * scene_shards_list.c. */
#include "scene_list.h"
#include "scene_lock.h"
#include "scene_shards.h"

#define R .mode = EVZK_LOCK_READ
#define P(n) .urgent = true, .priority = (n)
#define W .mode = EVZK_LOCK_WRITE

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
    .action = {{LOCK_EXPIRE, 30, 1}},
    .route = {0, 1}, .parents = true},
requeue = {
    .plan = {{AT(0, 1), .hold_ms = 60}, {AT(1, 10), .hold_ms = 5}, {AT(2, 15), .hold_ms = 5}},
    .action = {{LOCK_EXPIRE, 30, 1}},
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
    .action = {{LOCK_CLEAR, 40, 0}},
    .route = {1, 2}, .parents = true, .foreign = true},
chroot_made = {
    .plan = {{AT(0, 1), .hold_ms = 15}, {AT(1, 1)}},
    .route = {0, 1}, .chroot = "/app", .make_chroot = true},
broken_holder = {
    .plan = {{AT(0, 1), .hold_ms = 50}, {AT(1, 10), .hold_ms = 5}},
    .action = {{LOCK_BREAK, 25, 0}},
    .route = {1, 2}, .parents = true},
broken_waiter = {
    .plan = {{AT(0, 1), .hold_ms = 50}, {AT(1, 10), .hold_ms = 5}, {AT(2, 15), .no_requeue = true}},
    .action = {{LOCK_BREAK, 30, 1}, {LOCK_BREAK, 35, 2}},
    .route = {0, 1, 2}, .parents = true},
long_hold = {
    .plan = {{AT(0, 1), .hold_ms = 1500}, {AT(1, 10)}},
    .route = {1, 0}, .parents = true},
held_over = {
    .plan = {{AT(0, 1), .hold_ms = 700, .no_own_watch = true}, {AT(1, 10), .hold_ms = 5}},
    .action = {{LOCK_EXPIRE, 200, 0}},
    .route = {0, 2}, .parents = true},
kept = {
    .plan = {{AT(0, 1), .hold_ms = 5000}, {AT(0, 3), .hold_ms = 5}, {AT(1, 10), .hold_ms = 5}},
    .action = {{LOCK_BREAK, 1200, 0}},
    .route = {1, 2}, .parents = true},
kept_canceled = {
    .plan = {{AT(0, 1), .hold_ms = 5000}, {AT(0, 3), .cancel_ms = 400}, {AT(1, 10), .hold_ms = 5}},
    .action = {{LOCK_BREAK, 1200, 0}},
    .route = {1, 2}, .parents = true},
lingers = {
    .plan = {{AT(0, 1), .hold_ms = 80}, {AT(1, 10), .timeout_ms = 40, .linger_ms = 300}, {AT(1, 15), .hold_ms = 5}},
    .route = {0, 1}, .parents = true},
lapsed = {
    .plan = {{AT(0, 1), .hold_ms = 6000, .linger_ms = 300}, {AT(0, 3), .hold_ms = 5}, {AT(0, 5500)}},
    .action = {{LOCK_DOUBT, 400, 0}},
    .route = {1}, .parents = true},
broken_away = {
    .plan = {{AT(0, 1), .hold_ms = 1000}, {AT(1, 10), .hold_ms = 5}},
    .action = {{LOCK_AWAY, 300, 0}, {LOCK_BREAK, 400, 0}},
    .route = {1, 2}, .parents = true},
broken_blind = {
    .plan = {{AT(0, 1), .hold_ms = 50}, {AT(1, 10), .hold_ms = 5, .no_own_watch = true}},
    .action = {{LOCK_BREAK, 30, 1}},
    .route = {1, 2}, .parents = true},
closed_away = {
    .plan = {{AT(0, 1), .hold_ms = 60}, {AT(1, 10), .cancel_ms = 30}},
    .action = {{LOCK_SILENCE, 30, 1}, {LOCK_CLOSE, 60, 1}},
    .route = {1, 2}, .parents = true},
late_answers = {
    .plan = {{AT(0, 1), .hold_ms = 5000}},
    .action = {{LOCK_LATE, 508, 0}, {LOCK_LATE, 789, 0}, {LOCK_OFF, 795, 0}},
    .route = {1}, .parents = true, .tick_ms = 334},
doubt = {
    .plan = {{AT(0, 1), .hold_ms = 20}, {AT(1, 2), .hold_ms = 5}},
    .action = {{LOCK_DOUBT, 34, 1}},
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
    .action = {{LOCK_EXPIRE, 31, 0}},
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
    .action = {{LOCK_AWAY, 80, 0}},
    .route = {1, 2}, .top = true},
chain_expired = {
    .plan = {{AT(0, 30), .hold_ms = 30}, {AT(0, 31), .hold_ms = 5}, {AT(1, 32), .hold_ms = 5}, {AT(0, 33)}},
    .action = {{LOCK_EXPIRE, 68, 0}},
    .route = {1, 2}, .top = true},
chain_leaves = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(0, 31), .cancel_ms = 20}, {AT(0, 32), .timeout_ms = 40}, {AT(0, 33), .free_ms = 56}, {AT(0, 34), .hold_ms = 5}, {AT(1, 35)}},
    .route = {1, 2}, .top = true},
chain_broken = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(0, 31), .hold_ms = 5}, {AT(0, 32), .hold_ms = 5}, {AT(1, 33)}},
    .action = {{LOCK_BREAK, 60, 1}, {LOCK_BREAK, 89, 2}},
    .route = {1, 2}, .top = true},
chain_broken_first = {
    .plan = {{AT(0, 30), .hold_ms = 60}, {AT(1, 33), .hold_ms = 5}, {AT(0, 34), .hold_ms = 5}},
    .action = {{LOCK_BREAK, 93, 0}},
    .route = {1, 2}, .top = true},
chain_broken_late = {
    .plan = {{AT(0, 30), .hold_ms = 900}, {AT(0, 31), .hold_ms = 5}, {AT(0, 32), .hold_ms = 700}, {AT(1, 33)}},
    .action = {{LOCK_BREAK, 500, 1}, {LOCK_BREAK, 960, 2}},
    .route = {1, 2}, .top = true},
broken_late = {
    .plan = {{AT(0, 30), .hold_ms = 900}, {AT(1, 40), .hold_ms = 5}, {AT(2, 45)}},
    .action = {{LOCK_BREAK, 500, 1}, {LOCK_BREAK, 600, 0}},
    .route = {1, 2, 0}, .top = true},
broken_early = {
    .plan = {{AT(0, 30), .hold_ms = 900}, {AT(1, 40), .hold_ms = 600}},
    .action = {{LOCK_BREAK, 60, 1}, {LOCK_BREAK, 90, 0}},
    .route = {1, 2}, .top = true},
emptied = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 80), .hold_ms = 5}, {AT(1, 81)}},
    .action = {{LOCK_REMOVE, 70, 0}, {LOCK_REMOVE, 83, 0}},
    .route = {1, 2}, .there = 1 << 0},
swept = {
    .plan = {{AT(0, 30), .hold_ms = 5}, {AT(0, 31), .hold_ms = 70, .no_own_watch = true}, {AT(1, 90), .hold_ms = 400}, {AT(1, 92), .hold_ms = 5}, {AT(0, 110), .cancel_ms = 7}, {AT(0, 111), .hold_ms = 5}},
    .action = {{LOCK_BREAK, 60, 1}, {LOCK_REMOVE, 62, 0}},
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
new_readers = {
    .plan = {{AT(0, 30), R, .hold_ms = 20}, {AT(0, 30), R, .hold_ms = 20}, {AT(0, 30), W, .hold_ms = 5}, {AT(0, 32), R, .hold_ms = 5}, {AT(0, 36)}},
    .route = {1}},
new_deep = {
    .plan = {{AT(0, 30), R, .hold_ms = 20}, {AT(0, 30), R, .hold_ms = 20}, {AT(0, 30), W, P(3), .hold_ms = 5}, {AT(0, 33), .hold_ms = 5, .place = 1}, {AT(0, 37), .place = 1}, {AT(0, 39), W}},
    .route = {1}, .deep = true},
new_rival = {
    .plan = {{AT(0, 30), R, .hold_ms = 20}, {AT(0, 30), W, .hold_ms = 5}, {AT(0, 34), R, .hold_ms = 5}, {AT(1, 30), R, .hold_ms = 5}, {AT(1, 30), R, .hold_ms = 20}, {AT(1, 35), W}},
    .route = {1, 2}, .deep = true},
new_given_up = {
    .plan = {{AT(0, 30), .cancel_ms = 1}, {AT(0, 30), .free_ms = 8}, {AT(0, 30), .timeout_ms = 12}, {AT(0, 30), .hold_ms = 5}, {AT(0, 31), .cancel_ms = 14}, {AT(0, 33)}},
    .route = {1}, .deep = true},
new_emptied = {
    .plan = {{AT(0, 30), R, .hold_ms = 10}, {AT(0, 30), R, .hold_ms = 10}, {AT(0, 30), W, .hold_ms = 5}, {AT(0, 31)}},
    .action = {{LOCK_REMOVE, 43, 3}, {LOCK_REMOVE, 49, 3}, {LOCK_REMOVE, 55, 3}, {LOCK_REMOVE, 62, 0}},
    .route = {1}},
remade = {
    .plan = {{AT(0, 30), .hold_ms = 10}, {AT(0, 80), R, .hold_ms = 10}, {AT(0, 81), R, .hold_ms = 5}, {AT(0, 81), W}},
    .action = {{LOCK_REMOVE, 70, 0}, {LOCK_MAKE, 82, 0}},
    .route = {1}, .there = 1 << 0},
shut = {
    .plan = {{AT(0, 30)}, {AT(0, 30)}, {AT(0, 30), .place = 1}, {AT(0, 31)}, {AT(0, 36)}, {AT(0, 36), .place = 1}},
    .route = {1}, .denies = 1 << 1},
shut_above = {
    .plan = {{AT(0, 30)}, {AT(0, 30)}, {AT(0, 30)}, {AT(0, 31)}, {AT(0, 36), .cancel_ms = 2}, {AT(0, 36)}},
    .route = {1}, .denies = 1 << LOCK_PLACES},
again = {
    .plan = {{AT(0, 30), .again_inside = true}, {.again_inside = true}, {.hold_ms = 5, .again = true}, {.hold_ms = 0}},
    .route = {1}, .top = true},
again_rival = {
    .plan = {{AT(0, 30), .hold_ms = 15, .again_inside = true}, {.again_inside = true}, {.hold_ms = 5}, {AT(1, 32), .hold_ms = 5}},
    .route = {1, 2}, .top = true},
readers = {
    .plan = {{AT(0, 1), W, .hold_ms = 40}, {AT(1, 10), R, .hold_ms = 15}, {AT(2, 12), R, .hold_ms = 10}, {AT(1, 14), W, .hold_ms = 5}, {AT(2, 16), R, .hold_ms = 5}},
    .route = {0, 1, 2}, .parents = true},
readers_first = {
    .plan = {{AT(0, 1), R, .hold_ms = 30}, {AT(1, 3), R, .hold_ms = 10}, {AT(2, 12), W, .hold_ms = 5}, {AT(0, 16), R}},
    .route = {1, 2, 0}, .parents = true},
readers_two = {
    .plan = {{AT(0, 1), W, .hold_ms = 10}, {AT(1, 2), R, .hold_ms = 5}},
    .route = {0, 1}, .parents = true},
by_turns = {
    .plan = {{AT(0, 1), R, .hold_ms = 10}, {AT(1, 5), W, .hold_ms = 5}, {AT(0, 8), R, .hold_ms = 5}, {AT(1, 11), .hold_ms = 5}, {AT(0, 14), R}},
    .route = {1, 2}},
own_readers = {
    .plan = {{AT(0, 30), W, .hold_ms = 30}, {AT(0, 31), R, .hold_ms = 10}, {AT(0, 32), R, .hold_ms = 5}, {AT(0, 33), W}, {AT(1, 34), R, .hold_ms = 5}, {AT(0, 40), .hold_ms = 5}},
    .route = {1, 2}, .top = true},
reader_between = {
    .plan = {{AT(0, 30), W, .hold_ms = 30}, {AT(1, 40), R, .hold_ms = 60}, {AT(0, 50), R, .hold_ms = 5}, {AT(0, 52), W, .hold_ms = 5}, {AT(0, 54), R}},
    .route = {1, 2}, .top = true},
readers_leave = {
    .plan = {{AT(0, 1), W, .hold_ms = 60}, {AT(1, 10), R, .cancel_ms = 20}, {AT(2, 12), R, .hold_ms = 10}, {AT(1, 14), W, .timeout_ms = 30}, {AT(2, 16), R, .hold_ms = 5}, {AT(1, 18), W, .free_ms = 60}},
    .route = {0, 1, 2}, .parents = true},
readers_broken = {
    .plan = {{AT(0, 1), R, .hold_ms = 60}, {AT(1, 3), R, .hold_ms = 70}, {AT(2, 10), W, .hold_ms = 5}, {AT(1, 12), R}},
    .action = {{LOCK_BREAK, 30, 0}, {LOCK_BREAK, 40, 2}},
    .route = {0, 1, 2}, .parents = true},
readers_try = {
    .plan = {{AT(0, 1), R, .hold_ms = 60}, {AT(1, 15), R, .try_once = true, .hold_ms = 60}, {AT(1, 30), W, .try_once = true}, {AT(0, 35), W, .hold_ms = 5}, {AT(1, 50), R, .try_once = true}},
    .route = {1, 2}, .parents = true},
downgrade = {
    .plan = {{AT(0, 1), W, .down_ms = 20, .hold_ms = 45}, {AT(1, 10), R, .hold_ms = 5}, {AT(2, 12), W}},
    .route = {0, 1, 2}, .parents = true},
downgrade_one = {
    .plan = {{AT(0, 1), W, .down_ms = 5, .hold_ms = 20}, {AT(1, 5), R}},
    .route = {1, 0}, .parents = true},
downgrade_own = {
    .plan = {{AT(0, 30), W, .down_ms = 10, .hold_ms = 40}, {AT(0, 31), R, .hold_ms = 20}, {AT(0, 32), W, .down_ms = 5, .hold_ms = 15}, {AT(1, 33), R, .hold_ms = 5}, {AT(0, 34), .hold_ms = 5}},
    .route = {1, 2}, .top = true},
downgrade_next = {
    .plan = {{AT(0, 30), W, .down_ms = 10, .hold_ms = 40}, {AT(0, 31), W, .hold_ms = 5}, {AT(0, 32), R}},
    .route = {1}, .top = true},
downgrade_broken = {
    .plan = {{AT(0, 1), W, .down_ms = 30, .hold_ms = 60}, {AT(1, 10), W, .hold_ms = 5}, {AT(2, 12), R}},
    .action = {{LOCK_BREAK, 29, 0}, {LOCK_BREAK, 46, 0}},
    .route = {1, 2, 0}, .parents = true},
downgrade_leaves = {
    .plan = {{AT(0, 1), W, .down_ms = 20, .hold_ms = 20}, {AT(1, 10), W, .down_ms = 10, .hold_ms = 11, .free_held = true}, {AT(1, 12), W, .down_ms = 1, .hold_ms = 5}},
    .route = {1, 2}, .parents = true},
downgrade_away = {
    .plan = {{AT(0, 1), W, .down_ms = 330, .hold_ms = 700}, {AT(1, 10), R, .hold_ms = 5}},
    .action = {{LOCK_AWAY, 300, 0}},
    .route = {1, 2}, .parents = true},
downgrade_unlocked = {
    .plan = {{AT(0, 1), W, .down_ms = 40, .hold_ms = 90}, {AT(1, 10), R, .hold_ms = 5}},
    .action = {{LOCK_SCRIBBLE, 45, 0}, {LOCK_UNLOCK, 58, 0}},
    .route = {1, 2}, .parents = true},
downgrade_hidden = {
    .plan = {{AT(0, 1), W, .hidden = true, .down_ms = 40, .hold_ms = 90}, {AT(1, 10), R, .hold_ms = 5}},
    .action = {{LOCK_UNLOCK, 45, 0}},
    .route = {1, 2}, .parents = true},
downgrade_late = {
    .plan = {{AT(0, 1), W, .down_ms = 500, .hold_ms = 1500}, {AT(1, 10), W, .hold_ms = 5}},
    .action = {{LOCK_BREAK, 1000, 0}},
    .route = {1, 2}, .parents = true},
downgrade_lapsed = {
    .plan = {{AT(0, 1), W, .down_ms = 450, .hold_ms = 6000}, {AT(1, 10), R, .hold_ms = 5}},
    .action = {{LOCK_DOUBT, 400, 0}},
    .route = {1, 2}, .parents = true},
downgrade_kept = {
    .plan = {{AT(0, 1), W, .down_ms = 250, .hold_ms = 290, .no_own_watch = true}, {AT(1, 10), R, .hold_ms = 5}},
    .action = {{LOCK_ASK, 200, 0}},
    .route = {1, 2}, .parents = true},
restored = {
    .plan = {{AT(1, 30), .hold_ms = 15}, {AT(0, 40), .hold_ms = 52, .no_own_watch = true}, {AT(1, 80), .hold_ms = 150}, {AT(0, 110), .hold_ms = 5}},
    .action = {{LOCK_BREAK, 70, 1}, {LOCK_REMOVE, 75, 0}, {LOCK_RESTORE, 100, 1}, {LOCK_CLEAR, 400, 0}},
    .route = {1, 2}, .top = true},
unlocked = {
    .plan = {{AT(0, 1), .hold_ms = 1200}, {AT(1, 10), W, .hold_ms = 400}},
    .action = {{LOCK_UNLOCK, 600, 0}, {LOCK_UNLOCK, 700, 1}, {LOCK_SCRIBBLE, 800, 0}},
    .route = {1, 2}, .parents = true},
unlocked_early = {
    .plan = {{AT(0, 1), R, .hold_ms = 700}, {AT(1, 10), W, .hold_ms = 5}},
    .action = {{LOCK_UNLOCK, 30, 0}, {LOCK_UNLOCK, 35, 1}, {LOCK_UNLOCK, 500, 0}},
    .route = {1, 2}, .parents = true},
unlocked_soon = {
    .plan = {{AT(0, 1), .hold_ms = 300, .revocable = true, .yields = true}, {AT(1, 10), W, .hold_ms = 200, .revocable = true}, {AT(0, 12), R}},
    .action = {{LOCK_UNLOCK, 40, 0}, {LOCK_UNLOCK, 45, 1}, {LOCK_SCRIBBLE, 60, 2}},
    .route = {1, 2}, .parents = true},
unlocked_away = {
    .plan = {{AT(0, 1), W, .hold_ms = 1500}, {AT(1, 10), .hold_ms = 5}},
    .action = {{LOCK_AWAY, 600, 0}, {LOCK_UNLOCK, 650, 0}, {LOCK_SCRIBBLE, 680, 1}},
    .route = {1, 2}, .parents = true},
urgent = {
    .plan = {{AT(0, 1), .hold_ms = 40}, {AT(1, 10), W, P(9)}, {AT(2, 14), W, P(5)}, {AT(1, 22), W, P(1), .hold_ms = 5}},
    .route = {0, 1, 2}, .parents = true},
urgent_one = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 10}, {AT(1, 3), W, P(1)}},
    .route = {1, 0}, .parents = true},
urgent_three = {
    .plan = {{AT(0, 1), R, P(5), .hold_ms = 20}, {AT(1, 3), W, P(5)}, {AT(2, 8), W, P(3), .hold_ms = 5}},
    .route = {1, 2, 0}},
urgent_readers = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 50}, {AT(1, 10), R, P(5), .hold_ms = 10}, {AT(2, 12), R, P(6), .hold_ms = 10}, {AT(0, 14), W, P(6)}, {AT(2, 18), W, P(2), .hold_ms = 5}, {AT(1, 25), R, P(1), .hold_ms = 5}},
    .route = {0, 1, 2}, .parents = true},
urgent_ageing = {
    .plan = {{AT(0, 1), .hold_ms = 60}, {AT(1, 10), W, P(3), .ageing = 1}, {AT(2, 14), W, P(1), .ageing = 1}, {AT(0, 18), W, P(1), .ageing = 1}, {AT(2, 22), W, P(1), .ageing = 1}, {AT(0, 26), W, P(0), .ageing = 1}},
    .route = {1, 2, 0}, .parents = true},
urgent_leave = {
    .plan = {{AT(0, 1), W, .hold_ms = 60}, {AT(1, 10), W, P(5), .cancel_ms = 20}, {AT(2, 12), R, P(4), .timeout_ms = 30}, {AT(1, 14), W, P(3), .free_ms = 30}, {AT(2, 16), W, P(2), .try_once = true}, {AT(1, 18), R, P(7)}},
    .route = {0, 1, 2}, .parents = true},
urgent_broken = {
    .plan = {{AT(0, 1), W, P(4), .hold_ms = 60}, {AT(1, 10), W, P(5), .hold_ms = 5}, {AT(2, 12), W, P(3), .no_requeue = true}},
    .action = {{LOCK_BREAK, 30, 1}, {LOCK_BREAK, 35, 2}, {LOCK_BREAK, 55, 0}},
    .route = {0, 1, 2}, .parents = true},
urgent_expired = {
    .plan = {{AT(0, 1), W, P(4), .hold_ms = 60}, {AT(1, 10), W, P(3), .hold_ms = 5}, {AT(2, 15), R, P(5), .hold_ms = 5}},
    .action = {{LOCK_EXPIRE, 30, 1}},
    .route = {0, 1, 2}, .parents = true},
urgent_asks = {
    .plan = {{AT(0, 1), W, P(9), .hold_ms = 1500, .yields = true}, {AT(1, 600), W, P(2), .revoke = true, .hold_ms = 5}, {AT(2, 610), R, P(4)}},
    .route = {0, 1, 2}, .parents = true},
urgent_removes = {
    .plan = {{AT(0, 1), R, P(9), .hold_ms = 2500}, {AT(1, 10), R, P(2), .hold_ms = 800}, {AT(2, 20), W, P(2), .revoke = true, .grace_ms = 400, .hold_ms = 5}},
    .route = {0, 1, 2}, .parents = true},
urgent_own = {
    .plan = {{AT(0, 30), W, P(5), .hold_ms = 20}, {AT(0, 31), W, P(5), .hold_ms = 5}, {AT(0, 32), R, P(1), .hold_ms = 5}, {AT(0, 33), R, P(7)}, {AT(1, 34), R, P(3)}, {AT(0, 40), W, .hold_ms = 5}},
    .route = {1, 2}, .top = true},
urgent_kept = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 900, .down_ms = 500}, {AT(1, 10), W, P(5), .hold_ms = 5}, {AT(2, 500), W, P(1), .hold_ms = 700}},
    .action = {{LOCK_UNLOCK, 400, 1}, {LOCK_AWAY, 600, 1}, {LOCK_BREAK, 1700, 2}},
    .route = {0, 1, 2}, .parents = true},
urgent_second = {
    .plan = {{AT(0, 1), W, P(9), .hold_ms = 20000}, {AT(1, 1), W, P(1), .revoke = true, .grace_ms = 400, .hold_ms = 5}},
    .route = {1, 2}, .parents = true},
urgent_presses = {
    .plan = {{AT(0, 1), W, P(9), .hold_ms = 20000}, {AT(1, 100), W, P(1), .revoke = true, .grace_ms = 400, .hold_ms = 5}},
    .route = {1, 2}, .parents = true},
urgent_again = {
    .plan = {{AT(0, 1), R, P(9), .hold_ms = 20000}, {AT(0, 20), R, P(9), .hold_ms = 450}, {AT(2, 98), R, P(9), .hold_ms = 20000, .yields = true}, {AT(1, 100), W, P(1), .revoke = true, .grace_ms = 1000}},
    .route = {0, 1, 2}, .parents = true},
urgent_lapses = {
    .plan = {{AT(0, 1), W, P(9), .hold_ms = 3000}, {AT(1, 100), W, P(1), .revoke = true, .grace_ms = 800, .no_requeue = true, .linger_ms = 2500}},
    .action = {{LOCK_EXPIRE, 300, 1}},
    .route = {1, 2}, .parents = true},
urgent_unlocked = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 300}, {AT(1, 10), W, P(5), .hold_ms = 5}, {AT(2, 340), W, P(1), .hold_ms = 700}},
    .action = {{LOCK_UNLOCK, 100, 1}},
    .route = {0, 1, 2}, .parents = true},
urgent_asked = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 100}, {AT(1, 10), W, P(5), .hold_ms = 300}},
    .action = {{LOCK_UNLOCK, 124, 1}},
    .route = {0, 1}, .parents = true},
urgent_chroot = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 60}, {AT(1, 30), W, P(5), .hold_ms = 5}, {AT(1, 50), W, P(1), .revoke = true, .grace_ms = 10, .hold_ms = 5}},
    .route = {0, 1}, .chroot = "/app", .make_chroot = true},
urgent_wrap = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 60}, {AT(1, 20), W, P(5), .hold_ms = 5}, {AT(0, 30), W, P(1), .revoke = true, .grace_ms = 20, .hold_ms = 5}},
    .route = {0, 1}, .parents = true, .sequence = true, .first = INT32_MAX - 3},
urgent_top = {
    .plan = {{AT(0, 30), W, P(5), .hold_ms = 30}, {AT(0, 30), R, P(5), .hold_ms = 5}, {AT(0, 30), R, P(1), .hold_ms = 5}, {AT(0, 50), W, P(0), .revoke = true, .grace_ms = 4}, {AT(0, 52), .hold_ms = 3}, {AT(1, 55), W, P(3), .hold_ms = 5}},
    .route = {1, 2}, .top = true},
urgent_down = {
    .plan = {{AT(0, 1), W, P(9), .hold_ms = 500, .down_ms = 120}, {AT(1, 30), W, P(1), .revoke = true, .grace_ms = 250, .hold_ms = 5}, {AT(2, 40), R, P(4), .revoke = true, .grace_ms = 90, .hold_ms = 400}},
    .route = {0, 1, 2}, .parents = true},
urgent_foreign = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 10}, {AT(1, 3), R, P(1), .revoke = true, .grace_ms = 20}},
    .action = {{LOCK_CLEAR, 60, 0}},
    .route = {1, 2}, .parents = true, .foreign = true},
urgent_passes = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 30, .yields = true}, {AT(0, 21), R, P(5)}, {AT(1, 24), W, P(1), .revoke = true, .grace_ms = 8}},
    .route = {0, 1}, .parents = true},
urgent_try = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 150}, {AT(1, 21), W, P(5)}, {AT(2, 54), W, P(1), .try_once = true, .revoke = true, .grace_ms = 50}},
    .route = {0, 1, 2}, .parents = true},
urgent_crowd = {
    .plan = {{AT(0, 1), W, P(5), .hold_ms = 60}, {AT(0, 20), W, P(5), .hold_ms = 40}, {AT(1, 32), R, P(5)}, {AT(1, 33), R, P(5)}, {AT(2, 34), R, P(5)}, {AT(2, 35), R, P(5)}},
    .route = {0, 1, 2}, .parents = true},
urgent_end = {
    .plan = {{AT(0, 1), W, P(1), .hold_ms = 30}, {AT(1, 10), W, P(2)}},
    .route = {0, 1}, .parents = true, .sequence = true, .end = true, .first = INT32_MAX - 1},
revoke = {
    .plan = {{AT(0, 1), .hold_ms = 1500, .yields = true}, {AT(1, 10), W, .hold_ms = 5}},
    .action = {{LOCK_REVOKE, 600, 1}},
    .route = {1, 2}, .parents = true},
revoke_two = {
    .plan = {{AT(0, 1), .hold_ms = 30, .revocable = true}, {AT(1, 40)}},
    .action = {{LOCK_REVOKE, 25, 1}},
    .revoke = {.remove = true, .grace_ms = 5},
    .route = {1, 0}, .parents = true},
revoke_removes = {
    .plan = {{AT(0, 1), R, .hold_ms = 3000}, {AT(1, 3), R, .hold_ms = 3000, .yields = true}, {AT(0, 5), W, .hold_ms = 200}},
    .action = {{LOCK_REVOKE, 700, 2}},
    .revoke = {.remove = true, .grace_ms = 300},
    .route = {1, 2, 0}, .parents = true},
revoke_writers = {
    .plan = {{AT(0, 1), R, .hold_ms = 400}, {AT(1, 3), W, .hold_ms = 5}, {AT(0, 10), R, .hold_ms = 5}},
    .action = {{LOCK_REVOKE, 100, 2}},
    .revoke = {.mode = EVZK_LOCK_READ, .timeout_ms = 100},
    .route = {1, 2, 0}, .parents = true},
revoke_nobody = {
    .plan = {{AT(0, 60), .hold_ms = 5}},
    .action = {{LOCK_REVOKE, 10, 0}, {LOCK_REVOKE, 120, 0}},
    .route = {1}},
revoke_away = {
    .plan = {{AT(0, 1), W, .hold_ms = 2000, .yields = true}, {AT(1, 10), .hold_ms = 5}},
    .action = {{LOCK_AWAY, 600, 0}, {LOCK_REVOKE, 650, 2}},
    .revoke = {.remove = true, .grace_ms = 1000},
    .route = {1, 2, 0}, .parents = true},
revoke_hidden = {
    .plan = {{AT(0, 1), .hold_ms = 60, .hidden = true}},
    .action = {{LOCK_REVOKE, 20, 1}},
    .route = {1, 2}, .parents = true},
revoke_late = {
    .plan = {{AT(0, 1), .hold_ms = 30, .revocable = true}, {AT(1, 40)}},
    .action = {{LOCK_REVOKE, 25, 1}},
    .revoke = {.remove = true, .grace_ms = 5, .timeout_ms = 15},
    .route = {1, 0}, .parents = true},
revoke_child = {
    .plan = {{AT(1, 200), .hold_ms = 5}},
    .action = {{LOCK_REVOKE, 20, 0}, {LOCK_CHILD, 60, 0}, {LOCK_CHILDLESS, 80, 0}, {LOCK_CLEAR, 100, 0}},
    .route = {1, 2}, .parents = true, .foreign = true},
revoke_parent = {
    .plan = {{AT(1, 200), .hold_ms = 5}},
    .action = {{LOCK_REVOKE, 20, 0}, {LOCK_CHILD, 25, 0}, {LOCK_CHILDLESS, 80, 0}, {LOCK_CLEAR, 100, 0}},
    .revoke = {.remove = true, .grace_ms = 5},
    .route = {1, 2}, .parents = true, .foreign = true},
revoke_expired = {
    .plan = {{AT(0, 1), .hold_ms = 900}},
    .action = {{LOCK_REVOKE, 50, 1}, {LOCK_EXPIRE, 100, 1}},
    .revoke = {.remove = true, .grace_ms = 300},
    .route = {1, 2}, .parents = true},
look = {
    .plan = {{AT(0, 1), .hold_ms = 30}, {AT(1, 2), .hold_ms = 5}},
    .action = {{LOCK_ASK, 12, 1}},
    .route = {0, 1}, .parents = true},
look_chroot = {
    .plan = {{AT(0, 20)}},
    .action = {{LOCK_ASK, 5, 1}},
    .route = {0, 1}, .chroot = "/app"},
look_rootless = {
    .plan = {{AT(0, 20)}},
    .action = {{LOCK_ASK, 5, 1}},
    .route = {0, 1}, .chroot = "/app", .rootless = true},
revoke_chroot = {
    .plan = {{AT(0, 20)}},
    .action = {{LOCK_REVOKE, 5, 1}},
    .route = {0, 1}, .chroot = "/app"},
revoke_rootless = {
    .plan = {{AT(0, 20)}},
    .action = {{LOCK_REVOKE, 5, 1}},
    .route = {0, 1}, .chroot = "/app", .rootless = true},
look_empty = {
    .plan = {{AT(1, 40)}},
    .action = {{LOCK_ASK, 5, 0}, {LOCK_ASK, 80, 0}},
    .route = {0, 1}},
look_foreign = {
    .plan = {{AT(0, 1), .hold_ms = 40, .hidden = true}},
    .action = {{LOCK_CLEAR, 15, 0}, {LOCK_ASK, 10, 1}, {LOCK_ASK, 30, 1}},
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
    {"new-readers", "two read, one writes, and nothing is there", 1, false, &new_readers},
    {"new-deep", "the same, several levels below", 1, false, &new_deep},
    {"new-rival", "the same, in two sessions", 2, false, &new_rival},
    {"new-given-up", "those that asked first give up", 1, false, &new_given_up},
    {"new-emptied", "what is made for them is deleted again", 1, false, &new_emptied},
    {"remade", "an operator deletes the directory, and makes it right then", 1, false, &remade},
    {"shut", "several where nobody may make anything", 1, false, &shut},
    {"shut-above", "several where nobody may make the directory", 1, false, &shut_above},
    {"again", "let go and asked for again, inside callbacks", 1, false, &again},
    {"again-rival", "the same, and another wants it", 2, false, &again_rival},
    {"readers", "one writes, two read, one writes, one reads", 3, false, &readers},
    {"readers-first", "two read, one writes, and one reads behind it", 3, false, &readers_first},
    {"readers-two", "one writes, and one reads", 2, true, &readers_two},
    {"by-turns", "they read, write, and hold alone, two sessions in turn", 2, false, &by_turns},
    {"own-readers", "several of one session that read and write", 2, false, &own_readers},
    {"reader-between", "of another session, between several of one", 2, false, &reader_between},
    {"readers-leave", "those that read and write give up in their ways", 3, false, &readers_leave},
    {"readers-broken", "an operator deletes one that reads, and one that waits to write", 3, false, &readers_broken},
    {"readers-try", "looks once, beside one that reads", 2, false, &readers_try},
    {"downgrade", "one writes, then reads, beside one that reads", 3, false, &downgrade},
    {"downgrade-one", "the same, with nobody behind", 2, true, &downgrade_one},
    {"downgrade-own", "several of one session, of which two downgrade", 2, false, &downgrade_own},
    {"downgrade-next", "the next ones are of the same session", 1, false, &downgrade_next},
    {"downgrade-broken", "an operator deletes what is being changed", 3, false, &downgrade_broken},
    {"downgrade-leaves", "let go, or freed, while it is being changed", 2, false, &downgrade_leaves},
    {"downgrade-away", "asked for without a connection", 2, false, &downgrade_away},
    {"downgrade-unlocked", "asked to let go right before it is changed", 2, false, &downgrade_unlocked},
    {"downgrade-hidden", "asked to let go, and it may not even read that", 2, false, &downgrade_hidden},
    {"downgrade-late", "what was changed is held for long, and then deleted", 2, false, &downgrade_late},
    {"downgrade-lapsed", "the lease ends while it is being changed", 2, false, &downgrade_lapsed},
    {"downgrade-kept", "long after the grant, and nothing is watched", 2, false, &downgrade_kept},
    {"restored", "a directory is made anew, and a copy of the holder's znode put back", 2, false, &restored},
    {"unlocked", "holder and waiter are asked to let go, and something else", 2, false, &unlocked},
    {"unlocked-early", "asked before the watch is there, and again", 2, false, &unlocked_early},
    {"unlocked-soon", "asked while they are watched from the beginning", 2, false, &unlocked_soon},
    {"unlocked-away", "asked while the holder is away", 2, false, &unlocked_away},
    {"urgent", "three wait, the later the more urgent", 3, false, &urgent},
    {"urgent-one", "two come, one more urgent", 2, false, &urgent_one},
    {"urgent-three", "nothing is there, one reads, two write", 3, false, &urgent_three},
    {"urgent-readers", "they read and write, more and less urgent", 3, false, &urgent_readers},
    {"urgent-ageing", "the least urgent is passed, but not by all", 3, false, &urgent_ageing},
    {"urgent-leave", "those in the room give up in their ways", 3, false, &urgent_leave},
    {"urgent-broken", "an operator deletes what is in the room, and what holds", 3, false, &urgent_broken},
    {"urgent-expired", "the session of one in the room is ended", 3, false, &urgent_expired},
    {"urgent-asks", "a less urgent holder is asked, and yields", 3, false, &urgent_asks},
    {"urgent-removes", "a less urgent holder is asked, and removed", 3, false, &urgent_removes},
    {"urgent-own", "several of one session, and one without a priority", 2, false, &urgent_own},
    {"urgent-kept", "long in the room, long held, and downgraded", 3, false, &urgent_kept},
    {"urgent-second", "two at the same moment, and the more urgent one presses", 2, false, &urgent_second},
    {"urgent-presses", "long before the holder would let go", 2, false, &urgent_presses},
    {"urgent-again", "another enters while the first are asked", 3, false, &urgent_again},
    {"urgent-lapses", "the session of one that presses is ended, and it fails", 2, false, &urgent_lapses},
    {"urgent-unlocked", "asked to let go while it is in the room", 3, false, &urgent_unlocked},
    {"urgent-asked", "asked to let go right before it enters", 2, false, &urgent_asked},
    {"urgent-chroot", "below a chroot that is to be made", 2, false, &urgent_chroot},
    {"urgent-wrap", "sequence numbers that begin again below zero", 2, false, &urgent_wrap},
    {"urgent-top", "many of one session, and nothing is there", 2, false, &urgent_top},
    {"urgent-down", "one is pressed, and downgraded", 3, false, &urgent_down},
    {"urgent-foreign", "a contender that is nobody's is pressed", 2, false, &urgent_foreign},
    {"urgent-passes", "one passes another, tells it, and presses the holder", 2, true, &urgent_passes},
    {"urgent-try", "an urgent one looks once", 3, false, &urgent_try},
    {"urgent-crowd", "four read behind one that enters to write", 3, false, &urgent_crowd},
    {"urgent-end", "the last of the sequence numbers", 2, false, &urgent_end},
};

static const struct sim_scene lock_query_scenes[] = {
    {"look", "while two contend", 2, true, &look},
    {"look-empty", "without a directory, and when all have left", 2, false, &look_empty},
    {"look-chroot", "below a chroot, without a directory", 2, false, &look_chroot},
    {"look-rootless", "below a chroot that is missing", 2, false, &look_rootless},
    {"look-foreign", "one that hides, and what is no session's", 2, false, &look_foreign},
};

static const struct sim_scene lock_revoke_scenes[] = {
    {"revoke-chroot", "below a chroot, without a directory", 2, false, &revoke_chroot},
    {"revoke-rootless", "below a chroot that is missing", 2, false, &revoke_rootless},
    {"revoke", "the holder is asked, and yields", 2, false, &revoke},
    {"revoke-two", "it is asked, and removed at once", 2, true, &revoke_two},
    {"revoke-removes", "two read, one of them yields, one that waits is removed", 3, false, &revoke_removes},
    {"revoke-writers", "those only that do not read, for a while", 3, false, &revoke_writers},
    {"revoke-nobody", "nobody is there", 1, false, &revoke_nobody},
    {"revoke-away", "the holder is away", 3, false, &revoke_away},
    {"revoke-hidden", "the holder hides", 2, false, &revoke_hidden},
    {"revoke-late", "the time is over while one is removed", 2, false, &revoke_late},
    {"revoke-child", "a contender by hand gets a child, and loses it", 2, false, &revoke_child},
    {"revoke-parent", "one that has a child is to be removed", 2, false, &revoke_parent},
    {"revoke-expired", "the session of the one that revokes is ended", 2, false, &revoke_expired},
};
/* clang-format on */

const struct sim_recipe sim_lock =
    SIM_RECIPE("lock", lock, lock_scenes, lock, lock);
const struct sim_recipe sim_lock_query =
    SIM_RECIPE("lock-query", lock_query, lock_query_scenes, lock, lock);
const struct sim_recipe sim_lock_revoke =
    SIM_RECIPE("lock-revoke", lock_revoke, lock_revoke_scenes, lock, lock);

const struct sim_recipe *const sim_recipes[] = {
    &sim_lock,     &sim_lock_query, &sim_lock_revoke,
    &sim_election, &sim_observer,   &sim_shards,
    &sim_follow,   &sim_once,       NULL};
