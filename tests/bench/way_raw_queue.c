/*
 * A queue by the C client without any library, as the recipes page has it: a
 * put is one create; a take reads the first znode and deletes it.  Items are
 * taken in the order of one listing, which is used up before the next.  The
 * claimed way makes an ephemeral znode beside the item first, and deletes both
 * in the end.  As many requests are in flight as the library's default.
 */
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain.h"

enum { SESSION_MS = 10000 };

static struct {
    struct plain p;
    struct run *run;
    struct plain_todo todo; /* An item to put, or ~item to take. */
    int flying;             /* Requests. */
    bool claimed, listing;
    char dir[PATH_SIZE];
    char (*name)[24]; /* Of the items, as they were listed. */
    int listed, taken;
} self;

static int number_of(const void *data) { return (int)(intptr_t)data; }

static const void *as_data(int i) { return (const void *)(intptr_t)i; }

static void item_path(int k, const char *prefix, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%.100s/%s%s", self.dir, prefix,
             self.name[k] + strlen("queue-"));
}

static void on_put(int rc, const char *path, const void *data)
{
    (void)path;
    self.flying--;
    plain_check(rc, "create");
    run_granted(self.run, number_of(data));
}

static void put(int i)
{
    static const char text[QUEUE_ITEM_SIZE];
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%.100s/queue-", self.dir);
    self.flying++;
    plain_check(zoo_acreate(self.p.zh, path, text, sizeof text,
                            &ZOO_OPEN_ACL_UNSAFE, ZOO_SEQUENCE, on_put,
                            as_data(i)),
                "create");
}

static void on_done(int rc, const void *data)
{
    self.flying--;
    plain_check(rc, "delete");
    run_released(self.run, number_of(data));
}

static void on_unclaimed(int rc, const void *data)
{
    (void)data;
    self.flying--;
    plain_check(rc, "delete");
}

/* The item was delivered: the work on it takes no time. */
static void finish(int k)
{
    char path[PATH_SIZE];

    if (self.claimed) {
        item_path(k, "claim-", path);
        self.flying++;
        plain_check(zoo_adelete(self.p.zh, path, -1, on_unclaimed, as_data(k)),
                    "delete");
    }
    item_path(k, "queue-", path);
    self.flying++;
    plain_check(zoo_adelete(self.p.zh, path, -1, on_done, as_data(k)),
                "delete");
}

static void on_read(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    (void)value, (void)len, (void)stat;
    self.flying--;
    plain_check(rc, "get");
    if (self.claimed)
        finish(number_of(data));
}

static void on_claimed(int rc, const char *path, const void *data)
{
    (void)path, (void)data;
    self.flying--;
    plain_check(rc, "create");
}

static void take(int k)
{
    char path[PATH_SIZE];

    if (self.claimed) {
        item_path(k, "claim-", path);
        self.flying++;
        plain_check(zoo_acreate(self.p.zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                                ZOO_EPHEMERAL, on_claimed, as_data(k)),
                    "create");
    }
    item_path(k, "queue-", path);
    self.flying++;
    plain_check(zoo_aget(self.p.zh, path, 0, on_read, as_data(k)), "get");
    if (!self.claimed)
        finish(k);
}

static int by_name(const void *a, const void *b) { return strcmp(a, b); }

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    (void)data;
    self.flying--;
    self.listing = false;
    plain_check(rc, "getChildren");
    self.listed = 0;
    self.taken = 0;
    for (int32_t k = 0; k < names->count && k < self.run->w->n; k++)
        snprintf(self.name[self.listed++], sizeof self.name[0], "%s",
                 names->data[k]);
    qsort(self.name, (size_t)self.listed, sizeof self.name[0], by_name);
    plain_kick(&self.p);
}

static void list(void)
{
    self.listing = true;
    self.flying++;
    plain_check(zoo_aget_children(self.p.zh, self.dir, 0, on_listed, NULL),
                "getChildren");
}

static void on_turn(void)
{
    while (plain_has_todo(&self.todo) && self.flying + 4 <= WINDOW) {
        int i = plain_next(&self.todo);

        if (i < 0 && self.taken == self.listed) {
            if (!self.listing)
                list();
            return;
        }
        self.todo.head++;
        if (i >= 0)
            put(i);
        else
            take(self.taken++);
    }
}

static void ask_put(int i) { plain_push(&self.p, &self.todo, i); }

static void ask_take(int i) { plain_push(&self.p, &self.todo, ~i); }

static void open_as(struct run *r, const char *servers, bool claimed)
{
    self.run = r;
    self.claimed = claimed;
    self.todo.room = 2 * r->w->n;
    run_path(r, 0, self.dir);
    self.name = calloc((size_t)r->w->n, sizeof self.name[0]);
    if (!self.name)
        fail("raw: out of memory");
    plain_open(&self.p, r->base, servers, SESSION_MS, on_turn);
}

static void open_claimed(struct run *r, const char *servers)
{
    open_as(r, servers, true);
}

static void open_plain(struct run *r, const char *servers)
{
    open_as(r, servers, false);
}

static bool busy(void) { return self.flying > 0 || plain_has_todo(&self.todo); }

static bool connected(void)
{
    return zoo_state(self.p.zh) == ZOO_CONNECTED_STATE;
}

static void end(void)
{
    plain_close(&self.p);
    free(self.name);
    free(self.todo.v);
}

#define RAW(opens)                                                             \
    {                                                                          \
        .name = "raw", .open = (opens), .acquire = ask_put,                    \
        .release = ask_take, .busy = busy, .connected = connected,             \
        .close = end                                                           \
    }

const struct way way_raw_queue = RAW(open_plain);
const struct way way_raw_claims = RAW(open_claimed);
