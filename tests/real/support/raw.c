/*
 * The synchronous client of raw.h, on libzookeeper_st's asynchronous calls:
 * each sends its request, then pumps the client until the completion has filled
 * in a struct reply.
 */
#define _GNU_SOURCE 1
#include "raw.h"

#include <event2/event.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "config.h"
#include "support.h"

enum { ANSWER_MS = 60000, PACE_MS = 5, EXPIRE_MS = 60000 };

struct raw {
    zhandle_t *zh;
    struct event_base *base; /* Run while waiting; NULL: poll(). */
    int64_t heard;           /* When the server last answered. */
    bool expired;
};

struct reply {
    bool done;
    int rc;
    struct Stat *stat;
    char *buf; /* Takes a name or data. */
    size_t size;
    int len;
    struct raw_names *names;
};

static void no_log(const char *line) { (void)line; }

static void on_session(zhandle_t *zh, int type, int state, const char *path,
                       void *context)
{
    struct raw *r = context;

    (void)zh;
    (void)path;
    if (type == ZOO_SESSION_EVENT && state == ZOO_EXPIRED_SESSION_STATE)
        r->expired = true;
}

static void on_ready(int fd, short what, void *arg)
{
    short *ready = arg;

    (void)fd;
    *ready = what;
}

/* Waits with the test's loop running. */
static short wait_in_loop(struct raw *r, int fd, short what, int64_t ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};
    short ready = 0;
    struct event *ev = event_new(r->base, fd, what, on_ready, &ready);

    event_add(ev, &tv);
    event_base_loop(r->base, EVLOOP_ONCE);
    event_free(ev);
    return ready;
}

static short wait_alone(int fd, short what, int64_t ms)
{
    struct pollfd p = {fd, 0, 0};

    p.events = (short)((what & EV_READ ? POLLIN : 0) |
                       (what & EV_WRITE ? POLLOUT : 0));
    if (poll(&p, 1, (int)ms) <= 0)
        return 0;
    return (short)((p.revents & POLLOUT ? EV_WRITE : 0) |
                   (p.revents & ~POLLOUT ? EV_READ : 0));
}

/* One turn of the client, of at most @ms. */
static void pump(struct raw *r, int64_t ms)
{
    struct timeval tv = {0, 0};
    int fd = -1, interest = 0, events;
    short what, ready;
    int64_t due;

    zookeeper_interest(r->zh, &fd, &interest, &tv);
    due = (int64_t)tv.tv_sec * 1000 + (tv.tv_usec + 999) / 1000;
    if (due < ms)
        ms = due;
    what = (short)((interest & ZOOKEEPER_READ ? EV_READ : 0) |
                   (interest & ZOOKEEPER_WRITE ? EV_WRITE : 0));
    if (fd < 0)
        what = 0;
    ready = r->base ? wait_in_loop(r, fd, what, ms) : wait_alone(fd, what, ms);
    events = (ready & EV_READ ? ZOOKEEPER_READ : 0) |
             (ready & EV_WRITE ? ZOOKEEPER_WRITE : 0);
    zookeeper_process(r->zh, events);
}

void raw_run(struct raw *r, int64_t ms)
{
    int64_t end = now_ms() + ms;

    for (int64_t left = ms; left > 0; left = end - now_ms())
        pump(r, left);
}

/* Lost with the connection: a read can be asked again. */
static bool lost(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT ||
           rc == ZRUNTIMEINCONSISTENCY;
}

/* Until the completion has come; @rc is what the asynchronous call said. */
static int await(struct raw *r, int rc, struct reply *reply, const char *what,
                 const char *path)
{
    int64_t end = now_ms() + slow_ms(ANSWER_MS);

    if (rc != ZOK)
        return rc;
    while (!reply->done) {
        int64_t left = end - now_ms();

        if (left <= 0)
            support_fail("raw: %s %s: no answer", what, path);
        pump(r, left);
    }
    if (!lost(reply->rc))
        r->heard = now_ms();
    return reply->rc;
}

