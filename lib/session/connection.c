/* The session's connection: what follows when it is made, lost, or refused.
 *
 * The client need not report a change: after every call to it, its state is
 * compared with the last known one (evzk__connection_check()).
 */
#include "lib/session/connection.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/os.h"
#include "lib/machine/machine.h"
#include "lib/request/watch.h"
#include "lib/session/closing.h"

enum {
    STABLE_US = 500000,    /* A connection that lasted shorter did not. */
    SHUN_MIN_US = 1000000, /* At most so long, or a third of the time-out. */
    SHUN_MAX_US = 60000000
};

void evzk__connection_bury(evzk_session *s)
{
    /* No machine has a watch in it any more; at the end they are still asked.
     */
    if (s->core.old && !s->core.cursor &&
        s->core.phase < EVZK__ENDING_MACHINES) {
        evzk__client_free(s->core.old);
        s->core.old = NULL;
    }
}

void evzk__connection_free_handle(evzk_session *s)
{
    struct evzk__credential *c;

    STAILQ_FOREACH(c, &s->options.credentials, link) c->presented = false;
    evzk__io_want(s->io, -1, 0);
    evzk__client_free(s->core.client);
    s->core.client = NULL;
    s->connection.attempts = 0;
}

static void connected(evzk_session *s)
{
    int64_t timeout_us;

    evzk__session_update_lease(s);
    s->core.contact = EVZK__IN_CONTACT;
    s->connection.away_since = 0;
    s->connection.rounds = 0;
    memset(s->connection.away_why, 0, sizeof s->connection.away_why);
    s->connection.connected_at = evzk__now_us();
    evzk__shunned_forgive(&s->connection.shunned,
                          evzk__client_server(s->core.client));
    s->core.stats.connects++;
    s->core.id = evzk__client_id(s->core.client, s->connection.passwd);
    s->connection.timeout_ms = evzk__client_timeout_ms(s->core.client);
    timeout_us = (int64_t)s->connection.timeout_ms * 1000;
    evzk__lease_connected(&s->core.lease, evzk__client_begun(s->core.client),
                          evzk__now_us(), timeout_us);
    evzk__session_show_lease(&s->core);
    s->probe.next = 0;
    s->probe.lease_on = true;
    evzk__session_sweep(s);
    evzk__session_log(
        &s->core, EVZK_LOG_INFO, "connected: session 0x%llx, time-out %u ms",
        (unsigned long long)s->core.id, (unsigned)s->connection.timeout_ms);
    if (s->core.phase != EVZK__RUNNING)
        return;
    evzk__session_tell(
        s, s->told.known ? EVZK_SESSION_RESUMED : EVZK_SESSION_CONNECTED,
        EVZK_OK);
    s->told.known = true;
}

/* The handle is given up with its connection: see client.h.  It is emptied and
 * freed bit by bit, while the next one connects. */
void evzk__connection_lost(evzk_session *s)
{
    evzk__session_log(&s->core, EVZK_LOG_INFO, "connection lost");
    s->core.old = s->core.client;
    s->core.client = NULL;
    evzk__connection_free_handle(s);
    evzk__client_hang_up(s->core.old);
    s->core.contact = EVZK__NO_CONTACT;
    s->core.now.connection_no++;
    s->core.stats.losses++;
    if (evzk__now_us() - s->connection.connected_at < STABLE_US)
        s->connection.retry_at =
            evzk__now_us() + EVZK__RETRY_US; /* Do not hammer a server. */
    evzk__session_sweep(s);
    if (s->core.phase == EVZK__RUNNING)
        evzk__session_tell(s, EVZK_SESSION_SUSPENDED, EVZK_OK);
    evzk__requests_lost(&s->core, s->core.old);
    evzk__left_overs_cut(&s->core);
    evzk__machines_drop_awaiting_reply(&s->core);
    evzk__request_cancel(&s->core, &s->probe.sync);
    s->probe.sent = 0;
    s->core.more = true;
}

static void expired(evzk_session *s)
{
    evzk__session_log(&s->core, EVZK_LOG_WARN, "session 0x%llx expired",
                      (unsigned long long)s->core.id);
    evzk__connection_free_handle(s);
    s->core.id = 0;
    s->core.now.session_no++;
    evzk__dirs_disown(&s->core);
    evzk__left_overs_expired(&s->core);
    evzk__machines_drop_awaiting_reply(&s->core);
    s->core.now.connection_no++;
    s->core.stats.expirations++;
    evzk__lease_end(&s->core.lease);
    evzk__session_end_term(s);
    s->probe.lease_on = false;
    evzk__session_sweep(s);
    s->core.more = true;
    if (s->told.known && s->core.phase == EVZK__RUNNING)
        evzk__session_tell(s, EVZK_SESSION_EXPIRED, EVZK_ERR_EXPIRED);
    s->told.known = false;
}

/* The server is no ZooKeeper: it is left out for a while.  Later it may be one
 * (a balancer without servers behind it), so the pause is short compared with
 * the session time-out. */
static void shun(evzk_session *s)
{
    const char *server = evzk__client_server(s->core.client);
    int64_t most_us = (int64_t)s->options.timeout_ms * 1000 / 3;

    if (most_us < SHUN_MIN_US)
        most_us = SHUN_MIN_US;
    if (most_us > SHUN_MAX_US)
        most_us = SHUN_MAX_US;
    memset(s->connection.away_why, 0, sizeof s->connection.away_why);
    snprintf(s->connection.away_why, sizeof s->connection.away_why,
             "%s is no ZooKeeper server: %s", server,
             evzk__client_why(s->core.client));
    if (evzk__shunned_add(&s->connection.shunned, server, evzk__now_us(),
                          most_us))
        evzk__session_log(&s->core, EVZK_LOG_WARN, "%s",
                          s->connection.away_why);
    evzk__connection_free_handle(s);
}

/* The client does not always tell: its state is what counts. */
void evzk__connection_check(evzk_session *s)
{
    if (!s->core.client || s->core.phase >= EVZK__ENDING)
        return;
    switch (evzk__client_state(s->core.client)) {
    case EVZK__CLIENT_UP:
        if (!evzk__session_up(&s->core))
            connected(s);
        return;
    case EVZK__CLIENT_DOWN:
        if (evzk__session_up(&s->core))
            evzk__connection_lost(s);
        return;
    case EVZK__CLIENT_EXPIRED:
        if (evzk__session_up(&s->core))
            evzk__connection_lost(s); /* The next one will hear it again. */
        else
            expired(s);
        return;
    case EVZK__CLIENT_AUTH_FAILED:
        if (evzk__session_up(&s->core))
            evzk__connection_lost(s);
        evzk__closing_over(s, EVZK_ERR_AUTH);
        return;
    case EVZK__CLIENT_STRANGER:
        if (evzk__session_up(&s->core))
            evzk__connection_lost(s);
        else
            shun(s);
        return;
    }
}
