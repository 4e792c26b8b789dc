/* Processes that acquire leases of one semaphore, hold them, and give them
 * back. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "leases.h"
#include "processes.h"
#include "scene.h"
#include "scene_acts.h"
#include "scene_list.h"
#include "scene_semaphore.h"
#include "scene_setup.h"
#include "steps.h"

enum { AGAIN_US = 5000, LEAVE_US = 900 * 1000, STRANGERS_MS = 20000 };

struct semaphore_world sems;
SIM_KEEP(sems)

/* The end. */

static void leave(intptr_t proc)
{
    if (!process_has_session((int)proc))
        return;
    semaphore_check_left((int)proc);
    process_close((int)proc);
}

static void over(int i)
{
    int proc = sem_plan(i)->proc;

    sems.of[i].over = true;
    for (int k = 0; k < ATTEMPTS; k++) {
        if (sem_plan(k)->used && sem_plan(k)->proc == proc && !sems.of[k].over)
            return;
    }
    scene_timer_set(LEAVE_US, proc, leave, proc);
}

static void drop(int i)
{
    evzk_semaphore *gone = sems.of[i].p;

    sems.of[i].p = NULL;
    sems.of[i].machine = NULL;
    sems.of[i].waits = false;
    process_call_begins(sem_plan(i)->proc);
    evzk_semaphore_free(gone);
    process_call_ends(sem_plan(i)->proc);
    lease_over(sem_plan(i)->proc, sems.of[i].lease);
    sems.of[i].lease = NULL;
    over(i);
}

static void let_go(intptr_t arg)
{
    int i = (int)arg, rc;
    struct attempt *a = &sems.of[i];

    if (!a->p || !a->acquired || a->released)
        return;
    if (sem_plan(i)->frees) {
        drop(i);
        return;
    }
    process_call_begins(sem_plan(i)->proc);
    rc = evzk_semaphore_release(a->p);
    process_call_ends(sem_plan(i)->proc);
    if (rc == EVZK_OK) {
        a->released = true;
        if (evzk_semaphore_held(a->p))
            sim_violation("attempt %d: released, and held", i);
    } else if (rc != EVZK_ERR_STATE)
        sim_violation("attempt %d: a release: %s", i, evzk_errname(rc));
}

static bool cancel(int i)
{
    int proc = sem_plan(i)->proc, rc;

    process_call_begins(proc);
    rc = evzk_semaphore_cancel(sems.of[i].p);
    process_call_ends(proc);
    sim_say("attempt %d: cancel: %s", i, evzk_errname(rc));
    if (rc == EVZK_OK)
        sems.of[i].canceled = true;
    else if (rc != EVZK_ERR_STATE)
        sim_violation("attempt %d: a cancel: %s", i, evzk_errname(rc));
    return rc == EVZK_OK;
}

static void cancel_now(intptr_t i)
{
    if (sems.of[i].p && !sems.of[i].acquired)
        cancel((int)i);
}

/* Every second one, so that what is acquired without is seen, too. */
static void take_lease(int i)
{
    int proc = sem_plan(i)->proc, rc;
    evzk_lease *lease = NULL;

    if (i % 2 != 0)
        return;
    process_call_begins(proc);
    rc = evzk_semaphore_lease(sems.of[i].p, &lease);
    process_call_ends(proc);
    if (!process_may_return(proc, rc))
        sim_violation("attempt %d: its lease: %s", i, evzk_errname(rc));
    sems.of[i].lease = lease;
}

static void on_event(evzk_semaphore *p, evzk_semaphore_event event, int rc,
                     void *arg)
{
    int i = (int)(intptr_t)arg, proc = sem_plan(i)->proc;
    struct attempt *a = &sems.of[i];
    bool final = evzk_semaphore_event_is_final(event);

    sim_say("attempt %d: %s, %s", i, evzk_semaphore_event_name(event),
            evzk_errname(rc));
    if (final)
        process_heard(proc, "the semaphore's callback");
    else
        process_news(proc, "the semaphore's event");
    if (a->p != p || a->end)
        sim_violation("attempt %d: %s behind its end", i,
                      evzk_semaphore_event_name(event));
    semaphore_told(i, event, rc);
    if (event == EVZK_SEMAPHORE_ACQUIRED)
        take_lease(i);
    process_callback(proc);
    if (a->p != p)
        return;
    if (final)
        drop(i);
    else if (event == EVZK_SEMAPHORE_ACQUIRED && !sem_plan(i)->keeps)
        scene_timer_set(in_us(sem_plan(i)->hold_ms), proc, let_go, i);
    else if (event == EVZK_SEMAPHORE_ACQUIRED)
        over(i);
}

/* The beginning. */

static void name_paths(void)
{
    snprintf(sems.path, sizeof sems.path, "%s",
             sems.own->path ? sems.own->path : "/s");
    snprintf(sems.locks, sizeof sems.locks, "%s%s", sems.path,
             sem_is_kazoo() ? "-__lock__" : "/locks");
    snprintf(sems.leases, sizeof sems.leases, "%s%s", sems.path,
             sem_is_kazoo() ? "" : "/leases");
}

static int call_acquire(int i)
{
    const struct semaphore_plan *plan = sem_plan(i);
    char data = (char)('0' + i);
    evzk_semaphore_options opt = {.leases = plan->leases,
                                  .timeout_ms = plan->timeout_ms,
                                  .try_once = plan->try_once,
                                  .no_requeue = plan->no_requeue,
                                  .dialect = sems.own->dialect,
                                  .data = &data,
                                  .data_len = 1};

    if (sems.own->own_acl) {
        opt.acl = &sem_acl;
        opt.acl_count = 1;
    }
    return evzk_semaphore_acquire(process_of(plan->proc)->s, sems.path, &opt,
                                  on_event, (void *)(intptr_t)i, &sems.of[i].p);
}

