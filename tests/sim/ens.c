/* Requests that arrive at a server: which server answers, and in which order.
 *
 * A session's requests are answered in order: what is read waits behind the
 * writes before it.  A server that is alone does all in one order. */
#include "ens_internal.h"

#include <string.h>

struct ens_state ens;
SIM_KEEP(ens)

const struct ens_origin ens_nobody = {-1, -1, 0, 0};

/* Member by member: a world has no padding that is not zero. */
int64_t ens_link_us(void) { return ens.cfg.link_us; }

void ens_begin(const struct ens_config *cfg)
{
    memset(&ens, 0, sizeof ens);
    ens.cfg.servers = cfg->servers;
    ens.cfg.tick_ms = cfg->tick_ms;
    ens.cfg.commit_us = cfg->commit_us;
    ens.cfg.link_us = cfg->link_us;
    ens.cfg.patience_us = cfg->patience_us;
    ens.cfg.quirk_end = cfg->quirk_end;
    ens.cfg.container_us = cfg->container_us;
    ens.cfg.most_bytes = cfg->most_bytes;
    ens.cfg.rivals = cfg->rivals;
    ens.proposed = ens.committed = ENS_FIRST_ZXID;
    for (int i = 0; i < cfg->servers; i++)
        ens.server[i].applied = ENS_FIRST_ZXID;
    wire_taken = NULL;
    ens_tree_begin();
}

bool ens_reachable(const struct ens_origin *o)
{
    return o->conn >= 0 && ens.conn[o->conn].state != ENS_FREE &&
           ens.conn[o->conn].serial == o->serial;
}

static void let_go(int conn)
{
    struct ens_conn *c = &ens.conn[conn];

    ens_watch_clear(conn);
    ens_auth_unref(c->auth);
    memset(c, 0, sizeof *c);
}

void ens_hang_up(int conn)
{
    if (ens.conn[conn].state == ENS_FREE)
        return;
    let_go(conn);
    wire_hang_up(conn);
}

void ens_hung_up(int conn) { let_go(conn); }

/* Its connection here that is open, or about to be. */
void ens_hang_up_session(int server, int64_t session)
{
    for (int i = 0; i < WIRE_CONNS; i++)
        if (ens.conn[i].state != ENS_FREE && ens.conn[i].server == server &&
            ens.conn[i].session == session)
            ens_hang_up(i);
}

void ens_reply(int conn, struct wire_msg *m)
{
    bool last = m->op == WIRE_CLOSE;

    m->zxid = ens.server[ens.conn[conn].server].applied;
    wire_reply(conn, m);
    if (last)
        ens_hang_up(conn);
}

void ens_accepted(int conn)
{
    struct ens_conn *c = &ens.conn[conn];

    let_go(conn);
    c->state = ENS_NEW;
    c->server = wire_server(conn);
    c->serial = ++ens.serial;
    if (ens.server[c->server].dropped)
        ens_hang_up(conn);
}

static void answer_read(int conn, const struct wire_msg *m)
{
    struct wire_msg *reply;

    if (m->rc == ZSESSIONMOVED) {
        ens_hang_up(conn);
        return;
    }
    if (m->rc != ZOK) {
        reply = wire_msg_new(m->op, m->xid);
        reply->rc = m->rc;
    } else {
        reply = ens_read(conn, m);
    }
    ens_reply(conn, reply);
}

static bool blocked(int server, const struct ens_pending *end, int64_t session)
{
    const struct ens_pending *p = ens.server[server].pending;

    for (; p != end; p = p->next)
        if (p->session == session || ens.cfg.servers == 1)
            return true;
    return false;
}

static void free_pending(struct ens_pending **at)
{
    struct ens_pending *p = *at;

    *at = p->next;
    wire_msg_free(p->read);
    sim_free(SIM_OUTSIDE, p);
}

static void answer_unblocked(int server)
{
    struct ens_pending **at = &ens.server[server].pending;

    while (*at != NULL) {
        struct ens_pending *p = *at;

        if (p->read == NULL || blocked(server, p, p->session)) {
            at = &p->next;
            continue;
        }
        if (ens_reachable(&p->origin))
            answer_read(p->origin.conn, p->read);
        free_pending(at);
    }
}

void ens_answered(int server, const struct ens_origin *o)
{
    struct ens_pending **at = &ens.server[server].pending;

    while (*at != NULL &&
           ((*at)->read != NULL || (*at)->origin.serial != o->serial ||
            (*at)->origin.xid != o->xid))
        at = &(*at)->next;
    if (*at == NULL)
        return;
    free_pending(at);
    answer_unblocked(server);
}

void ens_pending_clear(int server)
{
    while (ens.server[server].pending != NULL)
        free_pending(&ens.server[server].pending);
}

static struct ens_pending *wait_for(int conn, const struct wire_msg *m)
{
    const struct ens_conn *c = &ens.conn[conn];
    struct ens_pending **at = &ens.server[c->server].pending;
    struct ens_pending *p = sim_alloc(SIM_OUTSIDE, sizeof *p);

