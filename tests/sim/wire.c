/* The connections between clients and servers.
 *
 * A connection is a queue of messages each way, each message with the time at
 * which it arrives, never before the one in front of it.  Its end travels
 * behind what was sent, if it was closed; if it was cut, both sides lose what
 * is on its way.  Each side lets go for itself; the number is free again when
 * both have.
 *
 * A message arrives at a server by itself; what arrives at a client lies there
 * until its process looks.
 */
#include "wire.h"

#include <string.h>

#include "ens.h"
#include "steps.h"
#include "world.h"

struct way {
    struct wire_msg *first, *last;
    int64_t held; /* Nothing more arrives before. */
    int64_t end;  /* When the other side learns that it ended; 0: not. */
};

static struct {
    struct conn {
        int64_t born;          /* From 1; 0: the number is free. */
        int64_t due;           /* CONNECTING: when it succeeds or fails. */
        enum wire_state state; /* Of the client's end. */
        int proc, server;
        bool client_has, server_has; /* The ends that have not let go. */
        bool unused[2];
        struct way way[2];
        int64_t parted; /* Behind the next event nothing arrives before. */
        bool event_sent, unused_too[7];
    } conn[WIRE_CONNS];
    int64_t births;
    int64_t held[SIM_PROCS];
    int64_t heard[SIM_PROCS];
    int64_t refused[SIM_SERVERS];
    int64_t garbled[SIM_PROCS];
    int64_t routed[SIM_PROCS]; /* A server's number and 1. */
} wire;
SIM_KEEP(wire)

void (*wire_taken)(int proc, const struct wire_msg *m);

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

static struct conn *conn_at(int conn)
{
    return conn >= 0 && conn < WIRE_CONNS && wire.conn[conn].born
               ? &wire.conn[conn]
               : NULL;
}

static int number_of(const struct conn *c) { return (int)(c - wire.conn); }

/* As the process that runs now has it. */
static struct conn *own(int conn, const char *what)
{
    struct conn *c = conn_at(conn);

    if (c && c->client_has && c->proc == sim_running())
        return c;
    sim_violation("p%d %s connection %d, which is not its own", sim_running(),
                  what, conn);
    return NULL;
}

static void say(const struct conn *c, const char *arrow, const char *what,
                const struct wire_msg *m)
{
    char text[400] = "";

    if (!sim_talking())
        return;
    if (m)
        wire_msg_say(m, text, sizeof text);
    sim_say("p%d %s s%d (%d) %s%s", c->proc, arrow, c->server, number_of(c),
            what, text);
}

/* The queues. */

static void lose(struct way *w)
{
    struct wire_msg *m;

    while ((m = w->first) != NULL) {
        w->first = m->next;
        wire_msg_free(m);
    }
    w->last = NULL;
}

/* When what is sent now arrives. */
static int64_t arrival(const struct conn *c, enum wire_dir dir)
{
    const struct way *w = &c->way[dir];
    int64_t at = later(sim_now() + WIRE_US, later(w->held, wire.held[c->proc]));

    return w->last ? later(at, w->last->due) : at;
}

/* One event, and all that is sent behind it. */
static void part(struct conn *c, struct wire_msg *m)
{
    if (c->event_sent)
        m->due = later(m->due, c->parted);
    if (m->op == WIRE_EVENT && c->parted > sim_now())
        c->event_sent = true;
}

static void put(struct conn *c, enum wire_dir dir, struct wire_msg *m)
{
    struct way *w = &c->way[dir];

    m->due = arrival(c, dir);
    if (dir == WIRE_DOWNWARD)
        part(c, m);
    m->next = NULL;
    if (w->last)
        w->last->next = m;
    else
        w->first = m;
    w->last = m;
}

static struct wire_msg *take(struct way *w)
{
    struct wire_msg *m = w->first;

    w->first = m->next;
    if (!w->first)
        w->last = NULL;
    m->next = NULL;
    m->due = 0;
    return m;
}

