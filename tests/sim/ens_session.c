/* Sessions: their beginning, moves, and end.
 *
 * The leader alone keeps them.  It knows at once of the clients at its own
 * end, of the others by what the followers report each half tick; it rounds
 * up to the tick, and ends a session by a transaction.  A session belongs to
 * the server that it was last attached to: writes that come by another are
 * refused. */
#include "ens_internal.h"

#include <string.h>

struct ens_session *ens_session_find(int64_t id)
{
    struct ens_session *s = ens.sessions;

    while (s != NULL && s->id != id)
        s = s->next;
    return s;
}

int ens_session_check(int64_t id, int server)
{
    const struct ens_session *s = ens_session_find(id);

    if (s == NULL || s->closing)
        return ZSESSIONEXPIRED;
    return s->owner == server ? ZOK : ZSESSIONMOVED;
}

bool ens_session_touch(int64_t id, int32_t timeout_ms)
{
    struct ens_session *s = ens_session_find(id);
    int64_t tick = ens.cfg.tick_ms;

    if (s == NULL || s->closing)
        return false;
    s->expires_at = ((sim_now() / 1000 + timeout_ms) / tick + 1) * tick * 1000;
    return true;
}

void ens_session_track(int64_t id, int32_t timeout_ms, int server)
{
    struct ens_session *s = sim_alloc(SIM_OUTSIDE, sizeof *s);

    s->id = id;
    s->timeout_ms = timeout_ms;
    s->owner = server;
    s->next = ens.sessions;
    ens.sessions = s;
    ens_session_touch(id, timeout_ms);
}

void ens_session_remove(int64_t id)
{
    struct ens_session **at = &ens.sessions;

    while (*at != NULL && (*at)->id != id)
        at = &(*at)->next;
    if (*at != NULL) {
        struct ens_session *s = *at;

        *at = s->next;
        sim_free(SIM_OUTSIDE, s);
    }
}

void ens_session_close(int64_t id)
{
    struct wire_msg *m = wire_msg_new(WIRE_CLOSE, 0);

    ens_propose(&ens_nobody, id, m, NULL);
    wire_msg_free(m);
}

int64_t ens_session_due(void)
{
    int64_t due = INT64_MAX;

    for (const struct ens_session *s = ens.sessions; s != NULL; s = s->next)
        if (!s->closing && s->expires_at < due)
            due = s->expires_at;
    return due;
}

void ens_session_expire(int64_t now)
{
    for (struct ens_session *s = ens.sessions; s != NULL; s = s->next)
        if (!s->closing && s->expires_at <= now) {
            sim_say("leader: session %llx expires", (unsigned long long)s->id);
            ens_session_close(s->id);
        }
}

/* The password follows from the id: every server knows it. */
static void password(int64_t id, char out[16])
{
    uint64_t x = (uint64_t)id ^ 0xb3415c00aaaaaaaaULL;

    for (int i = 0; i < 16; i++) {
        x = x * 6364136223846793005ULL + 1442695040888963407ULL;
        out[i] = (char)(x >> 56);
    }
}

static void count_greeting(int proc)
{
    if (proc >= 0 && ens.greeted[proc] < UINT8_MAX)
        ens.greeted[proc]++;
}

void ens_session_opened(int conn, bool valid)
{
    struct ens_conn *c = &ens.conn[conn];
    struct wire_msg *m = wire_msg_new(WIRE_CONNECT, 0);

    if (valid) {
        m->session = c->session;
        m->timeout_ms = c->timeout_ms;
        password(c->session, m->passwd);
        c->state = ENS_OPEN;
        c->greeted = ens_applied(c->server);
        count_greeting(wire_proc(conn));
    }
    wire_reply(conn, m);
    if (!valid)
        ens_hang_up(conn);
}

static int64_t new_id(int server)
{
    return ((int64_t)(server + 1) << 56) + 0x10000 + ens.made[server]++;
}