/* Until it has the session, or learns that it has expired. */
static struct raw *reach(const char *servers, int timeout_ms,
                         const clientid_t *id)
{
    int64_t end = now_ms() + slow_ms(ANSWER_MS);
    struct raw *r = calloc(1, sizeof *r);

    if (!r)
        support_fail("raw: out of memory");
    r->zh = zookeeper_init2(servers, on_session, timeout_ms, id, r, 0, no_log);
    if (!r->zh)
        support_fail("raw: zookeeper_init2(\"%s\")", servers);
#ifdef HAVE_ZOO_SET_SERVERS_RESOLUTION_DELAY
    /* Else the client looks the names up in each turn. */
    zoo_set_servers_resolution_delay(r->zh, -1);
#endif
    while (!r->expired && zoo_state(r->zh) != ZOO_CONNECTED_STATE) {
        if (now_ms() > end)
            support_fail("raw: no connection to %s", servers);
        pump(r, 100);
    }
    r->heard = now_ms();
    return r;
}

struct raw *raw_open(const char *servers, int timeout_ms, const clientid_t *id)
{
    struct raw *r = reach(servers, timeout_ms, id);

    if (r->expired)
        support_fail("raw: the session to continue has expired");
    return r;
}

static void drop(struct raw *r)
{
    zookeeper_close(r->zh);
    free(r);
}

void raw_abandon(struct raw *r)
{
    struct timeval tv;
    int fd = -1, interest;

    zookeeper_interest(r->zh, &fd, &interest, &tv);
    if (fd >= 0)
        shutdown(fd, SHUT_RDWR);
    drop(r);
}

void raw_drive(struct raw *r, struct event_base *base) { r->base = base; }

clientid_t raw_id(const struct raw *r) { return *zoo_client_id(r->zh); }

bool raw_connected(struct raw *r)
{
    return zoo_state(r->zh) == ZOO_CONNECTED_STATE;
}

bool raw_expired(struct raw *r) { return r->expired; }

static struct reply *begin_reply(int rc, const void *data)
{
    /* The client's context is const; ours was not born so. */
    struct reply *reply = (struct reply *)(uintptr_t)data;

    reply->done = true;
    reply->rc = rc;
    return reply;
}

static void on_void(int rc, const void *data) { begin_reply(rc, data); }

static void on_string(int rc, const char *value, const void *data)
{
    struct reply *reply = begin_reply(rc, data);

    if (rc == ZOK && reply->buf)
        snprintf(reply->buf, reply->size, "%s", value);
}

static void on_stat(int rc, const struct Stat *stat, const void *data)
{
    struct reply *reply = begin_reply(rc, data);

    if (rc == ZOK && reply->stat)
        *reply->stat = *stat;
}

static void on_data(int rc, const char *value, int len, const struct Stat *stat,
                    const void *data)
{
    struct reply *reply = begin_reply(rc, data);

    if (rc != ZOK)
        return;
    reply->len = len;
    if (reply->buf && len > 0)
        memcpy(reply->buf, value,
               (size_t)len < reply->size ? (size_t)len : reply->size);
    if (reply->stat)
        *reply->stat = *stat;
}

static void on_strings(int rc, const struct String_vector *v, const void *data)
{
    struct reply *reply = begin_reply(rc, data);
    size_t n = v ? (size_t)v->count : 0;

    if (rc != ZOK)
        return;
    reply->names->n = n;
    reply->names->name = calloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n && reply->names->name; i++)
        reply->names->name[i] = strdup(v->data[i]);
}

int raw_exists(struct raw *r, const char *path, struct Stat *stat)
{
    int rc;

    do {
        struct reply reply = {.stat = stat};

        rc = await(r, zoo_aexists(r->zh, path, 0, on_stat, &reply), &reply,
                   "exists", path);
    } while (lost(rc));
    return rc;
}

/*
 * A handle is driven only while it is used.  After two thirds of its time-out
 * the client gives the connection up at the next call, and nobody knows what
 * became of that: so a read goes before.  A third is when the client itself
 * would ask (a ping).
 */
bool raw_fresh(struct raw *r)
{
    if (!r->expired && now_ms() - r->heard > zoo_recv_timeout(r->zh) / 3)
        raw_exists(r, "/", NULL);
    return !r->expired;
}

