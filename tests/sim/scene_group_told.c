/* The rules of groups for what is told: each event comes when it may, with an
 * error that the scene explains.
 *
 * How it can fail: by excusing too much. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_group.h"

/* A first join that is refused fails; a later one waits until it is not. */
static bool may_be_refused(int act, evzk_member_event ev)
{
    return ev == EVZK_MEMBER_LEFT ||
           ev ==
               (gr.slot[act].ever ? EVZK_MEMBER_REJOINING : EVZK_MEMBER_FAILED);
}

static bool is_refusal(int rc)
{
    return rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_QUOTA ||
           rc == EVZK_ERR_SERVER || rc == EVZK_ERR_NOCHROOT;
}

/* An update that is too large fails alone, where nothing is to be made, and
 * nothing to be put back: the data before it stand, or stood until it left. */
static bool fails_alone(int act)
{
    const struct gr_slot *k = &gr.slot[act];
    const struct gr_node *n = gr_node_of(act);

    return k->joined && k->n_updates != k->told_updates && !(n && n->over) &&
           !operator_deleted_any() && !ens_shut_read(gr.own->act[act].proc);
}

bool gr_excused(int act, evzk_member_event ev, int rc)
{
    const struct gr_act *a = &gr.own->act[act];
    const struct process *p = process_of(a->proc);
    const struct gr_node *n = gr_node_of(act);

    switch (rc) {
    case EVZK_OK:
        return ev != EVZK_MEMBER_FAILED && ev != EVZK_MEMBER_REJOINING;
    case EVZK_ERR_CLOSED:
        return p->closing && evzk_member_event_is_final(ev);
    case EVZK_ERR_SERVER:
        /* Behind a hang-up, or a rival, it has failed, and does not get away.
         */
        return ens_throttled(a->proc) &&
               (may_be_refused(act, ev) ||
                (ev == EVZK_MEMBER_FAILED &&
                 (ens_shut(a->proc) ||
                  (a->no_wait && (gr_has_rival(act) || gr.copied)))));
    case EVZK_ERR_TOOLARGE:
        return ens_shut(a->proc) &&
               (ev == EVZK_MEMBER_LEFT || ev == EVZK_MEMBER_UPDATED ||
                (ev == EVZK_MEMBER_FAILED && !fails_alone(act)));
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0 && may_be_refused(act, ev);
    case EVZK_ERR_BUSY:
        return ev == EVZK_MEMBER_FAILED && a->no_wait &&
               (gr_has_rival(act) || gr.copied);
    case EVZK_ERR_NOAUTH:
        return (ens_denied(a->proc) || fault_hid_watched() || gr.own->denied ||
                gr.own->denied_claims || gr.own->sealed) &&
               may_be_refused(act, ev);
    case EVZK_ERR_NOCHROOT:
        return ev == EVZK_MEMBER_FAILED && gr.own->chroot;
    case EVZK_ERR_EXPIRED:
        return ev == EVZK_MEMBER_REJOINING && n && session_over(n->owner);
    case EVZK_ERR_NODEGONE:
        return ev == EVZK_MEMBER_REJOINING && n &&
               (operator_deleted(n->czxid) || session_over(n->owner) ||
                (n->died && gr_is_hole(n)));
    case EVZK_ERR_LEASE:
        return ev == EVZK_MEMBER_REJOINING && gr.slot[act].doubtful &&
               process_has_lapsed(a->proc);
    default:
        return false;
    }
}

static void check_joined(int act)
{
    struct gr_slot *k = &gr.slot[act];
    const struct gr_node *n = gr_node_of(act);

    process_certain(gr.own->act[act].proc, &k->doubts, "JOINED");
    if (k->joined)
        sim_violation("act %d is told twice that it has joined", act + 1);
    if (!n || (n->died && !gr_was_forced(n)))
        sim_violation("act %d is told that it has joined, and has no znode",
                      act + 1);
    else if (evzk_member_token(k->d) != (uint64_t)n->czxid && !gr_was_forced(n))
        sim_violation("act %d has joined with another's token", act + 1);
    if (!evzk_member_joined(k->d))
        sim_violation("act %d is told that it has joined, and has not",
                      act + 1);
    k->joined = k->ever = true;
    k->conflict = k->doubtful = false;
    k->rejoin_rc = EVZK_OK;
}

