/* Processes that set, lift and wait for one barrier, and their rules.
 *
 * A wait or a lift that ends well has seen no barrier, a set has seen one, at
 * some time between its call and its end.  A set makes at most one znode, and a
 * lift deletes at most one, whatever becomes of the answers.  A wait does not
 * outlive the barrier that it has seen.
 *
 * How it can fail: the tree is looked at after every step. */
#include <string.h>

#include "ens.h"
#include "evzk/barrier.h"
#include "processes.h"
#include "scene.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

enum { ACTS = 6 };
enum { NOTHING, SET, LIFT, WAIT, WRITE_TO };

/* What a process does: after so many microseconds, or after another act. */
struct barrier_act {
    int proc, what, at_us;
    int after; /* When act number `after` has ended, from 1; 0: at_us. */
    int when;  /* Or when the barrier stands (1), or does not (2). */
    uint32_t timeout_ms;
};

struct barrier_scene {
    struct barrier_act act[ACTS];
    const char *path, *chroot;
    bool stands; /* The barrier is there from the beginning... */
    bool hidden; /* ... and nobody may read its znode. */
    /* The second process is a client of the leader, and followers hear of each
     * change a while after that process: they are behind.  A read behind the
     * lease's probe is as new as a read behind a sync: so what the first
     * process does is to begin when no probe of it is under way. */
    bool followers_lag;
};

enum {
    LAST_US = 12 * 1000 * 1000, /* Then an operator lifts what stands. */
    AGAIN_US = 2000
};

static struct {
    const struct barrier_scene *own;
    char path[64];       /* In the servers' tree. */
    int64_t czxid;       /* 0: it does not stand. */
    int64_t born, died;  /* So often it was set, and lifted, by anybody. */
    int64_t changed;     /* So often in any way. */
    int64_t sets, lifts; /* Calls that may have done so. */
    struct {
        evzk_barrier *b;
        const void *machine;
        int64_t changes; /* Of the barrier, when it was called. */
        int64_t seen;    /* A wait's first barrier; 0: none yet. */
        int64_t due;     /* When its end is to be told; 0: nobody knows. */
        bool begun, over, stopped, was_there, was_not;
    } act[ACTS];
} all;
SIM_KEEP(all)

static void start(intptr_t i);

static bool is_quiet(int proc)
{
    for (int i = 0; i < ACTS; i++) {
        const struct barrier_act *a = &all.own->act[i];

        if (a->what && a->proc == proc && !all.act[i].over)
            return false;
    }
    return true;
}

static void maybe_close(int proc)
{
    if (is_quiet(proc) && process_has_session(proc))
        process_close(proc);
}

static void over(int i)
{
    all.act[i].over = true;
    for (int k = 0; k < ACTS; k++) {
        if (all.own->act[k].after == i + 1)
            scene_timer_set(1, all.own->act[k].proc, start, k);
    }
    maybe_close(all.own->act[i].proc);
}

static void end(int i)
{
    int proc = all.own->act[i].proc;
    evzk_barrier *gone = all.act[i].b;

    all.act[i].b = NULL;
    process_call_begins(proc);
    evzk_barrier_free(gone);
    process_call_ends(proc);
    over(i);
}

/* What the tree says now. */
static void look(void)
{
    struct ens_seen seen;
    int64_t czxid = ens_look(all.path, &seen) ? seen.czxid : 0;

    if (czxid != all.czxid) {
        all.changed++;
        all.born += czxid != 0;
        all.died += all.czxid != 0 && !operator_deleted(all.czxid);
        all.czxid = czxid;
    }
    for (int i = 0; i < ACTS; i++) {
        all.act[i].was_there = all.act[i].was_there || czxid != 0;
        all.act[i].was_not = all.act[i].was_not || czxid == 0;
    }
}

