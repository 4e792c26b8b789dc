/* Processes that acquire several locks together, hold them, and give them back;
 * and some that acquire a single lock on one of the same paths. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "processes.h"
#include "scene.h"
#include "scene_acts.h"
#include "scene_list.h"
#include "scene_multi_lock.h"
#include "scene_setup.h"
#include "steps.h"

enum { AGAIN_US = 5000, LEAVE_MS = 900 };

struct multi_world multis;
SIM_KEEP(multis)

/* The end. */

static void leave(intptr_t proc)
{
    if (!process_has_session((int)proc))
        return;
    multi_check_left((int)proc);
    process_close((int)proc);
}

static void over(int i)
{
    int proc = multi_plan(i)->proc;
    int ms = multis.own->leave_ms ? multis.own->leave_ms : LEAVE_MS;

    multis.of[i].over = true;
    for (int k = 0; k < MULTIS; k++) {
        if (multi_plan(k)->parts && multi_plan(k)->proc == proc &&
            !multis.of[k].over)
            return;
    }
    scene_timer_set(in_us(ms), proc, leave, proc);
}

static void drop(int i)
{
    struct multi_try *a = &multis.of[i];
    evzk_multi_lock *gone = a->p;
    evzk_lock *single = a->single;

    a->p = NULL;
    a->single = NULL;
    process_call_begins(multi_plan(i)->proc);
    evzk_multi_lock_free(gone);
    evzk_lock_free(single);
    process_call_ends(multi_plan(i)->proc);
    over(i);
}

static void let_go(intptr_t arg)
{
    int i = (int)arg, rc;
    struct multi_try *a = &multis.of[i];

    if (!multi_lives(i) || !a->granted || a->released)
        return;
    if (multi_plan(i)->frees) {
        drop(i);
        return;
    }
    process_call_begins(multi_plan(i)->proc);
    rc = a->p ? evzk_multi_lock_release(a->p) : evzk_lock_release(a->single);
    process_call_ends(multi_plan(i)->proc);
    sim_say("attempt %d: release: %s", i, evzk_errname(rc));
    if (rc == EVZK_OK) {
        a->released = true;
        if (multi_held(i))
            sim_violation("attempt %d: released, and held", i);
    } else if (rc != EVZK_ERR_STATE)
        sim_violation("attempt %d: a release: %s", i, evzk_errname(rc));
}

static bool cancel(int i)
{
    struct multi_try *a = &multis.of[i];
    int rc;

    process_call_begins(multi_plan(i)->proc);
    rc = a->p ? evzk_multi_lock_cancel(a->p) : evzk_lock_cancel(a->single);
    process_call_ends(multi_plan(i)->proc);
    sim_say("attempt %d: cancel: %s", i, evzk_errname(rc));
    if (rc == EVZK_OK)
        a->canceled = true;
    else if (rc != EVZK_ERR_STATE)
        sim_violation("attempt %d: a cancel: %s", i, evzk_errname(rc));
    return rc == EVZK_OK;
}

static void cancel_now(intptr_t i)
{
    if (multi_lives((int)i) && !multis.of[i].granted)
        cancel((int)i);
}

static void heard(int i, evzk_multi_lock_event event, int rc)
{
    int proc = multi_plan(i)->proc;
    struct multi_try *a = &multis.of[i];
    bool final = evzk_multi_lock_event_is_final(event);

    sim_say("attempt %d: %s, %s", i, evzk_multi_lock_event_name(event),
            evzk_errname(rc));
    if (final)
        process_heard(proc, "the multi-lock's callback");
    else
        process_news(proc, "the multi-lock's event");
    if (!multi_lives(i) || a->end)
        sim_violation("attempt %d: %s behind its end", i,
                      evzk_multi_lock_event_name(event));
    multi_told(i, event, rc);
    process_callback(proc);
    if (!multi_lives(i))
        return;
    if (final)
        drop(i);
    else if (event == EVZK_MULTI_LOCK_GRANTED && !multi_plan(i)->keeps)
        scene_timer_set(in_us(multi_plan(i)->hold_ms), proc, let_go, i);
    else if (event == EVZK_MULTI_LOCK_GRANTED)
        over(i);
}

static void on_multi(evzk_multi_lock *p, evzk_multi_lock_event event, int rc,
                     void *arg)
{
    (void)p;
    heard((int)(intptr_t)arg, event, rc);
}

static void on_single(evzk_lock *l, evzk_lock_event event, int rc, void *arg)
{
    static const evzk_multi_lock_event as[] = {
        [EVZK_LOCK_GRANTED] = EVZK_MULTI_LOCK_GRANTED,
        [EVZK_LOCK_SUSPENDED] = EVZK_MULTI_LOCK_SUSPENDED,
        [EVZK_LOCK_RESUMED] = EVZK_MULTI_LOCK_RESUMED,
        [EVZK_LOCK_REQUEUED] = EVZK_MULTI_LOCK_REQUEUED,
        [EVZK_LOCK_RELEASED] = EVZK_MULTI_LOCK_RELEASED,
        [EVZK_LOCK_LOST] = EVZK_MULTI_LOCK_LOST,
        [EVZK_LOCK_FAILED] = EVZK_MULTI_LOCK_FAILED};

    (void)l;
    if (as[event])
        heard((int)(intptr_t)arg, as[event], rc);
}

/* The beginning. */

