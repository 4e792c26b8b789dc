/* Random multis of a conformance run: of creates (no containers: the client
 * misreads their results), deletes, sets and checks.  Some are as a lock makes
 * them: a directory, a contender in it, a write that tells the zxid; and a
 * contender that goes with its directory. */
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MULTI_MAX = 4, DIRS_MAX = 3, OPS_MAX = 2 * DIRS_MAX + 1, TEXT = 3000 };

struct multi {
    int n;
    zoo_op_t ops[OPS_MAX];
    zoo_op_result_t results[OPS_MAX];
    char path[OPS_MAX][96];
    char made[OPS_MAX][128];
    struct Stat stat[OPS_MAX];
    struct pick_data data[OPS_MAX];
    bool creates[OPS_MAX], sets[OPS_MAX];
};

static void tell_result(char *buf, size_t size, const struct multi *m, int i,
                        bool ok)
{
    char stat[300] = "";

    if (ok && m->sets[i])
        tell_stat(stat, sizeof stat, &m->stat[i]);
    tell_rc(m->results[i].err);
    snprintf(buf, size, " | %d %s%s", m->results[i].err,
             ok && m->creates[i] ? m->made[i] : "", stat);
}

static void keep_made(const char *path)
{
    size_t n = strlen(path);

    if (n > 10 && strspn(path + n - 10, "0123456789") == 10)
        remember(path);
}

static void on_multi(int rc, const void *data)
{
    struct request *r = (struct request *)(uintptr_t)data;
    struct multi *m = r->own;
    char text[TEXT] = "";

    for (int i = 0; i < m->n; i++) {
        size_t used = strlen(text);

        tell_result(text + used, sizeof text - used, m, i, rc == ZOK);
    }
    r->own = NULL;
    request_done(r, rc, "%s", text);
    for (int i = 0; rc == ZOK && i < m->n; i++)
        if (m->creates[i])
            keep_made(m->made[i]);
    free(m);
}

static void plan_create(struct multi *m, int i, int mode, char *what,
                        size_t size)
{
    const struct pick_acl *acl = pick_acl();

    m->creates[i] = true;
    m->data[i] = pick_data();
    zoo_create_op_init(
        &m->ops[i], m->path[i], m->data[i].len < 0 ? NULL : m->data[i].bytes,
        m->data[i].len, &acl->acl, mode, m->made[i], (int)sizeof m->made[i]);
    snprintf(what, size, " create %s mode=%d acl=%s", m->path[i], mode,
             acl->name);
}

static void plan_delete(struct multi *m, int i, int32_t version, char *what,
                        size_t size)
{
    zoo_delete_op_init(&m->ops[i], m->path[i], version);
    snprintf(what, size, " delete %s v=%d", m->path[i], version);
}

static void plan_set(struct multi *m, int i, int32_t version, char *what,
                     size_t size)
{
    m->sets[i] = true;
    m->data[i] = pick_data();
    zoo_set_op_init(&m->ops[i], m->path[i],
                    m->data[i].len < 0 ? NULL : m->data[i].bytes,
                    m->data[i].len, version, &m->stat[i]);
    snprintf(what, size, " set %s v=%d", m->path[i], version);
}

static void plan(struct multi *m, int i, char *what, size_t size)
{
    static const int modes[] = {0, 0, 0, 1, 2, 3};
    int32_t version = pick(3) ? -1 : pick_version();
    unsigned kind = pick(8);

    snprintf(m->path[i], sizeof m->path[i], "%s", pick_path());
    if (kind < 4) {
        plan_create(m, i, modes[pick(6)], what, size);
    } else if (kind < 6) {
        plan_delete(m, i, version, what, size);
    } else if (kind == 6) {
        plan_set(m, i, version, what, size);
    } else {
        zoo_check_op_init(&m->ops[i], m->path[i], version);
        snprintf(what, size, " check %s v=%d", m->path[i], version);
    }
}

/* Where the description of the next operation goes. */
static char *rest(struct request *r, size_t *size)
{
    size_t used = strlen(r->what);

    *size = sizeof r->what - used;
    return r->what + used;
}

static void plan_any(struct multi *m, struct request *r)
{
    size_t size;

    m->n = 1 + (int)pick(MULTI_MAX);
    for (int i = 0; i < m->n; i++) {
        char *what = rest(r, &size);

        plan(m, i, what, size);
    }
}

/* Up to three directories and a contender in each; one of them is written to,
 * for its Stat. */
static void plan_locks(struct multi *m, struct request *r)
{
    int dirs = 1 + (int)pick(DIRS_MAX);
    const char *dir;
    size_t size;
    char *what;

    m->n = 2 * dirs + 1;
    for (int i = 0; i < 2 * dirs; i += 2) {
        dir = pick_path();
        snprintf(m->path[i], sizeof m->path[i], "%s", dir);
        what = rest(r, &size);
        plan_create(m, i, 0, what, size);
        snprintf(m->path[i + 1], sizeof m->path[i + 1], "%.80s/l-", dir);
        what = rest(r, &size);
        plan_create(m, i + 1, ZOO_EPHEMERAL | ZOO_SEQUENCE, what, size);
    }
    memcpy(m->path[2 * dirs], m->path[2 * pick((unsigned)dirs)],
           sizeof m->path[0]);
    what = rest(r, &size);
    plan_set(m, 2 * dirs, -1, what, size);
}

/* Contenders and their directories; some have others in them, or are none. */
static void plan_unlock(struct multi *m, struct request *r)
{
    int dirs = 1 + (int)pick(DIRS_MAX);
    const char *znode = "";
    size_t size;

    m->n = 2 * dirs;
    for (int i = 0; i < m->n; i++) {
        char *what = rest(r, &size);

        if (i % 2 == 0)
            znode = pick_path();
        snprintf(m->path[i], sizeof m->path[i], "%s", znode);
        if (i % 2 && strrchr(m->path[i], '/') > m->path[i] + 2)
            *strrchr(m->path[i], '/') = '\0'; /* /t stays. */
        plan_delete(m, i, -1, what, size);
    }
}

/* As steps are committed: while one znode is there, another takes its place;
 * and a third is made, written to and deleted, which tells the zxid. */
static void plan_commit(struct multi *m, struct request *r)
{
    static const int modes[] = {0, 1, 2, 3};
    const char *own = pick_path();
    size_t size;
    char *what;

    m->n = 6;
    for (int i = 0; i < m->n; i++)
        snprintf(m->path[i], sizeof m->path[i], i < 3 ? "%.80s" : "%.80s-token",
                 own);
    snprintf(m->path[1], sizeof m->path[1], "%s", pick_path());
    zoo_check_op_init(&m->ops[0], m->path[0], -1);
    what = rest(r, &size);
    snprintf(what, size, " check %s", m->path[0]);
    what = rest(r, &size);
    plan_create(m, 1, modes[pick(4)], what, size);
    what = rest(r, &size);
    plan_delete(m, 2, -1, what, size);
    what = rest(r, &size);
    plan_create(m, 3, 0, what, size);
    what = rest(r, &size);
    plan_set(m, 4, 0, what, size);
    what = rest(r, &size);
    plan_delete(m, 5, 1, what, size);
}

void do_multi(int slot)
{
    static void (*const plans[])(struct multi *, struct request *) = {
        plan_any, plan_any, plan_locks, plan_unlock, plan_commit};
    struct request *r = request_new(slot, "multi");
    struct multi *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    r->own = m;
    plans[pick(5)](m, r);
    request_sent(
        r, zoo_amulti(slots[slot].zh, m->n, m->ops, m->results, on_multi, r));
}
