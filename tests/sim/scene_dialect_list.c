/* The scenes of locks and candidates with the names of other libraries. */
#include "scene_list.h"
#include "scene_lock.h"

#define CURATOR .dialect = EVZK_DIALECT_CURATOR
#define KAZOO .dialect = EVZK_DIALECT_KAZOO

/* clang-format off */
static const struct sim_scene dialect_scenes[] = {
    {.name = "curator-mutex",
     .about = "two processes take a lock named as Curator's mutex",
     .processes = 2, .pairs = true,
     LOCK_SCENE(CURATOR,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 15},
                   {.process = 1, .start_ms = 2, .hold_ms = 5}},
         .server = {LEADER, FOLLOWER_1})},
    {.name = "curator-one-session",
     .about = "three locks of one session, named as Curator's mutex",
     .processes = 1,
     LOCK_SCENE(CURATOR,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 10},
                   {.process = 0, .start_ms = 1, .hold_ms = 5},
                   {.process = 0, .start_ms = 12, .hold_ms = 5}})},
    {.name = "curator-shared",
     .about = "readers and a writer, named as Curator's read-write lock; the "
              "writer becomes a reader",
     .processes = 3,
     LOCK_SCENE(CURATOR,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 20, .mode = READ},
                   {.process = 1, .start_ms = 3, .hold_ms = 40, .mode = WRITE,
                    .downgrade_ms = 12},
                   {.process = 2, .start_ms = 6, .hold_ms = 5, .mode = READ},
                   {.process = 0, .start_ms = 9, .hold_ms = 5, .mode = WRITE}},
         .server = {LEADER, FOLLOWER_1, FOLLOWER_2})},
    {.name = "curator-foreign",
     .about = "contenders that do not wait for Curator's mutex are there",
     .processes = 2,
     LOCK_SCENE(CURATOR,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 5},
                   {.process = 1, .start_ms = 80, .hold_ms = 5}},
         .actions = {{.at_ms = 60, .action = LOCK_DELETE_FOREIGN}},
         .dir_exists = true, .foreign = true)},
    {.name = "curator-shared-foreign",
     .about = "a mutex is there, which does not wait for Curator's read-write "
              "lock",
     .processes = 2,
     LOCK_SCENE(CURATOR,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 5, .mode = WRITE},
                   {.process = 1, .start_ms = 80, .hold_ms = 5, .mode = READ}},
         .actions = {{.at_ms = 60, .action = LOCK_DELETE_FOREIGN}},
         .dir_exists = true, .foreign = true)},
    {.name = "kazoo-foreign",
     .about = "a mutex is there, which does not wait for Kazoo's locks",
     .processes = 2,
     LOCK_SCENE(KAZOO,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 5},
                   {.process = 1, .start_ms = 80, .hold_ms = 5, .mode = READ}},
         .actions = {{.at_ms = 60, .action = LOCK_DELETE_FOREIGN}},
         .dir_exists = true, .foreign = true)},
    {.name = "kazoo-lock",
     .about = "two processes take a lock named as Kazoo's",
     .processes = 2, .pairs = true,
     LOCK_SCENE(KAZOO,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 15},
                   {.process = 1, .start_ms = 2, .hold_ms = 5}},
         .server = {LEADER, FOLLOWER_1})},
    {.name = "kazoo-shared",
     .about = "readers and a writer, named as Kazoo's; the writer becomes a "
              "reader, and an operator deletes a znode",
     .processes = 3,
     LOCK_SCENE(KAZOO,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 20, .mode = READ},
                   {.process = 1, .start_ms = 3, .hold_ms = 40, .mode = WRITE,
                    .downgrade_ms = 12},
                   {.process = 2, .start_ms = 6, .hold_ms = 5, .mode = READ},
                   {.process = 0, .start_ms = 9, .hold_ms = 5, .mode = WRITE}},
         .actions = {{.at_ms = 8, .action = LOCK_DELETE_ZNODE, .lock = 0}},
         .server = {LEADER, FOLLOWER_1, FOLLOWER_2})},
    {.name = "kazoo-one-session",
     .about = "locks of one session, named as Kazoo's, in a chroot",
     .processes = 1,
     LOCK_SCENE(KAZOO,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 10},
                   {.process = 0, .start_ms = 1, .hold_ms = 5, .mode = READ},
                   {.process = 0, .start_ms = 12, .hold_ms = 5}},
         .chroot = "/app", .make_chroot = true)},
};

static const struct sim_scene election_scenes[] = {
    {.name = "curator-latch",
     .about = "two candidates named as Curator's LeaderLatch; the first resigns",
     .processes = 2, .pairs = true,
     LOCK_SCENE(CURATOR,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 25, .elect = true},
                   {.process = 1, .start_ms = 4, .hold_ms = 5, .elect = true}},
         .server = {LEADER, FOLLOWER_1})},
    {.name = "kazoo-election",
     .about = "two candidates named as Kazoo's; the first one's session ends",
     .processes = 2,
     LOCK_SCENE(KAZOO,
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 60, .elect = true},
                   {.process = 1, .start_ms = 4, .hold_ms = 5, .elect = true}},
         .actions = {{.at_ms = 20, .action = LOCK_EXPIRE, .process = 0}},
         .server = {LEADER, FOLLOWER_1})},
};
/* clang-format on */

/* Without machines of their own: the coverage is that of the scenes of locks
 * and elections. */
#define DIALECTS(title, list, callee)                                          \
    {                                                                          \
        .name = (title), .scenes = (list),                                     \
        .n_scenes = sizeof(list) / sizeof(list)[0], .begin = lock_begin,       \
        .check = lock_check, .done = lock_done, .check_end = lock_check_end,   \
        .calls = callee##_calls, .call = callee##_call,                        \
    }

const struct sim_recipe sim_lock_dialect =
    DIALECTS("lock-dialect", dialect_scenes, lock);
const struct sim_recipe sim_election_dialect =
    DIALECTS("election-dialect", election_scenes, lock_election);
