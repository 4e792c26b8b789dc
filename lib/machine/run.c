/* One look at a machine: hands out all that was posted to it, in one order. */
#include "lib/machine/machine_internal.h"

#include "lib/request/path_watch.h"

static void start(struct evzk__machine *m)
{
    evzk__machine_set_event(m, EVZK__ON_START, EVZK_OK);
    evzk__machine_set_state(m, 0);
}

static unsigned events_of(enum evzk__which which)
{
    unsigned both = (unsigned)(EVZK__NEWS_DELETED | EVZK__NEWS_CHANGED)
                    << which;

    return which == EVZK__PRED ? both | EVZK__NEWS_BEFORE : both;
}

static void take_watch(struct evzk__machine *m, enum evzk__which which)
{
    struct evzk__event e = {.type = EVZK__EV_CHANGED, .which = which};
    unsigned both = events_of(which), news = m->place.news & both;
    bool deleted = news & ~((unsigned)EVZK__NEWS_CHANGED << which);
    bool fired = news & (unsigned)EVZK__NEWS_DELETED << which;

    if (!news || !evzk__row_watches(evzk__machine_row(m)))
        return;
    m->place.news &= (uint8_t)~both;
    e.by_ours = deleted && !fired;
    if (deleted)
        e.type = EVZK__EV_DELETED;
    else if (which == EVZK__OWN)
        m->stayed = true; /* Watched again at once. */
    evzk__machine_dispatch(m, &e);
}

/* Hands out the path watches that have fired, one by one, as long as the row
 * hears of watches. */
static void take_path_watches(struct evzk__machine *m)
{
    struct evzk__event e = {0};
    struct evzk__path_watch *p;

    /* A machine that an event has ended may have left its session. */
    for (unsigned i = 0;
         !m->place.ended && (p = evzk__path_watch_at(&m->place, i)) != NULL;
         i++) {
        if (m->place.req.state != EVZK__IDLE ||
            !evzk__row_watches(evzk__machine_row(m)))
            return;
        if (!p->deleted && !p->changed)
            continue;
        e.type = p->deleted ? EVZK__EV_DELETED : EVZK__EV_CHANGED;
        e.which = (enum evzk__which)p->w.which;
        evzk__path_watch_forget(p);
        evzk__machine_dispatch(m, &e);
    }
    m->place.news &= (uint8_t)~EVZK__NEWS_PATHS;
}

static void take_stay(struct evzk__machine *m)
{
    struct evzk__event e = {.type = EVZK__EV_LINGERED};

    m->pending &= EVZK__P_ALL & ~EVZK__P_STAYED;
    if (!evzk__row_hears(evzk__machine_row(m), EVZK__ON_LINGERED) || m->stayed)
        return;
    m->stayed = true;
    evzk__machine_dispatch(m, &e);
}

static void take_ask(struct evzk__machine *m)
{
    struct evzk__event e = {.type = EVZK__EV_USER};

    if (!evzk__row_hears(evzk__machine_row(m), EVZK__ON_USER_EVENT) ||
        m->stopping)
        return;
    m->pending &= EVZK__P_ALL & ~EVZK__P_ASKED;
    evzk__machine_dispatch(m, &e);
}

/* The machine's own znode has gone, and its unsent request rests on that znode:
 * the row is entered again, and looks before it asks.  The event itself waits
 * for a row that hears it.  A request that reads sees by itself what is there;
 * and a part of it may be unsent again and again, so that the row would be
 * entered for ever. */
void evzk__machine_take_back(struct evzk__machine *m)
{
    unsigned again = EVZK__RETRY | EVZK__UNSENT;

    if (m->place.own_verified || !(m->place.news & EVZK__NEWS_DELETED) ||
        evzk__row_watches(evzk__machine_row(m)) ||
        evzk__request_only_reads(&m->place.req) ||
        !(evzk__machine_row(m)->flags & again))
        return;
    evzk__machine_set_event(m, EVZK__ON_OWN_DELETED, EVZK_OK);
    evzk__machine_repeat(m);
}

static bool take(struct evzk__machine *m, unsigned bit)
{
    bool set = m->pending & bit;

    m->pending &= EVZK__P_ALL & ~bit;
    return set;
}

static void take_late(struct evzk__machine *m)
{
    evzk__machine_set_event(m, EVZK__ON_DEADLINE, EVZK_OK);
    m->kind->on_deadline(m);
}

/* An event that the last row did not hear, and that the present one hears. */
static bool has_news(const struct evzk__machine *m)
{
    return !m->place.ended && m->place.news &&
           m->place.req.state == EVZK__IDLE &&
           evzk__row_watches(evzk__machine_row(m));
}

void evzk__machine_run(struct evzk__machine *m)
{
    m->refs++;
    evzk__machine_catch_up(m);
    if (!m->place.ended && take(m, EVZK__P_ON_DEADLINE))
        take_late(m);
    if (!m->place.ended && take(m, EVZK__P_STOP))
        evzk__machine_take_stop(m);
    if (!m->place.ended && take(m, EVZK__P_START))
        start(m);
    if (!m->place.ended && m->place.req.state == EVZK__QUEUED)
        evzk__machine_take_back(m);
    /* Events of watches wait until the request is answered: then the state
     * knows what they mean. */
    if (!m->place.ended && m->place.req.state == EVZK__IDLE)
        take_watch(m, EVZK__OWN);
    if (!m->place.ended && m->place.req.state == EVZK__IDLE)
        take_watch(m, EVZK__PRED);
    if (!m->place.ended && (m->place.news & EVZK__NEWS_PATHS))
        take_path_watches(m);
    if (!m->place.ended && m->place.req.state == EVZK__IDLE &&
        (m->pending & EVZK__P_STAYED))
        take_stay(m);
    if (!m->place.ended && m->place.req.state == EVZK__IDLE &&
        (m->pending & EVZK__P_ASKED))
        take_ask(m);
    if (has_news(m))
        evzk__machine_post(m);
    evzk__machine_linger(m);
    evzk__machine_unref(m);
}
