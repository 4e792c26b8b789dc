/* Processes that enter a double barrier, and leave it.
 *
 * Each act is one participant, with a znode whose data is the act's number.
 * When it is inside it stays for a while, and leaves.  An act that waits for
 * too long is canceled at last: a participant that crashes leaves the others
 * waiting.
 *
 * How it can fail: the rules are in scene_double_barrier_rules.c. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "owes.h"
#include "processes.h"
#include "scene_double_barrier.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

enum {
    LAST_US = 14 * 1000 * 1000, /* Then a user cancels what still waits. */
    AGAIN_US = 2000
};

static void start(intptr_t i);

static bool is_quiet(int proc)
{
    for (int i = 0; i < DB_ACTS; i++) {
        if (db.own->act[i].what && db.own->act[i].proc == proc &&
            !db.slot[i].over)
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
    db.slot[i].over = true;
    for (int k = 0; k < DB_ACTS; k++) {
        if (db.own->act[k].after == i + 1)
            scene_timer_set(1, db.own->act[k].proc, start, k);
    }
    maybe_close(db.own->act[i].proc);
}

static void end(int i)
{
    struct db_slot *k = &db.slot[i];
    evzk_double_barrier *d = k->d;
    evzk_double_barrier_query *q = k->q;
    int proc = db.own->act[i].proc;

    k->d = NULL;
    k->q = NULL;
    process_call_begins(proc);
    evzk_double_barrier_free(d);
    evzk_double_barrier_query_free(q);
    process_call_ends(proc);
    over(i);
}

static void end_early(int i)
{
    db.rough = sim_now();
    end(i);
}

static bool cancel(int i)
{
    struct db_slot *k = &db.slot[i];
    int proc = db.own->act[i].proc, rc;

    process_call_begins(proc);
    rc = evzk_double_barrier_cancel(k->d);
    process_call_ends(proc);
    sim_say("p%d: act %d is canceled: %s", proc, i + 1, evzk_errname(rc));
    k->stopped = k->stopped || rc == EVZK_OK;
    db.rough = sim_now();
    return rc == EVZK_OK;
}

static bool leave(int i)
{
    struct db_slot *k = &db.slot[i];
    int proc = db.own->act[i].proc, rc;

    process_call_begins(proc);
    rc = evzk_double_barrier_leave(k->d);
    process_call_ends(proc);
    sim_say("p%d: act %d leaves: %s", proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_OK) {
        k->leaving = true;
        k->began = sim_now();
    }
    return rc == EVZK_OK;
}

static void go(intptr_t i)
{
    if (!db.slot[i].d)
        return;
    if (db.own->act[i].how == DB_LEAVE)
        leave((int)i);
    else if (db.own->act[i].how == DB_CANCEL)
        cancel((int)i);
    else
        end_early((int)i);
}

static void give_up(intptr_t i)
{
    if (db.slot[i].d)
        cancel((int)i);
}

static void on_event(evzk_double_barrier *d, evzk_double_barrier_event ev,
                     int rc, void *arg)
{
    int i = (int)(intptr_t)arg, proc = db.own->act[i].proc;

    sim_say("p%d: act %d: %s %s", proc, i + 1,
            evzk_double_barrier_event_name(ev), evzk_errname(rc));
    process_heard(proc, "the double barrier's callback");
    if (!evzk_double_barrier_event_is_final(ev))
        process_news(proc, "news of the double barrier");
    if (db.slot[i].d != d)
        sim_violation("p%d: act %d is told after its end", proc, i + 1);
    db_look();
    db_check_told(i, ev, rc);
    process_callback(proc); /* The explorer may free it here. */
    if (db.slot[i].d != d)
        return;
    if (evzk_double_barrier_event_is_final(ev))
        end(i);
    else if (ev == EVZK_DOUBLE_BARRIER_ENTERED)
        scene_timer_set(db.own->act[i].stay_us + 1, proc, go, i);
}

static void on_answer(evzk_double_barrier_query *q, int rc,
                      const evzk_participant *v, size_t n, void *arg)
{
    int i = (int)(intptr_t)arg, proc = db.own->act[i].proc;

    sim_say("p%d: act %d: %d are told of: %s", proc, i + 1, (int)n,
            evzk_errname(rc));
    process_heard(proc, "the look-up's callback");
    if (db.slot[i].q != q)
        sim_violation("p%d: act %d is told after its end", proc, i + 1);
    db_look();
    db_check_answer(i, rc, v, n);
    process_callback(proc);
    if (db.slot[i].q == q)
        end(i);
}

static int begin_act(int i, evzk_session *s)
{
    const struct db_act *a = &db.own->act[i];
    static const evzk_acl mute[] = {{.perms = EVZK_PERM_ALL & ~EVZK_PERM_READ,
                                     .scheme = "world",
                                     .id = "anyone"}};
    char data = (char)('0' + i);
    evzk_double_barrier_options opt = {.count = db.own->count,
                                       .timeout_ms = a->timeout_ms,
                                       .leave_timeout_ms = a->leave_timeout_ms,
                                       .data = &data,
                                       .data_len = 1};

    if (a->what == DB_ASK) {
        db_look();
        db_asked(i);
        return evzk_double_barrier_query_start(
            s, "/d", on_answer, (void *)(intptr_t)i, &db.slot[i].q);
    }
    if (a->mute) {
        opt.acl = mute;
        opt.acl_count = 1;
    }
    return evzk_double_barrier_enter(s, "/d", &opt, on_event,
                                     (void *)(intptr_t)i, &db.slot[i].d);
}

static void start(intptr_t arg)
{
    int i = (int)arg, rc;
    const struct db_act *a = &db.own->act[i];
    const struct process *p = process_of(a->proc);
    struct db_slot *k = &db.slot[i];

    if (k->begun || k->over)
        return;
    if (!p->closing && process_opening(a->proc)) {
        scene_timer_set(AGAIN_US, a->proc, start, arg);
        return;
    }
    if (p->closing || !p->s) {
        over(i);
        return;
    }
    k->began = sim_now();
    process_call_begins(a->proc);
    rc = begin_act(i, p->s);
    process_call_ends(a->proc);
    sim_say("p%d: act %d begins: %s", a->proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(AGAIN_US, a->proc, start, arg);
    else
        k->begun = true;
    if (rc != EVZK_OK && !db_excused(i, EVZK_DOUBLE_BARRIER_FAILED, rc))
        sim_violation("p%d: act %d: %s", a->proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_ERR_CLOSED)
        over(i);
    if (rc == EVZK_OK && a->cancel_us)
        scene_timer_set(a->cancel_us, a->proc, give_up, arg);
}

/* The users give up at last. */
static void cancel_last(intptr_t proc)
{
    if (owes_any()) {
        scene_timer_set(OWES_AGAIN_US, (int)proc, cancel_last, proc);
        return;
    }
    for (int i = 0; i < DB_ACTS; i++) {
        if (db.slot[i].d && db.own->act[i].proc == proc && !db.slot[i].stopped)
            cancel(i);
    }
    scene_timer_set(LAST_US / 4, (int)proc, cancel_last, proc);
}

static void open_processes(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    cfg.chroot = db.own->chroot;
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, (p + 1) % SIM_SERVERS);
        process_open(p, &cfg);
        scene_timer_set(LAST_US, p, cancel_last, p);
    }
}

