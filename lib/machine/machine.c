/* The core that every recipe's machine runs on. */
#include "lib/machine/machine.h"

#include <string.h>

#include "config.h"
#include "lib/base/loop.h"
#include "lib/base/mem.h"
#include "lib/base/os.h"
#include "lib/request/core.h"
#include "lib/request/create_order.h"
#include "lib/request/own_queue.h"
#include "lib/request/path_watch.h"
#include "lib/request/watch.h"

enum { REFUSALS = 8 };

static const struct evzk__row *row(const struct evzk__machine *m)
{
    return &m->kind->rows[m->state];
}

const char *evzk__machine_state(const struct evzk__machine *m)
{
    return m->started ? row(m)->name : "NEW";
}

/* A lease that has ended may have been followed by another: to a machine that
 * has not heard of that end, the new one says nothing. */
bool evzk__machine_sure(const struct evzk__machine *m)
{
    return !m->place.ended && !m->stopping &&
           m->seen.gen == m->place.s->now.gen &&
           m->seen.lease_ends == m->place.s->now.lease_ends &&
           !evzk__session_forked(m->place.s) && evzk__session_sure(m->place.s);
}

void evzk__machine_unref(struct evzk__machine *m)
{
    if (--m->refs == 0)
        m->kind->destroy(m);
}

static void trace(struct evzk__machine *m, const char *from, bool entered)
{
    evzk_trace move = {.kind = m->kind->name,
                       .object = m,
                       .from = from,
                       .event = evzk__cause_name[m->event],
                       .to = row(m)->name,
                       .entered = entered,
                       .rc = m->event_rc};

    if (m->place.s && m->place.s->trace.cb) {
        move.path = m->place.dir->path;
        move.time_us = (uint64_t)evzk__now_us();
        m->place.s->trace.cb(&move, m->place.s->trace.arg);
    }
}

/* What happens from here on is this event's doing. */
static void begin(struct evzk__machine *m, enum evzk__cause event, int rc)
{
    m->event = (uint8_t)event;
    m->event_rc = (int16_t)rc;
}

/* Nothing was entered since `epoch`: the event came all the same. */
static void trace_if_idle(struct evzk__machine *m, uint16_t epoch)
{
    if (m->epoch == epoch)
        trace(m, row(m)->name, false);
}

static void unlist(struct evzk__machine *m)
{
    if (m->listed == EVZK__L_RUNNING)
        TAILQ_REMOVE(&m->place.s->running, m, run);
    else if (m->listed == EVZK__L_LATER)
        TAILQ_REMOVE(&m->place.s->later, m, run);
    m->listed = EVZK__L_NONE;
}

/* From now on it holds nothing. */
static void be_over(struct evzk__machine *m)
{
    if (m->kind->over)
        m->kind->over(m);
}

/* Ended: out of the lists that events come from. */
static void detach(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;

    evzk__request_cancel(s, &m->place.req);
    unlist(m);
    evzk__arrival_left(&m->place);
    evzk__queue_leave(&m->place);
    if (s->cursor == m)
        s->cursor = TAILQ_NEXT(m, all);
    TAILQ_REMOVE(&s->machines, m, all);
    TAILQ_INSERT_TAIL(&s->owed, m, all);
    evzk__timer_free(m->timer);
    m->timer = NULL;
    if (m->kind->detach)
        m->kind->detach(m);
    m->place.ended = true;
    be_over(m);
}

/* Nothing more comes for it, and nothing is left to do. */
static void part(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;
    struct evzk__watch *w;

    for (unsigned i = 0; (w = evzk__watch_of(&m->place, (enum evzk__which)i));
         i++)
        evzk__watch_remove(&m->place, w);
    TAILQ_REMOVE(&s->owed, m, all);
    s->stats.machines--;
    evzk__dir_put(s, m->place.dir);
    m->place.dir = NULL;
    m->place.s = NULL;
    evzk__machine_unref(m);
}

/* The machine has ended.  It stays while an answer is awaited, or while the
 * server has a watch that only this machine had. */
static void wind_up(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;

    if (m->seen.conn != s->now.conn)
        evzk__watches_lost(m);
    if (m->place.req.state != EVZK__IDLE)
        return;
    if (m->seen.conn != s->now.conn || !s->up || s->phase != EVZK__RUNNING ||
        !evzk__unwatch_rest(m))
        part(m);
}

