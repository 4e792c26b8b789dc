/* Looks, now and then, whether what is watched is as its watchers know it.
 *
 * A watch is no promise.  When a znode changes while the session may not read
 * it, servers remove its watches and send no event: whoever relies on the watch
 * would hear nothing any more.  A change of an ACL fires no watch either, and a
 * read that is refused sets none.  So the session looks at every path that any
 * of its machines watches, in rounds (machine/rounds.h): once in a round,
 * however many of its machines watch that path.
 *
 * A look is one `exists`.  Its stat shows whether the data, or the children,
 * are those that the server showed when the watch was set.  If not, the watch
 * fires, as if the event had come.  If the znode may not be read, that is no
 * news: what is known holds until it may be read.  Where the servers hang up at
 * a look, each time, its path is looked at rarely: until then a machine that
 * follows it relies on its watch.
 *
 * How it can fail.  If the machine whose visit has had a path looked at ends,
 * the visit of the next that watches the same path comes up to two rounds after
 * that look.  Servers before 3.8.6 show the stat also of what may not be
 * read: then the machine is told, asks, and is refused. */
#ifndef EVZK_LOOK_H
#define EVZK_LOOK_H

#include "lib/request/watch.h"

/* Begins a new round: every watch is to be looked at again. */
void evzk__look_new_round(struct evzk__core *s);

/* Looks at what this place's watches are on, unless that was done in this
 * round.  False: too many looks are under way, or there is no memory, and it is
 * to be tried again later. */
bool evzk__look_at(struct evzk__place *p);

/* The session is over. */
void evzk__looks_clear(struct evzk__core *s);

/* For subrequest.c. */
int evzk__look_send(struct evzk__core *s, struct evzk__request *r,
                    struct evzk__slot *slot);
void evzk__look_answered(struct evzk__core *s, struct evzk__request *r,
                         const struct evzk__result *res);

#endif
