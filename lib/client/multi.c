/* Transactions: several writes, all done or none. */
#include "lib/client/handle.h"

#include <string.h>

#include "lib/base/mem.h"

/* Of a sequential znode's name: eleven characters at most, and the end. */
enum { SUFFIX = 12 };

/* One block: the struct, the operations, their results, the ACLs of each, which
 * of them require the version -1, and the text of the paths. */
static struct evzk__multi *allocate(unsigned ops, size_t text, unsigned acls,
                                    size_t entries)
{
    size_t head = sizeof(struct evzk__multi), all = ops * sizeof(zoo_op_t),
           results = ops * sizeof(zoo_op_result_t),
           own = acls * sizeof(struct ACL_vector),
           entry = entries * sizeof(struct ACL);
    char *memory = evzk__zalloc(head + all + results + own + entry +
                                ops * sizeof(bool) + text);
    struct evzk__multi *m = (void *)memory;

    if (!m)
        return NULL;
    m->op = (void *)(memory + head);
    m->result = (void *)(memory + head + all);
    m->own = (void *)(memory + head + all + results);
    m->entry = (void *)(memory + head + all + results + own);
    m->last = (void *)(memory + head + all + results + own + entry);
    m->text = m->next = (char *)(m->last + ops);
    m->open = evzk__client_acl(NULL, 0, NULL);
    return m;
}

struct evzk__multi *evzk__multi_new(unsigned ops, size_t text,
                                    const evzk_acl *acl, size_t acl_count)
{
    struct evzk__multi *m = allocate(ops, text, 0, 0);

    if (m)
        m->acl = evzk__client_acl(acl, acl_count, m->entries);
    return m;
}

struct evzk__multi *evzk__multi_mixed(unsigned ops, size_t text, size_t entries)
{
    return allocate(ops, text, ops, entries);
}

void evzk__multi_free(struct evzk__multi *m)
{
    if (m->sent)
        m->orphan = true; /* The client still has its address. */
    else
        evzk__multi_destroy(m);
}

/* Puts a path together, with room behind it for what a server adds. */
static char *path_in(struct evzk__multi *m, const char *dir, const char *name,
                     const char *tag)
{
    char *path = m->next;

    m->next = stpcpy(m->next, dir);
    if (name)
        m->next = stpcpy(stpcpy(m->next, "/"), name);
    m->next = stpcpy(m->next, tag) + 1;
    return path;
}

void evzk__multi_mkdir(struct evzk__multi *m, const char *dir, const char *data,
                       size_t len)
{
    zoo_create_op_init(&m->op[m->n++], path_in(m, dir, NULL, ""), data,
                       (int)len, &m->acl, ZOO_PERSISTENT, NULL, 0);
}

static void add_ephemeral(struct evzk__multi *m, const char *dir,
                          const char *name, const void *data, size_t len,
                          int mode)
{
    char *path = path_in(m, dir, name, "");

    m->next += SUFFIX;
    zoo_create_op_init(&m->op[m->n++], path, data, (int)len, &m->acl, mode,
                       path, (int)(m->next - path));
}

void evzk__multi_create_seq(struct evzk__multi *m, const char *dir,
                            const char *name, const void *data, size_t len)
{
    add_ephemeral(m, dir, name, data, len, ZOO_EPHEMERAL_SEQUENTIAL);
}

void evzk__multi_create_name(struct evzk__multi *m, const char *dir,
                             const char *name, const void *data, size_t len)
{
    add_ephemeral(m, dir, name, data, len, ZOO_EPHEMERAL);
}

void evzk__multi_create(struct evzk__multi *m, const char *path,
                        const void *data, size_t len, const evzk_acl *acl,
                        size_t acl_count, enum evzk__mode mode)
{
    struct ACL_vector *own = &m->own[m->n];
    char *copy = path_in(m, path, NULL, "");

    m->next += SUFFIX;
    *own = evzk__client_acl(acl, acl_count, m->entry);
    m->entry += acl_count;
    zoo_create_op_init(&m->op[m->n++], copy, data, (int)len, own,
                       evzk__client_mode(mode), copy, (int)(m->next - copy));
}

/* How the next operation says its version.  See client.h. */
static int version_of(struct evzk__multi *m, int64_t version)
{
    m->last[m->n] = version == -1;
    return version == EVZK__ANY_VERSION ? -1 : (int)version;
}

