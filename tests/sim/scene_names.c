/* Processes that register endpoints, one that resolves them and picks, and an
 * operator who makes, changes and deletes endpoints by hand.  The rules are in
 * scene_names_rules.c.
 *
 * Process 0 resolves.  When all acts are done, it waits until the list is the
 * tree; then all give up.
 *
 * How it can fail: the list is not the tree long after the last fault and the
 * last change. */
#include "scene_names.h"

#include <string.h>

#include "ens.h"
#include "owes.h"
#include "processes.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

enum {
    PERSISTENT = 0, /* As of zoo_acreate(). */
    ALL = 31,       /* Permissions. */
    START_US = 10 * 1000,
    AGAIN_US = 5 * 1000,
    PICK_US = 7 * 1000,
    LOOK_US = 100 * 1000,
    MOST_PICKS = 400,
    REFUSED_US = 4500 * 1000 /* Where an endpoint asks again in a while. */
};

static struct {
    struct {
        evzk_member *m;
        bool begun, over, stopped, joined;
        bool ever; /* The endpoint has stood once. */
        int64_t text;
    } slot[NM_ACTS];
    int64_t acts; /* Done. */
    bool gives_up;
} all;
SIM_KEEP(all)

static void start_act(intptr_t i);

/* The end of a process. */

static bool is_quiet(int proc)
{
    if (proc == 0 && !nm.over)
        return false;
    for (int i = 0; i < NM_ACTS; i++) {
        if (nm.own->act[i].what == NM_REGISTER && nm.own->act[i].proc == proc &&
            !all.slot[i].over)
            return false;
    }
    return true;
}

static void maybe_close(int proc)
{
    if (is_quiet(proc) && all.gives_up && process_has_session(proc))
        process_close(proc);
}

static void end_resolver(void)
{
    evzk_resolver *r = nm.r;

    nm.r = NULL;
    nm.over = true;
    process_call_begins(0);
    evzk_resolver_free(r);
    process_call_ends(0);
    maybe_close(0);
}

static bool cancel(void)
{
    int rc;

    process_call_begins(0);
    rc = evzk_resolver_cancel(nm.r);
    process_call_ends(0);
    if (rc != EVZK_OK && rc != EVZK_ERR_STATE)
        sim_violation("cancel: %s", evzk_errname(rc));
    return rc == EVZK_OK;
}

/* The resolver. */

static bool is_excused(int proc, int rc)
{
    return (rc == EVZK_ERR_CLOSED && process_of(proc)->closing) ||
           (rc == EVZK_ERR_NOCHROOT && scene_rootless()) ||
           (rc == EVZK_ERR_NOAUTH && ens_denied(proc)) ||
           (rc == EVZK_ERR_SERVER && ens_throttled(proc)) ||
           (rc == EVZK_ERR_QUOTA && ens_full_at()) ||
           (rc == EVZK_ERR_TOOLARGE && ens_shut(proc));
}

/* An endpoint that has stood waits where servers refuse. */
static bool may_fail(int i, int rc)
{
    bool passes = rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_QUOTA ||
                  rc == EVZK_ERR_SERVER || rc == EVZK_ERR_NOCHROOT;

    /* Behind a hang-up it has failed, and does not get away. */
    if (rc == EVZK_ERR_SERVER && ens_shut(nm.own->act[i].proc))
        passes = false;
    return is_excused(nm.own->act[i].proc, rc) && !(all.slot[i].ever && passes);
}

static void check_end_of_resolver(int rc)
{
    if (rc != EVZK_ERR_CANCELED && !is_excused(0, rc))
        sim_violation("the resolver has ended: %s", evzk_errname(rc));
}

/* Of every third pick is said that it failed, of every fifth that it worked: at
 * the next pick, when another znode may have the name. */
static void pick_and_report(void)
{
    if (nm.picks >= MOST_PICKS)
        return;
    if (nm.picks % 3 == 2)
        nm_report(true);
    else if (nm.picks % 5 == 4)
        nm_report(false);
    nm_pick();
}

/* Where failures count, a report on what is gone waits for the next of its
 * name. */
static bool reports_late(void)
{
    return nm.own->pick == EVZK_PICK_LEAST_RECENTLY_FAILED;
}

