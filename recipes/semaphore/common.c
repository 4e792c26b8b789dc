/* What all states of an attempt use: the reports to the user, and its znode. */
#include "recipes/semaphore/semaphore_internal.h"

#include "lib/base/mem.h"
#include "lib/base/view.h"
#include "recipes/parts/dialect.h"

/* May free the attempt: touches nothing after. */
static void call(struct evzk_semaphore *p, evzk_semaphore_event ev, int rc)
{
    evzk_session *s = evzk__machine_session(&p->m);
    int64_t begun = evzk__machine_call_out(s);

    if (p->cb && (evzk_semaphore_event_is_final(ev) || evzk__may_tell(s)))
        p->cb(p, ev, rc, p->arg);
    evzk__machine_called(s, begun);
}

static bool is_told(const struct evzk_semaphore *p)
{
    return p->reported == SEMAPHORE_FAILED || p->reported == SEMAPHORE_LOST;
}

void evzk__semaphore_tell(struct evzk_semaphore *p, evzk_semaphore_event ev,
                          int rc)
{
    if (!is_told(p))
        call(p, ev, rc);
}

void evzk__semaphore_end_early(struct evzk_semaphore *p, int rc)
{
    bool acquired = evzk__semaphore_acquired(p);
    evzk_semaphore_event ev = EVZK_SEMAPHORE_FAILED;

    if (is_told(p))
        return;
    if (p->reported == SEMAPHORE_RELEASE)
        ev = EVZK_SEMAPHORE_RELEASED;
    else if (acquired)
        ev = EVZK_SEMAPHORE_LOST;
    p->reported = acquired ? SEMAPHORE_LOST : SEMAPHORE_FAILED;
    call(p, ev, rc);
}

/* The end of the session proves that all is gone. */
void evzk__semaphore_end(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);
    bool proved = p->canceled && m->rc == EVZK_ERR_EXPIRED;

    evzk__semaphore_end_early(p, proved ? EVZK_ERR_CANCELED : m->rc);
}

void evzk__semaphore_on_deadline(struct evzk__machine *m)
{
    if (evzk__semaphore_of(m)->canceled)
        return; /* A cancel ends only when all is proved gone. */
    evzk__machine_stop(m, EVZK_ERR_TIMEOUT);
    evzk__semaphore_end_early(evzk__semaphore_of(m), m->rc);
}

void evzk__semaphore_detach(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    evzk__timer_free(p->again);
    p->again = NULL;
    evzk_lock_free(p->turn);
    evzk_lock_free(p->old_turn);
    p->turn = p->old_turn = NULL;
}

void evzk__semaphore_over(struct evzk__machine *m)
{
    evzk__view_end(evzk__semaphore_of(m)->lease);
}

bool evzk__semaphore_left(struct evzk__machine *m, unsigned i,
                          struct evzk__left *out)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    out->name = p->name;
    out->czxid = (int64_t)p->token;
    return i == 0 && p->may_stand;
}

void evzk__semaphore_destroy(struct evzk__machine *m)
{
    struct evzk_semaphore *p = evzk__semaphore_of(m);

    evzk__timer_free(p->again);
    evzk__acl_free(&p->acl);
    evzk__free(p->data);
    evzk__free(p->turn_path);
    evzk__free(p->turn_node);
    evzk_lease_unref(p->lease);
    evzk__free(p);
}

struct evzk__create_args evzk__semaphore_args(struct evzk_semaphore *p)
{
    struct evzk__create_args a = evzk__args_with_acl(&p->m, p->name, &p->acl);

    if (p->data) {
        a.data = p->data;
        a.len = p->len;
    }
    a.dir = evzk__dialect_dir(p->dialect);
    return a;
}

bool evzk__semaphore_owns(struct evzk_semaphore *p,
                          const struct evzk__stat *stat)
{
    if (!evzk__machine_owns(&p->m, stat))
        return false;
    if (p->token == 0)
        p->token = (uint64_t)stat->czxid;
    return p->token == (uint64_t)stat->czxid;
}