void evzk__machines_drop_owed(struct evzk__core *s)
{
    struct evzk__machine *m;

    while ((m = TAILQ_FIRST(&s->owed)) != NULL) {
        evzk__request_cancel(s, &m->place.req);
        evzk__watches_lost(m);
        part(m);
    }
}

/* Tells it in a while, if nothing happens to it before: a look at the queue
 * shows its own znode, too. */
static void stay(struct evzk__machine *m)
{
    if (m->listed != EVZK__L_NONE || m->stayed || m->place.ended ||
        (m->pending & EVZK__P_STAYED) ||
        !evzk__row_hears(row(m), EVZK__ON_LINGERED))
        return;
    m->listed = EVZK__L_LATER;
    m->tick = m->place.s->tick;
    TAILQ_INSERT_TAIL(&m->place.s->later, m, run);
}

/* Two ticks later: at least one whole one. */
struct evzk__machine *evzk__machine_next_late(struct evzk__core *s)
{
    struct evzk__machine *m = TAILQ_FIRST(&s->later);

    if (!m || (uint8_t)(s->tick - m->tick) < 2)
        return NULL;
    unlist(m);
    m->pending |= EVZK__P_STAYED;
    return m;
}

/* May call back, and so free the machine's user. */
static void act(struct evzk__machine *m)
{
    uint8_t event = m->event;

    m->event = EVZK__ON_ENTRY;
    row(m)->enter(m);
    m->event = event;
}

static void enter(struct evzk__machine *m)
{
    m->epoch++;
    if (row(m)->flags & EVZK__FINAL)
        detach(m);
    if (row(m)->enter)
        act(m);
    if (m->place.ended && m->place.s)
        wind_up(m);
}

static void set_state(struct evzk__machine *m, int state)
{
    const char *from = m->started ? row(m)->name : NULL;

    m->started = true;
    m->state = (uint8_t)state;
    trace(m, from, true);
    enter(m);
}

static int final_state(const struct evzk__machine *m)
{
    return m->kind->n_rows - 1;
}

/* Does the table let the present event lead there? */
static bool is_legal(const struct evzk__machine *m, int state)
{
    return evzk__row_may(m->kind, m->state, (enum evzk__cause)m->event) &
           EVZK__TO(state);
}

/* Only the end may come while an answer is awaited: each machine has one
 * request, and it must not be sent anew before it came back. */
static bool may_move(struct evzk__machine *m, int state)
{
    evzk__request_cancel(m->place.s, &m->place.req);
    return is_legal(m, state) &&
           (m->place.req.state == EVZK__IDLE || state == final_state(m));
}

static void fail_illegal(struct evzk__machine *m, int state)
{
    evzk__session_log(m->place.s, EVZK_LOG_ERROR,
                      "%s %s: illegal move %s to %s: %s", m->kind->name,
                      m->place.dir->path, row(m)->name,
                      m->kind->rows[state].name, evzk__cause_name[m->event]);
#ifdef EVZK_DEBUG
    __builtin_trap();
#endif
    m->rc = EVZK_ERR_INTERNAL;
    set_state(m, final_state(m));
}

int evzk__machine_move(struct evzk__machine *m, int state)
{
    if (m->place.ended)
        return EVZK_OK;
    if (m->started && !may_move(m, state))
        fail_illegal(m, state);
    else
        set_state(m, state);
    return EVZK_OK;
}

int evzk__machine_finish(struct evzk__machine *m, int rc)
{
    m->rc = rc;
    return evzk__machine_move(m, final_state(m));
}

int evzk__machine_give_up(struct evzk__machine *m, int rc, int state)
{
    if (!m->stopping) {
        m->stopping = true;
        m->rc = rc;
        be_over(m);
    }
    return evzk__machine_move(m, state);
}

static void repeat(struct evzk__machine *m)
{
    evzk__request_cancel(m->place.s, &m->place.req);
    trace(m, row(m)->name, true);
    enter(m);
}

/* A reply may always be asked for once more where that is harmless. */
static bool may_repeat(const struct evzk__machine *m)
{
    bool replied = m->event == EVZK__ON_REPLY || m->event == EVZK__ON_STOP;

    return is_legal(m, m->state) || (replied && row(m)->flags & EVZK__RETRY);
}

int evzk__machine_again(struct evzk__machine *m)
{
    if (may_repeat(m))
        repeat(m);
    else
        fail_illegal(m, m->state);
    return EVZK_OK;
}

