/* What the library takes from the kernel, taken from the world: lib/base/os.h
 * and lib/base/net.h, and its memory.  The loop is in loops.c. */
#include <stdio.h>
#include <string.h>

#include "evzk/error.h"
#include "evzk/session.h"
#include "lib/base/net.h"
#include "lib/base/os.h"
#include "steps.h"
#include "wire.h"
#include "world.h"

enum {
    PID = 4711, /* Of process 0. */
    FAREWELL_XID = 0x45565a4b
};

#define WALL_MS INT64_C(1700000000000)

void seams_open(void)
{
    evzk_set_allocator(sim_malloc, sim_mrealloc, sim_mfree);
}

int64_t evzk__now_us(void) { return sim_now(); }

/* In the world a turn of the loop takes no time: no budget is ever spent, but
 * for a process that is slow. */
static bool slow[SIM_PROCS];
SIM_KEEP(slow)

void sim_slow(int proc, bool on) { slow[proc] = on; }

bool sim_is_slow(int proc) { return slow[proc]; }

bool evzk__is_late(unsigned n, unsigned every, int64_t until_us)
{
    int proc = sim_running();

    return (proc >= 0 && slow[proc]) ||
           (n % every == every - 1 && sim_now() >= until_us);
}

int64_t evzk__wall_ms(void) { return WALL_MS + sim_now() / 1000; }

int evzk__random(void *buf, size_t len)
{
    unsigned char *p = buf;
    uint64_t bits = 0;

    for (size_t i = 0; i < len; i++) {
        bits = i % 8 == 0 ? sim_random() : bits >> 8;
        p[i] = (unsigned char)(bits & 0xff);
    }
    return EVZK_OK;
}

/* To the world itself each session looks like one of a forked process: a rule
 * that asks from there would never hear the truth. */
long evzk__pid(void)
{
    if (sim_running() < 0)
        sim_violation("the library is asked from outside of a process");
    return PID + sim_running();
}

void evzk__self(char *buf, size_t size)
{
    snprintf(buf, size, "sim:%d", sim_running());
}

/* The connection of a descriptor that must be open, and the process's own. */
static int conn_of(int fd, const char *what)
{
    int conn = fd - WIRE_FD;

    if (wire_born(conn) && wire_proc(conn) == sim_running())
        return conn;
    sim_violation("p%d %s descriptor %d, which is not its own", sim_running(),
                  what, fd);
    return -1;
}

void evzk__net_cork(int fd, bool on)
{
    (void)conn_of(fd, on ? "corks" : "uncorks");
}

/* The world has no children. */
int evzk__net_own(int fd)
{
    (void)conn_of(fd, "keeps");
    return -1;
}

void evzk__net_close(int fd) { (void)fd; }

static bool starved[SIM_PROCS];
SIM_KEEP(starved)

bool seams_starve(int proc, bool on)
{
    bool was = starved[proc];

    starved[proc] = on;
    return was;
}

bool evzk__net_room(unsigned n)
{
    (void)n;
    return !starved[sim_running()];
}

enum evzk__net_state evzk__net_look(int fd)
{
    int conn = conn_of(fd, "looks at");

    if (conn < 0 || wire_state(conn) == WIRE_BROKEN)
        return EVZK__HUNG_UP;
    return wire_readable(conn) ? EVZK__DATA : EVZK__NOTHING;
}

static unsigned char *number(unsigned char *p, uint64_t value, int n)
{
    while (n-- > 0)
        *p++ = (unsigned char)(value >> (8 * n) & 0xff);
    return p;
}

/* Only a greeting is looked at: as it would be on the wire. */
size_t evzk__net_peek(int fd, unsigned char *buf, size_t size, bool *ended)
{
    enum { GREETING = 41, PASSWORD = 16 };
    int conn = conn_of(fd, "looks at");
    const struct wire_msg *m = conn < 0 ? NULL : wire_peek(conn);

    *ended = conn < 0 || wire_state(conn) == WIRE_BROKEN;
    if (!m || m->op != WIRE_CONNECT || size < GREETING)
        return 0;
    buf = number(buf, GREETING - 4, 4);
    buf = number(buf, 0, 4);
    buf = number(buf, (uint32_t)m->timeout_ms, 4);
    buf = number(buf, (uint64_t)m->session, 8);
    buf = number(buf, PASSWORD, 4);
    memcpy(buf, m->passwd, PASSWORD);
    buf[PASSWORD] = 0;
    return GREETING;
}

/* Messages come whole. */
void evzk__net_ready_at(int fd, size_t bytes)
{
    (void)bytes;
    (void)conn_of(fd, "waits on");
}

bool evzk__net_say_farewell(int fd)
{
    int conn = conn_of(fd, "says farewell to");

    return conn >= 0 && wire_send(conn, wire_msg_new(WIRE_CLOSE, FAREWELL_XID));
}

/* Of the tail only the first byte is used: the last that came was the answer.
 */
enum evzk__answer evzk__net_await_farewell(int fd, struct evzk__farewell *f)
{
    int conn = conn_of(fd, "awaits the answer of");
    struct wire_msg *m;

    if (conn < 0)
        return EVZK__CUT;
    while ((m = wire_recv(conn)) != NULL) {
        f->tail[0] =
            m->op == WIRE_CLOSE && m->xid == FAREWELL_XID && m->rc == ZOK;
        wire_msg_free(m);
    }
    if (f->tail[0])
        return EVZK__CONFIRMED;
    return wire_state(conn) == WIRE_BROKEN ? EVZK__CUT : EVZK__NOT_YET;
}

void evzk__net_deaden(int fd)
{
    int conn;

    if (fd < 0)
        return;
    conn = conn_of(fd, "deadens");
    if (conn >= 0)
        wire_deaden(conn);
}

void evzk__net_cut(int fd) { evzk__net_deaden(fd); }
