/* Leader election: a place in the queue of lock.c; and, when the first
 * candidate is ready, a znode that announces it (election/announce.c).  This
 * file has the calls: they check their arguments, note the request, and post an
 * event.
 *
 * How it can fail: as a lock can.  If the leader znode cannot be made, the
 * candidate is told, and stays elected.
 */
#include "evzk/election.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/machine/refuse.h"
#include "recipes/kinds.h"
#include "recipes/lock/lock_internal.h"

/* "<epoch> <node>\n", and a zero byte. */
enum { HEAD_MAX = 20 + 1 + EVZK__NAME_MAX + 1 + 1 };

struct evzk_election {
    evzk_lock *l; /* Owned. */
    evzk_election_cb *cb;
    void *arg;
};

struct evzk_lock *evzk__election_lock(const struct evzk_election *e)
{
    return e->l;
}

static evzk_election_event event_of(evzk_lock_event ev)
{
    switch ((int)ev) {
    case EVZK_LOCK_GRANTED:
        return EVZK_ELECTION_ELECTED;
    case LOCK_ANNOUNCED:
        return EVZK_ELECTION_LEADING;
    case EVZK_LOCK_SUSPENDED:
        return EVZK_ELECTION_SUSPENDED;
    case EVZK_LOCK_RESUMED:
        return EVZK_ELECTION_RESUMED;
    case EVZK_LOCK_REQUEUED:
        return EVZK_ELECTION_REQUEUED;
    case EVZK_LOCK_REVOKE_REQUESTED:
        return EVZK_ELECTION_RESIGN_REQUESTED;
    case EVZK_LOCK_RELEASED:
        return EVZK_ELECTION_RESIGNED;
    case EVZK_LOCK_LOST:
        return EVZK_ELECTION_LOST;
    default:
        return EVZK_ELECTION_FAILED;
    }
}

/* May free us: touches nothing after. */
static void heard(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct evzk_election *e = arg;

    (void)l;
    if ((int)ev != LOCK_PLACED)
        e->cb(e, event_of(ev), rc, e->arg);
}

int evzk_election_volunteer(evzk_session *s, const char *path,
                            const evzk_election_options *opt,
                            evzk_election_cb *cb, void *arg,
                            evzk_election **out)
{
    static const evzk_election_options defaults;
    evzk_lock_options lock = {0};
    struct evzk__call call = evzk__call_of(s, __func__);
    struct evzk_election *e;
    int rc;

    if (!opt)
        opt = &defaults;
    if (evzk__broken(&call, cb, "cb", EVZK__NOT_NULL) ||
        evzk__broken(&call, out, "out", EVZK__NOT_NULL) ||
        evzk__broken_reserved(&call, opt->reserved))
        return EVZK_ERR_INVAL;
    lock.data = opt->data;
    lock.data_len = opt->data_len;
    lock.timeout_ms = opt->timeout_ms;
    lock.no_requeue = opt->no_requeue;
    lock.no_own_watch = opt->no_own_watch;
    lock.revocable = opt->revocable;
    lock.dialect = opt->dialect;
    lock.acl = opt->acl;
    lock.acl_count = opt->acl_count;
    e = evzk__zalloc(sizeof *e);
    if (!e)
        return EVZK_ERR_NOMEM;
    e->cb = cb;
    e->arg = arg;
    rc =
        evzk__lock_begin(s, &evzk__election_kind, path, &lock, heard, e, &e->l);
    if (rc == EVZK_OK)
        *out = e;
    else
        evzk__free(e);
    return rc;
}

/* Puts together the data of the leader znode. */
static int compose(struct evzk_lock *l, const void *data, size_t len)
{
    char head[HEAD_MAX];
    size_t n = (size_t)snprintf(head, sizeof head, "%" PRIu64 " %s\n", l->token,
                                l->own);
    char *said = evzk__zalloc(n + len);

    if (said && !l->given)
        l->given = evzk__zalloc(sizeof *l->given);
    if (!said || !l->given) {
        evzk__free(said);
        return EVZK_ERR_NOMEM;
    }
    memcpy(said, head, n);
    if (len > 0)
        memcpy(said + n, data, len);
    evzk__free(l->given->leader.text);
    l->given->leader.text = said;
    l->given->leader.len = (uint32_t)(n + len);
    return EVZK_OK;
}

int evzk_election_acknowledge(evzk_election *e, const void *data, size_t len)
{
    return e ? evzk__election_say(e->l, __func__, data, len) : EVZK_ERR_INVAL;
}

int evzk__election_say(evzk_lock *l, const char *function, const void *data,
                       size_t len)
{
    struct evzk__call call =
        evzk__call_of(evzk__machine_session(&l->m), function);
    int rc;

    if (evzk__broken_data(&call, data, len, EVZK_ELECTION_DATA_MAX))
        return EVZK_ERR_INVAL;
    if (evzk__machine_in_child(&l->m))
        return EVZK_ERR_FORKED;
    if (l->m.place.ended || l->m.stopping || !evzk__lock_granted(l) ||
        l->user_asked)
        return EVZK_ERR_STATE;
    rc = compose(l, data, len);
    if (rc != EVZK_OK)
        return rc;
    l->user_asked = true;
    evzk__machine_ask(&l->m);
    return EVZK_OK;
}

int evzk_election_resign(evzk_election *e)
{
    if (!e)
        return EVZK_ERR_INVAL;
    return evzk__lock_granted(e->l) ? evzk_lock_release(e->l)
                                    : evzk_lock_cancel(e->l);
}

void evzk_election_free(evzk_election *e)
{
    if (e) {
        evzk_lock_free(e->l);
        evzk__free(e);
    }
}

bool evzk_election_elected(const evzk_election *e)
{
    return e && evzk_lock_held(e->l);
}

bool evzk_election_leading(const evzk_election *e)
{
    return evzk_election_elected(e) && e->l->reported == REPORTED_LEADING;
}

int evzk_election_lease(evzk_election *e, evzk_lease **out)
{
    return evzk__lock_lease(e ? e->l : NULL, __func__, out);
}

uint32_t evzk_election_lease_ms(const evzk_election *e)
{
    return e ? evzk_lock_lease_ms(e->l) : 0;
}

uint64_t evzk_election_epoch(const evzk_election *e)
{
    return e ? evzk_lock_token(e->l) : 0;
}

const char *evzk_election_node(const evzk_election *e)
{
    return e ? evzk_lock_node(e->l) : "";
}

const char *evzk_election_state(const evzk_election *e)
{
    return e ? evzk_lock_state(e->l) : "";
}
