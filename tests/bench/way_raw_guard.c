/*
 * Guarded writes by the C client alone: each is a transaction that checks the
 * znode of a lock, which is held all the time, and sets a value.
 */
#include <stdlib.h>

#include "raw_way.h"

enum { OPS = 2 };

static zoo_op_result_t (*results)[OPS];
static char guard[PATH_SIZE + 8];

static void on_written(int rc, const void *data)
{
    raw_answered(rc, "multi");
    run_granted(raw.run, raw_number(data));
    run_released(raw.run, raw_number(data));
}

static void write_guarded(int i)
{
    static const char text[VALUE_SIZE];
    char path[PATH_SIZE];
    zoo_op_t ops[OPS];

    run_path(raw.run, i, path);
    zoo_check_op_init(&ops[0], guard, -1);
    zoo_set_op_init(&ops[1], path, text, sizeof text, -1, NULL);
    raw_sent(
        zoo_amulti(raw.p.zh, OPS, ops, results[i], on_written, raw_data(i)),
        "multi");
}

static void on_held(int rc, const char *path, const void *data)
{
    (void)path, (void)data;
    raw_answered(rc, "create");
}

static void open_client(struct run *r, const char *servers)
{
    static const struct raw_work work = {.start = write_guarded, .requests = 1};

    results = calloc((size_t)r->w->n, sizeof results[0]);
    if (!results)
        fail("raw: out of memory");
    raw_begin(r, servers, &work);
    snprintf(guard, sizeof guard, "%s-guard", r->dir);
    raw_sent(zoo_acreate(raw.p.zh, guard, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                         ZOO_EPHEMERAL, on_held, NULL),
             "create");
    raw_await_answers();
}

static void end(void)
{
    raw_end();
    free(results);
}

const struct way way_raw_guard =
    RAW_WAY("raw", "no receipt: an answer that is lost is not found out",
            open_client, end);
