/* The scenes of elections, and of those who observe one. */
#include "scene_list.h"
#include "scene_lock.h"

/* It stands in an election; one without it is a lock. */
#define E .elect = true

/* clang-format off */
static const struct lock_scene
elect_one = {
    .plan = {{AT(0, 1), E, .hold_ms = 30}},
    .route = {0, 1}},
elect_two = {
    .plan = {{AT(0, 1), E, .hold_ms = 20}, {AT(1, 2), E, .ready_ms = 3, .hold_ms = 15}},
    .route = {0, 1}, .parents = true},
elect_three = {
    .plan = {{AT(0, 1), E, .ready_ms = 5, .hold_ms = 20}, {AT(1, 2), E, .hold_ms = 20}, {AT(2, 3), E, .hold_ms = 20}},
    .route = {1, 2, 0}, .parents = true},
elect_silent = {
    .plan = {{AT(0, 1), E, .ready_ms = -1, .hold_ms = 20}, {AT(1, 2), E, .ready_ms = 5, .hold_ms = 6}},
    .route = {0, 1}, .parents = true},
elect_again = {
    .plan = {{AT(0, 1), E, .again_ms = 20, .hold_ms = 45}, {AT(1, 10), E, .again_ms = 11, .hold_ms = 12}},
    .route = {1, 2}, .parents = true},
elect_kept = {
    .plan = {{AT(0, 1), E, .hold_ms = 250, .no_own_watch = true}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_ASK, 200, 0}},
    .route = {1, 2}, .parents = true},
elect_again_kept = {
    .plan = {{AT(0, 1), E, .again_ms = 250, .hold_ms = 290, .no_own_watch = true}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_ASK, 200, 0}},
    .route = {1, 2}, .parents = true},
elect_at_once = {
    .plan = {{AT(0, 1), E}, {AT(1, 1), E, .free_held = true}, {AT(0, 30), E, .cancel_ms = 1}},
    .route = {2, 0}},
elect_soon = {
    .plan = {{AT(0, 1), E, .hold_ms = 1}, {AT(1, 2), E, .hold_ms = 2, .free_held = true}, {AT(2, 3), E, .hold_ms = 15, .free_held = true}},
    .route = {1, 2, 0}, .parents = true},
elect_leave = {
    .plan = {{AT(0, 1), E, .hold_ms = 80}, {AT(1, 10), E, .cancel_ms = 20}, {AT(2, 12), E, .timeout_ms = 40}, {AT(1, 14), E, .free_ms = 30}, {AT(2, 16), E, .hold_ms = 15}},
    .route = {1, 2, 0}, .parents = true},
elect_requeue = {
    .plan = {{AT(0, 1), E, .hold_ms = 60}, {AT(1, 10), E, .hold_ms = 15}, {AT(2, 15), E, .no_requeue = true}},
    .action = {{LOCK_EXPIRE, 30, 1}, {LOCK_EXPIRE, 35, 2}},
    .route = {0, 1, 2}, .parents = true},
elect_over = {
    .plan = {{AT(0, 1), E, .hold_ms = 700}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_EXPIRE, 200, 0}},
    .route = {0, 2}, .parents = true},
elect_blind = {
    .plan = {{AT(0, 1), E, .hold_ms = 700, .no_own_watch = true}, {AT(1, 10), E, .hold_ms = 20, .no_own_watch = true}},
    .action = {{LOCK_BREAK, 200, 0}},
    .route = {1, 2}, .parents = true},
elect_own = {
    .plan = {{AT(0, 30), E, .hold_ms = 20, .again = true}, {E, .hold_ms = 15}, {AT(0, 32), E, .hold_ms = 15}, {AT(1, 33), E, .hold_ms = 15}, {AT(0, 34), E}},
    .route = {1, 2}, .top = true},
elect_chain = {
    .plan = {{AT(0, 30), E}, {AT(0, 30), E, .hold_ms = 1}, {AT(0, 30), E, .hold_ms = 15}},
    .route = {1}, .top = true},
elect_shards = {
    .plan = {{AT(0, 30), E, .hold_ms = 20}, {AT(0, 30), E, .hold_ms = 20, .place = 1}, {AT(0, 30), E, .hold_ms = 20, .place = 2}, {AT(1, 33), E, .hold_ms = 5, .place = 1}},
    .route = {1, 2}, .top = true},
