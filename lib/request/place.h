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

/* The own watch is on the machine's znode, and tells its end and its new data.
 * The other watch is on a znode before it, and tells its end only: new data
 * there is no news. */
enum evzk__which {
    EVZK__OWN,
    EVZK__PRED,
    EVZK__PATH /* And higher: see request/path_watch.h. */
};

/* In a step of a request: sets this watch. */
#define EVZK__WITH(which) ((uint8_t)((which) + 1))

/* A watch on a znode of the owner's directory.  All watches are one watcher to
 * the C client; events are handed out by name. */
struct evzk__watch {
    const char *name; /* The owner's. */
    uint32_t seen;    /* What the server showed: see request/look.h. */
    uint8_t which;    /* Which of the owner's watches this is. */
    enum {
        EVZK__UNLISTED,
        EVZK__LISTED, /* Asked for: the owner is to hear when it fires. */
        EVZK__ARMED,  /* And answered: the server has it, or may have it. */
        EVZK__HIDDEN  /* The znode may not be read: the owner is to hear when
                          that may be different. */
    } is : 2;
    unsigned round : 8; /* In which it was looked at: see request/look.h. */
};

static inline bool evzk__watch_listed(const struct evzk__watch *w)
{
    return w->is != EVZK__UNLISTED;
}

static inline bool evzk__watch_armed(const struct evzk__watch *w)
{
    return w->is == EVZK__ARMED;
}

/* Counters of what happened to the session.  A machine compares them with those
 * that it saw last. */
struct evzk__changes {
    uint16_t change_count;  /* Counts any change. */
    uint16_t session_no;    /* Counts sessions: each expiry begins another. */
    uint16_t connection_no; /* Counts connections. */
    uint16_t lease_ends;
};

/* Events of a place that its machine has not handled yet. */
enum {
    EVZK__NEWS_DELETED = 1, /* Shifted by the watch: own 1, pred 2. */
    EVZK__NEWS_CHANGED = 4, /* own 4, pred 8. */
    EVZK__NEWS_BEFORE = 16, /* The contender of ours before it has left. */
    EVZK__NEWS_PATHS = 32   /* At least one of its path watches has fired. */
};

/* Which tree of its directory the place's `node` is in: the queue, by the
 * number of its znode, or the line (request/create_order.c), by its ticket.  A
 * machine that never contends is in the tree of onlookers while it has a watch.
 */
enum evzk__where { EVZK__NOWHERE, EVZK__IN_LINE, EVZK__IN_QUEUE };

/* Is a contender in the queue the first one, as far as the session knows? */
enum evzk__rank {
    EVZK__BEHIND, /* No, or it has yet to ask. */
    EVZK__LEADS,  /* First, or right behind a first one that leaves. */
    EVZK__PASSED  /* The same, and is leaving: its follower leads. */
};

struct evzk__place {
    RB_ENTRY(evzk__place) node; /* See `where`. */
    struct evzk__core *s;       /* NULL: nothing of the machine is left. */
    struct evzk__dir *dir;
    struct evzk__request req;
    struct evzk__watch own_watch, pred_watch;
    struct evzk__place *before; /* The contender it waits for, if ours. */
    int32_t seq;  /* Of its znode; or its ticket; or its number as onlooker. */
    uint8_t news; /* EVZK__NEWS_* */
    uint8_t where : 2;    /* enum evzk__where */
    uint8_t rank : 2;     /* enum evzk__rank */
    uint8_t onlooks : 2;  /* Watches of an onlooker. */
    bool ended : 1;       /* The machine has ended: it needs no place. */
    bool followed : 1;    /* A contender of ours waits for this one. */
    bool before_seen : 1; /* The znode of `before` was read, and belongs to
                             `before`. */
    /* The machine's znode was made, or seen to be its own, in this connection;
     * and since then the server told nothing newer, such as another znode's
     * end, that may mean that this one is gone, too. */
    bool own_verified : 1;
    bool looks : 1; /* A contender that trusts no watch: see look.h. */
};

static inline struct evzk__place *evzk__place_of(struct evzk__request *r)
{
    return evzk__container_of(r, struct evzk__place, req);
}

/* Has its place heard that its own znode was deleted?  A request that deletes
 * that, or rests on it, would strike a znode that came later. */
static inline bool evzk__own_went(const struct evzk__request *r)
{
    const struct evzk__place *p;

    if (r->op != EVZK__DELETE && r->op != EVZK__SWAP)
        return false;
    p = evzk__container_of(r, const struct evzk__place, req);
    return !p->own_verified && (p->news & EVZK__NEWS_DELETED);
}

/* What a machine may ask about its request. */

/* A WATCH: was its own znode read, or the znode before its own? */
static inline bool evzk__place_read_own(const struct evzk__place *p)
{
    return p->req.name != NULL;
}

static inline bool evzk__place_read_pred(const struct evzk__place *p)
{
    return p->req.pred != NULL;
}

static inline bool evzk__place_awaits_answer(const struct evzk__place *p)
{
    return p->req.state == EVZK__SENT;
}

/* Its owner has one, and does much in its name: what it watches is looked at,
 * also its own znode. */
static inline void evzk__place_look(struct evzk__place *p) { p->looks = true; }

/* Its owner has many of them, one in each directory: they may go together. */
static inline void evzk__place_be_one_of_many(struct evzk__place *p)
{
    p->req.bulk = true;
}

static inline bool evzk__place_is_one_of_many(const struct evzk__place *p)
{
    return p->req.bulk;
}

/* When its znode is deleted, does its directory stay for another contender? */
static inline void evzk__place_keep_dir(struct evzk__place *p, bool keeps)
{
    p->req.keeps_dir = keeps;
}

struct evzk__path_watch;

/* What the request layer calls in the machine, a layer above. */
struct evzk__wake {
    void (*post)(struct evzk__place *p); /* Has the machine run soon. */
    /* Marks of contenders' names; NULL: the machine never contends. */
    const struct evzk__mark *(*marks)(const struct evzk__place *p);
    /* The machine's path watch number i; NULL: it has fewer. */
    struct evzk__path_watch *(*path_watch)(struct evzk__place *p, unsigned i);
    /* The machine's request, a DELETE or a SWAP, could not be sent for a while:
     * what the machine read before may be old. */
    void (*put_off)(struct evzk__place *p);
    /* Before a DELETE or a SWAP is sent: the machine's own znode has gone since
     * it was asked for.  True: the machine has taken the request back. */
    bool (*take_back)(struct evzk__place *p);
};

#endif
