/* Entering a state: the one place where a machine's state is set, and where a
 * move that the table does not allow is noticed. */
#include "lib/machine/machine_internal.h"

#include "config.h"
#include "lib/request/core.h"

/* The action may call the application back, which may free the recipe's object:
 * then the core's reference keeps the machine. */
static void act(struct evzk__machine *m)
{
    uint8_t event = m->event;

    m->event = EVZK__ON_ENTRY;
    evzk__machine_row(m)->enter(m);
    m->event = event;
}

static void enter(struct evzk__machine *m)
{
    m->epoch++;
    if (!(evzk__machine_row(m)->flags & EVZK__HOLDS))
        m->in_doubt = false; /* Nothing is held in this row. */
    if (evzk__machine_row(m)->flags & EVZK__FINAL)
        evzk__machine_detach(m);
    if (evzk__machine_row(m)->enter)
        act(m);
    if (m->place.ended && m->place.s)
        evzk__machine_wind_up(m);
}

void evzk__machine_set_state(struct evzk__machine *m, int state)
{
    const char *from = m->started ? evzk__machine_row(m)->name : NULL;

    m->started = true;
    m->state = (uint8_t)state;
    evzk__machine_trace(m, from, true);
    enter(m);
}

/* Does the table let the present event lead to this state? */
static bool is_legal(const struct evzk__machine *m, int state)
{
    return evzk__row_may(m->kind, m->state, (enum evzk__cause)m->event) &
           EVZK__TO(state);
}

static void say_illegal(const struct evzk__machine *m, int state)
{
    evzk__session_log(m->place.s, EVZK_LOG_ERROR,
                      "%s %s: illegal move %s to %s: %s", m->kind->name,
                      m->place.dir->path, evzk__machine_row(m)->name,
                      m->kind->rows[state].name, evzk__cause_name[m->event]);
#ifdef EVZK_DEBUG
    __builtin_trap();
#endif
}

/* Does another event lead there?  But for a session's end, which the core alone
 * handles: that leads to the final state from everywhere. */
static bool is_known(const struct evzk__machine *m, int state)
{
    for (int c = 0; c < EVZK__CAUSES; c++) {
        if (c != EVZK__ON_CLOSED && c != EVZK__ON_EXPIRED &&
            evzk__row_may(m->kind, m->state, (enum evzk__cause)c) &
                EVZK__TO(state))
            return true;
    }
    return false;
}

/* Illegal is what the table does not let this event lead to.  If another event
 * leads there, the table lacks an arrow, and that is no reason to fail. */
static bool is_possible(const struct evzk__machine *m, int state)
{
    if (is_legal(m, state))
        return true;
    say_illegal(m, state);
    return is_known(m, state);
}

/* Only the final state may be entered while an answer is awaited: each machine
 * has one request, which must not be sent anew before its answer came. */
static bool is_free(struct evzk__machine *m, int state)
{
    evzk__request_cancel(m->place.s, &m->place.req);
    if (m->place.req.state == EVZK__IDLE ||
        state == evzk__machine_final_state(m))
        return true;
    say_illegal(m, state);
    return false;
}

static void fail(struct evzk__machine *m)
{
    m->rc = EVZK_ERR_INTERNAL;
    evzk__machine_set_state(m, evzk__machine_final_state(m));
}

int evzk__machine_move(struct evzk__machine *m, int state)
{
    if (m->place.ended)
        return EVZK_OK;
    if (m->started && !(is_free(m, state) && is_possible(m, state)))
        fail(m);
    else
        evzk__machine_set_state(m, state);
    return EVZK_OK;
}

int evzk__machine_finish(struct evzk__machine *m, int rc)
{
    m->rc = rc;
    return evzk__machine_move(m, evzk__machine_final_state(m));
}

int evzk__machine_give_up(struct evzk__machine *m, int rc, int state)
{
    if (!m->stopping) {
        m->stopping = true;
        m->rc = rc;
        m->refused = 0; /* Refusals of what follows count anew. */
        evzk__machine_over(m);
    }
    return evzk__machine_move(m, state);
}

void evzk__machine_repeat(struct evzk__machine *m)
{
    evzk__request_cancel(m->place.s, &m->place.req);
    evzk__machine_trace(m, evzk__machine_row(m)->name, true);
    enter(m);
}

/* After a reply the row may always ask once more, if that is harmless. */
static bool may_repeat(const struct evzk__machine *m)
{
    bool replied = m->event == EVZK__ON_REPLY || m->event == EVZK__ON_STOP;

    return (replied && evzk__machine_row(m)->flags & EVZK__RETRY) ||
           is_possible(m, m->state);
}

int evzk__machine_again(struct evzk__machine *m)
{
    if (is_free(m, m->state) && may_repeat(m))
        evzk__machine_repeat(m);
    else
        fail(m);
    return EVZK_OK;
}

int evzk__machine_again_later(struct evzk__machine *m)
{
    evzk__requests_pause(m->place.s);
    return evzk__machine_again(m);
}