elect_new = {
    .plan = {{AT(0, 30), E, .hold_ms = 15}, {AT(0, 30), E, .hold_ms = 5}, {AT(0, 30), E}, {AT(1, 31), E, .hold_ms = 5}, {AT(1, 31), E, .hold_ms = 5}, {AT(0, 33), E, .hold_ms = 15}},
    .route = {1, 2}, .deep = true},
elect_deleted = {
    .plan = {{AT(0, 1), E, .hold_ms = 60}, {AT(1, 10), E, .hold_ms = 20}, {AT(2, 15), E, .hold_ms = 20}},
    .action = {{LOCK_BREAK, 30, 0}, {LOCK_BREAK, 45, 2}},
    .route = {1, 2, 0}, .parents = true},
elect_deleted_late = {
    .plan = {{AT(0, 1), E, .ready_ms = 600, .hold_ms = 2000}, {AT(1, 10), E, .hold_ms = 5000}},
    .action = {{LOCK_BREAK, 1000, 0}, {LOCK_BREAK, 1500, 1}},
    .route = {1, 2}, .parents = true},
elect_deleted_first = {
    .plan = {{AT(0, 1), E, .ready_ms = 30, .hold_ms = 60}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_BREAK, 46, 0}},
    .route = {1, 2}, .parents = true},
elect_deleted_away = {
    .plan = {{AT(0, 1), E, .ready_ms = 350, .hold_ms = 1000}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_AWAY, 300, 0}, {LOCK_BREAK, 400, 0}},
    .route = {1, 2}, .parents = true},
elect_unseated = {
    .plan = {{AT(0, 1), E, .again_ms = 700, .hold_ms = 1200}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_UNSEAT, 300, 0}, {LOCK_UNSEAT, 900, 0}},
    .route = {1, 2}, .parents = true},
elect_unseated_late = {
    .plan = {{AT(0, 30), E, .hold_ms = 40, .place = 1}, {AT(0, 30), E, .hold_ms = 40}, {AT(0, 30), E, .hold_ms = 20}, {AT(0, 30), E, .hold_ms = 20}},
    .action = {{LOCK_BREAK, 75, 0}, {LOCK_UNSEAT, 75, 0}},
    .route = {1}, .top = true},
elect_foreign = {
    .plan = {{AT(0, 1), E, .hold_ms = 30}, {AT(1, 10), E, .hold_ms = 20}},
    .route = {1, 2}, .parents = true, .leader = LOCK_LEADER},
elect_parent = {
    .plan = {{AT(0, 1), E, .again_ms = 20, .hold_ms = 40}, {AT(1, 10), E, .hold_ms = 20}},
    .route = {1, 2}, .parents = true, .leader = LOCK_LEADER_PARENT},
elect_long = {
    .plan = {{AT(0, 1), E, .hold_ms = 1500}, {AT(1, 10), E, .ready_ms = 400, .hold_ms = 900}},
    .route = {1, 0}, .parents = true},
elect_away = {
    .plan = {{AT(0, 1), E, .ready_ms = 330, .again_ms = 900, .hold_ms = 1500}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_AWAY, 300, 0}, {LOCK_AWAY, 890, 0}},
    .route = {1, 2}, .parents = true},
elect_lapsed = {
    .plan = {{AT(0, 1), E, .hold_ms = 6000, .linger_ms = 300}, {AT(1, 3), E, .hold_ms = 20}},
    .action = {{LOCK_DOUBT, 400, 0}},
    .route = {1, 2}, .parents = true},
elect_lapsed_first = {
    .plan = {{AT(0, 1), E, .ready_ms = 450, .hold_ms = 6000}, {AT(1, 3), E, .hold_ms = 20}},
    .action = {{LOCK_DOUBT, 400, 0}},
    .route = {1, 2}, .parents = true},
elect_closed_away = {
    .plan = {{AT(0, 1), E, .hold_ms = 60}, {AT(1, 10), E, .hold_ms = 20}},
    .action = {{LOCK_SILENCE, 40, 0}, {LOCK_CLOSE, 60, 0}},
    .route = {1, 2}, .parents = true},