void raw_close(struct raw *r)
{
    if (!r)
        return;
    r->base = NULL;
    raw_fresh(r); /* So that the server hears of it. */
    drop(r);
}

int raw_create_acl(struct raw *r, const char *path, const void *data, int len,
                   int flags, const struct ACL_vector *acl, char *name,
                   size_t size)
{
    struct reply reply = {.buf = name, .size = size};
    int rc;

    raw_fresh(r);
    rc = zoo_acreate(r->zh, path, data, len, acl, flags, on_string, &reply);
    return await(r, rc, &reply, "create", path);
}

int raw_create(struct raw *r, const char *path, const void *data, int len,
               int flags, char *name, size_t size)
{
    return raw_create_acl(r, path, data, len, flags, &ZOO_OPEN_ACL_UNSAFE, name,
                          size);
}

int raw_delete_both(struct raw *r, const char *first, const char *second)
{
    zoo_op_t ops[2];
    zoo_op_result_t results[2];
    struct reply reply = {0};

    raw_fresh(r);
    zoo_delete_op_init(&ops[0], first, -1);
    zoo_delete_op_init(&ops[1], second, -1);
    return await(r, zoo_amulti(r->zh, 2, ops, results, on_void, &reply), &reply,
                 "multi", first);
}

int raw_delete(struct raw *r, const char *path)
{
    struct reply reply = {0};

    raw_fresh(r);
    return await(r, zoo_adelete(r->zh, path, -1, on_void, &reply), &reply,
                 "delete", path);
}

int raw_get(struct raw *r, const char *path, void *buf, int *len,
            struct Stat *stat)
{
    struct reply reply = {0};
    int rc;

    do {
        reply = (struct reply){
            .buf = buf, .size = len ? (size_t)*len : 0, .stat = stat};
        rc = await(r, zoo_aget(r->zh, path, 0, on_data, &reply), &reply, "get",
                   path);
    } while (lost(rc));
    if (rc == ZOK && len)
        *len = reply.len;
    return rc;
}

int raw_set(struct raw *r, const char *path, const void *data, int len)
{
    struct reply reply = {0};

    raw_fresh(r);
    return await(r, zoo_aset(r->zh, path, data, len, -1, on_stat, &reply),
                 &reply, "set", path);
}

int raw_sync(struct raw *r, const char *path)
{
    int rc;

    do {
        struct reply reply = {0};

        rc = await(r, zoo_async(r->zh, path, on_string, &reply), &reply, "sync",
                   path);
    } while (lost(rc));
    return rc;
}

int raw_set_acl(struct raw *r, const char *path, const struct ACL_vector *acl)
{
    struct reply reply = {0};
    struct ACL_vector copy = *acl;

    raw_fresh(r);
    return await(r, zoo_aset_acl(r->zh, path, -1, &copy, on_void, &reply),
                 &reply, "setACL", path);
}

