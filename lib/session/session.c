/* The session as the application sees it: its functions, its options, its end.
 * The work of the loop is in turn.c. */
#include "lib/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/name.h"
#include "lib/base/os.h"
#include "lib/base/view.h"
#include "lib/machine/machine.h"
#include "lib/machine/refuse.h"
#include "lib/request/idle_dirs.h"
#include "lib/request/transaction.h"
#include "lib/session/closing.h"

enum {
    TIMEOUT_MS = 10000,
    CLOSE_TIMEOUT_MS = 1000,
    WINDOW = 1000,
    WINDOW_MAX = 10000,
    TIMEOUT_MIN_MS = 100, /* Of a session: a shorter one never connects. */
    TIMEOUT_MAX_MS = 24 * 3600 * 1000
};

static void turn_timer(void *arg) { evzk__session_turn(arg, 0); }

static void turn_io(int what, void *arg) { evzk__session_turn(arg, what); }

static void moved(void *arg)
{
    evzk_session *s = arg;

    s->connection.moved = true;
    if (s->core.timer)
        evzk__session_kick(&s->core);
}

/* "" for "/" or nothing. */
static int copy_chroot(evzk_session *s, const char *chroot)
{
    if (!chroot || strcmp(chroot, "/") == 0)
        chroot = "";
    s->core.chroot = evzk__strdup(chroot);
    return s->core.chroot ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int copy_data(evzk_session *s, const void *data, size_t len)
{
    char self[300];

    if (!data) {
        evzk__self(self, sizeof self);
        data = self;
        len = strlen(self);
    }
    s->core.data = evzk__memdup(data, len);
    s->core.data_len = len;
    return s->core.data ? EVZK_OK : EVZK_ERR_NOMEM;
}

static bool broken_times(const struct evzk__call *c,
                         const evzk_session_options *o)
{
    return evzk__broken(c,
                        o->timeout_ms == 0 ||
                            (o->timeout_ms >= TIMEOUT_MIN_MS &&
                             o->timeout_ms <= TIMEOUT_MAX_MS),
                        "timeout_ms", "must be 0, or 100 to one day") ||
           evzk__broken(c, o->close_timeout_ms <= TIMEOUT_MAX_MS,
                        "close_timeout_ms", "must be at most one day");
}

static bool broken_options(const struct evzk__call *c,
                           const evzk_session_options *o)
{
    const char *root = o->chroot;

    return evzk__broken_reserved(c, o->reserved) || broken_times(c, o) ||
           evzk__broken(c, o->window <= WINDOW_MAX, "window",
                        "must be at most 10,000") ||
           evzk__broken(c, (unsigned)o->log_level <= EVZK_LOG_DEBUG,
                        "log_level", "must be 0, or one of EVZK_LOG_*") ||
           (root && root[0] && strcmp(root, "/") != 0 &&
            evzk__broken_path(c, "chroot", root)) ||
           evzk__broken_data(c, o->data, o->data_len, 65536) ||
           evzk__broken_acl(c, o->acl, o->acl_count);
}

/* Each costs the client about a tenth of a millisecond, in one turn. */
static bool broken_servers(const struct evzk__call *c, const char *servers)
{
    size_t n = 1;

    if (evzk__broken(c, servers, "servers", EVZK__NOT_NULL))
        return true;
    for (const char *s = servers; *s && n <= EVZK_SERVERS_MAX; s++)
        n += *s == ',';
    return evzk__broken(c, n <= EVZK_SERVERS_MAX, "servers",
                        "must be at most 64");
}

static uint32_t or_default(uint32_t value, uint32_t other)
{
    return value ? value : other;
}

static int take_options(evzk_session *s, const evzk_session_options *o)
{
    int rc;

    s->options.timeout_ms = or_default(o->timeout_ms, TIMEOUT_MS);
    s->options.close_timeout_ms =
        or_default(o->close_timeout_ms, CLOSE_TIMEOUT_MS);
    s->core.window = or_default(o->window, WINDOW);
    if (s->core.window < 4)
        s->core.window = 4; /* Room for every compound request. */
    s->core.make_chroot = o->make_chroot;
    s->core.log.cb = o->log;
    s->core.log.arg = o->log_arg;
    s->core.log.level = o->log_level ? o->log_level : EVZK_LOG_WARN;
    s->core.trace.cb = o->trace;
    s->core.trace.arg = o->trace_arg;
    rc = copy_chroot(s, o->chroot);
    if (rc == EVZK_OK)
        rc = copy_data(s, o->data, o->data_len);
    if (rc == EVZK_OK)
        rc = evzk__acl_copy(&s->core.acl, o->acl, o->acl_count);
    return rc;
}

static int attach(evzk_session *s, struct event_base *base, const char *servers,
                  struct evdns_base *dns)
{
    int rc;

    s->connection.servers =
        evzk__servers_new(base, dns, servers, moved, s, &rc);
    if (!s->connection.servers)
        return rc;
    s->probe.root = evzk__dir_get(&s->core, "/", "");
    s->io = evzk__io_new(base, turn_io, s);
    s->core.timer = evzk__timer_new(base, turn_timer, s);
    return s->probe.root && s->io && s->core.timer ? EVZK_OK : EVZK_ERR_NOMEM;
}

/* All but what the options say. */
static void init_core(struct evzk__core *s, struct event_base *base)
{
    s->base = base;
    s->pid = evzk__pid();
    s->destroy = evzk__session_destroy;
    s->refs = 2; /* The caller's and the loop's. */
    s->wake = &evzk__machine_wake;
    TAILQ_INIT(&s->machines);
    TAILQ_INIT(&s->running);
    TAILQ_INIT(&s->awaiting_reply);
    TAILQ_INIT(&s->left.all);
    TAILQ_INIT(&s->left.waiting);
    RB_INIT(&s->makers);
    evzk__requests_init(&s->requests);
    RB_INIT(&s->dirs);
    TAILQ_INIT(&s->idle);
    LIST_INIT(&s->idle_dir_checks);
    LIST_INIT(&s->looks);
    LIST_INIT(&s->barred_looks);
    RB_INIT(&s->path_watches);
    RB_INIT(&s->onlookers);
    TAILQ_INIT(&s->later);
    LIST_INIT(&s->residents);
}

int evzk_session_open(struct event_base *base, const char *servers,
                      const evzk_session_options *opt, evzk_session_cb *cb,
                      void *arg, evzk_session **out)
{
    static const evzk_session_options defaults;
    evzk_session *s;
    int rc;

    struct evzk__call call = {.function = __func__};

    if (!opt)
        opt = &defaults;
    call.log = opt->log;
    call.log_arg = opt->log_arg;
    if (evzk__broken(&call, base, "base", EVZK__NOT_NULL) ||
        broken_servers(&call, servers) ||
        evzk__broken(&call, out, "out", EVZK__NOT_NULL) ||
        broken_options(&call, opt))
        return EVZK_ERR_INVAL;
    s = evzk__zalloc(sizeof *s);
    if (!s)
        return EVZK_ERR_NOMEM;
    init_core(&s->core, base);
    s->options.cb = cb;
    s->options.cb_arg = arg;
    STAILQ_INIT(&s->options.credentials);
    rc = take_options(s, opt);
    if (rc == EVZK_OK)
        rc = attach(s, base, servers, opt->dns);
    if (rc != EVZK_OK) {
        evzk__broken(&call, rc != EVZK_ERR_INVAL, "servers",
                     "must be \"host:port\" or \"[IPv6]:port\", with commas "
                     "between; a chroot has an option of its own");
        evzk__session_destroy(&s->core);
        return rc;
    }
    evzk__session_kick(&s->core);
    *out = s;
    return EVZK_OK;
}

int evzk_session_add_auth(evzk_session *s, const char *scheme, const void *cert,
                          size_t len)
{
    struct evzk__credential *c;
    int rc;

    struct evzk__call call = evzk__call_of(s, __func__);

    if (evzk__broken(&call, s, "session", EVZK__NOT_NULL) ||
        evzk__broken(&call, scheme && scheme[0], "scheme",
                     "must not be NULL or \"\"") ||
        evzk__broken(&call, cert || len == 0, "cert",
                     "must not be NULL when len is not 0") ||
        evzk__broken(&call, len <= 65536, "len", "must be at most 65,536"))
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    c = evzk__zalloc(sizeof *c);
    if (!c)
        return EVZK_ERR_NOMEM;
    c->scheme = evzk__strdup(scheme);
    c->cert = evzk__memdup(cert, len);
    c->len = len;
    if (!c->scheme || !c->cert) {
        evzk__free(c->scheme);
        evzk__free(c->cert);
        evzk__free(c);
        return EVZK_ERR_NOMEM;
    }
    STAILQ_INSERT_TAIL(&s->options.credentials, c, link);
    evzk__session_kick(&s->core); /* The loop presents the credential. */
    return EVZK_OK;
}

int evzk_session_close(evzk_session *s)
{
    int rc;

    if (!s)
        return EVZK_ERR_INVAL;
    rc = evzk__may_begin(s);
    if (rc != EVZK_OK)
        return rc;
    evzk__closing_begin(s);
    return EVZK_OK;
}

/* Frees the child's copy.  Its descriptor is the parent's connection, and the
 * child may share the loop's epoll set with the parent.  A dead socket takes
 * the descriptor's place first, so that freeing touches neither. */
static void free_in_child(evzk_session *s)
{
    bool over = s->core.phase == EVZK__CLOSED;
    struct evzk__machine *m;

    s->core.phase =
        EVZK__CLOSED; /* Forked in a callback, its turn still runs. */
    evzk__session_end_term(s);
    if (s->core.client) {
        evzk__client_deaden(s->core.client);
        evzk__requests_forget(s->core.client);
    }
    if (s->core.old)
        evzk__requests_forget(s->core.old);
    while ((m = TAILQ_FIRST(&s->core.machines)) != NULL)
        evzk__machine_forked(m);
    evzk__left_overs_drop(&s->core);
    evzk__machines_drop_awaiting_reply(&s->core);
    evzk__servers_abandon(s->connection.servers);
    s->connection.servers = NULL;
    if (!over)
        s->core.refs--; /* The loop's. */
    evzk__core_unref(&s->core);
}

void evzk_session_free(evzk_session *s)
{
    if (!s)
        return;
    s->options.cb = NULL;
    if (evzk__session_forked(&s->core)) {
        free_in_child(s);
        return;
    }
    if (s->core.phase == EVZK__RUNNING)
        evzk_session_close(s);
    evzk__core_unref(&s->core);
}

bool evzk_session_connected(const evzk_session *s)
{
    return s && s->core.phase == EVZK__RUNNING &&
           s->core.contact == EVZK__IN_CONTACT &&
           !evzk__session_forked(&s->core);
}

uint32_t evzk_session_lease_ms(const evzk_session *s)
{
    return s && !evzk__session_forked(&s->core)
               ? (uint32_t)evzk__session_left_ms(&s->core)
               : 0;
}

uint32_t evzk_session_timeout_ms(const evzk_session *s)
{
    return s ? s->connection.timeout_ms : 0;
}

int64_t evzk_session_id(const evzk_session *s) { return s ? s->core.id : 0; }

void evzk_session_get_stats(const evzk_session *s, evzk_session_stats *out)
{
    if (!out)
        return;
    memset(out, 0, sizeof *out);
    if (!s)
        return;
    *out = s->core.stats;
    out->in_flight = s->core.requests.in_flight;
    out->queued = s->core.requests.queued;
    out->watches = s->core.watches;
    out->probe_ms = (uint32_t)(evzk__lease_probe_us(&s->core.lease) / 1000);
}
