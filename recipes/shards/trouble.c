/* Notes operations that fail for a while: an ACL is in the way, or a server
 * refuses.
 *
 * No change of a znode by another client may end the object.  So a member that
 * may not read or write a znode goes on with what it knows, says so in the log
 * and in its figures, and tries again every few seconds (shards/mend.c).
 * Servers that hang up end the connection with each try: so what a planner asks
 * for then is tried again only every half minute.
 */
#include "recipes/shards/shards_internal.h"

static const char *const what[EVZK__TROUBLES] = {
    [EVZK__TROUBLE_MEMBER] = "the members before this one cannot be seen",
    [EVZK__TROUBLE_PLAN] = "the plan cannot be read",
    [EVZK__TROUBLE_PLANNER] = "the plan cannot be made for all"};

void evzk__shards_mend_soon(struct evzk_shards *a)
{
    if (a->mends_soon || a->phase == EVZK__SHARDS_ENDED)
        return;
    a->mends_soon = true;
    evzk__timer_set(a->mend_timer, EVZK__SHARDS_MEND_US);
}

static unsigned rests(int rc)
{
    if (rc == EVZK_OK)
        return 0;
    return rc == EVZK_ERR_TOOLARGE ? EVZK__SHARDS_RESTS : 1;
}

void evzk__shards_troubled(struct evzk_shards *a, enum evzk__trouble which,
                           int rc)
{
    int was = a->trouble[which].rc;

    if (rc != EVZK_OK && rc != was)
        evzk__log(a->s, EVZK_LOG_WARN,
                  "shards %s: %s: %s; it is tried again every %u s", a->path,
                  what[which], evzk_errname(rc),
                  rests(rc) * (EVZK__SHARDS_MEND_US / 1000000));
    if (rc == EVZK_OK && was != EVZK_OK)
        evzk__log(a->s, EVZK_LOG_INFO, "shards %s: no longer: %s", a->path,
                  what[which]);
    a->trouble[which].rc = rc;
    a->trouble[which].waits = rests(rc);
    if (rc != EVZK_OK)
        evzk__shards_mend_soon(a);
}
