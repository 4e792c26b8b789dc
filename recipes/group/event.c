/* What a member tells its user; and its end. */
#include "lib/base/mem.h"
#include "lib/base/view.h"
#include "recipes/group/group_internal.h"

const char *evzk_member_event_name(evzk_member_event event)
{
    switch (event) {
    case EVZK_MEMBER_JOINED:
        return "JOINED";
    case EVZK_MEMBER_UPDATED:
        return "UPDATED";
    case EVZK_MEMBER_SUSPENDED:
        return "SUSPENDED";
    case EVZK_MEMBER_RESUMED:
        return "RESUMED";
    case EVZK_MEMBER_REJOINING:
        return "REJOINING";
    case EVZK_MEMBER_CONFLICT:
        return "CONFLICT";
    case EVZK_MEMBER_LEFT:
        return "LEFT";
    case EVZK_MEMBER_FAILED:
        return "FAILED";
    }
    return "?";
}

bool evzk_member_event_is_final(evzk_member_event event)
{
    return event == EVZK_MEMBER_LEFT || event == EVZK_MEMBER_FAILED;
}

void evzk__member_tell(struct evzk_member *d, evzk_member_event ev, int rc)
{
    evzk_session *s = evzk__machine_session(&d->m);
    int64_t begun = evzk__machine_call_out(s);

    if (d->cb && (evzk_member_event_is_final(ev) || evzk__may_tell(s)))
        d->cb(d, ev, rc, d->arg);
    evzk__machine_called(s, begun);
}

/* The next time that it joins, it has another lease. */
void evzk__member_over(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    evzk__view_end(d->lease);
    evzk_lease_unref(d->lease);
    d->lease = NULL;
}

void evzk__member_lose(struct evzk_member *d, int rc)
{
    if (d->reported != REPORTED_JOINED)
        return;
    evzk__member_over(&d->m);
    d->reported = REPORTED_REJOINING;
    evzk__member_tell(d, EVZK_MEMBER_REJOINING, rc);
}

void evzk__member_destroy(struct evzk__machine *m)
{
    struct evzk_member *d = evzk__member_of(m);

    evzk__acl_free(&d->own_acl);
    evzk__free(d->data.v);
    evzk__free(d->next.v);
    evzk__free(d->former.v);
    evzk__free(d->path);
    evzk__free(d);
}
