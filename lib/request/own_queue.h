/* The session's own contenders in a directory, in the order of their sequence
 * numbers, and their watches.
 *
 * A session need not ask a server about its own contenders: it knows which of
 * them comes next, whose watch has fired, and which is first when the first has
 * left. */
#ifndef EVZK_QUEUE_H
#define EVZK_QUEUE_H

#include "lib/request/place.h"

/* A machine that never has a znode in the directory may watch znodes all the
 * same: it is an onlooker.  Its own watch is then on any znode, which may exist
 * or not, and tells every change of it. */

/* Puts the machine into the queue: it has a znode of this name.  Sets the name
 * of its own watch, too. */
void evzk__queue_enter(struct evzk__place *p, const char *name, int32_t seq);

/* The machine has another znode now.  The new name is copied to `own`, where
 * the machine keeps its name. */
void evzk__queue_rename(struct evzk__place *p, char *own, const char *name,
                        int32_t seq);

/* The machine, which is in the queue, waits for this contender of our session,
 * or for none of ours.  A contender has one follower: an earlier follower now
 * stands behind this machine, and relies on its watch. */
void evzk__queue_follow(struct evzk__place *p, struct evzk__place *before);

/* The machine waits for none of our contenders any more. */
void evzk__queue_unfollow(struct evzk__place *p);

/* The machine's znode is gone, or does not count any more.  The contender that
 * waits for this one hears so; it does not know yet which contender is first
 * now. */
void evzk__queue_remove(struct evzk__place *p);

/* If no contender of ours is in the directory, or on its way, the directory
 * does not count as made by us any more. */
void evzk__queue_emptied(struct evzk__dir *d);

/* The machine is first, and begins to leave.  A contender of ours that waits
 * for it is first from now on, or as soon as it has read this machine's znode.
 * While one of the two znodes exists, no other contender can be first. */
void evzk__queue_hand_over(struct evzk__place *p);

/* The znode before the machine's was read: it belongs to the contender that the
 * machine waits for. */
void evzk__queue_seen(struct evzk__place *p);

/* Is this our only contender in the directory, not counting those whose delete
 * was sent? */
bool evzk__queue_lone(struct evzk__dir *d, const char *name);

/* Has a contender of ours a znode in the directory that it is not about to
 * delete?  Then the directory stays. */
bool evzk__queue_keeps_dir(const struct evzk__dir *d);

/* Would we hear if the machine's znode went? */
bool evzk__queue_guarded(struct evzk__place *p);

/* The nearest of our contenders before this one; NULL: there is none. */
struct evzk__place *evzk__queue_before(struct evzk__place *p);

/* The contender of ours with this znode, or NULL. */
struct evzk__place *evzk__queue_find(struct evzk__dir *d, const char *name);

/* The first of our contenders at or behind a znode's number; NULL: there is
 * none, or the name is no contender's. */
struct evzk__place *evzk__queue_seek(struct evzk__dir *d, const char *name);

/* The next of our contenders behind a znode; `at` is what evzk__queue_seek()
 * found for that znode. */
struct evzk__place *evzk__queue_behind(const char *name,
                                       struct evzk__place *at);

/* Has the machine, which may be NULL, this znode? */
bool evzk__queue_is_named(const struct evzk__place *p, const char *name);

/* Notes in the directory if a watcher does not stand right behind the znode
 * that it watches. */
void evzk__queue_note_watcher(const struct evzk__place *p);

/* All our contenders in a directory, in their order: to walk the queue. */
struct evzk__place *evzk__queue_first(struct evzk__dir *d);
struct evzk__place *evzk__queue_next(struct evzk__place *p);

#endif
