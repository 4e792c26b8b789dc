/* Look-ups of who contends, and their rules.
 *
 * What a look-up says was true: each of whom it tells was there at some moment
 * between the question and the answer, and whoever was there all the time is
 * told of.  It need not be what was there at any one moment: the names come
 * first, what they say of themselves after, and who has left by then is left
 * out.
 *
 * How it can fail: the tree is looked at after every step, so what
 * was true in between is not known.  In between nothing was true for long.
 */
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene_lock.h"

static struct query {
    evzk_lock_query *q;     /* NULL: free. */
    int64_t proc, asked;    /* The change of the tree it was asked after. */
    bool there[LOCK_NODES]; /* Nodes there then. */
} queries[LOCK_QUERIES];
SIM_KEEP(queries)

bool lock_asking(int proc)
{
    for (int i = 0; i < LOCK_QUERIES; i++) {
        if (queries[i].q && (proc < 0 || queries[i].proc == proc))
            return true;
    }
    return false;
}

static void end_query(struct query *q)
{
    evzk_lock_query *gone = q->q;
    int proc = (int)q->proc;

    memset(q, 0, sizeof *q);
    process_call_begins(proc);
    evzk_lock_query_free(gone);
    process_call_ends(proc);
    lock_maybe_close(proc);
}

bool lock_ask_free(int proc)
{
    for (int i = 0; i < LOCK_QUERIES; i++) {
        if (queries[i].q && queries[i].proc == proc) {
            end_query(&queries[i]);
            return true;
        }
    }
    return false;
}

static bool tells_of(const evzk_contender *c, const struct lock_node *n)
{
    return c->session == n->owner &&
           c->token == (n->waits || c->foreign ? 0 : (uint64_t)n->czxid);
}

static const char *library_of(const char *name)
{
    if (strstr(name, "__lock__") || strstr(name, "__rlock__"))
        return "Kazoo";
    return strncmp(name, "_c_", 3) == 0 || strstr(name, "__WRIT__") ||
                   strstr(name, "__READ__")
               ? "Curator"
               : "";
}

/* What its name tells of it. */
static void check_name(const evzk_contender *c, const struct lock_node *n,
                       bool unsure)
{
    const char *library = c->library ? c->library : "";

    if (strcmp(library, library_of(c->node)) != 0)
        sim_violation("a look-up says of %s that it is \"%s\"'s", c->node,
                      library);
    if (c->foreign != n->foreign && !unsure)
        sim_violation("a look-up is wrong about who is foreign");
    if (n->shares != (c->mode == EVZK_LOCK_READ))
        sim_violation("a look-up is wrong about who reads");
}

static void check_one(const struct query *q, const evzk_contender *c,
                      bool holds, bool unsure)
{
    const struct lock_node *n = lock_node_named(c->node);

    if (!n)
        sim_violation("a look-up tells of %s, which never was", c->node);
    else if (!n->live && n->died <= q->asked)
        sim_violation("a look-up tells of %s, which had gone", c->node);
    else if (c->hidden ? c->session || c->token || c->data_len
                       : !tells_of(c, n) && !lock_is_copy(n))
        sim_violation("a look-up tells wrongly of %s", c->node);
    if (c->holder != (holds && !c->foreign && !(n && n->waits)))
        sim_violation("a look-up is wrong about who holds");
    if (n)
        check_name(c, n, unsure);
    if (n && n->slot >= 0 && c->hidden != lock_world.slot[n->slot].plan->hidden)
        sim_violation("a look-up is wrong about who hides");
}

static bool has(const evzk_contender *v, size_t n, const struct lock_node *node)
{
    for (size_t i = 0; i < n; i++) {
        if (lock_node_named(v[i].node) == node)
            return true;
    }
    return false;
}

/* The look-up goes by the names in its listing, of which some may have gone
 * since: without any of evzk's own, it may take the contenders of another
 * library for those that hold. */
