/* Packets from the server: one in a call. */
#include "ens.h"
#include "world.h"
#include "zoo.h"

/* The real client would send all of them in one packet: the library promises
 * that there are none. */
static void no_watches_left(const zhandle_t *zh)
{
    if (zh->watches)
        sim_violation("watches re-sent in one packet: %s", zh->watches->path);
}

static void established(zhandle_t *zh)
{
    zh->state = ZOO_CONNECTED_STATE;
    zh->fresh = false;
    zoo__log(zh, "INFO",
             "session establishment complete, sessionId=%#llx, negotiated "
             "timeout=%d",
             (unsigned long long)zh->id.client_id, zh->recv_timeout);
    no_watches_left(zh);
    for (const struct zoo__auth *a = zh->auths; a; a = a->next)
        zoo__auth_send(zh, a);
    zoo__queue_event(zh, NULL, ZOO_SESSION_EVENT, zh->state);
    zoo__complete(zh);
}

static int primed(zhandle_t *zh, struct wire_msg *m)
{
    int64_t before = zh->seen ? zh->id.client_id : 0, id = m->session;

    zh->seen = true;
    if (before != 0 && before != id) {
        wire_msg_free(m);
        zh->state = ZOO_EXPIRED_SESSION_STATE;
        return zoo__socket_error(zh, ZSESSIONEXPIRED);
    }
    zh->recv_timeout = m->timeout_ms;
    zh->id.client_id = id;
    for (size_t i = 0; i < sizeof zh->id.passwd; i++)
        zh->id.passwd[i] = m->passwd[i];
    wire_msg_free(m);
    established(zh);
    return ZOK;
}

static int auth_answered(zhandle_t *zh, int rc)
{
    if (rc != ZOK) {
        zh->state = ZOO_AUTH_FAILED_STATE;
        zoo__log(zh, "ERROR", "Authentication scheme %s failed",
                 zh->auths ? zh->auths->scheme : "");
    }
    zoo__auth_told(zh, rc);
    if (zh->state >= 0)
        return ZOK;
    zoo__lost(zh, ZAUTHFAILED);
    return ZAUTHFAILED;
}

static int answered(zhandle_t *zh, struct wire_msg *m)
{
    struct zoo__entry *e = zh->sent.head;

    if (!e) {
        if (!zh->close_requested) /* The real one asserts. */
            sim_violation("an answer to nothing: xid %d", (int)m->xid);
        wire_msg_free(m);
        return ZINVALIDSTATE;
    }
    if (e->xid != m->xid) { /* Something was lost on the way, in silence. */
        wire_msg_free(m);
        return zoo__socket_error(zh, ZRUNTIMEINCONSISTENCY);
    }
    zoo__queue_take(&zh->sent);
    if (m->zxid > 0)
        zh->last_zxid = m->zxid;
    if (m->op == ZOO_EXISTS_OP || (m->op == ZOO_GETDATA_OP && e->watch))
        ens_copy_read(zh->proc, m->stat.czxid);
    e->rc = m->rc;
    e->reply = m;
    zoo__watch_answered(zh, e, m->rc);
    zoo__queue_add(&zh->done, e, false);
    return ZOK;
}

static int received(zhandle_t *zh, struct wire_msg *m)
{
    int rc = ZOK;

    zh->last_recv = sim_now();
    if (zh->state == ZOO_ASSOCIATING_STATE)
        return primed(zh, m);
    if (m->op == WIRE_EVENT) {
        zoo__queue_event(zh, m, m->type, ZOO_CONNECTED_STATE);
        return ZOK;
    }
    if (m->op != WIRE_PING && m->op != ZOO_SETAUTH_OP)
        return answered(zh, m);
    if (m->op == ZOO_SETAUTH_OP)
        rc = auth_answered(zh, m->rc);
    wire_msg_free(m);
    return rc;
}

static int read_one(zhandle_t *zh)
{
    struct wire_msg *m = wire_recv(zh->conn);

    if (m)
        return received(zh, m);
    if (wire_state(zh->conn) != WIRE_BROKEN)
        return ZNOTHING;
    return zoo__socket_error(zh, ZCONNECTIONLOSS);
}

static int handle_events(zhandle_t *zh, int events)
{
    if (zh->conn < 0)
        return ZINVALIDSTATE;
    if ((events & ZOOKEEPER_WRITE) && zh->state == ZOO_CONNECTING_STATE) {
        if (wire_state(zh->conn) == WIRE_BROKEN)
            return zoo__socket_error(zh, ZCONNECTIONLOSS);
        return zoo__prime(zh);
    }
    if ((events & ZOOKEEPER_WRITE) && zh->to_send && zoo__flush(zh) != ZOK)
        return zoo__socket_error(zh, ZCONNECTIONLOSS);
    return events & ZOOKEEPER_READ ? read_one(zh) : ZOK;
}

int zookeeper_process(zhandle_t *zh, int events)
{
    int rc;

    if (!zh)
        return ZBADARGUMENTS;
    if (zh->state < 0)
        return ZINVALIDSTATE;
    zoo__prolog(zh);
    rc = handle_events(zh, events);
    if (rc == ZOK)
        zoo__complete(zh);
    return zoo__epilog(zh, rc);
}
