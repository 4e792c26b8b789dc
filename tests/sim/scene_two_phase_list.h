/* What the lists of scenes of two-phase commit share. */
#ifndef SIM_SCENE_TWO_PHASE_LIST_H
#define SIM_SCENE_TWO_PHASE_LIST_H

#include "scene_list.h"
#include "scene_two_phase.h"

#define SCENE(...)                                                             \
    .own = &(const struct tp_scene) { __VA_ARGS__ }
#define BEGIN_AT(us, ...)                                                      \
    {                                                                          \
        .what = TP_BEGIN, .at_us = (us), __VA_ARGS__                           \
    }
#define BEGIN(...) BEGIN_AT(60000, __VA_ARGS__)
#define SITE_AT(us, name, process, ...)                                        \
    {                                                                          \
        .what = TP_SITE, .at_us = (us), .site = (name), .proc = (process),     \
        __VA_ARGS__                                                            \
    }
#define SITE(...) SITE_AT(10000, __VA_ARGS__)
/* A transaction of a newer format, at this time. */
#define NEWER_AT(us)                                                           \
    {                                                                          \
        .what = TP_CREATE, .at_us = (us), .path = "tx/" TP_NEWER,              \
        .data = "evzk-2pc 2 m ? "                                              \
                "223e4567-e89b-42d3-a456-426614174000-00001\n"                 \
                "1\na\n?"                                                      \
    }
#define ACT(...)                                                               \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

#endif
