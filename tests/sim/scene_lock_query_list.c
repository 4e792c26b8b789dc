/* The scenes of look-ups and revocations. */
#include "scene_list.h"
#include "scene_lock.h"

/* clang-format off */
static const struct sim_scene lock_query_scenes[] = {
    {.name = "look",
     .about = "a look-up while one lock is held and one waits",
     .processes = 2, .pairs = true,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 30},
                   {.process = 1, .start_ms = 2, .hold_ms = 5}},
         .actions = {{.at_ms = 12, .action = LOCK_QUERY, .process = 1}},
         .server = {LEADER, FOLLOWER_1}, .dir_exists = true)},
    {.name = "look-again",
     .about = "a look-up of a lock that is held, and of one that waits: both "
              "stay there when it has to look again",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 600},
                   {.process = 0, .start_ms = 2, .hold_ms = 5}},
         .actions = {{.at_ms = 30, .action = LOCK_QUERY, .process = 1}},
         .server = {LEADER, FOLLOWER_1}, .dir_exists = true)},
    {.name = "look-empty",
     .about = "a look-up without a directory, and one when all have left",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 1, .start_ms = 40}},
         .actions = {{.at_ms = 5, .action = LOCK_QUERY, .process = 0},
                     {.at_ms = 80, .action = LOCK_QUERY, .process = 0}},
         .server = {LEADER, FOLLOWER_1})},
    {.name = "look-chroot",
     .about = "a look-up below a chroot; the directory is missing",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 20}},
         .actions = {{.at_ms = 5, .action = LOCK_QUERY, .process = 1}},
         .server = {LEADER, FOLLOWER_1}, .chroot = "/app")},
    {.name = "look-rootless",
     .about = "a look-up below a chroot that is missing",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 20}},
         .actions = {{.at_ms = 5, .action = LOCK_QUERY, .process = 1}},
         .server = {LEADER, FOLLOWER_1}, .chroot = "/app", .rootless = true)},
    {.name = "look-foreign",
     .about = "look-ups of a contender that may not be read, and of one made "
              "by hand",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 40,
                    .hidden = true}},
         .actions = {{.at_ms = 15, .action = LOCK_DELETE_FOREIGN},
                     {.at_ms = 10, .action = LOCK_QUERY, .process = 1},
                     {.at_ms = 30, .action = LOCK_QUERY, .process = 1}},
         .server = {FOLLOWER_1, FOLLOWER_2}, .dir_exists = true,
         .foreign = true)},
};

