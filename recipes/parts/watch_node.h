/* Watches one znode for another recipe: its data, or the names of its children.
 * Nothing in here knows which recipe that is. */
#ifndef EVZK_WATCH_NODE_H
#define EVZK_WATCH_NODE_H

#include "lib/machine/machine.h"

struct evzk__node_watch;

/* Called with what the znode holds, first and after every change: EVZK_OK and
 * the result, borrowed for the call; or EVZK_ERR_NONODE, when no such znode
 * exists.  Any other error is the last call.  May free the watch. */
typedef void evzk__node_watch_cb(void *arg, int rc,
                                 const struct evzk__result *res);

/* Watches the data of <path>/<name>.  Both are copied; `name` has no slash in
 * it.  0, or EVZK_ERR_NOMEM. */
int evzk__watch_node(evzk_session *s, const char *path, const char *name,
                     evzk__node_watch_cb *cb, void *arg,
                     struct evzk__node_watch **out);

/* Watches the names of the children of <path>/<name>.  Here EVZK_ERR_NONODE is
 * the last call. */
int evzk__watch_children(evzk_session *s, const char *path, const char *name,
                         evzk__node_watch_cb *cb, void *arg,
                         struct evzk__node_watch **out);

/* Reads the znode again now, and calls back with the answer. */
void evzk__node_watch_look(struct evzk__node_watch *w);

/* NULL is a no-op.  No callback comes after it. */
void evzk__node_watch_free(struct evzk__node_watch *w);

#endif
