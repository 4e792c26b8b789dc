/* The server's answer to a machine's request: late answers are dropped, those
 * that say nothing are asked for again, and the others go to the row. */
#include "lib/machine/machine_internal.h"

enum { REFUSALS = 8 };

static bool part_gave(const struct evzk__reply *reply, int rc)
{
    return reply->rc == rc || reply->first_rc == rc;
}

/* Does the answer say nothing?  A server that refuses for an unknown reason may
 * throttle, and may answer in a while; so it is asked again, some times.  Each
 * request counts once, and only as a whole: a step that is answered does not
 * excuse a later one that stays refused. */
static bool says_nothing(struct evzk__machine *m,
                         const struct evzk__reply *reply)
{
    if (part_gave(reply, EVZK_ERR_CONNLOSS) || part_gave(reply, EVZK_ERR_NOMEM))
        return true;
    if (!part_gave(reply, EVZK_ERR_SERVER)) {
        if (reply->last)
            m->refused = 0;
        return false;
    }
    if (m->refused == REFUSALS)
        return false;
    if (reply->last)
        m->refused++;
    return true;
}

/* The settling write was refused, and what is behind it was read: the row
 * looks whether it shows a znode. */
static bool may_show(struct evzk__machine *m, const struct evzk__reply *reply)
{
    return evzk__machine_row(m)->flags & EVZK__SIGHTS &&
           reply->first_rc == EVZK_ERR_SERVER && reply->rc != EVZK_ERR_SERVER &&
           reply->rc != EVZK_ERR_CONNLOSS && reply->rc != EVZK_ERR_NOMEM;
}

int evzk__machine_refused(struct evzk__machine *m,
                          const struct evzk__reply *reply)
{
    if (m->refused == REFUSALS)
        return reply->first_rc;
    m->refused++;
    return evzk__machine_again(m);
}

/* Has a row that may be entered again repeat its request, if the answer says
 * nothing. */
static bool ask_again(struct evzk__machine *m, const struct evzk__reply *reply)
{
    bool lost = part_gave(reply, EVZK_ERR_CONNLOSS);

    if (!(evzk__machine_row(m)->flags & EVZK__RETRY) || may_show(m, reply) ||
        !says_nothing(m, reply))
        return false;
    evzk__machine_set_event(m, lost ? EVZK__ON_RECONNECTED : EVZK__ON_REPLY,
                            lost ? EVZK_OK : reply->rc);
    if (reply->last)
        evzk__machine_repeat(m);
    return true;
}

/* Gives the answer to the row that asked for it. */
static void hear(struct evzk__machine *m, const struct evzk__reply *reply,
                 uint16_t epoch)
{
    struct evzk__event e = {.type = EVZK__EV_REPLY, .reply = reply};

    if (m->place.ended || m->epoch != epoch)
        return; /* An earlier state made the request. */
    if (evzk__machine_leaves(m) && reply->last) {
        evzk__machine_set_event(m, EVZK__ON_STOP, m->rc);
        if (m->kind->on_stop)
            m->kind->on_stop(m, reply);
        evzk__machine_move(m, evzk__machine_row(m)->stop);
    } else if (!ask_again(m, reply))
        evzk__machine_dispatch(m, &e);
}

/* Does the answer say what the own znode is, or was?  Only a row that looks at
 * the answer knows whether that znode is still the machine's own: it may be
 * another session's znode of the same name, and the watch may stand on that. */
static bool has_read_own(const struct evzk__machine *m,
                         const struct evzk__reply *reply)
{
    return m->place.req.op == EVZK__WATCH && evzk__place_read_own(&m->place) &&
           reply->first_rc == EVZK_OK;
}

void evzk__machine_answered(struct evzk__request *r,
                            const struct evzk__reply *reply)
{
    struct evzk__machine *m = evzk__machine_of(evzk__place_of(r));
    uint16_t epoch = m->epoch;

    if (m->place.ended) {
        if (reply->last && !evzk__left_over_answered(m, reply))
            evzk__machine_wind_up(m);
        return;
    }
    m->refs++;
    if (has_read_own(m, reply))
        m->place.own_verified = false; /* Until a row has looked. */
    m->refused_for_good = part_gave(reply, EVZK_ERR_TOOLARGE);
    evzk__machine_catch_up(m);
    m->refused_for_good = false;
    hear(m, reply, epoch);
    if (!m->place.ended && (m->pending || m->place.news))
        evzk__machine_post(m); /* Events that came meanwhile. */
    evzk__machine_linger(m);
    evzk__machine_unref(m);
}