static const struct sim_scene lock_revoke_scenes[] = {
    {.name = "revoke-chroot",
     .about = "below a chroot; the directory is missing",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 20}},
         .actions = {{.at_ms = 5, .action = LOCK_REVOKE, .process = 1}},
         .server = {LEADER, FOLLOWER_1}, .chroot = "/app")},
    {.name = "revoke-rootless",
     .about = "below a chroot that is missing",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 20}},
         .actions = {{.at_ms = 5, .action = LOCK_REVOKE, .process = 1}},
         .server = {LEADER, FOLLOWER_1}, .chroot = "/app", .rootless = true)},
    {.name = "revoke",
     .about = "the holder is asked to let go, and does",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 1500,
                    .yields = true},
                   {.process = 1, .start_ms = 10, .mode = WRITE,
                    .hold_ms = 5}},
         .actions = {{.at_ms = 600, .action = LOCK_REVOKE, .process = 1}},
         .server = {FOLLOWER_1, FOLLOWER_2}, .dir_exists = true)},
    {.name = "revoke-two",
     .about = "the holder is asked to let go, and removed 5 ms later",
     .processes = 2, .pairs = true,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 30,
                    .revocable = true},
                   {.process = 1, .start_ms = 40}},
         .actions = {{.at_ms = 25, .action = LOCK_REVOKE, .process = 1}},
         .revoke = {.remove = true, .grace_ms = 5},
         .server = {FOLLOWER_1, LEADER}, .dir_exists = true)},
    {.name = "revoke-removes",
     .about = "two readers are asked to let go: one does, one is removed; so "
              "is a waiter",
     .processes = 3,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .mode = READ,
                    .hold_ms = 3000},
                   {.process = 1, .start_ms = 3, .mode = READ,
                    .hold_ms = 3000, .yields = true},
                   {.process = 0, .start_ms = 5, .mode = WRITE,
                    .hold_ms = 200}},
         .actions = {{.at_ms = 700, .action = LOCK_REVOKE, .process = 2}},
         .revoke = {.remove = true, .grace_ms = 300},
         .server = {FOLLOWER_1, FOLLOWER_2, LEADER}, .dir_exists = true)},
    {.name = "revoke-writers",
     .about = "readers may stay: only a waiting writer is asked, for a while",
     .processes = 3,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .mode = READ, .hold_ms = 400},
                   {.process = 1, .start_ms = 3, .mode = WRITE, .hold_ms = 5},
                   {.process = 0, .start_ms = 10, .mode = READ, .hold_ms = 5}},
         .actions = {{.at_ms = 100, .action = LOCK_REVOKE, .process = 2}},
         .revoke = {.mode = READ, .timeout_ms = 100},
         .server = {FOLLOWER_1, FOLLOWER_2, LEADER}, .dir_exists = true)},
    {.name = "revoke-nobody",
     .about = "no contender is there",
     .processes = 1,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 60, .hold_ms = 5}},
         .actions = {{.at_ms = 10, .action = LOCK_REVOKE, .process = 0},
                     {.at_ms = 120, .action = LOCK_REVOKE, .process = 0}},
         .server = {FOLLOWER_1})},
    {.name = "revoke-away",
     .about = "the holder is disconnected",
     .processes = 3,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .mode = WRITE,
                    .hold_ms = 2000, .yields = true},
                   {.process = 1, .start_ms = 10, .hold_ms = 5}},
         .actions = {{.at_ms = 600, .action = LOCK_DISCONNECT, .process = 0},
                     {.at_ms = 650, .action = LOCK_REVOKE, .process = 2}},
         .revoke = {.remove = true, .grace_ms = 1000},
         .server = {FOLLOWER_1, FOLLOWER_2, LEADER}, .dir_exists = true)},
    {.name = "revoke-hidden",
     .about = "the holder's znode may not be read",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 60,
                    .hidden = true}},
         .actions = {{.at_ms = 20, .action = LOCK_REVOKE, .process = 1}},
         .server = {FOLLOWER_1, FOLLOWER_2}, .dir_exists = true)},
    {.name = "revoke-late",
     .about = "the time of the revocation is over while a contender is "
              "removed",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 30,
                    .revocable = true},
                   {.process = 1, .start_ms = 40}},
         .actions = {{.at_ms = 25, .action = LOCK_REVOKE, .process = 1}},
         .revoke = {.remove = true, .grace_ms = 5, .timeout_ms = 15},
         .server = {FOLLOWER_1, LEADER}, .dir_exists = true)},
    {.name = "revoke-child",
     .about = "a contender made by hand gets a child, and loses it",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 1, .start_ms = 200, .hold_ms = 5}},
         .actions = {{.at_ms = 20, .action = LOCK_REVOKE, .process = 0},
                     {.at_ms = 60, .action = LOCK_MAKE_CHILD},
                     {.at_ms = 80, .action = LOCK_DELETE_CHILD},
                     {.at_ms = 100, .action = LOCK_DELETE_FOREIGN}},
         .server = {FOLLOWER_1, FOLLOWER_2}, .dir_exists = true,
         .foreign = true)},
    {.name = "revoke-parent",
     .about = "a contender that has a child is to be removed",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 1, .start_ms = 200, .hold_ms = 5}},
         .actions = {{.at_ms = 20, .action = LOCK_REVOKE, .process = 0},
                     {.at_ms = 25, .action = LOCK_MAKE_CHILD},
                     {.at_ms = 80, .action = LOCK_DELETE_CHILD},
                     {.at_ms = 100, .action = LOCK_DELETE_FOREIGN}},
         .revoke = {.remove = true, .grace_ms = 5},
         .server = {FOLLOWER_1, FOLLOWER_2}, .dir_exists = true,
         .foreign = true)},
    {.name = "revoke-expired",
     .about = "the session that revokes is ended",
     .processes = 2,
     LOCK_SCENE(
         .locks = {{.process = 0, .start_ms = 1, .hold_ms = 900}},
         .actions = {{.at_ms = 50, .action = LOCK_REVOKE, .process = 1},
                     {.at_ms = 100, .action = LOCK_EXPIRE, .process = 1}},
         .revoke = {.remove = true, .grace_ms = 300},
         .server = {FOLLOWER_1, FOLLOWER_2}, .dir_exists = true)},
};
/* clang-format on */

const struct sim_recipe sim_lock_query =
    SIM_RECIPE("lock-query", lock_query, lock_query_scenes, lock, lock);
const struct sim_recipe sim_lock_revoke =
    SIM_RECIPE("lock-revoke", lock_revoke, lock_revoke_scenes, lock, lock);