    p->origin.server = c->server;
    p->origin.conn = conn;
    p->origin.serial = c->serial;
    p->origin.xid = m->xid;
    p->session = c->session;
    p->op = m->op;
    while (*at != NULL)
        at = &(*at)->next;
    *at = p;
    return p;
}

/* Takes m over. */
static void arrive_write(int conn, struct wire_msg *m)
{
    const struct ens_conn *c = &ens.conn[conn];
    const struct ens_pending *p = wait_for(conn, m);
    struct ens_letter *l;

    if (c->server == 0) {
        ens_propose(&p->origin, c->session, m, c->auth);
        wire_msg_free(m);
        return;
    }
    l = ens_letter_new(ENS_REQUEST, c->session, &p->origin);
    l->m = m;
    l->auth = ens_auth_ref(c->auth);
    ens_link_up(c->server, l);
}

/* Takes m over. */
static void arrive_read(int conn, struct wire_msg *m, int32_t rc)
{
    const struct ens_conn *c = &ens.conn[conn];

    m->rc = c->server == 0 ? ens_session_check(c->session, 0) : ZOK;
    if (m->rc == ZOK)
        m->rc = rc;
    if (blocked(c->server, NULL, c->session)) {
        wait_for(conn, m)->read = m;
        return;
    }
    answer_read(conn, m);
    wire_msg_free(m);
}

static bool is_write(int32_t op)
{
    switch (op) {
    case ENS_CREATE:
    case ENS_CREATE2:
    case ENS_CREATE_CONTAINER:
    case ENS_CREATE_TTL:
    case ENS_DELETE:
    case ENS_SET_DATA:
    case ENS_SET_ACL:
    case ENS_CHECK:
    case ENS_MULTI:
    case WIRE_CLOSE:
        return true;
    }
    return false;
}

/* At once, whatever else waits. */
static void arrive_auth(int conn, const struct wire_msg *m)
{
    struct wire_msg *reply = wire_msg_new(m->op, m->xid);
    bool ok = ens_auth_add(&ens.conn[conn].auth, m);

    reply->rc = ok ? ZOK : ZAUTHFAILED;
    wire_reply(conn, reply);
    if (!ok)
        ens_hang_up(conn);
}

static void count(const struct wire_msg *m)
{
    int32_t i = m->op + ENS_COUNT_BASE;

    ens.requests++;
    ens.watches_asked += m->watch;
    for (const struct wire_msg *o = m->ops; o != NULL; o = o->next)
        ens.operations++;
    if (i >= 0 && i < ENS_COUNTS)
        ens.counts[i]++;
}

/* How many requests of this kind are still to be refused. */
static uint8_t *refusals_of(int proc, int32_t op)
{
    if (is_write(op) && ens.throttle_writes[proc] != 0)
        return &ens.throttle_writes[proc];
    if (!is_write(op) && op != ENS_SYNC && ens.throttle_reads[proc] != 0)
        return &ens.throttle_reads[proc];
    return &ens.throttle[proc];
}

/* A client that asks so rarely is refused no more. */
enum { LET_UP_US = 8 * 1000 * 1000 };

/* Refused with an error, in its place among the session's answers. */
static bool throttle(int conn, const struct wire_msg *m)
{
    int proc = wire_proc(conn);
    uint8_t *left;

    if (proc < 0 || m->op == WIRE_PING || m->op == WIRE_CLOSE)
        return false;
    left = refusals_of(proc, m->op);
    if (*left != 0 && sim_now() - ens.throttled_at[proc] > LET_UP_US)
        *left = 0;
    if (*left == 0)
        return false;
    --*left;
    if (ens.throttled[proc] < UINT8_MAX)
        ens.throttled[proc]++;
    ens.throttled_at[proc] = sim_now();
    ens.throttled_read[proc] = ens.throttled_read[proc] || !is_write(m->op);
    return true;
}

/* Does it write, so that rights are asked for? */
bool ens_deniable(const struct wire_msg *m)
{
    const struct wire_msg *o = m->ops;

    if (m->op != ENS_MULTI)
        return is_write(m->op) && m->op != ENS_CHECK && m->op != WIRE_CLOSE;
    while (o != NULL && !ens_deniable(o))
        o = o->next;
    return o != NULL;
}

static bool deny(int conn, const struct wire_msg *m)
{
    int proc = wire_proc(conn);

    if (proc < 0 || !ens.deny[proc] || !ens_deniable(m))
        return false;
    ens.deny[proc] = false;
    if (ens.denied[proc] < UINT8_MAX)
        ens.denied[proc]++;
    return true;
}

/* Of a path, without its numbers and GUIDs. */
static uint32_t hash_path(uint32_t hash, const char *path)
{
    static const char number[] = "-0123456789abcdef";
    enum { LONG = 8 };

    while (*path) {
        size_t n = strspn(path, number);

        if (n < LONG)
            hash = (hash ^ (unsigned char)*path) * 16777619u; /* FNV-1a. */
        path += n < LONG ? 1 : n;
    }
    return hash;
}

