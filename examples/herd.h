/*
 * What the parts of herd share.
 *
 *   herd.c         reads the command line, prints the table
 *   herd-naive.c   the simplest lock
 *   herd-client.c  the C client on a libevent loop, which the simplest lock
 * needs herd-evzk.c    the lock of this library
 */
#ifndef EVZK_HERD_H
#define EVZK_HERD_H

#include <stdbool.h>

struct event;
struct event_base;

enum {
    HERD_SESSIONS = 10, /* The waiters share them, as in a real program. */
    HERD_SESSION_MS = 60000
};

/* What the releases have caused, while all others waited. */
struct herd {
    int waiters;
    int wanted; /* Releases to be measured; the naive lock stops there. */
    int releases;
    long wakes;    /* Events that a waiter heard. */
    long requests; /* To the server, counted where they are sent. */
};

/* `waiters` wait for one lock, and get it one after another. */
void herd_naive(const char *servers, struct herd *h);
void herd_evzk(const char *servers, struct herd *h);

/* Says what went wrong, and ends the program. */
_Noreturn void herd_fail(const char *what, const char *why);

/* ---- The C client, as it has to be driven from a loop ---- */

struct client {
    struct _zhandle *zh; /* As zookeeper.h calls it. */
    struct event_base *base;
    struct event *io, *timer;
    int fd, what;
};

void client_open(struct client *c, struct event_base *base,
                 const char *servers);
bool client_connected(const struct client *c);
void client_kick(struct client *c); /* After every call of zoo_*. */
void client_close(struct client *c);

#endif
