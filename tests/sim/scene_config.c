/* Processes that read, follow and replace a configuration: see scene_config.h.
 */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "owes.h"
#include "processes.h"
#include "recipes/config/config_internal.h"
#include "scene.h"
#include "scene_closing.h"
#include "scene_config.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

enum { AGAIN_US = 2000, ROOM = 64 };

struct config_world configured;
SIM_KEEP(configured)

/* The end of a process. */

static bool is_busy(int proc)
{
    for (int i = 0; i < UPDATES; i++) {
        if (update_plan(i)->start_ms && update_plan(i)->proc == proc &&
            !configured.update[i].over)
            return true;
    }
    for (int i = 0; i < CONFIG_READERS; i++) {
        if (config_reader(i)->start_ms && config_reader(i)->proc == proc &&
            !configured.reader[i].over)
            return true;
    }
    return false;
}

static void maybe_close(int proc)
{
    if (!is_busy(proc))
        close_when_idle(proc);
}

/* ---- Readers ---- */

static void reader_over(int i)
{
    configured.reader[i].over = true;
    maybe_close(config_reader(i)->proc);
}

static void free_reader(int i)
{
    struct config_reader *r = &configured.reader[i];
    evzk_config_query *q = r->q;
    evzk_config_follower *f = r->f;

    r->q = NULL;
    r->f = NULL;
    process_call_begins(config_reader(i)->proc);
    evzk_config_query_free(q);
    evzk_config_follower_free(f);
    process_call_ends(config_reader(i)->proc);
    reader_over(i);
}

static void check_reader(int i, int rc, const evzk_config *c)
{
    const struct config_reader_plan *plan = config_reader(i);

    if (rc == EVZK_ERR_TIMEOUT && plan->timeout_ms)
        return;
    if (rc == EVZK_ERR_NOCHROOT &&
        (configured.reader[i].rootless || scene_lacks_root()))
        return;
    if ((rc == EVZK_OK) != (c != NULL) || rc == EVZK_ERR_NOCHROOT ||
        !config_rc_ok(plan->proc, rc, configured.reader[i].canceled))
        sim_violation("reader %d: %s", i, evzk_errname(rc));
    if (c)
        config_check_read(i, c);
}

static void on_query(evzk_config_query *q, int rc, const evzk_config *c,
                     void *arg)
{
    int i = (int)(intptr_t)arg, proc = config_reader(i)->proc;
    struct config_reader *r = &configured.reader[i];

    sim_say("reader %d: %s", i, evzk_errname(rc));
    process_heard(proc, "a query's callback");
    if (r->q != q)
        sim_violation("reader %d: told twice", i);
    config_look();
    check_reader(i, rc, c);
    process_callback(proc); /* The explorer may free it here. */
    if (r->q == q)
        free_reader(i);
}

static void on_follower(evzk_config_follower *f,
                        evzk_config_follower_event event, int rc,
                        const evzk_config *c, void *arg)
{
    int i = (int)(intptr_t)arg, proc = config_reader(i)->proc;
    struct config_reader *r = &configured.reader[i];
    bool ended = evzk_config_follower_event_is_final(event);

    sim_say("reader %d: %s: %s", i, evzk_config_follower_event_name(event),
            evzk_errname(rc));
    if (ended)
        process_heard(proc, "a follower's end");
    else
        process_news(proc, "a follower's configuration");
    if (r->f != f)
        sim_violation("reader %d: told behind its end", i);
    if (ended == (rc == EVZK_OK))
        sim_violation("reader %d: %s", i, evzk_errname(rc));
    config_look();
    check_reader(i, rc, c);
    process_callback(proc);
    if (r->f == f && ended)
        free_reader(i);
}

static bool cancel_reader(int i)
{
    struct config_reader *r = &configured.reader[i];
    int rc;

    process_call_begins(config_reader(i)->proc);
    rc = r->q ? evzk_config_query_cancel(r->q)
              : evzk_config_follower_cancel(r->f);
    process_call_ends(config_reader(i)->proc);
    sim_say("reader %d: cancel: %s", i, evzk_errname(rc));
    r->canceled = r->canceled || rc == EVZK_OK;
    if (rc == EVZK_OK && !r->due)
        r->due = sim_now();
    return rc == EVZK_OK;
}

