/* The watches of a session's machines: who has asked for which, and who hears
 * when one has fired. */
#ifndef EVZK_WATCH_H
#define EVZK_WATCH_H

#include "lib/request/own_queue.h"

/* Lists a watch, which is not listed, of a machine on a name. */
void evzk__watch_add(struct evzk__place *p, struct evzk__watch *w,
                     const char *name);

/* Takes it off the list, if it is on.  True: the server has a watch for it. */
bool evzk__watch_remove(struct evzk__place *p, struct evzk__watch *w);

/* Is there a watch of its own contender on this znode, or of one behind it? */
bool evzk__watch_any(const struct evzk__core *s, struct evzk__dir *d,
                     const char *name, enum evzk__which which);

/* Has any machine of the session a watch on the znode at this path: on its
 * children, or on the znode itself? */
bool evzk__watch_any_at(struct evzk__core *s, const char *path, bool children);

/* A watch has fired: all who have it hear, and it is off the list.  Of the end
 * the znode's own contender hears, too, who need not have asked. */
void evzk__watch_fired(struct evzk__core *s, struct evzk__dir *d,
                       const char *name, enum evzk__watch_event ev);

/* One watch of one place has fired: its machine is to look at that. */
void evzk__watch_heard(struct evzk__place *p, enum evzk__which which,
                       enum evzk__watch_event ev);

/* The same, as a server says it: of the path of a znode, which may be a
 * directory that machines work in. */
void evzk__watch_fired_at(struct evzk__core *s, const char *path,
                          enum evzk__watch_event ev);

/* One of a machine's watches.  NULL: its kind has not so many. */
struct evzk__watch *evzk__watch_of(struct evzk__place *p,
                                   enum evzk__which which);

/* Takes the watch off a path on the server, if no machine has one there; the
 * machine that had one has it no more (evzk__watch_remove()).  Else only asks.
 */
int evzk__watch_take_off(struct evzk__core *s, struct evzk__slot *slot,
                         const struct evzk__dir *d, const char *path,
                         bool data);

/* Takes a watch out of the connection that was lost. */
void evzk__watch_forget(struct evzk__core *s, const char *path, bool data);

/* Puts the path together that a watch of the machine is on. */
const char *evzk__watch_path(struct evzk__place *p, struct evzk__watch *w,
                             char *to);
/* Is it on the znode itself?  Else it is on its children. */
bool evzk__watch_of_data(struct evzk__watch *w);

#endif
