/*
 * The C client on a libevent loop, as a program without a library would drive
 * it: interest and process once a turn, all that can be read at once.
 */
#ifndef TESTS_BENCH_PLAIN_H
#define TESTS_BENCH_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#ifndef THREADED
#include <zookeeper/zookeeper.h>
#endif

struct event;
struct event_base;

struct plain {
    zhandle_t *zh;
    struct event_base *base;
    struct event *io, *timer;
    int fd, what;
    void (*turn)(void); /* Once a turn, when all was read; may be NULL. */
};

/* Connects and waits for it; fails after a minute. */
void plain_open(struct plain *p, struct event_base *base, const char *servers,
                int timeout_ms, void (*turn)(void));

/* Something is to be sent: the loop is to have a turn. */
void plain_kick(struct plain *p);
void plain_close(struct plain *p);

/* Fails unless it went well. */
void plain_check(int rc, const char *what);

/* The number at the end of a sequential znode's name, or path. */
int32_t plain_seq(const char *name);

/* Work to be done when there is room for its requests. */
struct plain_todo {
    int *v; /* Owned; a ring, made at the first. */
    int head, tail, room;
};

/* Puts it at the end, and has the loop have a turn. */
void plain_push(struct plain *p, struct plain_todo *todo, int what);

static inline bool plain_has_todo(const struct plain_todo *todo)
{
    return todo->head != todo->tail;
}

static inline int plain_next(const struct plain_todo *todo)
{
    return todo->v[todo->head % todo->room];
}

#endif
