/* The scenes of configurations: see scene_config.h. */
#include "recipes/kinds.h"
#include "scene.h"
#include "scene_config.h"
#include "scene_list.h"

#define CONFIG(...)                                                            \
    .own = &(const struct config_scene) { __VA_ARGS__ }

/* clang-format off */
static const struct sim_scene read_scenes[] = {
    {.name = "get", .about = "one reads two keys", .processes = 1, .pairs = true,
     CONFIG(.stands = 2, .reader = {{.start_ms = 10, .gets = true, .timeout_ms = 9000}})},
    {.name = "get-empty", .about = "one reads, and waits until another has written a set without keys", .processes = 2,
     CONFIG(.update = {{.proc = 1, .start_ms = 60}}, .reader = {{.start_ms = 10, .gets = true, .timeout_ms = 9000}})},
    {.name = "get-short", .about = "one waits, and not for long", .processes = 1,
     CONFIG(.reader = {{.start_ms = 10, .gets = true, .timeout_ms = 100}})},
    {.name = "get-written", .about = "one reads while another writes bit by bit", .processes = 2,
     CONFIG(.stands = 4, .steps = 2, .update = {{.proc = 1, .start_ms = 10, .n = 4}},
            .reader = {{.start_ms = 28, .gets = true, .timeout_ms = 9000}, {.start_ms = 37, .gets = true, .timeout_ms = 9000}})},
    {.name = "get-replaced", .about = "one reads while another replaces all at once, again and again", .processes = 2,
     CONFIG(.stands = 3, .update = {{.proc = 1, .start_ms = 10, .n = 4}, {.proc = 1, .start_ms = 16, .first = 1, .n = 3}, {.proc = 1, .start_ms = 22, .n = 2}},
            .reader = {{.start_ms = 11, .gets = true, .timeout_ms = 9000}, {.start_ms = 14, .gets = true, .timeout_ms = 9000}, {.start_ms = 18, .gets = true, .timeout_ms = 9000}})},
    {.name = "get-hidden", .about = "one may not read the keys", .processes = 1,
     CONFIG(.stands = 2, .hidden = true, .reader = {{.start_ms = 10, .gets = true, .timeout_ms = 9000}, {.start_ms = 10, .stop_ms = 200}})},
    {.name = "get-unlisted", .about = "one may not list them", .processes = 1,
     CONFIG(.stands = 2, .unlisted = true, .reader = {{.start_ms = 10, .gets = true, .timeout_ms = 9000}})},
    {.name = "get-gone", .about = "an operator deletes a key", .processes = 1,
     CONFIG(.stands = 2, .act = {{14, CONFIG_KEY, 0}}, .reader = {{.start_ms = 10, .gets = true, .timeout_ms = 9000}})},
    {.name = "get-behind", .about = "one reads what another has just written, and its server is behind", .processes = 2,
     CONFIG(.stands = 2, .lags = true, .update = {{.proc = 1, .start_ms = 380, .n = 2}},
            .reader = {{.start_ms = 410, .gets = true, .timeout_ms = 9000}})},
    {.name = "follow", .about = "one follows, another replaces", .processes = 2, .pairs = true,
     CONFIG(.stands = 2, .update = {{.proc = 1, .start_ms = 60, .n = 2}}, .reader = {{.start_ms = 10, .stop_ms = 300}})},
    {.name = "follow-first", .about = "one follows what is not there yet", .processes = 2,
     CONFIG(.steps = 2, .update = {{.proc = 1, .start_ms = 60, .n = 3}, {.proc = 1, .start_ms = 160, .n = 0}},
            .reader = {{.start_ms = 10, .stop_ms = 400}, {.start_ms = 90, .stop_ms = 300}})},
    {.name = "follow-gone", .about = "an operator deletes the configuration, and another makes it again", .processes = 2,
     CONFIG(.stands = 2, .act = {{60, CONFIG_GONE, 0}}, .update = {{.proc = 1, .start_ms = 90, .n = 2}},
            .reader = {{.start_ms = 10, .stop_ms = 500}})},
    {.name = "follow-cut", .about = "one follows, and its connection is cut while another replaces", .processes = 2,
     CONFIG(.stands = 2, .act = {{62, CONFIG_CUT, 0}}, .update = {{.proc = 1, .start_ms = 60, .n = 2}},
            .reader = {{.start_ms = 10, .stop_ms = 500}})},
    {.name = "follow-behind", .about = "one follows from a server that is behind, and is moved to another", .processes = 2,
     CONFIG(.stands = 2, .lags = true, .act = {{430, CONFIG_CUT, 0}},
            .update = {{.proc = 1, .start_ms = 300, .n = 2}, {.proc = 1, .start_ms = 420, .first = 1, .n = 2}},
            .reader = {{.start_ms = 10, .stop_ms = 900}})},
};

