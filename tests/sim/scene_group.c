/* Processes that join a group, and leave it; and operators who delete there.
 *
 * Each act is one member.  Its data are the act's number and a letter, which an
 * update changes.  The explorer, too, has operators delete a claim, a guard, or
 * the name with its claim, at any moment.
 *
 * How it can fail: the rules are in scene_group_rules.c. */
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "leases.h"
#include "owes.h"
#include "processes.h"
#include "scene_group.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

enum {
    LAST_US = 14 * 1000 * 1000, /* Then the znode that was made by hand
                                   goes, and users give up. */
    AGAIN_US = 2000
};

static void start(intptr_t i);

static bool is_join(int i) { return gr.own->act[i].what == GR_JOIN; }

static bool is_quiet(int proc)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (is_join(i) && gr.own->act[i].proc == proc && !gr.slot[i].over)
            return false;
    }
    return true;
}

static void maybe_close(int proc)
{
    if (!is_quiet(proc) || !process_has_session(proc))
        return;
    if (gr.own->view && gr.own->view_proc == proc)
        gr_view_free();
    process_close(proc);
}

static void over(int i)
{
    gr.slot[i].over = true;
    for (int k = 0; k < GR_ACTS; k++) {
        if (gr.own->act[k].after == i + 1)
            scene_timer_set(1, gr.own->act[k].proc, start, k);
    }
    if (is_join(i))
        maybe_close(gr.own->act[i].proc);
}

static void lose_lease(int i)
{
    struct gr_slot *k = &gr.slot[i];

    lease_over(gr.own->act[i].proc, k->lease);
    k->lease = NULL;
}

/* Every second one, so that a membership without a lease is seen, too. */
static void take_lease(int i)
{
    struct gr_slot *k = &gr.slot[i];
    int proc = gr.own->act[i].proc, rc;
    evzk_lease *lease = NULL;

    if (i % 2 != 0)
        return;
    process_call_begins(proc);
    rc = evzk_member_lease(k->d, &lease);
    process_call_ends(proc);
    if (!process_may_return(proc, rc))
        sim_violation("act %d: its lease: %s", i + 1, evzk_errname(rc));
    k->lease = lease;
}

static void end(int i)
{
    struct gr_slot *k = &gr.slot[i];
    evzk_member *d = k->d;
    int proc = gr.own->act[i].proc;

    k->d = NULL;
    k->stopped = true;
    process_call_begins(proc);
    evzk_member_free(d);
    process_call_ends(proc);
    lose_lease(i);
    over(i);
}

static bool leave(int i)
{
    struct gr_slot *k = &gr.slot[i];
    int proc = gr.own->act[i].proc, rc;

    process_call_begins(proc);
    rc = evzk_member_leave(k->d);
    process_call_ends(proc);
    sim_say("p%d: act %d leaves: %s", proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_OK)
        k->stopped = k->leaving = true;
    else if (rc != EVZK_ERR_STATE)
        sim_violation("act %d: leave: %s", i + 1, evzk_errname(rc));
    if (evzk_member_joined(k->d))
        sim_violation("act %d leaves, and is a member", i + 1);
    return rc == EVZK_OK;
}

static void go(intptr_t i)
{
    if (!gr.slot[i].d || gr.slot[i].stopped)
        return;
    if (gr.own->act[i].frees)
        end((int)i);
    else
        leave((int)i);
}

static bool update(int i)
{
    struct gr_slot *k = &gr.slot[i];
    int proc = gr.own->act[i].proc, rc;
    char data[2] = {k->data[0], (char)(k->data[1] + 1)};

    process_call_begins(proc);
    rc = evzk_member_update(k->d, data, 2);
    process_call_ends(proc);
    sim_say("p%d: act %d has %.2s: %s", proc, i + 1, data, evzk_errname(rc));
    if (rc == EVZK_OK) {
        k->data[1] = data[1];
        k->n_updates++;
    } else if (rc != EVZK_ERR_STATE &&
               !(rc == EVZK_ERR_NOMEM && process_lacked_memory(proc)))
        sim_violation("act %d: update: %s", i + 1, evzk_errname(rc));
    return rc == EVZK_OK;
}

/* The member has stayed as long as planned, and as long as there is a debt. */
static void stay_over(intptr_t i)
{
    if (owes_any())
        scene_timer_set(OWES_AGAIN_US, gr.own->act[i].proc, stay_over, i);
    else
        go(i);
}

static void update_now(intptr_t i)
{
    for (int n = 0; n < gr.own->act[i].updates; n++) {
        if (gr.slot[i].d && !gr.slot[i].stopped)
            update((int)i);
    }
}