elect_asked = {
    .plan = {{AT(0, 1), E, .hold_ms = 300, .revocable = true, .yields = true}, {AT(1, 10), E, .hold_ms = 30, .revocable = true}},
    .action = {{LOCK_UNLOCK, 50, 0}, {LOCK_SCRIBBLE, 25, 1}},
    .route = {1, 2}, .parents = true},
elect_end = {
    .plan = {{AT(0, 1), E, .hold_ms = 30}, {AT(1, 10), E}, {AT(2, 15), E}},
    .route = {0, 1, 2}, .parents = true, .sequence = true, .end = true, .first = INT32_MAX - 1},
elect_wrap = {
    .plan = {{AT(0, 1), E, .hold_ms = 40}, {AT(1, 10), E, .hold_ms = 15}, {AT(2, 20), E, .hold_ms = 15}, {AT(1, 22), E, .hold_ms = 5}},
    .route = {0, 1, 2}, .parents = true, .sequence = true, .first = INT32_MAX - 1},
elect_wrap_own = {
    .plan = {{AT(0, 30), E, .hold_ms = 20}, {AT(0, 30), E, .hold_ms = 5}, {AT(0, 30), E, .hold_ms = 15}, {AT(1, 33), E, .hold_ms = 5}},
    .route = {1, 2}, .parents = true, .sequence = true, .first = INT32_MAX},
elect_wrap_requeue = {
    .plan = {{AT(0, 1), E, .hold_ms = 60}, {AT(1, 10), E, .hold_ms = 15}, {AT(2, 15), E, .hold_ms = 5}},
    .action = {{LOCK_EXPIRE, 30, 1}},
    .route = {0, 1, 2}, .parents = true, .sequence = true, .first = INT32_MAX - 1},
elect_chroot = {
    .plan = {{AT(0, 1), E, .hold_ms = 20}, {AT(1, 1), E, .hold_ms = 15}},
    .action = {{LOCK_OBSERVE, 5, 1}},
    .route = {0, 1}, .chroot = "/app", .make_chroot = true},
observe_chroot = {
    .plan = {{AT(0, 20), E, .hold_ms = 20}},
    .action = {{LOCK_OBSERVE, 5, 1}},
    .route = {0, 1}, .chroot = "/app"},
observe_rootless = {
    .plan = {{AT(0, 20), E, .hold_ms = 20}},
    .action = {{LOCK_OBSERVE, 5, 1}},
    .route = {0, 1}, .chroot = "/app", .rootless = true},
observe = {
    .plan = {{AT(0, 1), E, .hold_ms = 20}},
    .action = {{LOCK_OBSERVE, 10, 1}},
    .route = {0, 1}, .parents = true},
observe_two = {
    .plan = {{AT(0, 1), E, .again_ms = 20, .hold_ms = 40}, {AT(1, 10), E, .ready_ms = 10, .hold_ms = 30}},
    .action = {{LOCK_OBSERVE, 1, 2}, {LOCK_OBSERVE, 30, 1}},
    .route = {1, 2, 0}, .parents = true},
observe_both = {
    .plan = {{AT(0, 1), E, .again_ms = 20, .hold_ms = 40}, {AT(2, 10), E, .hold_ms = 30}},
    .action = {{LOCK_OBSERVE, 20, 1}, {LOCK_OBSERVE, 58, 1}, {LOCK_OBSERVE, 58, 1}},
    .route = {0, 1, 2}, .parents = true},
observe_nobody = {
    .plan = {{AT(1, 60), E, .hold_ms = 30}},
    .action = {{LOCK_OBSERVE, 5, 0}},
    .route = {1, 2}},
observe_deleted = {
    .plan = {{AT(0, 1), E, .hold_ms = 400}, {AT(1, 10), E, .ready_ms = 50, .hold_ms = 90}},
    .action = {{LOCK_OBSERVE, 20, 2}, {LOCK_BREAK, 100, 0}},
    .route = {1, 2, 0}, .parents = true},
observe_unseated = {
    .plan = {{AT(0, 1), E, .again_ms = 200, .hold_ms = 400}},
    .action = {{LOCK_OBSERVE, 20, 1}, {LOCK_UNSEAT, 100, 0}},
    .route = {1, 2}, .parents = true},