static void on_resolver(evzk_resolver *r, evzk_resolver_event event, int rc,
                        const evzk_resolved *e, void *arg)
{
    (void)arg;
    sim_say("p0: %s %s: %s", e ? e->name : "", evzk_resolver_event_name(event),
            evzk_errname(rc));
    process_heard(0, "the resolver's callback");
    if (!evzk_resolver_event_is_final(event))
        process_news(0, "the resolver's event");
    if (nm.r != r)
        sim_violation("the resolver tells after it was freed");
    nm_rules_told(event, e);
    if (event == EVZK_RESOLVER_ENDED)
        check_end_of_resolver(rc);
    else if (scene_rootless())
        sim_violation("the resolver tells of a service below no chroot");
    if (event != EVZK_RESOLVER_REMOVED || !reports_late())
        pick_and_report();
    process_callback(0); /* The explorer may free it here. */
    nm.removed = false;
    if (nm.r == r && (event == EVZK_RESOLVER_ENDED ||
                      (nm.own->once && event == EVZK_RESOLVER_READY) ||
                      (nm.own->frees && e)))
        end_resolver();
}

static void start_resolver(intptr_t arg)
{
    const struct process *p = process_of(0);
    evzk_resolver_options opt = {.pick = nm.own->pick,
                                 .forgive_ms = nm.own->forgive_ms};
    int rc;

    if (nm.begun || nm.over)
        return;
    if (!p->closing && process_opening(0)) {
        scene_timer_set(AGAIN_US, 0, start_resolver, arg);
        return;
    }
    if (p->closing || !p->s) {
        nm.over = true;
        return;
    }
    process_call_begins(0);
    rc = evzk_resolver_start(p->s, "/s", &opt, on_resolver, NULL, &nm.r);
    process_call_ends(0);
    nm.begun = rc == EVZK_OK;
    if (rc == EVZK_ERR_NOMEM && process_lacked_memory(0))
        scene_timer_set(AGAIN_US, 0, start_resolver, arg);
    else if (rc != EVZK_OK)
        sim_violation("the resolver: %s", evzk_errname(rc));
}

static void pick_now(intptr_t left)
{
    if (nm.r)
        pick_and_report();
    if (left > 1 && !nm.over)
        scene_timer_set(PICK_US, 0, pick_now, left - 1);
}

/* The processes that register. */

static void end_member(int i)
{
    evzk_member *m = all.slot[i].m;
    int proc = nm.own->act[i].proc;

    all.slot[i].m = NULL;
    all.slot[i].over = true;
    process_call_begins(proc);
    evzk_member_free(m);
    process_call_ends(proc);
    maybe_close(proc);
}

static bool leave(int i)
{
    int proc = nm.own->act[i].proc, rc;

    process_call_begins(proc);
    rc = evzk_member_leave(all.slot[i].m);
    process_call_ends(proc);
    if (rc != EVZK_OK && rc != EVZK_ERR_STATE)
        sim_violation("act %d: leave: %s", i + 1, evzk_errname(rc));
    all.slot[i].stopped = true;
    return rc == EVZK_OK;
}

/* Too large for the servers, as it seems: the former text stands. */
static void keep_text(int i, int rc)
{
    struct ens_seen seen;
    char path[NM_PATH];
    evzk_endpoint is;

    if (rc != EVZK_ERR_TOOLARGE || !is_excused(nm.own->act[i].proc, rc))
        sim_violation("act %d: UPDATED: %s", i + 1, evzk_errname(rc));
    nm_path(nm.own->act[i].name, path);
    if (ens_look(path, &seen) &&
        evzk_endpoint_parse(seen.data, (size_t)seen.len, &is))
        all.slot[i].text = NM_W0 + (int64_t)is.weight;
}

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *arg)
{
    int i = (int)(intptr_t)arg, proc = nm.own->act[i].proc;

    sim_say("p%d: %s: %s %s", proc, nm.own->act[i].name,
            evzk_member_event_name(event), evzk_errname(rc));
    process_heard(proc, "the member's callback");
    if (all.slot[i].m != m)
        sim_violation("act %d is told after its end", i + 1);
    if (event == EVZK_MEMBER_FAILED && !may_fail(i, rc))
        sim_violation("act %d has failed: %s", i + 1, evzk_errname(rc));
    all.slot[i].joined = event == EVZK_MEMBER_JOINED ||
                         (all.slot[i].joined && event != EVZK_MEMBER_REJOINING);
    all.slot[i].ever = all.slot[i].ever || all.slot[i].joined;
    if (event == EVZK_MEMBER_UPDATED && rc != EVZK_OK)
        keep_text(i, rc);
    process_callback(proc);
    if (all.slot[i].m == m && evzk_member_event_is_final(event))
        end_member(i);
}

static evzk_endpoint endpoint_of(int64_t text)
{
    evzk_endpoint e = {.port = 0};
    const char *s = nm_text((enum nm_text)text);

    if (!evzk_endpoint_parse(s, strlen(s), &e))
        sim_violation("the text %s is no endpoint", s);
    return e;
}

static int enter(int i, evzk_session *s)
{
    const struct nm_act *a = &nm.own->act[i];
    evzk_endpoint e = endpoint_of(a->text);

    all.slot[i].text = (int64_t)a->text;
    return evzk_names_register(s, "/s", a->name, &e, NULL, on_member,
                               (void *)(intptr_t)i, &all.slot[i].m);
}

