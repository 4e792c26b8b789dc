/* Writes the data of one znode for another recipe. */
#ifndef EVZK_WRITE_ONCE_H
#define EVZK_WRITE_ONCE_H

#include "lib/machine/machine.h"

struct evzk__write_once;

/* Called once, with the outcome.  May free the write. */
typedef void evzk__write_once_cb(void *arg, int rc);

/* Writes `data` to <path>/<name>, whatever version the znode has, and repeats
 * the write until a server answers.  Everything is copied.  0, or
 * EVZK_ERR_NOMEM. */
int evzk__write_once(evzk_session *s, const char *path, const char *name,
                     const void *data, size_t len, evzk__write_once_cb *cb,
                     void *arg, struct evzk__write_once **out);

/* NULL is a no-op.  No callback comes after it. */
void evzk__write_once_free(struct evzk__write_once *o);

#endif