int evzk__machine_again_later(struct evzk__machine *m)
{
    evzk__requests_pause(m->place.s);
    return evzk__machine_again(m);
}

/* Asked to stop, and not yet on the way of its own. */
static bool leaving(const struct evzk__machine *m)
{
    return m->stopping && row(m)->stop != EVZK__STAY;
}

static void take_stop(struct evzk__machine *m)
{
    uint16_t epoch = m->epoch;

    begin(m, EVZK__ON_STOP, m->rc);
    if (!m->started)
        evzk__machine_finish(m, m->rc);
    else if (m->place.req.state == EVZK__SENT) {
        /* Its answer will be looked at with `stopping` set. */
        evzk__request_cancel(m->place.s, &m->place.req);
        if (leaving(m))
            return; /* The stop comes with the answer. */
    } else if (row(m)->flags & EVZK__FRESH)
        evzk__machine_finish(m, m->rc);
    else if (leaving(m)) {
        evzk__request_cancel(m->place.s, &m->place.req);
        evzk__machine_move(m, row(m)->stop);
    }
    trace_if_idle(m, epoch);
}

static void fail(struct evzk__machine *m, int rc)
{
    if (m->place.ended)
        return;
    if (row(m)->stop != EVZK__STAY)
        evzk__machine_give_up(m, rc, row(m)->stop);
    else
        evzk__machine_finish(m, rc);
}

/* A row that looks at `stopping` itself is stopped by its reply. */
static enum evzk__cause reply_of(const struct evzk__machine *m)
{
    return m->stopping && evzk__row_hears(row(m), EVZK__ON_STOP)
               ? EVZK__ON_STOP
               : EVZK__ON_REPLY;
}

static enum evzk__cause watch_cause(enum evzk__which which, bool deleted)
{
    if (which == EVZK__OWN)
        return deleted ? EVZK__ON_OWN_DELETED : EVZK__ON_OWN_CHANGED;
    if (which == EVZK__PRED)
        return deleted ? EVZK__ON_PRED_DELETED : EVZK__ON_PRED_CHANGED;
    return deleted ? EVZK__ON_PATH_DELETED : EVZK__ON_PATH_CHANGED;
}

static enum evzk__cause cause_of(const struct evzk__machine *m,
                                 const struct evzk__event *e)
{
    switch (e->type) {
    case EVZK__EV_REPLY:
        return reply_of(m);
    case EVZK__EV_DELETED:
    case EVZK__EV_CHANGED:
        return watch_cause(e->which, e->type == EVZK__EV_DELETED);
    case EVZK__EV_STAYED:
        return EVZK__ON_LINGERED;
    case EVZK__EV_ASKED:
        return EVZK__ON_USER_EVENT;
    case EVZK__EV_SUSPENDED:
        return EVZK__ON_SUSPENDED;
    case EVZK__EV_LEASE_END:
        break;
    }
    return EVZK__ON_LEASE_END;
}

static void dispatch(struct evzk__machine *m, const struct evzk__event *e)
{
    uint16_t epoch = m->epoch;
    int rc;

    begin(m, cause_of(m, e), e->reply ? e->reply->rc : 0);
    rc = row(m)->react ? row(m)->react(m, e) : EVZK_OK;
    if (rc != EVZK_OK)
        fail(m, rc);
    trace_if_idle(m, epoch);
}

/* What it made may be there all the same. */
static void stop_in_another(struct evzk__machine *m)
{
    if (row(m)->stop == EVZK__STAY) {
        evzk__machine_move(m, row(m)->expiry);
        return;
    }
    begin(m, EVZK__ON_STOP, m->rc);
    evzk__machine_move(m, row(m)->stop);
}

/* The session is another: everything that was on the server is gone. */
static void expired(struct evzk__machine *m)
{
    int to = row(m)->expiry;

    begin(m, EVZK__ON_EXPIRED, EVZK_ERR_EXPIRED);
    if (!m->started)
        return;
    evzk__request_cancel(m->place.s, &m->place.req);
    if (m->stopping && m->kind->outlives_session)
        stop_in_another(m);
    else if (m->stopping)
        evzk__machine_finish(m, m->rc);
    else if (m->no_requeue || to == final_state(m))
        evzk__machine_finish(m, EVZK_ERR_EXPIRED);
    else
        evzk__machine_move(m, to);
}

