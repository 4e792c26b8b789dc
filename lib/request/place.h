/* The part of a machine that the request layer sees: its request, its watches,
 * and its place among the session's contenders in a directory.
 *
 * A machine embeds one (lib/machine/machine.h).  The request layer keeps places
 * in its queues, and hands them back to the machine through `wake`. */
#ifndef EVZK_PLACE_H
#define EVZK_PLACE_H

#include <stddef.h>

#include "lib/base/order.h"
#include "lib/base/util.h"
#include "lib/request/request.h"

/* On its own znode, of its end and of its data; and on one before it, of its
 * end alone: what is written to that is no news. */
enum evzk__which {
    EVZK__OWN,
    EVZK__PRED,
    EVZK__PATH /* And above: see request/path_watch.h. */
};

/* For a step of a request: with this watch. */
#define EVZK__WITH(which) ((uint8_t)((which) + 1))

/* A watch on a znode of the owner's directory.  The client knows one watcher
 * for all; events are handed out by name. */
struct evzk__watch {
    const char *name; /* The owner's. */
    uint8_t which;    /* Which of the owner's watches this is. */
    bool listed;      /* The owner is to hear of it. */
    bool armed;       /* Answered: it stands, or may. */
};

/* What machines compare with what they saw last, to learn what became of the
 * session. */
struct evzk__changes {
    uint16_t round; /* Counts any change. */
    uint16_t gen;   /* Counts sessions: each expiry begins another. */
    uint16_t conn;  /* Counts connections. */
    uint16_t lease_ends;
};

/* What has happened to a place, and its machine has not looked at yet. */
enum {
    EVZK__NEWS_DELETED = 1, /* Shifted by the watch: own 1, pred 2. */
    EVZK__NEWS_CHANGED = 4, /* own 4, pred 8. */
    EVZK__NEWS_BEFORE = 16, /* The one before, of our own, has left. */
    EVZK__NEWS_PATHS = 32   /* One or more of its path watches have fired. */
};

/* Which of its directory's trees a place is in, with its `node`: the queue, by
 * the number of its znode, or the line (request/create_order.c), by its ticket.
 * A machine that never contends is among the onlookers while it has a watch. */
enum evzk__where { EVZK__NOWHERE, EVZK__IN_LINE, EVZK__IN_QUEUE };

struct evzk__place {
    RB_ENTRY(evzk__place) node; /* See `where`. */
    struct evzk__core *s; /* NULL: the machine has ended, with all its rest. */
    struct evzk__dir *dir;
    struct evzk__request req;
    struct evzk__watch own_watch, pred_watch;
    struct evzk__place *before; /* The one it waits for, if that is ours. */
    int32_t seq;          /* Of its znode; its ticket; which onlooker it is. */
    uint8_t news;         /* EVZK__NEWS_* */
    uint8_t where : 2;    /* enum evzk__where */
    uint8_t onlooks : 2;  /* So many watches, of one that never contends. */
    bool ended : 1;       /* The machine has, and wants no place any more. */
    bool leads : 1;       /* It is first, or follows one that was and leaves. */
    bool passed : 1;      /* It leads no more: the next one does. */
    bool followed : 1;    /* One of ours waits for it. */
    bool before_seen : 1; /* The znode of `before` was read, and is its own. */
    /* The znode under its name was made, or seen to be its own, by this
     * connection; and nothing came since that says more of others than we know
     * of it. */
    bool own_verified : 1;
};

static inline struct evzk__place *evzk__place_of(struct evzk__request *r)
{
    return evzk__container_of(r, struct evzk__place, req);
}

struct evzk__path_watch;

/* What a place's machine, which is a layer above, does for it. */
struct evzk__wake {
    void (*post)(struct evzk__place *p); /* Looks at it in the next turn. */
    /* Of contenders' names; NULL: it never contends. */
    const struct evzk__mark *(*marks)(const struct evzk__place *p);
    /* Its path watch number i; NULL: it has not so many. */
    struct evzk__path_watch *(*path_watch)(struct evzk__place *p, unsigned i);
    /* Its request, a DELETE or a SWAP, was not sent for a while: what the
     * machine read before it asked may be old. */
    void (*put_off)(struct evzk__place *p);
};

#endif
