/* What a set, a lift and a wait have in common. */
#include "lib/base/mem.h"
#include "recipes/barrier/barrier_internal.h"

/* Tells once. */
void evzk__barrier_end(struct evzk__machine *m)
{
    struct evzk_barrier *b = evzk__barrier_of(m);
    evzk_session *s = evzk__machine_session(m);
    int64_t begun = evzk__machine_call_out(s);
    evzk_barrier_cb *cb = b->cb;

    b->cb = NULL;
    if (cb)
        cb(b, m->rc, b->arg);
    evzk__machine_called(s, begun);
}

/* A cancel and a time-out do not wait for an answer. */
void evzk__barrier_on_stop(struct evzk__machine *m,
                           const struct evzk__reply *reply)
{
    if (!reply)
        evzk__barrier_end(m);
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
