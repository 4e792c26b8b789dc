/* The session of a subcommand. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "auth.h"
#include "command.h"
#include "connect.h"

static const int stop_signals[CONNECTION_SIGNALS] = {SIGINT, SIGTERM, SIGHUP,
                                                     SIGQUIT};
static char last_words[400]; /* Of the library, on a call that it refused. */

/* clang-format off */
static const struct {
    int rc, status;
    const char *advice;
} advices[] = {
    {EVZK_ERR_INVAL, STATUS_USAGE, NULL},
    {EVZK_ERR_AUTH, STATUS_NOT_ALLOWED,
     "check the credentials in --auth-file or EVZK_AUTH"},
    {EVZK_ERR_NOAUTH, STATUS_NOT_ALLOWED,
     "give credentials with --auth-file or EVZK_AUTH, "
     "or have the ACL changed"},
    {EVZK_ERR_BADACL, STATUS_NOT_ALLOWED,
     "an ACL for \"auth\" needs credentials: give --auth-file or EVZK_AUTH"},
    {EVZK_ERR_NOCHROOT, STATUS_FAILED,
     "make the chroot, or correct it in --servers"},
    {EVZK_ERR_NONODE, STATUS_FAILED, "check the path"},
    {EVZK_ERR_NOTEMPTY, STATUS_FAILED, "delete its children first"},
    {EVZK_ERR_FOREIGN, STATUS_FAILED,
     "give the --dialect of that library, or use another path"},
    {EVZK_ERR_QUOTA, STATUS_FAILED,
     "raise the quota, or delete what is not needed"},
    {EVZK_ERR_SEQUENCE, STATUS_FAILED, "delete the directory, or use another"},
    {EVZK_ERR_EPHEMERAL, STATUS_FAILED, "use a path below a persistent znode"},
    {EVZK_ERR_UNSUPPORTED, STATUS_FAILED,
     "evzk needs servers of version 3.5 or newer"},
    {EVZK_ERR_SERVER, STATUS_FAILED, "the log of the servers may say more"},
    {EVZK_ERR_BADDATA, STATUS_FAILED,
     "the path is used for something else: check it"},
    {EVZK_ERR_TOOLARGE, STATUS_FAILED,
     "give less data, or raise jute.maxbuffer in all servers"},
    {EVZK_ERR_TIMEOUT, STATUS_NOT_GOT, "wait longer"},
    {EVZK_ERR_BUSY, STATUS_NOT_GOT, "wait for it"},
    {EVZK_ERR_EXPIRED, STATUS_FAILED,
     "try again; a longer --session-timeout bears longer gaps"},
    {EVZK_ERR_LEASE, STATUS_FAILED,
     "try again; a longer --session-timeout bears longer gaps"},
    {EVZK_ERR_RESOLVE, STATUS_NO_SERVER, "check the names in --servers"},
    {EVZK_ERR_NOMEM, STATUS_FAILED, "give the process more memory"},
};
/* clang-format on */

int complain_error(int rc, const char *path)
{
    const char *colon = path ? ": " : "", *text = evzk_strerror(rc);

    path = path ? path : "";
    if (rc == EVZK_ERR_INVAL && last_words[0])
        return complain_usage("%s%s%s", path, colon, last_words);
    for (size_t i = 0; i < sizeof(advices) / sizeof(advices[0]); i++) {
        if (advices[i].rc != rc)
            continue;
        complain("%s%s%s%s%s", path, colon, text, advices[i].advice ? ": " : "",
                 advices[i].advice ? advices[i].advice : "");
        return advices[i].status;
    }
    complain("%s%s%s: -v may say more; if not, please report this (%s)", path,
             colon, text, evzk_errname(rc));
    return STATUS_INTERNAL;
}

static void on_log(evzk_log_level level, const char *line, void *arg)
{
    const char *reason = strstr(line, ": ");

    (void)arg;
    if (settings.verbose)
        evzk_log_stderr(level, line, NULL);
    snprintf(last_words, sizeof(last_words), "%s", reason ? reason + 2 : line);
}

static void on_session(evzk_session *session, evzk_session_event event, int rc,
                       void *arg)
{
    struct connection *c = arg;

    (void)session;
    if (event == EVZK_SESSION_CONNECTED)
        c->connected = true;
    if (c->told)
        c->told(event, c->arg);
    if (event != EVZK_SESSION_CLOSED)
        return;
    if (!c->finished) { /* The servers ended it. */
        c->finished = true;
        c->status = complain_error(rc, NULL);
    }
    event_base_loopexit(c->base, NULL);
}

