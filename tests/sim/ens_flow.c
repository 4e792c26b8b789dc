/* The order of transactions, and what happens when among the servers.
 *
 * The leader gives each write its zxid, and proposes it; commits follow in
 * that order.  Nothing is due that changes nothing. */
#include "ens_internal.h"

#include "steps.h"

struct ens_txn *ens_txn_new(int32_t op, int64_t session,
                            const struct ens_origin *from)
{
    struct ens_txn *t = sim_alloc(SIM_OUTSIDE, sizeof *t);

    t->op = op;
    t->session = session;
    t->origin = *from;
    t->zxid = ++ens.proposed;
    return t;
}

void ens_txn_free(struct ens_txn *t)
{
    while (t->ops != NULL) {
        struct ens_op *s = t->ops;

        t->ops = s->next;
        ens_blob_unref(s->data);
        ens_acl_unref(s->acl);
        ens_acl_unref(s->parent_acl);
        sim_free(SIM_OUTSIDE, s->path);
        sim_free(SIM_OUTSIDE, s);
    }
    wire_msg_free(t->reply);
    sim_free(SIM_OUTSIDE, t);
}

static void say(const struct ens_txn *t)
{
    const struct ens_op *s = t->ops;

    if (!sim_talking())
        return;
    sim_say("leader: proposes %lld: op %d of session %llx, error %d%s%s",
            (long long)t->zxid, t->op, (unsigned long long)t->session, t->err,
            s != NULL && s->path != NULL ? ", " : "",
            s != NULL && s->path != NULL ? s->path : "");
}

void ens_txn_propose(struct ens_txn *t)
{
    t->commit_at = sim_now() + ens.cfg.commit_us;
    if (sim_now() < ens.crawl_until)
        t->commit_at += CRAWL_US;
    if (ens.newest != NULL)
        ens.newest->next = t;
    else
        ens.oldest = t;
    ens.newest = t;
    say(t);
}

void ens_propose(const struct ens_origin *from, int64_t session,
                 const struct wire_msg *m, const struct ens_auth *auth)
{
    struct ens_txn *t = ens_txn_new(m->op, session, from);
    struct ens_session *s;

    if (m->op == WIRE_CONNECT) {
        ens_session_track(session, m->timeout_ms, from->server);
    } else if (m->op == WIRE_CLOSE) {
        ens_prep_close(t);
        s = ens_session_find(session);
        if (s != NULL)
            s->closing = true;
    } else {
        ens_prep(t, m, auth, from->server);
    }
    ens_txn_propose(t);
}

static void answer_sync(struct ens_letter *l)
{
    l->kind = ENS_SYNCED;
    ens_link_down(l->origin.server, l);
}

/* Behind all that is proposed so far. */
void ens_leader_sync(struct ens_letter *l)
{
    struct ens_letter **at = &ens.syncs;

    l->after = ens.proposed;
    if (l->after <= ens.committed) {
        answer_sync(l);
        return;
    }
    while (*at != NULL)
        at = &(*at)->next;
    *at = l;
}

static void answer_syncs(void)
{
    while (ens.syncs != NULL && ens.syncs->after <= ens.committed) {
        struct ens_letter *l = ens.syncs;

        ens.syncs = l->next;
        l->next = NULL;
        answer_sync(l);
    }
}

static void answer(struct ens_txn *t)
{
    int conn = t->origin.conn;

    if (!ens_reachable(&t->origin))
        return;
    if (t->op == WIRE_CONNECT) {
        ens_session_opened(conn, true);
    } else if (t->err == ZSESSIONMOVED) {
        ens_hang_up(conn);
    } else {
        struct wire_msg *m = t->reply;

        t->reply = NULL;
        ens_reply(conn, m);
    }
}

/* A server applies it. */
void ens_deliver(int server, struct ens_txn *t)
{
    bool mine = t->origin.server == server;

    ens.server[server].applied = t->zxid;
    if (server == 0)
        ens_copy_committed(ens_number(t->zxid));
    ens_watch_fire(server, t);
    if (mine)
        answer(t);
    /* Where it was asked for, only the connection that asked is hung up. */
    if (t->op == WIRE_CLOSE && !mine)
        ens_hang_up_session(server, t->session);
    if (mine)
        ens_answered(server, &t->origin);
}

static int64_t seen_by_all(void)
{
    int64_t least = ens.server[0].applied;

    for (int i = 1; i < ens.cfg.servers; i++)
        if (ens.server[i].applied < least)
            least = ens.server[i].applied;
    return least;
}

/* Forgets the transactions that every server has applied. */
void ens_retire(void)
{
    int64_t view = seen_by_all();

    while (ens.oldest != NULL && ens.oldest->zxid <= view) {
        struct ens_txn *t = ens.oldest;

        ens.oldest = t->next;
        if (ens.oldest == NULL)
            ens.newest = NULL;
        for (struct ens_op *s = t->ops; s != NULL; s = s->next) {
            if (s->path == NULL)
                continue;
            ens_tree_prune(s->path, view);
            s->path[ens_path_dir(s->path)] = '\0';
            ens_tree_prune(s->path, view);
        }
        ens_txn_free(t);
    }
}

static struct ens_txn *next_commit(void)
{
    struct ens_txn *t = ens.oldest;

    while (t != NULL && t->zxid <= ens.committed)
        t = t->next;
    return t;
}

static bool is_empty_container(const struct ens_node *n)
{
    const struct ens_rev *r = ens_tree_at(n, ens.committed);

    return r != NULL && r->owner == ENS_CONTAINER_OWNER && r->children == 0 &&
           r->creates > 0;
}

