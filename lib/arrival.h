/* Who of a session asks first comes first: the order of its creates in one
 * directory, where that goes, or is made, in between. */
#ifndef EVZK_ARRIVAL_H
#define EVZK_ARRIVAL_H

#include "request.h"

/* All of them are told of every request; only creates are noted. */

/* It was asked for. */
void evzk__arrival_asked(struct evzk__request *r);

/* It was answered, or taken back; `made` or not. */
void evzk__arrival_over(struct evzk__request *r, bool made);

/* It has left its queue. */
void evzk__arrival_sent(struct evzk__request *r);

/* It is to go into the queue's head, or to be held back there: in which queue?
 */
void evzk__arrival_first(struct evzk__request *r);

/* It comes back, since its directory is missing. */
void evzk__arrival_back(struct evzk__request *r);

/* Does it go before all others of ours into its directory? */
bool evzk__arrival_in_turn(const struct evzk__request *r);

/* The create that is to be sent next, or NULL. */
struct evzk__request *evzk__arrival_next(struct evzk_session *s);

/* Takes those that are held back for a directory out of their queue, as if they
 * were sent. */
void evzk__arrival_take_held(struct evzk_session *s, const struct evzk__dir *d,
                             struct evzk__request_queue *out);

#endif
