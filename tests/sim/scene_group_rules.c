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
#include "processes.h"
#include "scene_group.h"

enum { KIDS = 16, TRUTH_US = 3 * 1000 * 1000 };

struct gr_world gr;
SIM_KEEP(gr)

void gr_path(const char *name, char to[GR_PATH])
{
    snprintf(to, GR_PATH, "%s/g/%s", gr.own->chroot ? gr.own->chroot : "",
             name);
}

void gr_claim_path(const char *name, char to[GR_PATH])
{
    snprintf(to, GR_PATH, "%s/g/.evzk/%s", gr.own->chroot ? gr.own->chroot : "",
             name);
}

bool gr_guard_path(const char *name, char to[GR_PATH])
{
    struct ens_seen seen;
    char path[GR_PATH], guard[48];

    gr_claim_path(name, path);
    if (!ens_look(path, &seen) || seen.len <= 0 ||
        seen.len >= (int32_t)sizeof guard)
        return false;
    snprintf(guard, sizeof guard, "%.*s", (int)seen.len, seen.data);
    gr_claim_path(guard, to);
    return ens_look(to, &seen);
}

static struct gr_node *node_at(int64_t czxid)
{
    for (int64_t i = 0; i < gr.nodes; i++) {
        if (gr.node[i].czxid == czxid)
            return &gr.node[i];
    }
    return NULL;
}

/* The newest one of an act; NULL: none. */
static struct gr_node *node_of(int act)
{
    for (int64_t i = gr.nodes - 1; i >= 0; i--) {
        if (gr.node[i].act == act)
            return &gr.node[i];
    }
    return NULL;
}

static void note(const struct ens_seen *seen)
{
    struct gr_node *n = &gr.node[gr.nodes];
    int act = seen->len == 2 ? seen->data[0] - '0' : -1;
    struct ens_seen claim;
    char path[GR_PATH];

    if (gr.nodes == GR_NODES)
        return;
    gr.nodes++;
    gr.changes++;
    n->czxid = seen->czxid;
    n->owner = seen->owner;
    n->act = seen->owner && act >= 0 && act < GR_ACTS ? act : -1;
    if (n->act < 0)
        return;
    gr_claim_path(gr_name(act), path);
    if (ens_look(path, &claim))
        gr.slot[act].claim = claim.czxid;
    else
        sim_violation("act %d has joined without a claim", act + 1);
}

/* Somebody has deleted by hand the name and the claim of a member that leaves,
 * and not its guard: its delete may hit the znode of the member that came next.
 * See recipes/group/member.c. */
static bool is_hole(const struct gr_node *n)
{
    for (int i = 0; i < GR_ACTS; i++) {
        const struct gr_node *o = node_of(i);

        if (i != n->act && o && gr.slot[i].stopped &&
            strcmp(gr_name(i), gr_name((int)n->act)) == 0 &&
            operator_deleted(o->czxid) && operator_deleted(gr.slot[i].claim))
            return true;
    }
    return false;
}

static void check_died(const struct gr_node *n)
{
    if (n->act < 0 || operator_deleted(n->czxid) || session_over(n->owner) ||
        gr.slot[n->act].stopped || is_hole(n) || gr.own->sealed)
        return; /* A seal makes a member fail, and leave. */
    if (process_of(gr.own->act[n->act].proc)->closing)
        return;
    sim_violation("somebody has deleted the znode of act %d", (int)n->act + 1);
}

static void look_at(const char *name)
{
    struct ens_seen seen;
    char path[GR_PATH];

    gr_claim_path(name, path);
    gr.copied = gr.copied || (ens_look(path, &seen) && !seen.owner);
    gr_path(name, path);
    gr.copied = gr.copied || (ens_look(path, &seen) && !seen.owner);
    if (ens_look(path, &seen) && !node_at(seen.czxid))
        note(&seen);
}

static bool stands(const struct gr_node *n)
{
    struct ens_seen seen;
    char path[GR_PATH];

    for (int i = 0; i < GR_ACTS; i++) {
        gr_path(gr_name(i), path);
        if (gr.own->act[i].what && ens_look(path, &seen) &&
            seen.czxid == n->czxid)
            return true;
    }
    return false;
}

void gr_look(void)
{
    if (!ens_has_changed(&gr.looked))
        return;
    for (int64_t i = 0; i < gr.nodes; i++) {
        if (!gr.node[i].died && !stands(&gr.node[i])) {
            gr.node[i].died = ++gr.changes;
            check_died(&gr.node[i]);
        }
    }
    for (int i = 0; i < GR_ACTS; i++) {
        if (gr.own->act[i].what)
            look_at(gr_name(i));
    }
}

