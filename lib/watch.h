/* Who watches which znode.  The client knows one watcher for all; events are
 * handed out here, by path. */
#ifndef EVZK_WATCH_H
#define EVZK_WATCH_H

#include <bsd/sys/tree.h>
#include <stdbool.h>
#include <stdint.h>

#include "client.h"

/* A data watch on <dir>/<name>, of one user.  Embedded in its owner, so that
 * setting one takes no memory; `dir` and `name` are the owner's. */
struct evzk__watch {
    RB_ENTRY(evzk__watch) node;
    uint64_t hash;
    const char *dir, *name;
    uint32_t serial; /* The owner's: orders watches on one path. Not 0. */
    uint8_t which;   /* Which of the owner's watches this is. */
    bool listed;     /* In the table. */
    bool armed;      /* Acknowledged by the server. */
};

RB_HEAD(evzk__watch_tree, evzk__watch);

struct evzk__watches {
    struct evzk__watch_tree tree;
    uint32_t paths;
};

void evzk__watches_init(struct evzk__watches *t);

/* Enters a watch, which is not in the table. */
void evzk__watch_add(struct evzk__watches *t, struct evzk__watch *w,
                     const char *dir, const char *name);

/* Takes a watch out, if it is in.  True: the server has a watch on this path
 * that nobody uses any more. */
bool evzk__watch_remove(struct evzk__watches *t, struct evzk__watch *w);

/* Any watch on this path, or NULL. */
struct evzk__watch *evzk__watch_find(struct evzk__watches *t, const char *dir,
                                     const char *name);

#endif
