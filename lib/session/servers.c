/* The servers of a session.  The C client would resolve names with a blocking
 * getaddrinfo; it is given addresses only, which evdns found for us. */
#include "lib/session/servers.h"

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evzk/error.h"
#include "evzk/session.h"
#include "lib/base/mem.h"
#include "lib/base/net.h"

enum {
    PORT = 2181,
    ADDRESS_MAX = INET6_ADDRSTRLEN + sizeof ":65535,",
    ADDRESSES = 16,                      /* Of a name at most, and ... */
    ADDRESSES_MAX = 2 * EVZK_SERVERS_MAX /* ... of all of them. */
};

struct host {
    struct evzk__servers *sv;
    char *name; /* Owned, without brackets. */
    unsigned port;
    bool numeric;
    char *found; /* Owned: "address:port,address:port,"; NULL: none yet. */
    struct evdns_getaddrinfo_request *lookup;
};

struct evzk__servers {
    struct event_base *base;
    struct evdns_base *dns; /* Ours when own_dns. */
    bool own_dns, given_up;
    unsigned pending; /* Look-ups under way. */
    char *addresses;
    void (*changed)(void *);
    void *arg;
    size_t n;
    struct host host[];
};

static void destroy(struct evzk__servers *sv)
{
    for (size_t i = 0; i < sv->n; i++) {
        evzk__free(sv->host[i].name);
        evzk__free(sv->host[i].found);
    }
    if (sv->own_dns)
        evdns_base_free(sv->dns, 0);
    evzk__free(sv->addresses);
    evzk__free(sv);
}

/* Reads a port; an empty text is the default.  0: not a port. */
static unsigned port_of(const char *s, size_t len)
{
    unsigned value = 0;

    if (len == 0 || len > 5)
        return 0;
    for (size_t i = 0; i < len; i++) {
        if (s[i] < '0' || s[i] > '9')
            return 0;
        value = value * 10 + (unsigned)(s[i] - '0');
    }
    return value <= 65535 ? value : 0;
}

/* Splits "name:port" or "[v6]:port", of `len` bytes. */
static int parse_host(struct host *h, const char *s, size_t len)
{
    const char *colon = memchr(s, ':', len), *name = s;
    size_t name_len = colon ? (size_t)(colon - s) : len;
    unsigned char raw[16];
    char text[INET6_ADDRSTRLEN], *copy;

    if (len > 0 && s[0] == '[') {
        const char *close = memchr(s, ']', len);

        if (!close)
            return EVZK_ERR_INVAL;
        name = s + 1;
        name_len = (size_t)(close - name);
        colon = close + 1 < s + len ? close + 1 : NULL;
        if (colon && *colon != ':')
            return EVZK_ERR_INVAL;
    }
    h->port = PORT;
    if (colon)
        h->port = port_of(colon + 1, (size_t)(s + len - colon) - 1);
    if (name_len == 0 || name_len > 255 || h->port == 0 ||
        memchr(name, '/', name_len) || memchr(name, ' ', name_len))
        return EVZK_ERR_INVAL;
    copy = evzk__memdup(name, name_len);
    if (!copy)
        return EVZK_ERR_NOMEM;
    h->name = copy;
    if (s[0] == '[' && inet_pton(AF_INET6, copy, raw) != 1)
        return EVZK_ERR_INVAL;
    h->numeric = inet_pton(AF_INET, copy, raw) == 1;
    if (h->numeric || inet_pton(AF_INET6, copy, raw) != 1)
        return EVZK_OK;
    h->numeric = true; /* As the client writes it: it may be shunned. */
    inet_ntop(AF_INET6, raw, text, sizeof text);
    evzk__free(h->name);
    h->name = evzk__strdup(text);
    return h->name ? EVZK_OK : EVZK_ERR_NOMEM;
}

static int set_found(struct host *h, const char *list)
{
    char *copy = evzk__strdup(list);

    if (!copy)
        return EVZK_ERR_NOMEM;
    evzk__free(h->found);
    h->found = copy;
    return EVZK_OK;
}

