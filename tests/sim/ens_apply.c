/* From transaction to tree, and to the reply.
 *
 * Done once, when the leader commits; the followers' views reach it later.
 * The reply is made then too, and waits for the server that owes it. */
#include "ens_internal.h"

#include <string.h>

static bool counts_more(int32_t next, int32_t now)
{
    if (ens.cfg.quirk_end)
        return next > now;
    return (int32_t)((uint32_t)next - (uint32_t)now) > 0;
}

static void apply_create(const struct ens_txn *t, struct ens_op *s)
{
    struct ens_node *n = ens_tree_add(s->path);
    struct ens_rev *r = ens_tree_change(n, t->zxid);
    struct ens_rev *dir = ens_tree_change(n->parent, t->zxid);

    ens_rev_clear(r);
    r->data = ens_blob_ref(s->data);
    r->acl = ens_acl_ref(s->acl);
    r->czxid = r->mzxid = r->pzxid = ens_number(t->zxid);
    r->owner = s->owner;
    r->day = s->day;
    r->maker = t->session;
    r->version = r->creates = r->aversion = r->children = 0;
    r->gone = 0;
    dir->children++;
    if (counts_more(s->version, dir->creates)) {
        dir->creates = s->version;
        dir->pzxid = ens_number(t->zxid);
    }
    ens_acl_set(&s->parent_acl, dir->acl);
    if (s->owner == ENS_CONTAINER_OWNER)
        ens.containers++;
}

static void apply_delete(const struct ens_txn *t, struct ens_op *s)
{
    struct ens_node *n = ens_tree_find(s->path);
    struct ens_rev *r = ens_tree_change(n, t->zxid);
    struct ens_rev *dir = ens_tree_change(n->parent, t->zxid);

    ens_acl_set(&s->acl, r->acl);
    ens_acl_set(&s->parent_acl, dir->acl);
    if (r->owner == ENS_CONTAINER_OWNER)
        ens.containers--;
    ens_rev_clear(r);
    r->gone = 1;
    dir->children--;
    if (ens.anew != 0 || t->zxid > dir->pzxid)
        dir->pzxid = ens_number(t->zxid);
}

static void apply_set_data(const struct ens_txn *t, struct ens_op *s)
{
    struct ens_rev *r = ens_tree_change(ens_tree_find(s->path), t->zxid);

    ens_blob_unref(r->data);
    r->data = ens_blob_ref(s->data);
    r->version = s->version;
    r->mzxid = ens_number(t->zxid);
    r->day = s->day;
    ens_acl_set(&s->acl, r->acl);
}

static void apply_set_acl(const struct ens_txn *t, const struct ens_op *s)
{
    struct ens_rev *r = ens_tree_change(ens_tree_find(s->path), t->zxid);

    ens_acl_set(&r->acl, s->acl);
    r->aversion = s->version;
}

static void apply_op(const struct ens_txn *t, struct ens_op *s)
{
    switch (s->op) {
    case ENS_CREATE:
    case ENS_CREATE2:
    case ENS_CREATE_CONTAINER:
        apply_create(t, s);
        break;
    case ENS_DELETE:
        apply_delete(t, s);
        break;
    case ENS_SET_DATA:
        apply_set_data(t, s);
        break;
    case ENS_SET_ACL:
        apply_set_acl(t, s);
        break;
    case ENS_SET_VERSION: {
        struct ens_rev *rev = ens_tree_change(ens_tree_find(s->path), t->zxid);

        rev->version = s->version;
        rev->mzxid = t->zxid;
        break;
    }
    case ENS_SET_SEQUENCE:
        ens_tree_change(ens_tree_find(s->path), t->zxid)->creates = s->version;
        break;
    }
}

/* What an operation says of itself, as things are right after it. */
static void tell_op(struct wire_msg *m, const struct ens_op *s)
{
    bool made = s->op == ENS_CREATE || s->op == ENS_CREATE2 ||
                s->op == ENS_CREATE_CONTAINER;

    m->rc = s->err;
    if (made)
        m->path = sim_strdup(SIM_OUTSIDE, s->path);
    if ((made && s->op != ENS_CREATE) || s->op == ENS_SET_DATA ||
        s->op == ENS_SET_ACL)
        ens_tree_stat(ens_tree_look(s->path, ens.proposed), &m->stat);
}

static void tell_result(struct wire_msg *reply, const struct ens_op *s)
{
    struct wire_msg **at = &reply->ops;
    struct wire_msg *m = wire_msg_new(s->op, 0);

    while (*at != NULL)
        at = &(*at)->next;
    *at = m;
    tell_op(m, s);
}

void ens_apply(struct ens_txn *t)
{
    bool waited = t->origin.server >= 0 && t->op != WIRE_CONNECT;

    if (waited) {
        t->reply = wire_msg_new(t->op, t->origin.xid);
        t->reply->rc = t->err;
    }
    for (struct ens_op *s = t->ops; s != NULL; s = s->next) {
        apply_op(t, s);
        if (waited && t->op == ENS_MULTI)
            tell_result(t->reply, s);
        else if (waited && t->op != WIRE_CLOSE)
            tell_op(t->reply, s);
    }
}
