/* The scenes of the shards, and the recipes that share them: who plans, who
 * follows a znode, who writes once. */
#include "scene_list.h"
#include "scene_shards.h"

/* clang-format off */
static const struct shards_scene alone =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20}}};
static const struct shards_scene alone_drains =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20, .drain_ms = 290, .linger_ms = 10}}};
static const struct shards_scene two =
    {.shards = 2, .together = true, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 20}}};
static const struct shards_scene later =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 290}}};
static const struct shards_scene third =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25},
                           {.proc = 2, .join_ms = 320, .drains = true}}};
static const struct shards_scene drains =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25, .drain_ms = 330, .timeout_ms = 3000}}};
static const struct shards_scene planner_drains =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20, .drain_ms = 330, .timeout_ms = 3000},
                           {.proc = 1, .join_ms = 25}}};
static const struct shards_scene first_drains =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20, .drain_ms = 330, .timeout_ms = 3000},
                           {.proc = 1, .join_ms = 90},
                           {.proc = 2, .join_ms = 95}}};
static const struct shards_scene both_drain =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20, .drain_ms = 330},
                           {.proc = 1, .join_ms = 25, .drain_ms = 330}}};
static const struct shards_scene freed =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20, .free_ms = 330},
                           {.proc = 1, .join_ms = 25}}};
static const struct shards_scene expires =
    {.shards = 2, .soon = true, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25}},
     .action = {{SHARDS_EXPIRE, 330, 1}}};
static const struct shards_scene planner_expires =
    {.shards = 2, .soon = true, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25}},
     .action = {{SHARDS_EXPIRE, 330, 0}}};
static const struct shards_scene away =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25}},
     .action = {{SHARDS_AWAY, 330, 1}}};
static const struct shards_scene closes =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25}},
     .action = {{SHARDS_CLOSE, 330, 0}}};
static const struct shards_scene member_broken =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25}},
     .action = {{SHARDS_BREAK_MEMBER, 330, 0}}};
static const struct shards_scene second_broken =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25}},
     .action = {{SHARDS_BREAK_MEMBER, 330, 1}}};
static const struct shards_scene copied =
    {.shards = 1, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25},
                           {.proc = 2, .join_ms = 30},
                           {.proc = 1, .join_ms = 380}},
     .action = {{SHARDS_COPY_MEMBER, 610, 0}, {SHARDS_EXPIRE, 800, 1}}};
static const struct shards_scene dir_broken =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20}},
     .action = {{SHARDS_BREAK_MEMBER, 300, 0}, {SHARDS_BREAK_DIR, 330, 0}}};
static const struct shards_scene broken =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25}},
     .action = {{SHARDS_BREAK, 330, 1}}};
static const struct shards_scene no_plan =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 360}},
     .action = {{SHARDS_BREAK_PLAN, 330, 0}}};
static const struct shards_scene spoilt_plan =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 360}},
     .action = {{SHARDS_SPOIL_PLAN, 330, 0}}};
static const struct shards_scene lost_plan =
    {.shards = 4, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25},
                           {.proc = 2, .join_ms = 30}},
     .action = {{SHARDS_BREAK_PLAN, 400, 0}, {SHARDS_EXPIRE, 402, 1}}};
static const struct shards_scene garbage =
    {.shards = 2, .garbage = true, .plan = {{.proc = 0, .join_ms = 20}}};
static const struct shards_scene spoilt_member =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25},
                           {.proc = 0, .join_ms = 360, .free_ms = 420}},
     .action = {{SHARDS_SPOIL_MEMBER, 330, 1}}};
static const struct shards_scene weights =
    {.shards = 4, .plan = {{.proc = 0, .join_ms = 20, .weight = 7},
                           {.proc = 1, .join_ms = 290}}};
static const struct shards_scene most =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20, .most = 1},
                           {.proc = 1, .join_ms = 25, .most = 1}}};
static const struct shards_scene onlooker =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20, .observer = true},
                           {.proc = 1, .join_ms = 60},
                           {.proc = 2, .join_ms = 65}}};
static const struct shards_scene acknowledges =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20, .acknowledge = true},
                           {.proc = 1, .join_ms = 290, .acknowledge = true, .ack_ms = 30}}};
static const struct shards_scene differs =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20, .count = 2},
                           {.proc = 1, .join_ms = 290, .count = 3}}};
static const struct shards_scene rivals =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20, .free_ms = 880, .count = 3},
                           {.proc = 1, .join_ms = 90, .count = 2},
                           {.proc = 2, .join_ms = 95, .count = 3}},
     .action = {{SHARDS_STAY, 5500, 0}}};
static const struct shards_scene paced =
    {.shards = 4, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 290, .drain_ms = 450, .timeout_ms = 9000}}};
static const struct shards_scene paced_expires =
    {.shards = 4, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 290}},
     .action = {{SHARDS_EXPIRE, 525, 1}}};
static const struct shards_scene paced_stays =
    {.shards = 4, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 290}},
     .action = {{SHARDS_STAY, 1400, 0}}};
static const struct shards_scene twice =
    {.shards = 2, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 0, .join_ms = 290}}};
