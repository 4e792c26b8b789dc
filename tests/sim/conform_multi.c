/* Random multis of a conformance run: of creates (no containers: the client
 * misreads their results), deletes, sets and checks. */
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MULTI_MAX = 4, TEXT = 2000 };

struct multi {
    int n;
    zoo_op_t ops[MULTI_MAX];
    zoo_op_result_t results[MULTI_MAX];
    char path[MULTI_MAX][96];
    char made[MULTI_MAX][128];
    struct Stat stat[MULTI_MAX];
    struct pick_data data[MULTI_MAX];
    bool creates[MULTI_MAX], sets[MULTI_MAX];
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

static void plan_create(struct multi *m, int i, char *what, size_t size)
{
    static const int modes[] = {0, 0, 0, 1, 2, 3};
    const struct pick_acl *acl = pick_acl();
    int mode = modes[pick(6)];

    m->creates[i] = true;
    m->data[i] = pick_data();
    zoo_create_op_init(
        &m->ops[i], m->path[i], m->data[i].len < 0 ? NULL : m->data[i].bytes,
        m->data[i].len, &acl->acl, mode, m->made[i], (int)sizeof m->made[i]);
    snprintf(what, size, " create %s mode=%d acl=%s", m->path[i], mode,
             acl->name);
}

static void plan(struct multi *m, int i, char *what, size_t size)
{
    int32_t version = pick(3) ? -1 : pick_version();
    unsigned kind = pick(8);

    snprintf(m->path[i], sizeof m->path[i], "%s", pick_path());
    if (kind < 4) {
        plan_create(m, i, what, size);
    } else if (kind < 6) {
        zoo_delete_op_init(&m->ops[i], m->path[i], version);
        snprintf(what, size, " delete %s v=%d", m->path[i], version);
    } else if (kind == 6) {
        m->sets[i] = true;
        m->data[i] = pick_data();
        zoo_set_op_init(&m->ops[i], m->path[i],
                        m->data[i].len < 0 ? NULL : m->data[i].bytes,
                        m->data[i].len, version, &m->stat[i]);
        snprintf(what, size, " set %s v=%d", m->path[i], version);
    } else {
        zoo_check_op_init(&m->ops[i], m->path[i], version);
        snprintf(what, size, " check %s v=%d", m->path[i], version);
    }
}

void do_multi(int slot)
{
    struct request *r = request_new(slot, "multi");
    struct multi *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    r->own = m;
    m->n = 1 + (int)pick(MULTI_MAX);
    for (int i = 0; i < m->n; i++) {
        size_t used = strlen(r->what);

        plan(m, i, r->what + used, sizeof r->what - used);
    }
    request_sent(
        r, zoo_amulti(slots[slot].zh, m->n, m->ops, m->results, on_multi, r));
}
