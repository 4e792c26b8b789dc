/* The session's connection: made, watched, lost, and made again.
 *
 * The client need not report a change: after every call to it, its state is
 * compared with the last known one (evzk__connection_check()).
 */
#include "lib/session/connection.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/net.h"
#include "lib/base/os.h"
#include "lib/machine/machine.h"
#include "lib/request/watch.h"
#include "lib/session/closing.h"

enum {
    STABLE_US = 500000, /* A connection that lasted shorter did not. */
    RESOLVE_US = 1000000,
    ROUND_MIN_US = 10000, /* When all were tried: a sixtieth of the time-out. */
    ROUND_MAX_US = 1000000,
    PATIENCE_MIN_MS = 500,
    SHUN_MIN_US = 1000000, /* At most so long, or a third of the time-out. */
    SHUN_MAX_US = 60000000,
    SAY_FIRST_US = 5000000, /* After so long without a server; then ... */
    SAY_MOST_US =
        300000000 /* ... after twice as long, and so often at least. */
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

static void watched(void *arg, const char *path, enum evzk__watch_event ev)
{
    if (path)
        evzk__watch_fired_at(arg, path, ev);
}

static void completed(void *arg, struct evzk__slot *slot,
                      const struct evzk__result *res)
{
    evzk_session *s = arg;

    evzk__request_completed(&s->core, slot, res);
}

static void logged(void *arg, evzk_log_level level, const char *line)
{
    evzk_session *s = arg;

    evzk__session_log(&s->core, level, "client: %s", line);
}

/* Normal life, and frequent: say_away() tells of it now and then. */
static void attempt_failed(void *arg, const char *line)
{
    evzk_session *s = arg;

    memset(s->connection.away_why, 0, sizeof s->connection.away_why);
    snprintf(s->connection.away_why, sizeof s->connection.away_why, "%s", line);
    evzk__session_log(&s->core, EVZK_LOG_INFO, "client: %s", line);
}

/* A frozen server, say, or one that a firewall hides. */
static void silent(void *arg, const char *server, uint32_t ms)
{
    evzk_session *s = arg;
    bool tell =
        evzk__shunned_tell(&s->connection.shunned, server, evzk__now_us());

    s->connection.hurried = true;
    memset(s->connection.away_why, 0, sizeof s->connection.away_why);
    snprintf(s->connection.away_why, sizeof s->connection.away_why,
             "%s did not answer within %u ms", server, (unsigned)ms);
    evzk__session_log(&s->core, tell ? EVZK_LOG_WARN : EVZK_LOG_INFO, "%s",
                      s->connection.away_why);
}

static int present_credentials(evzk_session *s)
{
    struct evzk__credential *c;
    int rc = EVZK_OK;

    STAILQ_FOREACH(c, &s->options.credentials, link)
    {
        if (rc == EVZK_OK && !c->presented)
            rc = evzk__client_auth(s->core.client, c->scheme, c->cert, c->len);
        c->presented = rc == EVZK_OK;
    }
    return rc;
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

/* Is there a credential that the connection has not seen? */
static bool fresh_credential(const evzk_session *s)
{
    struct evzk__credential *c;

    STAILQ_FOREACH(c, &s->options.credentials, link)
    {
        if (!c->presented)
            return true;
    }
    return false;
}

/* How long a server may take to greet.  All servers together may take two
 * thirds of the time-out, so that one frozen server does not end a session.  If
 * all are slow, each has twice as long in the next round, up to the two thirds
 * that the client would wait for each. */
static uint32_t patience_ms(const evzk_session *s)
{
    uint32_t most = s->options.timeout_ms / 3 * 2,
             ms = most / s->connection.offered;

    if (ms < PATIENCE_MIN_MS)
        ms = PATIENCE_MIN_MS;
    for (unsigned i = 0; i < s->connection.rounds && ms < most; i++)
        ms *= 2;
    return ms < most ? ms : most;
}

static int open_client(evzk_session *s, const char *addresses)
{
    struct evzk__client_config cfg = {
        .servers = addresses,
        .timeout_ms = s->options.timeout_ms,
        .id = s->core.id,
        .slots = s->core.window + 1, /* One for the lease. */
        .hooks = {completed, watched, logged, attempt_failed, silent},
        .arg = s};
    int rc;

    memcpy(cfg.passwd, s->connection.passwd, sizeof cfg.passwd);
    s->connection.offered = 1;
    for (const char *p = addresses; (p = strchr(p, ',')) != NULL; p++)
        s->connection.offered++;
    s->connection.hurried = false;
    cfg.patience_ms = patience_ms(s);
    s->core.client = evzk__client_new(&cfg, &rc);
    if (s->core.client)
        rc = present_credentials(s);
    if (rc != EVZK_OK)
        evzk__connection_free_handle(s);
    return rc;
}

/* A handle for those that are not left out; none is made when all are. */
static int open_some(evzk_session *s, const char *addresses, int64_t now)
{
    char *some = evzk__zalloc(strlen(addresses) + 1);
    int rc = EVZK_OK;
    int64_t until;

    if (!some)
        return EVZK_ERR_NOMEM;
    if (evzk__shunned_filter(&s->connection.shunned, addresses, now, some,
                             &until))
        rc = open_client(s, some);
    else
        s->connection.retry_at = until;
    evzk__free(some);
    return rc;
}

/* All were tried in vain.  A handle that goes on would leave some of them out
 * for ever; the next one begins anew, after a moment. */
static void end_round(evzk_session *s, int64_t now)
{
    int64_t pause = (int64_t)s->options.timeout_ms * 1000 / 60;

    if (!s->core.client || evzk__session_up(&s->core) ||
        evzk__client_failures(s->core.client) < s->connection.offered)
        return;
    if (pause < ROUND_MIN_US)
        pause = ROUND_MIN_US;
    if (pause > ROUND_MAX_US)
        pause = ROUND_MAX_US;
    evzk__connection_free_handle(s);
    s->connection.rounds += s->connection.hurried;
    s->connection.retry_at = now + pause;
}

static const char *why_away(const evzk_session *s)
{
    if (!evzk__servers_addresses(s->connection.servers))
        return evzk_strerror(EVZK_ERR_RESOLVE);
    return s->connection.away_why[0] ? s->connection.away_why
                                     : "no server has answered yet";
}

/* Logs why no server is reached: first after a while, then more and more
 * seldom. */
static void say_away(evzk_session *s, int64_t now)
{
    int64_t away = now - s->connection.away_since, wait;

    if (s->connection.away_since == 0) {
        s->connection.away_since = now;
        s->connection.say_away_at = now + SAY_FIRST_US;
        return;
    }
    if (now < s->connection.say_away_at)
        return;
    evzk__session_log(&s->core, EVZK_LOG_WARN, "no server reached for %d s: %s",
                      (int)(away / 1000000), why_away(s));
    wait = away < SAY_MOST_US ? away : SAY_MOST_US;
    s->connection.say_away_at = now + wait;
}

static void say_unresolved(evzk_session *s)
{
    bool room = evzk__net_room(EVZK__ROOM_MAX);

    evzk__session_log(&s->core, room ? EVZK_LOG_INFO : EVZK_LOG_WARN, "%s",
                      room ? evzk_strerror(EVZK_ERR_RESOLVE)
                           : EVZK__NO_DESCRIPTOR);
}

/* While there is no connection, look the names up now and then. */
static void resolve(evzk_session *s, int64_t now)
{
    if (evzk__session_up(&s->core) || now < s->connection.resolve_at)
        return;
    say_away(s, now);
    if (!evzk__servers_addresses(s->connection.servers) &&
        s->connection.resolve_at && !evzk__servers_busy(s->connection.servers))
        say_unresolved(s);
    evzk__servers_refresh(s->connection.servers);
    s->connection.resolve_at = now + RESOLVE_US;
}

void evzk__connection_keep(evzk_session *s)
{
    int64_t now = evzk__now_us();
    const char *addresses;
    int rc;

    if (s->core.phase > EVZK__DRAINING)
        return;
    resolve(s, now);
    if (evzk__session_up(&s->core) && fresh_credential(s))
        (void)present_credentials(s); /* Or with the next connection. */
    else if (s->core.client && !evzk__session_up(&s->core) &&
             (s->connection.moved || fresh_credential(s)))
        evzk__connection_free_handle(s); /* Connecting with old data. */
    end_round(s, now);
    addresses = evzk__servers_addresses(s->connection.servers);
    if (s->core.client || s->core.old || !addresses ||
        now < s->connection.retry_at)
        return;
    s->connection.moved = false;
    rc = open_some(s, addresses, now);
    if (rc == EVZK_OK)
        return;
    s->connection.retry_at = now + EVZK__RETRY_US;
    evzk__session_log(&s->core, EVZK_LOG_ERROR, "cannot make a client: %s",
                      evzk_strerror(rc));
}

/* A new socket often has the number of the one before, which the kernel has
 * already forgotten to watch. */
void evzk__connection_note_attempt(evzk_session *s)
{
    if (s->core.client &&
        evzk__client_attempts(s->core.client) != s->connection.attempts) {
        s->connection.attempts = evzk__client_attempts(s->core.client);
        evzk__io_want(s->io, -1, 0);
    }
}
