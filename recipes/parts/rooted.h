/* The row ROOTING of a recipe that found nothing at its path.  That is a good
 * end if the session's chroot exists; else it is an error.
 *
 *     ROW(ROOTING, evzk__look_chroot, evzk__rooted, ASIDE, ENDED, LISTING,
 *         RETRY, ON(REPLY, ENDED, FAIL)), */
#ifndef EVZK_ROOTED_H
#define EVZK_ROOTED_H

#include "lib/machine/machine.h"

int evzk__rooted(struct evzk__machine *m, const struct evzk__event *e);

/* The entry for a recipe that goes on where nothing is, and has told nothing:
 * its own watch stands on what is missing.  Without that watch, which goes with
 * its connection, the machine's first row is entered again. */
void evzk__look_root(struct evzk__machine *m);

#endif
