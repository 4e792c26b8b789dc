/* What the tests of the simulated world share: time that passes, and a client
 * that speaks to a server in raw messages.
 *
 * What such a client has heard is a text, so that a test shows it as a whole:
 * "1=0 /a" answers request 1 with ZOK and a path, "2=-101" with an error,
 * "3=0 [x y]" with a list; "event 4 /a"; "welcome" and "unknown" answer a
 * connect request; "hung up" comes last. */
#ifndef SIM_TEST_WORLD_H
#define SIM_TEST_WORLD_H

#include <stdarg.h>
#include <string.h>
#include <zookeeper/proto.h>
#include <zookeeper/zookeeper.h>

#include "ens.h"
#include "steps.h"
#include "tests/unit/unit.h"
#include "wire.h"
#include "world.h"

#define MS INT64_C(1000)

/* As in the scenes. */
static inline struct ens_config three_servers(void)
{
    return (struct ens_config){.servers = 3,
                               .tick_ms = 100,
                               .commit_us = 2 * MS,
                               .link_us = 1 * MS,
                               .patience_us = 400 * MS,
                               .quirk_end = true};
}

static inline void world_begin(const struct ens_config *cfg)
{
    sim_violation_clear();
    sim_world_begin(1);
    ens_begin(cfg);
}

static inline void must_be_violated(void)
{
    ck_assert_ptr_nonnull(sim_violated());
    sim_violation_clear();
}

static inline void all_is_well(void)
{
    ck_assert_msg(!sim_violated(), "%s", sim_violated());
}

static inline void pass(int64_t us)
{
    int64_t end = sim_now() + us;
    struct sim_step step;

    while (sim_next(&step) && step.at <= end)
        sim_do(&step);
    sim_set_now(end);
}

static inline void begin(void)
{
    struct ens_config cfg = three_servers();

    world_begin(&cfg);
}

/* The servers know /a. */
static inline void begin_with_a(void)
{
    begin();
    ck_assert_int_eq(ens_create("/a", "", 0, ZOO_PERSISTENT), ZOK);
    pass(10 * MS);
}

static inline bool is_there(const char *path)
{
    struct ens_seen seen;

    return ens_look(path, &seen);
}

/* Until that is gone; returns when. */
static inline int64_t when_gone(const char *path)
{
    struct sim_step step;

    while (is_there(path) && sim_next(&step))
        sim_do(&step);
    return sim_now();
}

struct raw {
    int proc, conn;
    int32_t xid;
    int64_t session; /* 0: a new one. */
    int64_t zxid;    /* The newest that it says to have seen. */
    char passwd[16];
    char heard[512];
};

static inline void raw_send(const struct raw *c, struct wire_msg *m)
{
    int before = sim_enter(c->proc);

    ck_assert(wire_send(c->conn, m));
    sim_leave(before);
}

static inline void raw_dial(struct raw *c, int server)
{
    int before = sim_enter(c->proc);

    c->conn = wire_open(server);
    sim_leave(before);
    pass(2 * WIRE_US);
}

/* Asks for its session, with time for the answer. */
static inline void raw_connect(struct raw *c, int server)
{
    struct wire_msg *m;

    raw_dial(c, server);
    m = wire_msg_new(WIRE_CONNECT, 0);
    m->session = c->session;
    memcpy(m->passwd, c->passwd, sizeof m->passwd);
    m->timeout_ms = 1000;
    m->last_zxid = c->zxid;
    raw_send(c, m);
    pass(10 * MS);
}

/* Requests; numbered from 1. */
static inline void raw_ask(struct raw *c, int32_t op, const char *path,
                           int32_t flags, bool watch)
{
    struct wire_msg *m = wire_msg_new(op, ++c->xid);

    if (path)
        m->path = sim_strdup(SIM_OUTSIDE, path);
    m->flags = flags;
    m->version = -1;
    m->watch = watch;
    wire_msg_acl(m, &ZOO_OPEN_ACL_UNSAFE);
    raw_send(c, m);
}

static inline void raw_create(struct raw *c, const char *path, int32_t flags)
{
    raw_ask(c, ZOO_CREATE_OP, path, flags, false);
}

static inline void raw_delete(struct raw *c, const char *path)
{
    raw_ask(c, ZOO_DELETE_OP, path, 0, false);
}

static inline void raw_list(struct raw *c, const char *path)
{
    raw_ask(c, ZOO_GETCHILDREN_OP, path, 0, false);
}

static inline void raw_sync(struct raw *c)
{
    raw_ask(c, ZOO_SYNC_OP, "/a", 0, false);
}

static inline void raw_ping(struct raw *c)
{
    raw_ask(c, WIRE_PING, NULL, 0, false);
}

static inline void raw_note(struct raw *c, const char *fmt, ...)
{
    size_t n = strlen(c->heard);
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(c->heard + n, sizeof c->heard - n, fmt, ap);
    va_end(ap);
}

static inline void raw_note_connect(struct raw *c, const struct wire_msg *m)
{
    raw_note(c, m->session ? "welcome" : "unknown");
    if (!m->session)
        return;
    c->session = m->session;
    memcpy(c->passwd, m->passwd, sizeof c->passwd);
}

static inline void raw_note_answer(struct raw *c, const struct wire_msg *m)
{
    raw_note(c, "%d=%d", (int)m->xid, (int)m->rc);
    if (m->path)
        raw_note(c, " %s", m->path);
    if (m->op != ZOO_GETCHILDREN_OP || m->rc != ZOK)
        return;
    for (int i = 0; i < m->n_names; i++)
        raw_note(c, "%s%s", i ? " " : " [", m->names[i]);
    raw_note(c, m->n_names ? "]" : " []");
}

/* All that has arrived since it was last asked. */
static inline const char *raw_hear(struct raw *c)
{
    int before = sim_enter(c->proc);
    struct wire_msg *m;

    c->heard[0] = '\0';
    while ((m = wire_recv(c->conn)) != NULL) {
        if (c->heard[0])
            raw_note(c, ", ");
        if (m->op == WIRE_CONNECT)
            raw_note_connect(c, m);
        else if (m->op == WIRE_EVENT)
            raw_note(c, "event %d %s", (int)m->type, m->path);
        else
            raw_note_answer(c, m);
        wire_msg_free(m);
    }
    if (wire_state(c->conn) == WIRE_BROKEN)
        raw_note(c, c->heard[0] ? ", hung up" : "hung up");
    sim_leave(before);
    return c->heard;
}

#define RAW_HEARS(c, text) ck_assert_str_eq(raw_hear(c), text)

/* With a session, from now on at this server. */
static inline void raw_open(struct raw *c, int server)
{
    raw_connect(c, server);
    RAW_HEARS(c, "welcome");
}

static inline void raw_close(const struct raw *c)
{
    int before = sim_enter(c->proc);

    wire_close(c->conn);
    sim_leave(before);
}

#endif
