/* One turn of the loop: all work of a session happens here.
 *
 *   read and answer -> see whether the connection still is what it was -> run
 *   machines -> renew the lease -> connect -> send -> ask what to wait for
 *
 * Each part has a budget of time, so that no turn keeps the loop for long.  The
 * rest is done in the next turn, after the loop's other events.
 */
#include "lib/base/os.h"
#include "lib/machine/machine.h"
#include "lib/machine/rounds.h"
#include "lib/request/idle_dirs.h"
#include "lib/session/closing.h"
#include "lib/session/connection.h"
#include "lib/session/session.h"

static int64_t earlier(int64_t a, int64_t b) { return a < b ? a : b; }

static void sweep(evzk_session *s)
{
    int64_t until = evzk__now_us() + EVZK__BUDGET_US;
    struct evzk__machine *m;

    for (unsigned n = 0; (m = s->core.cursor) != NULL; n++) {
        s->core.cursor = TAILQ_NEXT(m, all);
        evzk__machine_run(m);
        if (evzk__budget_spent(n, until))
            return;
    }
}

static void run(evzk_session *s)
{
    int64_t until = evzk__now_us() + EVZK__BUDGET_US;
    struct evzk__machine *m;

    for (unsigned n = 0; (m = TAILQ_FIRST(&s->core.running)) != NULL; n++) {
        TAILQ_REMOVE(&s->core.running, m, run);
        m->listed = EVZK__L_NONE;
        evzk__machine_run(m);
        if (evzk__budget_spent(n, until))
            return;
    }
    for (unsigned n = 0; (m = evzk__machine_next_late(&s->core)) != NULL; n++) {
        evzk__machine_run(m);
        if (evzk__budget_spent(n, until)) {
            s->core.more = true;
            return;
        }
    }
}

/* The lease. */

static void synced(struct evzk__request *r, const struct evzk__reply *reply)
{
    evzk_session *s = evzk__container_of(r, evzk_session, probe.sync);
    int64_t sent = s->probe.sent;

    s->probe.sent = 0;
    if (reply->rc != EVZK_OK || s->core.phase != EVZK__RUNNING)
        return; /* The connection is gone, or we are. */
    evzk__session_update_lease(s);
    evzk__lease_confirmed(&s->core.lease, sent, evzk__now_us());
    evzk__session_show_lease(&s->core);
    evzk__session_set_doubt(s, false);
    evzk__session_update_lease(s);
}

static void probe(evzk_session *s)
{
    int64_t now = evzk__now_us(), patience;

    if (!evzk__session_up(&s->core) || s->core.phase != EVZK__RUNNING)
        return;
    patience = 2 * evzk__lease_probe_us(&s->core.lease);
    if (s->probe.sent && now - s->probe.sent >= patience)
        evzk__session_set_doubt(s, true);
    if (s->probe.sent || now < s->probe.next)
        return;
    s->probe.sync.op = EVZK__SYNC;
    s->probe.sync.dir = s->probe.root;
    s->probe.sync.done = synced;
    s->probe.sent = now; /* A little before it is sent: on the safe side. */
    s->probe.next = now + evzk__lease_probe_us(&s->core.lease);
    s->core.stats.probes++;
    s->core.tick++;
    evzk__request_submit(&s->core, &s->probe.sync);
}

static void read_and_answer(evzk_session *s, int ready)
{
    int64_t until = evzk__now_us() + EVZK__BUDGET_US;
    bool more;

    if (!s->core.client || !ready || s->core.phase >= EVZK__ENDING)
        return;
    more = evzk__client_process(s->core.client, ready);
    while (more) {
        evzk__connection_check(s); /* Made now, it may be lost by the next. */
        if (!s->core.client || evzk__client_fd(s->core.client) < 0 ||
            s->core.phase >= EVZK__ENDING)
            return;
        if (evzk__is_late(0, 1, until)) { /* One packet may be much. */
            s->core.more = true;
            return;
        }
        more = evzk__client_process(s->core.client, EVZK__READ);
    }
}

static void send_due(evzk_session *s)
{
    int fd;

    if ((s->core.phase != EVZK__RUNNING && !evzk__closing_tidies(s)) ||
        s->core.requests.queued == 0 || !evzk__session_usable(&s->core))
        return;
    fd = evzk__client_fd(s->core.client);
    evzk__net_cork(fd, true);
    if (evzk__requests_flush(&s->core, evzk__now_us() + EVZK__BUDGET_US))
        s->core.more = true;
    if (evzk__client_fd(s->core.client) == fd)
        evzk__net_cork(fd, false);
}

