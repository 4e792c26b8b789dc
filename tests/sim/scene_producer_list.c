/* The scenes of producers: see scene_producer.h. */
#include "recipes/kinds.h"
#include "scene.h"
#include "scene_list.h"
#include "scene_producer.h"

#define PRODUCER(...)                                                          \
    .own = &(const struct producer_scene) { __VA_ARGS__ }

/* clang-format off */
static const struct sim_scene scenes[] = {
    {.name = "put", .about = "one puts an item, and a consumer takes it at once", .processes = 1, .pairs = true,
     PRODUCER(.taken = true,
              .plan = {{.start_ms = 10, .puts = 1, .items = 1}})},
    {.name = "put-plain", .about = "the same, in the layout of the recipes page", .processes = 1, .pairs = true,
     PRODUCER(.taken = true, .layout = EVZK_QUEUE_PLAIN,
              .plan = {{.start_ms = 10, .puts = 1, .items = 2}})},
    {.name = "put-more", .about = "one puts some items, waits, and closes late", .processes = 1,
     PRODUCER(.plan = {{.start_ms = 10, .puts = 3, .items = 2, .gap_ms = 300, .ending = CLOSES_LATE}})},
    {.name = "put-joined", .about = "one puts while an earlier put is under way", .processes = 1, .pairs = true,
     PRODUCER(.taken = true,
              .plan = {{.start_ms = 10, .puts = 2, .items = 1, .gap_ms = 36}})},
    {.name = "put-unopened", .about = "an operator deletes what says that the segment is open", .processes = 1,
     PRODUCER(.open_ms = 60,
              .plan = {{.start_ms = 10, .puts = 3, .items = 1, .gap_ms = 36}})},
    {.name = "put-lost", .about = "the connection is lost when the receipt was made", .processes = 1,
     PRODUCER(.cut_ms = 34, .taken = true,
              .plan = {{.start_ms = 10, .puts = 1, .items = 1}})},
    {.name = "put-segments", .about = "a segment takes four items", .processes = 1,
     PRODUCER(.segment = 5, .batch = 3, .taken = true,
              .plan = {{.start_ms = 10, .puts = 3, .items = 4}})},
    {.name = "put-two", .about = "two put, and a segment takes three items", .processes = 2,
     PRODUCER(.segment = 4, .batch = 2,
              .plan = {{.start_ms = 10, .puts = 3, .items = 2},
                       {.proc = 1, .start_ms = 10, .puts = 3, .items = 2}})},
    {.name = "put-stale", .about = "one waits, and another seals the segment meanwhile", .processes = 2,
     PRODUCER(.segment = 4, .batch = 2,
              .plan = {{.start_ms = 10, .puts = 2, .items = 1, .gap_ms = 120},
                       {.proc = 1, .start_ms = 40, .puts = 3, .items = 2}})},
    {.name = "put-priorities", .about = "items of two priorities", .processes = 1,
     PRODUCER(.segment = 3, .batch = 8,
              .plan = {{.start_ms = 10, .puts = 2, .items = 4, .priorities = 2}})},
    {.name = "put-plain-priorities", .about = "the same, in one directory", .processes = 1,
     PRODUCER(.layout = EVZK_QUEUE_PLAIN_PRIORITY,
              .plan = {{.start_ms = 10, .puts = 2, .items = 4, .priorities = 2}})},
    {.name = "put-many-priorities", .about = "items of more priorities than go together", .processes = 1,
     PRODUCER(.plan = {{.start_ms = 10, .puts = 1, .items = 10, .priorities = 10}})},
    {.name = "put-gone", .about = "an operator deletes the receipts, three times", .processes = 1,
     PRODUCER(.gone_ms = 46, .taken = true, .batch = 2,
              .plan = {{.start_ms = 10, .puts = 4, .items = 2, .gap_ms = 6}})},
    {.name = "put-ephemeral", .about = "the items are ephemeral", .processes = 1,
     PRODUCER(.plan = {{.start_ms = 10, .puts = 2, .items = 1, .ephemeral = true, .gap_ms = 20}})},
    {.name = "put-cancel", .about = "one cancels, another of its session frees", .processes = 1,
     PRODUCER(.batch = 1,
              .plan = {{.start_ms = 10, .puts = 2, .items = 2, .ending = CANCELS, .gap_ms = 14},
                       {.start_ms = 10, .puts = 2, .items = 2, .ending = FREES, .gap_ms = 16}})},
    {.name = "put-refused", .about = "no segment can be made", .processes = 1,
     PRODUCER(.stands = true, .refuses = true,
              .plan = {{.start_ms = 10, .puts = 2, .items = 1}})},
    {.name = "put-unwritten", .about = "the receipt may not be written", .processes = 1,
     PRODUCER(.sealed_off = true,
              .plan = {{.start_ms = 10, .puts = 2, .items = 1}})},
    {.name = "put-neighbours", .about = "every other put is refused", .processes = 1,
     PRODUCER(.stands = true, .denied = true,
              .plan = {{.start_ms = 10, .puts = 4, .items = 1, .priorities = 2}})},
    {.name = "put-hidden", .about = "the queue may not be listed", .processes = 1,
     PRODUCER(.stands = true, .hidden = true,
              .plan = {{.start_ms = 10, .puts = 2, .items = 1}})},
    {.name = "put-last", .about = "the numbers of a plain queue are used up", .processes = 1,
     PRODUCER(.stands = true, .full = true, .batch = 1, .layout = EVZK_QUEUE_PLAIN,
              .plan = {{.start_ms = 10, .puts = 2, .items = 1}})},
    {.name = "put-busy", .about = "too much waits", .processes = 1,
     PRODUCER(.plan = {{.start_ms = 10, .puts = 3, .items = 1, .pending_max = 80}})},
    {.name = "put-rootless", .about = "one puts below a chroot that is not there", .processes = 1,
     PRODUCER(.chroot = "/nowhere",
              .plan = {{.start_ms = 10, .puts = 1, .items = 1}})},
};
/* clang-format on */

const struct sim_recipe sim_producer =
    SIM_RECIPE("producer", producer, scenes, producer, producer);
