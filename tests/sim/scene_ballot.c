/* What recipes are made from, tried by a recipe of the tests alone (ballot.h).
 *
 * The rules.  Of one voter there is one vote, and one znode that says that it
 * is here, whatever became of the answers: nothing is made twice.  A vote and
 * the znode that it took the place of are never there together: a transaction
 * is done as a whole.  The gate opens when all have voted, and not before. When
 * all have voted everybody ends soon: no watch is missed.  And nobody leaves
 * anything behind.
 *
 * How it can fail: an operator's faults take votes away, and put copies of
 * znodes beside them or in their places.  Actions of others excuse the voters
 * that they hit; a copy is told by its having no session. */
#include <string.h>

#include "ballot.h"
#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"
#include "wire.h"

enum {
    VOTERS = 4,
    KIDS = 40,
    LINGER_US = 10 * 1000,
    AGAIN_US = 20 * 1000,
    SOON_US = 3 * 1000 * 1000, /* No fault lasts so long. */
    TIMEOUT_MS = 6000,
    PATIENCE = 400
};

struct ballot_plan {
    int proc;
    int start_ms, cancel_ms, free_ms; /* 0: never. */
};

struct ballot_scene {
    struct ballot_plan plan[VOTERS];
    int voters;
    unsigned window; /* So many requests may be in flight; 0: many. */
    bool persistent, dir, make_chroot;
};

static const struct ballot_scene *sc;
static struct {
    struct ballot *b[VOTERS];
    int64_t proc[VOTERS], planned, patience[SIM_PROCS];
    bool canceled[VOTERS], ended[VOTERS], idle[SIM_PROCS], early[SIM_PROCS];
    bool voted[VOTERS]; /* Its vote was there. */
    int64_t stand;      /* Votes that are there now. */
    bool dir_seen, dir_gone;
    bool left;         /* Somebody has given up, and taken its vote along. */
    int64_t all_since; /* All had voted; 0: not yet. */
} world;
SIM_KEEP(world)

static const char *dir(void)
{
    return sc->make_chroot ? "/app/polls" : "/polls";
}

/* The end of a process. */

static bool busy(int proc)
{
    for (int i = 0; i < VOTERS; i++) {
        if (world.b[i] && world.proc[i] == proc)
            return true;
    }
    return world.planned > 0;
}

/* All have ended: the server need not tell this session of anything.  A server
 * may not know yet that an earlier connection has gone. */
static void check_watches(int proc)
{
    const struct process *p = process_of(proc);

    if (process_is_idle(p) && evzk_session_connected(p->s) &&
        !process_lacked_memory(proc) && !ens_refused(proc) &&
        ens_watches_on(wire_conn_of(proc)))
        sim_violation("p%d: watches of nobody at the servers", proc);
}

static void close_idle(intptr_t arg)
{
    int proc = (int)arg;
    const struct process *p = process_of(proc);

    if (p->closing)
        return;
    if (busy(proc) ||
        (p->s && !process_is_idle(p) && world.patience[proc]++ < PATIENCE)) {
        scene_timer_set(LINGER_US, proc, close_idle, proc);
        return;
    }
    if (p->s)
        check_watches(proc);
    if (p->s && !process_is_idle(p))
        world.early[proc] = true;
    process_close(proc);
}

static void maybe_close(int proc)
{
    if (world.idle[proc])
        return;
    world.idle[proc] = true;
    scene_timer_set(LINGER_US, proc, close_idle, proc);
}

/* Events. */

static bool all_voted(void)
{
    int n = 0;

    for (int i = 0; i < VOTERS; i++)
        n += world.voted[i];
    return n >= sc->voters;
}

