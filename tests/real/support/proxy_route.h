/*
 * What the files of the proxy's own process share (proxy.h is the test's side):
 * a route is a listening port and the server behind it, a connection is one
 * client's pair of sockets there, a trap waits for a frame or a byte.
 *
 * proxy_process.c  obeys the test's orders, and accepts
 * proxy_conn.c     moves bytes between two sockets
 * proxy_frame.c    knows the frames, counts them, and springs the traps
 */
#ifndef TESTS_REAL_PROXY_ROUTE_H
#define TESTS_REAL_PROXY_ROUTE_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "proxy.h"

enum { PROXY_OPS = 128, PROXY_OP_BASE = 16 };

struct event;
struct event_base;
struct evbuffer;

/* ---- Between the two processes ---- */

enum command {
    CMD_CUT,
    CMD_RESET,
    CMD_REFUSE,
    CMD_FREEZE,
    CMD_THAW,
    CMD_PACE,
    CMD_TRAP,
    CMD_TRAP_BYTES,
    CMD_THEN,
    CMD_UNTRAP,
    CMD_FIRED,
    CMD_ACCEPTS,
    CMD_OPEN,
    CMD_FRAMES,
    CMD_FRAMES_OF,
    CMD_BYTES,
    CMD_SESSION
};

struct order {
    enum command command;
    size_t route;
    int dir;
    int op;
    enum proxy_act act;
    int64_t n;
    int64_t ms;
};

struct answer {
    int64_t value;
};

/* ---- In the proxy's process ---- */

struct trap {
    bool armed;
    bool by_bytes;
    enum proxy_act act;
    int op;
    int64_t n;
    int64_t ms; /* Until a frozen connection thaws by itself; 0: never. */
    unsigned generation; /* Connections count anew for every trap. */
};

struct conn {
    LIST_ENTRY(conn) link;
    struct route *route;
    int fd[2]; /* By the direction it is the source of. */
    struct event *readable[2];
    struct event *writable[2]; /* Of the same sockets. */
    struct evbuffer *in[2];    /* Read, not yet passed on. */
    struct evbuffer *out[2];   /* Passed on, not yet written. */
    struct event *retry;       /* Of connecting, on plain links. */
    struct event *pace;        /* The next byte, when the route is slow. */
    int64_t paced[2];          /* When a byte went last; 0: none waits. */
    int64_t born;
    struct evbuffer *asked; /* Requests that await their reply. */
    bool connected;
    bool plain[2]; /* Not frames. */
    bool greeted[2];
    bool eof[2];
    bool stuck[2]; /* A frame was dropped: nothing arrives any more. */
    bool ending;   /* Cut by a trap: flush, then close. */
    unsigned generation[2];
    int64_t frames[2];
    int64_t bytes[2];
};

struct route {
    struct sockaddr_in target;
    int port;
    int fd;
    struct event *acceptable;
    bool framed;
    bool slow; /* One byte a millisecond. */
    bool frozen[2];
    struct event *thaw; /* Of what a trap froze for a time. */
    struct trap trap[2];
    struct trap then; /* Set when one of them has sprung ... */
    int then_dir;     /* ... for this direction. */
    int64_t accepts, open, fired, session;
    int64_t ending;     /* Connections that are. */
    struct event *wake; /* The last of them has ended. */
    int64_t frames[2], bytes[2];
    int64_t by_op[2][PROXY_OPS];
    LIST_HEAD(, conn) conns;
};

/* All routes of one process. */
struct plan {
    struct route *route;
    size_t n;
};

/* The life of the process: serves @arg, a plan, and the test at @fd. */
void proxy_process(int fd, void *arg);

enum proxy_dir proxy_opposite(enum proxy_dir dir);

/* A connection of @client, which it owns; reaches the server when it may. */
void conn_open(struct event_base *base, struct route *r, int client);
void conn_drop(struct conn *c, bool reset);

/* Connects to the server, if that is to be; does all that can be done, after
 * which it may be gone. */
void conn_reach(struct conn *c);
void conn_step(struct conn *c);

/* Writes what it can; false when the connection broke. */
bool conn_flush(struct conn *c, enum proxy_dir dir);

/* Moves from in to out what may go; stops at a trap. */
void frame_forward(struct conn *c, enum proxy_dir dir);

#endif