static struct ens_origin origin_of(int conn)
{
    struct ens_origin o = {ens.conn[conn].server, conn, ens.conn[conn].serial,
                           0};

    return o;
}

static void begin(int conn)
{
    struct ens_conn *c = &ens.conn[conn];
    struct ens_origin o = origin_of(conn);
    struct wire_msg *m = wire_msg_new(WIRE_CONNECT, 0);
    struct ens_letter *l;

    c->session = new_id(c->server);
    m->timeout_ms = c->timeout_ms;
    if (c->server == 0) {
        ens_propose(&o, c->session, m, NULL);
        wire_msg_free(m);
        return;
    }
    l = ens_letter_new(ENS_REQUEST, c->session, &o);
    l->m = m;
    ens_link_up(c->server, l);
}

static bool attach(int64_t id, int32_t timeout_ms, int server)
{
    if (!ens_session_touch(id, timeout_ms))
        return false;
    ens_session_find(id)->owner = server;
    return true;
}

static void resume(int conn, const struct wire_msg *m)
{
    struct ens_conn *c = &ens.conn[conn];
    struct ens_origin o = origin_of(conn);
    struct ens_letter *l;
    char passwd[16];

    ens_hang_up_session(c->server, m->session);
    c->session = m->session;
    password(m->session, passwd);
    if (memcmp(passwd, m->passwd, sizeof passwd) != 0) {
        ens_session_opened(conn, false);
    } else if (c->server == 0) {
        ens_session_opened(conn, attach(c->session, c->timeout_ms, 0));
    } else {
        l = ens_letter_new(ENS_REVALIDATE, c->session, &o);
        l->timeout_ms = c->timeout_ms;
        ens_link_up(c->server, l);
    }
}

void ens_session_connect(int conn, const struct wire_msg *m)
{
    struct ens_conn *c = &ens.conn[conn];
    int32_t least = 2 * ens.cfg.tick_ms, most = 20 * ens.cfg.tick_ms;

    if (m->last_zxid > ens.server[c->server].applied) {
        ens_hang_up(conn);
        return;
    }
    c->timeout_ms = m->timeout_ms < least  ? least
                    : m->timeout_ms > most ? most
                                           : m->timeout_ms;
    c->state = ENS_OPENING;
    if (m->session == 0)
        begin(conn);
    else
        resume(conn, m);
}

bool ens_session_heard(int conn)
{
    const struct ens_conn *c = &ens.conn[conn];
    int64_t half = (int64_t)ens.cfg.tick_ms * 500;
    struct ens_server *s = &ens.server[c->server];

    if (c->server == 0)
        return ens_session_touch(c->session, c->timeout_ms);
    ens.heard[c->server][conn] = c->session;
    ens.heard_ms[c->server][conn] = c->timeout_ms;
    if (s->report_due == 0)
        s->report_due = (sim_now() / half + 1) * half + ens.cfg.link_us;
    return true;
}

/* A follower's report reaches the leader. */
void ens_session_report(int server)
{
    for (int i = 0; i < WIRE_CONNS; i++)
        if (ens.heard[server][i] != 0)
            ens_session_touch(ens.heard[server][i], ens.heard_ms[server][i]);
    memset(ens.heard[server], 0, sizeof ens.heard[server]);
    memset(ens.heard_ms[server], 0, sizeof ens.heard_ms[server]);
    ens.server[server].report_due = 0;
}

/* Of an old connection: at the leader the question, at the follower what the
 * leader said. */
void ens_session_arrived(const struct ens_letter *l)
{
    struct ens_letter *answer;

    if (l->kind == ENS_REVALIDATE) {
        answer = ens_letter_new(ENS_VALIDATED, l->session, &l->origin);
        answer->valid = attach(l->session, l->timeout_ms, l->origin.server);
        ens_link_down(l->origin.server, answer);
    } else if (ens_reachable(&l->origin)) {
        ens_session_opened(l->origin.conn, l->valid);
    }
}
