/* The end of a directory's sequence numbers.
 *
 * A server 3.8.0 that has given the last number gives it again, or a number
 * from the far end, to later contenders.  Other versions go on from the far
 * end. */
#ifndef EVZK_NUMBERS_H
#define EVZK_NUMBERS_H

#include "lib/machine/machine.h"

/* May a contender with this number, in a directory with this stat, not be the
 * only one that has it? */
bool evzk__numbers_used_up(int32_t seq, const struct evzk__stat *dir);

#endif
