/* A process with caches, while an operator changes the tree.  The rules are in
 * scene_cache_rules.c.
 *
 * When the operator has done all, the process waits until each view is the
 * tree; then it gives the caches up.
 *
 * How it can fail: a view is not the tree long after the last fault and the
 * last change. */
#include "scene_cache.h"

#include <string.h>

#include "ens.h"
#include "faults.h"
#include "owes.h"
#include "processes.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

enum {
    PERSISTENT = 0, /* As of zoo_acreate(). */
    EPHEMERAL = 1,
    START_US = 10 * 1000,
    AGAIN_US = 5 * 1000,
    LOOK_US = 100 * 1000,
    ROUNDS_US = 8 * 1000 * 1000, /* Two rounds of the session's looks. */
    ALL = 31,                    /* Permissions. */
    NONE = 0
};

static struct {
    const struct cache_scene *own;
    struct {
        evzk_cache *c;
        bool begun, over, heard;
        bool rootless; /* When it began. */
    } cache[CACHES];
    unsigned writes;
    uint64_t connection; /* As wire_born() has it. */
    bool acted;          /* The operator has done all. */
    int64_t told;        /* Events. */
} all;
SIM_KEEP(all)

/* The operator. */

static void make(const char *path, int mode)
{
    char text[4] = {(char)('a' + all.writes % 26), 0};

    all.writes++;
    ens_create(path, text, 1, mode);
}

