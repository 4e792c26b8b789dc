/* Several operations as one.  A bad path in it is found too late by the real
 * client: it says ZMARSHALLINGERROR, and frees what it never set.  So that is a
 * violation here. */
#include <string.h>

#include "world.h"
#include "zoo.h"

void zoo_create_op_init(zoo_op_t *op, const char *path, const char *value,
                        int valuelen, const struct ACL_vector *acl, int mode,
                        char *path_buffer, int path_buffer_len)
{
    op->type = mode == ZOO_CONTAINER ? ZOO_CREATE_CONTAINER_OP : ZOO_CREATE_OP;
    op->create_op.path = path;
    op->create_op.data = value;
    op->create_op.datalen = valuelen;
    op->create_op.acl = acl;
    op->create_op.flags = mode;
    op->create_op.ttl = 0;
    op->create_op.buf = path_buffer;
    op->create_op.buflen = path_buffer_len;
}

void zoo_delete_op_init(zoo_op_t *op, const char *path, int version)
{
    op->type = ZOO_DELETE_OP;
    op->delete_op.path = path;
    op->delete_op.version = version;
}

void zoo_set_op_init(zoo_op_t *op, const char *path, const char *buffer,
                     int buflen, int version, struct Stat *stat)
{
    op->type = ZOO_SETDATA_OP;
    op->set_op.path = path;
    op->set_op.data = buffer;
    op->set_op.datalen = buflen;
    op->set_op.version = version;
    op->set_op.stat = stat;
}

void zoo_check_op_init(zoo_op_t *op, const char *path, int version)
{
    op->type = ZOO_CHECK_OP;
    op->check_op.path = path;
    op->check_op.version = version;
}

static const char *path_of(const zoo_op_t *op)
{
    switch (op->type) {
    case ZOO_CREATE_OP:
        return op->create_op.path;
    case ZOO_DELETE_OP:
        return op->delete_op.path;
    case ZOO_SETDATA_OP:
        return op->set_op.path;
    case ZOO_CHECK_OP:
        return op->check_op.path;
    }
    return NULL;
}

static struct wire_msg *message_of(const zoo_op_t *op)
{
    struct wire_msg *m = wire_msg_new(op->type, 0);

    m->path = sim_strdup(SIM_OUTSIDE, path_of(op));
    if (op->type == ZOO_CREATE_OP) {
        zoo__set_data(m, op->create_op.data, op->create_op.datalen);
        m->flags = op->create_op.flags;
        if (op->create_op.acl)
            wire_msg_acl(m, op->create_op.acl);
    } else if (op->type == ZOO_DELETE_OP) {
        m->version = op->delete_op.version;
    } else if (op->type == ZOO_SETDATA_OP) {
        zoo__set_data(m, op->set_op.data, op->set_op.datalen);
        m->version = op->set_op.version;
    } else {
        m->version = op->check_op.version;
    }
    return m;
}

static int check(const zhandle_t *zh, int count, const zoo_op_t *ops)
{
    int rc = ZOK;

    for (int i = 0; i < count; i++) {
        if (ops[i].type == ZOO_CREATE_CONTAINER_OP)
            sim_violation("a container in a multi: its answer is misread");
        if (!path_of(&ops[i]))
            return ZUNIMPLEMENTED;
        if (zoo__check(zh, path_of(&ops[i]),
                       ops[i].type == ZOO_CREATE_OP ? ops[i].create_op.flags
                                                    : 0) != ZOK) {
            sim_violation("a bad path in a multi: the client frees what it "
                          "never set");
            rc = ZMARSHALLINGERROR;
        }
    }
    return rc;
}

static void fill(struct wire_msg *m, struct zoo__entry *e, const zoo_op_t *ops)
{
    struct wire_msg **p = &m->ops;

    for (int i = 0; i < e->n_results; i++) {
        e->tail[i] = (char)ops[i].type;
        if (ops[i].type == ZOO_CREATE_OP) {
            e->results[i].value = ops[i].create_op.buf;
            e->results[i].valuelen = ops[i].create_op.buflen;
        } else if (ops[i].type == ZOO_SETDATA_OP)
            e->results[i].stat = ops[i].set_op.stat;
        *p = message_of(&ops[i]);
        p = &(*p)->next;
    }
}

int zoo_amulti(zhandle_t *zh, int count, const zoo_op_t *ops,
               zoo_op_result_t *results, void_completion_t completion,
               const void *data)
{
    struct zoo__entry *e;
    struct wire_msg *m;
    int rc = check(zh, count, ops);

    if (rc != ZOK)
        return rc;
    rc = zoo__begin(zh,
                    &(struct zoo__call){.op = ZOO_MULTI_OP,
                                        .kind = ZOO__MULTI,
                                        .fn.done = completion,
                                        .data = data,
                                        .tail = (size_t)count},
                    &m, &e);
    if (rc != ZOK)
        return rc;
    e->results = results;
    e->n_results = count;
    fill(m, e, ops);
    return zoo__launch(zh, m);
}