static bool excused(int i, int rc)
{
    const struct barrier_act *a = &all.own->act[i];

    switch (rc) {
    case EVZK_ERR_CANCELED:
        return all.act[i].stopped;
    case EVZK_ERR_TIMEOUT:
        return a->timeout_ms > 0;
    case EVZK_ERR_CLOSED:
        return process_of(a->proc)->closing;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(a->proc);
    case EVZK_ERR_SERVER:
        return ens_throttled(a->proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(a->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_NOAUTH:
        return ens_denied(a->proc) || (a->what == WAIT && all.own->hidden);
    case EVZK_ERR_NOCHROOT:
        return all.own->chroot != NULL;
    case EVZK_ERR_CONNLOSS: /* Somebody set it and lifted it, perhaps we. */
        return a->what == SET &&
               (all.changed > all.act[i].changes || operator_deleted_any());
    default:
        return false;
    }
}

static void check_told(int i, int rc)
{
    static const char *const names[] = {"", "set", "lift", "wait"};
    const struct barrier_act *a = &all.own->act[i];

    if (rc != EVZK_OK) {
        if (!excused(i, rc))
            sim_violation("p%d: a %s gave %s", a->proc, names[a->what],
                          evzk_errname(rc));
        return;
    }
    if (all.own->chroot)
        sim_violation("p%d: a %s below no chroot", a->proc, names[a->what]);
    else if (a->what == SET && !all.act[i].was_there)
        sim_violation("p%d: it is set, and never stood", a->proc);
    else if (a->what != SET && !all.act[i].was_not)
        sim_violation("p%d: a %s is over, and it stood all the time", a->proc,
                      names[a->what]);
}

static void on_end(evzk_barrier *b, int rc, void *arg)
{
    int i = (int)(intptr_t)arg, proc = all.own->act[i].proc;

    sim_say("p%d: act %d: %s", proc, i + 1, evzk_errname(rc));
    process_heard(proc, "the barrier's callback");
    if (all.act[i].b != b)
        sim_violation("p%d: act %d is told twice", proc, i + 1);
    check_told(i, rc);
    process_callback(proc); /* The explorer may free it here. */
    if (all.act[i].b == b)
        end(i);
}

static int begin_act(int i, evzk_session *s)
{
    static int (*const calls[])(evzk_session *, const char *,
                                const evzk_barrier_options *, evzk_barrier_cb *,
                                void *, evzk_barrier **) = {
        NULL, evzk_barrier_set, evzk_barrier_lift, evzk_barrier_wait};
    const struct barrier_act *a = &all.own->act[i];
    evzk_barrier_options opt = {.timeout_ms = a->timeout_ms};

    return calls[a->what](s, all.own->path, &opt, on_end, (void *)(intptr_t)i,
                          &all.act[i].b);
}

/* Not before the session is open, and the barrier is as it is to be. */
static bool is_early(const struct barrier_act *a)
{
    return process_opening(a->proc) || (a->when == 1 && !all.czxid) ||
           (a->when == 2 && all.czxid);
}

static void start(intptr_t arg)
{
    int i = (int)arg, rc;
    const struct barrier_act *a = &all.own->act[i];
    const struct process *p = process_of(a->proc);

    if (all.act[i].begun || all.act[i].over)
        return;
    if (!p->closing && is_early(a) && sim_now() < SIM_BEGIN_US + LAST_US) {
        scene_timer_set(AGAIN_US, a->proc, start, arg);
        return;
    }
    if (p->closing || !p->s) {
        over(i);
        return;
    }
    all.act[i].was_there = all.czxid != 0;
    all.act[i].was_not = all.czxid == 0;
    all.act[i].changes = all.changed;
    process_call_begins(a->proc);
    rc = begin_act(i, p->s);
    process_call_ends(a->proc);
    sim_say("p%d: act %d begins: %s", a->proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(AGAIN_US, a->proc, start, arg);
    else
        all.act[i].begun = true;
    if (rc == EVZK_OK && a->timeout_ms)
        all.act[i].due = sim_now() + a->timeout_ms * INT64_C(1000);
    all.sets += rc == EVZK_OK && a->what == SET;
    all.lifts += rc == EVZK_OK && a->what == LIFT;
    if (rc != EVZK_OK && !excused(i, rc))
        sim_violation("p%d: act %d: %s", a->proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_ERR_CLOSED)
        over(i);
}

/* An operator writes to the barrier's znode. */
static void write_to(intptr_t i)
{
    ens_set_data(all.path, "upgrade", 7);
    over((int)i);
}

/* An operator ends what the processes left. */
static void lift_last(intptr_t arg)
{
    (void)arg;
    if (ens_look(all.path, &(struct ens_seen){0}))
        operator_delete(all.path);
    scene_timer_set(LAST_US / 4, -1, lift_last, 0);
}

/* Which wait looked: the machines of a process begin in the order of its calls.
 */
static void traced(int proc, const evzk_trace *t)
{
    if (strcmp(t->kind, "barrier-wait") != 0 || !t->entered)
        return;
    for (int i = 0; i < ACTS; i++) {
        if (all.own->act[i].what != WAIT || all.own->act[i].proc != proc ||
            !all.act[i].b)
            continue;
        if (!all.act[i].machine)
            all.act[i].machine = t->object;
        if (all.act[i].machine == t->object) {
            if (strcmp(t->to, "WAITING") == 0 && !all.act[i].seen)
                all.act[i].seen = all.czxid ? all.czxid : -1;
            return;
        }
    }
}

static void make_above(const char *path)
{
    char above[64];

    for (const char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        memcpy(above, path, (size_t)(slash - path));
        above[slash - path] = '\0';
        ens_create(above, "", 0, 0);
    }
}

static void open_processes(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    cfg.chroot = all.own->chroot;
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, p == 0                   ? FOLLOWER_1
                      : all.own->followers_lag ? LEADER
                                               : FOLLOWER_2);
        process_open(p, &cfg);
    }
}

static void barrier_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;

    scene_unhook();
    memset(&all, 0, sizeof all);
    all.own = sc->own;
    strcpy(all.path, all.own->path);
    process_trace = traced;
    if (all.own->followers_lag)
        servers.link_us = SCENE_LAG_US;
    ens_begin(&servers);
    if (all.own->stands) {
        make_above(all.path);
        ens_create(all.path, "", 0, 0);
        all.sets++;
        if (all.own->hidden)
            ens_set_perms(all.path, EVZK_PERM_ALL & ~EVZK_PERM_READ);
    }
    open_processes(sc);
    for (int i = 0; i < ACTS; i++) {
        const struct barrier_act *a = &all.own->act[i];

        all.act[i].over = !a->what;
        if (a->what && !a->after)
            scene_timer_set(a->at_us, a->proc,
                            a->what == WRITE_TO ? write_to : start, i);
    }
    scene_timer_set(LAST_US, -1, lift_last, 0);
}

