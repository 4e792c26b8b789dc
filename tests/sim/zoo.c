/* A handle of the simulated C client: made, connected, timed out, closed. */
#include "zoo.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

void zoo__log(zhandle_t *zh, const char *level, const char *fmt, ...)
{
    char text[256], line[320];
    va_list ap;

    if (!zh->log && !sim_talking())
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    snprintf(line, sizeof line, "sim:ZOO_%s@client: %s", level, text);
    if (zh->log)
        zh->log(line);
    sim_say("p%d client: %s", zh->proc, text);
}

void zoo__prolog(zhandle_t *zh) { zh->refs++; }

int zoo__epilog(zhandle_t *zh, int rc)
{
    if (--zh->refs == 0 && zh->close_requested)
        zookeeper_close(zh);
    return rc;
}

bool zoo__connected(const zhandle_t *zh)
{
    return zh->state == ZOO_CONNECTED_STATE;
}

/* "127.0.0.N:port,...": N counts the servers from 1. */
static bool parse_servers(zhandle_t *zh, const char *host)
{
    while (*host && zh->n_servers < ZOO__SERVERS) {
        size_t n = strcspn(host, ",:"), dot = n;

        while (dot > 0 && host[dot - 1] != '.')
            dot--;
        zh->servers[zh->n_servers++] = atoi(host + dot) - 1;
        host += strcspn(host, ",");
        host += *host == ',';
    }
    return zh->n_servers > 0;
}

zhandle_t *zookeeper_init2(const char *host, watcher_fn fn, int recv_timeout,
                           const clientid_t *clientid, void *context, int flags,
                           log_callback_fn log_callback)
{
    zhandle_t *zh;

    (void)flags;
    if (!host || !*host) {
        errno = EINVAL;
        return NULL;
    }
    zh = sim_malloc(sizeof *zh);
    if (!zh) {
        errno = ENOMEM;
        return NULL;
    }
    memset(zh, 0, sizeof *zh);
    zh->proc = sim_running();
    zh->state = ZOO_NOTCONNECTED_STATE;
    zh->conn = -1;
    zh->fresh = true;
    zh->recv_timeout = recv_timeout;
    zh->watcher = fn;
    zh->context = context;
    zh->log = log_callback;
    zh->seen = clientid && clientid->client_id;
    if (clientid)
        zh->id = *clientid;
    if (parse_servers(zh, host))
        return zh;
    sim_mfree(zh);
    errno = EINVAL;
    return NULL;
}

zhandle_t *zookeeper_init(const char *host, watcher_fn fn, int recv_timeout,
                          const clientid_t *clientid, void *context, int flags)
{
    return zookeeper_init2(host, fn, recv_timeout, clientid, context, flags,
                           NULL);
}

void zoo__hang_up(zhandle_t *zh)
{
    if (zh->conn >= 0)
        wire_close(zh->conn);
    zh->conn = -1;
}

/* The session event comes while the state is still what it was; then the
 * completions. */
static void clean_up(zhandle_t *zh, int rc)
{
    zoo__hang_up(zh);
    if (zh->state < 0 || zoo__connected(zh)) {
        zoo__queue_event(zh, NULL, ZOO_SESSION_EVENT,
                         zh->state < 0 ? zh->state : ZOO_CONNECTING_STATE);
        zoo__complete(zh);
    }
    zoo__drop_unsent(zh);
    zoo__fail_all(zh, rc);
    if (zh->state >= 0)
        zh->state = 0;
    zoo__complete(zh);
}

static bool at_end(const zhandle_t *zh)
{
    return zh->next_server >= zh->n_servers;
}

static int next_server(zhandle_t *zh)
{
    if (at_end(zh))
        zh->next_server = 0;
    return zh->servers[zh->next_server++];
}

/* The first time it takes all of them in order, beside its own count. */
static int choose_server(zhandle_t *zh)
{
    if (zh->fresh && zh->next_new < zh->n_servers)
        return zh->servers[zh->next_new++];
    zh->fresh = false;
    return next_server(zh);
}

/* The client steps to the next server here, and again when it connects. */
void zoo__lost(zhandle_t *zh, int rc)
{
    clean_up(zh, rc);
    zh->delay = at_end(zh);
    (void)next_server(zh);
}

int zoo__socket_error(zhandle_t *zh, int rc)
{
    zoo__log(zh, "ERROR", "Socket error, zk retcode=%d", rc);
    zoo__lost(zh, rc);
    return rc;
}

int zoo__prime(zhandle_t *zh)
{
    struct wire_msg *m = wire_msg_new(WIRE_CONNECT, 0);

    m->session = zh->seen ? zh->id.client_id : 0;
    memcpy(m->passwd, zh->id.passwd, sizeof m->passwd);
    m->timeout_ms = zh->recv_timeout;
    m->last_zxid = zh->last_zxid;
    if (!wire_send(zh->conn, m))
        return zoo__socket_error(zh, ZCONNECTIONLOSS);
    zh->state = ZOO_ASSOCIATING_STATE;
    return ZOK;
}

static struct timeval timeval_of(int ms)
{
    struct timeval tv = {0, 0};

