/*
 * A double barrier by the C client without any library, as the recipes page has
 * it.  To enter, a participant asks whether `ready` is there, with a watch,
 * creates its ephemeral znode, and lists the directory, back to back.  If all
 * have come, it creates `ready`; else it waits for it.  To leave, it lists the
 * directory.  The lowest one waits for the highest one to go, the others delete
 * their znodes and wait for the lowest one to go; then they list again, until
 * nobody is there.  The page does not say who deletes `ready`: that is done at
 * the end, and not measured.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "plain.h"

enum { SESSION_MS = 10000, ENTER_REQUESTS = 3 /* Of one participant. */ };

static const char ready[] = "ready";

struct participant {
    bool inside;
    bool is_there; /* Its znode. */
};

static struct {
    struct plain p;
    struct run *run;
    struct plain_todo todo; /* A participant to enter, or ~it to leave. */
    int flying;             /* Requests. */
    struct participant *v;
    char dir[PATH_SIZE];
} self;

static int number_of(const void *data) { return (int)(intptr_t)data; }

static void *as_data(int i) { return (void *)(intptr_t)i; }

static void child(const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%.100s/%.40s", self.dir, name);
}

static void own_name(int i, char name[16]) { snprintf(name, 16, "%06d", i); }

static void own_path(int i, char path[PATH_SIZE])
{
    char name[16];

    own_name(i, name);
    child(name, path);
}

/* ---- Enter ---- */

static void enter(int i)
{
    if (self.v[i].inside)
        return;
    self.v[i].inside = true;
    run_granted(self.run, i);
}

static void on_ready(zhandle_t *zh, int type, int state, const char *path,
                     void *arg)
{
    (void)zh, (void)state, (void)path;
    if (type == ZOO_CREATED_EVENT)
        enter(number_of(arg));
}

static void on_asked(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    self.flying--;
    if (rc == ZOK)
        enter(number_of(data));
    else if (rc != ZNONODE)
        plain_check(rc, "exists");
}

static void on_created(int rc, const char *path, const void *data)
{
    (void)path;
    self.flying--;
    plain_check(rc, "create");
    self.v[number_of(data)].is_there = true;
}

static void on_made_ready(int rc, const char *path, const void *data)
{
    (void)path;
    self.flying--;
    if (rc != ZNODEEXISTS)
        plain_check(rc, "create");
    enter(number_of(data));
}

static bool is_participant(const char *name)
{
    return strcmp(name, ready) != 0;
}

static int count(const struct String_vector *names)
{
    int n = 0;

    for (int32_t k = 0; k < names->count; k++)
        n += is_participant(names->data[k]);
    return n;
}

static void create(const char *path, int flags, int i, string_completion_t done)
{
    self.flying++;
    plain_check(zoo_acreate(self.p.zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                            flags, done, as_data(i)),
                "create");
}

static void on_counted(int rc, const struct String_vector *names,
                       const void *data)
{
    char path[PATH_SIZE];

    self.flying--;
    plain_check(rc, "getChildren");
    if (count(names) < self.run->w->n)
        return;
    child(ready, path);
    create(path, 0, number_of(data), on_made_ready);
}

static void list(int i, strings_completion_t done)
{
    self.flying++;
    plain_check(zoo_aget_children(self.p.zh, self.dir, 0, done, as_data(i)),
                "getChildren");
}

static void come(int i)
{
    char path[PATH_SIZE];

    child(ready, path);
    self.flying++;
    plain_check(zoo_awexists(self.p.zh, path, on_ready, as_data(i), on_asked,
                             as_data(i)),
                "exists");
    own_path(i, path);
    create(path, ZOO_EPHEMERAL, i, on_created);
    list(i, on_counted);
}

/* ---- Leave ---- */

static void look(int i);

static void on_gone(zhandle_t *zh, int type, int state, const char *path,
                    void *arg)
{
    (void)zh, (void)state, (void)path;
    if (type == ZOO_DELETED_EVENT)
        look(number_of(arg));
}