/* A wait is over when the barrier that it has seen is gone, a set or a lift
 * when it is done. */
static void barrier_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < ACTS; i++) {
        bool waits = all.own->act[i].what == WAIT;

        if (!all.act[i].b || all.own->act[i].proc != proc)
            continue;
        sim_owe(debt, all.act[i].stopped, "an act was canceled, and waits", i);
        sim_owe(debt, !waits, "a set, or a lift, is not told", i);
        sim_owe(debt,
                !all.czxid || (all.act[i].seen && all.act[i].seen != all.czxid),
                "waits for a barrier that was lifted", i);
    }
}

static void barrier_check(void)
{
    look();
    if (all.born > all.sets)
        sim_violation("%d sets have set it %d times", (int)all.sets,
                      (int)all.born);
    if (all.died > all.lifts)
        sim_violation("%d lifts have lifted it %d times", (int)all.lifts,
                      (int)all.died);
    for (int i = 0; i < ACTS; i++) {
        if (all.act[i].b &&
            process_is_late(all.own->act[i].proc, all.act[i].due))
            sim_violation("act %d is to end, and is not told so", i + 1);
    }
    processes_check();
}

static bool barrier_done(void)
{
    for (int i = 0; i < ACTS; i++) {
        if (!all.act[i].over)
            return false;
    }
    return processes_gone();
}