/* Rows of these are entered again. */
static unsigned again_at(const struct evzk__machine *m, bool cut)
{
    unsigned unsent = m->place.req.state == EVZK__QUEUED ? EVZK__UNSENT : 0;

    return cut ? EVZK__RETRY | unsent : (unsigned)EVZK__HOLDS;
}

static void tell_doubt(struct evzk__machine *m, bool lease_ended)
{
    struct evzk__event e = {.type = EVZK__EV_SUSPENDED};
    uint16_t epoch = m->epoch;

    dispatch(m, &e);
    if (lease_ended && !m->place.ended && m->epoch == epoch && !leaving(m)) {
        e.type = EVZK__EV_LEASE_END;
        dispatch(m, &e);
    }
}

static void adapt(struct evzk__machine *m)
{
    struct evzk__core *s = m->place.s;
    bool cut = m->seen.conn != s->now.conn, other = m->seen.gen != s->now.gen;
    bool lease_ended = m->seen.lease_ends != s->now.lease_ends;
    uint16_t epoch = m->epoch;

    m->seen.conn = s->now.conn;
    if (cut) {
        evzk__watches_lost(m);
        m->stayed = false; /* First what it waits for. */
    }
    if (other) {
        expired(m);
        return;
    }
    if (!m->started)
        return;
    if (leaving(m))
        return; /* What it holds is no news any more. */
    if ((row(m)->flags & EVZK__HOLDS) && (cut || s->doubt || lease_ended))
        tell_doubt(m, lease_ended);
    if (m->place.ended || m->epoch != epoch || leaving(m) ||
        m->place.req.state == EVZK__SENT)
        return;
    if (row(m)->flags & again_at(m, cut)) {
        begin(m, EVZK__ON_RECONNECTED, EVZK_OK);
        repeat(m);
    }
}

/* Brings a machine up to date with the session.  Before anything else, so that
 * it never acts on what it knew of an earlier connection.  What it held in a
 * lease or a session that has ended, it holds no more, while it is told so:
 * there may be another already. */
static void catch_up(struct evzk__machine *m)
{
    uint16_t gen = m->place.s->now.gen, lease_ends = m->place.s->now.lease_ends;

    if (m->seen.round == m->place.s->now.round)
        return;
    m->seen.round = m->place.s->now.round;
    adapt(m);
    m->seen.gen = gen;
    m->seen.lease_ends = lease_ends;
}

static bool part_gave(const struct evzk__reply *reply, int rc)
{
    return reply->rc == rc || reply->first_rc == rc;
}

/* An answer that says nothing.  A server that refuses for no reason we know may
 * have been throttled, and may know better in a while; not for ever. */
static bool says_nothing(struct evzk__machine *m,
                         const struct evzk__reply *reply)
{
    if (part_gave(reply, EVZK_ERR_CONNLOSS) || part_gave(reply, EVZK_ERR_NOMEM))
        return true;
    if (!part_gave(reply, EVZK_ERR_SERVER))
        m->refused = 0;
    else if (m->refused < REFUSALS) {
        m->refused++;
        return true;
    }
    return false;
}

/* In a row that may be entered again. */
static bool ask_again(struct evzk__machine *m, const struct evzk__reply *reply)
{
    bool lost = part_gave(reply, EVZK_ERR_CONNLOSS);

    if (!(row(m)->flags & EVZK__RETRY) || !says_nothing(m, reply))
        return false;
    begin(m, lost ? EVZK__ON_RECONNECTED : EVZK__ON_REPLY,
          lost ? EVZK_OK : reply->rc);
    if (reply->last)
        repeat(m);
    return true;
}

static void answered(struct evzk__request *r, const struct evzk__reply *reply)
{
    struct evzk__machine *m = evzk__machine_of(evzk__place_of(r));
    struct evzk__event e = {.type = EVZK__EV_REPLY, .reply = reply};
    uint16_t epoch = m->epoch;

    if (m->place.ended) {
        if (reply->last)
            wind_up(m);
        return;
    }
    m->refs++;
    catch_up(m);
    if (m->place.ended || m->epoch != epoch)
        ; /* To a question that an earlier state asked. */
    else if (leaving(m) && reply->last) {
        begin(m, EVZK__ON_STOP, m->rc);
        evzk__machine_move(m, row(m)->stop);
    } else if (!ask_again(m, reply))
        dispatch(m, &e);
    if (!m->place.ended && (m->pending || m->place.news))
        evzk__machine_post(m); /* What came while the answer was awaited. */
    stay(m);
    evzk__machine_unref(m);
}