static int begin_reader(int i)
{
    const struct config_reader_plan *plan = config_reader(i);
    struct config_reader *r = &configured.reader[i];
    evzk_session *s = process_of(plan->proc)->s;
    evzk_config_options opt = {.timeout_ms = plan->timeout_ms};
    int rc;

    config_look();
    r->rootless = scene_rootless();
    r->at = configured.n_wholes - 1;
    process_call_begins(plan->proc);
    if (plan->gets)
        rc = evzk_config_get(s, "/c", &opt, on_query, (void *)(intptr_t)i,
                             &r->q);
    else
        rc = evzk_config_follow(s, "/c", NULL, on_follower, (void *)(intptr_t)i,
                                &r->f);
    process_call_ends(plan->proc);
    sim_say("reader %d begins: %s", i, evzk_errname(rc));
    r->begun = rc == EVZK_OK;
    if (r->begun && plan->timeout_ms)
        r->due = sim_now() + plan->timeout_ms * INT64_C(1000);
    return rc;
}

static void stop_reader(intptr_t arg)
{
    int i = (int)arg;

    if (!configured.reader[i].f || configured.reader[i].canceled)
        return;
    if (scene_rootless())
        sim_violation("reader %d does not hear that there is no chroot", i);
    if (owes_any())
        scene_timer_set(OWES_AGAIN_US, config_reader(i)->proc, stop_reader,
                        arg);
    else
        cancel_reader(i);
}

static void start_reader(intptr_t arg)
{
    int i = (int)arg, rc = EVZK_ERR_NOMEM;
    const struct config_reader_plan *plan = config_reader(i);
    const struct process *p = process_of(plan->proc);

    if (configured.reader[i].over)
        return;
    if (!process_opening(plan->proc)) {
        if (p->closing || !p->s) {
            reader_over(i);
            return;
        }
        rc = begin_reader(i);
        if (!process_may_return(plan->proc, rc))
            sim_violation("reader %d: %s", i, evzk_errname(rc));
    }
    if (rc != EVZK_OK)
        scene_timer_set(AGAIN_US, plan->proc, start_reader, arg);
    else if (!plan->gets)
        scene_timer_set(in_us(plan->stop_ms), plan->proc, stop_reader, arg);
}

/* ---- Replacements ---- */

static void update_over(int i)
{
    configured.update[i].over = true;
    maybe_close(update_plan(i)->proc);
}

static void free_update(int i)
{
    evzk_config_update *gone = configured.update[i].u;

    configured.update[i].u = NULL;
    process_call_begins(update_plan(i)->proc);
    evzk_config_update_free(gone);
    process_call_ends(update_plan(i)->proc);
    update_over(i);
}

static void on_update(evzk_config_update *u, int rc, int64_t number, void *arg)
{
    int i = (int)(intptr_t)arg, proc = update_plan(i)->proc;

    sim_say("update %d: %s, %lld", i, evzk_errname(rc), (long long)number);
    process_heard(proc, "a replacement's callback");
    if (configured.update[i].u != u)
        sim_violation("update %d is told twice", i);
    config_look();
    config_check_told(i, rc, number);
    process_callback(proc); /* The explorer may free it here. */
    if (configured.update[i].u == u)
        free_update(i);
}

static bool cancel_update(int i)
{
    int rc;

    process_call_begins(update_plan(i)->proc);
    rc = evzk_config_update_cancel(configured.update[i].u);
    process_call_ends(update_plan(i)->proc);
    sim_say("update %d: cancel: %s", i, evzk_errname(rc));
    configured.update[i].canceled |= rc == EVZK_OK;
    if (rc == EVZK_OK && !configured.update[i].due)
        configured.update[i].due = sim_now();
    return rc == EVZK_OK;
}

/* The keys are given in the wrong order. */
static int begin_update(int i)
{
    const struct update_plan *plan = update_plan(i);
    evzk_config_options opt = {.timeout_ms = plan->timeout_ms};
    evzk_config_key key[CONFIG_KEYS] = {{0}};
    char name[CONFIG_KEYS][16], data[16];
    int rc;

    if (configured.own->own_acl) {
        opt.acl = &config_acl;
        opt.acl_count = 1;
    }
    config_look();
    if (plan->if_same)
        opt.if_number = configured.ready ? configured.ready : EVZK_CONFIG_NONE;
    configured.update[i].if_number = opt.if_number;
    snprintf(data, sizeof data, "u%d", i);
    for (int k = 0; k < plan->n; k++) {
        snprintf(name[k], sizeof name[k], "k%d", plan->first + plan->n - 1 - k);
        key[k] = (evzk_config_key){name[k], data, 2};
    }
    process_call_begins(plan->proc);
    rc = evzk_config_set(process_of(plan->proc)->s, "/c", key, (size_t)plan->n,
                         &opt, on_update, (void *)(intptr_t)i,
                         &configured.update[i].u);
    process_call_ends(plan->proc);
    sim_say("update %d begins: %s", i, evzk_errname(rc));
    configured.update[i].begun |= rc == EVZK_OK;
    if (rc == EVZK_OK && plan->timeout_ms)
        configured.update[i].due = sim_now() + plan->timeout_ms * INT64_C(1000);
    return rc;
}