static void on_event(evzk_member *d, evzk_member_event ev, int rc, void *arg)
{
    int i = (int)(intptr_t)arg, proc = gr.own->act[i].proc;
    bool first = !gr.slot[i].ever;

    sim_say("p%d: act %d: %s %s", proc, i + 1, evzk_member_event_name(ev),
            evzk_errname(rc));
    process_heard(proc, "the member's callback");
    if (!evzk_member_event_is_final(ev))
        process_news(proc, "news of the member");
    if (gr.slot[i].d != d)
        sim_violation("p%d: act %d is told after its end", proc, i + 1);
    gr_look();
    gr_check_told(i, ev, rc);
    if (ev == EVZK_MEMBER_JOINED)
        take_lease(i);
    else if (ev == EVZK_MEMBER_REJOINING)
        lose_lease(i);
    else if (ev == EVZK_MEMBER_RESUMED && gr.own->act[i].resumes)
        update_now(i);
    process_callback(proc); /* The explorer may free it here. */
    if (gr.slot[i].d != d)
        return;
    if (evzk_member_event_is_final(ev))
        end(i);
    else if (ev == EVZK_MEMBER_JOINED && first && gr.own->act[i].stay_us)
        scene_timer_set(gr.own->act[i].stay_us, proc, stay_over, i);
}

static int begin_act(int i, evzk_session *s)
{
    struct gr_slot *k = &gr.slot[i];
    evzk_member_options opt = {
        .no_wait = gr.own->act[i].no_wait, .data = k->data, .data_len = 2};

    k->data[0] = (char)('0' + i);
    k->data[1] = 'a';
    return evzk_group_join(s, "/g", gr_name(i), &opt, on_event,
                           (void *)(intptr_t)i, &k->d);
}

static void operate(int i)
{
    const char *name = gr_name(i);
    char path[GR_PATH], claim[GR_PATH], guard[GR_PATH];
    const char *const both[] = {path, claim};
    bool guarded = gr_guard_path(name, guard);

    gr_path(name, path);
    gr_claim_path(name, claim);
    switch (gr.own->act[i].what) {
    case GR_DELETE_NAME:
        operator_delete(path);
        break;
    case GR_DELETE_CLAIM:
        operator_delete(claim);
        break;
    case GR_DELETE_BESIDE:
        operator_delete(claim);
        if (guarded)
            operator_delete(guard);
        operator_delete("/g/.evzk");
        break;
    case GR_DELETE_GUARD:
        if (guarded)
            operator_delete(guard);
        break;
    case GR_DELETE_BOTH:
        operator_delete_together(both, 2);
        break;
    case GR_COPY_CLAIM:
        operator_copy(gr.own->act[i].proc, claim);
        break;
    case GR_SEAL_NAME:
        gr.sealed = true;
        ens_set_perms(path, (int)EVZK_PERM_ALL & ~(int)EVZK_PERM_WRITE);
        break;
    case GR_SEAL_CLAIMS:
    case GR_SEAL_GROUP:
        gr.sealed = true;
        ens_set_perms(gr.own->act[i].what == GR_SEAL_GROUP ? "/g" : "/g/.evzk",
                      (int)EVZK_PERM_ALL & ~(int)EVZK_PERM_CREATE);
        break;
    case GR_OPEN:
        gr.sealed = false;
        ens_set_perms(path, (int)EVZK_PERM_ALL);
        ens_set_perms("/g/.evzk", (int)EVZK_PERM_ALL);
        ens_set_perms("/g", (int)EVZK_PERM_ALL);
        break;
    case GR_HIDE_NAME: /* A view hears of the write, and then may not read. */
        ens_set_data(path, "me", 2);
        ens_set_perms(path, (int)EVZK_PERM_ALL & ~(int)EVZK_PERM_READ);
        break;
    case GR_SHOW_NAME:
        ens_set_perms(path, (int)EVZK_PERM_ALL);
        break;
    case GR_NOTHING:
    case GR_JOIN:
        break;
    }
}

static void start(intptr_t arg)
{
    int i = (int)arg, rc;
    const struct gr_act *a = &gr.own->act[i];
    const struct process *p = process_of(a->proc);
    struct gr_slot *k = &gr.slot[i];

    if (k->begun || k->over)
        return;
    if (!is_join(i)) {
        operate(i);
        over(i);
        return;
    }
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
    if (rc == EVZK_ERR_NOMEM && process_lacked_memory(a->proc)) {
        scene_timer_set(AGAIN_US, a->proc, start, arg);
        return;
    }
    k->begun = rc == EVZK_OK;
    if (rc != EVZK_OK)
        sim_violation("p%d: act %d: %s", a->proc, i + 1, evzk_errname(rc));
    if (a->update_us)
        scene_timer_set(a->update_us, a->proc, update_now, i);
    if (a->give_up_us)
        scene_timer_set(a->give_up_us, a->proc, go, i);
}