static const struct sim_scene write_scenes[] = {
    {.name = "set", .about = "one replaces all in one transaction", .processes = 1, .pairs = true,
     CONFIG(.stands = 3, .update = {{.start_ms = 10, .first = 1, .n = 3}})},
    {.name = "set-first", .about = "one writes the first configuration", .processes = 1,
     CONFIG(.update = {{.start_ms = 10, .n = 2}})},
    {.name = "set-large", .about = "one replaces bit by bit", .processes = 1, .pairs = true,
     CONFIG(.stands = 3, .steps = 2, .update = {{.start_ms = 10, .first = 1, .n = 4}})},
    {.name = "set-two", .about = "two replace at once", .processes = 2,
     CONFIG(.stands = 2, .update = {{.start_ms = 10, .n = 3}, {.proc = 1, .start_ms = 10, .n = 2}})},
    {.name = "set-two-large", .about = "two replace bit by bit, a third at once", .processes = 3,
     CONFIG(.stands = 2, .steps = 2, .update = {{.start_ms = 10, .n = 5}, {.proc = 1, .start_ms = 10, .first = 1, .n = 4}, {.proc = 2, .start_ms = 28, .n = 1}})},
    {.name = "set-mixed", .about = "one replaces at once while another writes bit by bit", .processes = 2,
     CONFIG(.stands = 1, .steps = 2, .update = {{.start_ms = 30, .n = 1}, {.proc = 1, .start_ms = 10, .n = 4}, {.start_ms = 38, .n = 2}})},
    {.name = "set-grown", .about = "an operator makes a key while one writes bit by bit", .processes = 1,
     CONFIG(.stands = 3, .steps = 2, .act = {{24, CONFIG_GROW, 0}}, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-gone", .about = "an operator deletes all while one writes bit by bit", .processes = 1,
     CONFIG(.stands = 3, .steps = 2, .act = {{36, CONFIG_GONE, 0}}, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-rival", .about = "another program makes and deletes a key each time that one is about to replace all", .processes = 1,
     CONFIG(.stands = 2, .rivals = 200, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-rival-large", .about = "the same, and one replaces bit by bit", .processes = 1,
     CONFIG(.stands = 2, .steps = 2, .rivals = 200, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-rival-few", .about = "another program does so some times, and then lets it be", .processes = 1,
     CONFIG(.stands = 2, .rivals = 7, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-rival-replaces", .about = "others replace the set each time that one is about to", .processes = 1,
     CONFIG(.stands = 2, .rivals = 12, .replaces = true, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-robbed", .about = "an operator deletes the lock again and again, for long", .processes = 1,
     CONFIG(.stands = 3, .steps = 2, .act = {{28, CONFIG_UNLOCK, 200}}, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-unlocked", .about = "an operator deletes the lock, again and again", .processes = 1,
     CONFIG(.stands = 3, .steps = 2, .act = {{28, CONFIG_UNLOCK, 6}}, .update = {{.start_ms = 10, .n = 6}})},
    {.name = "set-last-unlocked", .about = "an operator deletes the lock before the last step", .processes = 1,
     CONFIG(.stands = 3, .steps = 2, .act = {{38, CONFIG_UNLOCK, 0}}, .update = {{.start_ms = 10, .n = 4}})},
    {.name = "set-lost", .about = "the connection is lost at the last step", .processes = 1, .pairs = true,
     CONFIG(.stands = 2, .act = {{18, CONFIG_CUT, 0}}, .update = {{.start_ms = 10, .n = 2}})},
    {.name = "set-lost-other", .about = "the same, and another replaces it", .processes = 2,
     CONFIG(.stands = 2, .act = {{18, CONFIG_CUT, 0}}, .update = {{.start_ms = 10, .n = 2}, {.proc = 1, .start_ms = 22, .n = 1}})},
    {.name = "set-unready", .about = "an operator deletes what says that all is whole", .processes = 1,
     CONFIG(.stands = 2, .act = {{14, CONFIG_UNREADY, 0}}, .update = {{.start_ms = 10, .n = 2}})},
    {.name = "set-child", .about = "a key that is to go has a child", .processes = 1,
     CONFIG(.stands = 2, .act = {{5, CONFIG_CHILD, 0}}, .update = {{.start_ms = 10, .first = 1, .n = 1}})},
    {.name = "set-short", .about = "one replaces bit by bit, and has no time for it", .processes = 1,
     CONFIG(.stands = 3, .steps = 2, .update = {{.start_ms = 10, .n = 5, .timeout_ms = 25}})},
    {.name = "set-acl", .about = "all is made with an ACL of its own, at once and bit by bit", .processes = 2,
     CONFIG(.own_acl = true, .steps = 2, .update = {{.start_ms = 10, .n = 3}, {.proc = 1, .start_ms = 60, .n = 2}, {.proc = 1, .start_ms = 110, .n = 5}})},
    {.name = "set-denied", .about = "nothing may be made", .processes = 1,
     CONFIG(.stands = 2, .denied = true, .update = {{.start_ms = 10, .n = 3}})},
    {.name = "set-unlisted", .about = "the directory may not be listed", .processes = 1,
     CONFIG(.stands = 2, .unlisted = true, .update = {{.start_ms = 10, .n = 3}})},
    {.name = "set-rootless", .about = "one writes below a chroot that is not there", .processes = 1,
     CONFIG(.chroot = "/nowhere", .update = {{.start_ms = 10, .n = 3}})},
};
/* clang-format on */

const struct sim_recipe sim_config =
    SIM_RECIPE("config", config_read, read_scenes, config, config);
const struct sim_recipe sim_config_write =
    SIM_RECIPE("config-write", config_write, write_scenes, config, config);