static void on_silence(evutil_socket_t fd, short what, void *arg)
{
    struct connection *c = arg;

    (void)fd, (void)what;
    if (c->connected || c->finished)
        return;
    complain("no server answered within %g s: %s: is the address right, and "
             "does a server run there? (-v says more, --connect-timeout waits "
             "longer)",
             settings.connect_ms / 1000.0, settings.servers);
    connection_finish(c, STATUS_NO_SERVER);
}

static void on_signal(evutil_socket_t signo, short what, void *arg)
{
    struct connection *c = arg;

    (void)what;
    if (c->stop)
        c->stop((int)signo, c->arg);
    else
        connection_finish(c, 128 + (int)signo);
}

bool signal_ignored(int signo)
{
    struct sigaction now;

    return sigaction(signo, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static bool add_events(struct connection *c)
{
    struct timeval patience = {settings.connect_ms / 1000,
                               settings.connect_ms % 1000 * 1000};

    for (int i = 0; i < CONNECTION_SIGNALS; i++) {
        if (signal_ignored(stop_signals[i]))
            continue;
        c->signals[i] = evsignal_new(c->base, stop_signals[i], on_signal, c);
        if (!c->signals[i] || event_add(c->signals[i], NULL))
            return false;
    }
    c->silence = evtimer_new(c->base, on_silence, c);
    return c->silence &&
           (settings.connect_ms == 0 || event_add(c->silence, &patience) == 0);
}

/* "host:port,.../chroot" has two parts; the names of hosts have no slash. */
static int open_session(struct connection *c, evzk_session_cb *cb, void *arg,
                        evzk_session **out)
{
    evzk_session_options opt = {.timeout_ms = settings.session_timeout,
                                .log = on_log,
                                .log_level =
                                    settings.verbose > 1 ? EVZK_LOG_DEBUG
                                    : settings.verbose   ? EVZK_LOG_INFO
                                                         : EVZK_LOG_WARN};
    char *servers = strdup(settings.servers), *slash;
    int rc = EVZK_ERR_NOMEM;

    if (servers) {
        slash = strchr(servers, '/');
        if (slash && slash[1])
            opt.chroot = settings.servers + (slash - servers);
        if (slash)
            *slash = '\0';
        rc = evzk_session_open(c->base, servers, &opt, cb, arg, out);
    }
    free(servers);
    if (rc == EVZK_ERR_INVAL)
        return complain_usage("the servers are to be HOST:PORT,...[/CHROOT], "
                              "not '%s'",
                              settings.servers);
    return rc ? complain_error(rc, NULL) : 0;
}

int connection_open(struct connection *c)
{
    int status = settings_complete();

    if (status)
        return status;
    c->base = event_base_new();
    if (!c->base || !add_events(c)) {
        complain("no loop can be made: is there enough memory?");
        return STATUS_FAILED;
    }
    status = open_session(c, on_session, c, &c->session);
    return status ? status : auth_add(c->session);
}

int connection_more(struct connection *c, evzk_session_cb *cb, void *arg,
                    evzk_session **out)
{
    int status = open_session(c, cb, arg, out);

    return status ? status : auth_add(*out);
}

void connection_finish(struct connection *c, int status)
{
    if (c->finished)
        return;
    c->finished = true;
    c->status = status;
    evzk_session_close(c->session);
}

bool connection_finished(const struct connection *c) { return c->finished; }

int connection_run(struct connection *c)
{
    if (event_base_dispatch(c->base) < 0) {
        complain("the loop failed");
        return STATUS_INTERNAL;
    }
    return c->status;
}

/* An operation that could not be started leaves a session that is open: its end
 * takes a few turns of the loop. */
static void end_session(struct connection *c)
{
    connection_finish(c, STATUS_OK);
    event_base_dispatch(c->base);
}

void connection_free(struct connection *c)
{
    if (c->session && !c->finished)
        end_session(c);
    evzk_session_free(c->session);
    for (int i = 0; i < CONNECTION_SIGNALS; i++) {
        if (c->signals[i])
            event_free(c->signals[i]);
    }
    if (c->silence)
        event_free(c->silence);
    if (c->base)
        event_base_free(c->base);
}