static void retire(struct conn *c)
{
    if (!c->client_has)
        lose(&c->way[WIRE_DOWNWARD]);
    if (!c->server_has)
        lose(&c->way[WIRE_UPWARD]);
    if (!c->client_has && !c->server_has)
        memset(c, 0, sizeof *c);
}

/* The client's end. */

int wire_open(int server)
{
    struct conn *c = wire.conn;
    int proc = sim_running();

    while (c < wire.conn + WIRE_CONNS && c->born)
        c++;
    if (proc >= 0 && wire.routed[proc])
        server = (int)wire.routed[proc] - 1;
    if (proc < 0 || server < 0 || server >= SIM_SERVERS ||
        c == wire.conn + WIRE_CONNS) {
        sim_violation("no room for a connection of p%d to s%d", proc, server);
        return -1;
    }
    c->born = ++wire.births;
    c->proc = proc;
    c->server = server;
    c->state = WIRE_CONNECTING;
    c->client_has = true;
    c->due = sim_now() + 2 * WIRE_US;
    if (wire.refused[server] > sim_now() + WIRE_US)
        c->due = sim_now() + WIRE_US;
    c->due = later(c->due, wire.held[proc]);
    say(c, "->", "opens", NULL);
    return number_of(c);
}

uint64_t wire_born(int conn)
{
    const struct conn *c = conn_at(conn);

    return c && c->client_has ? (uint64_t)c->born : 0;
}

static bool read_up(const struct conn *c)
{
    const struct way *w = &c->way[WIRE_DOWNWARD];

    return w->end && w->end <= sim_now() && !w->first;
}

enum wire_state wire_state(int conn)
{
    const struct conn *c = conn_at(conn);

    return !c || read_up(c) ? WIRE_BROKEN : c->state;
}

bool wire_send(int conn, struct wire_msg *m)
{
    struct conn *c = own(conn, "sends on");

    if (c && c->state == WIRE_CONNECTING)
        sim_violation("p%d sends before it is connected", c->proc);
    if (!c || wire_state(conn) != WIRE_UP) {
        wire_msg_free(m);
        return false;
    }
    if (c->server_has)
        put(c, WIRE_UPWARD, m);
    else
        wire_msg_free(m); /* Nobody will read it, which it does not know. */
    return true;
}

/* A transaction that has failed says nothing about the tree. */
static bool has_failed(const struct wire_msg *m)
{
    const struct wire_msg *o = m->op == ZOO_MULTI_OP ? m->ops : NULL;

    while (o != NULL && o->rc == ZOK)
        o = o->next;
    return o != NULL;
}

struct wire_msg *wire_recv(int conn)
{
    struct conn *c = own(conn, "receives on");
    struct wire_msg *m;

    if (!c || !c->way[WIRE_DOWNWARD].first ||
        c->way[WIRE_DOWNWARD].first->due > sim_now())
        return NULL;
    m = take(&c->way[WIRE_DOWNWARD]);
    if (!has_failed(m))
        wire.heard[c->proc] = later(wire.heard[c->proc], m->behind);
    say(c, "<-", "", m);
    return m;
}

const struct wire_msg *wire_peek(int conn)
{
    const struct conn *c = own(conn, "looks at");

    if (!c || !c->way[WIRE_DOWNWARD].first ||
        c->way[WIRE_DOWNWARD].first->due > sim_now())
        return NULL;
    return c->way[WIRE_DOWNWARD].first;
}

bool wire_readable(int conn)
{
    const struct conn *c = conn_at(conn);

    return wire_state(conn) == WIRE_BROKEN ||
           (c->way[WIRE_DOWNWARD].first &&
            c->way[WIRE_DOWNWARD].first->due <= sim_now());
}

int64_t wire_readable_at(int conn)
{
    const struct conn *c = conn_at(conn);

    if (wire_state(conn) == WIRE_BROKEN)
        return sim_now();
    if (c->state == WIRE_CONNECTING)
        return c->due;
    if (c->way[WIRE_DOWNWARD].first)
        return c->way[WIRE_DOWNWARD].first->due;
    return c->way[WIRE_DOWNWARD].end ? c->way[WIRE_DOWNWARD].end : INT64_MAX;
}