/* The events. */

/* Does another act of this scene want the same name? */
static bool has_rival(int act)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (i != act && gr.own->act[i].what == GR_JOIN &&
            strcmp(gr_name(i), gr_name(act)) == 0)
            return true;
    }
    return false;
}

bool gr_excused(int act, evzk_member_event ev, int rc)
{
    const struct gr_act *a = &gr.own->act[act];
    const struct process *p = process_of(a->proc);
    const struct gr_node *n = node_of(act);

    switch (rc) {
    case EVZK_OK:
        return ev != EVZK_MEMBER_FAILED && ev != EVZK_MEMBER_REJOINING;
    case EVZK_ERR_CLOSED:
        return p->closing && evzk_member_event_is_final(ev);
    case EVZK_ERR_SERVER:
        return ens_throttled(a->proc) && evzk_member_event_is_final(ev);
    case EVZK_ERR_BUSY:
        return ev == EVZK_MEMBER_FAILED && a->no_wait &&
               (has_rival(act) || gr.copied);
    case EVZK_ERR_NOAUTH:
        return ev == EVZK_MEMBER_FAILED &&
               (gr.own->denied || gr.own->denied_claims || gr.own->sealed);
    case EVZK_ERR_NOCHROOT:
        return ev == EVZK_MEMBER_FAILED && gr.own->chroot;
    case EVZK_ERR_EXPIRED:
        return ev == EVZK_MEMBER_REJOINING && n && session_over(n->owner);
    case EVZK_ERR_NODEGONE:
        return ev == EVZK_MEMBER_REJOINING && n &&
               (operator_deleted(n->czxid) || session_over(n->owner) ||
                (n->died && is_hole(n)));
    case EVZK_ERR_LEASE:
        return ev == EVZK_MEMBER_REJOINING && gr.slot[act].doubtful;
    default:
        return false;
    }
}

/* Nobody could foresee that it went. */
static bool was_forced(const struct gr_node *n)
{
    return n && (operator_deleted(n->czxid) || session_forced(n->owner));
}

static void check_joined(int act)
{
    struct gr_slot *k = &gr.slot[act];
    const struct gr_node *n = node_of(act);

    process_certain(gr.own->act[act].proc, &k->doubts, "JOINED");
    if (k->joined)
        sim_violation("act %d is told twice that it has joined", act + 1);
    if (!n || (n->died && !was_forced(n)))
        sim_violation("act %d is told that it has joined, and has no znode",
                      act + 1);
    else if (evzk_member_token(k->d) != (uint64_t)n->czxid && !was_forced(n))
        sim_violation("act %d has joined with another's token", act + 1);
    if (!evzk_member_joined(k->d))
        sim_violation("act %d is told that it has joined, and has not",
                      act + 1);
    k->joined = k->ever = true;
    k->conflict = k->doubtful = false;
}

static void check_updated(int act)
{
    struct gr_slot *k = &gr.slot[act];
    const struct gr_node *n = node_of(act);
    struct ens_seen seen;
    char path[GR_PATH];

    gr_path(gr_name(act), path);
    if (!k->joined || k->told_updates == k->n_updates)
        sim_violation("act %d: an UPDATED for nothing", act + 1);
    k->told_updates = k->n_updates;
    if (was_forced(n))
        return;
    if (!ens_look(path, &seen) || seen.len < 2 ||
        (seen.len == 2 && memcmp(seen.data, k->data, 2) != 0))
        sim_violation("act %d is told that its data are written", act + 1);
}

static void check_final(int act, evzk_member_event ev, int rc)
{
    struct gr_slot *k = &gr.slot[act];
    const struct gr_node *n = node_of(act);

    if ((ev == EVZK_MEMBER_LEFT) != k->leaving)
        sim_violation("act %d: %s", act + 1, evzk_member_event_name(ev));
    k->stopped = true;
    if (n && !n->died && (rc == EVZK_OK || rc == EVZK_ERR_BUSY) &&
        !session_over(n->owner))
        sim_violation("act %d: %s, and its znode stands", act + 1,
                      evzk_member_event_name(ev));
}

static void check_doubt(int act, evzk_member_event ev)
{
    struct gr_slot *k = &gr.slot[act];
    int proc = gr.own->act[act].proc;

    if (!k->joined || k->doubtful == (ev == EVZK_MEMBER_SUSPENDED))
        sim_violation("act %d: %s out of turn", act + 1,
                      evzk_member_event_name(ev));
    if (ev == EVZK_MEMBER_SUSPENDED)
        process_doubtful(proc, &k->doubts, "SUSPENDED");
    else
        process_certain(proc, &k->doubts, "RESUMED");
    k->doubtful = ev == EVZK_MEMBER_SUSPENDED;
}

