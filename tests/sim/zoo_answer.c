/* Answers and events, and whom they are told.
 *
 * They are called back in the order in which they came, at the end of the call
 * of the client that brought them.  The contents of a reply are copied as by
 * the real client: where memory runs out, the copy ends; rc is not changed, and
 * the Stat that would have followed is rubbish. */
#include <string.h>

#include "world.h"
#include "zoo.h"

enum { RUBBISH = 0x11 };

void zoo__queue_add(struct zoo__queue *q, struct zoo__entry *e, bool front)
{
    e->next = NULL;
    if (!q->head)
        q->head = q->last = e;
    else if (front) {
        e->next = q->head;
        q->head = e;
    } else {
        q->last->next = e;
        q->last = e;
    }
}

struct zoo__entry *zoo__queue_take(struct zoo__queue *q)
{
    struct zoo__entry *e = q->head;

    if (e) {
        q->head = e->next;
        if (!q->head)
            q->last = NULL;
    }
    return e;
}

void zoo__entry_free(struct zoo__entry *e)
{
    wire_msg_free(e->reply);
    zoo__watch_free(e->watch);
    sim_mfree(e);
}

void zoo__queue_event(zhandle_t *zh, struct wire_msg *m, int type, int state)
{
    struct zoo__entry *e = sim_alloc(zh->proc, sizeof *e);

    e->kind = ZOO__EVENT;
    e->reply = m;
    e->type = type;
    e->state = state;
    e->watch = zoo__watch_collect(zh, type, m ? m->path : "");
    zoo__queue_add(&zh->done, e, false);
}

void zoo__fail_all(zhandle_t *zh, int rc)
{
    struct zoo__entry *e;

    while ((e = zoo__queue_take(&zh->sent)) != NULL) {
        e->rc = rc;
        zoo__queue_add(&zh->done, e, false);
    }
    zoo__auth_told(zh, rc);
}

static void tell_event(zhandle_t *zh, const struct zoo__entry *e)
{
    for (const struct zoo__watch *w = e->watch; w; w = w->next)
        w->fn(zh, e->type, e->state, e->reply ? e->reply->path : "", w->ctx);
}

/* The Stat behind what was read; rubbish when there was no memory for that. */
static const struct Stat *stat_of(const struct wire_msg *m, bool read,
                                  struct Stat *buf)
{
    if (read)
        return &m->stat;
    memset(buf, RUBBISH, sizeof *buf);
    return buf;
}

static void *dup(const void *p, size_t n)
{
    void *q = sim_malloc(n ? n : 1);

    if (q && n)
        memcpy(q, p, n);
    return q;
}

static void tell_data(const struct zoo__entry *e)
{
    const struct wire_msg *m = e->reply;
    char *copy = NULL;
    struct Stat buf;
    bool read;

    if (e->rc != ZOK) {
        e->fn.data(e->rc, NULL, 0, NULL, e->data);
        return;
    }
    if (m->len >= 0)
        copy = dup(m->data, (size_t)m->len);
    read = copy || m->len < 0;
    e->fn.data(e->rc, copy, m->len, stat_of(m, read, &buf), e->data);
    sim_mfree(copy);
}

static void tell_string(const struct zoo__entry *e)
{
    bool with_stat = e->kind == ZOO__STRING_STAT;
    const struct wire_msg *m = e->reply;
    char *copy = NULL;
    struct Stat buf;

    if (e->rc == ZOK)
        copy = dup(m->path, strlen(m->path) + 1);
    if (!with_stat)
        e->fn.string(e->rc, copy, e->data);
    else
        e->fn.string_stat(
            e->rc, copy, e->rc == ZOK ? stat_of(m, copy, &buf) : NULL, e->data);
    sim_mfree(copy);
}

/* True when all are copied; those from the first that is not are NULL. */
static bool copy_names(const struct wire_msg *m, char **v)
{
    for (int i = 0; i < m->n_names; i++) {
        v[i] = dup(m->names[i], strlen(m->names[i]) + 1);
        if (!v[i])
            return false;
    }
    return true;
}

