/* The row ROOTING of a recipe that found nothing at its path.  That is a good
 * end if the session's chroot exists; else it is an error.
 *
 *     ROW(ROOTING, evzk__look_chroot, evzk__rooted, ASIDE, ENDED, LISTING,
 *         RETRY, ON(REPLY, ENDED, FAIL)), */
#ifndef EVZK_ROOTED_H
#define EVZK_ROOTED_H

#include "lib/machine/machine.h"

int evzk__rooted(struct evzk__machine *m, const struct evzk__event *e);

#endif
