/* What a handle tells its user. */
#include "recipes/chubby/chubby_internal.h"

void evzk__chubby_tell(struct evzk_chubby *h, evzk_chubby_event ev, int rc,
                       const char *name)
{
    evzk_session *s = evzk__machine_session(&h->m);
    int64_t begun;

    if (!s) /* The user has forked, and this is the child. */
        return;
    begun = evzk__machine_call_out(s);
    if (h->cb && (evzk_chubby_event_is_final(ev) || evzk__may_tell(s)))
        h->cb(h, ev, rc, name, h->arg);
    evzk__machine_called(s, begun);
}

void evzk__chubby_spoil(struct evzk_chubby *h, int rc)
{
    if (h->invalid == EVZK_OK)
        h->invalid = rc;
    evzk__machine_ask(&h->m);
}