static int parse(struct evzk__servers *sv, const char *text)
{
    int rc = EVZK_OK;

    for (const char *s = text; rc == EVZK_OK; s++) {
        struct host *h = &sv->host[sv->n++];
        char one[256 + sizeof ":65535,"];
        size_t len = strcspn(s, ",");

        h->sv = sv;
        rc = parse_host(h, s, len);
        if (rc == EVZK_OK && h->numeric) {
            snprintf(one, sizeof one, "%s:%u,", h->name, h->port);
            rc = set_found(h, one);
        }
        s += len;
        if (*s == '\0')
            break;
    }
    return rc;
}

/* Joins the addresses that were found.  Keeps the old list when there is no
 * memory. */
static int join(struct evzk__servers *sv)
{
    size_t len = 0;
    char *all;

    for (size_t i = 0; i < sv->n; i++)
        len += sv->host[i].found ? strlen(sv->host[i].found) : 0;
    if (len == 0)
        return EVZK_OK;
    all = evzk__zalloc(len + 1);
    if (!all)
        return EVZK_ERR_NOMEM;
    len = 0;
    for (size_t i = 0; i < sv->n; i++) {
        if (sv->host[i].found) {
            size_t n = strlen(sv->host[i].found);

            memcpy(all + len, sv->host[i].found, n);
            len += n;
        }
    }
    all[len - 1] = '\0'; /* The last comma. */
    if (sv->addresses && strcmp(sv->addresses, all) == 0) {
        evzk__free(all);
        return EVZK_OK;
    }
    evzk__free(sv->addresses);
    sv->addresses = all;
    sv->changed(sv->arg);
    return EVZK_OK;
}

static bool address_of(char out[ADDRESS_MAX], const struct addrinfo *ai,
                       unsigned port)
{
    char address[INET6_ADDRSTRLEN];
    const void *raw = NULL;

    if (ai->ai_family == AF_INET)
        raw =
            &((const struct sockaddr_in *)(const void *)ai->ai_addr)->sin_addr;
    else if (ai->ai_family == AF_INET6)
        raw = &((const struct sockaddr_in6 *)(const void *)ai->ai_addr)
                   ->sin6_addr;
    if (!raw || !inet_ntop(ai->ai_family, raw, address, sizeof address))
        return false;
    snprintf(out, ADDRESS_MAX, "%s:%u,", address, port);
    return true;
}

static int by_text(const void *a, const void *b) { return strcmp(a, b); }

/* The client looks at each address in one turn of the loop, which is to be
 * short: where there are many names, each has fewer. */
static size_t share(const struct evzk__servers *sv)
{
    size_t n = ADDRESSES_MAX / sv->n;

    return n < ADDRESSES ? n : ADDRESSES;
}

/* In an order of its own: name servers rotate theirs, and that is no change. */
static void list_addresses(char *list, const struct addrinfo *ai, unsigned port,
                           size_t most)
{
    char one[ADDRESSES][ADDRESS_MAX];
    size_t n = 0;

    for (; ai && n < ADDRESSES; ai = ai->ai_next)
        n += address_of(one[n], ai, port);
    qsort(one, n, sizeof one[0], by_text);
    for (size_t i = 0; i < n && i < most; i++)
        strcat(list, one[i]);
}

static void destroy_later(evutil_socket_t fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    destroy(arg);
}

/* Not from inside evdns, which goes on using its base after a callback. */
static void bury(struct evzk__servers *sv)
{
    struct timeval now = {0, 0};

    event_base_once(sv->base, -1, EV_TIMEOUT, destroy_later, sv, &now);
}

