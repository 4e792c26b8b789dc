/* The leader's check of a write: from request to transaction.
 *
 * Changes that are prepared and not yet committed are in records, by path,
 * which come before the tree; so a write sees all that were proposed before it.
 * A record need not foretell the tree exactly (the counter of a full directory,
 * the permissions that a setACL brings, the children of a directory whose
 * ephemerals end with their session): ZooKeeper's does not either.  An error is
 * a transaction too. */
#include "ens_internal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct prep {
    struct ens_txn *txn;
    const struct ens_auth *auth;
    int server;                  /* -1: an operator. */
    const struct wire_msg *with; /* The transaction it is of, or NULL. */
    bool denied;                 /* Nothing may be written. */
};

struct ens_op *ens_op_add(struct ens_txn *t, int32_t op, const char *path)
{
    struct ens_op *s = sim_alloc(SIM_OUTSIDE, sizeof *s);

    s->op = op;
    s->day = ens.day;
    s->path = path != NULL ? sim_strdup(SIM_OUTSIDE, path) : NULL;
    if (t->last != NULL)
        t->last->next = s;
    else
        t->ops = s;
    t->last = s;
    return s;
}

const struct ens_rev *ens_prep_look(const char *path)
{
    for (struct ens_record *r = ens.records; r != NULL; r = r->older)
        if (strcmp(r->path, path) == 0)
            return r->rev.gone != 0 ? NULL : &r->rev;
    return ens_tree_look(path, ens.committed);
}

const struct ens_rev *ens_prep_look_dir(const char *path, char **dir)
{
    size_t len = ens_path_dir(path);

    *dir = sim_memdup(SIM_OUTSIDE, path, len + 1);
    (*dir)[len] = '\0';
    return ens_prep_look(*dir);
}

/* rev NULL: the node is gone. */
void ens_prep_record(const char *path, int64_t zxid, const struct ens_rev *rev)
{
    struct ens_record *r = sim_alloc(SIM_OUTSIDE, sizeof *r);

    r->path = sim_strdup(SIM_OUTSIDE, path);
    if (rev != NULL)
        ens_rev_copy(&r->rev, rev);
    r->rev.gone = rev == NULL ? 1 : 0;
    r->rev.zxid = zxid;
    r->older = ens.records;
    ens.records = r;
}

static void free_records(struct ens_record *r)
{
    while (r != NULL) {
        struct ens_record *older = r->older;

        ens_rev_clear(&r->rev);
        sim_free(SIM_OUTSIDE, r->path);
        sim_free(SIM_OUTSIDE, r);
        r = older;
    }
}

void ens_prep_committed(int64_t zxid)
{
    struct ens_record **at = &ens.records;

    while (*at != NULL && (*at)->rev.zxid > zxid)
        at = &(*at)->older;
    free_records(*at);
    *at = NULL;
}

static void roll_back(int64_t zxid)
{
    while (ens.records != NULL && ens.records->rev.zxid == zxid) {
        struct ens_record *r = ens.records;

        ens.records = r->older;
        r->older = NULL;
        free_records(r);
    }
}

static int session_check(const struct prep *p)
{
    return p->server < 0 ? ZOK : ens_session_check(p->txn->session, p->server);
}

static bool allowed(const struct prep *p, const struct ens_acl *acl, int perms)
{
    if (p->server < 0)
        return true;
    return !(p->denied && perms != ENS_READ) &&
           ens_acl_allows(acl, perms, p->auth);
}

static bool is_special(const char *path)
{
    static const char *const special[] = {
        "/", "/zookeeper", "/zookeeper/config", "/zookeeper/quota"};

    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(path, special[i]) == 0)
            return true;
    return false;
}

enum { QUOTA_EXCEEDED = -125 }; /* The client has no name for it. */

/* ZOO_PERSISTENT and so on, which are variables. */
enum {
    EPHEMERAL = 1,
    SEQUENTIAL = 2,
    CONTAINER = 4,
    TTL = 5,
    TTL_SEQUENTIAL = 6
};

static void record_create(struct prep *p, struct ens_op *s, const char *dir,
                          const struct ens_rev *parent)
{
    int64_t zxid = p->txn->zxid, number = ens_number(zxid);
    struct ens_rev of_dir = *parent, made = {.czxid = number,
                                             .mzxid = number,
                                             .pzxid = number,
                                             .owner = s->owner,
                                             .day = ens.day,
                                             .maker = p->txn->session,
                                             .acl = s->acl,
                                             .data = s->data};

    s->version = (int32_t)((uint32_t)parent->creates + 1);
    of_dir.children++;
    of_dir.creates = s->version;
    of_dir.pzxid = number;
    ens_prep_record(dir, zxid, &of_dir);
    ens_prep_record(s->path, zxid, &made);
}

