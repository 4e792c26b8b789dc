/* Refusals that pass: a quota is raised, an ACL is opened, a directory comes
 * back.
 *
 * What acts by itself, and has once stood, does not end with such a refusal: it
 * waits, says so, and asks again in a while, as long as a round of the
 * session's looks takes (evzk__machine_round_ms()).  What begins fails with the
 * error, so that its user learns of a wrong ACL at once.
 *
 * How it can fail.  A refusal that never passes is asked for ever: rarely, and
 * the log says once why. */
#ifndef EVZK_PASSING_H
#define EVZK_PASSING_H

#include "lib/machine/machine.h"

/* May the same request be granted later, without a change of its own?  Too
 * large it stays, and each try would cost the session its connection. */
static inline bool evzk__refusal_may_pass(int rc)
{
    switch (rc) {
    case EVZK_ERR_NOAUTH:
    case EVZK_ERR_QUOTA:
    case EVZK_ERR_SERVER:
    case EVZK_ERR_NONODE:
    case EVZK_ERR_EPHEMERAL:
    case EVZK_ERR_NOCHROOT:
        return true;
    default:
        return false;
    }
}

#endif
