/* The end of a session.  The C client's own close would send and then wait, and
 * with a silent server it would wait long.  Here the end has three steps, all
 * in the loop: requests in flight are waited for; the server is told; its
 * answer is awaited.  Then every machine gets its final event.
 */
#include "lib/session/closing.h"

#include <string.h>

#include "lib/base/os.h"
#include "lib/machine/machine.h"
#include "lib/request/parents.h"
#include "lib/session/connection.h"

static void end_machines(evzk_session *s)
{
    int64_t until = evzk__now_us() + EVZK__BUDGET_US;
    struct evzk__machine *m;

    for (unsigned n = 0; (m = TAILQ_FIRST(&s->core.machines)) != NULL; n++) {
        evzk__machine_closed(
            m, s->closing.rc == EVZK_ERR_AUTH ? EVZK_ERR_AUTH : EVZK_ERR_CLOSED,
            s->closing.rc == EVZK_OK);
        if (evzk__budget_spent(n, until))
            return;
    }
}

/* Objects that have no machine now. */
static void end_residents(evzk_session *s)
{
    struct evzk__resident *r;

    while ((r = LIST_FIRST(&s->core.residents)) != NULL) {
        void (*closed)(struct evzk__resident *) = r->closed;

        evzk__resident_leave(r);
        closed(r);
    }
}

/* Half of the time that is left is for this connection, and half for the next
 * one.  If that is too short for another connection, all is for this one. */
static int64_t silent_at(const struct evzk__closing *c, int64_t now)
{
    int64_t half = (c->deadline - now) / 2;

    return half > EVZK__RETRY_US ? now + half : c->deadline;
}

bool evzk__closing_tidies(evzk_session *s)
{
    return s->core.phase == EVZK__DRAINING &&
           evzk__now_us() < s->closing.tidy_until &&
           evzk__left_overs_stay(&s->core);
}

void evzk__closing_say_farewell(evzk_session *s, int what)
{
    if (!evzk__session_up(&s->core) || s->core.requests.in_flight > 0 ||
        (what & EVZK__WRITE) || evzk__closing_tidies(s))
        return; /* First the requests in flight. */
    memset(&s->closing.farewell, 0, sizeof s->closing.farewell);
    if (!evzk__net_say_farewell(evzk__client_fd(s->core.client)))
        return;
    s->core.phase = EVZK__ENDING;
    s->closing.silent_at = silent_at(&s->closing, evzk__now_us());
}

/* By another connection.  Its answer will say how the session ended. */
static void ask_again(evzk_session *s)
{
    s->core.phase = EVZK__DRAINING;
    evzk__connection_lost(s);
}

/* The rest of the time is for the next connection.  The server may be frozen.
 * Or it dropped the request: the leader does so without a word when the end of
 * the session is already under way, asked for by a connection that was lost. */
static void leave_silent(evzk_session *s)
{
    evzk__session_log(&s->core, EVZK_LOG_INFO,
                      "no answer to the end of the session: asking anew");
    ask_again(s);
}

static void await_farewell(evzk_session *s)
{
    enum evzk__answer a = evzk__net_await_farewell(
        evzk__client_fd(s->core.client), &s->closing.farewell);

    if (a == EVZK__CONFIRMED)
        evzk__closing_over(s, EVZK_OK);
    else if (a == EVZK__CUT)
        ask_again(s);
    else if (evzk__now_us() >= s->closing.silent_at)
        leave_silent(s);
}

/* Hangs up, but keeps the handle: the machines take their watches out of it, in
 * their time, as after every loss. */
static void hang_up(evzk_session *s)
{
    if (!s->core.client)
        return;
    evzk__io_want(s->io, -1, 0);
    evzk__client_hang_up(s->core.client);
    if (s->core.requests.in_flight > 0)
        evzk__requests_lost(&s->core, s->core.client);
    evzk__client_free(s->core.old);
    s->core.old = s->core.client;
    s->core.client = NULL;
    evzk__connection_free_handle(s);
    s->core.contact = EVZK__NO_CONTACT;
}

void evzk__closing_begin(evzk_session *s)
{
    s->core.phase = EVZK__DRAINING;
    evzk__session_end_term(s);
    s->closing.deadline =
        evzk__now_us() + (int64_t)s->options.close_timeout_ms * 1000;
    s->closing.tidy_until =
        evzk__now_us() + (int64_t)s->options.close_timeout_ms * 1000 / 2;
    evzk__session_kick(&s->core);
}

/* Until the server has said that the session is over, or time is up. */
static void await_end(evzk_session *s)
{
    bool late = evzk__now_us() >= s->closing.deadline;

    if (s->core.phase == EVZK__ENDING)
        await_farewell(s);
    if (s->core.phase == EVZK__DRAINING && s->core.id == 0)
        evzk__closing_over(
            s, EVZK_OK); /* There is no session, or none any more. */
    if (s->core.phase < EVZK__ENDING_MACHINES && late)
        evzk__closing_over(s, EVZK_ERR_TIMEOUT);
}

void evzk__closing_step(evzk_session *s)
{
    if (s->core.phase == EVZK__RUNNING || s->core.phase == EVZK__CLOSED)
        return;
    if (s->core.phase < EVZK__ENDING_MACHINES)
        await_end(s);
    if (s->core.phase != EVZK__ENDING_MACHINES)
        return;
    hang_up(s);
    end_machines(s);
    if (s->core.phase != EVZK__ENDING_MACHINES)
        return; /* Freed, in the child of a fork. */
    evzk__left_overs_drop(&s->core);
    evzk__machines_drop_awaiting_reply(&s->core);
    s->core.more = true;
    if (TAILQ_EMPTY(&s->core.machines))
        end_residents(s);
    if (s->core.phase != EVZK__ENDING_MACHINES ||
        !TAILQ_EMPTY(&s->core.machines) ||
        evzk__servers_busy(s->connection.servers))
        return;
    evzk__client_free(s->core.old);
    s->core.old = NULL;
    evzk__parents_clear(&s->core);
    s->core.phase = EVZK__CLOSED;
    evzk__session_tell(s, EVZK_SESSION_CLOSED, s->closing.rc);
    evzk__core_unref(&s->core); /* The loop's. */
}
