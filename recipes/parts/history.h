/* Whether an answer that seems older than what was told before is to be
 * believed: one rule for all that follow.
 *
 * The servers number their transactions, and each read shows the number of the
 * last change.  A lower number than before means one of two things:
 *
 * - The answer is old.  A server that believes that it leads the others, and
 *   does not any more, may give one.  It is asked again, in a while.
 * - History has begun anew: the servers were set up anew, or restored from an
 *   older state, and count from a lower number.  Then the old session has ended
 *   with the old history, as a rule.  The new one was made by a transaction of
 *   its own, which is newer than all that was ever read; and the server that
 *   answers has done that transaction.  So in a new session no answer is old.
 *
 * Where servers were restored together with the session, an answer that stays
 * old is believed at last. */
#ifndef EVZK_HISTORY_H
#define EVZK_HISTORY_H

#include "lib/machine/machine.h"

/* All zero in the beginning. */
struct evzk__history {
    uint16_t session_no; /* Of the last answer that was believed. */
    uint8_t doubts;      /* Answers in a row that were not. */
};

/* An answer came; `older`: its number is lower than the last one told.  True:
 * it is not believed, and to be asked for again in a while
 * (evzk__machine_again_later()). */
bool evzk__history_doubts(struct evzk__history *h,
                          const struct evzk__machine *m, bool older);

/* Is this the first answer of a session?  Then the same number may be another
 * change, of another history. */
bool evzk__history_is_another(const struct evzk__history *h,
                              const struct evzk__machine *m);

/* A number for these bytes, and those before, whose number is `print`: to tell
 * contents apart that have the same number.  0: there were none before. */
uint64_t evzk__history_print(uint64_t print, const void *data, size_t len);

#endif
