/*
 * A configuration by the C client alone: a transaction deletes `ready`, writes
 * all keys, and makes `ready` again.  To read, `ready` is read and the keys are
 * listed, back to back; then all keys are read, and `ready` once more: it has
 * to be the same znode.
 */
#include "raw_way.h"

enum { KEYS = CONFIG_KEYS, OPS = KEYS + 2 };

static struct {
    zoo_op_t op[OPS];
    zoo_op_result_t result[OPS];
    char path[OPS][2 * PATH_SIZE];
    char made[OPS][2 * PATH_SIZE];
    int n;
    bool written;  /* The keys are there. */
    int64_t ready; /* The czxid that was read first. */
    char value[CONFIG_VALUE_SIZE];
} self;

static char *next_path(const char *name)
{
    char *path = self.path[self.n];

    snprintf(path, sizeof self.path[0], "%s/%s", raw.dir, name);
    return path;
}

static void add_create(const char *name, const char *value, int len)
{
    char *path = next_path(name);

    zoo_create_op_init(&self.op[self.n], path, value, len, &ZOO_OPEN_ACL_UNSAFE,
                       0, self.made[self.n], (int)sizeof self.made[0]);
    self.n++;
}

static void add_set(const char *name, const char *value, int len)
{
    const char *path = next_path(name);

    zoo_set_op_init(&self.op[self.n++], path, value, len, -1, NULL);
}

static void add_delete(const char *name)
{
    const char *path = next_path(name);

    zoo_delete_op_init(&self.op[self.n++], path, -1);
}

static void commit(void_completion_t completion, int i)
{
    raw_sent(zoo_amulti(raw.p.zh, self.n, self.op, self.result, completion,
                        raw_data(i)),
             "multi");
}

static void on_written(int rc, const void *data)
{
    raw_answered(rc, "multi");
    self.written = true;
    run_granted(raw.run, raw_number(data));
}

static void replace(int i)
{
    char name[CONFIG_NAME_SIZE];

    self.n = 0;
    if (self.written)
        add_delete("ready");
    config_value(i, self.value);
    for (int k = 0; k < KEYS; k++) {
        config_name(k, name);
        (self.written ? add_set : add_create)(name, self.value,
                                              sizeof self.value);
    }
    add_create("ready", NULL, -1);
    commit(on_written, i);
}

/* ---- The reader ---- */

static void on_ready_again(int rc, const struct Stat *stat, const void *data)
{
    raw_answered(rc, "exists");
    if (stat->czxid != self.ready)
        fail("raw: replaced meanwhile");
    run_released(raw.run, raw_number(data));
}

static void on_key(int rc, const char *value, int len, const struct Stat *stat,
                   const void *data)
{
    (void)value, (void)stat, (void)data;
    raw_answered(rc, "get");
    if (len != CONFIG_VALUE_SIZE)
        fail("raw: a key has %d bytes", len);
}

static void ask_ready(stat_completion_t completion, int i)
{
    char path[2 * PATH_SIZE];

    snprintf(path, sizeof path, "%s/ready", raw.dir);
    raw_sent(zoo_aexists(raw.p.zh, path, 0, completion, raw_data(i)), "exists");
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    char path[2 * PATH_SIZE];

    raw_answered(rc, "getChildren");
    if (names->count != KEYS + 1)
        fail("raw: %d keys", (int)names->count);
    for (int32_t k = 0; k < names->count; k++) {
        snprintf(path, sizeof path, "%s/%.100s", raw.dir, names->data[k]);
        if (names->data[k][0] != 'r')
            raw_sent(zoo_aget(raw.p.zh, path, 0, on_key, NULL), "get");
    }
    ask_ready(on_ready_again, raw_number(data));
}

static void on_ready(int rc, const struct Stat *stat, const void *data)
{
    (void)data;
    raw_answered(rc, "exists");
    self.ready = stat->czxid;
}

static void read_all(int i)
{
    ask_ready(on_ready, i);
    raw_sent(zoo_aget_children(raw.p.zh, raw.dir, 0, on_listed, raw_data(i)),
             "getChildren");
}

/* ---- Open and close ---- */

static void open_client(struct run *r, const char *servers)
{
    static const struct raw_work work = {
        .start = replace, .stop = read_all, .requests = 2};

    raw_begin(r, servers, &work);
}

static void on_removed(int rc, const void *data)
{
    (void)data;
    raw_answered(rc, "multi");
}

/* The directory is other workloads', too. */
static void end(void)
{
    char name[CONFIG_NAME_SIZE];

    self.n = 0;
    add_delete("ready");
    for (int k = 0; k < KEYS; k++) {
        config_name(k, name);
        add_delete(name);
    }
    commit(on_removed, 0);
    raw_await_answers();
    raw_end();
}

const struct way way_raw_config = RAW_WAY(
    "raw", "no sync: what it reads may be old; and no lost answer is found out",
    open_client, end);
