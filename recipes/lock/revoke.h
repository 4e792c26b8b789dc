/* Writes that a lock makes to other contenders' znodes by itself. */
#ifndef EVZK_LOCK_REVOKE_H
#define EVZK_LOCK_REVOKE_H

#include "evzk/lock.h"

/* Notifies the owners of these znodes: writes to each znode the data that it
 * has. */
int evzk__lock_notify(evzk_session *s, const char *path, char *const *names,
                      uint32_t n);

/* evzk_lock_revoke_start(), with arguments that are known to be good.
 */
int evzk__lock_revoke_lower(evzk_session *s, const char *path,
                            const evzk_lock_revoke_options *opt,
                            evzk_lock_revoke_cb *cb, void *arg,
                            evzk_lock_revoke **out);

/* Has the revocation ended?  NULL counts as ended. */
bool evzk__lock_revoked(const evzk_lock_revoke *r);

#endif