/* The client's end is no more; what it sent goes on. */
static void end_upward(struct conn *c)
{
    if (c->server_has && !c->way[WIRE_UPWARD].end)
        c->way[WIRE_UPWARD].end = arrival(c, WIRE_UPWARD);
}

void wire_close(int conn)
{
    struct conn *c = own(conn, "closes");

    if (!c)
        return;
    say(c, "->", "closes", NULL);
    end_upward(c);
    c->state = WIRE_BROKEN;
    c->client_has = false;
    retire(c);
}

void wire_deaden(int conn)
{
    struct conn *c = own(conn, "deadens");

    if (!c)
        return;
    say(c, "->", "deadens", NULL);
    end_upward(c);
    lose(&c->way[WIRE_DOWNWARD]);
    c->state = WIRE_BROKEN;
}

/* The server's end. */

/* Another session, and a time-out that no server has. */
static void garble(int proc, struct wire_msg *m)
{
    if (wire.garbled[proc] <= sim_now()) {
        wire.garbled[proc] = 0;
        return;
    }
    m->session ^= 1;
    m->timeout_ms = -1;
}

void wire_reply(int conn, struct wire_msg *m)
{
    struct conn *c = conn_at(conn);

    if (c && m->op == WIRE_CONNECT)
        garble(c->proc, m);
    if (c && c->client_has && c->server_has && c->state == WIRE_UP) {
        m->behind = ens_applied(c->server);
        put(c, WIRE_DOWNWARD, m);
    } else {
        wire_msg_free(m);
    }
}

void wire_hang_up(int conn)
{
    struct conn *c = conn_at(conn);

    if (!c || !c->server_has)
        return;
    say(c, "<-", "hangs up", NULL);
    c->way[WIRE_DOWNWARD].end = arrival(c, WIRE_DOWNWARD);
    c->server_has = false;
    retire(c);
}

int wire_proc(int conn)
{
    const struct conn *c = conn_at(conn);

    return c ? c->proc : -1;
}

int wire_server(int conn)
{
    const struct conn *c = conn_at(conn);

    return c ? c->server : -1;
}

/* Arrivals at servers. */

static int64_t next_at(const struct conn *c)
{
    const struct way *up = &c->way[WIRE_UPWARD];

    if (c->client_has && c->state == WIRE_CONNECTING)
        return c->due;
    if (!c->server_has)
        return INT64_MAX;
    if (up->first)
        return up->first->due;
    return up->end ? up->end : INT64_MAX;
}

bool wire_next(struct sim_step *step)
{
    int64_t at;

    step->at = INT64_MAX;
    for (int i = 0; i < WIRE_CONNS; i++) {
        at = wire.conn[i].born ? next_at(&wire.conn[i]) : INT64_MAX;
        if (at < step->at)
            *step = (struct sim_step){SIM_ARRIVAL, at, wire.conn[i].proc, i};
    }
    return step->at != INT64_MAX;
}

static void connect_ends(struct conn *c)
{
    if (wire.refused[c->server] > sim_now()) {
        say(c, "->", "is refused", NULL);
        c->state = WIRE_BROKEN;
        return;
    }
    say(c, "->", "is connected", NULL);
    c->state = WIRE_UP;
    c->server_has = true;
    ens_accepted(number_of(c));
}

static void hung_up(struct conn *c)
{
    say(c, "->", "has hung up", NULL);
    ens_hung_up(number_of(c));
    c->server_has = false;
    retire(c);
}

void wire_do(const struct sim_step *step)
{
    struct conn *c = conn_at(step->id);
    struct wire_msg *m;

    if (!c || next_at(c) > sim_now())
        return;
    if (c->state == WIRE_CONNECTING) {
        connect_ends(c);
    } else if (c->way[WIRE_UPWARD].first) {
        m = take(&c->way[WIRE_UPWARD]);
        say(c, "->", "", m);
        ens_received(step->id, m);
    } else {
        hung_up(c);
    }
}

/* For the faults. */