void evzk__multi_set(struct evzk__multi *m, const char *path, const void *data,
                     size_t len, int64_t version)
{
    int sent = version_of(m, version);

    zoo_set_op_init(&m->op[m->n++], path_in(m, path, NULL, ""), data, (int)len,
                    sent, &m->stamp);
}

void evzk__multi_check(struct evzk__multi *m, const char *dir, const char *name,
                       int64_t version)
{
    int sent = version == -1 ? EVZK__NO_VERSION : version_of(m, version);

    zoo_check_op_init(&m->op[m->n++], path_in(m, dir, name, ""), sent);
}

void evzk__multi_delete(struct evzk__multi *m, const char *dir,
                        const char *name, int64_t version)
{
    int sent = version_of(m, version);

    zoo_delete_op_init(&m->op[m->n++], path_in(m, dir, name, ""), sent);
}

void evzk__multi_rmdir(struct evzk__multi *m, const char *dir)
{
    zoo_delete_op_init(&m->op[m->n++], path_in(m, dir, NULL, ""), 0);
}

void evzk__multi_stamp(struct evzk__multi *m, const char *dir, const char *name,
                       const char *tag)
{
    const char *path = path_in(m, dir, name, tag);

    zoo_create_op_init(&m->op[m->n++], path, NULL, -1, &m->open, ZOO_PERSISTENT,
                       NULL, 0);
    zoo_set_op_init(&m->op[m->n++], path, NULL, -1, -1, &m->stamp);
    zoo_delete_op_init(&m->op[m->n++], path, -1);
}

/* Until the answer comes, the paths are those of the request: take them out. */
static void clear_names(struct evzk__multi *m)
{
    for (unsigned i = 0; i < m->n; i++) {
        if (m->op[i].type == ZOO_CREATE_OP && m->op[i].create_op.buf)
            m->op[i].create_op.buf[0] = '\0';
    }
}

static bool has_names(const struct evzk__multi *m)
{
    for (unsigned i = 0; i < m->n; i++) {
        if (m->op[i].type == ZOO_CREATE_OP && m->op[i].create_op.buf &&
            !evzk__multi_path(m, i))
            return false;
    }
    return true;
}

/* A write to a znode of the version -1: it is written to in any version, and
 * has the version 0 then. */
static unsigned add_pair(struct evzk__pairs *to, unsigned n, const zoo_op_t *op,
                         struct Stat *stat)
{
    if (op->type == ZOO_DELETE_OP) {
        zoo_set_op_init(&to->op[n++], op->delete_op.path, NULL, -1, -1, stat);
        zoo_delete_op_init(&to->op[n++], op->delete_op.path, 0);
    } else {
        to->op[n++] = *op;
        zoo_check_op_init(&to->op[n++], op->set_op.path, 0);
    }
    return n;
}

static unsigned pairs_in(const struct evzk__multi *m)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->n; i++)
        n += m->last[i];
    return n;
}

/* False: no memory. */
static bool make_pairs(struct evzk__multi *m)
{
    unsigned all = m->n + pairs_in(m), n = 0;
    struct evzk__pairs *to = NULL;

    if (all == m->n)
        return true;
    to = evzk__zalloc(sizeof *to + all * (sizeof *to->op + sizeof *to->result));
    if (!to)
        return false;
    to->op = (void *)(to + 1);
    to->result = (void *)(to->op + all);
    for (unsigned i = 0; i < m->n; i++) {
        if (m->last[i])
            n = add_pair(to, n, &m->op[i], &m->stamp);
        else
            to->op[n++] = m->op[i];
    }
    to->n = n;
    m->pairs = to;
    return true;
}

/* Of two operations that stand for one, the error of the first counts, if it
 * has one. */
static void take_pairs(struct evzk__multi *m)
{
    const zoo_op_result_t *from = m->pairs ? m->pairs->result : NULL;

    for (unsigned i = 0; from && i < m->n; i++, from++) {
        m->result[i] = *from;
        if (m->last[i] && (++from)[-1].err == ZOK)
            m->result[i].err = from->err;
    }
}

static void be_single(struct evzk__multi *m, struct evzk__result *res)
{
    res->multi = NULL;
    if (m->rc == ZOK)
        evzk__client_set_stat(res, &m->stamp);
}

/* The answer to a transaction.  If the owner has freed the transaction before,
 * its memory goes after the answer; the owner may also free it inside the
 * answer. */