static bool rc_ok(int i, int rc)
{
    int proc = (int)world.proc[i];
    bool broken = operator_deleted_any() || world.dir_gone;

    switch (rc) {
    case EVZK_OK:
        return all_voted();
    case EVZK_ERR_CANCELED:
        return world.canceled[i];
    case EVZK_ERR_TIMEOUT:
        return broken || world.left || fault_malformed() || !world.all_since ||
               sim_now() - world.all_since < SOON_US ||
               process_was_frozen(proc, world.all_since) ||
               process_has_lapsed(proc); /* No votes were seen in time. */
    case EVZK_ERR_BADVERSION:
        return fault_malformed();
    case EVZK_ERR_NODEGONE:
        return broken;
    case EVZK_ERR_CLOSED:
        return process_of(proc)->closing;
    case EVZK_ERR_SERVER:
        return ens_throttled(proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOAUTH:
        return ens_denied(proc) || fault_hid_votes();
    }
    return false;
}

static void free_it(int i)
{
    struct ballot *b = world.b[i];
    int proc = (int)world.proc[i];

    world.left = world.left || !world.ended[i];
    world.b[i] = NULL;
    process_call_begins(proc);
    ballot_free(b);
    process_call_ends(proc);
    maybe_close(proc);
}

static void on_end(struct ballot *b, int rc, void *arg)
{
    int i = (int)(intptr_t)arg, proc = (int)world.proc[i];

    sim_say("p%d voter %d ends with %s", proc, i, evzk_errname(rc));
    process_heard(proc, "a ballot's callback");
    if (world.b[i] != b) {
        sim_violation("voter %d ends after it was freed", i);
        return;
    }
    if (!rc_ok(i, rc))
        sim_violation("voter %d ends with %s", i, evzk_errname(rc));
    world.ended[i] = true;
    world.left = world.left || rc != EVZK_OK;
    process_callback(proc);
    if (world.b[i] == b)
        free_it(i);
}

static void cancel_due(intptr_t i)
{
    if (!world.b[i])
        return;
    world.canceled[i] = world.left = true;
    process_call_begins((int)world.proc[i]);
    ballot_cancel(world.b[i]);
    process_call_ends((int)world.proc[i]);
}

static void free_due(intptr_t i)
{
    if (world.b[i])
        free_it((int)i);
}

static void start_due(intptr_t i)
{
    const struct ballot_plan *plan = &sc->plan[i];
    const struct process *p = process_of(plan->proc);
    struct ballot_options opt = {.voters = (uint32_t)sc->voters,
                                 .timeout_ms = TIMEOUT_MS,
                                 .vote = (char)('0' + i),
                                 .persistent = sc->persistent};
    int rc;

    if (process_opening(plan->proc)) {
        scene_timer_set(AGAIN_US, plan->proc, start_due, i);
        return;
    }
    if (p->s && !p->closing) {
        world.proc[i] = plan->proc;
        process_call_begins(plan->proc);
        rc = ballot_start(p->s, "/polls", &opt, on_end, (void *)i, &world.b[i]);
        process_call_ends(plan->proc);
        if (rc == EVZK_ERR_NOMEM && process_lacked_memory(plan->proc)) {
            scene_timer_set(AGAIN_US, plan->proc, start_due, i);
            return;
        }
        if (rc != EVZK_OK)
            sim_violation("starting gave %s", evzk_errname(rc));
    }
    world.planned--;
    maybe_close(plan->proc);
    if (plan->cancel_ms)
        scene_timer_set(in_us(plan->cancel_ms), plan->proc, cancel_due, i);
    if (plan->free_ms)
        scene_timer_set(in_us(plan->free_ms), plan->proc, free_due, i);
}

/* The rules. */

struct found {
    char path[160];
    struct ens_seen seen;
    int voter; /* -1: nobody's, or struck. */
    bool vote, here, copy;
};

static bool look(const char *name, struct found *f)
{
    size_t n = strlen(name);

    memset(f, 0, sizeof *f);
    if (strlen(dir()) + n + 2 > sizeof f->path)
        return false;
    strcpy(stpcpy(stpcpy(f->path, dir()), "/"), name);
    if (!ens_look(f->path, &f->seen))
        return false;
    f->vote = n > 5 && strcmp(name + n - 5, "-vote") == 0;
    f->here = strstr(name, "-here-") != NULL;
    f->copy = f->here && f->seen.owner == 0 && !sc->persistent;
    f->voter = -1;
    if (f->seen.len == 1 && f->seen.data[0] >= '0' &&
        f->seen.data[0] < '0' + VOTERS && !fault_wrote(f->seen.mzxid))
        f->voter = f->seen.data[0] - '0';
    return f->vote || f->here;
}

static bool same_guid(const struct found *a, const struct found *b)
{
    return strncmp(a->path, b->path, strlen(dir()) + 1 + EVZK__GUID_LEN) == 0;
}

static void check_pair(const struct found *a, const struct found *b)
{
    bool both_here = a->here && b->here && a->seen.owner == b->seen.owner;

    if (a->copy || b->copy)
        return;
    if (a->vote != b->vote && same_guid(a, b))
        sim_violation("%s is there, and its vote, too", a->path);
    if (a->voter < 0 || a->voter != b->voter)
        return;
    if (a->vote && b->vote)
        sim_violation("voter %d has two votes", a->voter);
    if (both_here && !operator_deleted_any())
        sim_violation("voter %d is here twice", a->voter);
}

static int find_all(struct found v[KIDS])
{
    const char *names[KIDS];
    size_t n = ens_children(dir(), names, KIDS);
    int found = 0;

    for (size_t i = 0; i < n && i < KIDS; i++)
        found += look(names[i], &v[found]);
    return found;
}

static void look_at_dir(void)
{
    struct ens_seen seen;
    bool there = ens_look(dir(), &seen);

    world.dir_gone = world.dir_gone || (world.dir_seen && !there);
    world.dir_seen = world.dir_seen || there;
}

static void check_gate(void)
{
    char path[32];
    struct ens_seen seen;

    strcpy(stpcpy(path, dir()), "/gate");
    if (ens_look(path, &seen) && !all_voted())
        sim_violation("the gate is open, and not all have voted");
}

static void check(void)
{
    static struct found v[KIDS];
    int n;

    look_at_dir();
    n = find_all(v);
    world.stand = 0;
    for (int i = 0; i < n; i++) {
        if (v[i].vote && v[i].voter >= 0) {
            world.voted[v[i].voter] = true;
            world.stand++;
        }
        for (int j = 0; j < i; j++)
            check_pair(&v[i], &v[j]);
    }
    if (!world.all_since && all_voted())
        world.all_since = sim_now();
    check_gate();
}

/* A voter that is canceled ends; so do all, when all have voted.  Nothing tells
 * this recipe of a vote that is mended: it watches who votes. */
static void owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < VOTERS; i++) {
        if (!world.b[i] || world.proc[i] != proc || world.ended[i])
            continue;
        sim_owe(debt, world.canceled[i], "a voter is canceled, and waits", i);
        sim_owe(debt,
                world.stand >= sc->voters && !world.left && !fault_malformed(),
                "all have voted, and a voter waits", i);
    }
}

