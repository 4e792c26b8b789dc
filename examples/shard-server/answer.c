/*
 * GET /shard/<key or number>: the answer of the shard, if it is led here; else
 * where it is led by the plan; else that nobody leads it now, and to ask again.
 *
 * How it can fail.  The data of another member may be anything: it goes into a
 * Location only if it looks like an address.  The member that the plan names
 * may not lead yet, or not any more: it answers 503 instead of sending on. With
 * an old plan two members could send a request to each other; so a member that
 * has not heard from ZooKeeper lately sends no request on.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <event2/buffer.h>
#include <json-c/json.h>

#include "server.h"

#define PREFIX "/shard/"

/* FNV-1a.  Any hash will do that all servers share. */
static uint32_t hash(const char *key)
{
    uint32_t h = 2166136261u;

    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 16777619u;
    return h;
}

/* A number is a shard, anything else is a key, which belongs to one. */
static bool shard_of(const char *key, uint32_t count, uint32_t *out)
{
    char *rest;
    unsigned long n;

    if (!*key)
        return false;
    if (key[strspn(key, "0123456789")]) {
        *out = hash(key) % count;
        return true;
    }
    errno = 0;
    n = strtoul(key, &rest, 10);
    *out = (uint32_t)n;
    return !errno && n < count;
}

/* main() has set the locale that says what a character is. */
void make_utf8(char *text)
{
    for (size_t n; *text; text += n) {
        mbstate_t begin = {0};

        n = mbrlen(text, strlen(text), &begin);
        if (n == (size_t)-1 || n == (size_t)-2) {
            *text = '?';
            n = 1;
        }
    }
}

/* An address, and behind a space a name: what join() in lead.c has said. */
void place_of(const evzk_shards_member *m, struct place *out)
{
    static const char good[] = "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.:[]-_";
    const char *data = m->data, *space;
    size_t n = m->data_len, rest;

    memset(out, 0, sizeof *out);
    space = n ? memchr(data, ' ', n) : NULL;
    if (space)
        n = (size_t)(space - data);
    if (n < sizeof out->address)
        memcpy(out->address, data, n);
    if (out->address[strspn(out->address, good)])
        out->address[0] = '\0';
    rest = space ? m->data_len - n - 1 : 0;
    if (rest && rest < sizeof out->name)
        memcpy(out->name, space + 1, rest);
    make_utf8(out->name);
}

static struct json_object *facts(const struct server *s, uint32_t shard)
{
    struct json_object *o = json_object_new_object();

    json_object_object_add(o, "shard", json_object_new_int64(shard));
    json_object_object_add(o, "leader", json_object_new_string(s->address));
    json_object_object_add(
        o, "epoch",
        json_object_new_int64((int64_t)evzk_shards_epoch(s->shards, shard)));
    json_object_object_add(
        o, "lease_ms",
        json_object_new_int64(evzk_session_lease_ms(s->session)));
    return o;
}

static void say(struct evhttp_request *req, int code, struct json_object *o)
{
    struct evbuffer *body = evbuffer_new();

    if (body)
        evbuffer_add_printf(
            body, "%s\n",
            json_object_to_json_string_ext(
                o, JSON_C_TO_STRING_SPACED | JSON_C_TO_STRING_NOSLASHESCAPE));
    json_object_put(o);
    send_text(req, code, "application/json", body);
}

static void say_error(struct evhttp_request *req, int code, const char *why)
{
    struct json_object *o = json_object_new_object();

    json_object_object_add(o, "error", json_object_new_string(why));
    say(req, code, o);
}

/* The same request, there.  It may have come with a host of its own. */
static void send_away(struct evhttp_request *req, const char *address)
{
    const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(req);
    const char *query = evhttp_uri_get_query(uri);
    struct evbuffer *url = evbuffer_new();

    if (url) {
        evbuffer_add_printf(url, "http://%s%s%s%s", address,
                            evhttp_uri_get_path(uri), query ? "?" : "",
                            query ? query : "");
        evbuffer_add(url, "", 1);
        evhttp_add_header(evhttp_request_get_output_headers(req), "Location",
                          (const char *)evbuffer_pullup(url, -1));
        evbuffer_free(url);
    }
    say_error(req, 307, "led elsewhere: see Location");
}

static void send_to_leader(struct evhttp_request *req, struct server *s,
                           uint32_t shard)
{
    evzk_shards_member m;
    struct place there = {0};

    if (evzk_session_connected(s->session) &&
        evzk_shards_leader(s->shards, shard, &m) && !m.self)
        place_of(&m, &there);
    if (there.address[0]) {
        s->answers.elsewhere++;
        send_away(req, there.address);
        return;
    }
    s->answers.nobody++;
    evhttp_add_header(evhttp_request_get_output_headers(req), "Retry-After",
                      "1");
    say_error(req, 503, "nobody leads this shard now");
}

/* The leader is checked last of all: the answer is true while the shard is led,
 * and nothing comes between the check and the answer.  A write to another
 * system should carry the epoch, for that system to check. */
static void answer(struct evhttp_request *req, struct server *s, uint32_t shard)
{
    if (!evzk_shards_leading(s->shards, shard)) {
        send_to_leader(req, s, shard);
        return;
    }
    s->answers.led++;
    say(req, HTTP_OK, facts(s, shard));
}

void answer_shard(struct evhttp_request *req, void *arg)
{
    const char *path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(req));
    struct server *s = arg;
    char *key = NULL;
    uint32_t shard;

    if (path && strncmp(path, PREFIX, strlen(PREFIX)) == 0)
        key = evhttp_uridecode(path + strlen(PREFIX), 0, NULL);
    if (key && shard_of(key, s->opt.count, &shard)) {
        answer(req, s, shard);
    } else {
        s->answers.wrong++;
        say_error(req, HTTP_NOTFOUND,
                  "there is /shard/<key or number>, /status, /status.json "
                  "and /metrics");
    }
    free(key);
}