static void multi_done(int rc, const void *tag)
{
    struct evzk__multi *m = (struct evzk__multi *)(uintptr_t)tag;
    struct evzk__result res = {.rc = evzk__client_answer(rc), .multi = m};
    bool orphan = m->orphan;

    m->rc = rc;
    m->sent = false;
    LIST_REMOVE(m, link);
    take_pairs(m);
    res.stat.czxid = evzk__multi_zxid(m);
    if (m->single)
        be_single(m, &res);
    if (orphan && rc == ZOK && !has_names(m))
        res.rc = EVZK_ERR_CONNLOSS; /* Done, with unknown names. */
    if (m->slot)
        evzk__client_complete(m->slot, &res);
    if (orphan)
        evzk__multi_destroy(m);
}

static const char *path_of(const zoo_op_t *op)
{
    switch (op->type) {
    case ZOO_CREATE_OP:
        return op->create_op.path;
    case ZOO_SETDATA_OP:
        return op->set_op.path;
    case ZOO_CHECK_OP:
        return op->check_op.path;
    default: /* ZOO_DELETE_OP */
        return op->delete_op.path;
    }
}

/* The client would find a bad path when it has put half of the transaction
 * together, and then free what it has not set yet. */
static bool is_sendable(const struct evzk__multi *m)
{
    for (unsigned i = 0; i < m->n; i++) {
        const zoo_op_t *op = &m->op[i];
        bool numbered = op->type == ZOO_CREATE_OP &&
                        (op->create_op.flags & ZOO_SEQUENCE) != 0;

        if (!evzk__path_sendable(path_of(op), numbered))
            return false;
    }
    return true;
}

int evzk__client_multi(struct evzk__slot *slot, struct evzk__multi *m)
{
    struct evzk__client *before;
    const struct evzk__pairs *p;
    int rc;

    if (!is_sendable(m))
        return EVZK_ERR_INVAL;
    if (!make_pairs(m))
        return EVZK_ERR_NOMEM;
    p = m->pairs;
    m->slot = slot;
    before = evzk__client_enter(slot->client);
    rc = zoo_amulti(slot->client->zh, (int)(p ? p->n : m->n), p ? p->op : m->op,
                    p ? p->result : m->result, multi_done, m);
    evzk__client_leave(before);
    m->sent = true;
    LIST_INSERT_HEAD(&slot->client->multis, m, link);
    if (rc != ZOK)
        m->slot = NULL; /* Out of memory: the client may keep half of it. */
    clear_names(m);
    return evzk__client_error(rc);
}

/* A single write, as a transaction. */
static int send_single(struct evzk__slot *slot, struct evzk__multi *m)
{
    int rc;

    m->single = true;
    rc = evzk__client_multi(slot, m);
    evzk__multi_free(m); /* Or when it is answered. */
    return rc;
}

int evzk__client_set_last(struct evzk__slot *slot, const char *path,
                          const void *data, size_t len)
{
    struct evzk__multi *m = evzk__multi_mixed(1, strlen(path) + 1, 0);

    if (!m)
        return EVZK_ERR_NOMEM;
    evzk__multi_set(m, path, data, len, -1);
    return send_single(slot, m);
}

int evzk__client_delete_last(struct evzk__slot *slot, const char *path)
{
    struct evzk__multi *m = evzk__multi_mixed(1, strlen(path) + 1, 0);

    if (!m)
        return EVZK_ERR_NOMEM;
    evzk__multi_delete(m, path, NULL, -1);
    return send_single(slot, m);
}

/* The operations behind the culprit have another error.  An error that all
 * operations have has no culprit. */
bool evzk__multi_failed(const struct evzk__multi *m, unsigned *op, int *rc)
{
    unsigned i = 0;

    while (i < m->n && m->result[i].err == ZOK)
        i++;
    if (i == m->n || m->result[i].err != m->rc ||
        (i + 1 < m->n && m->result[i + 1].err != ZRUNTIMEINCONSISTENCY))
        return false;
    *op = i;
    *rc = evzk__client_answer(m->rc);
    return *rc != EVZK_ERR_CONNLOSS;
}

int64_t evzk__multi_zxid(const struct evzk__multi *m) { return m->stamp.mzxid; }

const char *evzk__multi_path(const struct evzk__multi *m, unsigned op)
{
    const char *path = m->op[op].create_op.buf;

    return path && path[0] ? path : NULL;
}
