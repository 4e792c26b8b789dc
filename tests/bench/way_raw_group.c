/*
 * Members by the C client alone: each is an ephemeral znode of its own name.
 * The name may be another session's, and the znode may go: raw does not look.
 */
#include "raw_way.h"

static void member_path(int i, char path[2 * PATH_SIZE])
{
    snprintf(path, (size_t)2 * PATH_SIZE, "%s/m-%d", raw.dir, i);
}

static void on_joined(int rc, const char *path, const void *data)
{
    (void)path;
    raw_answered(rc, "create");
    run_granted(raw.run, raw_number(data));
}

static void join(int i)
{
    char path[2 * PATH_SIZE];

    member_path(i, path);
    raw_sent(zoo_acreate(raw.p.zh, path, MEMBER_DATA, sizeof MEMBER_DATA - 1,
                         &ZOO_OPEN_ACL_UNSAFE, ZOO_EPHEMERAL, on_joined,
                         raw_data(i)),
             "create");
}

static void on_left(int rc, const void *data)
{
    raw_answered(rc, "delete");
    run_released(raw.run, raw_number(data));
}

static void leave(int i)
{
    char path[2 * PATH_SIZE];

    member_path(i, path);
    raw_sent(zoo_adelete(raw.p.zh, path, -1, on_left, raw_data(i)), "delete");
}

static void open_client(struct run *r, const char *servers)
{
    static const struct raw_work work = {
        .start = join, .stop = leave, .requests = 1};

    raw_begin(r, servers, &work);
}

const struct way way_raw_group = RAW_WAY(
    "raw", "no identity, and does not join again", open_client, raw_end);
