/* The znodes of members, as they came and went in the tree; and the rules for
 * their going. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_group.h"

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

/* Members of a session that join together have one czxid. */
struct gr_node *gr_node_at(int64_t czxid, const char *name)
{
    for (int64_t i = 0; i < gr.nodes; i++) {
        int act = (int)gr.node[i].act;

        if (gr.node[i].czxid == czxid &&
            (act < 0 || strcmp(gr_name(act), name) == 0))
            return &gr.node[i];
    }
    return NULL;
}

/* The newest one of an act; NULL: none. */
struct gr_node *gr_node_of(int act)
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
    n->act =
        !ens_is_by_hand(seen->owner) && act >= 0 && act < GR_ACTS ? act : -1;
    if (n->act < 0)
        return;
    gr_claim_path(gr_name(act), path);
    if (ens_look(path, &claim))
        gr.slot[act].claim = claim.czxid;
    else
        sim_violation("act %d has joined without a claim", act + 1);
}

/* Where an operator has deleted guard and claim, nobody can tell which of two
 * members of one session has made the name: the last of them to look takes it,
 * and writes its data. */
static void pass_on(struct gr_node *n, const struct ens_seen *seen)
{
    int act = seen->len == 2 ? seen->data[0] - '0' : -1;

    if (n->act < 0 || act < 0 || act >= GR_ACTS || act == n->act ||
        gr.own->act[act].proc != gr.own->act[n->act].proc ||
        strcmp(gr_name(act), gr_name((int)n->act)) != 0)
        return;
    gr.slot[act].claim = gr.slot[n->act].claim;
    n->act = act;
}

/* Somebody has deleted by hand the name and the claim of a member that leaves,
 * and not its guard: its delete may hit the znode of the member that came next.
 * See recipes/group/member.c. */
bool gr_is_hole(const struct gr_node *n)
{
    for (int i = 0; i < GR_ACTS; i++) {
        const struct gr_node *o = gr_node_of(i);

        if (i != n->act && o && gr.slot[i].stopped &&
            strcmp(gr_name(i), gr_name((int)n->act)) == 0 &&
            operator_deleted(o->czxid) && operator_deleted(gr.slot[i].claim))
            return true;
    }
    return false;
}

/* So often what is refused is asked again: then a member fails, and its znode
 * goes with it. */
static bool was_refused(int proc)
{
    return ens_denied(proc) || ens_shut(proc) || ens_full_at() ||
           ens_throttles(proc) > REFUSALS;
}

static void check_died(const struct gr_node *n)
{
    if (n->act < 0 || operator_deleted(n->czxid) || session_over(n->owner) ||
        gr.slot[n->act].stopped || gr_is_hole(n) || gr.own->sealed ||
        fault_hid_watched())
        return; /* A seal, or a znode that is hidden, makes a member fail. */
    if (process_of(gr.own->act[n->act].proc)->closing ||
        was_refused(gr.own->act[n->act].proc))
        return;
    sim_violation("somebody has deleted the znode of act %d", (int)n->act + 1);
}

/* All that a member writes is two bytes long; an operator writes more. */
static bool is_written_over(const struct ens_seen *seen)
{
    return seen->len != 2 || fault_wrote(seen->mzxid);
}

static void look_at(const char *name)
{
    struct ens_seen seen;
    char path[GR_PATH];

    gr_claim_path(name, path);
    gr.copied =
        gr.copied || (ens_look(path, &seen) && ens_is_by_hand(seen.owner));
    gr_path(name, path);
    gr.copied =
        gr.copied || (ens_look(path, &seen) && ens_is_by_hand(seen.owner));
    if (!ens_look(path, &seen))
        return;
    if (gr_node_at(seen.czxid, name))
        pass_on(gr_node_at(seen.czxid, name), &seen);
    else
        note(&seen);
    if (gr_node_at(seen.czxid, name))
        gr_node_at(seen.czxid, name)->over = is_written_over(&seen);
}

static bool stands(const struct gr_node *n)
{
    struct ens_seen seen;
    char path[GR_PATH];

    for (int i = 0; i < GR_ACTS; i++) {
        gr_path(gr_name(i), path);
        if (gr.own->act[i].what && ens_look(path, &seen) &&
            gr_node_at(seen.czxid, gr_name(i)) == n)
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

/* Nobody could foresee that it went. */
bool gr_was_forced(const struct gr_node *n)
{
    return n && (operator_deleted(n->czxid) || session_forced(n->owner));
}

/* Does another act of this scene want the same name? */
bool gr_has_rival(int act)
{
    for (int i = 0; i < GR_ACTS; i++) {
        if (i != act && gr.own->act[i].what == GR_JOIN &&
            strcmp(gr_name(i), gr_name(act)) == 0)
            return true;
    }
    return false;
}
