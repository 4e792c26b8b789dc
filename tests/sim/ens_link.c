/* Between the servers: each follower's link to the leader, up and down, in
 * order.  A link may be held; a follower that is cut off for too long gives
 * its leader up, with all that was on its way. */
#include "ens_internal.h"

#include <string.h>

struct ens_letter *ens_letter_new(enum ens_kind kind, int64_t session,
                                  const struct ens_origin *from)
{
    struct ens_letter *l = sim_alloc(SIM_OUTSIDE, sizeof *l);

    l->kind = kind;
    l->session = session;
    l->origin = *from;
    return l;
}

void ens_letter_free(struct ens_letter *l)
{
    wire_msg_free(l->m);
    ens_auth_unref(l->auth);
    sim_free(SIM_OUTSIDE, l);
}

static void put(struct ens_link *k, struct ens_letter *l)
{
    l->due = sim_now() + ens.cfg.link_us;
    if (k->last != NULL)
        k->last->next = l;
    else
        k->first = l;
    k->last = l;
}

void ens_link_up(int server, struct ens_letter *l)
{
    put(&ens.server[server].up, l);
}

/* Nothing goes to one that has given up: it will catch up. */
void ens_link_down(int server, struct ens_letter *l)
{
    if (ens.server[server].dropped)
        ens_letter_free(l);
    else
        put(&ens.server[server].down, l);
}

int64_t ens_link_due(int server, bool up)
{
    const struct ens_server *s = &ens.server[server];
    const struct ens_link *k = up ? &s->up : &s->down;
    int64_t due;

    if (k->first == NULL)
        return INT64_MAX;
    due = k->first->due > k->held ? k->first->due : k->held;
    return due > s->cut_until ? due : s->cut_until;
}

static struct ens_letter *take(struct ens_link *k)
{
    struct ens_letter *l = k->first;

    k->first = l->next;
    if (k->first == NULL)
        k->last = NULL;
    l->next = NULL;
    return l;
}

static void synced(int server, const struct ens_letter *l)
{
    struct wire_msg *reply;

    if (ens_reachable(&l->origin)) {
        reply = wire_msg_new(ENS_SYNC, l->origin.xid);
        reply->path = sim_strdup(SIM_OUTSIDE, l->m->path);
        ens_reply(l->origin.conn, reply);
    }
    ens_answered(server, &l->origin);
}

void ens_link_arrive(int server, bool up)
{
    struct ens_server *s = &ens.server[server];
    struct ens_letter *l = take(up ? &s->up : &s->down);

    switch (l->kind) {
    case ENS_REQUEST:
        if (l->m->op == ENS_SYNC) {
            ens_leader_sync(l);
            return;
        }
        ens_propose(&l->origin, l->session, l->m, l->auth);
        break;
    case ENS_COMMIT:
        ens_deliver(server, l->txn);
        ens_retire();
        break;
    case ENS_SYNCED:
        synced(server, l);
        break;
    case ENS_REVALIDATE:
    case ENS_VALIDATED:
        ens_session_arrived(l);
        break;
    }
    ens_letter_free(l);
}

static void forget_syncs(int server)
{
    struct ens_letter **at = &ens.syncs;

    while (*at != NULL) {
        struct ens_letter *l = *at;

        if (l->origin.server != server) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        ens_letter_free(l);
    }
}

void ens_link_drop(int server)
{
    struct ens_server *s = &ens.server[server];

    sim_say("server %d: gives its leader up", server);
    s->dropped = true;
    s->report_due = 0;
    memset(ens.heard[server], 0, sizeof ens.heard[server]);
    memset(ens.heard_ms[server], 0, sizeof ens.heard_ms[server]);
    while (s->up.first != NULL)
        ens_letter_free(take(&s->up));
    while (s->down.first != NULL)
        ens_letter_free(take(&s->down));
    forget_syncs(server);
    ens_pending_clear(server);
    for (int i = 0; i < WIRE_CONNS; i++)
        if (ens.conn[i].state != ENS_FREE && ens.conn[i].server == server)
            ens_hang_up(i);
}

/* All that it missed comes at once. */
void ens_link_rejoin(int server)
{
    struct ens_server *s = &ens.server[server];

    sim_say("server %d: is back", server);
    s->dropped = false;
    for (struct ens_txn *t = ens.oldest; t != NULL; t = t->next)
        if (t->zxid > s->applied && t->zxid <= ens.committed)
            ens_deliver(server, t);
    ens_retire();
}
