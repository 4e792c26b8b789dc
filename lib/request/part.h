/* The parts of a request: what each asks of the C client. */
#ifndef EVZK_PART_H
#define EVZK_PART_H

#include "lib/request/request.h"

/* How many there are before those of the request itself: one that takes an old
 * watch off, or none. */
uint32_t evzk__part_lead(const struct evzk__request *r);

/* How many the request itself has. */
uint32_t evzk__parts_of(const struct evzk__request *r);

/* Sends the part that the slot is for.  0, or an error: then it was not sent,
 * and the watches are as they were. */
int evzk__part_send(struct evzk__core *s, struct evzk__request *r,
                    struct evzk__slot *slot);

/* Notes what became of the watch that it set, if it sets one, and of a sync
 * that others rely on. */
void evzk__part_answered(struct evzk__core *s, struct evzk__request *r,
                         unsigned part, const struct evzk__result *res);

#endif