static bool is_unsure(const evzk_contender *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct lock_node *node = lock_node_named(v[i].node);

        if (node && !node->foreign)
            return lock_world.sc->dialect != EVZK_DIALECT_EVZK;
    }
    return true;
}

static void check_all(const struct query *q, const evzk_contender *v, size_t n)
{
    bool all_read = true, unsure = is_unsure(v, n);

    for (size_t i = 0; i < n; i++) {
        const struct lock_node *a, *b;

        all_read = all_read && v[i].mode == EVZK_LOCK_READ;
        check_one(q, &v[i], i == 0 || all_read, unsure);
        if (i == 0)
            continue;
        a = lock_node_named(v[i - 1].node);
        b = lock_node_named(v[i].node);
        if (a && b &&
            (v[i - 1].foreign == v[i].foreign ? lock_before(b, a)
                                              : v[i - 1].foreign))
            sim_violation("a look-up is out of order at %s", v[i].node);
        if (b && has(v, i, b))
            sim_violation("a look-up tells twice of %s", v[i].node);
    }
    for (int64_t i = 0; i < lock_world.nodes; i++) {
        const struct lock_node *node = &lock_world.node[i];

        if (q->there[i] && node->live && !has(v, n, node))
            sim_violation("a look-up misses %d of lock %d", node->seq,
                          node->slot);
    }
}

static bool rc_ok(int proc, int rc)
{
    if (rc == EVZK_ERR_CLOSED)
        return process_of(proc)->closing;
    if (rc == EVZK_ERR_NOAUTH)
        return ens_denied(proc) || lock_denied(0);
    if (rc == EVZK_ERR_TOOLARGE)
        return ens_shut(proc);
    if (rc == EVZK_ERR_SERVER)
        return ens_throttled(proc);
    if (rc == EVZK_ERR_NOMEM)
        return process_lacked_memory(proc);
    return rc == EVZK_ERR_NOCHROOT ? lock_rootless()
                                   : rc == EVZK_OK && !lock_world.sc->rootless;
}

static void on_answer(evzk_lock_query *answered, int rc,
                      const evzk_contender *v, size_t n, void *arg)
{
    struct query *q = &queries[(intptr_t)arg];
    int proc = (int)q->proc;

    sim_say("p%d look-up: %s, %zu contend", proc, evzk_errname(rc), n);
    if (q->q != answered) {
        sim_violation("a look-up answered after it was freed");
        return;
    }
    process_heard(proc, "a look-up's callback");
    if (!rc_ok(proc, rc))
        sim_violation("p%d: a look-up gave %s", proc, evzk_errname(rc));
    if (rc == EVZK_OK)
        check_all(q, v, n);
    else if (n != 0 || v)
        sim_violation("p%d: a look-up failed, and tells", proc);
    process_callback(proc);
    if (q->q == answered)
        end_query(q);
}

static struct query *free_one(void)
{
    for (int i = 0; i < LOCK_QUERIES; i++) {
        if (!queries[i].q)
            return &queries[i];
    }
    return NULL;
}

bool lock_ask(int proc)
{
    const struct process *p = process_of(proc);
    struct query *q = free_one();
    int rc;

    if (!q || !p->s)
        return false;
    q->proc = proc;
    q->asked = lock_world.changes;
    for (int64_t i = 0; i < lock_world.nodes; i++)
        q->there[i] = lock_world.node[i].live && lock_world.node[i].place == 0;
    process_call_begins(proc);
    rc = evzk_lock_query_start(p->s, lock_path(0), on_answer,
                               (void *)(intptr_t)(q - queries), &q->q);
    process_call_ends(proc);
    sim_say("p%d look-up: %s", proc, evzk_errname(rc));
    if (rc == EVZK_OK) {
        lock_dirs_busy(proc);
        return true;
    }
    if (!(rc == EVZK_ERR_CLOSED && p->closing) &&
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
        sim_violation("p%d: a look-up gave %s at once", proc, evzk_errname(rc));
    memset(q, 0, sizeof *q);
    return false;
}