static bool is_below(const char *path, const char *above)
{
    size_t n = strlen(above);

    return strncmp(path, above, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* In the list, a znode comes before the znodes below it. */
static void delete_all(const char *path)
{
    for (int k = CACHE_NODES - 1; k >= 0; k--) {
        if (all.own->node[k] && is_below(all.own->node[k], path))
            ens_delete(all.own->node[k]);
    }
}

static void do_act(enum cache_act_kind what, const char *path)
{
    char text[4] = {(char)('a' + all.writes % 26), 0};

    switch (what) {
    case CACHE_MAKE:
        make(path, PERSISTENT);
        break;
    case CACHE_WRITE:
        all.writes++;
        ens_set_data(path, text, 1);
        break;
    case CACHE_DELETE:
        delete_all(path);
        break;
    case CACHE_REMAKE:
        delete_all(path);
        make(path, PERSISTENT);
        break;
    case CACHE_REPLACE:
        delete_all(path);
        make(path, EPHEMERAL);
        break;
    case CACHE_HIDE:
        ens_set_perms(path, NONE);
        break;
    case CACHE_SHOW:
        ens_set_perms(path, ALL);
        break;
    }
    cache_rules_look();
}

static void act(intptr_t i)
{
    const struct cache_act *a = &all.own->act[i];

    do_act(a->what, all.own->node[a->node]);
    all.acted = i + 1 == CACHE_ACTS || !all.own->act[i + 1].at_us;
}

/* The process. */

/* As the process has it. */
static const char *root_of(int i)
{
    return all.own->root[i] + (all.own->chroot ? strlen(all.own->chroot) : 0);
}

static void close_if_over(void)
{
    for (int i = 0; i < CACHES; i++) {
        if (!all.cache[i].over)
            return;
    }
    if (process_has_session(0))
        process_close(0);
}

static void end(int i)
{
    evzk_cache *gone = all.cache[i].c;

    all.cache[i].c = NULL;
    all.cache[i].over = true;
    process_call_begins(0);
    evzk_cache_free(gone);
    process_call_ends(0);
    close_if_over();
}

static bool cancel(int i)
{
    int rc;

    process_call_begins(0);
    rc = evzk_cache_cancel(all.cache[i].c);
    process_call_ends(0);
    if (rc != EVZK_OK && rc != EVZK_ERR_STATE)
        sim_violation("cancel: %s", evzk_errname(rc));
    return rc == EVZK_OK;
}

/* A root that may not be read ends a cache that has told nothing yet; where
 * only names are kept, one that has not told READY. */
static bool excused(int i, int rc)
{
    switch (rc) {
    case EVZK_ERR_CLOSED:
        return process_of(0)->closing;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(0);
    case EVZK_ERR_CANCELED:
        return true;
    case EVZK_ERR_NOAUTH:
        return all.own->denied || (fault_hid_watched() && !all.cache[i].heard);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(0);
    case EVZK_ERR_SERVER:
        return ens_throttles(0) > REFUSALS;
    case EVZK_ERR_NOCHROOT:
        return all.cache[i].rootless || scene_lacks_root();
    default:
        return false;
    }
}

static void say(int i, evzk_cache_event event, int rc,
                const evzk_cache_entry *entry)
{
    sim_say("p0 cache %d: %s %s %s%s", i, evzk_cache_event_name(event),
            entry ? entry->path[0] ? entry->path : "." : "",
            entry && entry->data ? (const char *)entry->data : "",
            rc ? evzk_errname(rc) : "");
}

static void on_cache(evzk_cache *c, evzk_cache_event event, int rc,
                     const evzk_cache_entry *entry,
                     const evzk_cache_entry *before, void *arg)
{
    int i = (int)(intptr_t)arg;

    say(i, event, rc, entry);
    all.told++;
    process_heard(0, "the cache's callback");
    if (!evzk_cache_event_is_final(event))
        process_news(0, "the cache's event");
    if (all.cache[i].c != c)
        sim_violation("cache %d: told after it was freed", i);
    if (event == EVZK_CACHE_ENDED ? !rc || !excused(i, rc)
                                  : rc || scene_rootless())
        sim_violation("cache %d: %s with %s", i, evzk_cache_event_name(event),
                      evzk_errname(rc));
    all.cache[i].heard = all.cache[i].heard || event == EVZK_CACHE_READY ||
                         !all.own->opt[i].names_only;
    cache_rules_look();
    cache_rules_told(i, c, event, entry, before);
    cache_rules_check_view(i, c);
    process_callback(0); /* The explorer may free it here. */
    if (all.cache[i].c == c && evzk_cache_event_is_final(event))
        end(i);
}

static void start(intptr_t i)
{
    const struct process *p = process_of(0);
    int rc;

    if (all.cache[i].begun || all.cache[i].over)
        return;
    if (!p->closing && process_opening(0)) {
        scene_timer_set(AGAIN_US, 0, start, i);
        return;
    }
    if (p->closing || !p->s) {
        all.cache[i].over = true;
        return;
    }
    all.cache[i].rootless = scene_rootless();
    process_call_begins(0);
    rc = evzk_cache_start(p->s, root_of((int)i), &all.own->opt[i], on_cache,
                          (void *)i, &all.cache[i].c);
    process_call_ends(0);
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(AGAIN_US, 0, start, i);
    else
        all.cache[i].begun = true;
    if (rc == EVZK_OK)
        cache_rules_started((int)i, all.cache[i].c);
    else if (!excused((int)i, rc))
        sim_violation("start: %s", evzk_errname(rc));
    if (rc == EVZK_ERR_CLOSED)
        all.cache[i].over = true;
}

static bool are_right(void)
{
    for (int i = 0; i < CACHES; i++) {
        if (!all.cache[i].over &&
            (!all.cache[i].c || !cache_rules_is_right(i, all.cache[i].c)))
            return false;
    }
    return true;
}

static bool any_is_over(void)
{
    for (int i = 0; i < CACHES; i++) {
        if (all.own->root[i] && all.cache[i].over)
            return true;
    }
    return false;
}

/* Each view is the tree. */
void cache_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; proc == 0 && i < CACHES; i++) {
        struct evzk_cache *c = all.cache[i].c;

        sim_owe(debt, c && !cache_rules_is_right(i, c),
                "a view is not the tree", i);
    }
    /* A look that was refused comes again then.  So does one that another cache
     * has had done for both, and that has ended since. */
    if (ens_throttled_read(0) || any_is_over())
        debt->most_us = ROUNDS_US;
    debt->paid = (uint64_t)(cache_rules_changed_at() + all.told);
}

static void give_up(void)
{
    for (int i = 0; i < CACHES; i++) {
        if (!all.cache[i].c)
            continue;
        if (!all.own->cancels)
            end(i);
        else
            cancel(i);
    }
    close_if_over();
}

/* Waits until each view is the tree. */
static void look(intptr_t arg)
{
    if (process_of(0)->closing || process_of(0)->closed)
        return;
    if (all.acted && are_right() && !owes_any())
        give_up();
    else
        scene_timer_set(LOOK_US, 0, look, arg);
}

static void traced(int proc, const evzk_trace *t)
{
    if (proc != 0 || strcmp(t->kind, "cache") != 0 || !t->entered ||
        strcmp(t->to, "FILLING") != 0)
        return;
    for (int i = 0; i < CACHES; i++) {
        if (all.own->root[i] && strcmp(t->path, root_of(i)) == 0)
            cache_rules_filling(i);
    }
}

