/* The parts of a request: what each asks of the C client. */
#ifndef EVZK_SUBREQUEST_H
#define EVZK_SUBREQUEST_H

#include "lib/request/request.h"

/* How many parts go before those of the request itself: one that removes an old
 * watch, or none. */
uint32_t evzk__subrequest_lead(const struct evzk__request *r);

/* How many parts the request itself has. */
uint32_t evzk__subrequests_of(const struct evzk__request *r);

/* Takes the watch off that the owner has left.  An error: nothing was sent. */
int evzk__part_unwatch(struct evzk__core *s, struct evzk__request *r,
                       struct evzk__slot *slot);

/* Sends the part that the slot is for.  An error: the part was not sent, and
 * the watches are as they were. */
int evzk__subrequest_send(struct evzk__core *s, struct evzk__request *r,
                          struct evzk__slot *slot);

/* Notes whether the part has set its watch, if it sets one; and the result of a
 * sync that other requests share. */
void evzk__subrequest_answered(struct evzk__core *s, struct evzk__request *r,
                               unsigned part, const struct evzk__result *res);

#endif
