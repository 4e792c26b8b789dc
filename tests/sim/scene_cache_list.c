/* The scenes of the cache. */
#include "scene_cache.h"

#define CACHE(...)                                                             \
    .processes = 1, .own = &(const struct cache_scene) { __VA_ARGS__ }
#define AT(ms, act, k)                                                         \
    {                                                                          \
        .at_us = (ms)*1000, .what = CACHE_##act, .node = (k)                   \
    }
#define DEPTH(d, ...)                                                          \
    {                                                                          \
        {                                                                      \
            .depth = EVZK_CACHE_##d, __VA_ARGS__                               \
        }                                                                      \
    }

const struct sim_scene cache_scenes[CACHE_SCENES] = {
    {.name = "cache-node",
     .about = "one znode, which is written, and made anew",
     .pairs = true,
     CACHE(.node = {"/r"}, .there = 1, .root = {"/r"}, .opt = DEPTH(NODE),
           .act = {AT(40, WRITE, 0), AT(60, REMAKE, 0)})},
    {.name = "cache-absent",
     .about = "the root comes, goes, and comes again",
     .pairs = true,
     CACHE(.node = {"/r", "/r/a"}, .root = {"/r"}, .opt = DEPTH(CHILDREN),
           .act = {AT(40, MAKE, 0), AT(41, MAKE, 1), AT(60, DELETE, 0),
                   AT(80, MAKE, 0)})},
    {.name = "cache-children",
     .about = "children come, go, are written, and made anew",
     CACHE(.node = {"/r", "/r/a", "/r/b", "/r/c", "/r/b/x"}, .there = 7,
           .root = {"/r"}, .opt = DEPTH(CHILDREN), .touched = 1,
           .act = {AT(30, WRITE, 1), AT(31, MAKE, 3), AT(50, DELETE, 2),
                   AT(51, REMAKE, 1), AT(52, WRITE, 0)})},
    {.name = "cache-tree",
     .about = "a tree, of which branches come and go",
     CACHE(.node = {"/r", "/r/a", "/r/a/x", "/r/a/x/y", "/r/b"}, .there = 15,
           .root = {"/r"}, .opt = DEPTH(SUBTREE), .touched = 1, .cancels = true,
           .act = {AT(40, WRITE, 3), AT(41, MAKE, 4), AT(60, DELETE, 1),
                   AT(80, MAKE, 1), AT(81, MAKE, 2), AT(100, REMAKE, 1),
                   AT(101, MAKE, 2)})},
    {.name = "cache-wide",
     .about = "more children than may be read at a time",
     CACHE(.node = {"/r", "/r/a", "/r/b", "/r/c", "/r/d", "/r/e", "/r/f"},
           .there = 127, .root = {"/r"}, .opt = DEPTH(SUBTREE), .window = 4,
           .touched = 2, .act = {AT(60, WRITE, 6)})},
    {.name = "cache-names",
     .about = "names of children alone",
     CACHE(.node = {"/r", "/r/a", "/r/b", "/r/c"}, .there = 7, .root = {"/r"},
           .opt = DEPTH(CHILDREN, .names_only = true), .touched = 1,
           .act = {AT(40, MAKE, 3), AT(60, DELETE, 1), AT(80, DELETE, 0),
                   AT(100, MAKE, 0), AT(101, MAKE, 1)})},
    {.name = "cache-name-tree",
     .about = "names of a whole tree, of which a part may not be listed",
     CACHE(.node = {"/r", "/r/a", "/r/a/x", "/r/b"}, .there = 7, .root = {"/r"},
           .opt = DEPTH(SUBTREE, .names_only = true), .touched = 1,
           .act = {AT(40, MAKE, 3), AT(40, HIDE, 3), AT(60, DELETE, 1),
                   AT(80, MAKE, 1), AT(81, MAKE, 2), AT(100, SHOW, 3),
                   AT(101, REMAKE, 1), AT(120, DELETE, 3)})},
    {.name = "cache-hidden",
     .about = "children that may not be read for a while",
     CACHE(.node = {"/r", "/r/a", "/r/b"}, .there = 3, .root = {"/r"},
           .opt = DEPTH(SUBTREE), .touched = 2,
           .act = {AT(5, HIDE, 1), AT(42, MAKE, 2), AT(42, HIDE, 2),
                   AT(60, SHOW, 1), AT(80, DELETE, 2)})},
    {.name = "cache-denied",
     .about = "the root may not be read",
     CACHE(.node = {"/r", "/r/a"}, .there = 3, .root = {"/r"},
           .opt = DEPTH(CHILDREN), .denied = true, .act = {AT(5, HIDE, 0)})},
    {.name = "cache-behind",
     .about = "the server has not heard of what was made before the cache",
     CACHE(.node = {"/r", "/r/a"}, .there = 1, .root = {"/r"},
           .opt = DEPTH(CHILDREN), .followers_lag = true, .touched = 1,
           .start_us = 260 * 1000, .act = {AT(250, MAKE, 1)})},
    {.name = "cache-two",
     .about = "two caches of one root, on a follower that lags",
     CACHE(.node = {"/r", "/r/a", "/r/b"}, .there = 3, .root = {"/r", "/r"},
           .opt = {{.depth = EVZK_CACHE_SUBTREE}, {.depth = EVZK_CACHE_NODE}},
           .followers_lag = true,
           .act = {AT(300, WRITE, 1), AT(310, MAKE, 2), AT(320, REMAKE, 0)})},
};
