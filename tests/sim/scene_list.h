/* What the lists of scenes share. */
#ifndef SIM_SCENE_LIST_H
#define SIM_SCENE_LIST_H

/* The servers, where a scene says with which one a process is first. */
enum { LEADER, FOLLOWER_1, FOLLOWER_2 };

/* For the scenes of scene_lock.h. */
#define LOCK_SCENE(...)                                                        \
    .own = &(const struct lock_scene) { __VA_ARGS__ }
#define READ EVZK_LOCK_READ
#define WRITE EVZK_LOCK_WRITE
#define PRIORITY(n) .urgent = true, .priority = (n)

/* A recipe by its title and machine: recipes of one family have all functions
 * in common, but for what may be called.  Behind them may stand other fields.
 */
#define SIM_RECIPE(title, machine, list, family, callee, ...)                  \
    {                                                                          \
        .name = (title), .kind = &evzk__##machine##_kind, .scenes = (list),    \
        .n_scenes = sizeof(list) / sizeof(list)[0], .begin = family##_begin,   \
        .check = family##_check, .owes = family##_owes, .done = family##_done, \
        .check_end = family##_check_end, .calls = callee##_calls,              \
        .call = callee##_call, __VA_ARGS__                                     \
    }

#endif
