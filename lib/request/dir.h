/* The directories that a session's machines work in, each once: what is known
 * of them, and who of us is in them (request/own_queue.h). */
#ifndef EVZK_DIR_H
#define EVZK_DIR_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "lib/client/client.h"

struct evzk__core;
struct evzk__place;
struct evzk__request;

RB_HEAD(evzk__queue, evzk__place);
RB_HEAD(evzk__line, evzk__place);
RB_HEAD(evzk__onlookers, evzk__place);
RB_HEAD(evzk__dir_tree, evzk__dir);

struct evzk__dir {
    RB_ENTRY(evzk__dir) node;
    union {
        struct {
            struct evzk__queue queue;      /* Contenders, lowest first. */
            struct evzk__request *listing; /* Queued, and joined; or NULL. */
        };
        TAILQ_ENTRY(evzk__dir) idle; /* While nobody works in it. */
    };
    struct evzk__line
        line;      /* Contenders without a place: see request/create_order.c. */
    uint32_t refs; /* 0: it is idle. */
    uint32_t remote;   /* Watches on znodes that are nobody's here. */
    uint32_t coming;   /* Creates in it, asked for and not answered. */
    uint32_t tried;    /* The next ticket, when the last one was sent. */
    uint16_t creating; /* Creates under way. */
    uint8_t tick;      /* Since when it has been idle. */
    bool exists : 1;   /* As far as we know; neither: nothing is known. */
    bool missing : 1;  /* The same. */
    bool idling : 1;   /* In the list of the idle ones. */
    bool chosen : 1;   /* A create in it is chosen for a transaction. */
    bool alone : 1;    /* None is sent until those under way are answered. */
    bool ours : 1;     /* We made it, and saw nobody else in it. */
    bool untidy : 1;   /* It may be left by another of ours: see
                          request/idle_dirs.c. */
    bool astray : 1;   /* Who watches a znode may not be right behind it. */
    char path[];
};

/* What a directory of ours says to people, and to us. */
extern const char evzk__dir_mark[];
bool evzk__dir_looks_ours(const struct evzk__stat *stat);

/* The directory named by two pieces of a path, with a reference; NULL when out
 * of memory. */
struct evzk__dir *evzk__dir_get(struct evzk__core *s, const char *a,
                                const char *b);
void evzk__dir_put(struct evzk__core *s, struct evzk__dir *d);

/* Without a reference; NULL: nobody works there. */
struct evzk__dir *evzk__dir_find(struct evzk__core *s, const char *path);

/* The session has expired, and its znodes have gone: a directory may go with
 * them, and another's come in its place. */
void evzk__dirs_disown(struct evzk__core *s);

/* A create found its directory missing, or not: so it is guessed next time. */
void evzk__dirs_found(struct evzk__core *s, bool missing);

/* Puts <dir>/<name> together, or <dir> where the name is empty.  There is room:
 * lengths are limited where paths come in. */
const char *evzk__path_in(char *to, const char *dir, const char *name);

/* Adds one more case to a rate, in parts of 65535. */
void evzk__learn(uint16_t *rate, bool yes);

/* Nobody of this session works in it any more.  True: it is kept, to be looked
 * at when it has been idle for a while. */
bool evzk__dir_rests(struct evzk__core *s, struct evzk__dir *d);

/* Somebody works in it again. */
void evzk__dir_wakes(struct evzk__core *s, struct evzk__dir *d);

/* Has a contender of ours a znode in it, or will have? */
bool evzk__dir_busy(const struct evzk__dir *d);

#endif