int raw_add_auth(struct raw *r, const char *scheme, const char *cert)
{
    struct reply reply = {0};
    int rc;

    raw_fresh(r);
    rc = zoo_add_auth(r->zh, scheme, cert, (int)strlen(cert), on_void, &reply);
    return await(r, rc, &reply, "auth", scheme);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int raw_children(struct raw *r, const char *path, struct raw_names *out)
{
    int rc;

    *out = (struct raw_names){0};
    do {
        struct reply reply = {.names = out};

        rc = await(r, zoo_aget_children(r->zh, path, 0, on_strings, &reply),
                   &reply, "children", path);
    } while (lost(rc));
    if (out->n > 0)
        qsort(out->name, out->n, sizeof(char *), by_name);
    return rc;
}

void raw_names_free(struct raw_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        free(names->name[i]);
    free(names->name);
    *names = (struct raw_names){0};
}

int raw_count(struct raw *r, const char *path)
{
    struct raw_names names;
    int rc = raw_children(r, path, &names), n = (int)names.n;

    raw_names_free(&names);
    return rc == ZOK ? n : -1;
}

void raw_mkdirs(struct raw *r, const char *path)
{
    char *copy = strdup(path);
    size_t len = strlen(path);

    for (size_t i = 1; i <= len; i++) {
        int rc;

        if (path[i] != '/' && path[i] != '\0')
            continue;
        copy[i] = '\0';
        rc = raw_create(r, copy, "", 0, 0, NULL, 0);
        if (rc != ZOK && rc != ZNODEEXISTS)
            support_fail("raw: mkdirs %s: %s", copy, zerror(rc));
        copy[i] = path[i];
    }
    free(copy);
}

void raw_delete_tree(struct raw *r, const char *path)
{
    int rc;

    do {
        struct raw_names names;

        raw_children(r, path, &names);
        for (size_t i = 0; i < names.n; i++) {
            char child[4096];

            snprintf(child, sizeof child, "%s/%s", path, names.name[i]);
            raw_delete_tree(r, child);
        }
        raw_names_free(&names);
        rc = raw_delete(r, path);
    } while (rc == ZNOTEMPTY);
    if (rc != ZOK && rc != ZNONODE)
        support_fail("raw: delete %s: %s", path, zerror(rc));
}

/* Waits until exists() says @want. */
static void wait_exists(struct raw *r, const char *path, int want, int64_t ms)
{
    int64_t end = now_ms() + slow_ms(ms);
    int rc;

    for (;;) {
        raw_sync(r, path);
        rc = raw_exists(r, path, NULL);
        if (rc == want)
            return;
        if (now_ms() > end)
            support_fail("raw: %s: %s after %d ms", path,
                         rc == ZOK ? "still there" : zerror(rc), (int)ms);
        raw_run(r, PACE_MS);
    }
}

void raw_wait_there(struct raw *r, const char *path, int64_t ms)
{
    wait_exists(r, path, ZOK, ms);
}

void raw_wait_gone(struct raw *r, const char *path, int64_t ms)
{
    wait_exists(r, path, ZNONODE, ms);
}

void raw_wait_children(struct raw *r, const char *path, int n, int64_t ms)
{
    int64_t end = now_ms() + slow_ms(ms);
    int is;

    for (;;) {
        raw_sync(r, path);
        is = raw_count(r, path);
        if (is == n)
            return;
        if (now_ms() > end)
            support_fail("raw: %s: %d children after %d ms, not %d", path, is,
                         (int)ms, n);
        raw_run(r, PACE_MS);
    }
}

/*
 * As ZooKeeperServer.generatePasswd() does: java.util.Random, seeded with the
 * id and a constant.
 */
void raw_password(int64_t session, char password[16])
{
    const uint64_t mask = (UINT64_C(1) << 48) - 1;
    const uint64_t factor = UINT64_C(0x5DEECE66D);
    uint64_t seed = ((uint64_t)session ^ UINT64_C(0xB3415C00) ^ factor) & mask;

    for (int i = 0; i < 16; i += 4) {
        uint32_t random;

        seed = (seed * factor + 11) & mask;
        random = (uint32_t)(seed >> 16);
        for (int j = 0; j < 4; j++)
            password[i + j] = (char)(random >> (8 * j));
    }
}

/* The client does not wait long for the server's answer to a close: until it
 * says itself that the session is over. */
static bool end_session(const char *servers, const clientid_t *id)
{
    bool over = false, ended = false;

    for (; !over; ended |= !over) {
        struct raw *r = reach(servers, EXPIRE_MS, id);

        over = r->expired;
        drop(r);
    }
    return ended;
}

void raw_expire_with(const char *servers, const clientid_t *id)
{
    if (!end_session(servers, id))
        support_fail("raw: the session to end has expired");
}

static clientid_t id_of(int64_t session)
{
    clientid_t id = {.client_id = session};

    raw_password(session, id.passwd);
    return id;
}

void raw_expire(const char *servers, int64_t session)
{
    clientid_t id = id_of(session);

    raw_expire_with(servers, &id);
}

void raw_expire_if_there(const char *servers, int64_t session)
{
    clientid_t id = id_of(session);

    end_session(servers, &id);
}
