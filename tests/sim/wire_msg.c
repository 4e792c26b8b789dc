/* Messages of the wire: made, freed, and put into words for the trace. */
#include <stdio.h>
#include <string.h>
#include <zookeeper/proto.h>

#include "wire.h"
#include "world.h"

struct wire_msg *wire_msg_new(int32_t op, int32_t xid)
{
    struct wire_msg *m = sim_alloc(SIM_OUTSIDE, sizeof *m);

    m->op = op;
    m->xid = xid;
    return m;
}

static void free_acl(struct ACL_vector *acl)
{
    for (int32_t i = 0; i < acl->count; i++) {
        sim_free(SIM_OUTSIDE, acl->data[i].id.scheme);
        sim_free(SIM_OUTSIDE, acl->data[i].id.id);
    }
    sim_free(SIM_OUTSIDE, acl->data);
    acl->data = NULL;
    acl->count = 0;
}

void wire_msg_acl(struct wire_msg *m, const struct ACL_vector *acl)
{
    free_acl(&m->acl);
    if (!acl || acl->count <= 0)
        return;
    m->acl.count = acl->count;
    m->acl.data =
        sim_alloc(SIM_OUTSIDE, (size_t)acl->count * sizeof *acl->data);
    for (int32_t i = 0; i < acl->count; i++) {
        m->acl.data[i].perms = acl->data[i].perms;
        m->acl.data[i].id.scheme =
            sim_strdup(SIM_OUTSIDE, acl->data[i].id.scheme);
        m->acl.data[i].id.id = sim_strdup(SIM_OUTSIDE, acl->data[i].id.id);
    }
}

static void free_one(struct wire_msg *m)
{
    sim_free(SIM_OUTSIDE, m->path);
    sim_free(SIM_OUTSIDE, m->data);
    sim_free(SIM_OUTSIDE, m->scheme);
    free_acl(&m->acl);
    for (int32_t i = 0; i < m->n_names; i++)
        sim_free(SIM_OUTSIDE, m->names[i]);
    sim_free(SIM_OUTSIDE, m->names);
    sim_free(SIM_OUTSIDE, m);
}

void wire_msg_free(struct wire_msg *m)
{
    struct wire_msg *op, *next;

    if (!m)
        return;
    for (op = m->ops; op; op = next) {
        next = op->next;
        free_one(op);
    }
    free_one(m);
}

static const struct {
    int32_t op;
    const char *name;
} name_of[] = {{WIRE_CONNECT, "connect"},
               {WIRE_CLOSE, "close"},
               {WIRE_EVENT, "event"},
               {WIRE_PING, "ping"},
               {ZOO_CREATE_OP, "create"},
               {ZOO_DELETE_OP, "delete"},
               {ZOO_EXISTS_OP, "exists"},
               {ZOO_GETDATA_OP, "get"},
               {ZOO_SETDATA_OP, "set"},
               {ZOO_GETACL_OP, "getACL"},
               {ZOO_SETACL_OP, "setACL"},
               {ZOO_GETCHILDREN_OP, "children"},
               {ZOO_SYNC_OP, "sync"},
               {ZOO_GETCHILDREN2_OP, "children2"},
               {ZOO_CHECK_OP, "check"},
               {ZOO_MULTI_OP, "multi"},
               {ZOO_CREATE2_OP, "create2"},
               {ZOO_CHECK_WATCHES, "checkWatches"},
               {ZOO_REMOVE_WATCHES, "removeWatches"},
               {ZOO_CREATE_CONTAINER_OP, "createContainer"},
               {ZOO_SETAUTH_OP, "setAuth"},
               {ZOO_SETWATCHES_OP, "setWatches"}};

const char *wire_op_name(int32_t op)
{
    for (size_t i = 0; i < sizeof name_of / sizeof name_of[0]; i++) {
        if (name_of[i].op == op)
            return name_of[i].name;
    }
    return "?";
}

void wire_msg_say(const struct wire_msg *m, char *buf, size_t size)
{
    char rc[16] = "";

    if (m->rc)
        snprintf(rc, sizeof rc, " rc %d", (int)m->rc);
    snprintf(buf, size, "%s xid %d%s%s%s%s", wire_op_name(m->op), (int)m->xid,
             rc, m->path ? " " : "", m->path ? m->path : "",
             m->watch ? " watch" : "");
}