static void tell_strings(zhandle_t *zh, const struct zoo__entry *e)
{
    bool with_stat = e->kind == ZOO__STRINGS_STAT, read = true;
    const struct wire_msg *m = e->reply;
    struct String_vector v = {0, NULL};
    struct Stat buf;

    if (e->rc == ZOK) {
        v.count = m->n_names;
        v.data = sim_alloc(zh->proc, (size_t)v.count * sizeof *v.data + 1);
        read = copy_names(m, v.data);
    }
    if (!with_stat)
        e->fn.strings(e->rc, e->rc == ZOK ? &v : NULL, e->data);
    else
        e->fn.strings_stat(e->rc, e->rc == ZOK ? &v : NULL,
                           e->rc == ZOK ? stat_of(m, read, &buf) : NULL,
                           e->data);
    for (int i = 0; i < v.count; i++)
        sim_mfree(v.data[i]);
    sim_mfree(v.data);
}

static void tell_acl(const struct zoo__entry *e)
{
    if (e->rc == ZOK)
        e->fn.acl(e->rc, &e->reply->acl, &e->reply->stat, e->data);
    else
        e->fn.acl(e->rc, NULL, NULL, e->data);
}

/* One result of a multi.  m is NULL when the operation failed: then also those
 * before it, which say 0, come without what they would have made. */
static void set_result(zoo_op_result_t *r, int op, int rc,
                       const struct wire_msg *m)
{
    r->err = rc;
    if (op == ZOO_SETDATA_OP) {
        if (r->stat && m)
            *r->stat = m->stat;
        else
            r->stat = NULL;
    } else if (op == ZOO_CREATE_OP) {
        size_t n = m && m->path ? strlen(m->path) + 1 : 0;

        if (!r->value || n == 0)
            r->value = NULL;
        else if (r->valuelen > 0) {
            if (n > (size_t)r->valuelen)
                n = (size_t)r->valuelen;
            memcpy(r->value, m->path, n - 1);
            r->value[n - 1] = '\0';
        }
    }
}

static void tell_multi(const struct zoo__entry *e)
{
    const struct wire_msg *m = e->reply ? e->reply->ops : NULL, *o;
    int rc = m ? ZOK : e->rc;

    for (o = m; o; o = o->next) {
        if (rc == ZOK && o->rc != ZRUNTIMEINCONSISTENCY)
            rc = o->rc;
    }
    for (int i = 0; i < e->n_results; i++) {
        bool good = rc == ZOK && m;

        set_result(&e->results[i], e->tail[i], m ? m->rc : rc, good ? m : NULL);
        m = m ? m->next : NULL;
    }
    e->fn.done(rc, e->data);
}

static void tell(zhandle_t *zh, const struct zoo__entry *e)
{
    switch (e->kind) {
    case ZOO__VOID:
        e->fn.done(e->rc, e->data);
        break;
    case ZOO__STAT:
        e->fn.stat(e->rc, e->rc == ZOK ? &e->reply->stat : NULL, e->data);
        break;
    case ZOO__DATA:
        tell_data(e);
        break;
    case ZOO__STRINGS:
    case ZOO__STRINGS_STAT:
        tell_strings(zh, e);
        break;
    case ZOO__STRING:
    case ZOO__STRING_STAT:
        tell_string(e);
        break;
    case ZOO__ACL:
        tell_acl(e);
        break;
    case ZOO__MULTI:
        tell_multi(e);
        break;
    case ZOO__EVENT:
        tell_event(zh, e);
        break;
    }
}

void zoo__complete(zhandle_t *zh)
{
    struct zoo__entry *e;

    while ((e = zoo__queue_take(&zh->done)) != NULL) {
        tell(zh, e);
        zoo__entry_free(e);
    }
}
