/* What the lists of scenes share. */
#ifndef SIM_SCENE_LIST_H
#define SIM_SCENE_LIST_H

/* Which process starts a lock, or stands, and when. */
#define AT(process, ms) .proc = (process), .start_ms = (ms)

/* A recipe by its title and machine: recipes of one family have all functions
 * in common, but for what may be called. */
#define SIM_RECIPE(title, machine, list, family, callee)                       \
    {                                                                          \
        .name = (title), .kind = &evzk__##machine##_kind, .scenes = (list),    \
        .n_scenes = sizeof(list) / sizeof(list)[0], .begin = family##_begin,   \
        .check = family##_check, .done = family##_done,                        \
        .check_end = family##_check_end, .calls = callee##_calls,              \
        .call = callee##_call,                                                 \
    }

#endif