static bool excused(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (world.early[p] || ens_refused(p))
            return true;
    }
    return (fault_hid_votes() && sc->persistent) || fault_malformed();
}

static void check_end(void)
{
    static struct found v[KIDS];
    int n = find_all(v);

    for (int i = 0; i < n; i++) {
        if (!v[i].copy && !excused())
            sim_violation("%s is left", v[i].path);
    }
}

static bool done(void)
{
    for (int i = 0; i < VOTERS; i++) {
        if (world.b[i])
            return false;
    }
    return world.planned == 0 && processes_gone();
}

/* The beginning. */

static void begin(const struct sim_scene *scene)
{
    struct ens_config servers = scene_servers;
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    servers.link_us = 1000;
    sc = scene->own;
    cfg.window = sc->window;
    ens_removes = scene_any_removes;
    ens_begin(&servers);
    if (sc->dir)
        ens_create("/polls", "", 0, ZOO_PERSISTENT);
    if (sc->make_chroot) {
        cfg.chroot = "/app";
        cfg.make_chroot = true;
    }
    for (int p = 0; p < scene->processes; p++) {
        wire_route(p, (p + 1) % SIM_SERVERS);
        process_open(p, &cfg);
    }
    for (int i = 0; i < VOTERS; i++) {
        const struct ballot_plan *plan = &sc->plan[i];

        if (!plan->start_ms)
            continue;
        world.planned++;
        scene_timer_set(in_us(plan->start_ms), plan->proc, start_due, i);
    }
}

