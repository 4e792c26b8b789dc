/* Watches.  A watch belongs to a connection, and is gone with it; it fires
 * once, when its server applies the transaction, and only towards a client that
 * may read the node (since CVE-2024-23944). */
#include "ens_internal.h"

#include <string.h>

enum { CREATED = 1, DELETED = 2, CHANGED = 3, CHILD = 4 };

static struct ens_watch **locate(struct ens_conn *c, const char *path,
                                 bool children)
{
    struct ens_watch **at = &c->watches;

    while (*at != NULL &&
           ((*at)->children != children || strcmp((*at)->path, path) != 0))
        at = &(*at)->next;
    return at;
}

static void take_out(struct ens_watch **at)
{
    struct ens_watch *w = *at;

    *at = w->next;
    sim_free(SIM_OUTSIDE, w);
}

void ens_watch_add(int conn, const char *path, bool children)
{
    struct ens_conn *c = &ens.conn[conn];
    size_t len = strlen(path) + 1;
    struct ens_watch *w;

    if (*locate(c, path, children) != NULL)
        return;
    w = sim_alloc(SIM_OUTSIDE, sizeof *w + len);
    w->children = children;
    memcpy(w->path, path, len);
    w->next = c->watches;
    c->watches = w;
}

/* 3.8.0 says that a connection watches a path when anybody does
 * (WatchManager.containsWatcher()). */
static bool anybody_watches(int server, const char *path, bool children)
{
    for (int i = 0; i < WIRE_CONNS; i++)
        if (ens.conn[i].state != ENS_FREE && ens.conn[i].server == server &&
            *locate(&ens.conn[i], path, children) != NULL)
            return true;
    return false;
}

static bool has_kind(int type, bool children)
{
    return type != (children ? 2 : 1);
}

bool ens_watch_remove(int conn, const char *path, int type)
{
    bool found = false;

    for (int children = 0; children < 2; children++) {
        struct ens_watch **at = locate(&ens.conn[conn], path, children != 0);

        if (*at == NULL || !has_kind(type, children != 0))
            continue;
        found = true;
        take_out(at);
    }
    return found;
}

bool ens_watch_check(int server, const char *path, int type)
{
    for (int children = 0; children < 2; children++)
        if (has_kind(type, children != 0) &&
            anybody_watches(server, path, children != 0))
            return true;
    return false;
}

void ens_watch_clear(int conn)
{
    while (ens.conn[conn].watches != NULL)
        take_out(&ens.conn[conn].watches);
}

static void send_event(int conn, const char *path, int type,
                       const struct ens_acl *acl)
{
    struct wire_msg *m;

    if (!ens_acl_allows(acl, ENS_READ, ens.conn[conn].auth))
        return;
    m = wire_msg_new(WIRE_EVENT, -1);
    m->type = type;
    m->path = sim_strdup(SIM_OUTSIDE, path);
    m->zxid = -1;
    wire_reply(conn, m);
}

/* Of one connection; `mute`: it goes without a word.  Did it watch? */
static bool fire(int conn, const char *path, bool children, int type,
                 const struct ens_acl *acl, bool mute)
{
    struct ens_watch **at = locate(&ens.conn[conn], path, children);

    if (*at == NULL)
        return false;
    take_out(at);
    if (!mute)
        send_event(conn, path, type, acl);
    return true;
}

static void fire_op(int conn, const struct ens_op *s, const char *dir)
{
    bool told;

    switch (s->op) {
    case ENS_CREATE:
    case ENS_CREATE2:
    case ENS_CREATE_CONTAINER:
        fire(conn, s->path, false, CREATED, s->acl, false);
        fire(conn, dir, true, CHILD, s->parent_acl, false);
        break;
    case ENS_DELETE:
        told = fire(conn, s->path, false, DELETED, s->acl, false);
        fire(conn, s->path, true, DELETED, s->acl, told);
        fire(conn, dir, true, CHILD, s->parent_acl, false);
        break;
    case ENS_SET_DATA:
        fire(conn, s->path, false, CHANGED, s->acl, false);
        break;
    }
}

static void fire_all(int server, const struct ens_op *s)
{
    size_t len = ens_path_dir(s->path);
    char *dir = sim_memdup(SIM_OUTSIDE, s->path, len + 1);

    dir[len] = '\0';
    for (int i = 0; i < WIRE_CONNS; i++)
        if (ens.conn[i].state != ENS_FREE && ens.conn[i].server == server &&
            ens.conn[i].watches != NULL)
            fire_op(i, s, dir);
    sim_free(SIM_OUTSIDE, dir);
}

void ens_watch_fire(int server, const struct ens_txn *t)
{
    for (const struct ens_op *s = t->ops; s != NULL; s = s->next)
        if (s->path != NULL)
            fire_all(server, s);
}
