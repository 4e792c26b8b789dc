/* Makes the plan of who leads which shard: while one is the first of the
 * members. */
#ifndef EVZK_SHARDS_PLANNER_H
#define EVZK_SHARDS_PLANNER_H

#include "lib/machine/machine.h"
#include "recipes/shards/plan.h"

#define EVZK__SHARDS_MEMBERS "members"
#define EVZK__SHARDS_PLAN "plan"

enum { EVZK__SHARDS_MEND_US = 5000000 }; /* Where an ACL, say, is in the way. */

struct evzk__planner;

/* `over`: its last word, an error that it cannot mend.  Else it is at rest with
 * a plan that is right; EVZK_ERR_NOAUTH: but for members that may not be read,
 * which it looks at again in a while.  May free it. */
typedef void evzk__planner_cb(void *arg, int rc, bool over);

/* `known`, which is copied, is the plan that it begins from when there is none
 * on the server. */
int evzk__planner_start(evzk_session *s, const char *path, uint32_t n_shards,
                        const struct evzk__plan *known, evzk__planner_cb *cb,
                        void *arg, struct evzk__planner **out);

/* The plan has gone, or is none any more: it looks, and writes one. */
void evzk__planner_look(struct evzk__planner *p);

/* This is the plan now: it looks, too, if that is not its last one, but one
 * that was written late, or by another. */
void evzk__planner_heard(struct evzk__planner *p,
                         const struct evzk__plan *plan);

/* NULL is a no-op.  No callback follows; a write that is under way may still be
 * done. */
void evzk__planner_free(struct evzk__planner *p);

#endif