static uint32_t likeness(const struct wire_msg *m)
{
    int32_t op = m->op;

    if (op == ENS_CREATE2 || op == ENS_CREATE_CONTAINER)
        op = ENS_CREATE;
    return m->path ? hash_path((uint32_t)op + 2166136261u, m->path) : 0;
}

static bool is_stamp(const struct wire_msg *o)
{
    static const char end[] = "-token";
    size_t n = o->path ? strlen(o->path) : 0;

    return n >= sizeof end && strcmp(o->path + n + 1 - sizeof end, end) == 0;
}

static int64_t session_of(int proc)
{
    int conn = wire_conn_of(proc);

    return conn < 0 ? 0 : ens.conn[conn].session;
}

/* Looks for a znode of its own session, to delete it. */
static bool is_own_look(int64_t session, const struct wire_msg *m)
{
    struct ens_seen seen;

    return m->op == ENS_EXISTS && ens_look(m->path, &seen) &&
           seen.owner == session && session != 0;
}

/* Of the session itself; or takes off a watch, that goes with its connection in
 * any case. */
static bool is_of_session(const struct wire_msg *m)
{
    return m->op == WIRE_CONNECT || m->op == WIRE_CLOSE || m->op == WIRE_PING ||
           m->op == ENS_SET_AUTH || m->op == ENS_REMOVE_WATCHES ||
           (m->op == ENS_SYNC && m->path[1] == '\0');
}

bool ens_shut_at(int proc, const struct wire_msg *m)
{
    const struct wire_msg *last = m;

    if (is_of_session(m))
        return false;
    for (const struct wire_msg *o = m->ops; o != NULL; o = o->next) {
        if (!is_stamp(o))
            last = o;
    }
    if (last->op == ENS_DELETE || is_own_look(session_of(proc), m))
        return false; /* A znode that cannot go bars the way of all. */
    ens.shut[proc] = likeness(last);
    ens.shut_read[proc] = m->op == ENS_EXISTS || m->op == ENS_GET_DATA ||
                          m->op == ENS_GET_CHILDREN ||
                          m->op == ENS_GET_CHILDREN2 || m->op == ENS_SYNC;
    return ens.shut[proc] != 0;
}

static int64_t bytes(const struct wire_msg *m)
{
    int64_t path = m->path != NULL ? (int64_t)strlen(m->path) : 0;

    return path + (m->data != NULL ? m->len : 0);
}

bool ens_too_long(const struct wire_msg *m)
{
    int64_t n = bytes(m);

    for (const struct wire_msg *o = m->ops; o != NULL; o = o->next)
        n += bytes(o);
    return ens.cfg.most_bytes != 0 && n > ens.cfg.most_bytes;
}

/* Does the server hang up at it? */
static bool is_shut(int conn, const struct wire_msg *m)
{
    int proc = wire_proc(conn);
    uint32_t shut = proc < 0 ? 0 : ens.shut[proc];
    bool is_long = ens_too_long(m);
    bool is = is_long || (shut != 0 && likeness(m) == shut &&
                          !is_own_look(ens.conn[conn].session, m));

    for (const struct wire_msg *o = m->ops; o != NULL && !is; o = o->next)
        is = shut != 0 && likeness(o) == shut;
    if (is && proc >= 0 && ens.shut_at[proc] < UINT8_MAX) {
        ens.shut_at[proc]++;
        ens.long_at[proc] += is_long;
    }
    return is;
}

static void arrive(int conn, struct wire_msg *m)
{
    const struct ens_conn *c = &ens.conn[conn];

    if (is_shut(conn, m)) {
        wire_msg_free(m);
        ens_hang_up(conn);
    } else if (m->op == ENS_SET_AUTH) {
        arrive_auth(conn, m);
        wire_msg_free(m);
    } else if (!ens_session_heard(conn)) {
        wire_msg_free(m); /* As MissingSessionException: dropped. */
    } else if (throttle(conn, m)) {
        arrive_read(conn, m, ZTHROTTLEDOP);
    } else if (is_write(m->op) || (m->op == ENS_SYNC && c->server != 0)) {
        m->denied = deny(conn, m);
        arrive_write(conn, m);
    } else {
        arrive_read(conn, m, ZOK);
    }
}

void ens_received(int conn, struct wire_msg *m)
{
    count(m);
    switch (ens.conn[conn].state) {
    case ENS_OPEN:
        arrive(conn, m);
        return;
    case ENS_NEW:
        if (m->op == WIRE_CONNECT)
            ens_session_connect(conn, m);
        else
            ens_hang_up(conn);
        break;
    case ENS_OPENING:
        ens_hang_up(conn);
        break;
    case ENS_FREE:
        break;
    }
    wire_msg_free(m);
}

uint64_t ens_operations(void) { return ens.operations; }

uint64_t ens_watches_asked(void) { return ens.watches_asked; }

uint64_t ens_requests(int op)
{
    int i = op + ENS_COUNT_BASE;

    if (op == ENS_ALL)
        return ens.requests;
    return i >= 0 && i < ENS_COUNTS ? ens.counts[i] : 0;
}
