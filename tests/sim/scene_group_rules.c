/* The rules of groups, asked after every step against the true tree.
 *
 * An identity has one member at a time.  A member that says so has its znode. A
 * znode goes with its session, by an operator, or by its own member.  A member
 * that has not left is there in the end, with its last data; no other is.
 *
 * How it can fail: a znode is told from another by its czxid, and belongs to
 * the act that its data name, as the first look sees them. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "leases.h"
#include "processes.h"
#include "scene_group.h"

enum {
    KIDS = 16,
    HIDDEN_US = 9 * 1000 * 1000, /* Where what is watched was hidden. */
    REFUSED_US = 4500 * 1000     /* Where it asks again in a while. */
};

static bool is_member(int act)
{
    bool is;
    int before;

    if (!gr.slot[act].d)
        return false;
    before = sim_enter(gr.own->act[act].proc);
    is = evzk_member_joined(gr.slot[act].d);
    sim_leave(before);
    return is;
}

static void check_lease(int act)
{
    const struct gr_slot *k = &gr.slot[act];

    lease_matches(gr.own->act[act].proc, k->lease, is_member(act),
                  evzk_member_token(k->d), "act", act + 1);
}

void gr_leases(int proc)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (gr.own->act[i].what == GR_JOIN && gr.own->act[i].proc == proc)
            check_lease(i);
    }
}

static void check_member(int act)
{
    const struct gr_node *n = gr_node_of(act);
    const struct process *p = process_of(gr.own->act[act].proc);

    if (n && n->owner != p->ids[p->n_ids - 1])
        sim_violation("act %d is a member by an earlier session", act + 1);
    if (!gr.slot[act].joined || gr.slot[act].leaving)
        sim_violation("act %d is a member, and was not told", act + 1);
    if (n && n->died && !gr_was_forced(n) && !gr_is_hole(n))
        sim_violation("act %d is a member, and its znode is gone", act + 1);
    for (int i = 0; i < act; i++) {
        if (strcmp(gr_name(i), gr_name(act)) == 0 && is_member(i) &&
            !gr_was_forced(n) && !gr_was_forced(gr_node_of(i)))
            sim_violation("acts %d and %d are both %s", i + 1, act + 1,
                          gr_name(act));
    }
}

/* A znode of this name, or a claim to the name, belongs to another process. */
static bool is_taken(int act)
{
    struct ens_seen seen;
    char path[GR_PATH];
    const struct gr_node *n;
    const struct process *p = process_of(gr.own->act[act].proc);
    int64_t id = p->n_ids ? p->ids[p->n_ids - 1] : 0;

    gr_path(gr_name(act), path);
    if (ens_look(path, &seen)) {
        n = gr_node_at(seen.czxid, gr_name(act));
        return !n || n->act != act;
    }
    gr_claim_path(gr_name(act), path);
    return ens_look(path, &seen) && (seen.owner != id || gr_has_rival(act));
}

/* Its claim is there, in its session; or somebody has put a copy there. */
static bool has_claim(int act)
{
    const struct process *p = process_of(gr.own->act[act].proc);
    struct ens_seen seen;
    char path[GR_PATH];

    gr_claim_path(gr_name(act), path);
    return ens_look(path, &seen) &&
           (seen.owner == p->ids[p->n_ids - 1] || gr.copied);
}

/* Its znode is there, in its session, with its data, and all is told. */
static bool is_right(int act)
{
    const struct gr_slot *k = &gr.slot[act];
    const struct process *p = process_of(gr.own->act[act].proc);
    struct ens_seen seen;
    char path[GR_PATH];

    gr_path(gr_name(act), path);
    return has_claim(act) && ens_look(path, &seen) &&
           seen.owner == p->ids[p->n_ids - 1] && seen.len == 2 &&
           memcmp(seen.data, k->data, 2) == 0 && k->joined && !k->doubtful &&
           k->told_updates == k->n_updates;
}

static bool is_wrong(int act)
{
    const struct gr_slot *k = &gr.slot[act];

    if (!k->d)
        return false;
    if (k->stopped)
        return true; /* The member was told to leave. */
    if (is_taken(act))
        return k->joined || k->conflict == gr.own->act[act].no_wait;
    return !is_right(act);
}

static bool has_other(int act)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (i != act && gr.own->act[i].what == GR_JOIN && !gr.slot[i].over &&
            gr.own->act[i].proc == gr.own->act[act].proc &&
            strcmp(gr_name(i), gr_name(act)) == 0)
            return true;
    }
    return false;
}

static bool is_of(const char *path, int proc)
{
    struct ens_seen seen;

    return ens_look(path, &seen) && seen.owner &&
           process_with(seen.owner) == proc && !session_over(seen.owner);
}

/* The member has ended, and its name, or its claim, stands: others wait for the
 * end of a session that goes on. */
static bool leaves_znode(int act)
{
    char name[GR_PATH], claim[GR_PATH];

    if (!gr.slot[act].over || has_other(act))
        return false;
    gr_path(gr_name(act), name);
    gr_claim_path(gr_name(act), claim);
    return is_of(name, gr.own->act[act].proc) ||
           is_of(claim, gr.own->act[act].proc);
}

void group_owes(int proc, struct sim_debt *debt)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (gr.own->act[i].what != GR_JOIN || gr.own->act[i].proc != proc)
            continue;
        sim_owe(debt, is_wrong(i) && !gr.sealed,
                "an act is not as it should be", i + 1);
        sim_owe(debt, leaves_znode(i), "an act has ended, and left a znode",
                i + 1);
        debt->paid += (uint64_t)gr.slot[i].told_updates;
    }
    /* Where the servers hang up at a look, it is not repeated for ten minutes,
     * and no event tells that what was hidden may be read. */
    sim_owe(debt,
            gr_view_is_wrong(proc) &&
                !(fault_hid_watched() && ens_shut_read(proc)),
            "the view is not the tree", 0);
    if (ens_refused(proc) || ens_full_at() || gr.own->sealed)
        debt->most_us = REFUSED_US;
    if (fault_hid_watched())
        debt->most_us = HIDDEN_US;
}

void gr_check(void)
{
    gr_look();
    for (int i = 0; i < GR_ACTS; i++) {
        if (gr.own->act[i].what != GR_JOIN)
            continue;
        if (is_member(i))
            check_member(i);
        check_lease(i);
    }
    processes_check();
}

/* The end. */

static void check_empty(const char *dir)
{
    const char *names[KIDS];
    size_t n = ens_children(dir, names, KIDS);

    for (size_t i = 0; i < n && i < KIDS; i++) {
        struct ens_seen seen;
        char path[3 * GR_PATH];

        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (ens_look(path, &seen) && !ens_is_by_hand(seen.owner))
            sim_violation("%s is left", path);
    }
}

void gr_check_end(void)
{
    check_empty("/g");
    check_empty("/g/.evzk");
    processes_check_end();
}
