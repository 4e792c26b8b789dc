/* The answers that take no transaction: from what this server has applied. */
#include "ens_internal.h"

#include <string.h>

/* The node, if it is there, and may be seen. */
static const struct ens_rev *see(int conn, struct wire_msg *reply,
                                 const char *path, int perms)
{
    const struct ens_conn *c = &ens.conn[conn];
    const struct ens_rev *r =
        ens_tree_look(path, ens.server[c->server].applied);

    if (r == NULL)
        reply->rc = ZNONODE;
    else if (!ens_acl_allows(r->acl, perms, c->auth))
        reply->rc = ZNOAUTH;
    return reply->rc == ZOK ? r : NULL;
}

/* Watches also what is not there, and what it may not read. */
static void read_exists(int conn, const struct wire_msg *m,
                        struct wire_msg *reply)
{
    const struct ens_rev *r =
        ens_tree_look(m->path, ens.server[ens.conn[conn].server].applied);

    if (m->watch)
        ens_watch_add(conn, m->path, false);
    if (r == NULL)
        reply->rc = ZNONODE;
    else
        ens_tree_stat(r, &reply->stat);
}

static void read_data(int conn, const struct wire_msg *m,
                      struct wire_msg *reply)
{
    const struct ens_rev *r = see(conn, reply, m->path, ENS_READ);

    if (r == NULL)
        return;
    if (m->watch)
        ens_watch_add(conn, m->path, false);
    ens_tree_stat(r, &reply->stat);
    reply->len = r->data != NULL ? r->data->len : -1;
    if (r->data != NULL)
        reply->data =
            sim_memdup(SIM_OUTSIDE, r->data->bytes, (size_t)r->data->len + 1);
}

static void read_acl(int conn, const struct wire_msg *m, struct wire_msg *reply)
{
    const struct ens_rev *r = see(conn, reply, m->path, ENS_READ | ENS_ADMIN);

    if (r == NULL)
        return;
    ens_tree_stat(r, &reply->stat);
    ens_acl_tell(reply, r->acl,
                 !ens_acl_allows(r->acl, ENS_ADMIN, ens.conn[conn].auth));
}

static const char *base_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

static void read_children(int conn, const struct wire_msg *m,
                          struct wire_msg *reply)
{
    int64_t view = ens.server[ens.conn[conn].server].applied;
    const struct ens_rev *r = see(conn, reply, m->path, ENS_READ);

    if (r == NULL)
        return;
    if (m->watch)
        ens_watch_add(conn, m->path, true);
    if (m->op == ENS_GET_CHILDREN2)
        ens_tree_stat(r, &reply->stat);
    if (r->children == 0)
        return;
    reply->names =
        sim_alloc(SIM_OUTSIDE, sizeof *reply->names * (size_t)r->children);
    /* The children have no order; most that rely on one rely on that of the
     * creates. */
    for (struct ens_node *n = ens_tree_find(m->path)->last; n; n = n->before)
        if (ens_tree_at(n, view) != NULL && reply->n_names < r->children)
            reply->names[reply->n_names++] =
                sim_strdup(SIM_OUTSIDE, base_name(n->path));
}

static void read_watches(int conn, const struct wire_msg *m,
                         struct wire_msg *reply)
{
    bool found = m->op == ENS_REMOVE_WATCHES
                     ? ens_watch_remove(conn, m->path, m->type)
                     : ens_watch_check(ens.conn[conn].server, m->path, m->type);

    if (!found)
        reply->rc = ZNOWATCHER;
}

static void answer(int conn, const struct wire_msg *m, struct wire_msg *reply)
{
    switch (m->op) {
    case ENS_EXISTS:
        read_exists(conn, m, reply);
        break;
    case ENS_GET_DATA:
        read_data(conn, m, reply);
        break;
    case ENS_GET_ACL:
        read_acl(conn, m, reply);
        break;
    case ENS_GET_CHILDREN:
    case ENS_GET_CHILDREN2:
        read_children(conn, m, reply);
        break;
    case ENS_SYNC:
        reply->path = sim_strdup(SIM_OUTSIDE, m->path);
        break;
    case ENS_CHECK_WATCHES:
    case ENS_REMOVE_WATCHES:
        read_watches(conn, m, reply);
        break;
    default:
        reply->rc = ZUNIMPLEMENTED;
    }
}

struct wire_msg *ens_read(int conn, const struct wire_msg *m)
{
    struct wire_msg *reply = wire_msg_new(m->op, m->xid);

    if (m->op == WIRE_PING)
        return reply;
    if (m->path == NULL)
        reply->rc = ZBADARGUMENTS;
    else
        answer(conn, m, reply);
    return reply;
}