static void start_member(int i)
{
    int proc = nm.own->act[i].proc, rc;
    const struct process *p = process_of(proc);

    if (all.slot[i].begun || all.slot[i].over)
        return;
    if (!p->closing && process_opening(proc)) {
        scene_timer_set(AGAIN_US, proc, start_act, i);
        return;
    }
    if (p->closing || !p->s) {
        all.slot[i].over = true;
        all.acts++;
        return;
    }
    process_call_begins(proc);
    rc = enter(i, p->s);
    process_call_ends(proc);
    if (rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)) {
        scene_timer_set(AGAIN_US, proc, start_act, i);
        return;
    }
    all.slot[i].begun = rc == EVZK_OK;
    all.acts++;
    if (rc != EVZK_OK)
        sim_violation("act %d: %s", i + 1, evzk_errname(rc));
}

static void update(int i, enum nm_text text)
{
    evzk_endpoint e = endpoint_of((int64_t)text);
    int proc = nm.own->act[i].proc, rc;

    process_call_begins(proc);
    rc = evzk_names_update(all.slot[i].m, &e);
    process_call_ends(proc);
    if (rc == EVZK_OK)
        all.slot[i].text = (int64_t)text;
    else if (rc != EVZK_ERR_STATE &&
             !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
        sim_violation("act %d: update: %s", i + 1, evzk_errname(rc));
}

/* The registration that an act is about; -1: over, or never begun. */
static int registered(const struct nm_act *a)
{
    for (int i = 0; i < NM_ACTS; i++) {
        if (all.slot[i].m && !all.slot[i].stopped &&
            strcmp(nm.own->act[i].name, a->name) == 0)
            return i;
    }
    return -1;
}

static void act_on(const struct nm_act *a)
{
    int i = registered(a);

    if (i < 0)
        return;
    if (a->what == NM_UPDATE)
        update(i, a->text);
    else if (a->what == NM_LEAVE)
        leave(i);
    else
        end_member(i);
}

/* The operator. */

static void operate(const struct nm_act *a)
{
    const char *text = nm_text(a->text);
    char path[NM_PATH];

    nm_path(a->name ? a->name : "", path);
    switch (a->what) {
    case NM_DELETE:
        operator_delete(path);
        break;
    case NM_REMAKE:
        operator_delete(path);
        ens_create(path, text, strlen(text), PERSISTENT);
        break;
    case NM_MAKE:
        ens_create(path, text, strlen(text), PERSISTENT);
        break;
    case NM_WRITE:
        ens_set_data(path, text, strlen(text));
        break;
    case NM_HIDE:
        ens_set_perms(path, 0);
        break;
    case NM_SHOW:
        ens_set_perms(path, ALL);
        break;
    case NM_EXPIRE:
        process_expire(a->proc);
        break;
    case NM_NOTHING:
    case NM_REGISTER:
    case NM_UPDATE:
    case NM_LEAVE:
    case NM_FREE:
        break;
    }
}

static bool is_a_process_s(enum nm_what what)
{
    return what >= NM_REGISTER && what <= NM_FREE;
}

static void start_act(intptr_t i)
{
    const struct nm_act *a = &nm.own->act[i];

    if (a->what == NM_REGISTER) {
        start_member((int)i);
        return;
    }
    if (is_a_process_s(a->what))
        act_on(a);
    else
        operate(a);
    all.acts++;
}

/* The end. */

static int64_t acts_wanted(void)
{
    int64_t n = 0;

    for (int i = 0; i < NM_ACTS; i++)
        n += nm.own->act[i].what != NM_NOTHING;
    return n;
}

/* The registration has its text in its znode; or has never joined, or has gone.
 */
static bool is_written(int i)
{
    struct ens_seen seen;
    char path[NM_PATH];
    evzk_endpoint e, is;

    if (!all.slot[i].m || all.slot[i].stopped || !all.slot[i].ever)
        return true;
    nm_path(nm.own->act[i].name, path);
    e = endpoint_of(all.slot[i].text);
    return ens_look(path, &seen) &&
           evzk_endpoint_parse(seen.data, (size_t)seen.len, &is) &&
           strcmp(is.host, e.host) == 0 && is.weight == e.weight;
}

static bool are_written(void)
{
    bool all_are = true;

    for (int i = 0; i < NM_ACTS; i++)
        all_are = all_are && is_written(i);
    return all_are;
}

/* The list is the tree, and each that is registered stands there. */
void names_owes(int proc, struct sim_debt *debt)
{
    sim_owe(debt, proc == 0 && nm.r && !nm_is_right(),
            "the list is not the tree", 0);
    for (int i = 0; i < NM_ACTS; i++)
        sim_owe(debt,
                nm.own->act[i].what == NM_REGISTER &&
                    nm.own->act[i].proc == proc && !is_written(i),
                "an endpoint does not stand", i);
    debt->paid = (uint64_t)nm.changed;
    if (ens_refused(proc) || ens_full_at())
        debt->most_us = REFUSED_US;
}

static void give_up(intptr_t proc)
{
    for (int i = 0; i < NM_ACTS; i++) {
        if (nm.own->act[i].what != NM_REGISTER || nm.own->act[i].proc != proc)
            continue;
        if (all.slot[i].m && !all.slot[i].stopped)
            leave(i);
        all.slot[i].over = all.slot[i].over || !all.slot[i].begun;
    }
    if (proc == 0 && nm.r && nm.own->cancels)
        cancel();
    else if (proc == 0 && nm.r)
        end_resolver();
    if (proc == 0 && !nm.begun)
        nm.over = true;
    maybe_close((int)proc);
}

static void all_give_up(void)
{
    all.gives_up = true;
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_of(p)->s)
            scene_timer_set(1, p, give_up, p);
    }
}

