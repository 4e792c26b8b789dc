/* Goes round the machines of a session, and has what they watch looked at: see
 * request/look.h. */
#ifndef EVZK_ROUNDS_H
#define EVZK_ROUNDS_H

#include <stdint.h>

struct evzk__core;

/* A round takes three session time-outs, and at most so long.  Each machine has
 * its moment in it, so that looks are spread evenly.  With more machines than
 * fit (12,000 in half a minute) a round takes longer. */
enum { EVZK__ROUND_MAX_US = 30000000, EVZK__VISIT_MIN_US = 2500 };

/* Visits the machines whose moment has come. */
void evzk__rounds_step(struct evzk__core *s);

/* When it is to be called again; INT64_MAX: not before something happens. */
int64_t evzk__rounds_next_us(const struct evzk__core *s);

#endif
