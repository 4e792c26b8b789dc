/*
 * Compare-and-set by the C client alone, on a value each: the value is read,
 * and written with the version that was read.
 */
#include "raw_way.h"

static void set(int i, int32_t version);

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    raw_answered(rc, "set");
    run_granted(raw.run, raw_number(data));
    run_released(raw.run, raw_number(data));
}

static void on_got(int rc, const char *value, int len, const struct Stat *stat,
                   const void *data)
{
    (void)value, (void)len;
    raw_answered(rc, "get");
    set(raw_number(data), stat->version);
}

static void set(int i, int32_t version)
{
    static const char text[VALUE_SIZE];
    char path[PATH_SIZE];

    run_path(raw.run, i, path);
    raw_sent(zoo_aset(raw.p.zh, path, text, sizeof text, version, on_set,
                      raw_data(i)),
             "set");
}

static void get(int i)
{
    char path[PATH_SIZE];

    run_path(raw.run, i, path);
    raw_sent(zoo_aget(raw.p.zh, path, 0, on_got, raw_data(i)), "get");
}

static void open_client(struct run *r, const char *servers)
{
    static const struct raw_work work = {.start = get, .requests = 1};

    raw_begin(r, servers, &work);
}

const struct way way_raw_value =
    RAW_WAY("raw", "no receipt: an answer that is lost is not found out",
            open_client, raw_end);
