/* The directories that a session's machines work in, each once: what is known
 * of a directory, and which of our contenders are in it (request/own_queue.h).
 */
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
            struct evzk__request *listing; /* The queued one; or NULL. */
        };
        TAILQ_ENTRY(evzk__dir) idle; /* While no machine works in it. */
    };
    struct evzk__line
        line; /* Contenders without a place: see request/create_order.c. */
    uint32_t refs : 31;   /* 0: it is idle. */
    uint32_t noted : 1;   /* See evzk__machine_note(). */
    uint32_t remote;      /* Watches on znodes of other sessions. */
    uint32_t coming;      /* Creates in it, asked for and not answered. */
    uint32_t tried;       /* The next ticket, when the last one was sent. */
    uint16_t creating;    /* Creates under way. */
    uint8_t tick;         /* Since when it has been idle. */
    bool exists : 1;      /* As far as we know.  Neither: unknown. */
    bool missing : 1;     /* The same. */
    bool idling : 1;      /* In the list of idle directories. */
    bool chosen : 1;      /* A create in it goes in this transaction. */
    bool alone : 1;       /* No create is sent until those sent are answered. */
    bool made_by_us : 1;  /* And no other client's znode was seen in it. */
    bool check_empty : 1; /* When idle: see request/idle_dirs.c. */
    /* A watcher may not be right behind the znode that it watches. */
    bool watchers_unordered : 1;
    int64_t czxid; /* While it is made_by_us. */
    char path[];
};

/* The data of a directory that evzk made: for people to read, and for us to
 * know it by. */
extern const char evzk__dir_mark[];
bool evzk__dir_looks_made_by_us(const struct evzk__stat *stat);

/* The directory was listed.  Another client may have put a directory of its own
 * in the place of ours. */
void evzk__dir_listed(struct evzk__dir *d, const struct evzk__stat *stat);

/* The directory named by two pieces of a path, with a reference; NULL when out
 * of memory. */
struct evzk__dir *evzk__dir_get(struct evzk__core *s, const char *a,
                                const char *b);
void evzk__dir_put(struct evzk__core *s, struct evzk__dir *d);

/* Without a reference; NULL: no machine works there. */
struct evzk__dir *evzk__dir_find(struct evzk__core *s, const char *path);

/* The session has expired, and its znodes are gone.  A directory may be deleted
 * then, and made anew by another client. */
void evzk__dirs_disown(struct evzk__core *s);

/* A create found its directory missing, or not: the next guess is based on
 * this. */
void evzk__dirs_found(struct evzk__core *s, bool missing);

/* Puts <dir>/<name> together, or <dir> where the name is empty.  There is room:
 * lengths are limited where paths come in. */
const char *evzk__path_in(char *to, const char *dir, const char *name);

/* Adds a case to a rate, in parts of 65535. */
void evzk__learn(uint16_t *rate, bool yes);

/* No machine of this session works in the directory any more.  True: it is
 * kept, and checked when it has been idle for a while. */
bool evzk__dir_rests(struct evzk__core *s, struct evzk__dir *d);

/* A machine works in the directory again. */
void evzk__dir_wakes(struct evzk__core *s, struct evzk__dir *d);

/* Has a contender of ours a znode in it, or is one on its way? */
bool evzk__dir_busy(const struct evzk__dir *d);

#endif