/* An operator deletes the znode that was made by hand; the users give up. */
static void go_last(intptr_t proc)
{
    struct ens_seen seen;

    if (owes_any()) {
        scene_timer_set(OWES_AGAIN_US, (int)proc, go_last, proc);
        return;
    }
    if (gr.own->by_hand && ens_look("/g/a", &seen) && !seen.owner)
        operator_delete("/g/a");
    for (int i = 0; i < GR_ACTS; i++) {
        if (gr.slot[i].d && gr.own->act[i].proc == proc && !gr.slot[i].stopped)
            leave(i);
    }
    scene_timer_set(LAST_US / 4, (int)proc, go_last, proc);
}

static void open_processes(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    cfg.chroot = gr.own->chroot;
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, (p + 1) % SIM_SERVERS);
        process_open(p, &cfg);
        scene_timer_set(LAST_US, p, go_last, p);
    }
}

static void make_tree(void)
{
    const struct gr_scene *own = gr.own;

    if (own->dir || own->by_hand)
        ens_create("/g", "", 0, ZOO_PERSISTENT);
    if (own->by_hand)
        ens_create("/g/a", "me", 2, ZOO_PERSISTENT);
    if (own->denied_claims) {
        ens_create("/g/.evzk", "", 0, ZOO_PERSISTENT);
        ens_set_perms("/g/.evzk", (int)EVZK_PERM_ALL & ~own->denied_claims);
    }
    if (own->denied)
        ens_set_perms("/g", (int)EVZK_PERM_ALL & ~own->denied);
}

void group_begin(const struct sim_scene *sc)
{
    scene_unhook();
    fault_hides = ((const struct gr_scene *)sc->own)->hides;
    memset(&gr, 0, sizeof gr);
    gr.own = sc->own;
    process_leases = gr_leases;
    ens_begin(&scene_servers);
    scene_root(gr.own->chroot, 0);
    make_tree();
    open_processes(sc);
    gr_view_begin();
    for (int i = 0; i < GR_ACTS; i++) {
        const struct gr_act *a = &gr.own->act[i];

        gr.slot[i].over = !a->what;
        if (a->what && !a->after)
            scene_timer_set(a->at_us, is_join(i) ? a->proc : -1, start, i);
    }
}

void group_check(void) { gr_check(); }

bool group_done(void)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (is_join(i) && !gr.slot[i].over)
            return false;
    }
    return processes_gone();
}

void group_check_end(void)
{
    for (int p = 0; p < SIM_PROCS; p++)
        scene_timer_cancel(go_last, p);
    gr_look();
    gr_check_end();
}

const char *const group_calls[] = {
    "free",         "leave",        "update",      "close-session",
    "delete-claim", "delete-guard", "delete-both", NULL};
enum { FREE, LEAVE, UPDATE, CLOSE, CLAIM, GUARD, BOTH };

static int act_of(int proc)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (gr.slot[i].d && gr.own->act[i].proc == proc)
            return i;
    }
    return -1;
}

static bool close_now(int proc)
{
    if (!process_has_session(proc))
        return false;
    for (int k = 0; k < GR_ACTS; k++) {
        if (is_join(k) && gr.own->act[k].proc == proc && !gr.slot[k].begun)
            over(k);
    }
    if (!process_of(proc)->closing)
        process_close(proc);
    return true;
}

static bool operator_call(int i, unsigned which)
{
    char path[GR_PATH], claim[GR_PATH], guard[GR_PATH];
    const char *const both[] = {path, claim};
    struct ens_seen seen;

    gr_path(gr_name(i), path);
    gr_claim_path(gr_name(i), claim);
    if (!ens_look(claim, &seen) || !ens_look(path, &seen))
        return false;
    if (which == BOTH)
        return operator_delete_together(both, 2) == 0;
    if (which == CLAIM)
        return operator_delete(claim) == 0;
    return gr_guard_path(gr_name(i), guard) && operator_delete(guard) == 0;
}

bool group_call(int proc, unsigned which)
{
    int i = act_of(proc);

    if (which == CLOSE)
        return close_now(proc);
    if (i < 0)
        return false;
    switch (which) {
    case FREE:
        end(i);
        return true;
    case LEAVE:
        return !gr.slot[i].stopped && leave(i);
    case UPDATE:
        return gr.slot[i].n_updates < 4 && !gr.slot[i].stopped && update(i);
    default:
        return operator_call(i, which);
    }
}
