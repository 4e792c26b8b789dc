/* Makes the plan: which member leads which shard.  The first member has a
 * planner.
 */
#ifndef EVZK_SHARDS_PLANNER_H
#define EVZK_SHARDS_PLANNER_H

#include "lib/machine/machine.h"
#include "recipes/shards/plan.h"

#define EVZK__SHARDS_MEMBERS "members"
#define EVZK__SHARDS_PLAN "plan"

enum {
    EVZK__SHARDS_MEND_US = 5000000
}; /* Until a refused operation is tried again. */

struct evzk__planner;

/* `over`: the last call, with an error that the planner cannot mend.  Otherwise
 * the plan on the server is right; EVZK_ERR_NOAUTH: but for members whose
 * znodes may not be read, which it reads again in a few seconds.  May free the
 * planner. */
typedef void evzk__planner_cb(void *arg, int rc, bool over);

/* `known`, which is copied, is the plan to begin from when there is none on the
 * server. */
int evzk__planner_start(evzk_session *s, const char *path,
                        const struct evzk__shard_list *shards,
                        const struct evzk__plan *known, evzk__planner_cb *cb,
                        void *arg, struct evzk__planner **out);

/* Reads the members and the plan again: the plan was deleted, or spoilt. */
void evzk__planner_look(struct evzk__planner *p);

/* This plan is on the server.  If it is not the planner's last one, the planner
 * looks again: another member, or an old write, has written over its plan. */
void evzk__planner_heard(struct evzk__planner *p,
                         const struct evzk__plan *plan);

/* NULL is a no-op.  No callback comes after it; a write that is under way may
 * still be done. */
void evzk__planner_free(struct evzk__planner *p);

#endif
