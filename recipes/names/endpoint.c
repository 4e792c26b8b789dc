/* An endpoint as a text, and back:
 *
 *   text = host ":" port " " weight [ LF data ]
 *
 * A host is a name or an IPv4 address; an IPv6 address stands in brackets.
 * Numbers are decimal, without a sign and without zeros in front.  The data are
 * any bytes, to the end.
 *
 * The weight may not be left out: "host:number" is also what a session writes
 * into its znodes where a program gives no data, and the number is a process's.
 *
 * How it can fail.  The text comes from anybody: a reader goes on only while
 * bytes are left, and takes no number beyond its limit. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "recipes/names/names_internal.h"

enum { PORT_MAX = 65535 };

/* Of ASCII, whatever the locale. */
static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
           (c >= 'A' && c <= 'Z');
}

static bool is_name(const char *host)
{
    if (!is_alnum(host[0]))
        return false;
    while (is_alnum(*host) || (*host && strchr(".-_", *host)))
        host++;
    return *host == '\0';
}

static bool is_v6(const char *host)
{
    struct in6_addr a;

    return inet_pton(AF_INET6, host, &a) == 1;
}

const char *evzk__endpoint_fault(const evzk_endpoint *e)
{
    if (!e)
        return "must not be NULL";
    if (!memchr(e->host, '\0', sizeof e->host))
        return "host must end with a zero byte";
    if (!is_name(e->host) && !is_v6(e->host))
        return "host must be a name, or an address";
    if (e->port == 0)
        return "port must not be 0";
    if (e->weight > EVZK_ENDPOINT_WEIGHT_MAX)
        return "weight must be at most EVZK_ENDPOINT_WEIGHT_MAX";
    if (e->data_len > EVZK_ENDPOINT_DATA_MAX)
        return "data must have at most EVZK_ENDPOINT_DATA_MAX bytes";
    return e->data || e->data_len == 0 ? NULL
                                       : "data must not be NULL with a length";
}

size_t evzk_endpoint_print(const evzk_endpoint *e, void *text, size_t size)
{
    char head[EVZK__ENDPOINT_HEAD_MAX + 1];
    bool v6;
    size_t head_len, len;

    if (evzk__endpoint_fault(e))
        return 0;
    v6 = strchr(e->host, ':') != NULL;
    head_len =
        (size_t)snprintf(head, sizeof head, "%s%s%s:%u %u%s", v6 ? "[" : "",
                         e->host, v6 ? "]" : "", (unsigned)e->port,
                         (unsigned)e->weight, e->data_len ? "\n" : "");
    len = head_len + e->data_len;
    if (len > size || !text)
        return len;
    memcpy(text, head, head_len);
    if (e->data_len)
        memcpy((char *)text + head_len, e->data, e->data_len);
    if (size > len)
        ((char *)text)[len] = '\0';
    return len;
}

/* The bytes that are left to read. */
struct rest {
    const char *at, *end;
};

static bool take(struct rest *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

static bool take_number(struct rest *r, uint32_t most, uint32_t *n)
{
    const char *begin = r->at;

    for (*n = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        *n = *n * 10 + (uint32_t)(*r->at - '0');
        if (*n > most)
            return false;
    }
    return r->at > begin && (*begin != '0' || r->at == begin + 1);
}

/* Up to this byte, which is taken, too. */
static bool take_host(struct rest *r, char up_to, char *host)
{
    const char *end = memchr(r->at, up_to, (size_t)(r->end - r->at));
    size_t len = end ? (size_t)(end - r->at) : 0;

    if (!end || len > EVZK_ENDPOINT_HOST_MAX || memchr(r->at, '\0', len))
        return false;
    memcpy(host, r->at, len);
    host[len] = '\0';
    r->at = end + 1;
    return true;
}

static bool take_address(struct rest *r, char *host)
{
    if (!take(r, '['))
        return take_host(r, ':', host) && is_name(host);
    return take_host(r, ']', host) && is_v6(host) && take(r, ':');
}

bool evzk_endpoint_parse(const void *text, size_t len, evzk_endpoint *out)
{
    struct rest r;
    evzk_endpoint e = {.data = NULL};
    uint32_t port;

    if (!text || !out)
        return false;
    r = (struct rest){text, (const char *)text + len};
    if (!take_address(&r, e.host) || !take_number(&r, PORT_MAX, &port) ||
        port == 0 || !take(&r, ' ') ||
        !take_number(&r, EVZK_ENDPOINT_WEIGHT_MAX, &e.weight))
        return false;
    if (r.at < r.end && !take(&r, '\n'))
        return false;
    e.port = (uint16_t)port;
    e.data_len = (size_t)(r.end - r.at);
    e.data = e.data_len ? r.at : NULL;
    if (e.data_len > EVZK_ENDPOINT_DATA_MAX)
        return false;
    *out = e;
    return true;
}