/* What to wait for. */

static int64_t next_wake(evzk_session *s, int64_t client_at)
{
    int64_t at = client_at;

    if (!evzk__session_up(&s->core) && s->core.phase <= EVZK__DRAINING) {
        at = earlier(at, s->connection.resolve_at);
        if (!s->core.client && evzk__servers_addresses(s->connection.servers))
            at = earlier(at, s->connection.retry_at);
    }
    if (s->core.phase == EVZK__ENDING)
        at = earlier(at, s->closing.silent_at);
    if (evzk__closing_tidies(s))
        at = earlier(at, s->closing.tidy_until);
    if (s->core.phase == EVZK__DRAINING && s->core.left.at)
        at = earlier(at, s->core.left.at);
    if (s->core.phase != EVZK__RUNNING)
        return earlier(at, s->closing.deadline);
    if (evzk__session_up(&s->core) && !s->probe.sent)
        at = earlier(at, s->probe.next);
    else if (s->core.contact == EVZK__IN_CONTACT)
        at = earlier(at,
                     s->probe.sent + 2 * evzk__lease_probe_us(&s->core.lease));
    if (evzk__session_up(&s->core))
        at = earlier(at, evzk__rounds_next_us(&s->core));
    if (evzk__session_up(&s->core) && s->core.send_at &&
        s->core.requests.queued > 0)
        at = earlier(at, s->core.send_at);
    if (s->core.left.at)
        at = earlier(at, s->core.left.at);
    if (s->probe.lease_on)
        at = earlier(at, s->core.lease.valid_until);
    return at;
}

static void await_events(evzk_session *s)
{
    int64_t now = evzk__now_us(), at = INT64_MAX, client_wait;
    int fd = -1, what = 0;

    if (s->core.phase == EVZK__CLOSED) {
        evzk__timer_stop(s->core.timer);
        return;
    }
    if (s->core.phase == EVZK__ENDING) {
        fd = evzk__client_fd(s->core.client);
        what = EVZK__READ;
    } else if (s->core.client) {
        evzk__client_interest(s->core.client, &fd, &what, &client_wait);
        at = now + client_wait;
        evzk__connection_check(s); /* May give the connection up. */
        evzk__connection_note_attempt(s);
        if (s->core.phase == EVZK__DRAINING)
            evzk__closing_say_farewell(s, what);
        if (s->core.client)
            fd = evzk__client_fd(s->core.client);
    }
    evzk__io_want(s->io, s->core.client ? fd : -1,
                  s->core.phase == EVZK__ENDING ? EVZK__READ : what);
    if (s->core.more || s->core.cursor || !TAILQ_EMPTY(&s->core.running))
        at = now;
    else
        at = next_wake(s, at);
    evzk__timer_set(s->core.timer, at - now);
}

/* The child of a fork runs the loop, but the session belongs to the parent.
 * The socket is replaced before the event is removed: parent and child may
 * share an epoll set, and the parent's socket must stay in that. */
static void lie_still(evzk_session *s)
{
    if (s->core.client)
        evzk__client_deaden(s->core.client);
    evzk__io_want(s->io, -1, 0);
    evzk__timer_stop(s->core.timer);
}

void evzk__session_turn(evzk_session *s, int ready)
{
    int64_t begun = evzk__now_us(), took;

    if (evzk__session_forked(&s->core)) {
        lie_still(s);
        return;
    }
    s->core.refs++;
    s->core.turn = EVZK__IN_TURN;
    s->core.more = false;
    s->core.out_us = 0;
    evzk__session_update_lease(s);
    read_and_answer(s, ready);
    evzk__connection_check(s);
    evzk__session_update_lease(s);
    run(s);
    sweep(s);
    evzk__rounds_step(&s->core);
    evzk__idle_dirs_step(&s->core);
    evzk__left_overs_step(&s->core);
    evzk__connection_bury(s);
    evzk__connection_keep(s);
    probe(s);
    send_due(s);
    evzk__connection_check(s);
    evzk__closing_step(s);
    await_events(s);
    s->core.turn = EVZK__NO_TURN;
    took = evzk__now_us() - begun - s->core.out_us;
    if (took > (int64_t)s->core.stats.turn_max_us)
        s->core.stats.turn_max_us = (uint64_t)took;
    evzk__core_unref(&s->core);
}
