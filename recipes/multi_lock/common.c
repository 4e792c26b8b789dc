/* What all states of a multi-lock use: the reports to the user, and the end.
 *
 * How it can fail.  The end may be told before the last part is gone: when the
 * time is over, and when a part is lost.  Then the parts are freed, and delete
 * their znodes in the background. */
#include "recipes/multi_lock/multi_lock_internal.h"

#include "lib/base/mem.h"

/* May free the multi-lock: touches nothing after. */
static void call(struct evzk_multi_lock *p, evzk_multi_lock_event ev, int rc)
{
    evzk_session *s = evzk__machine_session(&p->m);
    int64_t begun = evzk__machine_call_out(s);

    if (p->cb && (evzk_multi_lock_event_is_final(ev) || evzk__may_tell(s)))
        p->cb(p, ev, rc, p->arg);
    evzk__machine_called(s, begun);
}

static bool is_told(const struct evzk_multi_lock *p)
{
    return p->reported == MULTI_FAILED || p->reported == MULTI_LOST;
}

void evzk__multi_lock_tell(struct evzk_multi_lock *p, evzk_multi_lock_event ev,
                           int rc)
{
    if (!is_told(p))
        call(p, ev, rc);
}

void evzk__multi_lock_tell_end(struct evzk_multi_lock *p, int rc)
{
    bool granted = evzk__multi_lock_granted(p);
    evzk_multi_lock_event ev = EVZK_MULTI_LOCK_FAILED;

    if (is_told(p))
        return;
    if (p->reported == MULTI_RELEASE)
        ev = EVZK_MULTI_LOCK_RELEASED;
    else if (granted)
        ev = EVZK_MULTI_LOCK_LOST;
    p->reported = granted ? MULTI_LOST : MULTI_FAILED;
    call(p, ev, rc);
}

struct multi_part *evzk__multi_lock_next(struct evzk_multi_lock *p)
{
    for (uint16_t i = 0; i < p->n_parts; i++) {
        if (p->part[i].state != PART_HELD)
            return &p->part[i];
    }
    return NULL;
}

void evzk__multi_lock_on_deadline(struct evzk__machine *m)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);
    struct multi_part *next = evzk__multi_lock_next(p);

    if (p->leaves && p->rc == EVZK_ERR_CANCELED)
        return; /* A cancel ends only when all is proved gone. */
    if (!p->leaves && next)
        p->blame = next->index;
    evzk__machine_stop(m, p->leaves ? p->rc : EVZK_ERR_TIMEOUT);
    evzk__multi_lock_tell_end(p, m->rc);
}

void evzk__multi_lock_detach(struct evzk__machine *m)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);

    evzk__timer_free(p->again);
    p->again = NULL;
    for (uint16_t i = 0; i < p->n_parts; i++) {
        evzk_lock_free(p->part[i].lock);
        p->part[i].lock = NULL;
        p->part[i].state = PART_NONE;
    }
}

void evzk__multi_lock_destroy(struct evzk__machine *m)
{
    struct evzk_multi_lock *p = evzk__multi_lock_of(m);

    evzk__timer_free(p->again);
    for (uint16_t i = 0; i < p->n_parts; i++)
        evzk__free(p->part[i].path);
    evzk__acl_free(&p->acl);
    evzk__free(p->data);
    evzk__free(p);
}
