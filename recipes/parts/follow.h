/* One znode, there or not, and every change of it; or of who is in it: for
 * other recipes. */
#ifndef EVZK_FOLLOW_H
#define EVZK_FOLLOW_H

#include "lib/machine/machine.h"

struct evzk__follow;

/* Hears what is there, at first and of every change: EVZK_OK with the result,
 * borrowed for the call, or EVZK_ERR_NONODE.  Another error is the last word.
 * May free it. */
typedef void evzk__follow_cb(void *arg, int rc, const struct evzk__result *res);

/* <path>/<name>, which are copied; `name` has no slash in it.  0, or
 * EVZK_ERR_NOMEM. */
int evzk__follow_start(evzk_session *s, const char *path, const char *name,
                       evzk__follow_cb *cb, void *arg,
                       struct evzk__follow **out);

/* The same, of the names of what is in <path>/<name>.  That it is not there is
 * the last word. */
int evzk__follow_children(evzk_session *s, const char *path, const char *name,
                          evzk__follow_cb *cb, void *arg,
                          struct evzk__follow **out);

/* NULL is a no-op.  No callback follows. */
/* Looks at it now, and tells what is there. */
void evzk__follow_look(struct evzk__follow *f);

void evzk__follow_free(struct evzk__follow *f);

#endif
