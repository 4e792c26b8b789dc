/* Does the session's chroot exist, below which nothing was found? */
#include "recipes/parts/rooted.h"

int evzk__rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    return rc != EVZK_OK ? rc : evzk__machine_finish(m, EVZK_OK);
}
