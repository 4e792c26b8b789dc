/* One read for all machines that ask for the same at the same time.
 *
 * A request that reads one znode, alone or behind a shared sync, is a leader
 * while it waits in its queue.  The same read of another machine joins the
 * leader instead of waiting, too, and gets its answer and its watch: as if both
 * had been sent at the same moment.  Nobody joins a read that was sent: so each
 * machine reads what was there after it had asked. */
#ifndef EVZK_SHARED_READ_H
#define EVZK_SHARED_READ_H

#include "lib/request/request.h"

/* Has the request join another that waits.  False: there is none. */
bool evzk__shared_read_join(struct evzk__core *s, struct evzk__request *r);

/* The request waits in its queue from now on: others may join it. */
void evzk__shared_read_waits(struct evzk__core *s, struct evzk__request *r);

/* The request leaves its queue: nobody joins it any more. */
void evzk__shared_read_leaves(struct evzk__core *s, struct evzk__request *r);

/* A part of the request was sent. */
void evzk__shared_read_sent(struct evzk__core *s, struct evzk__request *r,
                            unsigned part);

/* The request is taken back before it has read.  The first of its followers
 * leads the others, and is to be put into a queue; NULL: it has none. */
struct evzk__request *evzk__shared_read_heir(struct evzk__request *r);

/* A part of the request is answered.  If that was the read, or if no other part
 * will come, its followers hear so, one after another: returns the next, whose
 * own part number 0 is answered with `*res`; NULL: none is left. */
struct evzk__request *evzk__shared_read_next(struct evzk__core *s,
                                             struct evzk__request *r,
                                             unsigned part,
                                             const struct evzk__result **res);

#endif
