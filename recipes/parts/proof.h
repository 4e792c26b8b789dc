/* A proof that an ephemeral znode is one's own: for machines that delete, or
 * take away, a znode of which another one may stand under the same name.
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
 *
 * Better is a name with a GUID in it: no other process makes a znode of that
 * name, and a delete takes away the own one or none.  Only an operator may put
 * a copy there, while the process is cut off.  So there a proof lasts as long
 * as the connection on which the znode was made, or seen, and costs nothing
 * until one is lost: evzk__proof_last(), evzk__proof_lasts().  (Locks and
 * members of groups watch their znodes, too: lock/own_node.c, group/sight.c.)
 *
 * How it can fail.  Between the look and the delete is a round trip, and a
 * request may be held up on its way: what is deleted and made anew meanwhile is
 * not seen.  While a connection stands, an operator's copy is not seen either.
 */
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

struct evzk__lasting_proof {
    bool good;
    uint16_t connection_no;
};

/* An answer of the present connection has shown it. */
static inline void evzk__proof_last(struct evzk__lasting_proof *p,
                                    const struct evzk__machine *m)
{
    *p = (struct evzk__lasting_proof){.good = true,
                                      .connection_no = m->seen.connection_no};
}

static inline bool evzk__proof_lasts(const struct evzk__lasting_proof *p,
                                     const struct evzk__machine *m)
{
    return p->good && evzk__machine_is_on(m, p->connection_no);
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