static const struct shards_scene refused =
    {.shards = 2, .refused = true,
     .plan = {{.proc = 0, .join_ms = 20},
              {.proc = 1, .join_ms = 360}},
     .action = {{SHARDS_ALLOW, 330, 0}}};
static const struct shards_scene replaced =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25},
                           {.proc = 2, .join_ms = 320, .free_ms = 219},
                           {.proc = 0, .join_ms = 540}},
     .action = {{SHARDS_STAY, 1200, 0}}};
static const struct shards_scene third_leaves =
    {.shards = 3, .plan = {{.proc = 0, .join_ms = 20},
                           {.proc = 1, .join_ms = 25},
                           {.proc = 2, .join_ms = 320, .free_ms = 219}},
     .action = {{SHARDS_STAY, 1200, 0}}};
static const struct shards_scene wrap =
    {.shards = 2, .sequence = true, .first = INT32_MAX,
     .plan = {{.proc = 0, .join_ms = 20},
              {.proc = 1, .join_ms = 25},
              {.proc = 2, .join_ms = 320, .drains = true}}};
static const struct shards_scene end_of_numbers =
    {.shards = 2, .sequence = true, .end = true, .first = INT32_MAX - 1,
     .plan = {{.proc = 0, .join_ms = 20},
              {.proc = 1, .join_ms = 25}}};

#define SCENE(name, about, clients, own) {name, about, clients, false, &own}
#define PAIRS(name, about, clients, own) {name, about, clients, true, &own}
static const struct sim_scene shards_scenes[] = {
SCENE("alone", "one joins, and leaves", 1, alone),
PAIRS("alone-drains", "one joins, and drains", 1, alone_drains),
SCENE("two", "two join, and have one plan", 2, two),
SCENE("later", "one joins later: it takes over its share", 2, later),
SCENE("third", "a third joins later, and drains", 3, third),
SCENE("drains", "the second drains", 2, drains),
SCENE("planner-drains", "the one that plans drains", 2, planner_drains),
SCENE("first-drains", "the one that plans drains, and two take over", 3, first_drains),
SCENE("both-drain", "two drain at once", 2, both_drain),
SCENE("freed", "the one that plans is freed", 2, freed),
SCENE("expires", "the second one's session ends", 2, expires),
SCENE("planner-expires", "the session of the one that plans ends", 2, planner_expires),
SCENE("away", "the second is away for long", 2, away),
SCENE("closes", "the one that plans closes its session", 2, closes),
SCENE("member-broken", "an operator deletes the first member's znode", 2, member_broken),
SCENE("second-broken", "and the second one's", 2, second_broken),
SCENE("copied", "an operator puts a copy in the place of the first member's znode", 3, copied),
SCENE("dir-broken", "an operator deletes the only one's, and the directory", 1, dir_broken),
SCENE("broken", "an operator deletes a candidate's znode", 2, broken),
SCENE("no-plan", "an operator deletes the plan", 2, no_plan),
SCENE("lost-plan", "the same, and the session of the one that plans ends", 3, lost_plan),
SCENE("spoilt-plan", "an operator writes something else there", 2, spoilt_plan),
SCENE("garbage", "there is no plan in the plan", 1, garbage),
SCENE("spoilt-member", "an operator writes to a member's znode", 2, spoilt_member),
SCENE("weights", "one has seven times the weight", 2, weights),
SCENE("most", "there is more than they take", 2, most),
SCENE("observer", "one leads nothing", 3, onlooker),
SCENE("acknowledges", "who is elected says by hand that it leads", 2, acknowledges),
SCENE("differs", "one has another number of shards", 2, differs),
SCENE("rivals", "the same, and its turn to plan comes", 3, rivals),
SCENE("paced", "two go to one: one after the other, and back", 2, paced),
SCENE("paced-expires", "the session of the one that takes them ends", 2, paced_expires),
SCENE("paced-stays", "and both stay for long", 2, paced_stays),
SCENE("twice", "two members in one session", 1, twice),
SCENE("refused", "it may not say that it leads, at first", 2, refused),
SCENE("replaced", "a third leaves as it is planned for, and another joins", 3, replaced),
SCENE("third-leaves", "a third leaves as it is planned for", 3, third_leaves),
SCENE("wrap", "sequence numbers that begin again below zero", 3, wrap),
SCENE("end", "the last of the sequence numbers", 2, end_of_numbers),
};

static const struct sim_scene watch_node_scenes[] = {
SCENE("alone", "one joins, and leaves", 1, alone),
SCENE("later", "one joins later: it takes over its share", 2, later),
SCENE("planner-expires", "the session of the one that plans ends", 2, planner_expires),
SCENE("no-plan", "an operator deletes the plan", 2, no_plan),
};

static const struct sim_scene write_once_scenes[] = {
SCENE("alone", "one joins, and leaves", 1, alone),
SCENE("expires", "the second one's session ends", 2, expires),
};
/* clang-format on */

const struct sim_recipe sim_shards =
    SIM_RECIPE("shards", planner, shards_scenes, shards, shards);
const struct sim_recipe sim_watch_node =
    SIM_RECIPE("watch-node", watch_node, watch_node_scenes, shards, shards);
const struct sim_recipe sim_write_once =
    SIM_RECIPE("write-once", write_once, write_once_scenes, shards, shards);
