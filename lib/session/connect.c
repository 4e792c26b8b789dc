/* Makes the session's connection: which servers are tried, for how long, and
 * what the log says while none is reached.
 *
 * How it can fail.  A server may be frozen, or be no ZooKeeper: it has a part
 * of the time-out, and is left out for a while.  The names of the servers are
 * looked up again and again, since an address may have changed.
 */
#include "lib/session/connection.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/net.h"
#include "lib/base/os.h"
#include "lib/request/watch.h"

enum {
    RESOLVE_US = 1000000,
    ROUND_MIN_US = 10000, /* When all were tried: a sixtieth of the time-out. */
    ROUND_MAX_US = 1000000,
    PATIENCE_MIN_MS = 500,
    SAY_FIRST_US = 5000000, /* After so long without a server; then ... */
    SAY_MOST_US =
        300000000 /* ... after twice as long, and so often at least. */
};

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