static int create_check(const char *path, const struct ens_rev *parent)
{
    if (!ens_path_valid(path))
        return ZBADARGUMENTS;
    if (ens_prep_look(path) != NULL)
        return ZNODEEXISTS;
    if (parent->owner != 0 && parent->owner != ENS_CONTAINER_OWNER)
        return ZNOCHILDRENFOREPHEMERALS;
    return ZOK;
}

static int64_t create_owner(const struct prep *p, const struct wire_msg *m)
{
    bool ephemeral = (m->flags & EPHEMERAL) != 0 && m->flags < CONTAINER;

    return m->op == ENS_CREATE_CONTAINER ? ENS_CONTAINER_OWNER
           : ephemeral                   ? p->txn->session
                                         : 0;
}

static int create_at(struct prep *p, const struct wire_msg *m, const char *dir,
                     const struct ens_rev *parent, struct ens_acl *acl)
{
    bool sequential = (m->flags & SEQUENTIAL) != 0 && m->flags < CONTAINER;
    size_t room = strlen(m->path) + 16;
    char *path = sim_alloc(SIM_OUTSIDE, room);
    struct ens_op *s;
    int rc;

    snprintf(path, room, sequential ? "%s%010d" : "%s", m->path,
             parent->creates);
    rc = create_check(path, parent);
    if (rc == ZOK) {
        s = ens_op_add(p->txn, m->op, path);
        s->data = ens_blob_new(m->data, m->len);
        ens_acl_set(&s->acl, acl);
        s->owner = create_owner(p, m);
        record_create(p, s, dir, parent);
    }
    sim_free(SIM_OUTSIDE, path);
    return rc;
}

/* An operator, and whoever else looks on from outside, has no quota. */
static bool is_full(const struct prep *p)
{
    if (p->server < 0 || sim_now() >= ens.full_until)
        return false;
    ens.full_at = sim_now();
    return true;
}

/* Rivals have just made the directory that this transaction makes first, and
 * delete it again. */
static bool was_there(const struct prep *p, const struct wire_msg *m)
{
    if (!p->with || p->with->ops != m || m->flags != 0 || ens.cfg.rivals == 0)
        return false;
    ens.cfg.rivals--;
    return true;
}

static int prep_create(struct prep *p, const struct wire_msg *m)
{
    const struct ens_rev *parent;
    struct ens_acl *acl = NULL;
    char *dir;
    int rc;

    if (m->flags < 0 || m->flags > TTL_SEQUENTIAL)
        return ZBADARGUMENTS;
    if (m->flags >= TTL)
        return ZUNIMPLEMENTED;
    if ((rc = session_check(p)) != ZOK)
        return rc;
    if (strchr(m->path, '/') == NULL)
        return ZBADARGUMENTS;
    if (p->server >= 0 && (rc = ens_acl_fix(&m->acl, p->auth, &acl)) != ZOK)
        return rc;
    parent = ens_prep_look_dir(m->path, &dir);
    if (parent == NULL)
        rc = ZNONODE;
    else if (!allowed(p, parent->acl, ENS_MAKE))
        rc = ZNOAUTH;
    else if (is_full(p))
        rc = QUOTA_EXCEEDED;
    else if (was_there(p, m))
        rc = ZNODEEXISTS;
    else
        rc = create_at(p, m, dir, parent, acl);
    ens_acl_unref(acl);
    sim_free(SIM_OUTSIDE, dir);
    return rc;
}

static void record_delete(struct prep *p, const char *path, const char *dir,
                          const struct ens_rev *parent)
{
    struct ens_rev of_dir = *parent;

    of_dir.children--;
    of_dir.pzxid = ens_number(p->txn->zxid);
    ens_prep_record(dir, p->txn->zxid, &of_dir);
    ens_prep_record(path, p->txn->zxid, NULL);
}

/* The same transaction makes it anew. */
static bool comes_back(const struct prep *p, const char *path)
{
    const struct wire_msg *o = p->with ? p->with->ops : NULL;

    while (o != NULL && (o->op == ENS_DELETE || strcmp(o->path, path) != 0))
        o = o->next;
    return o != NULL;
}

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), len = strlen(end);

    return n > len && strcmp(path + n - len, end) == 0;
}

