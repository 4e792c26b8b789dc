/* One write to a znode, for other recipes. */
#ifndef EVZK_ONCE_H
#define EVZK_ONCE_H

#include "lib/machine/machine.h"

struct evzk__once;

/* Hears the end, once.  May free it. */
typedef void evzk__once_cb(void *arg, int rc);

/* Writes to <path>/<name>, in whatever version, again and again until there is
 * an answer.  All is copied. */
int evzk__once_set(evzk_session *s, const char *path, const char *name,
                   const void *data, size_t len, evzk__once_cb *cb, void *arg,
                   struct evzk__once **out);

/* NULL is a no-op.  No callback follows. */
void evzk__once_free(struct evzk__once *o);

#endif
