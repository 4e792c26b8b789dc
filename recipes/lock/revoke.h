/* What a lock does to others' znodes by itself. */
#ifndef EVZK_LOCK_REVOKE_H
#define EVZK_LOCK_REVOKE_H

#include "evzk/lock.h"

/* Has the owners of these znodes look again: writes to each what it says. */
int evzk__lock_touch(evzk_session *s, const char *path, char *const *names,
                     uint32_t n);

/* As evzk_lock_revoke_start() does, with arguments that are known to be good.
 */
int evzk__lock_press(evzk_session *s, const char *path,
                     const evzk_lock_revoke_options *opt,
                     evzk_lock_revoke_cb *cb, void *arg,
                     evzk_lock_revoke **out);

/* Has it ended?  NULL has. */
bool evzk__lock_revoked(const evzk_lock_revoke *r);

#endif