static void start_update(intptr_t arg)
{
    int i = (int)arg, proc = update_plan(i)->proc, rc = EVZK_ERR_NOMEM;
    const struct process *p = process_of(proc);

    if (configured.update[i].over)
        return;
    if (!process_opening(proc)) {
        if (p->closing || !p->s) {
            update_over(i);
            return;
        }
        rc = begin_update(i);
        if (!process_may_return(proc, rc))
            sim_violation("update %d: %s", i, evzk_errname(rc));
    }
    if (rc != EVZK_OK)
        scene_timer_set(AGAIN_US, proc, start_update, arg);
}

bool config_done(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (is_busy(p))
            return false;
    }
    return processes_gone();
}

/* The beginning. */

static void make_keys(void)
{
    const struct config_scene *own = configured.own;
    char path[ROOM];

    if (!own->stands)
        return;
    ens_create("/c", "", 0, 0);
    for (int k = 0; k < own->stands; k++) {
        snprintf(path, sizeof path, "/c/k%d", k);
        ens_create(path, "op", 2, 0);
        if (own->hidden)
            ens_set_perms(path, EVZK_PERM_ALL & ~EVZK_PERM_READ);
    }
    ens_create("/c/ready", "", 0, 0);
    if (own->unlisted)
        ens_set_perms("/c", EVZK_PERM_ALL & ~EVZK_PERM_READ);
    if (own->denied)
        ens_set_perms("/c", EVZK_PERM_ALL & ~EVZK_PERM_CREATE);
}

static void begin_servers(void)
{
    struct ens_config servers = scene_servers;

    if (configured.own->lags)
        servers.link_us = SCENE_LAG_US;
    ens_begin(&servers);
}

static void begin_all(void)
{
    for (int i = 0; i < UPDATES; i++) {
        if (update_plan(i)->start_ms)
            scene_timer_set(in_us(update_plan(i)->start_ms),
                            update_plan(i)->proc, start_update, i);
    }
    for (int i = 0; i < CONFIG_READERS; i++) {
        if (config_reader(i)->start_ms)
            scene_timer_set(in_us(config_reader(i)->start_ms),
                            config_reader(i)->proc, start_reader, i);
    }
    config_acts_begin();
}

void config_begin(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    configured.own = sc->own;
    fault_hides = configured.own->hides;
    cfg.chroot = configured.own->chroot;
    process_trace = config_traced;
    evzk__config_limits.steps =
        configured.own->steps ? configured.own->steps : CONFIG_KEYS;
    begin_servers();
    scene_root(configured.own->chroot, configured.own->root_ms);
    make_keys();
    config_look();
    scene_open(sc, &cfg);
    begin_all();
}

/* The explorer's calls. */

const char *const config_calls[] = {"cancel", "free", "close-session", NULL};
enum { CANCEL, FREE, CLOSE_SESSION };

static int update_of(int proc)
{
    for (int i = 0; i < UPDATES; i++) {
        if (configured.update[i].u && update_plan(i)->proc == proc)
            return i;
    }
    return -1;
}

static int reader_of(int proc)
{
    for (int i = 0; i < CONFIG_READERS; i++) {
        if ((configured.reader[i].q || configured.reader[i].f) &&
            config_reader(i)->proc == proc)
            return i;
    }
    return -1;
}

static bool close_session(int proc)
{
    if (!close_early(proc))
        return false;
    for (int i = 0; i < UPDATES; i++) {
        if (update_plan(i)->start_ms && update_plan(i)->proc == proc &&
            !configured.update[i].u)
            update_over(i);
    }
    for (int i = 0; i < CONFIG_READERS; i++) {
        if (config_reader(i)->start_ms && config_reader(i)->proc == proc &&
            !configured.reader[i].q && !configured.reader[i].f)
            reader_over(i);
    }
    return true;
}

bool config_call(int proc, unsigned which)
{
    int u = update_of(proc), r = reader_of(proc);

    if (which == CLOSE_SESSION)
        return close_session(proc);
    if (u < 0 && r < 0)
        return false;
    if (which == CANCEL)
        return u >= 0 ? cancel_update(u) : cancel_reader(r);
    if (u >= 0)
        free_update(u);
    else
        free_reader(r);
    return true;
}
