/*
 * A raw queue with one listing for all takes: a take reads the first znode of
 * the listing that is left, and deletes it.  Only when the listing is used up
 * comes the next one.  So no two takes want the same item.  That is less work
 * than the recipes page has, and works in one process alone.  The claimed way
 * makes an ephemeral znode beside the item first, and deletes both in the end.
 */
#include <stdlib.h>

#include "raw_queue.h"

enum { TAKE_REQUESTS = 4 }; /* The most of one take. */

static struct {
    bool listing;
    int32_t *seq; /* Of the items, as they were listed. */
    int listed, taken;
} self;

static void on_done(int rc, const void *data)
{
    raw_queue.flying--;
    plain_check(rc, "delete");
    run_released(raw_queue.run, number_of(data));
}

static void on_unclaimed(int rc, const void *data)
{
    (void)data;
    raw_queue.flying--;
    plain_check(rc, "delete");
}

/* The item was delivered: the work on it takes no time. */
static void finish(int seq)
{
    char path[PATH_SIZE];

    if (raw_queue.claimed) {
        raw_queue_claim(seq, path);
        raw_queue.flying++;
        plain_check(zoo_adelete(raw_queue.p.zh, path, -1, on_unclaimed, NULL),
                    "delete");
    }
    raw_queue_item(seq, path);
    raw_queue.flying++;
    plain_check(zoo_adelete(raw_queue.p.zh, path, -1, on_done, as_data(seq)),
                "delete");
}

static void on_read(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    (void)value, (void)len, (void)stat;
    raw_queue.flying--;
    plain_check(rc, "get");
    if (raw_queue.claimed)
        finish(number_of(data));
}

static void on_claimed(int rc, const char *path, const void *data)
{
    (void)path, (void)data;
    raw_queue.flying--;
    plain_check(rc, "create");
}

static void take(int seq)
{
    char path[PATH_SIZE];

    if (raw_queue.claimed) {
        raw_queue_claim(seq, path);
        raw_queue.flying++;
        plain_check(zoo_acreate(raw_queue.p.zh, path, NULL, -1,
                                &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_claimed,
                                NULL),
                    "create");
    }
    raw_queue_item(seq, path);
    raw_queue.flying++;
    plain_check(zoo_aget(raw_queue.p.zh, path, 0, on_read, as_data(seq)),
                "get");
    if (!raw_queue.claimed)
        finish(seq);
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    (void)data;
    raw_queue.flying--;
    self.listing = false;
    plain_check(rc, "getChildren");
    free(self.seq);
    self.seq = raw_queue_sort(names, &self.listed);
    self.taken = 0;
    plain_kick(&raw_queue.p);
}

static void list(void)
{
    self.listing = true;
    raw_queue.flying++;
    plain_check(
        zoo_aget_children(raw_queue.p.zh, raw_queue.dir, 0, on_listed, NULL),
        "getChildren");
}

static void on_turn(void)
{
    while (plain_has_todo(&raw_queue.todo) &&
           raw_queue.flying + TAKE_REQUESTS <= WINDOW) {
        int i = plain_next(&raw_queue.todo);

        if (i < 0 && self.taken == self.listed) {
            if (!self.listing)
                list();
            return;
        }
        raw_queue.todo.head++;
        if (i >= 0)
            raw_queue_put(i);
        else
            take(self.seq[self.taken++]);
    }
}

static void open_claimed(struct run *r, const char *servers)
{
    raw_queue_open(r, servers, true, on_turn);
}

static void open_plain(struct run *r, const char *servers)
{
    raw_queue_open(r, servers, false, on_turn);
}

static void end(void)
{
    raw_queue_close();
    free(self.seq);
}

#define RAW(opens)                                                             \
    {                                                                          \
        .name = "raw-shared", .note = "one listing for all takes",             \
        .open = (opens), .acquire = raw_queue_ask_put,                         \
        .release = raw_queue_ask_take, .busy = raw_queue_busy,                 \
        .connected = raw_queue_connected, .close = end                         \
    }

const struct way way_raw_queue = RAW(open_plain);
const struct way way_raw_claims = RAW(open_claimed);
