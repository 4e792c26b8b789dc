/*
 * A counter by the C client alone: the number is read, and the sum written with
 * the version that was read; where another write came between, both once more.
 * One way does that for one addition after another.  The piped way knows what
 * its own writes make of number and version, and so sends many at once: the
 * first that is refused makes it read again.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "raw_way.h"

static struct {
    int64_t number;
    int32_t version;
    bool stale; /* To be read before the next write. */
    int64_t first;
    int done;
} self;

static void read_number(data_completion_t completion, int i)
{
    raw_sent(zoo_aget(raw.p.zh, raw.dir, 0, completion, raw_data(i)), "get");
}

static void take(const char *value, int len, const struct Stat *stat)
{
    char text[32];

    snprintf(text, sizeof text, "%.*s", len > 0 ? len : 0, value ? value : "");
    self.number = strtoll(text, NULL, 10);
    self.version = stat->version;
    self.stale = false;
}

static void write_sum(stat_completion_t completion, int i)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%" PRId64, self.number + 1);

    raw_sent(zoo_aset(raw.p.zh, raw.dir, text, len, self.version, completion,
                      raw_data(i)),
             "set");
}

static void added(int i)
{
    self.done++;
    run_granted(raw.run, i);
    run_released(raw.run, i);
}

/* ---- One after another ---- */

static void add(int i);

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    raw_answered(rc == ZBADVERSION ? ZOK : rc, "set");
    if (rc == ZBADVERSION)
        add(raw_number(data));
    else
        added(raw_number(data));
}

static void on_got(int rc, const char *value, int len, const struct Stat *stat,
                   const void *data)
{
    raw_answered(rc, "get");
    take(value, len, stat);
    write_sum(on_set, raw_number(data));
}

static void add(int i) { read_number(on_got, i); }

/* ---- Many at once ---- */

static void on_piped(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    raw_answered(rc == ZBADVERSION ? ZOK : rc, "set");
    if (rc == ZBADVERSION) {
        self.stale = true;
        raw_start(raw_number(data));
    } else
        added(raw_number(data));
}

static void add_piped(int i)
{
    write_sum(on_piped, i);
    self.number++;
    self.version++;
}

static void on_read(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    (void)data;
    raw_answered(rc, "get");
    take(value, len, stat);
    plain_kick(&raw.p);
}

/* All refused writes are back before the number is read. */
static bool is_known(void)
{
    if (self.stale && raw.flying == 0)
        read_number(on_read, 0);
    return !self.stale;
}

/* ---- Open and close ---- */

static void open_client(struct run *r, const char *servers,
                        const struct raw_work *work)
{
    raw_begin(r, servers, work);
    read_number(on_read, 0);
    raw_await_answers();
    self.first = self.number;
}

static void open_steps(struct run *r, const char *servers)
{
    static const struct raw_work work = {
        .start = add, .requests = 1, .window = 1};

    open_client(r, servers, &work);
}

static void open_piped(struct run *r, const char *servers)
{
    static const struct raw_work work = {
        .start = add_piped, .ready = is_known, .requests = 1};

    open_client(r, servers, &work);
}

static void end(void)
{
    read_number(on_read, 0);
    raw_await_answers();
    if (self.number != self.first + self.done)
        fail("raw: the counter is wrong");
    raw_end();
}

const struct way way_raw_counter =
    RAW_WAY("raw", "no receipt: an answer that is lost is not found out",
            open_steps, end);
const struct way way_raw_counter_piped = RAW_WAY(
    "raw-piped", "no receipt, and is fast only while no other process adds",
    open_piped, end);