static void make_ready(const char *text)
{
    const char *at = strchr(text, '@');
    struct ens_seen seen;
    char whole[160];

    ens_look_ahead("/d", &seen);
    if (at)
        snprintf(whole, sizeof whole, "%.*s%" PRId64 "%s", (int)(at - text),
                 text, seen.czxid, at + 1);
    else
        snprintf(whole, sizeof whole, "%s", text);
    ens_create("/d/ready", whole, strlen(whole), ZOO_PERSISTENT);
    if (ens_look_ahead("/d/ready", &seen))
        db.made_mzxid = seen.mzxid;
}

/* What counts for nobody: by its name, or since no session owns it. */
static const char *const foreign[] = {"/d/readme",
                                      "/d/" DB_GUID "-out-0000000001",
                                      "/d/check-in-0000000000", NULL};
static const char *const copied[] = {"/d/" DB_GUID "-in-0000000000",
                                     "/d/" DB_GUID "-in-0000000001",
                                     "/d/" DB_GUID "-in-0000000009", NULL};

static void make_all(const char *const *paths, bool wanted)
{
    for (; wanted && *paths; paths++)
        ens_create(*paths, "hello", 5, ZOO_PERSISTENT);
}

static void make_tree(void)
{
    const struct db_scene *own = db.own;

    if (own->ready || own->foreign || own->hidden || own->copied || own->dir)
        ens_create("/d", "", 0, ZOO_PERSISTENT);
    if (own->ready)
        make_ready(own->ready);
    if (own->number)
        ens_set_sequence("/d", own->number);
    if (own->denied)
        ens_set_perms(own->dir ? "/d" : "/d/ready",
                      (int)(EVZK_PERM_ALL & ~own->denied));
    if (own->hidden) {
        ens_create("/d/" DB_GUID "-in-0000000000", "", 0, ZOO_EPHEMERAL);
        ens_set_perms("/d/" DB_GUID "-in-0000000000",
                      (int)(EVZK_PERM_ALL & ~EVZK_PERM_READ));
    }
    make_all(foreign, own->foreign);
    make_all(copied, own->copied);
}