    if (ms > 0) {
        tv.tv_sec = ms / 1000;
        tv.tv_usec = ms % 1000 * 1000;
    }
    return tv;
}

/* Without a socket: a delay when all servers were tried, or an attempt. */
static int begin_attempt(zhandle_t *zh, struct timeval *tv)
{
    if (zh->delay) {
        *tv = timeval_of(zh->recv_timeout / 60);
        zh->delay = false;
        zoo__log(zh, "WARN", "Delaying connection after trying all servers");
    } else {
        zh->server = choose_server(zh);
        zh->conn = wire_open(zh->server);
        if (zh->conn < 0)
            return zoo__socket_error(zh, ZSYSTEMERROR);
        zh->state = ZOO_CONNECTING_STATE;
        *tv = timeval_of(zh->recv_timeout / 3);
    }
    zh->last_recv = zh->last_send = sim_now();
    return ZOK;
}

static int since(int64_t then) { return (int)((sim_now() - then) / 1000); }

static int await_socket(zhandle_t *zh, int *interest, struct timeval *tv)
{
    int recv_to = zh->recv_timeout * 2 / 3 - since(zh->last_recv);
    int send_to = zh->recv_timeout / 3, rc;

    *interest = 0;
    if (recv_to <= 0) {
        *tv = timeval_of(0);
        return zoo__socket_error(zh, ZOPERATIONTIMEOUT);
    }
    if (zoo__connected(zh)) {
        send_to -= since(zh->last_send);
        if (send_to <= 0) {
            rc = zh->sent.head ? ZOK : zoo__ping(zh);
            if (rc != ZOK)
                return rc; /* The socket stays as it is, and unwatched. */
            send_to = zh->recv_timeout / 3;
        }
    }
    *tv = timeval_of(recv_to < send_to ? recv_to : send_to);
    *interest = ZOOKEEPER_READ;
    if ((zh->to_send && zoo__connected(zh)) ||
        zh->state == ZOO_CONNECTING_STATE)
        *interest |= ZOOKEEPER_WRITE;
    return ZOK;
}

static int fd_of(const zhandle_t *zh)
{
    return zh->conn < 0 ? -1 : WIRE_FD + zh->conn;
}

int zookeeper_interest(zhandle_t *zh, int *fd, int *interest,
                       struct timeval *tv)
{
    int rc = ZOK;

    if (!zh || !fd || !interest || !tv)
        return ZBADARGUMENTS;
    if (zh->state < 0)
        return ZINVALIDSTATE;
    zoo__prolog(zh);
    *fd = fd_of(zh);
    *interest = 0;
    *tv = timeval_of(0);
    if (*fd < 0) {
        rc = begin_attempt(zh, tv);
        *fd = fd_of(zh);
    }
    if (rc == ZOK && zh->conn >= 0) /* A loss in here leaves *fd as it was. */
        rc = await_socket(zh, interest, tv);
    return zoo__epilog(zh, rc);
}

static void destroy(zhandle_t *zh)
{
    zoo__drop_unsent(zh);
    zoo__fail_all(zh, ZCLOSING);
    zoo__complete(zh);
    zoo__hang_up(zh);
    zoo__watch_free(zh->watches);
    zoo__auth_free(zh);
    sim_mfree(zh);
}

/* The real one sends a request, and then waits for the answer. */
static void say_goodbye(zhandle_t *zh)
{
    zoo__put(zh, wire_msg_new(WIRE_CLOSE, ++zh->xid), false);
    if (zoo__flush(zh) == ZOK)
        sim_violation("p%d: zookeeper_close would block", zh->proc);
}

int zookeeper_close(zhandle_t *zh)
{
    if (!zh)
        return ZBADARGUMENTS;
    zh->close_requested = true;
    if (++zh->refs > 1) { /* From inside a call: that does the rest. */
        zoo__fail_all(zh, ZCLOSING);
        zoo__epilog(zh, ZOK);
        return ZOK;
    }
    if (zoo__connected(zh))
        say_goodbye(zh);
    destroy(zh);
    return ZOK;
}

int zoo_state(zhandle_t *zh) { return zh ? zh->state : 0; }

int is_unrecoverable(zhandle_t *zh)
{
    return zh->state < 0 ? ZINVALIDSTATE : ZOK;
}

const clientid_t *zoo_client_id(zhandle_t *zh) { return &zh->id; }

const char *zoo_get_current_server(zhandle_t *zh)
{
    snprintf(zh->current, sizeof zh->current, "127.0.0.%d:2181",
             zh->server + 1);
    return zh->current;
}

int zoo_recv_timeout(zhandle_t *zh) { return zh->recv_timeout; }

/* Names are not resolved here. */
int zoo_set_servers_resolution_delay(zhandle_t *zh, int delay_ms)
{
    (void)zh;
    return delay_ms < -1 ? ZBADARGUMENTS : ZOK;
}

/* The order here is always that of the list. */
void zoo_deterministic_conn_order(int yesOrNo) { (void)yesOrNo; }

void zoo_set_debug_level(ZooLogLevel logLevel) { (void)logLevel; }