static bool deletes_leader(const struct wire_msg *o)
{
    return o != NULL && o->op == ENS_DELETE && ends_with(o->path, "/leader");
}

/* As what a lock is changed for, in its place. */
static bool creates_numbered(const struct wire_msg *o, const char *path)
{
    enum { NUMBER = 11 }; /* "-0000000001" */
    size_t n = strlen(path);

    return o != NULL && (o->op == ENS_CREATE || o->op == ENS_CREATE2) &&
           n > NUMBER && ends_with(o->path, path + n - NUMBER);
}

/* What else is deleted, or takes its place, on the word that it is there. */
static void look_for_copy(const struct prep *p, const struct wire_msg *m,
                          int64_t czxid)
{
    const struct wire_msg *o = p->with ? p->with->ops : NULL;
    bool hangs = m->op == ENS_DELETE ? creates_numbered(m->next, m->path)
                                     : deletes_leader(m->next);

    if (deletes_leader(m))
        return;

    for (; o != NULL && m->op == ENS_DELETE; o = o->next)
        hangs = hangs || (o->next == m && deletes_leader(o));
    if (p->with && p->server >= 0 && hangs)
        ens_copy_trusted(czxid, &p->txn->origin, p->with->behind);
}

static int prep_delete(struct prep *p, const struct wire_msg *m)
{
    const struct ens_rev *parent, *node;
    char *dir;
    int rc = session_check(p);

    if (rc != ZOK)
        return rc;
    if (strchr(m->path, '/') == NULL || is_special(m->path))
        return ZBADARGUMENTS;
    parent = ens_prep_look_dir(m->path, &dir);
    node = ens_prep_look(m->path);
    if (parent == NULL)
        rc = ZNONODE;
    else if (!allowed(p, parent->acl, ENS_DROP))
        rc = ZNOAUTH;
    else if (node == NULL)
        rc = ZNONODE;
    else if (m->version != -1 && m->version != node->version)
        rc = ZBADVERSION;
    else if (node->children > 0)
        rc = ZNOTEMPTY;
    if (rc == ZOK) {
        if (p->server >= 0 && !comes_back(p, m->path))
            ens_copy_deleted(m->path, node->czxid, &p->txn->origin,
                             p->with ? p->with->knows : m->knows);
        if (p->server >= 0)
            ens_deleted(m->path, node, p->txn,
                        p->with ? p->with->knew : m->knew);
        look_for_copy(p, m, node->czxid);
        record_delete(p, m->path, dir, parent);
        ens_op_add(p->txn, ENS_DELETE, m->path);
    }
    sim_free(SIM_OUTSIDE, dir);
    return rc;
}

/* What setData, setACL and check have in common. */
static int find_node(struct prep *p, const struct wire_msg *m, int perms,
                     const struct ens_rev **node)
{
    *node = ens_prep_look(m->path);
    if (*node == NULL)
        return ZNONODE;
    return allowed(p, (*node)->acl, perms) ? ZOK : ZNOAUTH;
}

static int prep_set_data(struct prep *p, const struct wire_msg *m)
{
    const struct ens_rev *node;
    struct ens_rev after;
    struct ens_op *s;
    int rc = session_check(p);

    if (rc != ZOK)
        return rc;
    if (!ens_path_valid(m->path))
        return ZBADARGUMENTS;
    if ((rc = find_node(p, m, ENS_WRITE, &node)) != ZOK)
        return rc;
    if (m->version != -1 && m->version != node->version)
        return ZBADVERSION;
    s = ens_op_add(p->txn, ENS_SET_DATA, m->path);
    s->data = ens_blob_new(m->data, m->len);
    s->version = (int32_t)((uint32_t)node->version + 1); /* Versions wrap. */
    after = *node;
    after.data = s->data;
    after.version = s->version;
    after.mzxid = ens_number(p->txn->zxid);
    after.day = ens.day;
    ens_prep_record(m->path, p->txn->zxid, &after);
    return ZOK;
}

static int prep_set_acl(struct prep *p, const struct wire_msg *m)
{
    const struct ens_rev *node;
    struct ens_rev after;
    struct ens_acl *acl;
    struct ens_op *s;
    int rc = session_check(p);

    if (rc != ZOK)
        return rc;
    if (!ens_path_valid(m->path))
        return ZBADARGUMENTS;
    if ((rc = ens_acl_fix(&m->acl, p->auth, &acl)) != ZOK)
        return rc;
    rc = find_node(p, m, ENS_ADMIN, &node);
    if (rc == ZOK && m->version != -1 && m->version != node->aversion)
        rc = ZBADVERSION;
    if (rc != ZOK) {
        ens_acl_unref(acl);
        return rc;
    }
    s = ens_op_add(p->txn, ENS_SET_ACL, m->path);
    s->acl = acl;
    s->version = (int32_t)((uint32_t)node->aversion + 1);
    after = *node;
    after.aversion = s->version;
    ens_prep_record(m->path, p->txn->zxid, &after);
    return ZOK;
}

