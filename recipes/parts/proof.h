/* A proof that an ephemeral znode is one's own: for machines that delete, or
 * take away, a znode whose name another session's znode may have, too.
 *
 * A delete names a path.  While a machine had its znode, an operator may have
 * deleted that, and another process have made the next one, of the same name;
 * the machine hears of it when it looks.  So in front of the request that
 * deletes stands a look, which compares the owner and, where it is known, the
 * czxid:
 *
 *     LOOKING --> DELETING     evzk__proof_give() when the look shows the own
 *        ^-----------'         one; DELETING sends only if evzk__proof_use()
 *
 * A proof is good for one request, which is asked with EVZK__PROVED.  DELETING
 * is a row with EVZK__RETRY: when a connection is lost, or the request has to
 * wait for memory, it is entered again, has no proof then, and goes back.
 * (Locks, whose names have a GUID, and members of groups have their own way:
 * lock/own_node.c, group/sight.c.)
 *
 * How it can fail.  Between the look and the delete is a round trip, and a
 * request may be held up on its way: what is deleted and made anew meanwhile is
 * not seen. */
#ifndef EVZK_PROOF_H
#define EVZK_PROOF_H

#include "lib/machine/machine.h"

struct evzk__proof {
    bool good;
};

static inline void evzk__proof_give(struct evzk__proof *p) { p->good = true; }

/* Too much time has passed. */
static inline void evzk__proof_drop(struct evzk__proof *p) { p->good = false; }

static inline bool evzk__proof_use(struct evzk__proof *p)
{
    bool good = p->good;

    p->good = false;
    return good;
}

/* Is this the znode that the present session has made?  @czxid: its, as far as
 * that is known; 0: not. */
static inline bool evzk__proof_is_own(const struct evzk__machine *m,
                                      const struct evzk__reply *reply,
                                      uint64_t czxid)
{
    return reply->rc == EVZK_OK && evzk__machine_owns(m, &reply->res->stat) &&
           (czxid == 0 || czxid == (uint64_t)reply->res->stat.czxid);
}

#endif