void gr_check_told(int act, evzk_member_event ev, int rc)
{
    struct gr_slot *k = &gr.slot[act];

    if (!gr_excused(act, ev, rc))
        sim_violation("act %d: %s with %s", act + 1, evzk_member_event_name(ev),
                      evzk_errname(rc));
    switch (ev) {
    case EVZK_MEMBER_JOINED:
        check_joined(act);
        break;
    case EVZK_MEMBER_UPDATED:
        check_updated(act);
        break;
    case EVZK_MEMBER_SUSPENDED:
    case EVZK_MEMBER_RESUMED:
        check_doubt(act, ev);
        break;
    case EVZK_MEMBER_REJOINING:
        if (!k->joined || evzk_member_joined(k->d))
            sim_violation("act %d: REJOINING out of turn", act + 1);
        k->joined = k->doubtful = false;
        break;
    case EVZK_MEMBER_CONFLICT:
        if (k->joined || k->conflict || (!has_rival(act) && !gr.copied))
            sim_violation("act %d: CONFLICT, and there is none", act + 1);
        k->conflict = true;
        break;
    case EVZK_MEMBER_LEFT:
    case EVZK_MEMBER_FAILED:
        check_final(act, ev, rc);
    }
}

/* After every step. */

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

static void check_member(int act)
{
    const struct gr_node *n = node_of(act);
    const struct process *p = process_of(gr.own->act[act].proc);

    if (n && n->owner != p->ids[p->n_ids - 1])
        sim_violation("act %d is a member by an earlier session", act + 1);
    if (!gr.slot[act].joined || gr.slot[act].leaving)
        sim_violation("act %d is a member, and was not told", act + 1);
    if (n && n->died && !was_forced(n) && !is_hole(n))
        sim_violation("act %d is a member, and its znode is gone", act + 1);
    for (int i = 0; i < act; i++) {
        if (strcmp(gr_name(i), gr_name(act)) == 0 && is_member(i) &&
            !was_forced(n) && !was_forced(node_of(i)))
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
        n = node_at(seen.czxid);
        return !n || n->act != act;
    }
    gr_claim_path(gr_name(act), path);
    return ens_look(path, &seen) && (seen.owner != id || has_rival(act));
}

/* Its znode is there, in its session, with its data, and all is told. */
static bool is_right(int act)
{
    const struct gr_slot *k = &gr.slot[act];
    const struct process *p = process_of(gr.own->act[act].proc);
    struct ens_seen seen;
    char path[GR_PATH];

    gr_path(gr_name(act), path);
    return ens_look(path, &seen) && seen.owner == p->ids[p->n_ids - 1] &&
           seen.len == 2 && memcmp(seen.data, k->data, 2) == 0 && k->joined &&
           !k->doubtful && k->told_updates == k->n_updates;
}

static bool is_late(int act)
{
    const struct gr_slot *k = &gr.slot[act];
    const struct process *p = process_of(gr.own->act[act].proc);

    if (!k->d || !p->s || p->closing || !evzk_session_connected(p->s) ||
        k->stopped || !p->n_ids || evzk_session_lease_ms(p->s) == 0)
        return false;
    if (is_taken(act))
        return k->joined || (k->conflict == gr.own->act[act].no_wait);
    return !is_right(act);
}

static void check_late(int act)
{
    struct gr_slot *k = &gr.slot[act];
    int before = sim_enter(gr.own->act[act].proc);
    bool late = is_late(act);

    sim_leave(before);
    if (!late || process_was_frozen(gr.own->act[act].proc, k->wrong) ||
        process_lacked_memory_since(gr.own->act[act].proc, k->wrong)) {
        k->wrong = late ? sim_now() : 0;
        return;
    }
    if (k->wrong == 0)
        k->wrong = sim_now();
    if (sim_now() - k->wrong > TRUTH_US)
        sim_violation("act %d is not as it should be: %s", act + 1,
                      evzk_member_state(k->d));
}

void gr_check(void)
{
    gr_look();
    for (int i = 0; i < GR_ACTS; i++) {
        if (gr.own->act[i].what != GR_JOIN)
            continue;
        if (is_member(i))
            check_member(i);
        check_late(i);
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
        if (ens_look(path, &seen) && seen.owner)
            sim_violation("%s is left", path);
    }
}

void gr_check_end(void)
{
    check_empty("/g");
    check_empty("/g/.evzk");
    processes_check_end();
}