static int prep_check(struct prep *p, const struct wire_msg *m)
{
    const struct ens_rev *node;
    int rc = session_check(p);

    if (rc != ZOK)
        return rc;
    if (!ens_path_valid(m->path))
        return ZBADARGUMENTS;
    if ((rc = find_node(p, m, ENS_READ, &node)) != ZOK)
        return rc;
    if (m->version != -1 && m->version != node->version)
        return ZBADVERSION;
    look_for_copy(p, m, node->czxid);
    ens_op_add(p->txn, ENS_CHECK, m->path);
    return ZOK;
}

static int prep_set_sequence(struct prep *p, const struct wire_msg *m)
{
    const struct ens_rev *node = ens_prep_look(m->path);
    struct ens_rev after;

    if (node == NULL)
        return ZNONODE;
    ens_op_add(p->txn, ENS_SET_SEQUENCE, m->path)->version = m->version;
    after = *node;
    after.creates = m->version;
    ens_prep_record(m->path, p->txn->zxid, &after);
    return ZOK;
}

static int prep_set_version(struct prep *p, const struct wire_msg *m)
{
    const struct ens_rev *node = ens_prep_look(m->path);
    struct ens_rev after;
    struct ens_op *s;

    if (node == NULL)
        return ZNONODE;
    s = ens_op_add(p->txn, ENS_SET_VERSION, m->path);
    s->version = m->version;
    after = *node;
    after.version = m->version;
    after.mzxid = p->txn->zxid;
    ens_prep_record(m->path, p->txn->zxid, &after);
    return ZOK;
}

static int prep_one(struct prep *p, const struct wire_msg *m)
{
    if (m->path == NULL)
        return ZBADARGUMENTS;
    switch (m->op) {
    case ENS_CREATE:
    case ENS_CREATE2:
    case ENS_CREATE_CONTAINER:
    case ENS_CREATE_TTL:
        return prep_create(p, m);
    case ENS_DELETE:
        return prep_delete(p, m);
    case ENS_SET_DATA:
        return prep_set_data(p, m);
    case ENS_SET_ACL:
        return prep_set_acl(p, m);
    case ENS_CHECK:
        return prep_check(p, m);
    case ENS_SET_VERSION:
        return prep_set_version(p, m);
    case ENS_SET_SEQUENCE:
        return prep_set_sequence(p, m);
    }
    return ZUNIMPLEMENTED;
}

static void fail_ops(struct ens_txn *t, const struct wire_msg *m, int rc,
                     const struct wire_msg *culprit)
{
    bool after = false;

    while (t->ops != NULL) {
        struct ens_op *s = t->ops;

        t->ops = s->next;
        ens_blob_unref(s->data);
        ens_acl_unref(s->acl);
        sim_free(SIM_OUTSIDE, s->path);
        sim_free(SIM_OUTSIDE, s);
    }
    t->last = NULL;
    for (const struct wire_msg *o = m->ops; o != NULL; o = o->next) {
        ens_op_add(t, ENS_ERROR, NULL)->err = o == culprit ? rc
                                              : after ? ZRUNTIMEINCONSISTENCY
                                                      : ZOK;
        after = after || o == culprit;
    }
}

/* All or nothing, under one zxid. */
static void prep_multi(struct prep *p, const struct wire_msg *m)
{
    for (const struct wire_msg *o = m->ops; o != NULL; o = o->next) {
        int rc = prep_one(p, o);

        if (rc == ZOK)
            continue;
        roll_back(p->txn->zxid);
        fail_ops(p->txn, m, rc, o);
        p->txn->err = rc == ZSESSIONMOVED ? rc : ZOK;
        return;
    }
}

void ens_prep(struct ens_txn *t, const struct wire_msg *m,
              const struct ens_auth *auth, int server)
{
    struct prep p = {t, auth, server, m->op == ENS_MULTI ? m : NULL, m->denied};

    if (m->op == ENS_MULTI)
        prep_multi(&p, m);
    else
        t->err = prep_one(&p, m);
}
