/* What a set, a lift and a wait have in common. */
#include "lib/base/mem.h"
#include "recipes/barrier/barrier_internal.h"

void evzk__barrier_end(struct evzk__machine *m)
{
    struct evzk_barrier *b = evzk__barrier_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);

    if (b->cb)
        b->cb(b, m->rc, b->arg);
    evzk__machine_called(s, begun);
}

void evzk__barrier_on_deadline(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
}

void evzk__barrier_destroy(struct evzk__machine *m)
{
    struct evzk_barrier *b = evzk__barrier_of(m);

    evzk__acl_free(&b->acl);
    evzk__free(b->data);
    evzk__free(b->above);
    evzk__free(b);
}