int wire_conn_of(int proc)
{
    const struct conn *c, *newest = NULL;

    for (c = wire.conn; c < wire.conn + WIRE_CONNS; c++) {
        if (c->born && c->client_has && c->proc == proc &&
            wire_state(number_of(c)) != WIRE_BROKEN &&
            (!newest || newest->born < c->born))
            newest = c;
    }
    return newest ? number_of(newest) : -1;
}

void wire_cut(int conn)
{
    struct conn *c = conn_at(conn);

    if (!c)
        return;
    say(c, "--", "is cut", NULL);
    lose(&c->way[WIRE_UPWARD]);
    lose(&c->way[WIRE_DOWNWARD]);
    c->state = WIRE_BROKEN;
    if (c->server_has)
        c->way[WIRE_UPWARD].end = sim_now() + WIRE_US;
}

/* Messages that have not arrived yet arrive then, in their order. */
static void delay(struct way *w, int64_t until)
{
    for (struct wire_msg *m = w->first; m; m = m->next) {
        if (m->due > sim_now())
            m->due = later(m->due, until);
    }
    if (w->end > sim_now())
        w->end = later(w->end, until);
}

static void hold(struct conn *c, enum wire_dir dir, int64_t until)
{
    delay(&c->way[dir], until);
    if (c->state == WIRE_CONNECTING)
        c->due = later(c->due, until);
}

void wire_hold(int conn, enum wire_dir dir, int64_t until)
{
    struct conn *c = conn_at(conn);

    if (!c)
        return;
    say(c, dir == WIRE_UPWARD ? "->" : "<-", "is held", NULL);
    c->way[dir].held = later(c->way[dir].held, until);
    hold(c, dir, until);
}

bool wire_holds_requests(void)
{
    for (const struct conn *c = wire.conn; c < wire.conn + WIRE_CONNS; c++) {
        if (c->born && c->way[WIRE_UPWARD].held > sim_now())
            return true;
    }
    for (int p = 0; p < SIM_PROCS; p++) {
        if (wire.held[p] > sim_now())
            return true;
    }
    return false;
}

void wire_hold_all(int proc, int64_t until)
{
    struct conn *c;

    sim_say("p%d is cut off for %lld ms", proc,
            (long long)(until - sim_now()) / 1000);
    wire.held[proc] = later(wire.held[proc], until);
    for (c = wire.conn; c < wire.conn + WIRE_CONNS; c++) {
        if (c->born && c->proc == proc) {
            hold(c, WIRE_UPWARD, until);
            hold(c, WIRE_DOWNWARD, until);
        }
    }
}

void wire_part_events(int proc, int64_t until)
{
    struct conn *c;

    for (c = wire.conn; c < wire.conn + WIRE_CONNS; c++) {
        if (!c->born || c->proc != proc || c->parted > sim_now())
            continue;
        say(c, "<-", "one event, and no more, comes from here", NULL);
        c->parted = until;
        c->event_sent = false;
    }
}

static int64_t knew[SIM_PROCS]; /* For the present step alone. */

int64_t wire_knew(int proc) { return knew[proc]; }

void wire_step_begins(void) { memcpy(knew, wire.heard, sizeof knew); }

int64_t wire_heard(int proc) { return wire.heard[proc]; }

void wire_refuse(int server, int64_t until) { wire.refused[server] = until; }

void wire_garble(int proc, int64_t until) { wire.garbled[proc] = until; }

void wire_route(int proc, int server) { wire.routed[proc] = server + 1; }

int wire_routed(int proc) { return (int)wire.routed[proc] - 1; }

static const struct wire_msg *first_of(int proc, enum wire_dir dir)
{
    const struct wire_msg *first = NULL, *m;
    const struct conn *c;

    for (c = wire.conn; c < wire.conn + WIRE_CONNS; c++) {
        m = c->born && c->proc == proc ? c->way[dir].first : NULL;
        if (m && (!first || m->due < first->due))
            first = m;
    }
    return first;
}

const struct wire_msg *wire_first_up(int proc)
{
    return first_of(proc, WIRE_UPWARD);
}

const struct wire_msg *wire_first_down(int proc)
{
    return first_of(proc, WIRE_DOWNWARD);
}
