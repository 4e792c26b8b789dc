/* Observers of an election, and their rules.
 *
 * A told leader was true: a leader is one whose znode said just that, and that
 * was there, with its candidate's, when the last look began or later; nobody is
 * told when there was a moment without a leader since then.  Epochs never go
 * back, a leader that was told to be gone is not told again, and nothing is
 * told twice.  And the last word is the truth, when all has been quiet for long
 * enough: so an observer stays until the others have left, and until then.
 *
 * How it can fail: the tree is looked at after every step, so what
 * was true in between is not known.  In between nothing was true for long.
 */
#include <string.h>

#include "ens.h"
#include "owes.h"
#include "processes.h"
#include "scene_lock.h"
#include "steps.h"

enum {
    OBSERVERS = 3,
    SOON_US = 60 * 1000, /* In calm. */
    LINGER_US = 40 * 1000
};

static struct observer {
    evzk_observer *o;    /* NULL: free. */
    const void *machine; /* Its, once it has looked; not to be followed. */
    int64_t proc;
    int64_t made;        /* After so many others. */
    int64_t looked;      /* The change of the tree after which it began to. */
    uint64_t epoch;      /* The highest told. */
    uint64_t over;       /* The highest that was told to have ended. */
    int64_t wrong;       /* Its last word, since when. */
    uint64_t told, node; /* The last one's epoch, and its znode, a hash. */
    int64_t session;
    uint64_t said;
    bool spoken, leads, ended;
    bool nobody; /* There was a moment without one, since it began to look. */
} observers[OBSERVERS];
SIM_KEEP(observers)
static int64_t made;
SIM_KEEP(made)

static int index_of(const struct observer *v) { return (int)(v - observers); }

static bool is_right(const struct observer *v);

void lock_observers_owe(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < OBSERVERS; i++)
        sim_owe(debt,
                observers[i].o && observers[i].proc == proc &&
                    !observers[i].ended && !is_right(&observers[i]),
                "is wrong about who leads, and is not told", i);
}

bool lock_observing(int proc)
{
    for (int i = 0; i < OBSERVERS; i++) {
        if (observers[i].o && (proc < 0 || observers[i].proc == proc))
            return true;
    }
    return false;
}

static void leave_due(intptr_t i);

static void end_observer(struct observer *v)
{
    evzk_observer *gone = v->o;
    int proc = (int)v->proc;

    scene_timer_cancel(leave_due, index_of(v));
    memset(v, 0, sizeof *v);
    process_call_begins(proc);
    evzk_observer_free(gone);
    process_call_ends(proc);
    sim_say("p%d observes no more", proc);
    lock_maybe_close(proc);
}

bool lock_observe_free(int proc)
{
    for (int i = 0; i < OBSERVERS; i++) {
        if (observers[i].o && observers[i].proc == proc) {
            end_observer(&observers[i]);
            return true;
        }
    }
    return false;
}

/* The last word, and the truth. */

static bool is_told(const struct observer *v, const struct lock_leader *r)
{
    if (!r || !v->leads)
        return !r && !v->leads;
    return v->told == r->epoch && v->node == r->node && v->said == r->said;
}

static bool is_right(const struct observer *v)
{
    return v->spoken && is_told(v, lock_leader_of(0));
}

/* Has it left a znode there, which it may not look for?  Others wait behind
 * that, until its session ends. */
static bool is_in_the_way(int proc)
{
    const struct lock_node *n = lock_world.node;

    for (; ens_shut(proc) && n < lock_world.node + lock_world.nodes; n++) {
        if (n->live && n->slot >= 0 && lock_world.slot[n->slot].freed &&
            lock_world.slot[n->slot].proc == proc)
            return true;
    }
    return false;
}

/* Nobody will do anything any more, or none of those that its process does not
 * hold up. */
static bool all_quiet(int proc)
{
    bool alone = is_in_the_way(proc);

    for (int64_t i = 0; i < lock_world.slots; i++) {
        if (lock_world.slot[i].l && (!alone || lock_world.slot[i].proc == proc))
            return false;
    }
    for (int p = 0; p < SIM_PROCS; p++) {
        if (lock_world.planned[p])
            return false;
    }
    return lock_world.actions == 0;
}

