/* The directories that a session's machines work in, each once, and in each the
 * session's own contenders, in the order of their sequence numbers.
 *
 * What a session knows of its own contenders it need not ask a server: who of
 * them comes next, whose watch has fired, and who is first when the first has
 * left. */
#ifndef EVZK_DIR_H
#define EVZK_DIR_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "client.h"

struct evzk_session;
struct evzk__machine;
struct evzk__request;

/* A data watch on a znode of the owner's directory.  The client knows one
 * watcher for all; events are handed out by name. */
struct evzk__watch {
    const char *name; /* The owner's. */
    uint8_t which;    /* Which of the owner's watches this is. */
    bool listed;      /* The owner is to hear of it. */
    bool armed;       /* Acknowledged by the server. */
};

RB_HEAD(evzk__queue, evzk__machine);
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
    uint32_t refs;     /* 0: it is idle. */
    uint32_t remote;   /* Watches on znodes that are nobody's here. */
    uint16_t creating; /* Creates under way in it. */
    uint8_t tick;      /* Since when it has been idle. */
    bool exists : 1;   /* As far as we know; neither: nothing is known. */
    bool missing : 1;  /* The same. */
    bool idling : 1;   /* In the list of the idle ones. */
    bool chosen : 1;   /* A create in it is chosen for a transaction. */
    bool making : 1;   /* A transaction that makes it is under way. */
    bool ours : 1;     /* We made it, and saw nobody else in it. */
    bool untidy : 1;   /* It may be left by another of ours: see tidy.c. */
    bool astray : 1;   /* Who watches a znode may not be right behind it. */
    char path[];
};

/* What a directory of ours says to people, and to us. */
extern const char evzk__dir_mark[];
bool evzk__dir_looks_ours(const struct evzk__stat *stat);

/* The directory named by two pieces of a path, with a reference; NULL when out
 * of memory. */
struct evzk__dir *evzk__dir_get(struct evzk_session *s, const char *a,
                                const char *b);
void evzk__dir_put(struct evzk_session *s, struct evzk__dir *d);

/* Without a reference; NULL: nobody works there. */
struct evzk__dir *evzk__dir_find(struct evzk_session *s, const char *path);

/* Has a contender of ours a znode in it, or will have? */
bool evzk__dir_busy(const struct evzk__dir *d);

/* The machine, which is in no queue, has a znode of this name; its own watch's
 * name is set. */
void evzk__queue_enter(struct evzk__machine *m, const char *name, int32_t seq);

/* The machine, which is in the queue, waits for this one of ours, or for none.
 * One waits for one: whoever did so before has come to stand behind us, and has
 * a watch. */
void evzk__queue_follow(struct evzk__machine *m, struct evzk__machine *before);

/* It waits for none of ours any more. */
void evzk__queue_stray(struct evzk__machine *m);

/* Its znode is gone, or does not count any more.  The next one hears, if it
 * waits for this one; who is first then, it does not know. */
void evzk__queue_leave(struct evzk__machine *m);

/* It is first, and begins to leave: the next one, if it waits for this one, and
 * saw it standing, is first from now on.  While either's znode stands, nobody
 * else can be. */
void evzk__queue_pass(struct evzk__machine *m);

/* Is this one the only one? */
bool evzk__queue_lone(const struct evzk__dir *d, const char *name);

/* Should its znode go, would we hear? */
bool evzk__queue_guarded(struct evzk__machine *m);

/* The nearest one before; NULL: none of ours. */
struct evzk__machine *evzk__queue_before(struct evzk__machine *m);

/* The contender of ours with this znode, or NULL. */
struct evzk__machine *evzk__queue_find(struct evzk__dir *d, const char *name);

/* Lists a watch, which is not listed, of a machine on a name. */
void evzk__watch_add(struct evzk__machine *m, struct evzk__watch *w,
                     const char *name);

/* Takes it off the list, if it is on.  True: the server has a watch for it. */
bool evzk__watch_remove(struct evzk__machine *m, struct evzk__watch *w);

/* Is there a watch of anybody on this znode? */
bool evzk__dir_watched(struct evzk__dir *d, const char *name);

/* A watch has fired: whoever has it hears, and it is off the list; so does the
 * znode's own contender, who need not have asked. */
void evzk__dir_fired(struct evzk__dir *d, const char *name,
                     enum evzk__watch_event ev);

#endif