void double_barrier_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;

    scene_unhook();
    memset(&db, 0, sizeof db);
    db.own = sc->own;
    db.rough = -1;
    strcpy(db.dir, "/d");
    process_trace = db_traced;
    servers.quirk_end = db.own->number != 0;
    ens_begin(&servers);
    make_tree();
    open_processes(sc);
    for (int i = 0; i < DB_ACTS; i++) {
        const struct db_act *a = &db.own->act[i];

        db.slot[i].over = !a->what;
        if (a->what && !a->after)
            scene_timer_set(a->at_us, a->proc, start, i);
    }
}

void double_barrier_check(void) { db_check(); }

bool double_barrier_done(void)
{
    for (int i = 0; i < DB_ACTS; i++) {
        if (!db.slot[i].over)
            return false;
    }
    return processes_gone();
}

void double_barrier_check_end(void)
{
    for (int p = 0; p < SIM_PROCS; p++)
        scene_timer_cancel(cancel_last, p);
    db_look();
    db_check_end();
}

const char *const double_barrier_calls[] = {"free", "cancel", "leave",
                                            "close-session", NULL};

static int act_of(int proc)
{
    for (int i = 0; i < DB_ACTS; i++) {
        if ((db.slot[i].d || db.slot[i].q) && db.own->act[i].proc == proc)
            return i;
    }
    return -1;
}

static bool close_now(int proc)
{
    if (!process_has_session(proc))
        return false;
    db.rough = sim_now();
    for (int k = 0; k < DB_ACTS; k++) {
        if (db.own->act[k].proc == proc && !db.slot[k].d && !db.slot[k].q &&
            !db.slot[k].begun && db.own->act[k].what)
            over(k);
    }
    if (!process_of(proc)->closing)
        process_close(proc);
    return true;
}

bool double_barrier_call(int proc, unsigned which)
{
    int i = act_of(proc);

    if (which == 3)
        return close_now(proc);
    if (i < 0)
        return false;
    if (which == 0) {
        end_early(i);
        return true;
    }
    if (!db.slot[i].d)
        return false;
    return which == 1 ? cancel(i) : leave(i);
}