static void resolved(int result, struct evutil_addrinfo *res, void *arg)
{
    struct host *h = arg;
    struct evzk__servers *sv = h->sv;
    char list[ADDRESSES * ADDRESS_MAX] = "";

    h->lookup = NULL;
    sv->pending--;
    list_addresses(list, res, h->port, share(sv));
    if (res)
        evutil_freeaddrinfo(res);
    if (sv->given_up) {
        if (sv->pending == 0)
            bury(sv);
        return;
    }
    if (result == 0 && list[0] && set_found(h, list) == EVZK_OK)
        (void)join(sv); /* Or at the next look-up. */
    if (result == EVUTIL_EAI_CANCEL && sv->pending == 0)
        sv->changed(sv->arg);
}

struct evzk__servers *
evzk__servers_new(struct event_base *base, struct evdns_base *dns,
                  const char *text, void (*changed)(void *), void *arg, int *rc)
{
    struct evzk__servers *sv;
    size_t n = 1;

    for (const char *s = text; *s; s++)
        n += *s == ',';
    *rc = EVZK_ERR_NOMEM;
    sv = evzk__zalloc(sizeof *sv + n * sizeof sv->host[0]);
    if (!sv)
        return NULL;
    sv->base = base;
    sv->dns = dns;
    sv->changed = changed;
    sv->arg = arg;
    *rc = parse(sv, text);
    if (*rc == EVZK_OK)
        *rc = join(sv);
    if (*rc != EVZK_OK) {
        destroy(sv);
        return NULL;
    }
    return sv;
}

static void say_nothing(int is_warning, const char *text)
{
    (void)is_warning;
    (void)text;
}

/* evdns would tell stderr of name servers that do not answer.  And it reads its
 * files once: made while no descriptor is free it would never know a name. */
static bool need_dns(struct evzk__servers *sv)
{
    int flags = EVDNS_BASE_DISABLE_WHEN_INACTIVE;

    if (sv->dns)
        return true;
    if (!evzk__net_room(EVZK__ROOM_MAX))
        return false;
    evdns_set_log_fn(say_nothing);
    sv->dns =
        evdns_base_new(sv->base, flags | EVDNS_BASE_INITIALIZE_NAMESERVERS);
    if (!sv->dns) { /* No resolv.conf: there may still be a hosts file. */
        sv->dns = evdns_base_new(sv->base, flags);
        if (sv->dns)
            evdns_base_load_hosts(sv->dns, "/etc/hosts");
    }
    sv->own_dns = sv->dns != NULL;
    return sv->own_dns;
}

void evzk__servers_refresh(struct evzk__servers *sv)
{
    struct evutil_addrinfo hints = {.ai_family = AF_UNSPEC,
                                    .ai_socktype = SOCK_STREAM,
                                    .ai_protocol = IPPROTO_TCP};

    if (sv->pending > 0)
        return;
    for (size_t i = 0; i < sv->n; i++) {
        struct host *h = &sv->host[i];

        if (h->numeric || !need_dns(sv))
            continue;
        sv->pending++; /* The call itself may answer. */
        h->lookup =
            evdns_getaddrinfo(sv->dns, h->name, NULL, &hints, resolved, h);
    }
}

bool evzk__servers_busy(const struct evzk__servers *sv)
{
    return sv->pending > 0;
}

const char *evzk__servers_addresses(const struct evzk__servers *sv)
{
    return sv->addresses;
}

void evzk__servers_cancel(struct evzk__servers *sv)
{
    for (size_t i = 0; i < sv->n; i++) {
        if (sv->host[i].lookup)
            evdns_getaddrinfo_cancel(sv->host[i].lookup); /* Answers later. */
    }
}

void evzk__servers_free(struct evzk__servers *sv)
{
    if (!sv)
        return;
    sv->given_up = true;
    if (sv->pending == 0)
        destroy(sv);
    else
        evzk__servers_cancel(sv);
}

void evzk__servers_abandon(struct evzk__servers *sv)
{
    if (!sv)
        return;
    sv->own_dns = false; /* Its sockets are in the parent's loop. */
    sv->given_up = true;
    if (sv->pending == 0)
        destroy(sv);
}
