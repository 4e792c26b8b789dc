/* Watches on znodes at any path, as many as a kind of machine says.
 *
 * A machine has two watches in its own directory: the own watch, and the watch
 * on the contender before it (request/own_queue.h).  A recipe that needs more,
 * or needs them elsewhere, has an array of these in its struct, and names it in
 * its kind:
 *
 *     struct barrier {
 *         struct evzk__machine m;
 *         struct evzk__path_watch watch[2];
 *     };
 *     ... EVZK__PATH_WATCHES(struct barrier, m, watch)
 *
 * A step sets the watch number i with `.watch = EVZK__WITH(EVZK__PATH + i)`; an
 * event of that watch comes with `which` EVZK__PATH + i.  A watch that a step
 * of EVZK__STEP_CHILDREN set fires when a child comes or goes, and when the
 * znode goes; the others fire when the znode comes, goes, or is written to. */
#ifndef EVZK_PATH_WATCH_H
#define EVZK_PATH_WATCH_H

#include "lib/request/place.h"

/* The most that a machine may have. */
enum { EVZK__PATH_WATCHES_MAX = 8 };

struct evzk__path_watch {
    struct evzk__watch w;
    RB_ENTRY(evzk__path_watch) node; /* In the session's tree, by path. */
    struct evzk__place *place;       /* Of its machine. */
    uint32_t seq;  /* Orders watches of one path as they were set. */
    bool children; /* On the list of children; else on the znode. */
    /* The watch has fired, and the machine is to hear so. */
    bool deleted, changed;
};
RB_HEAD(evzk__path_watches, evzk__path_watch);

/* For a machine that was just made. */
void evzk__path_watches_init(struct evzk__place *place);

/* The machine's watch number i; NULL: it has fewer. */
struct evzk__path_watch *evzk__path_watch_at(struct evzk__place *place,
                                             unsigned i);
struct evzk__path_watch *evzk__path_watch_of(struct evzk__watch *w);

/* Drops the event that the machine has not heard yet. */
void evzk__path_watch_forget(struct evzk__path_watch *p);

/* Puts the watch into the session's tree, under the path that its name says;
 * and takes it out. */
void evzk__path_watch_add(struct evzk__path_watch *p);
void evzk__path_watch_remove(struct evzk__path_watch *p);

/* Writes the path that the watch is on to `to`. */
const char *evzk__path_watch_path(const struct evzk__path_watch *p, char *to);

/* Is the watch, which is listed, on the path that a step names so? */
bool evzk__path_watch_is_on(const struct evzk__path_watch *p, const char *name);

/* A watch that is listed on this path: on its children, or on the znode.  NULL:
 * none is. */
struct evzk__path_watch *evzk__path_watch_find(const struct evzk__core *s,
                                               const char *path, bool children);

/* The watches that are listed on a path, one after another; NULL: no more. */
struct evzk__path_watch *evzk__path_watch_first(const struct evzk__core *s,
                                                const char *path);
struct evzk__path_watch *evzk__path_watch_next(const char *path,
                                               struct evzk__path_watch *p);

#endif