static void leave_due(intptr_t i)
{
    struct observer *v = &observers[i];

    if (!v->o)
        return;
    if (all_quiet((int)v->proc) && !owes_any() &&
        (is_right(v) || process_of((int)v->proc)->closing))
        end_observer(v);
    else
        scene_timer_set(LINGER_US, (int)v->proc, leave_due, i);
}

/* The rules for what is told. */

static void check_root(int proc)
{
    if (lock_world.sc->rootless)
        sim_violation("p%d observes below no chroot, and is told", proc);
}

static void check_nobody(const struct observer *v)
{
    if (v->spoken && !v->leads)
        sim_violation("p%d is told of nobody again", (int)v->proc);
    if (!v->nobody)
        sim_violation("p%d is told of nobody, and somebody led all the time",
                      (int)v->proc);
}

static bool is_same(const struct observer *v, const evzk_leader *l)
{
    return v->spoken && v->leads && v->told == l->epoch &&
           v->session == l->session &&
           v->node == sim_hash(l->node, strlen(l->node)) &&
           v->said == sim_hash(l->data, l->data_len);
}

static void check_leader(const struct observer *v, const evzk_leader *l)
{
    const struct lock_leader *r = lock_leader_told(0, l);
    const struct lock_node *n = r ? lock_leader_node(r) : NULL;
    bool copied = n && lock_is_copy(n);
    int proc = (int)v->proc;

    if (l->epoch < v->epoch && !copied)
        sim_violation("p%d is told of an epoch that is lower", proc);
    if (l->epoch <= v->over && !copied)
        sim_violation("p%d is told of one that was told to have ended", proc);
    if (is_same(v, l))
        sim_violation("p%d is told the same again", proc);
    if (!r)
        sim_violation("p%d is told of %s, which never led", proc, l->node);
    else if (!r->live && r->died <= v->looked)
        sim_violation("p%d is told of what was said before it looked", proc);
    if (n && !n->live && n->died <= v->looked)
        sim_violation("p%d is told of %s, which had gone", proc, l->node);
}

/* Its last one has gone: that is over. */
static void note_nobody(struct observer *v)
{
    const struct lock_leader told = {.node = v->node};
    const struct lock_node *n = v->leads ? lock_leader_node(&told) : NULL;

    if (n && !n->live)
        v->over = v->told;
    v->leads = false;
}

static void note_leader(struct observer *v, const evzk_leader *l)
{
    v->leads = true;
    v->told = l->epoch;
    v->session = l->session;
    v->node = sim_hash(l->node, strlen(l->node));
    v->said = sim_hash(l->data, l->data_len);
    if (l->epoch > v->epoch)
        v->epoch = l->epoch;
}

static bool rc_ok(int proc, int rc)
{
    if (rc == EVZK_ERR_CLOSED)
        return process_of(proc)->closing;
    if (rc == EVZK_ERR_TOOLARGE)
        return ens_shut(proc);
    if (rc == EVZK_ERR_SERVER)
        return ens_throttled(proc);
    if (rc == EVZK_ERR_NOCHROOT)
        return lock_rootless();
    return rc == EVZK_ERR_NOAUTH && lock_denied(0);
}

static void check_end(struct observer *v, int rc, const evzk_leader *l)
{
    if (!rc_ok((int)v->proc, rc))
        sim_violation("p%d: observing gave %s", (int)v->proc, evzk_errname(rc));
    if (l)
        sim_violation("p%d: observing failed, and tells", (int)v->proc);
    v->ended = true;
}

