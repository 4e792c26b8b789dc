/* The core that every recipe's machine runs on. */
#include "machine.h"

#include <string.h>

#include "config.h"
#include "connection.h"
#include "mem.h"
#include "os.h"

enum {
    START = 1,
    STOP = 2,
    LATE = 4,
    DELETED = 8,  /* Shifted by the watch: own 8, pred 16. */
    CHANGED = 32, /* own 32, pred 64. */
    ALL_WATCHES = 15 * DELETED
};

static const struct evzk__row *row(const struct evzk__machine *m)
{
    return &m->kind->rows[m->state];
}

const char *evzk__machine_state(const struct evzk__machine *m)
{
    return m->started ? row(m)->name : "NEW";
}

void evzk__machine_unref(struct evzk__machine *m)
{
    if (--m->refs == 0) {
        evzk__free((char *)(uintptr_t)m->dir);
        m->kind->destroy(m);
    }
}

static void trace(struct evzk__machine *m, const char *from, const char *to)
{
    evzk_trace move = {.kind = m->kind->name,
                       .object = m,
                       .path = m->dir,
                       .from = from,
                       .event = m->why,
                       .to = to,
                       .rc = m->why_rc};

    if (m->s->trace) {
        move.time_us = (uint64_t)evzk__now_us();
        m->s->trace(&move, m->s->trace_arg);
    }
}

/* Out of all the session's lists: from here on nothing comes from it. */
static void detach(struct evzk__machine *m)
{
    evzk_session *s = m->s;

    evzk__request_cancel(s, &m->req);
    evzk__watch_remove(&s->watches, &m->own_watch);
    evzk__watch_remove(&s->watches, &m->pred_watch);
    if (m->running)
        TAILQ_REMOVE(&s->running, m, run);
    if (s->cursor == m)
        s->cursor = TAILQ_NEXT(m, all);
    TAILQ_REMOVE(&s->machines, m, all);
    s->stats.machines--;
    evzk__timer_free(m->timer);
    m->timer = NULL;
    m->running = false;
    m->ended = true;
}

static void enter(struct evzk__machine *m)
{
    m->epoch++;
    if (row(m)->flags & EVZK__FINAL)
        detach(m);
    if (row(m)->enter)
        row(m)->enter(m); /* May call back, and so free the machine's user. */
    if (m->ended && m->s) {
        m->s = NULL;
        if (m->req.state == EVZK__SENT)
            m->owed = true; /* An answer still comes: stay until then. */
        else
            evzk__machine_unref(m);
    }
}

static void set_state(struct evzk__machine *m, int state)
{
    const char *from = m->started ? row(m)->name : NULL;

    m->started = true;
    m->state = (uint8_t)state;
    trace(m, from, row(m)->name);
    enter(m);
}

static int final_state(const struct evzk__machine *m)
{
    return m->kind->n_rows - 1;
}

/* Only the end may come while an answer is awaited: each machine has one
 * request, and it must not be sent anew before it came back. */
static bool may_move(struct evzk__machine *m, int state)
{
    evzk__request_cancel(m->s, &m->req);
    return (row(m)->next & EVZK__TO(state)) &&
           (m->req.state == EVZK__IDLE || state == final_state(m));
}

int evzk__machine_move(struct evzk__machine *m, int state)
{
    if (m->ended)
        return EVZK_OK;
    if (m->started && !may_move(m, state)) {
        evzk__session_log(m->s, EVZK_LOG_ERROR, "%s %s: illegal move %s to %s",
                          m->kind->name, m->dir, row(m)->name,
                          m->kind->rows[state].name);
#ifdef EVZK_DEBUG
        __builtin_trap();
#endif
        m->rc = EVZK_ERR_INTERNAL;
        state = final_state(m);
    }
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
    }
    return evzk__machine_move(m, state);
}

int evzk__machine_again(struct evzk__machine *m)
{
    evzk__request_cancel(m->s, &m->req);
    trace(m, row(m)->name, row(m)->name);
    enter(m);
    return EVZK_OK;
}

