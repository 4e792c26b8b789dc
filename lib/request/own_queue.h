/* The session's own contenders in a directory, in the order of their sequence
 * numbers, and their watches.
 *
 * What a session knows of its own contenders it need not ask a server: who of
 * them comes next, whose watch has fired, and who is first when the first has
 * left. */
#ifndef EVZK_QUEUE_H
#define EVZK_QUEUE_H

#include "lib/request/place.h"

/* One that has no znode here, and never will, may watch others all the same: an
 * onlooker.  Its own watch is then on any znode, there or not, of all that
 * becomes of it. */

/* The machine, which is in no queue, has a znode of this name; its own watch's
 * name is set. */
void evzk__queue_enter(struct evzk__place *p, const char *name, int32_t seq);

/* It has another znode; `own`, where the name is kept, gets the new one. */
void evzk__queue_rename(struct evzk__place *p, char *own, const char *name,
                        int32_t seq);

/* The machine, which is in the queue, waits for this one of ours, or for none.
 * One waits for one: whoever did so before has come to stand behind us, and has
 * a watch. */
void evzk__queue_follow(struct evzk__place *p, struct evzk__place *before);

/* It waits for none of ours any more. */
void evzk__queue_stray(struct evzk__place *p);

/* Its znode is gone, or does not count any more.  The next one hears, if it
 * waits for this one; who is first then, it does not know. */
void evzk__queue_leave(struct evzk__place *p);

/* Unless one of ours is in it, or on its way, it is ours no more. */
void evzk__queue_emptied(struct evzk__dir *d);

/* It is first, and begins to leave: the next one, if it waits for this one, is
 * first from now on, or as soon as it has seen this one's znode.  While
 * either's znode stands, nobody else can be. */
void evzk__queue_pass(struct evzk__place *p);

/* The znode before its own was read: it is that of the one it waits for. */
void evzk__queue_seen(struct evzk__place *p);

/* Is this one the only one, but for those whose delete is on its way? */
bool evzk__queue_lone(struct evzk__dir *d, const char *name);

/* Does one of ours stand in it, and stay there, so that the directory stays? */
bool evzk__queue_keeps_dir(const struct evzk__dir *d);

/* Should its znode go, would we hear? */
bool evzk__queue_guarded(struct evzk__place *p);

/* The nearest one before; NULL: none of ours. */
struct evzk__place *evzk__queue_before(struct evzk__place *p);

/* The contender of ours with this znode, or NULL. */
struct evzk__place *evzk__queue_find(struct evzk__dir *d, const char *name);

/* Where a znode stands, or would stand; NULL: behind all, or it is none. */
struct evzk__place *evzk__queue_seek(struct evzk__dir *d, const char *name);

/* The next one of ours behind a znode, which would stand at @at. */
struct evzk__place *evzk__queue_behind(const char *name,
                                       struct evzk__place *at);

/* Has the machine, which may be NULL, this znode? */
bool evzk__queue_is_named(const struct evzk__place *p, const char *name);

/* Notes in the directory if a watcher does not stand right behind the znode
 * that it watches. */
void evzk__queue_note_watcher(const struct evzk__place *p);

/* All of ours in a directory, in their order. */
struct evzk__place *evzk__queue_first(struct evzk__dir *d);
struct evzk__place *evzk__queue_next(struct evzk__place *p);

#endif