static void on_leader(evzk_observer *o, int rc, const evzk_leader *l, void *arg)
{
    struct observer *v = &observers[(intptr_t)arg];
    int proc = (int)v->proc;

    if (v->o != o || v->ended) {
        sim_violation("an observer is told after its end");
        return;
    }
    sim_say("p%d is told %s, who leads: %s", proc, evzk_errname(rc),
            l ? l->node : "nobody");
    process_heard(proc, "an observer's callback");
    if (rc == EVZK_OK)
        process_news(proc, "an observer's word");
    if (rc == EVZK_OK)
        check_root(proc);
    if (rc != EVZK_OK) {
        check_end(v, rc, l);
    } else if (l) {
        check_leader(v, l);
        note_leader(v, l);
    } else {
        check_nobody(v);
        note_nobody(v);
    }
    v->spoken = v->spoken || rc == EVZK_OK;
    process_callback(proc);
    if (v->o == o && v->ended)
        end_observer(v);
}

/* Nobody, or one in whose candidate's place a copy came in this change. */
static bool nobody_leads(void)
{
    const struct lock_leader *r = lock_leader_of(0);
    const struct lock_node *n = r ? lock_leader_node(r) : NULL;

    return !r || (n->born == lock_world.changes && lock_is_copy(n));
}

void lock_observers_look(void)
{
    bool nobody = nobody_leads();

    for (int i = 0; i < OBSERVERS; i++)
        observers[i].nobody = observers[i].nobody || nobody;
}

static void begin_to_look(struct observer *v)
{
    v->looked = lock_world.changes;
    v->nobody = !lock_leader_of(0);
}

/* Machines begin in the order in which they were made; of one that was freed
 * before it began nothing is traced but its end. */
static struct observer *of_machine(int proc, const void *machine)
{
    struct observer *next = NULL;

    for (int i = 0; i < OBSERVERS; i++) {
        struct observer *v = &observers[i];

        if (!v->o || v->proc != proc)
            continue;
        if (v->machine == machine)
            return v;
        if (!v->machine && (!next || v->made < next->made))
            next = v;
    }
    if (next)
        next->machine = machine;
    return next;
}

void lock_observers_traced(int proc, const evzk_trace *t)
{
    struct observer *v;

    if (strcmp(t->kind, "observer") != 0 || !t->entered ||
        strcmp(t->to, "LOOKING") != 0)
        return;
    v = of_machine(proc, t->object);
    if (v)
        begin_to_look(v);
}

static void check_one(struct observer *v)
{
    int proc = (int)v->proc;
    const struct process *p = process_of(proc);
    bool wrong = p->s && !p->closing && !v->ended &&
                 evzk_session_connected(p->s) && !is_right(v);

    if (!wrong) {
        v->wrong = 0;
        return;
    }
    if (v->wrong == 0)
        v->wrong = sim_now();
    if (lock_calm(proc, v->wrong) && sim_now() - v->wrong > SOON_US &&
        !process_was_frozen(proc, v->wrong))
        sim_violation("p%d is wrong about who leads, and is not told", proc);
}

void lock_observers_check(void)
{
    for (int i = 0; i < OBSERVERS; i++) {
        int before;

        if (!observers[i].o)
            continue;
        before = sim_enter((int)observers[i].proc);
        check_one(&observers[i]);
        sim_leave(before);
    }
}

static struct observer *free_one(void)
{
    for (int i = 0; i < OBSERVERS; i++) {
        if (!observers[i].o)
            return &observers[i];
    }
    return NULL;
}

bool lock_observe(int proc)
{
    const struct process *p = process_of(proc);
    struct observer *v = p->s ? free_one() : NULL;
    int rc;

    if (!v)
        return false;
    v->proc = proc;
    v->made = ++made;
    begin_to_look(v);
    process_call_begins(proc);
    rc = evzk_election_observe(p->s, lock_path(0), on_leader,
                               (void *)(intptr_t)index_of(v), &v->o);
    process_call_ends(proc);
    sim_say("p%d observes: %s", proc, evzk_errname(rc));
    if (rc == EVZK_OK) {
        lock_dirs_busy(proc);
        scene_timer_set(LINGER_US, proc, leave_due, index_of(v));
        return true;
    }
    if (!(rc == EVZK_ERR_CLOSED && p->closing) &&
        !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
        sim_violation("p%d: observing gave %s at once", proc, evzk_errname(rc));
    memset(v, 0, sizeof *v);
    return false;
}