static void plan(void)
{
    for (int k = 0; k < CACHE_NODES; k++) {
        if (all.own->there >> k & 1)
            make(all.own->node[k], PERSISTENT);
    }
    for (int i = 0; i < CACHE_ACTS && all.own->act[i].at_us; i++)
        scene_timer_set(all.own->act[i].at_us, -1, act, i);
    all.acted = !all.own->act[0].at_us;
}

void cache_begin(const struct sim_scene *sc)
{
    struct ens_config servers = scene_servers;
    struct process_config cfg = {.timeout_ms = 1000};

    scene_unhook();
    fault_hides = 1;
    memset(&all, 0, sizeof all);
    all.own = sc->own;
    cfg.window = all.own->window;
    cfg.chroot = all.own->chroot;
    process_trace = traced;
    if (all.own->followers_lag)
        servers.link_us = SCENE_LAG_US;
    ens_begin(&servers);
    scene_root(all.own->chroot, all.own->root_ms);
    cache_rules_begin(all.own);
    plan();
    cache_rules_look();
    scene_open(sc, &cfg);
    for (int i = 0; i < CACHES; i++) {
        all.cache[i].over = !all.own->root[i];
        if (all.own->root[i])
            scene_timer_set(all.own->start_us ? all.own->start_us : START_US, 0,
                            start, i);
    }
    scene_timer_set(LOOK_US, 0, look, 0);
}

static void look_at_connection(void)
{
    int conn = wire_conn_of(0);
    uint64_t born = conn < 0 ? 0 : wire_born(conn);

    if (born == 0 || born == all.connection)
        return;
    all.connection = born;
    for (int i = 0; i < CACHES; i++)
        cache_rules_connected(i);
}

void cache_check(void)
{
    int before = sim_enter(0);

    look_at_connection();
    cache_rules_look();
    for (int i = 0; i < CACHES; i++) {
        if (all.cache[i].c)
            cache_rules_check_view(i, all.cache[i].c);
    }
    sim_leave(before);
    processes_check();
}

bool cache_done(void)
{
    for (int i = 0; i < CACHES; i++) {
        if (!all.cache[i].over)
            return false;
    }
    return processes_gone();
}

void cache_check_end(void)
{
    for (int i = 0; i < CACHE_ACTS; i++)
        scene_timer_cancel(act, i);
    scene_timer_cancel(look, 0);
    processes_check_end();
}

/* The explorer's calls: of the application, and of an operator. */

enum { FREE, CANCEL, CLOSE_SESSION, WRITE, REMAKE, DELETE };

const char *const cache_calls[] = {
    "free", "cancel", "close-session", "write", "remake", "delete", NULL};

static int first_cache(void)
{
    int i = 0;

    while (i < CACHES && !all.cache[i].c)
        i++;
    return i;
}

static bool operate(unsigned which)
{
    static const enum cache_act_kind what[] = {[WRITE] = CACHE_WRITE,
                                               [REMAKE] = CACHE_REMAKE,
                                               [DELETE] = CACHE_DELETE};
    int before = sim_enter(-1);

    do_act(what[which], all.own->node[all.own->touched]);
    sim_leave(before);
    return true;
}

bool cache_call(int proc, unsigned which)
{
    int i = first_cache();

    if (proc != 0)
        return false;
    if (which >= WRITE)
        return operate(which);
    if (which == CLOSE_SESSION) {
        if (!process_has_session(0))
            return false;
        for (i = 0; i < CACHES; i++)
            all.cache[i].over = all.cache[i].over || !all.cache[i].c;
        process_close(0);
        return true;
    }
    if (i == CACHES)
        return false;
    if (which == CANCEL)
        return cancel(i);
    end(i);
    return true;
}

const struct sim_recipe sim_cache = {.name = "cache",
                                     .kind = &evzk__cache_kind,
                                     .scenes = cache_scenes,
                                     .n_scenes = CACHE_SCENES,
                                     .begin = cache_begin,
                                     .check = cache_check,
                                     .owes = cache_owes,
                                     .done = cache_done,
                                     .check_end = cache_check_end,
                                     .calls = cache_calls,
                                     .call = cache_call};

const struct sim_recipe sim_cache_node = {.name = "cache-node",
                                          .kind = &evzk__cache_node_kind,
                                          .scenes = cache_scenes,
                                          .n_scenes = CACHE_SCENES,
                                          .begin = cache_begin,
                                          .check = cache_check,
                                          .owes = cache_owes,
                                          .done = cache_done,
                                          .check_end = cache_check_end,
                                          .calls = cache_calls,
                                          .call = cache_call};