observe_foreign = {
    .plan = {{AT(0, 60), E, .hold_ms = 60}},
    .action = {{LOCK_OBSERVE, 20, 1}},
    .route = {1, 2}, .parents = true, .leader = LOCK_LEADER},
observe_like = {
    .plan = {{AT(0, 60), E, .hold_ms = 200}},
    .action = {{LOCK_OBSERVE, 20, 1}},
    .route = {1, 2}, .parents = true, .leader = LOCK_LEADER_LIKE},
observe_hand = {
    .plan = {{AT(0, 10), E, .hold_ms = 60}},
    .action = {{LOCK_OBSERVE, 20, 1}, {LOCK_CHILD, 60, 0}, {LOCK_CHILDLESS, 80, 0}, {LOCK_CLEAR, 100, 0}},
    .route = {1, 2}, .parents = true, .foreign = true, .leader = LOCK_LEADER_HAND},
observe_unlocked = {
    .plan = {{AT(0, 1), E, .hold_ms = 100}},
    .action = {{LOCK_OBSERVE, 20, 1}, {LOCK_SCRIBBLE, 60, 0}},
    .route = {1, 2}, .parents = true},
observe_seated = {
    .plan = {{AT(0, 1), E, .ready_ms = 100, .hold_ms = 400}},
    .action = {{LOCK_OBSERVE, 20, 1}, {LOCK_SEAT, 60, 0}},
    .route = {1, 2}, .parents = true},
observe_expired = {
    .plan = {{AT(0, 1), E, .hold_ms = 300}, {AT(1, 10), E, .hold_ms = 200}},
    .action = {{LOCK_OBSERVE, 20, 2}, {LOCK_EXPIRE, 100, 2}, {LOCK_EXPIRE, 150, 0}},
    .route = {1, 2, 0}, .parents = true},
observe_away = {
    .plan = {{AT(0, 1), E, .again_ms = 450, .hold_ms = 900}, {AT(1, 10), E, .hold_ms = 500}},
    .action = {{LOCK_OBSERVE, 20, 2}, {LOCK_AWAY, 300, 2}, {LOCK_LATE, 800, 2}},
    .route = {1, 2, 0}, .parents = true},
observe_wrap = {
    .plan = {{AT(0, 1), E, .hold_ms = 40}, {AT(1, 10), E, .hold_ms = 30}, {AT(0, 15), E, .hold_ms = 20}},
    .action = {{LOCK_OBSERVE, 20, 2}},
    .route = {0, 1, 2}, .parents = true, .sequence = true, .first = INT32_MAX - 1},
observe_end = {
    .plan = {{AT(0, 1), E, .hold_ms = 40}, {AT(1, 10), E, .hold_ms = 30}},
    .action = {{LOCK_OBSERVE, 20, 2}},
    .route = {0, 1, 2}, .parents = true, .sequence = true, .end = true, .first = INT32_MAX - 1},
observe_closed = {
    .plan = {{AT(0, 1), E, .hold_ms = 100}},
    .action = {{LOCK_OBSERVE, 20, 1}, {LOCK_CLOSE, 60, 1}},
    .route = {1, 2}, .parents = true};