static void start(struct evzk__machine *m)
{
    begin(m, EVZK__ON_START, EVZK_OK);
    set_state(m, 0);
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

    if (!news || !evzk__row_watches(row(m)))
        return;
    m->place.news &= (uint8_t)~both;
    e.by_ours = deleted && !fired;
    if (deleted)
        e.type = EVZK__EV_DELETED;
    else if (which == EVZK__OWN)
        m->stayed = true; /* It was watched: it is to be again, at once. */
    dispatch(m, &e);
}

/* Those that have fired, one by one, for as long as the row hears of them. */
static void take_path_watches(struct evzk__machine *m)
{
    struct evzk__event e = {0};
    struct evzk__path_watch *p;

    for (unsigned i = 0; (p = evzk__path_watch_at(&m->place, i)) != NULL; i++) {
        if (m->place.ended || m->place.req.state != EVZK__IDLE ||
            !evzk__row_watches(row(m)))
            return;
        if (!p->deleted && !p->changed)
            continue;
        e.type = p->deleted ? EVZK__EV_DELETED : EVZK__EV_CHANGED;
        e.which = (enum evzk__which)p->w.which;
        evzk__path_watch_forget(p);
        dispatch(m, &e);
    }
    m->place.news &= (uint8_t)~EVZK__NEWS_PATHS;
}

static void take_stay(struct evzk__machine *m)
{
    struct evzk__event e = {.type = EVZK__EV_STAYED};

    m->pending &= (uint8_t)~EVZK__P_STAYED;
    if (!evzk__row_hears(row(m), EVZK__ON_LINGERED) || m->stayed)
        return;
    m->stayed = true;
    dispatch(m, &e);
}

static void take_ask(struct evzk__machine *m)
{
    struct evzk__event e = {.type = EVZK__EV_ASKED};

    if (!evzk__row_hears(row(m), EVZK__ON_USER_EVENT) || m->stopping)
        return;
    m->pending &= (uint8_t)~EVZK__P_ASKED;
    dispatch(m, &e);
}

/* Its own znode has gone, and what it has not sent yet rests on that: it looks
 * before it sends.  The event itself waits for a row that hears it. */
static void take_back(struct evzk__machine *m)
{
    unsigned again = EVZK__RETRY | EVZK__UNSENT;

    if (m->place.own_verified || !(m->place.news & EVZK__NEWS_DELETED) ||
        evzk__row_watches(row(m)) || !(row(m)->flags & again))
        return;
    begin(m, EVZK__ON_OWN_DELETED, EVZK_OK);
    repeat(m);
}

static bool take(struct evzk__machine *m, unsigned bit)
{
    bool set = m->pending & bit;

    m->pending &= (uint8_t)~bit;
    return set;
}

static void take_late(struct evzk__machine *m)
{
    begin(m, EVZK__ON_DEADLINE, EVZK_OK);
    m->kind->late(m);
}

void evzk__machine_run(struct evzk__machine *m)
{
    m->refs++;
    catch_up(m);
    if (!m->place.ended && take(m, EVZK__P_LATE))
        take_late(m);
    if (!m->place.ended && take(m, EVZK__P_STOP))
        take_stop(m);
    if (!m->place.ended && take(m, EVZK__P_START))
        start(m);
    if (!m->place.ended && m->place.req.state == EVZK__QUEUED)
        take_back(m);
    /* Watches wait for the answer: then the state knows what they mean. */
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
    stay(m);
    evzk__machine_unref(m);
}

void evzk__machine_post(struct evzk__machine *m)
{
    if (m->place.ended || m->listed == EVZK__L_RUNNING)
        return;
    unlist(m);
    m->listed = EVZK__L_RUNNING;
    TAILQ_INSERT_TAIL(&m->place.s->running, m, run);
    evzk__session_kick(m->place.s);
}

void evzk__machine_stop(struct evzk__machine *m, int rc)
{
    if (m->place.ended || m->stopping)
        return;
    m->stopping = true;
    m->rc = rc;
    be_over(m);
    m->pending |= EVZK__P_STOP;
    evzk__machine_post(m);
}

void evzk__machine_let_go(struct evzk__machine *m)
{
    evzk__machine_stop(m, EVZK_ERR_CANCELED);
    evzk__machine_unref(m);
}