static bool is_at_rest(void)
{
    if (all.acts < acts_wanted() || (!nm.begun && !nm.over))
        return false;
    return !nm.r || (!scene_rootless() && nm_is_right() && are_written());
}

/* Waits until the list is the tree. */
static void look(intptr_t arg)
{
    int before;
    bool rests;

    if (all.gives_up)
        return;
    before = sim_enter(0);
    rests = is_at_rest() && !owes_any();
    if (rests && nm.r)
        nm_pick_all();
    sim_leave(before);
    if (rests)
        all_give_up();
    else
        scene_timer_set(LOOK_US, -1, look, arg);
}

/* The scene. */

static void open_processes(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000, .chroot = nm.own->chroot};

    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, (p + 1) % SIM_SERVERS);
        process_open(p, &cfg);
    }
}

void names_begin(const struct sim_scene *sc)
{
    scene_unhook();
    memset(&all, 0, sizeof all);
    nm_rules_begin();
    nm.own = sc->own;
    ens_begin(&scene_servers);
    scene_root(nm.own->chroot, 0);
    if (!nm.own->chroot)
        ens_create("/s", "", 0, PERSISTENT);
    open_processes(sc);
    scene_timer_set(START_US, 0, start_resolver, 0);
    for (int i = 0; i < NM_ACTS; i++) {
        const struct nm_act *a = &nm.own->act[i];

        if (a->what)
            scene_timer_set(a->at_us, is_a_process_s(a->what) ? a->proc : -1,
                            start_act, i);
    }
    if (nm.own->picks)
        scene_timer_set(START_US + PICK_US, 0, pick_now, nm.own->picks);
    scene_timer_set(LOOK_US, -1, look, 0);
}

void names_check(void)
{
    nm_rules_look();
    processes_check();
}

bool names_done(void)
{
    for (int i = 0; i < NM_ACTS; i++) {
        if (nm.own->act[i].what == NM_REGISTER && !all.slot[i].over)
            return false;
    }
    return nm.over && processes_gone();
}

void names_check_end(void)
{
    for (int i = 0; i < NM_ACTS; i++)
        scene_timer_cancel(start_act, i);
    for (int i = 0; i <= nm.own->picks; i++)
        scene_timer_cancel(pick_now, i);
    scene_timer_cancel(look, 0);
    processes_check_end();
}

/* The explorer's calls. */

enum { FREE, CANCEL, PICK, FAIL, LEAVE, CLOSE };

const char *const names_calls[] = {"free",  "cancel",        "pick", "fail",
                                   "leave", "close-session", NULL};

static int member_of(int proc)
{
    for (int i = 0; i < NM_ACTS; i++) {
        if (all.slot[i].m && nm.own->act[i].proc == proc &&
            !all.slot[i].stopped)
            return i;
    }
    return -1;
}

static bool close_now(int proc)
{
    if (!process_has_session(proc))
        return false;
    process_close(proc);
    return true;
}

static bool call_resolver(unsigned which)
{
    if (!nm.r || (which != FREE && which != CANCEL && nm.picks >= MOST_PICKS))
        return false;
    if (which == FREE)
        end_resolver();
    else if (which == CANCEL)
        return cancel();
    else
        nm_pick();
    if (which == FAIL)
        nm_report(true);
    return true;
}

bool names_call(int proc, unsigned which)
{
    int i = member_of(proc);

    if (which == CLOSE)
        return close_now(proc);
    if (which == LEAVE)
        return i >= 0 && leave(i);
    if (proc == 0)
        return call_resolver(which);
    if (which != FREE || i < 0)
        return false;
    end_member(i);
    return true;
}
