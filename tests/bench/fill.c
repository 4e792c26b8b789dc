/*
 * Znodes that are there before a run, and those left after it.  Each call works
 * in a process of its own, so that the one that starts the runs stays small.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch.h"
#include "bench.h"
#include "harness.h"

enum { SESSION_MS = 60000 };

static struct {
    struct plain p;
    int wanted;
    const char *dir;
    int left;
} filler;

/* In the new process; false in the old one, when the new one is done. */
static bool begin(const char *servers)
{
    pid_t pid = harness_fork();
    struct event_base *base;

    if (pid > 0) {
        if (harness_join(pid) != 0)
            fail("a preparation failed");
        return false;
    }
    base = event_base_new();
    if (!base)
        fail("out of memory");
    plain_open(&filler.p, base, servers, SESSION_MS, NULL);
    return true;
}

_Noreturn static void end(void)
{
    plain_close(&filler.p);
    _exit(0);
}

static void await_answers(void)
{
    plain_kick(&filler.p);
    while (filler.wanted > 0)
        event_base_loop(filler.p.base, EVLOOP_ONCE);
}

static void on_made(int rc, const char *value, const void *data)
{
    (void)value;
    (void)data;
    if (rc != ZOK && rc != ZNODEEXISTS)
        fail("%s: %s", filler.dir, zerror(rc));
    filler.wanted--;
}

/* The directory and those above it. */
static void make_parents(const char *dir)
{
    char path[PATH_SIZE];

    for (size_t k = 1; k <= strlen(dir); k++) {
        if (dir[k] != '/' && dir[k] != '\0')
            continue;
        snprintf(path, sizeof path, "%.*s", (int)k, dir);
        filler.wanted++;
        zoo_acreate(filler.p.zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE, 0,
                    on_made, NULL);
    }
    await_answers();
}

static void make(const char *servers, const char *dir, int n,
                 enum batch_kind kind)
{
    if (!begin(servers))
        return;
    filler.dir = dir;
    make_parents(dir);
    batch_run(&filler.p, kind, dir, n, 1, false);
    end();
}

void fill_dirs(const char *servers, const char *dir, int n)
{
    make(servers, dir, n, BATCH_DIRS);
}

void fill_values(const char *servers, const char *dir, int n)
{
    make(servers, dir, n, BATCH_VALUES);
}

static void on_listed(int rc, const struct String_vector *names,
                      const void *data)
{
    (void)data;
    filler.left = rc == ZOK ? names->count : 0;
    filler.wanted--;
}

static void on_removed(int rc, const void *data)
{
    (void)data;
    if (rc != ZOK && rc != ZNONODE && rc != ZNOTEMPTY)
        fail("%s: %s", filler.dir, zerror(rc));
    filler.wanted--;
}

/* Each znode is known by its number: only how many are left is asked. */
void fill_remove(const char *servers, const char *dir, int n)
{
    if (!begin(servers))
        return;
    filler.dir = dir;
    filler.wanted = 1;
    zoo_aget_children(filler.p.zh, dir, 0, on_listed, NULL);
    await_answers();
    if (filler.left > 0)
        batch_run(&filler.p, BATCH_DELETE, dir, n, 1, false);
    filler.wanted = 1;
    zoo_adelete(filler.p.zh, dir, -1, on_removed, NULL);
    await_answers();
    end();
}

static void on_names(int rc, const struct String_vector *names,
                     const void *data)
{
    char path[2 * PATH_SIZE];

    (void)data;
    for (int32_t k = 0; rc == ZOK && k < names->count; k++) {
        snprintf(path, sizeof path, "%.100s/%.180s", filler.dir,
                 names->data[k]);
        filler.wanted++;
        zoo_adelete(filler.p.zh, path, -1, on_removed, NULL);
    }
    filler.wanted--;
}

void fill_clear(const char *servers, const char *dir)
{
    if (!begin(servers))
        return;
    filler.dir = dir;
    filler.wanted = 1;
    zoo_aget_children(filler.p.zh, dir, 0, on_names, NULL);
    await_answers();
    filler.wanted = 1;
    zoo_adelete(filler.p.zh, dir, -1, on_removed, NULL);
    await_answers();
    end();
}

/* The names of a directory's children, for a walk. */
struct children {
    char (*name)[PATH_SIZE];
    int n;
};

static void on_children(int rc, const struct String_vector *names,
                        const void *data)
{
    struct children *c = (struct children *)(uintptr_t)data;

    filler.wanted--;
    if (rc != ZOK || names->count == 0)
        return;
    c->name = calloc((size_t)names->count, sizeof c->name[0]);
    if (!c->name)
        fail("fill: out of memory");
    for (int32_t k = 0; k < names->count; k++)
        snprintf(c->name[c->n++], PATH_SIZE, "%s", names->data[k]);
}

static void clear_tree(const char *dir)
{
    struct children c = {0};
    char path[2 * PATH_SIZE];

    filler.wanted = 1;
    zoo_aget_children(filler.p.zh, dir, 0, on_children, &c);
    await_answers();
    for (int k = 0; k < c.n; k++) {
        snprintf(path, sizeof path, "%.180s/%.180s", dir, c.name[k]);
        clear_tree(path);
    }
    free(c.name);
    filler.wanted = 1;
    zoo_adelete(filler.p.zh, dir, -1, on_removed, NULL);
    await_answers();
}

void fill_clear_tree(const char *servers, const char *dir)
{
    if (!begin(servers))
        return;
    filler.dir = dir;
    clear_tree(dir);
    end();
}