static void check_rejoining(int act, int rc)
{
    struct gr_slot *k = &gr.slot[act];

    if ((!k->joined && (!is_refusal(rc) || k->rejoin_rc == rc)) ||
        evzk_member_joined(k->d))
        sim_violation("act %d: REJOINING out of turn", act + 1);
    k->rejoin_rc = is_refusal(rc) ? rc : EVZK_OK;
    k->joined = k->doubtful = k->conflict = false;
}

/* Too large for the servers, as it seems: the former data stand. */
static void check_too_large(int act)
{
    struct gr_slot *k = &gr.slot[act];
    struct ens_seen seen;
    char path[GR_PATH];

    gr_path(gr_name(act), path);
    if (ens_look(path, &seen) && seen.len == 2 && seen.data[1] > k->data[1])
        sim_violation("act %d has newer data than its own", act + 1);
    k->data[1] =
        ens_look(path, &seen) && seen.len == 2 ? seen.data[1] : k->data[1];
}

static void check_updated(int act, int rc)
{
    struct gr_slot *k = &gr.slot[act];
    const struct gr_node *n = gr_node_of(act);
    struct ens_seen seen;
    char path[GR_PATH];

    gr_path(gr_name(act), path);
    if (!k->joined || k->told_updates == k->n_updates)
        sim_violation("act %d: an UPDATED for nothing", act + 1);
    k->told_updates = k->n_updates;
    if (rc == EVZK_ERR_TOOLARGE)
        check_too_large(act);
    if (gr_was_forced(n))
        return;
    if (ens_look(path, &seen) && fault_wrote(seen.mzxid))
        return; /* Over the data. */
    if (!ens_look(path, &seen) || seen.len < 2 ||
        (seen.len == 2 && memcmp(seen.data, k->data, 2) != 0))
        sim_violation("act %d is told that its data are written", act + 1);
}

/* A member that never heard that it has joined knows its znode by its claim's
 * data. */
static bool is_unknown(int act)
{
    struct ens_seen seen;
    char path[GR_PATH];

    gr_claim_path(gr_name(act), path);
    return !gr.slot[act].joined && ens_look(path, &seen) &&
           fault_wrote(seen.mzxid);
}

static void check_final(int act, evzk_member_event ev, int rc)
{
    struct gr_slot *k = &gr.slot[act];
    const struct gr_node *n = gr_node_of(act);

    if ((ev == EVZK_MEMBER_LEFT) != k->leaving)
        sim_violation("act %d: %s", act + 1, evzk_member_event_name(ev));
    k->stopped = true;
    if (n && !n->died && (rc == EVZK_OK || rc == EVZK_ERR_BUSY) &&
        !session_over(n->owner) && !is_unknown(act))
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
        check_updated(act, rc);
        break;
    case EVZK_MEMBER_SUSPENDED:
    case EVZK_MEMBER_RESUMED:
        check_doubt(act, ev);
        break;
    case EVZK_MEMBER_REJOINING:
        check_rejoining(act, rc);
        break;
    case EVZK_MEMBER_CONFLICT:
        if (k->joined || k->conflict ||
            (!gr_has_rival(act) && !gr.copied && !is_unknown(act)))
            sim_violation("act %d: CONFLICT, and there is none", act + 1);
        k->conflict = true;
        k->rejoin_rc = EVZK_OK;
        break;
    case EVZK_MEMBER_LEFT:
    case EVZK_MEMBER_FAILED:
        check_final(act, ev, rc);
    }
}