static struct ens_node *empty_container(struct ens_node *n)
{
    struct ens_node *found = NULL;

    for (; n != NULL && found == NULL; n = n->next)
        found = is_empty_container(n) ? n : empty_container(n->first);
    return found;
}

static void plan_reap(void)
{
    int64_t every = ens.cfg.container_us;

    if (every <= 0 || ens.containers == 0 ||
        empty_container(ens_tree_find("/")) == NULL)
        ens.reap_at = 0;
    else if (ens.reap_at == 0)
        ens.reap_at = (sim_now() / every + 1) * every;
}

static void reap_below(const struct ens_node *n)
{
    struct wire_msg *m;
    struct ens_txn *t;

    for (; n != NULL; n = n->next) {
        if (!is_empty_container(n)) {
            reap_below(n->first);
            continue;
        }
        t = ens_txn_new(ENS_DELETE, 0, &ens_nobody);
        m = wire_msg_new(ENS_DELETE, 0);
        m->path = sim_strdup(SIM_OUTSIDE, n->path);
        m->version = -1;
        ens_prep(t, m, NULL, -1);
        wire_msg_free(m);
        ens_txn_propose(t);
    }
}

void ens_reap(void)
{
    ens.reap_at = 0;
    reap_below(ens_tree_find("/"));
}

static void commit(void)
{
    struct ens_txn *t = next_commit();

    ens_apply(t);
    ens.committed = t->zxid;
    ens_prep_committed(t->zxid);
    if (t->op == WIRE_CLOSE)
        ens_session_remove(t->session);
    for (int i = 1; i < ens.cfg.servers; i++) {
        struct ens_letter *l = ens_letter_new(ENS_COMMIT, 0, &ens_nobody);

        l->txn = t;
        ens_link_down(i, l);
    }
    answer_syncs();
    ens_deliver(0, t);
    ens_retire();
    plan_reap();
}

/* With both followers cut off there is nobody to agree. */
static int64_t commit_due(void)
{
    const struct ens_txn *t = next_commit();
    int64_t due, a = ens.server[1].cut_until, b = ens.server[2].cut_until;

    if (t == NULL)
        return INT64_MAX;
    due = t->commit_at > ens.hold_until ? t->commit_at : ens.hold_until;
    if (ens.cfg.servers == 3 && (a < b ? a : b) > due)
        due = a < b ? a : b;
    return due;
}

static int64_t report_due(int server)
{
    const struct ens_server *s = &ens.server[server];

    if (s->report_due == 0)
        return INT64_MAX;
    return s->report_due > s->cut_until ? s->report_due : s->cut_until;
}

static int64_t drop_due(int server)
{
    const struct ens_server *s = &ens.server[server];
    int64_t due = s->cut_since + ens.cfg.patience_us;

    return s->dropped || s->cut_since == 0 || s->cut_until <= due ? INT64_MAX
                                                                  : due;
}

static int64_t rejoin_due(int server)
{
    const struct ens_server *s = &ens.server[server];

    return s->dropped ? s->cut_until : INT64_MAX;
}

/* Of one server each, or of the leader. */
enum what {
    DROP,
    REJOIN,
    UP,
    DOWN,
    REPORT,
    WHATS,
    COMMIT = WHATS * SIM_SERVERS,
    EXPIRE,
    REAP
};

static int64_t due_at(int server, int what)
{
    switch (what) {
    case DROP:
        return drop_due(server);
    case REJOIN:
        return rejoin_due(server);
    case UP:
    case DOWN:
        return ens_link_due(server, what == UP);
    case REPORT:
        return report_due(server);
    }
    return INT64_MAX;
}

static void earlier(struct sim_step *step, int64_t at, int id)
{
    if (at < step->at) {
        step->at = at;
        step->id = id;
    }
}

bool ens_next(struct sim_step *step)
{
    step->kind = SIM_TREE;
    step->proc = -1;
    step->id = 0;
    step->at = INT64_MAX;
    earlier(step, commit_due(), COMMIT);
    for (int i = 1; i < ens.cfg.servers; i++)
        for (int what = DROP; what < WHATS; what++)
            earlier(step, due_at(i, what), what * SIM_SERVERS + i);
    earlier(step, ens_session_due(), EXPIRE);
    if (ens.reap_at != 0)
        earlier(step, ens.reap_at, REAP);
    if (step->at == INT64_MAX)
        return false;
    if (step->at < sim_now())
        step->at = sim_now();
    return true;
}

static void do_at(int server, int what)
{
    switch (what) {
    case DROP:
        ens_link_drop(server);
        break;
    case REJOIN:
        ens_link_rejoin(server);
        break;
    case UP:
    case DOWN:
        ens_link_arrive(server, what == UP);
        break;
    case REPORT:
        ens_session_report(server);
        break;
    }
}

/* A fault that is over leaves no trace: worlds are compared. */
static void forget_past(int64_t now)
{
    if (ens.hold_until <= now)
        ens.hold_until = 0;
    if (ens.crawl_until <= now)
        ens.crawl_until = 0;
    for (int i = 1; i < ens.cfg.servers; i++) {
        struct ens_server *s = &ens.server[i];

        if (s->down.held <= now)
            s->down.held = 0;
        if (s->cut_until <= now && !s->dropped)
            s->cut_until = s->cut_since = 0;
    }
}

void ens_do(const struct sim_step *step)
{
    forget_past(sim_now());
    switch (step->id) {
    case COMMIT:
        commit();
        break;
    case EXPIRE:
        ens_session_expire(sim_now());
        break;
    case REAP:
        ens_reap();
        break;
    default:
        do_at(step->id % SIM_SERVERS, step->id / SIM_SERVERS);
    }
}
