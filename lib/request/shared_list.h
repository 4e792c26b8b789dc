/* One listing for all machines that list the same directory at the same time.
 *
 * A listing that waits in its queue leads: the listings of other machines join
 * it, and get its answer.  Nobody joins a listing that was sent: so it is never
 * older than the question.  Of single znodes: request/shared_read.h. */
#ifndef EVZK_SHARED_LIST_H
#define EVZK_SHARED_LIST_H

#include "lib/request/request.h"

/* Has a listing join another that waits; else others may join this one.  False:
 * the request is to be put into a queue. */
bool evzk__shared_list_join(struct evzk__request *r);

/* The listing is taken back: the first that has joined it lists instead. */
void evzk__shared_list_hand_on(struct evzk__core *s, struct evzk__request *r);

/* Gives the reply to the requests that joined the listing.  A request that is
 * submitted from their callbacks lists anew.  When there is no memory to put
 * the listing in order, all but the first list again later: it would stop the
 * loop if each machine looked through all the names.  False: this is the child
 * of a fork, where no request is left. */
bool evzk__shared_list_answer(struct evzk__core *s, struct evzk__request *r,
                              const struct evzk__reply *reply);

#endif
