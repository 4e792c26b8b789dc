/* The scenes of the shards.  The machines beneath them, which watch a znode and
 * write one, have some of these scenes too. */
#include "scene_list.h"
#include "scene_shards.h"

/* The first member in the queue makes the plans.  Where process 0 joins 5 ms
 * before process 1, that is the member of process 1: the create of process 0
 * finds no directory, and is repeated when the directory has been made. */

/* clang-format off */
#define SHARDS_SCENE(...)                                                      \
    .own = &(const struct shards_scene) { __VA_ARGS__ }

#define SCENE_ALONE {.name = "alone",                                          \
     .about = "one member joins, and leaves",                                  \
     .processes = 1,                                                           \
     SHARDS_SCENE(                                                             \
         .shards = 2,                                                          \
         .members = {{.process = 0, .join_ms = 20}})}
#define SCENE_LATER {.name = "later",                                          \
     .about = "a second member joins later, and takes over its share",         \
     .processes = 2,                                                           \
     SHARDS_SCENE(                                                             \
         .shards = 2,                                                          \
         .members = {{.process = 0, .join_ms = 20},                            \
                     {.process = 1, .join_ms = 290}})}
#define SCENE_EXPIRES {.name = "expires",                                      \
     .about = "two members; the session of process 1 expires, and the other "  \
              "member takes over at once",                                     \
     .processes = 2,                                                           \
     SHARDS_SCENE(                                                             \
         .shards = 2, .taken_over_at_once = true,                              \
         .members = {{.process = 0, .join_ms = 20},                            \
                     {.process = 1, .join_ms = 25}},                           \
         .actions = {{.action = SHARDS_EXPIRE_SESSION, .at_ms = 330,           \
                      .process = 1}})}
#define SCENE_PLANNER_EXPIRES {.name = "planner-expires",                      \
     .about = "two members; the session of process 0 expires, and the other "  \
              "member takes over at once",                                     \
     .processes = 2,                                                           \
     SHARDS_SCENE(                                                             \
         .shards = 2, .taken_over_at_once = true,                              \
         .members = {{.process = 0, .join_ms = 20},                            \
                     {.process = 1, .join_ms = 25}},                           \
         .actions = {{.action = SHARDS_EXPIRE_SESSION, .at_ms = 330,           \
                      .process = 0}})}
#define SCENE_NO_PLAN {.name = "no-plan",                                      \
     .about = "an operator deletes the plan, and then a second member joins",  \
     .processes = 2,                                                           \
     SHARDS_SCENE(                                                             \
         .shards = 2,                                                          \
         .members = {{.process = 0, .join_ms = 20},                            \
                     {.process = 1, .join_ms = 360}},                          \
         .actions = {{.action = SHARDS_DELETE_PLAN, .at_ms = 330}})}

