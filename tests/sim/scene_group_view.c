/* A view of the group, in the scenes that have one, and its rules.
 *
 * The deltas add up to the view; no member goes back in time, and none is told
 * twice; one that becomes hidden, or readable, has changed, and has neither
 * left nor joined; no name with a dot is told; and at rest the view is the
 * tree.
 *
 * How it can fail: the tree is looked at after every step. */
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_group.h"
#include "scene_setup.h"
#include "steps.h"

enum { NAMES = 4, KIDS = 16, AGAIN_US = 2000 };

static struct {
    evzk_group_view *v;
    bool begun, over;
    bool rootless; /* When it began. */
    int64_t names;
    struct {
        char name[24];
        bool in;        /* The view. */
        bool hidden;    /* .. without its token. */
        uint64_t token; /* 0: not in the view, or hidden. */
        uint64_t last;  /* The greatest so far. */
    } told[NAMES];
} view;
SIM_KEEP(view)

static int slot_of(const char *name)
{
    for (int i = 0; i < view.names; i++) {
        if (strcmp(view.told[i].name, name) == 0)
            return i;
    }
    if (view.names == NAMES || strlen(name) >= sizeof view.told[0].name)
        return -1;
    strcpy(view.told[view.names].name, name);
    return (int)view.names++;
}

static void check_delta(evzk_group_event event, const evzk_group_member *m)
{
    int i = slot_of(m->name);
    bool was_there = i >= 0 && view.told[i].in, hides;

    if (i < 0)
        return; /* What a fault has put there. */
    if (m->name[0] == '.')
        sim_violation("the view has %s", m->name);
    if (was_there != (event != EVZK_GROUP_JOINED))
        sim_violation("the view tells %s %s out of turn", m->name,
                      evzk_group_event_name(event));
    hides = m->hidden != view.told[i].hidden;
    if (hides && event != EVZK_GROUP_CHANGED && was_there)
        sim_violation("the view hides %s without a word", m->name);
    if (m->hidden ? m->token || m->session || m->data_len : !m->token)
        sim_violation("the view knows of %s what it cannot", m->name);
    if ((event == EVZK_GROUP_JOINED || hides) && !m->hidden &&
        m->token < view.told[i].last + (event == EVZK_GROUP_JOINED) &&
        !fault_began_anew())
        sim_violation("the view tells an old %s", m->name);
    if (event != EVZK_GROUP_JOINED && !hides && m->token != view.told[i].token)
        sim_violation("the view tells %s of another %s",
                      evzk_group_event_name(event), m->name);
    view.told[i].in = event != EVZK_GROUP_LEFT;
    view.told[i].hidden = m->hidden;
    view.told[i].token = event == EVZK_GROUP_LEFT ? 0 : m->token;
    if (m->token > view.told[i].last)
        view.told[i].last = m->token;
}

static bool is_excused(int rc)
{
    int proc = gr.own->view_proc;

    return (rc == EVZK_ERR_CLOSED && process_of(proc)->closing) ||
           (rc == EVZK_ERR_SERVER && ens_throttled(proc)) ||
           (rc == EVZK_ERR_TOOLARGE && ens_shut(proc)) ||
           (rc == EVZK_ERR_NOAUTH && fault_hid_watched() && view.names == 0) ||
           (rc == EVZK_ERR_NOCHROOT && view.rootless);
}

static void on_view(evzk_group_view *v, evzk_group_event event, int rc,
                    const evzk_group_member *m, void *arg)
{
    int proc = gr.own->view_proc;

    (void)arg;
    sim_say("p%d: view: %s %s: %s", proc, m ? m->name : "",
            evzk_group_event_name(event), evzk_errname(rc));
    process_heard(proc, "the view's callback");
    if (event != EVZK_GROUP_ENDED)
        process_news(proc, "the view's event");
    if (view.v != v)
        sim_violation("the view tells after it was freed");
    if (m)
        check_delta(event, m);
    if (event == EVZK_GROUP_ENDED && !is_excused(rc))
        sim_violation("the view has ended: %s", evzk_errname(rc));
    if (event != EVZK_GROUP_ENDED && scene_rootless())
        sim_violation("the view tells of a group below no chroot");
    process_callback(proc);
    if (view.v == v && event == EVZK_GROUP_ENDED)
        gr_view_free();
}

void gr_view_free(void)
{
    evzk_group_view *v = view.v;

    view.v = NULL;
    view.over = true;
    if (!v)
        return;
    process_call_begins(gr.own->view_proc);
    evzk_group_view_free(v);
    process_call_ends(gr.own->view_proc);
}

static void start(intptr_t arg)
{
    int proc = gr.own->view_proc, rc;
    const struct process *p = process_of(proc);

    if (view.over || view.begun)
        return;
    if (!p->closing && process_opening(proc)) {
        scene_timer_set(AGAIN_US, proc, start, arg);
        return;
    }
    if (p->closing || !p->s)
        return;
    view.rootless = scene_rootless();
    process_call_begins(proc);
    rc = evzk_group_watch(p->s, "/g", NULL, on_view, NULL, &view.v);
    process_call_ends(proc);
    view.begun = rc == EVZK_OK;
    if (rc == EVZK_ERR_NOMEM && process_lacked_memory(proc))
        scene_timer_set(AGAIN_US, proc, start, arg);
    else if (rc != EVZK_OK)
        sim_violation("the view: %s", evzk_errname(rc));
}

void gr_view_begin(void)
{
    memset(&view, 0, sizeof view);
    if (gr.own->view)
        scene_timer_set(5000, gr.own->view_proc, start, 0);
    else
        view.over = true;
}

static bool is_right(void)
{
    const char *names[KIDS];
    size_t n = ens_children("/g", names, KIDS), there = 0, told = 0;
    char path[GR_PATH];
    struct ens_seen seen;

    for (size_t k = 0; k < n && k < KIDS; k++)
        there += names[k][0] != '.';
    for (int i = 0; i < view.names; i++) {
        if (!view.told[i].in)
            continue;
        told++;
        gr_path(view.told[i].name, path);
        if (!ens_look(path, &seen) ||
            (!view.told[i].hidden &&
             (uint64_t)seen.czxid != view.told[i].token))
            return false;
    }
    return there == told && evzk_group_view_count(view.v) == told;
}

bool gr_view_is_wrong(int proc)
{
    return view.v && gr.own->view_proc == proc &&
           (scene_rootless() || !is_right());
}
