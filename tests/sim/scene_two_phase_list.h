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
#define ACT(...)                                                               \
    {                                                                          \
        __VA_ARGS__                                                            \
    }

#endif
