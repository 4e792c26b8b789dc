/*
 * A raw queue with a listing for each take, as the recipes page has it: a take
 * lists the queue, and reads and deletes the first item.  If another take was
 * faster (NONODE), it goes to the next name of its listing.  Read and delete
 * are sent together, so that as few takes as possible want the same item.  The
 * claimed way makes an ephemeral znode beside the item, and reads the item;
 * when both succeed, it deletes both.
 */
#include <stdlib.h>

#include "raw_queue.h"

enum {
    CALL_REQUESTS = 2, /* Of one take, at a time. */
    CALLS_MAX = WINDOW / CALL_REQUESTS,
    TAKES = 500 /* More would take minutes. */
};

/* A take. */
struct call {
    int32_t *seq; /* Its listing, in order; owned. */
    int n, at;
    bool claimed; /* The znode beside the item was made. */
};

static int calls;

static void list(struct call *c);
static void try_next(struct call *c);

static void end_call(struct call *c)
{
    free(c->seq);
    free(c);
    calls--;
    run_released(raw_queue.run, 0);
    plain_kick(&raw_queue.p);
}

static void on_deleted(int rc, const void *data)
{
    struct call *c = (struct call *)(uintptr_t)data;

    raw_queue.flying--;
    if (rc == ZNONODE) {
        try_next(c);
        return;
    }
    plain_check(rc, "delete");
    end_call(c);
}

static void on_unclaimed(int rc, const void *data)
{
    (void)data;
    raw_queue.flying--;
    plain_check(rc, "delete");
}

static void delete_item(struct call *c)
{
    char path[PATH_SIZE];

    raw_queue_item(c->seq[c->at - 1], path);
    raw_queue.flying++;
    plain_check(zoo_adelete(raw_queue.p.zh, path, -1, on_deleted, c), "delete");
}

static void delete_claim(struct call *c)
{
    char path[PATH_SIZE];

    raw_queue_claim(c->seq[c->at - 1], path);
    raw_queue.flying++;
    plain_check(zoo_adelete(raw_queue.p.zh, path, -1, on_unclaimed, NULL),
                "delete");
}

static void on_read(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    struct call *c = (struct call *)(uintptr_t)data;

    (void)value, (void)len, (void)stat;
    raw_queue.flying--;
    if (rc != ZNONODE)
        plain_check(rc, "get");
    if (!raw_queue.claimed)
        return; /* The delete tells. */
    if (c->claimed)
        delete_claim(c);
    if (c->claimed && rc == ZOK)
        delete_item(c);
    else
        try_next(c);
}

static void on_claimed(int rc, const char *path, const void *data)
{
    struct call *c = (struct call *)(uintptr_t)data;

    (void)path;
    raw_queue.flying--;
    if (rc != ZNODEEXISTS)
        plain_check(rc, "create");
    c->claimed = rc == ZOK;
}

static void make_claim(struct call *c)
{
    char path[PATH_SIZE];

    raw_queue_claim(c->seq[c->at - 1], path);
    raw_queue.flying++;
    plain_check(zoo_acreate(raw_queue.p.zh, path, NULL, -1,
                            &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_claimed, c),
                "create");
}

static void try_next(struct call *c)
{
    char path[PATH_SIZE];

    if (c->at == c->n) {
        list(c);
        return;
    }
    raw_queue_item(c->seq[c->at++], path);
    if (raw_queue.claimed)
        make_claim(c);
    raw_queue.flying++;
    plain_check(zoo_aget(raw_queue.p.zh, path, 0, on_read, c), "get");
    if (!raw_queue.claimed)
        delete_item(c);
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    struct call *c = (struct call *)(uintptr_t)data;

    raw_queue.flying--;
    plain_check(rc, "getChildren");
    free(c->seq);
    c->seq = raw_queue_sort(names, &c->n);
    c->at = 0;
    try_next(c);
}

static void list(struct call *c)
{
    raw_queue.flying++;
    plain_check(
        zoo_aget_children(raw_queue.p.zh, raw_queue.dir, 0, on_listed, c),
        "getChildren");
}

static void begin_call(void)
{
    struct call *c = calloc(1, sizeof *c);

    if (!c)
        fail("raw: out of memory");
    calls++;
    list(c);
}

static void on_turn(void)
{
    while (plain_has_todo(&raw_queue.todo)) {
        int i = plain_next(&raw_queue.todo);

        if (i >= 0 ? raw_queue.flying == WINDOW : calls == CALLS_MAX)
            return;
        raw_queue.todo.head++;
        if (i >= 0)
            raw_queue_put(i);
        else
            begin_call();
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

#define RAW(opens)                                                             \
    {                                                                          \
        .name = "raw-per-call", .note = "a listing for each take",             \
        .takes = TAKES, .open = (opens), .acquire = raw_queue_ask_put,         \
        .release = raw_queue_ask_take, .busy = raw_queue_busy,                 \
        .connected = raw_queue_connected, .close = raw_queue_close             \
    }

const struct way way_raw_queue_calls = RAW(open_plain);
const struct way way_raw_claims_calls = RAW(open_claimed);
