/* The watches of a session's machines: which machine has which watch, and which
 * machines hear when it fires. */
#ifndef EVZK_WATCH_H
#define EVZK_WATCH_H

#include "lib/request/own_queue.h"

/* Lists a watch of a machine on a name.  It must not be listed yet. */
void evzk__watch_add(struct evzk__place *p, struct evzk__watch *w,
                     const char *name);

/* Takes the watch off the list, if listed.  True: the server has a watch for
 * it. */
bool evzk__watch_remove(struct evzk__place *p, struct evzk__watch *w);

/* Is a watch that is listed on the znode that a step names so: on its children,
 * or on the znode itself? */
bool evzk__watch_is_on(struct evzk__watch *w, const char *name, bool children);

/* A read was sent that sets a watch: the watch is listed.  If the watch stands
 * on the same znode already, it still does, whatever the answer will be. */
void evzk__watch_asked(struct evzk__place *p, struct evzk__watch *w,
                       const char *name, bool children);

/* The read was answered, which means that the watch is set, or not.  A watch
 * that was not set, but stands since earlier, stays: the server has it.  So
 * does one on a znode that may not be read: its machine hears when that may be
 * different (request/look.h). */
void evzk__watch_answered(struct evzk__place *p, struct evzk__watch *w,
                          const char *name, bool set,
                          const struct evzk__result *res);

/* What a watch remembers of the znode, as it was shown last: another number for
 * each change that the watch is to tell.  Numbers of one epoch of the servers
 * are all different. */
enum { EVZK__SEEN_ABSENT, EVZK__SEEN_UNKNOWN };
uint32_t evzk__watch_mark(struct evzk__watch *w, const struct evzk__stat *stat);

/* Calls `visit` for each watch that is listed on this path, on the znode or on
 * its children, and for the own watch of the contender whose znode it is,
 * listed or not.  `visit` may take that watch off its list. */
typedef void evzk__watch_visitor(struct evzk__place *p, struct evzk__watch *w,
                                 void *arg);
void evzk__watch_visit(struct evzk__core *s, const char *path,
                       evzk__watch_visitor *visit, void *arg);

/* This watch has fired: it is off its list, and its machine hears. */
void evzk__watch_fire(struct evzk__place *p, struct evzk__watch *w,
                      enum evzk__watch_event ev);

/* What the machine was to hear of this watch is of no interest any more. */
void evzk__watch_drop_events(struct evzk__place *p, enum evzk__which which);

/* A listed watch on this znode: of its own contender, of a contender behind
 * it, or of an onlooker; NULL: none. */
struct evzk__watch *evzk__watch_find(const struct evzk__core *s,
                                     struct evzk__dir *d, const char *name,
                                     enum evzk__which which);

/* A watch has fired: all machines that have it hear, and it is off their lists.
 * When the znode has gone, its own contender hears so without a watch, too. */
void evzk__watch_fired(struct evzk__core *s, struct evzk__dir *d,
                       const char *name, enum evzk__watch_event ev);

/* This watch of this place has fired: tells the place's machine. */
void evzk__watch_heard(struct evzk__place *p, enum evzk__which which,
                       enum evzk__watch_event ev);

/* The same, as the server sends it: with the path of a znode, which may be a
 * directory that machines work in. */
void evzk__watch_fired_at(struct evzk__core *s, const char *path,
                          enum evzk__watch_event ev);

/* One of a machine's watches.  NULL: its kind has fewer. */
struct evzk__watch *evzk__watch_of(struct evzk__place *p,
                                   enum evzk__which which);

/* Removes the watch on a path from the server, if no machine has one there; the
 * caller took its own off before (evzk__watch_remove()).  Otherwise the watch
 * is left to a machine that has one there, and a harmless request is sent,
 * which names `dir`. */
int evzk__watch_take_off(struct evzk__core *s, struct evzk__slot *slot,
                         const char *dir, const char *path, bool data);

/* Takes a watch out of the lost connection. */
void evzk__watch_forget(struct evzk__core *s, const char *path, bool data);

/* Writes the path that a watch of the machine is on to `to`. */
const char *evzk__watch_path(struct evzk__place *p, struct evzk__watch *w,
                             char *to);
/* Is the watch on the znode itself?  Else it is on the znode's children. */
bool evzk__watch_of_data(struct evzk__watch *w);

#endif