void evzk__machine_ask(struct evzk__machine *m)
{
    m->pending |= EVZK__P_ASKED;
    evzk__machine_post(m);
}

static void late(void *arg)
{
    struct evzk__machine *m = arg;

    m->pending |= EVZK__P_LATE;
    evzk__machine_post(m);
}

void evzk__machine_no_deadline(struct evzk__machine *m)
{
    evzk__timer_free(m->timer);
    m->timer = NULL;
    m->pending &= (uint8_t)~EVZK__P_LATE;
}

static int take_deadline(struct evzk__machine *m, uint32_t timeout_ms)
{
    if (timeout_ms == 0)
        return EVZK_OK;
    m->timer = evzk__timer_new(m->place.s->base, late, m);
    if (!m->timer)
        return EVZK_ERR_NOMEM;
    evzk__timer_set(m->timer, (int64_t)timeout_ms * 1000);
    return EVZK_OK;
}

int evzk__machine_init(struct evzk__machine *m, evzk_session *session,
                       const struct evzk__kind *kind, const char *dir,
                       uint32_t timeout_ms)
{
    struct evzk__core *s = evzk__core_of(session);

    if (kind->n_watches > EVZK__PATH_WATCHES_MAX) {
        evzk__session_log(s, EVZK_LOG_ERROR, "%s: %u watches are too many",
                          kind->name, (unsigned)kind->n_watches);
        return EVZK_ERR_INTERNAL;
    }
    m->kind = kind;
    m->place.s = s;
    m->place.req.done = answered;
    m->place.dir = evzk__dir_get(s, s->chroot, dir);
    if (!m->place.dir)
        return EVZK_ERR_NOMEM;
    if (take_deadline(m, timeout_ms) != EVZK_OK) {
        evzk__dir_put(s, m->place.dir);
        return EVZK_ERR_NOMEM;
    }
    m->seen = s->now;
    m->place.own_watch.which = EVZK__OWN;
    m->place.pred_watch.which = EVZK__PRED;
    evzk__path_watches_init(&m->place);
    m->refs = 2;
    m->pending = EVZK__P_START;
    TAILQ_INSERT_TAIL(&s->machines, m, all);
    s->stats.machines++;
    evzk__machine_post(m);
    return EVZK_OK;
}

/* The session is over, and so is everything in it; `proved` by the server. */
void evzk__machine_closed(struct evzk__machine *m, int rc, bool proved)
{
    bool promise = m->rc == EVZK_OK || m->rc == EVZK_ERR_CANCELED;

    m->refs++;
    begin(m, EVZK__ON_CLOSED, rc);
    evzk__watches_lost(m);
    if (!m->stopping || (promise && !proved))
        m->rc = rc; /* Nobody says that the znode is gone. */
    set_state(m, final_state(m));
    evzk__machine_unref(m);
}

/* In the child of a fork: it ends without a word. */
void evzk__machine_forked(struct evzk__machine *m)
{
    detach(m); /* Others may have joined its listing: it is let go last. */
}

static void post(struct evzk__place *p)
{
    evzk__machine_post(evzk__machine_of(p));
}

static const struct evzk__mark *marks_of(const struct evzk__place *p)
{
    return evzk__machine_of((struct evzk__place *)(uintptr_t)p)->kind->marks;
}

static struct evzk__path_watch *path_watch_of(struct evzk__place *p, unsigned i)
{
    struct evzk__machine *m = evzk__machine_of(p);
    struct evzk__path_watch *first = (void *)((char *)m + m->kind->watches_at);

    return i < m->kind->n_watches ? first + i : NULL;
}

/* What it deletes it had seen to be its own.  Without a watch nothing would
 * tell that it is another's by now, so it looks again. */
static void put_off(struct evzk__place *p)
{
    struct evzk__machine *m = evzk__machine_of(p);

    m->refs++;
    catch_up(m);
    if (!m->place.ended && p->req.state == EVZK__QUEUED && p->own_verified &&
        !p->own_watch.armed && row(m)->flags & (EVZK__RETRY | EVZK__UNSENT)) {
        p->own_verified = false;
        begin(m, EVZK__ON_RECONNECTED, EVZK_OK);
        repeat(m);
    }
    evzk__machine_unref(m);
}

const struct evzk__wake evzk__machine_wake = {post, marks_of, path_watch_of,
                                              put_off};