static const struct sim_scene election_scenes[] = {
    {"elect-one", "nobody else stands", 1, true, &elect_one},
    {"elect-two", "one leads, then the other", 2, true, &elect_two},
    {"elect-three", "each with another server", 3, false, &elect_three},
    {"elect-silent", "one is elected, and never says so", 2, false, &elect_silent},
    {"elect-again", "they say it twice", 2, false, &elect_again},
    {"elect-kept", "resigned long after, and nothing is watched", 2, false, &elect_kept},
    {"elect-again-kept", "the same, and said once more", 2, false, &elect_again_kept},
    {"elect-at-once", "resigned or freed in the callback", 2, false, &elect_at_once},
    {"elect-soon", "resigned or freed while they say it", 3, false, &elect_soon},
    {"elect-leave", "those that wait give up in their ways", 3, false, &elect_leave},
    {"elect-requeue", "sessions of those that wait are ended", 3, false, &elect_requeue},
    {"elect-over", "the leader's session is ended", 2, false, &elect_over},
    {"elect-blind", "without a watch on the own znode, and it is deleted", 2, false, &elect_blind},
    {"elect-own", "several of one session, and one of another", 2, false, &elect_own},
    {"elect-chain", "three of one session, resigned soon", 1, false, &elect_chain},
    {"elect-shards", "three elections in one turn, all to be made", 2, false, &elect_shards},
    {"elect-new", "several of two sessions, and nothing is there", 2, false, &elect_new},
    {"elect-deleted", "an operator deletes the candidate's znode while it leads", 3, false, &elect_deleted},
    {"elect-deleted-late", "the same, when it has led for long", 2, false, &elect_deleted_late},
    {"elect-deleted-first", "the same, right before it leads", 2, false, &elect_deleted_first},
    {"elect-deleted-away", "the same, while it is away", 2, false, &elect_deleted_away},
    {"elect-unseated", "an operator deletes the leader znode", 2, false, &elect_unseated},
    {"elect-unseated-late", "the same, and another's candidate, as both resign", 1, false, &elect_unseated_late},
    {"elect-foreign", "a leader znode by hand is there", 2, false, &elect_foreign},
    {"elect-parent", "and has a child", 2, false, &elect_parent},
    {"elect-long", "they lead for longer than any doubt lasts", 2, false, &elect_long},
    {"elect-away", "it says so without a connection", 2, false, &elect_away},
    {"elect-lapsed", "the lease of a leader ends, and the session does not", 2, false, &elect_lapsed},
    {"elect-lapsed-first", "the same, while it says that it leads", 2, false, &elect_lapsed_first},
    {"elect-closed-away", "a leader closes, and no server answers", 2, false, &elect_closed_away},
    {"elect-asked", "they are asked to resign", 2, false, &elect_asked},
    {"elect-end", "the last of the sequence numbers", 3, false, &elect_end},
    {"elect-wrap", "servers that begin again below zero", 3, false, &elect_wrap},
    {"elect-wrap-own", "the same, and several of one session", 2, false, &elect_wrap_own},
    {"elect-wrap-requeue", "the same, and one stands again below zero", 3, false, &elect_wrap_requeue},
    {"elect-chroot", "below a chroot that is to be made", 2, false, &elect_chroot},
};

static const struct sim_scene observer_scenes[] = {
    {"observe", "one leads, one observes", 2, true, &observe},
    {"observe-two", "two lead, one of them twice; it observes from the beginning", 3, false, &observe_two},
    {"observe-both", "three of one session, two of them at once, when one resigns", 3, false, &observe_both},
    {"observe-nobody", "before anything is there", 2, false, &observe_nobody},
    {"observe-deleted", "an operator deletes the candidate's znode", 3, false, &observe_deleted},
    {"observe-unseated", "an operator deletes the leader znode", 2, false, &observe_unseated},
    {"observe-foreign", "a leader znode by hand is there", 2, false, &observe_foreign},
    {"observe-like", "and looks like a leader's", 2, false, &observe_like},
    {"observe-hand", "one by hand, of a contender by hand", 2, false, &observe_hand},
    {"observe-unlocked", "somebody writes to the candidate's znode", 2, false, &observe_unlocked},
    {"observe-seated", "one by hand, of nobody, between elected and leading", 2, false, &observe_seated},
    {"observe-expired", "sessions of observer and leader are ended", 3, false, &observe_expired},
    {"observe-away", "while the observer is away, and late", 3, false, &observe_away},
    {"observe-wrap", "the leader's number is below zero", 3, false, &observe_wrap},
    {"observe-end", "the last of the sequence numbers", 3, false, &observe_end},
    {"observe-chroot", "below a chroot, before anything is there", 2, false, &observe_chroot},
    {"observe-rootless", "below a chroot that is missing", 2, false, &observe_rootless},
    {"observe-closed", "the observer closes its session", 2, false, &observe_closed},
};
/* clang-format on */

const struct sim_recipe sim_election =
    SIM_RECIPE("election", election, election_scenes, lock, lock_election);
const struct sim_recipe sim_observer =
    SIM_RECIPE("observer", observer, observer_scenes, lock, lock_election);