static void take_stop(struct evzk__machine *m)
{
    m->why = "stop";
    m->why_rc = m->rc;
    if (!m->started) {
        m->started = true;
        evzk__machine_finish(m, m->rc);
    } else if (m->req.state == EVZK__SENT)
        /* Its answer will be looked at with `stopping` set. */
        evzk__request_cancel(m->s, &m->req);
    else if (row(m)->flags & EVZK__FRESH)
        evzk__machine_finish(m, m->rc);
    else if (row(m)->stop != EVZK__STAY) {
        evzk__request_cancel(m->s, &m->req);
        evzk__machine_move(m, row(m)->stop);
    }
}

static void fail(struct evzk__machine *m, int rc)
{
    if (m->ended)
        return;
    if (row(m)->stop != EVZK__STAY)
        evzk__machine_give_up(m, rc, row(m)->stop);
    else
        evzk__machine_finish(m, rc);
}

static void dispatch(struct evzk__machine *m, const struct evzk__event *e,
                     const char *why)
{
    int rc;

    m->why = why;
    m->why_rc = e->reply ? e->reply->rc : 0;
    rc = row(m)->react ? row(m)->react(m, e) : EVZK_OK;
    if (rc != EVZK_OK)
        fail(m, rc);
}

static void drop_watch(struct evzk__machine *m, struct evzk__watch *w)
{
    evzk_session *s = m->s;
    const char *dir = w->dir, *name = w->name;

    if (evzk__watch_remove(&s->watches, w))
        evzk__connection_forget(s, dir, name);
}

/* The session is another: everything that was on the server is gone. */
static void expired(struct evzk__machine *m)
{
    int to = row(m)->expiry;

    m->why = "expired";
    m->why_rc = EVZK_ERR_EXPIRED;
    if (!m->started)
        return;
    evzk__request_cancel(m->s, &m->req);
    if (m->stopping)
        evzk__machine_finish(m, m->rc);
    else if (m->no_requeue || to == final_state(m))
        evzk__machine_finish(m, EVZK_ERR_EXPIRED);
    else
        evzk__machine_move(m, to);
}

/* Asked to stop, and not yet on the way of its own. */
static bool leaving(const struct evzk__machine *m)
{
    return m->stopping && row(m)->stop != EVZK__STAY;
}

static void tell_doubt(struct evzk__machine *m, bool lease_ended)
{
    struct evzk__event e = {.type = EVZK__EV_SUSPENDED};
    uint32_t epoch = m->epoch;

    dispatch(m, &e, "suspended");
    if (lease_ended && !m->ended && m->epoch == epoch && !leaving(m)) {
        e.type = EVZK__EV_LEASE_END;
        dispatch(m, &e, "lease end");
    }
}

/* Brings a machine up to date with the session.  Before anything else, so that
 * it never acts on what it knew of an earlier connection. */