static const struct sim_scene shards_scenes[] = {
    SCENE_ALONE,
    {.name = "alone-drains",
     .about = "one member joins, and drains: no other member is there to "
              "take its shards",
     .processes = 1, .pairs = true,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20, .drain_ms = 290,
                      .linger_ms = 10}})},
    {.name = "two",
     .about = "two members join at the same moment, and are in one plan",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2, .one_plan = true,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 20}})},
    SCENE_LATER,
    {.name = "third",
     .about = "a third member joins two others later; all leave, and the "
              "third by draining",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25},
                     {.process = 2, .join_ms = 320, .leaves_by_drain = true}})},
    {.name = "drains",
     .about = "two members; that of process 1 drains",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25, .drain_ms = 330,
                      .drain_timeout_ms = 3000}})},
    {.name = "planner-drains",
     .about = "two members; that of process 0 drains",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20, .drain_ms = 330,
                      .drain_timeout_ms = 3000},
                     {.process = 1, .join_ms = 25}})},
    {.name = "first-drains",
     .about = "the first of three members drains, and the two others take "
              "over its shards",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20, .drain_ms = 330,
                      .drain_timeout_ms = 3000},
                     {.process = 1, .join_ms = 90},
                     {.process = 2, .join_ms = 95}})},
    {.name = "both-drain",
     .about = "two members drain at the same moment",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20, .drain_ms = 330},
                     {.process = 1, .join_ms = 25, .drain_ms = 330}})},
    {.name = "freed",
     .about = "two members; that of process 0 is freed",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20, .free_ms = 330},
                     {.process = 1, .join_ms = 25}})},
    SCENE_EXPIRES,
    SCENE_PLANNER_EXPIRES,
    {.name = "away",
     .about = "a process is cut off until its session has expired, and comes "
              "back",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25}},
         .actions = {{.action = SHARDS_CUT_OFF, .at_ms = 330, .process = 1}})},
    {.name = "closes",
     .about = "a process closes its session while its member leads shards",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25}},
         .actions = {{.action = SHARDS_CLOSE_SESSION, .at_ms = 330,
                      .process = 0}})},
    {.name = "closes-sealed",
     .about = "a process loses its session, and may neither read the plan nor "
              "be a member again: it closes the new session",
     .processes = 1,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20}},
         .actions = {{.action = SHARDS_SEAL, .at_ms = 330},
                     {.action = SHARDS_EXPIRE_SESSION, .at_ms = 340,
                      .process = 0},
                     {.action = SHARDS_CLOSE_SESSION, .at_ms = 900,
                      .process = 0}})},
    {.name = "member-broken",
     .about = "an operator deletes the znode of process 0's member",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25}},
         .actions = {{.action = SHARDS_DELETE_MEMBER, .at_ms = 330,
                      .process = 0}})},
    {.name = "second-broken",
     .about = "an operator deletes the znode of process 1's member",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25}},
         .actions = {{.action = SHARDS_DELETE_MEMBER, .at_ms = 330,
                      .process = 1}})},
    {.name = "copied",
     .about = "an operator puts a copy in the place of process 0's member, "
              "just when the member behind it reads its own znode; then the "
              "session of the member that makes the plans expires",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 1,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25},
                     {.process = 2, .join_ms = 30},
                     {.process = 1, .join_ms = 380}},
         .actions = {{.action = SHARDS_COPY_MEMBER, .at_ms = 610,
                      .process = 0},
                     {.action = SHARDS_EXPIRE_SESSION, .at_ms = 800,
                      .process = 1}})},
    {.name = "dir-broken",
     .about = "an operator deletes the only member's znode, and the "
              "directory of the members",
     .processes = 1,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20}},
         .actions = {{.action = SHARDS_DELETE_MEMBER, .at_ms = 300,
                      .process = 0},
                     {.action = SHARDS_DELETE_MEMBERS_DIR, .at_ms = 330}})},
    {.name = "broken",
     .about = "an operator deletes a candidate's znode in the election of "
              "shard 1",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25}},
         .actions = {{.action = SHARDS_DELETE_CANDIDATE, .at_ms = 330,
                      .shard = 1}})},
    SCENE_NO_PLAN,
    {.name = "lost-plan",
     .about = "an operator deletes the plan, and 2 ms later the session of "
              "process 1 expires",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 4,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25},
                     {.process = 2, .join_ms = 30}},
         .actions = {{.action = SHARDS_DELETE_PLAN, .at_ms = 400},
                     {.action = SHARDS_EXPIRE_SESSION, .at_ms = 402,
                      .process = 1}})},
    {.name = "spoilt-plan",
     .about = "an operator writes garbage into the plan, and then a second "
              "member joins",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 360}},
         .actions = {{.action = SHARDS_SPOIL_PLAN, .at_ms = 330}})},
    {.name = "garbage",
     .about = "the znode of the plan exists at the beginning, and holds "
              "garbage",
     .processes = 1,
     SHARDS_SCENE(
         .shards = 2, .plan_is_garbage = true,
         .members = {{.process = 0, .join_ms = 20}})},
    {.name = "spoilt-member",
     .about = "an operator writes garbage into a member's znode, and then a "
              "third member comes and goes",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25},
                     {.process = 0, .join_ms = 360, .free_ms = 420}},
         .actions = {{.action = SHARDS_SPOIL_MEMBER, .at_ms = 330,
                      .process = 1}})},
    {.name = "weights",
     .about = "one of two members has seven times the weight of the other",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 4,
         .members = {{.process = 0, .join_ms = 20, .weight = 7},
                     {.process = 1, .join_ms = 290}})},
    {.name = "most",
     .about = "two members may lead one shard each, and there are three",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20, .most = 1},
                     {.process = 1, .join_ms = 25, .most = 1}})},
    {.name = "observer",
     .about = "three members, of which one is an observer and leads no shard",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20, .observer = true},
                     {.process = 1, .join_ms = 60},
                     {.process = 2, .join_ms = 65}})},
    {.name = "acknowledges",
     .about = "both members acknowledge by hand: one inside ELECTED, one 30 "
              "ms after it",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20, .acknowledge = true},
                     {.process = 1, .join_ms = 290, .acknowledge = true,
                      .ack_ms = 30}})},
    {.name = "differs",
     .about = "the second member has another number of shards than the first",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20, .count = 2},
                     {.process = 1, .join_ms = 290, .count = 3}})},
    {.name = "rivals",
     .about = "one of three members has another number of shards, and makes "
              "the plans when the first member has left",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20, .free_ms = 880, .count = 3},
                     {.process = 1, .join_ms = 90, .count = 2},
                     {.process = 2, .join_ms = 95, .count = 3}},
         .actions = {{.action = SHARDS_WAIT, .at_ms = 5500}})},
    {.name = "paced",
     .about = "two shards go to a second member, one after the other; then "
              "it drains, and they go back",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 4,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 290, .drain_ms = 450,
                      .drain_timeout_ms = 9000}})},
    {.name = "paced-expires",
     .about = "two shards go to a second member, and its session expires in "
              "between",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 4,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 290}},
         .actions = {{.action = SHARDS_EXPIRE_SESSION, .at_ms = 525,
                      .process = 1}})},
    {.name = "paced-stays",
     .about = "two shards go to a second member, and both members stay for "
              "long",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 4,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 290}},
         .actions = {{.action = SHARDS_WAIT, .at_ms = 1400}})},
    {.name = "twice",
     .about = "two members in one session",
     .processes = 1,
     SHARDS_SCENE(
         .shards = 2,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 0, .join_ms = 290}})},
    {.name = "refused",
     .about = "the leader znode of shard 0 cannot be made at first: one made "
              "by hand, with a child, is in its place",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2, .leader_blocked = true,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 360}},
         .actions = {{.action = SHARDS_UNBLOCK_LEADER, .at_ms = 330}})},
    {.name = "replaced",
     .about = "a third member leaves just when it has been planned for, and "
              "a fourth joins",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25},
                     {.process = 2, .join_ms = 320, .free_ms = 219},
                     {.process = 0, .join_ms = 540}},
         .actions = {{.action = SHARDS_WAIT, .at_ms = 1200}})},
    {.name = "third-leaves",
     .about = "a third member leaves just when it has been planned for",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 3,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25},
                     {.process = 2, .join_ms = 320, .free_ms = 219}},
         .actions = {{.action = SHARDS_WAIT, .at_ms = 1200}})},
    {.name = "named",
     .about = "two members list the same names in another order; the session "
              "of process 1 expires, and the other member takes over at once",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 3, .names = {"a", "b", "c"}, .taken_over_at_once = true,
         .members = {{.process = 0, .join_ms = 20, .names = {"c", "a", "b"}},
                     {.process = 1, .join_ms = 25, .names = {"b", "c", "a"}}},
         .actions = {{.action = SHARDS_EXPIRE_SESSION, .at_ms = 330,
                      .process = 1}})},
    {.name = "named-no-plan",
     .about = "an operator deletes the plan for shards with names, and then "
              "a second member joins, which lists them in another order",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2, .names = {"a", "b"},
         .members = {{.process = 0, .join_ms = 20, .names = {"a", "b"}},
                     {.process = 1, .join_ms = 360, .names = {"b", "a"}}},
         .actions = {{.action = SHARDS_DELETE_PLAN, .at_ms = 330}})},
    {.name = "names-differ",
     .about = "the second member lists as many names as the first, and one "
              "of them is another",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 3, .names = {"a", "b", "c"}, .names_differ = true,
         .members = {{.process = 0, .join_ms = 20, .names = {"b", "a"}},
                     {.process = 1, .join_ms = 290, .names = {"c", "b"}}})},
    {.name = "names-change",
     .about = "a member with one name more joins, and the other one drains",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2, .names = {"a", "b"}, .names_differ = true,
         .members = {{.process = 0, .join_ms = 20, .drain_ms = 600,
                      .names = {"b"}},
                     {.process = 1, .join_ms = 290, .names = {"a", "b"}}})},
    {.name = "wrap",
     .about = "the sequence numbers go on below zero, behind the greatest "
              "one",
     .processes = 3,
     SHARDS_SCENE(
         .shards = 2, .first_number = INT32_MAX,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25},
                     {.process = 2, .join_ms = 320, .leaves_by_drain = true}})},
    {.name = "end",
     .about = "the sequence numbers end, as they do in ZooKeeper 3.8.0",
     .processes = 2,
     SHARDS_SCENE(
         .shards = 2, .numbers_end = true, .first_number = INT32_MAX - 1,
         .members = {{.process = 0, .join_ms = 20},
                     {.process = 1, .join_ms = 25}})},
};

static const struct sim_scene watch_node_scenes[] = {
    SCENE_ALONE,
    SCENE_LATER,
    SCENE_PLANNER_EXPIRES,
    SCENE_NO_PLAN,
};

static const struct sim_scene write_once_scenes[] = {
    SCENE_ALONE,
    SCENE_EXPIRES,
};
/* clang-format on */

const struct sim_recipe sim_shards =
    SIM_RECIPE("shards", planner, shards_scenes, shards, shards);
const struct sim_recipe sim_watch_node =
    SIM_RECIPE("watch-node", watch_node, watch_node_scenes, shards, shards);
const struct sim_recipe sim_write_once =
    SIM_RECIPE("write-once", write_once, write_once_scenes, shards, shards);