static size_t fill_parts(int i, char paths[MULTI_DIRS][8],
                         evzk_multi_lock_part v[MULTI_DIRS])
{
    const char *letters = multi_plan(i)->parts;

    for (size_t k = 0; k < multi_n(i); k++) {
        snprintf(paths[k], sizeof paths[k], "%s",
                 multi_dir(multi_dir_of(letters[k])));
        v[k] = (evzk_multi_lock_part){.path = paths[k],
                                      .mode = isupper((unsigned char)letters[k])
                                                  ? EVZK_LOCK_READ
                                                  : EVZK_LOCK_EXCLUSIVE};
    }
    return multi_n(i);
}

static int call_acquire(int i)
{
    const struct multi_plan *plan = multi_plan(i);
    evzk_session *s = process_of(plan->proc)->s;
    void *arg = (void *)(intptr_t)i;
    evzk_multi_lock_part parts[MULTI_DIRS];
    char paths[MULTI_DIRS][8], data = (char)('0' + i);
    size_t n = fill_parts(i, paths, parts);
    evzk_lock_options one = {.mode = parts[0].mode,
                             .timeout_ms = plan->timeout_ms,
                             .data = &data,
                             .data_len = 1};
    evzk_multi_lock_options opt = {.timeout_ms = plan->timeout_ms,
                                   .try_once = plan->try_once,
                                   .no_requeue = plan->no_requeue,
                                   .data = &data,
                                   .data_len = 1};

    if (plan->single)
        return evzk_lock_acquire(s, paths[0], &one, on_single, arg,
                                 &multis.of[i].single);
    return evzk_multi_lock_acquire(s, parts, n, &opt, on_multi, arg,
                                   &multis.of[i].p);
}

static void start(intptr_t arg)
{
    int i = (int)arg, proc = multi_plan(i)->proc, rc;
    struct multi_try *a = &multis.of[i];

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
    if (!process_may_return(proc, rc))
        sim_violation("attempt %d: an acquire: %s", i, evzk_errname(rc));
    if (rc == EVZK_ERR_NOMEM) {
        scene_timer_set(AGAIN_US, proc, start, arg);
        return;
    }
    a->begun = true;
    if (rc == EVZK_OK && multi_plan(i)->timeout_ms)
        a->due = sim_now() + in_us(multi_plan(i)->timeout_ms);
    if (rc != EVZK_OK)
        over(i);
    else if (multi_plan(i)->cancel_ms)
        scene_timer_set(in_us(multi_plan(i)->cancel_ms), proc, cancel_now, i);
}

/* What others do. */

static void cut(intptr_t unused)
{
    int64_t out_us = in_us(multis.own->out_ms);

    (void)unused;
    if (out_us)
        act_refuse_all(out_us);
    processes_disturbed(out_us);
    act_cut(0);
}

static void freeze(intptr_t unused)
{
    (void)unused;
    act_freeze(0, in_us(multis.own->frozen_ms));
}

static void steal(intptr_t unused)
{
    (void)unused;
    act_delete_first(multi_dir(0));
}

static void seal(intptr_t unused)
{
    (void)unused;
    ens_set_perms(multi_dir(0), EVZK_PERM_ALL & ~EVZK_PERM_DELETE);
}

void multi_lock_begin(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    memset(&multis, 0, sizeof multis);
    multis.own = sc->own;
    cfg.chroot = multis.own->chroot;
    ens_begin(&scene_servers);
    if (multis.own->denied) {
        ens_create("/m", "", 0, 0);
        ens_create(multi_dir(1), "", 0, 0);
        ens_set_perms(multi_dir(1), EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
    }
    scene_open(sc, &cfg);
    for (int i = 0; i < MULTIS; i++) {
        multis.of[i].over = !multi_plan(i)->parts;
        if (multi_plan(i)->parts)
            scene_timer_set(in_us(multi_plan(i)->start_ms), multi_plan(i)->proc,
                            start, i);
    }
    act_after(multis.own->expire_ms, act_expire, 0);
    act_after(multis.own->cut_ms, cut, 0);
    act_after(multis.own->freeze_ms, freeze, 0);
    act_after(multis.own->steal_ms, steal, 0);
    act_after(multis.own->seal_ms, seal, 0);
}

bool multi_lock_done(void)
{
    for (int i = 0; i < MULTIS; i++) {
        if (!multis.of[i].over || multi_lives(i))
            return false;
    }
    return processes_gone();
}

/* The explorer's calls. */

const char *const multi_lock_calls[] = {"free", "cancel", "release",
                                        "close-session", NULL};
enum { FREE, CANCEL, RELEASE, CLOSE_SESSION };

static bool close_session(int proc)
{
    if (!process_has_session(proc))
        return false;
    process_close(proc);
    for (int i = 0; i < MULTIS; i++) {
        if (multi_plan(i)->parts && multi_plan(i)->proc == proc &&
            !multi_lives(i))
            over(i);
    }
    return true;
}

bool multi_lock_call(int proc, unsigned which)
{
    if (which == CLOSE_SESSION)
        return close_session(proc);
    for (int i = 0; i < MULTIS; i++) {
        struct multi_try *a = &multis.of[i];

        if (!multi_lives(i) || multi_plan(i)->proc != proc)
            continue;
        if (which == FREE) {
            drop(i);
            return true;
        }
        if (which == CANCEL && !a->granted && !a->canceled)
            return cancel(i);
        if (which == RELEASE && a->granted && !a->released) {
            let_go(i);
            return true;
        }
    }
    return false;
}
