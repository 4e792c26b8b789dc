/* Requests.  A call checks, queues, and sends all that is queued.  When sending
 * fails the socket is closed in silence: no event, no completion, and the call
 * says ZOK; the request stays queued, and goes to the next server. */
#include <string.h>

#include "ens.h"
#include "world.h"
#include "zoo.h"

bool zoo__orphans;

void zoo__put(zhandle_t *zh, struct wire_msg *m, bool front)
{
    struct wire_msg **p = &zh->to_send;

    if (wire_taken)
        wire_taken(zh->proc, m);
    m->behind = wire_heard(zh->proc);
    m->knew = wire_knew(zh->proc);
    m->knows = ens_copies_read(zh->proc);
    while (!front && *p)
        p = &(*p)->next;
    m->next = *p;
    *p = m;
}

int zoo__flush(zhandle_t *zh)
{
    struct wire_msg *m;

    while ((m = zh->to_send) != NULL && zoo__connected(zh)) {
        if (wire_state(zh->conn) == WIRE_BROKEN)
            return ZCONNECTIONLOSS; /* Stays at the head. */
        zh->to_send = m->next;
        m->next = NULL;
        if (!wire_send(zh->conn, m))
            return ZCONNECTIONLOSS;
        zh->last_send = sim_now();
    }
    return ZOK;
}

void zoo__drop_unsent(zhandle_t *zh)
{
    struct wire_msg *m;

    while ((m = zh->to_send) != NULL) {
        zh->to_send = m->next;
        m->next = NULL;
        wire_msg_free(m);
    }
}

int zoo__ping(zhandle_t *zh)
{
    void *buffer = sim_malloc(1); /* For the packet; it is sent at once. */

    if (!buffer)
        return ZSYSTEMERROR;
    sim_mfree(buffer);
    zoo__put(zh, wire_msg_new(WIRE_PING, ZOO__PING_XID), false);
    return zoo__flush(zh);
}

static bool is_sequence(int mode)
{
    return mode == ZOO_PERSISTENT_SEQUENTIAL ||
           mode == ZOO_EPHEMERAL_SEQUENTIAL ||
           mode == ZOO_PERSISTENT_SEQUENTIAL_WITH_TTL;
}

/* A part between slashes.  A number may still be added to the last one. */
static bool good_part(const char *part, size_t n, bool added_to)
{
    if (added_to)
        return true;
    return n > 0 && !(n == 1 && part[0] == '.') &&
           !(n == 2 && part[0] == '.' && part[1] == '.');
}

static bool good_path(const char *path, int mode)
{
    if (!path || path[0] != '/')
        return false;
    for (const char *c = path; *c; c++) {
        if (*c > 0 && *c < 0x1f)
            return false;
    }
    if (!path[1])
        return true;
    for (;;) {
        const char *part = path + 1;
        size_t n = strcspn(part, "/");
        bool last = part[n] == '\0';

        if (!good_part(part, n, last && is_sequence(mode)))
            return false;
        if (last)
            return true;
        path = part + n;
    }
}

int zoo__check(const zhandle_t *zh, const char *path, int mode)
{
    if (!zh || !good_path(path, mode))
        return ZBADARGUMENTS;
    return zh->state < 0 ? ZINVALIDSTATE : ZOK;
}

/* The entry, in no queue yet, or NULL. */
static struct zoo__entry *entry_of(const struct zoo__call *c)
{
    struct zoo__entry *e = sim_malloc(sizeof *e + c->tail);

    if (!e)
        return NULL;
    memset(e, 0, sizeof *e + c->tail);
    e->kind = c->kind;
    e->fn = c->fn;
    e->data = c->data;
    if (!c->watcher)
        return e;
    e->watch = zoo__watch_new(c->path, c->table, c->watcher, c->ctx);
    if (e->watch)
        return e;
    sim_mfree(e);
    return NULL;
}

int zoo__begin(zhandle_t *zh, const struct zoo__call *c, struct wire_msg **m,
               struct zoo__entry **e)
{
    *e = zh->close_requested ? NULL : entry_of(c);
    if (!*e)
        return ZMARSHALLINGERROR;
    if (!zh->sent.head && !zh->to_send)
        zh->xid = 0; /* Nobody can tell, and equal worlds stay equal. */
    (*e)->xid = ++zh->xid;
    *m = wire_msg_new(c->op, (*e)->xid);
    if (c->path)
        (*m)->path = sim_strdup(SIM_OUTSIDE, c->path);
    (*m)->watch = c->watcher != NULL;
    zoo__queue_add(&zh->sent, *e, false);
    return ZOK;
}

int zoo__launch(zhandle_t *zh, struct wire_msg *m)
{
    void *buffer = NULL;
    int rc = ZOK;

    if (zoo__orphans && (buffer = sim_malloc(1)) == NULL) {
        wire_msg_free(m);
        rc = ZMARSHALLINGERROR;
    } else
        zoo__put(zh, m, false);
    sim_mfree(buffer);
    if (zoo__flush(zh) != ZOK) {
        zoo__hang_up(zh);
        zh->state = ZOO_NOTCONNECTED_STATE;
    }
    return rc;
}

void zoo__set_data(struct wire_msg *m, const char *data, int len)
{
    m->len = len;
    if (data && len >= 0)
        m->data = sim_memdup(SIM_OUTSIDE, data, (size_t)len);
}
