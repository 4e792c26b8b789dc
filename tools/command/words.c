/* Asks servers, with bufferevents of libevent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>

#include "command.h"
#include "words.h"

#define ANSWER_MAX 1000000

static const char *const texts[WORDS] = {"srvr", "mntr", "ruok", "conf"};

struct asking;

/* A word that is asked of a server. */
struct question {
    struct asking *asking;
    struct server *server;
    enum word word;
    struct bufferevent *stream;
};

struct asking {
    struct event_base *base;
    struct evdns_base *dns;
    struct question *v;
    size_t n, left;
};

static void end(struct question *q, const char *error)
{
    struct evbuffer *in;
    size_t len;

    if (!q->stream)
        return;
    in = bufferevent_get_input(q->stream);
    len = evbuffer_get_length(in);
    if (!error && len == 0)
        error = "it closed the connection without a word (is that a port for "
                "TLS, or for servers?)";
    if (error)
        q->server->error[q->word] = strdup(error);
    else
        q->server->said[q->word] =
            strndup((char *)evbuffer_pullup(in, -1), len);
    bufferevent_free(q->stream);
    q->stream = NULL;
    if (--q->asking->left == 0)
        event_base_loopbreak(q->asking->base);
}

static void on_read(struct bufferevent *stream, void *arg)
{
    if (evbuffer_get_length(bufferevent_get_input(stream)) > ANSWER_MAX)
        end(arg, "it says too much for a server of ZooKeeper");
}

static void on_event(struct bufferevent *stream, short what, void *arg)
{
    struct question *q = arg;
    int error = errno, dns;

    if (what & BEV_EVENT_CONNECTED)
        return;
    dns = bufferevent_socket_get_dns_error(stream);
    if (dns)
        end(q, evutil_gai_strerror(dns));
    else if ((what & BEV_EVENT_EOF) ||
             evbuffer_get_length(bufferevent_get_input(stream)))
        end(q, NULL);
    else
        end(q, evutil_socket_error_to_string(error));
}

static bool ask_one(struct question *q)
{
    q->stream =
        bufferevent_socket_new(q->asking->base, -1, BEV_OPT_CLOSE_ON_FREE);
    if (!q->stream)
        return false;
    q->asking->left++;
    bufferevent_setcb(q->stream, on_read, NULL, on_event, q);
    bufferevent_enable(q->stream, EV_READ);
    evbuffer_add(bufferevent_get_output(q->stream), texts[q->word], 4);
    if (bufferevent_socket_connect_hostname(q->stream, q->asking->dns,
                                            AF_UNSPEC, q->server->host,
                                            q->server->port))
        end(q, "no connection can be made");
    return true;
}

static void on_silence(evutil_socket_t fd, short what, void *arg)
{
    struct asking *a = arg;

    (void)fd, (void)what;
    for (size_t i = 0; i < a->n; i++)
        end(&a->v[i], "no answer in time (--connect-timeout waits longer)");
}

static bool ask_all(struct asking *a, struct servers *s, int words)
{
    a->v = calloc(s->n * (size_t)words, sizeof(*a->v));
    for (size_t i = 0; a->v && i < s->n; i++) {
        for (int word = 0; word < words; word++) {
            struct question *q = &a->v[a->n++];

            *q = (struct question){a, &s->v[i], (enum word)word, NULL};
            if (!ask_one(q))
                return false;
        }
    }
    return a->v != NULL;
}

/* libevent would write to stderr that there is no name server. */
static void on_dns_log(int warning, const char *text)
{
    (void)warning, (void)text;
}

int servers_ask(struct servers *s, enum word last)
{
    struct asking a = {.base = event_base_new()};
    struct timeval patience = {settings.connect_ms / 1000,
                               settings.connect_ms % 1000 * 1000};
    struct event *silence;
    bool ok;

    evdns_set_log_fn(on_dns_log);
    a.dns = evdns_base_new(a.base, EVDNS_BASE_DISABLE_WHEN_INACTIVE |
                                       EVDNS_BASE_INITIALIZE_NAMESERVERS);
    silence = evtimer_new(a.base, on_silence, &a);
    ok = a.dns && silence && ask_all(&a, s, (int)last + 1);
    if (ok && settings.connect_ms)
        event_add(silence, &patience);
    if (ok && a.left)
        event_base_dispatch(a.base);
    for (size_t i = 0; i < a.n; i++) {
        if (a.v[i].stream)
            bufferevent_free(a.v[i].stream);
    }
    free(a.v);
    if (silence)
        event_free(silence);
    if (a.dns)
        evdns_base_free(a.dns, 0);
    event_base_free(a.base);
    if (!ok)
        complain("out of memory");
    return ok ? 0 : STATUS_FAILED;
}