static void catch_up(struct evzk__machine *m)
{
    evzk_session *s = m->s;
    bool cut = m->conn != s->conn, other = m->gen != s->gen;
    bool lease_ended = m->lease_ends != s->lease_ends;
    uint32_t epoch = m->epoch;

    if (m->round == s->round)
        return;
    m->round = s->round;
    m->gen = s->gen;
    m->conn = s->conn;
    m->lease_ends = s->lease_ends;
    if (cut) {
        drop_watch(m, &m->own_watch);
        drop_watch(m, &m->pred_watch);
        m->pending &= (uint16_t)~ALL_WATCHES;
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
    if (m->ended || m->epoch != epoch || leaving(m) ||
        m->req.state == EVZK__SENT)
        return;
    if (cut ? row(m)->flags & EVZK__RETRY : row(m)->flags & EVZK__HOLDS) {
        m->why = "reconnected";
        m->why_rc = 0;
        evzk__machine_again(m);
    }
}

static void answered(struct evzk__request *r, const struct evzk__reply *reply)
{
    struct evzk__machine *m = evzk__container_of(r, struct evzk__machine, req);
    struct evzk__event e = {.type = EVZK__EV_REPLY, .reply = reply};
    uint32_t epoch = m->epoch;
    bool lost =
        reply->rc == EVZK_ERR_CONNLOSS || reply->first_rc == EVZK_ERR_CONNLOSS;

    if (m->ended) {
        if (m->owed && reply->last)
            evzk__machine_unref(m);
        return;
    }
    m->refs++;
    catch_up(m);
    if (m->ended || m->epoch != epoch)
        ; /* To a question that an earlier state asked. */
    else if (leaving(m) && reply->last) {
        m->why = "stop";
        m->why_rc = m->rc;
        evzk__machine_move(m, row(m)->stop);
    } else if (lost && (row(m)->flags & EVZK__RETRY)) {
        m->why = "lost";
        m->why_rc = EVZK_ERR_CONNLOSS;
        if (reply->last)
            evzk__machine_again(m);
    } else
        dispatch(m, &e, "reply");
    if (!m->ended && m->pending)
        evzk__machine_post(m); /* What came while the answer was awaited. */
    evzk__machine_unref(m);
}

static void start(struct evzk__machine *m)
{
    m->why = "start";
    m->why_rc = 0;
    set_state(m, 0);
}

static void take_watch(struct evzk__machine *m, enum evzk__which which)
{
    struct evzk__event e = {.type = EVZK__EV_CHANGED, .which = which};
    unsigned shift = (unsigned)which;
    bool deleted = m->pending & (DELETED << shift);
    unsigned both = (unsigned)(DELETED | CHANGED) << shift;

    if (!(m->pending & both))
        return;
    m->pending &= (uint16_t)~both;
    if (deleted)
        e.type = EVZK__EV_DELETED;
    dispatch(m, &e, deleted ? "deleted" : "changed");
}

static bool take(struct evzk__machine *m, unsigned bit)
{
    bool set = m->pending & bit;

    m->pending &= (uint16_t)~bit;
    return set;
}

void evzk__machine_run(struct evzk__machine *m)
{
    m->refs++;
    catch_up(m);
    if (!m->ended && take(m, LATE))
        m->kind->late(m);
    if (!m->ended && take(m, STOP))
        take_stop(m);
    if (!m->ended && take(m, START))
        start(m);
    /* Watches wait for the answer: then the state knows what they mean. */
    if (!m->ended && m->req.state == EVZK__IDLE)
        take_watch(m, EVZK__OWN);
    if (!m->ended && m->req.state == EVZK__IDLE)
        take_watch(m, EVZK__PRED);
    evzk__machine_unref(m);
}

void evzk__machine_post(struct evzk__machine *m)
{
    if (m->ended || m->running)
        return;
    m->running = true;
    TAILQ_INSERT_TAIL(&m->s->running, m, run);
    evzk__session_kick(m->s);
}

void evzk__machine_stop(struct evzk__machine *m, int rc)
{
    if (m->ended || m->stopping)
        return;
    m->stopping = true;
    m->rc = rc;
    m->pending |= STOP;
    evzk__machine_post(m);
}

void evzk__machine_fired(struct evzk__watch *w, enum evzk__watch_event ev)
{
    struct evzk__machine *m =
        w->which == EVZK__OWN
            ? evzk__container_of(w, struct evzk__machine, own_watch)
            : evzk__container_of(w, struct evzk__machine, pred_watch);
    unsigned bit = ev == EVZK__DELETED ? DELETED : CHANGED;

    m->pending |= (uint16_t)(bit << w->which);
    evzk__machine_post(m);
}

static void late(void *arg)
{
    struct evzk__machine *m = arg;

    m->pending |= LATE;
    evzk__machine_post(m);
}

void evzk__machine_no_deadline(struct evzk__machine *m)
{
    evzk__timer_free(m->timer);
    m->timer = NULL;
    m->pending &= (uint16_t)~LATE;
}

static int take_deadline(struct evzk__machine *m, uint32_t timeout_ms)
{
    if (timeout_ms == 0)
        return EVZK_OK;
    m->timer = evzk__timer_new(m->s->base, late, m);
    if (!m->timer)
        return EVZK_ERR_NOMEM;
    evzk__timer_set(m->timer, (int64_t)timeout_ms * 1000);
    return EVZK_OK;
}

int evzk__machine_init(struct evzk__machine *m, evzk_session *s,
                       const struct evzk__kind *kind, const char *dir,
                       uint32_t timeout_ms)
{
    m->kind = kind;
    m->s = s;
    m->req.done = answered;
    m->dir = evzk__concat(s->chroot, dir);
    if (!m->dir)
        return EVZK_ERR_NOMEM;
    if (take_deadline(m, timeout_ms) != EVZK_OK) {
        evzk__free((char *)(uintptr_t)m->dir);
        return EVZK_ERR_NOMEM;
    }
    m->round = s->round;
    m->gen = s->gen;
    m->conn = s->conn;
    m->lease_ends = s->lease_ends;
    m->own_watch.serial = m->pred_watch.serial = ++s->serial;
    m->own_watch.which = EVZK__OWN;
    m->pred_watch.which = EVZK__PRED;
    m->refs = 2;
    m->pending = START;
    TAILQ_INSERT_TAIL(&s->machines, m, all);
    s->stats.machines++;
    evzk__machine_post(m);
    return EVZK_OK;
}

/* The session is over, and so is everything in it; `proved` by the server. */
void evzk__machine_closed(struct evzk__machine *m, int rc, bool proved)
{
    m->refs++;
    m->why = "closed";
    m->why_rc = rc;
    drop_watch(m, &m->own_watch);
    drop_watch(m, &m->pred_watch);
    if (!m->stopping || (m->rc == EVZK_OK && !proved))
        m->rc = rc;
    set_state(m, final_state(m));
    evzk__machine_unref(m);
}

/* In the child of a fork: it ends without a word. */
void evzk__machine_forked(struct evzk__machine *m)
{
    detach(m);
    m->s = NULL;
    evzk__machine_unref(m);
}

int64_t evzk__machine_call_out(void) { return evzk__now_us(); }

void evzk__machine_called(evzk_session *s, int64_t begun)
{
    if (s)
        s->out_us += evzk__now_us() - begun;
}

static void ask(struct evzk__machine *m, enum evzk__op op, const char *name)
{
    m->req.op = (uint8_t)op;
    m->req.dir = m->dir;
    m->req.name = name;
    evzk__request_submit(m->s, &m->req);
}

static void take_args(struct evzk__request *r,
                      const struct evzk__create_args *a)
{
    r->data = a->data;
    r->len = a->len;
    r->acl = a->acl;
    r->acl_count = a->acl_count;
    r->created = a->name;
}

void evzk__create_list(struct evzk__machine *m,
                       const struct evzk__create_args *args)
{
    take_args(&m->req, args);
    ask(m, EVZK__CREATE_LIST, args->name);
}

void evzk__parents(struct evzk__machine *m,
                   const struct evzk__create_args *args)
{
    take_args(&m->req, args);
    ask(m, EVZK__PARENTS, NULL);
}

void evzk__look(struct evzk__machine *m, const char *name)
{
    ask(m, EVZK__LOOK, name);
}

void evzk__list(struct evzk__machine *m) { ask(m, EVZK__LIST, NULL); }

void evzk__sync_list(struct evzk__machine *m) { ask(m, EVZK__SYNC_LIST, NULL); }

void evzk__gets(struct evzk__machine *m, char *const *names, uint32_t n)
{
    m->req.names = names;
    m->req.n = n;
    ask(m, EVZK__GETS, NULL);
}

void evzk__watch(struct evzk__machine *m, const char *own, bool watch_own,
                 const char *pred)
{
    m->req.own = own && watch_own ? &m->own_watch : NULL;
    m->req.pred = pred ? &m->pred_watch : NULL;
    m->req.pred_name = pred;
    ask(m, EVZK__WATCH, own);
}

void evzk__delete(struct evzk__machine *m, const char *name)
{
    evzk__forget_own(m);
    evzk__unwatch_pred(m);
    ask(m, EVZK__DELETE, name);
}

static void forget_events(struct evzk__machine *m, enum evzk__which which)
{
    unsigned both = (unsigned)(DELETED | CHANGED) << which;

    m->pending &= (uint16_t)~both;
}

void evzk__forget_own(struct evzk__machine *m)
{
    evzk__watch_remove(&m->s->watches, &m->own_watch);
    forget_events(m, EVZK__OWN);
}

void evzk__unwatch_pred(struct evzk__machine *m)
{
    if (evzk__watch_remove(&m->s->watches, &m->pred_watch))
        m->req.unwatch = m->pred_watch.name; /* With the next request. */
    forget_events(m, EVZK__PRED);
}