/* If it has gone already, no watch will tell.  The watch that the client then
 * has is for a znode that does not come. */
static void on_awaited(int rc, const struct Stat *stat, const void *data)
{
    (void)stat;
    self.flying--;
    if (rc == ZNONODE)
        look(number_of(data));
    else
        plain_check(rc, "exists");
}

static void await(const char *name, int i)
{
    char path[PATH_SIZE];

    child(name, path);
    self.flying++;
    plain_check(zoo_awexists(self.p.zh, path, on_gone, as_data(i), on_awaited,
                             as_data(i)),
                "exists");
}

static void on_deleted(int rc, const void *data)
{
    (void)data;
    self.flying--;
    plain_check(rc, "delete");
}

static void delete_own(int i)
{
    char path[PATH_SIZE];

    if (!self.v[i].is_there)
        return;
    self.v[i].is_there = false;
    own_path(i, path);
    self.flying++;
    plain_check(zoo_adelete(self.p.zh, path, -1, on_deleted, as_data(i)),
                "delete");
}

static const char *farthest(const struct String_vector *names, int sign)
{
    const char *found = NULL;

    for (int32_t k = 0; k < names->count; k++)
        if (is_participant(names->data[k]) &&
            (!found || sign * strcmp(names->data[k], found) > 0))
            found = names->data[k];
    return found;
}

static void on_last_deleted(int rc, const void *data)
{
    self.flying--;
    plain_check(rc, "delete");
    run_released(self.run, number_of(data));
}

static void delete_last(int i)
{
    char path[PATH_SIZE];

    own_path(i, path);
    self.flying++;
    plain_check(zoo_adelete(self.p.zh, path, -1, on_last_deleted, as_data(i)),
                "delete");
}

static void on_looked(int rc, const struct String_vector *names,
                      const void *data)
{
    int i = number_of(data), n;
    const char *lowest;
    char name[16];

    self.flying--;
    plain_check(rc, "getChildren");
    n = count(names);
    if (n == 0) {
        run_released(self.run, i);
        return;
    }
    lowest = farthest(names, -1);
    own_name(i, name);
    if (strcmp(lowest, name) != 0) {
        delete_own(i);
        await(lowest, i);
    } else if (n > 1)
        await(farthest(names, 1), i);
    else
        delete_last(i);
}

static void look(int i) { list(i, on_looked); }

/* ---- The way ---- */

static void on_turn(void)
{
    while (plain_has_todo(&self.todo) &&
           self.flying + ENTER_REQUESTS <= WINDOW) {
        int i = plain_next(&self.todo);

        self.todo.head++;
        if (i >= 0)
            come(i);
        else
            look(~i);
    }
}

static void ask_enter(int i) { plain_push(&self.p, &self.todo, i); }

static void ask_leave(int i) { plain_push(&self.p, &self.todo, ~i); }

static void open_raw(struct run *r, const char *servers)
{
    self.run = r;
    self.todo.room = 2 * r->w->n;
    self.v = calloc((size_t)r->w->n, sizeof self.v[0]);
    if (!self.v)
        fail("raw: out of memory");
    run_path(r, 0, self.dir);
    plain_open(&self.p, r->base, servers, SESSION_MS, on_turn);
}

static bool busy(void) { return self.flying > 0 || plain_has_todo(&self.todo); }

static bool connected(void)
{
    return zoo_state(self.p.zh) == ZOO_CONNECTED_STATE;
}

static void end(void)
{
    char path[PATH_SIZE];

    child(ready, path);
    self.flying++;
    plain_check(zoo_adelete(self.p.zh, path, -1, on_deleted, NULL), "delete");
    plain_kick(&self.p);
    while (self.flying > 0)
        event_base_loop(self.p.base, EVLOOP_ONCE);
    plain_close(&self.p);
    free(self.v);
    free(self.todo.v);
}

const struct way way_raw_double_barrier = {.name = "raw",
                                           .open = open_raw,
                                           .acquire = ask_enter,
                                           .release = ask_leave,
                                           .busy = busy,
                                           .connected = connected,
                                           .close = end};