static void barrier_check_end(void)
{
    scene_timer_cancel(lift_last, 0);
    processes_check_end();
}

static const char *const barrier_calls[] = {"free", "cancel", "close-session",
                                            NULL};

static int act_of(int proc)
{
    for (int i = 0; i < ACTS; i++) {
        if (all.act[i].b && all.own->act[i].proc == proc)
            return i;
    }
    return -1;
}

static bool cancel(int i)
{
    int proc = all.own->act[i].proc, rc;

    process_call_begins(proc);
    rc = evzk_barrier_cancel(all.act[i].b);
    process_call_ends(proc);
    sim_say("p%d: act %d is canceled: %s", proc, i + 1, evzk_errname(rc));
    all.act[i].stopped = all.act[i].stopped || rc == EVZK_OK;
    if (rc == EVZK_OK && !all.act[i].due)
        all.act[i].due = sim_now();
    return rc == EVZK_OK;
}

static bool barrier_call(int proc, unsigned which)
{
    int i = act_of(proc);

    if (which < 2) {
        if (i < 0)
            return false;
        if (which == 1)
            return cancel(i);
        end(i);
        return true;
    }
    if (!process_has_session(proc))
        return false;
    for (int k = 0; k < ACTS; k++) {
        if (all.own->act[k].proc == proc && !all.act[k].b &&
            !all.act[k].begun && all.own->act[k].what)
            over(k);
    }
    if (!process_of(proc)->closing)
        process_close(proc);
    return true;
}

#define BARRIER(...)                                                           \
    .own = &(const struct barrier_scene) { __VA_ARGS__ }

static const struct sim_scene wait_scenes[] = {
    {.name = "wait",
     .about = "one waits, another lifts",
     .processes = 2,
     .pairs = true,
     BARRIER(.path = "/b", .stands = true,
             .act = {{.what = WAIT, .at_us = 10000},
                     {.proc = 1, .what = LIFT, .at_us = 60000}})},
    {.name = "pass",
     .about = "one waits where no barrier stands",
     .processes = 1,
     .pairs = true,
     BARRIER(.path = "/b", .act = {{.what = WAIT, .at_us = 10000}})},
    {.name = "wait-again",
     .about = "the barrier is lifted, and set again at once",
     .processes = 2,
     BARRIER(.path = "/b", .stands = true,
             .act = {{.what = WAIT, .at_us = 10000},
                     {.proc = 1, .what = LIFT, .at_us = 60000},
                     {.proc = 1, .what = SET, .after = 2}})},
    {.name = "wait-behind",
     .about = "one waits as soon as another has set the barrier",
     .processes = 2,
     BARRIER(.path = "/b", .followers_lag = true,
             .act = {{.proc = 1, .what = SET, .at_us = 380000},
                     {.what = WAIT, .after = 1},
                     {.proc = 1, .what = LIFT, .at_us = 900000}})},
    {.name = "wait-second",
     .about = "a second wait of a process begins when the barrier was lifted "
              "and set again, which its server has not heard",
     .processes = 2,
     BARRIER(.path = "/b", .stands = true, .followers_lag = true,
             .act = {{.what = WAIT, .at_us = 10000},
                     {.proc = 1, .what = LIFT, .at_us = 400000},
                     {.proc = 1, .what = SET, .after = 2},
                     {.what = WAIT, .after = 3},
                     {.proc = 1, .what = LIFT, .at_us = 900000}})},
    {.name = "wait-short",
     .about = "two wait, and one of them not for long",
     .processes = 2,
     BARRIER(.path = "/b", .stands = true,
             .act = {{.what = WAIT, .at_us = 10000, .timeout_ms = 200},
                     {.what = WAIT, .at_us = 11000},
                     {.proc = 1, .what = LIFT, .at_us = 500000}})},
    {.name = "wait-crowd",
     .about = "three of a process wait at once, with one read for all, and the "
              "first of them not for long",
     .processes = 2,
     .pairs = true,
     BARRIER(.path = "/b", .stands = true,
             .act = {{.what = WAIT, .at_us = 10000, .timeout_ms = 50},
                     {.what = WAIT, .at_us = 10000},
                     {.what = WAIT, .at_us = 10000},
                     {.proc = 1, .what = LIFT, .at_us = 500000}})},
    {.name = "wait-written",
     .about = "one waits, and an operator writes to the barrier",
     .processes = 2,
     BARRIER(.path = "/b", .stands = true,
             .act = {{.what = WAIT, .at_us = 10000},
                     {.proc = 1, .what = WRITE_TO, .at_us = 60000},
                     {.proc = 1, .what = LIFT, .at_us = 90000}})},
    {.name = "wait-hidden",
     .about = "one waits for a barrier that it may not read",
     .processes = 2,
     BARRIER(.path = "/b", .stands = true, .hidden = true,
             .act = {{.what = WAIT, .at_us = 10000},
                     {.proc = 1, .what = LIFT, .at_us = 60000}})},
    {.name = "wait-rootless",
     .about = "one waits below a chroot that is not there",
     .processes = 1,
     BARRIER(.path = "/b", .chroot = "/nowhere",
             .act = {{.what = WAIT, .at_us = 10000}})},
};

