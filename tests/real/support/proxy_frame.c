/*
 * Frames: where one ends, what it is, and whether a trap waits for it.  A trap
 * is looked at between in and out, where a frame is whole and not yet on its
 * way.  Bytes that are no frame ("srvr" and its like) pass as they come,
 * uncounted.
 */
#define _GNU_SOURCE 1
#include "proxy_route.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/event.h>

enum { MAX_FRAME = 64 << 20 };

struct asked {
    int32_t xid;
    int32_t op;
};

static int32_t peek32(struct evbuffer *buf, size_t at)
{
    struct evbuffer_ptr pos;
    uint32_t v = 0;

    if (evbuffer_ptr_set(buf, &pos, at, EVBUFFER_PTR_SET) < 0 ||
        evbuffer_copyout_from(buf, &pos, &v, sizeof v) != sizeof v)
        return 0;
    return (int32_t)ntohl(v);
}

/* The opcode of the request that the reply @xid answers. */
static int answered(struct conn *c, int32_t xid)
{
    struct asked a;

    switch (xid) {
    case -1:
        return PROXY_OP_WATCH;
    case -2:
        return PROXY_OP_PING;
    case -4:
        return 100;
    case -8:
        return 101;
    }
    while (evbuffer_remove(c->asked, &a, sizeof a) == sizeof a)
        if (a.xid == xid)
            return a.op;
    return PROXY_OP_ANY;
}

/* Learns what the connect request or response says. */
static int greet(struct conn *c, enum proxy_dir dir)
{
    struct evbuffer *in = c->in[dir];

    c->greeted[dir] = true;
    if (dir == PROXY_S2C)
        c->route->session = (int64_t)((uint64_t)(uint32_t)peek32(in, 12) << 32 |
                                      (uint32_t)peek32(in, 16));
    return PROXY_OP_CONNECT;
}

static int classify(struct conn *c, enum proxy_dir dir)
{
    struct evbuffer *in = c->in[dir];
    struct asked a;

    if (c->plain[dir])
        return PROXY_OP_ANY;
    if (!c->greeted[dir])
        return greet(c, dir);
    a.xid = peek32(in, 4);
    if (dir == PROXY_S2C)
        return answered(c, a.xid);
    a.op = peek32(in, 8);
    if (a.xid >= 0)
        evbuffer_add(c->asked, &a, sizeof a);
    return a.op;
}

/* Length of what can be passed on next: a whole frame, or bytes; 0: nothing. */
static size_t next_unit(struct conn *c, enum proxy_dir dir)
{
    size_t have = evbuffer_get_length(c->in[dir]);
    int32_t len;

    if (c->plain[dir])
        return have;
    if (have < 4)
        return c->eof[dir] ? have : 0;
    len = peek32(c->in[dir], 0);
    if (len < 0 || len > MAX_FRAME) { /* As "srvr" and "mntr" are. */
        c->plain[dir] = true;
        return have;
    }
    if (have < 4 + (size_t)len)
        return c->eof[dir] ? have : 0;
    return 4 + (size_t)len;
}

static void pass(struct conn *c, enum proxy_dir dir, size_t len)
{
    evbuffer_remove_buffer(c->in[dir], c->out[dir], len);
    c->bytes[dir] += (int64_t)len;
    c->route->bytes[dir] += (int64_t)len;
}

static void count(struct route *r, enum proxy_dir dir, int op)
{
    r->frames[dir]++;
    if (op + PROXY_OP_BASE >= 0 && op + PROXY_OP_BASE < PROXY_OPS)
        r->by_op[dir][op + PROXY_OP_BASE]++;
}

/* The trap has done its work; the one that was to follow takes a place. */
static void spring(struct route *r, struct trap *t)
{
    unsigned generation;

    t->armed = false;
    r->fired++;
    if (!r->then.armed)
        return;
    t = &r->trap[r->then_dir];
    generation = t->generation;
    *t = r->then;
    t->generation = generation + 1;
    r->then.armed = false;
}

static void end(struct conn *c)
{
    c->route->ending++;
    c->ending = true;
}

static void freeze_for(struct route *r, int64_t ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    if (ms > 0)
        event_add(r->thaw, &tv);
}

/* True when a trap for bytes took the unit. */
static bool caught_by_bytes(struct conn *c, enum proxy_dir dir, size_t len)
{
    struct trap *t = &c->route->trap[dir];

    if (!t->armed || !t->by_bytes || c->bytes[dir] + (int64_t)len < t->n)
        return false;
    pass(c, dir, (size_t)(t->n - c->bytes[dir]));
    spring(c->route, t);
    end(c);
    return true;
}

/* Does @act; true when the frame does not go on its way. */
static bool act_on(struct conn *c, enum proxy_dir dir, const struct trap *t,
                   size_t len)
{
    struct route *r = c->route;

    switch (t->act) {
    case PROXY_CUT_BEFORE:
        evbuffer_drain(c->in[dir], len);
        end(c);
        return true;
    case PROXY_CUT_AFTER:
        end(c);
        return false;
    case PROXY_DROP:
        c->stuck[dir] = true;
        evbuffer_drain(c->in[dir], evbuffer_get_length(c->in[dir]));
        return true;
    case PROXY_FREEZE:
        conn_flush(c, dir);
        r->frozen[dir] = true;
        freeze_for(r, t->ms);
        return false;
    case PROXY_FREEZE_BOTH:
        conn_flush(c, dir);
        r->frozen[PROXY_C2S] = r->frozen[PROXY_S2C] = true;
        freeze_for(r, t->ms);
        return false;
    }
    return false;
}

/* True when a trap for frames took it. */
static bool caught_by_frame(struct conn *c, enum proxy_dir dir, int op,
                            size_t len)
{
    struct trap *t = &c->route->trap[dir], sprung = *t;

    if (!t->armed || t->by_bytes || (t->op != PROXY_OP_ANY && t->op != op))
        return false;
    if (++c->frames[dir] != t->n)
        return false;
    spring(c->route, t);
    return act_on(c, dir, &sprung, len);
}

void frame_forward(struct conn *c, enum proxy_dir dir)
{
    struct route *r = c->route;
    size_t len;

    if (c->generation[dir] != r->trap[dir].generation) {
        c->generation[dir] = r->trap[dir].generation;
        c->frames[dir] = c->bytes[dir] = 0;
    }
    if (c->stuck[dir])
        evbuffer_drain(c->in[dir], evbuffer_get_length(c->in[dir]));
    while (!c->ending && !r->frozen[dir] && (len = next_unit(c, dir)) > 0) {
        int op;

        if (caught_by_bytes(c, dir, len))
            return;
        op = classify(c, dir);
        if (caught_by_frame(c, dir, op, len))
            return;
        pass(c, dir, len);
        if (!c->plain[dir])
            count(r, dir, op);
    }
}