/* The explorer's calls. */

static const char *const calls[] = {"cancel", "free", "close-session",
                                    "free-session", NULL};

static bool call(int proc, unsigned which)
{
    int i = 0;

    if (!process_of(proc)->s)
        return false;
    if (which >= 2) {
        world.early[proc] = true;
        (which == 2 ? process_close : process_free)(proc);
        return true;
    }
    while (i < VOTERS && !(world.b[i] && world.proc[i] == proc))
        i++;
    if (i == VOTERS)
        return false;
    (which ? free_due : cancel_due)(i);
    return true;
}

/* clang-format off */
static const struct ballot_scene
one = {.voters = 1,
    .plan = {{.proc = 0, .start_ms = 1}}},
two = {.voters = 2, .dir = true,
    .plan = {{.proc = 0, .start_ms = 1}, {.proc = 1, .start_ms = 12}}},
three = {.voters = 3,
    .plan = {{.proc = 0, .start_ms = 1}, {.proc = 1, .start_ms = 1}, {.proc = 2, .start_ms = 30}}},
same = {.voters = 3,
    .plan = {{.proc = 0, .start_ms = 1}, {.proc = 0, .start_ms = 1}, {.proc = 1, .start_ms = 20}}},
persistent = {.voters = 2, .persistent = true,
    .plan = {{.proc = 0, .start_ms = 1}, {.proc = 1, .start_ms = 12}}},
below_chroot = {.voters = 2, .make_chroot = true,
    .plan = {{.proc = 0, .start_ms = 1}, {.proc = 1, .start_ms = 3}}},
narrow = {.voters = 3, .dir = true, .window = 4,
    .plan = {{.proc = 0, .start_ms = 1}, {.proc = 0, .start_ms = 1}, {.proc = 0, .start_ms = 1}}},
heir = {.voters = 3, .dir = true,
    .plan = {{.proc = 0, .start_ms = 1, .cancel_ms = 104}, {.proc = 0, .start_ms = 100, .free_ms = 300}}},
leaves = {.voters = 3,
    .plan = {{.proc = 0, .start_ms = 1}, {.proc = 0, .start_ms = 2, .cancel_ms = 60},
             {.proc = 1, .start_ms = 120}, {.proc = 1, .start_ms = 130}}},
canceled = {.voters = 2,
    .plan = {{.proc = 0, .start_ms = 1, .cancel_ms = 60}, {.proc = 1, .start_ms = 100, .free_ms = 40}}};

static const struct sim_scene scenes[] = {
    {"ballot-one", "one voter, alone", 1, true, &one},
    {"ballot-two", "two voters, one of them waits", 2, true, &two},
    {"ballot-three", "each with another server", 3, false, &three},
    {"ballot-same", "two of one session", 2, false, &same},
    {"ballot-persistent", "what says that they are here stays", 2, false, &persistent},
    {"ballot-chroot", "below a chroot that is to be made", 2, false, &below_chroot},
    {"ballot-narrow", "three of a session that may ask for little at a time", 1, false, &narrow},
    {"ballot-heir", "one ends while another of its session looks for the first time", 1, false, &heir},
    {"ballot-leaves", "one of a session is canceled, another waits", 2, false, &leaves},
    {"ballot-canceled", "one is canceled, one freed", 2, false, &canceled},
};
/* clang-format on */

const struct sim_recipe sim_ballot = {.name = "ballot",
                                      .kind = &ballot_kind,
                                      .scenes = scenes,
                                      .n_scenes =
                                          sizeof scenes / sizeof scenes[0],
                                      .begin = begin,
                                      .check = check,
                                      .owes = owes,
                                      .done = done,
                                      .check_end = check_end,
                                      .calls = calls,
                                      .call = call};
