/* Does the session's chroot exist, below which nothing was found? */
#include "recipes/parts/rooted.h"

enum { FIRST };

int evzk__rooted(struct evzk__machine *m, const struct evzk__event *e)
{
    int rc = evzk__chroot_looked(e);

    return rc != EVZK_OK ? rc : evzk__machine_finish(m, EVZK_OK);
}

void evzk__look_root(struct evzk__machine *m)
{
    if (evzk__watch_missing(m, EVZK__OWN))
        evzk__machine_move(m, FIRST);
    else
        evzk__look_chroot(m);
}