static const struct sim_scene set_scenes[] = {
    {.name = "set",
     .about = "one sets, another lifts as soon as it stands",
     .processes = 2,
     .pairs = true,
     BARRIER(.path = "/b",
             .act = {{.what = SET, .at_us = 10000},
                     {.proc = 1, .what = LIFT, .at_us = 12000, .when = 1}})},
    {.name = "set-two",
     .about = "two set at the same time",
     .processes = 2,
     BARRIER(.path = "/b", .act = {{.what = SET, .at_us = 10000},
                                   {.proc = 1, .what = SET, .at_us = 10000},
                                   {.what = LIFT, .after = 1}})},
    {.name = "set-below",
     .about = "what is above the barrier is missing",
     .processes = 1,
     BARRIER(.path = "/a/c/b", .act = {{.what = SET, .at_us = 10000}})},
    {.name = "set-rootless",
     .about = "one sets below a chroot that is not there",
     .processes = 1,
     BARRIER(.path = "/b", .chroot = "/nowhere",
             .act = {{.what = SET, .at_us = 10000}})},
};

static const struct sim_scene lift_scenes[] = {
    {.name = "lift",
     .about = "one lifts, another sets as soon as nothing stands",
     .processes = 2,
     .pairs = true,
     BARRIER(.path = "/b", .stands = true,
             .act = {{.what = LIFT, .at_us = 10000},
                     {.proc = 1, .what = SET, .at_us = 12000, .when = 2}})},
    {.name = "lift-two",
     .about = "two lift at the same time",
     .processes = 2,
     BARRIER(.path = "/b", .stands = true,
             .act = {{.what = LIFT, .at_us = 10000},
                     {.proc = 1, .what = LIFT, .at_us = 10000}})},
    {.name = "lift-nothing",
     .about = "one lifts where no barrier stands",
     .processes = 1,
     BARRIER(.path = "/b", .act = {{.what = LIFT, .at_us = 10000}})},
    {.name = "lift-rootless",
     .about = "one lifts below a chroot that is not there",
     .processes = 1,
     BARRIER(.path = "/b", .chroot = "/nowhere",
             .act = {{.what = LIFT, .at_us = 10000}})},
};

const struct sim_recipe sim_barrier =
    SIM_RECIPE("barrier", barrier_wait, wait_scenes, barrier, barrier);
const struct sim_recipe sim_barrier_set =
    SIM_RECIPE("barrier-set", barrier_set, set_scenes, barrier, barrier);
const struct sim_recipe sim_barrier_lift =
    SIM_RECIPE("barrier-lift", barrier_lift, lift_scenes, barrier, barrier);