static void start(intptr_t arg)
{
    int i = (int)arg, proc = sem_plan(i)->proc, rc;
    struct attempt *a = &sems.of[i];

    if (a->begun || a->over)
        return;
    if (process_opening(proc)) {
        scene_timer_set(AGAIN_US, proc, start, arg);
        return;
    }
    process_call_begins(proc);
    rc = call_acquire(i);
    process_call_ends(proc);
    sim_say("attempt %d begins: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_NOMEM) {
        scene_timer_set(AGAIN_US, proc, start, arg);
        return;
    }
    a->begun = true;
    a->since = sim_now();
    a->nth = ++sems.n_begun;
    if (rc != EVZK_OK)
        over(i);
    else if (sem_plan(i)->cancel_ms)
        scene_timer_set(in_us(sem_plan(i)->cancel_ms), proc, cancel_now, i);
}

static void make_dirs(void)
{
    ens_create(sems.path, "", 0, 0);
    ens_create(sems.locks, "", 0, 0);
    if (sems.own->above_denied) {
        ens_set_perms(sems.path, EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
        return;
    }
    ens_create(sems.leases, "", 0, 0);
    if (sems.own->denied)
        ens_set_perms(sems.leases, EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
    if (sems.own->hidden)
        ens_set_perms(sems.leases, EVZK_PERM_ALL & ~EVZK_PERM_READ);
}

/* What others do. */

static void freeze(intptr_t unused)
{
    (void)unused;
    act_freeze(0, in_us(sems.own->frozen_ms));
}

static void steal(intptr_t unused)
{
    (void)unused;
    act_delete_first(sems.locks);
}

static void remove_dir(intptr_t unused)
{
    (void)unused;
    operator_delete(sems.leases);
}

static void set_dir(intptr_t unused)
{
    (void)unused;
    ens_set_data(sems.leases, "changed", 7);
}

static void seal(intptr_t unused)
{
    const char *names[8];
    char path[SEM_ROOM];
    size_t n = ens_children(sems.locks, names, 8);

    (void)unused;
    ens_set_perms(sems.locks, EVZK_PERM_ALL & ~EVZK_PERM_DELETE);
    for (size_t i = 0; !sems.own->shown && i < n && i < 8; i++) {
        snprintf(path, sizeof path, "%s/%s", sems.locks, names[i]);
        ens_set_perms(path, EVZK_PERM_ALL & ~EVZK_PERM_READ);
    }
}

/* To Kazoo a znode of that name is a lease, which nobody gives back. */
static void remove_strangers(intptr_t unused)
{
    char path[SEM_ROOM];

    snprintf(path, sizeof path, "%s/no-contender", sems.leases);
    ens_delete(path);
    scene_timer_set(in_us(STRANGERS_MS), -1, remove_strangers, unused);
}

void semaphore_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    memset(&sems, 0, sizeof sems);
    sems.own = sc->own;
    name_paths();
    process_trace = semaphore_traced;
    process_leases = semaphore_leases;
    servers.container_us = in_us(sems.own->reap_ms);
    cfg.chroot = sems.own->chroot;
    ens_begin(&servers);
    if (sems.own->stands || sems.own->above_denied)
        make_dirs();
    if (sems.own->number)
        ens_create(sems.leases, sems.own->number, strlen(sems.own->number), 0);
    scene_open(sc, &cfg);
    for (int i = 0; i < ATTEMPTS; i++) {
        sems.of[i].over = !sem_plan(i)->used;
        if (sem_plan(i)->used)
            scene_timer_set(in_us(sem_plan(i)->start_ms), sem_plan(i)->proc,
                            start, i);
    }
    act_after(sems.own->expire_ms, act_expire, 0);
    act_after(sems.own->cut_ms, act_cut, 0);
    act_after(sems.own->freeze_ms, freeze, 0);
    act_after(sems.own->steal_ms, steal, 0);
    act_after(sems.own->remove_ms, remove_dir, 0);
    act_after(sems.own->seal_ms, seal, 0);
    act_after(sems.own->set_ms, set_dir, 0);
    if (sem_is_kazoo())
        scene_timer_set(in_us(STRANGERS_MS), -1, remove_strangers, 0);
}

bool semaphore_done(void)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        if (!sems.of[i].over || sems.of[i].p)
            return false;
    }
    return processes_gone();
}

/* The explorer's calls. */

const char *const semaphore_calls[] = {"free", "cancel", "release",
                                       "close-session", NULL};
enum { FREE, CANCEL, RELEASE, CLOSE_SESSION };

static bool close_session(int proc)
{
    if (!process_has_session(proc))
        return false;
    process_close(proc);
    for (int i = 0; i < ATTEMPTS; i++) {
        if (sem_plan(i)->used && sem_plan(i)->proc == proc && !sems.of[i].p)
            over(i);
    }
    return true;
}

bool semaphore_call(int proc, unsigned which)
{
    if (which == CLOSE_SESSION)
        return close_session(proc);
    for (int i = 0; i < ATTEMPTS; i++) {
        struct attempt *a = &sems.of[i];

        if (!a->p || sem_plan(i)->proc != proc)
            continue;
        if (which == FREE) {
            drop(i);
            return true;
        }
        if (which == CANCEL && !a->acquired && !a->canceled)
            return cancel(i);
        if (which == RELEASE && a->acquired && !a->released) {
            let_go(i);
            return true;
        }
    }
    return false;
}
