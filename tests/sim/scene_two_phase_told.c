/* What coordinators, sites and look-ups are told: all who are told a decision
 * are told that one, and each error has a cause.
 *
 * How it can fail: what an operator has a hand in excuses much, in that run. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_two_phase.h"

/* Has a session of this process come to its end? */
static bool had_end(int proc)
{
    return process_any_session(proc, session_over) ||
           process_of(proc)->n_ids > 1;
}

/* Is another process the site of the same name?  Then that site may be done. */
static bool has_twin(int act)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (i != act && tp.own->act[i].what == TP_SITE &&
            tp.own->act[i].site == tp.own->act[act].site)
            return true;
    }
    return false;
}

bool tp_is_marred(void)
{
    bool any = false;

    for (int64_t i = 0; i < tp.txs; i++)
        any = any || tp.tx[i].marred;
    return any;
}

bool tp_excused(int act, int rc)
{
    const struct tp_act *a = &tp.own->act[act];
    const struct tp_slot *k = &tp.slot[act];

    switch (rc) {
    case EVZK_ERR_CANCELED:
        return k->stopped;
    case EVZK_ERR_TIMEOUT:
        return a->timeout_ms > 0 &&
               sim_now() >= k->began + in_us(a->timeout_ms);
    case EVZK_ERR_CLOSED:
        return process_of(a->proc)->closing;
    case EVZK_ERR_NOMEM:
        return process_lacked_memory(a->proc);
    case EVZK_ERR_SERVER:
        return ens_throttled(a->proc);
    case EVZK_ERR_TOOLARGE:
        return ens_shut(a->proc);
    case EVZK_ERR_QUOTA:
        return ens_full_at() != 0;
    case EVZK_ERR_CONNLOSS:
        return had_end(a->proc) || tp_is_tampered() || ens_refused(a->proc);
    case EVZK_ERR_NODEGONE:
        if (tp.own->chroot)
            return false;
        return tp_is_tampered() || tp_is_marred() || had_end(a->proc) ||
               a->what == TP_RECOVER || tp.rough || has_twin(act) ||
               tp.own->foreign;
    case EVZK_ERR_FOREIGN:
        return tp_is_tampered() || tp.own->foreign || tp.overruled ||
               fault_forged_votes() || tp_is_marred() || tp.own->newer;
    case EVZK_ERR_NOAUTH:
        return tp.hid || ens_denied(a->proc) || a->denied || tp.own->denied ||
               tp.own->act[0].denied || tp.own->seals;
    case EVZK_ERR_NONODE:
        return !tp.own->tree || tp_is_tampered();
    case EVZK_ERR_NODEEXISTS:
        return tp_is_tampered();
    case EVZK_ERR_NOTEMPTY:
        return tp.own->foreign;
    case EVZK_ERR_NOCHROOT:
        return tp.own->chroot != NULL;
    default:
        return false;
    }
}

/* A site that was once ready waits where servers refuse. */
bool tp_site_may_end(int act, int rc)
{
    bool passes = rc == EVZK_ERR_NOAUTH || rc == EVZK_ERR_QUOTA ||
                  rc == EVZK_ERR_SERVER || rc == EVZK_ERR_NONODE ||
                  rc == EVZK_ERR_NOCHROOT;

    return tp_excused(act, rc) && !(tp.slot[act].ready && passes);
}

/* The decision that somebody is told. */
static void check_decision(const char *who, const char *id,
                           evzk_tx_verdict verdict, int64_t token)
{
    const struct tp_tx *x = tp_find(id);

    if (tp_is_tampered())
        return;
    if (!x || x->decision == EVZK_TX_NONE)
        sim_violation("%s is told a decision, and none was made", who);
    else if (x->decision != verdict)
        sim_violation("%s is told %s, and the decision is %s", who,
                      evzk_tx_verdict_name(verdict),
                      evzk_tx_verdict_name(x->decision));
    else if (x->decided != token && x->restored != token)
        sim_violation("%s is told another number of the decision", who);
}

/* A fault has written that to the vote. */
static bool is_malformed(const struct tp_tx *x, const evzk_tx_vote *vote)
{
    char path[120];

    snprintf(path, sizeof path, "/t/tx/%s/%s-%c", x->id,
             vote->verdict == EVZK_TX_COMMIT ? "commit" : "abort",
             vote->site[0]);
    return fault_said(path, vote->data, vote->len);
}

/* Nothing of the site stands that its own program has made: then nobody can
 * tell a forged vote from its own. */
static bool has_gone(const struct tp_tx *x, int i)
{
    static const char *const kinds[] = {"open", "asked", "here", "commit",
                                        "abort"};
    struct ens_seen seen;
    char path[120];

    for (int k = 0; k < 5; k++) {
        snprintf(path, sizeof path, "/t/tx/%s/%s-%c", x->id, kinds[k],
                 tp.own->sites[i]);
        if (ens_look(path, &seen) && !fault_forged_vote(seen.data, seen.len))
            return false;
    }
    return true;
}

static void check_vote(const struct tp_tx *x, const evzk_tx_vote *vote)
{
    int i = tp_site(vote->site[0]);

    if (i < 0 || vote->site[1] || !x)
        sim_violation("a vote of nobody is told");
    else if (x->vote[i] != vote->verdict && !tp_is_tampered() &&
             !(x->decision && fault_forged_votes()) && !has_gone(x, i) &&
             !tp.own->foreign)
        sim_violation("another vote of site %c is told", vote->site[0]);
    if (vote->data && !tp.own->foreign && !(x && is_malformed(x, vote)) &&
        !((tp_is_tampered() || (x && i >= 0 && has_gone(x, i))) &&
          fault_forged_vote(vote->data, (int32_t)vote->len)) &&
        (vote->len != 1 || *(const char *)vote->data != vote->site[0]))
        sim_violation("a vote of site %c has other data", vote->site[0]);
}

bool tp_begun_by_living(const struct tp_tx *x)
{
    struct ens_seen seen;
    char path[120];

    snprintf(path, sizeof path, "/t/coordinators/%s", x->tag);
    return ens_look(path, &seen);
}

/* A successor leaves the znode to a coordinator that lives, or did when the
 * successor began. */
static bool may_leave(int act, const struct tp_tx *x)
{
    return tp.own->act[act].what == TP_RECOVER &&
           (tp.slot[act].lived || tp_begun_by_living(x));
}

/* A site that is done has taken the entry out of its inbox, in the same
 * transaction; after the end of a session perhaps a moment later, and also
 * where it deletes one by one what was forged beside its own. */
static void check_entries(const struct tp_tx *x)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (had_end(p))
            return;
    }
    for (int i = 0; i < tp_n_sites(); i++) {
        struct ens_seen seen;
        char path[120];

        snprintf(path, sizeof path, "/t/inbox/%c/%s", tp.own->sites[i], x->id);
        if (ens_look(path, &seen) && !x->forged[i])
            sim_violation("finished, and site %c was not told",
                          tp.own->sites[i]);
    }
}

static void check_finished(int act, const struct tp_tx *x)
{
    if (!x || (!x->removed && !may_leave(act, x)))
        sim_violation("finished, and the transaction stands");
    if (tp_is_tampered())
        return;
    if (x && !tp.own->foreign && !x->marred)
        check_entries(x);
    for (int i = 0; x && i < tp_n_sites(); i++) {
        if (!x->done[i] && !tp_is_tampered())
            sim_violation("finished, and site %c is not done",
                          tp.own->sites[i]);
    }
}

void tp_check_tx(int act, evzk_tx *t, evzk_tx_event ev,
                 const evzk_tx_vote *vote, int rc)
{
    struct tp_slot *k = &tp.slot[act];
    const struct tp_tx *x = tp_find(evzk_tx_id(t));

    if ((vote != NULL) != (ev == EVZK_TX_VOTE))
        sim_violation("a vote goes with another event");
    if (rc != EVZK_OK && !tp_excused(act, rc))
        sim_violation("act %d: %s with %s", act + 1, evzk_tx_event_name(ev),
                      evzk_errname(rc));
    switch (ev) {
    case EVZK_TX_BEGUN:
        if (k->told_begun || !x)
            sim_violation("act %d is told that it has begun", act + 1);
        k->told_begun = true;
        k->refused = false; /* REFUSED may come again, of the decision. */
        if (x)
            k->of = (int32_t)(x - tp.tx) + 1;
        break;
    case EVZK_TX_VOTE:
        check_vote(x, vote);
        break;
    case EVZK_TX_DECIDED:
        if (k->told_decided || !k->told_begun)
            sim_violation("act %d is told twice of a decision", act + 1);
        k->told_decided = true;
        check_decision("a coordinator", evzk_tx_id(t), evzk_tx_decision(t),
                       evzk_tx_token(t));
        break;
    case EVZK_TX_REFUSED:
        if (k->refused || k->told_decided || rc == EVZK_OK)
            sim_violation("act %d is told that it is refused", act + 1);
        k->refused = true;
        break;
    case EVZK_TX_FINISHED:
        if (!k->told_decided || rc != EVZK_OK)
            sim_violation("act %d has finished without a decision", act + 1);
        check_finished(act, x);
        break;
    case EVZK_TX_FAILED:
        if (rc == EVZK_OK)
            sim_violation("act %d fails without an error", act + 1);
        if (k->told_begun &&
            (rc == EVZK_ERR_CANCELED || rc == EVZK_ERR_TIMEOUT))
            sim_violation("act %d has begun, and does not decide to abort",
                          act + 1);
        if (x && !k->told_begun && rc != EVZK_ERR_CONNLOSS &&
            rc != EVZK_ERR_CLOSED && tp.own->act[act].what == TP_BEGIN &&
            !tp_is_tampered() && !tp.hidden && rc != EVZK_ERR_NOMEM &&
            rc != EVZK_ERR_SERVER)
            sim_violation("act %d fails, and has begun", act + 1);
    }
}

/* Is the site's own business with it over? */
static void check_site_finished(const struct tp_at *at, const struct tp_tx *x)
{
    char path[120];
    struct ens_seen seen;

    if (!at->decided)
        sim_violation("a site has finished without a decision");
    if (!x || at->site < 0)
        return;
    snprintf(path, sizeof path, "/t/inbox/%c/%s", tp.own->sites[at->site],
             x->id);
    if (ens_look(path, &seen))
        sim_violation("site %c has finished, and its inbox has it",
                      tp.own->sites[at->site]);
    if (!x->removed && !x->done[at->site] && !tp.own->foreign &&
        !fault_forged_votes()) /* A forged one comes again. */
        sim_violation("site %c has finished, and its znode stands",
                      tp.own->sites[at->site]);
}

/* Whatever was forged: a site hears COMMIT only where its program has voted so.
 */
static void check_cast(const struct tp_at *at, const struct tp_tx *x)
{
    if (x && at->site >= 0 && !x->cast[at->site] && !tp_is_tampered() &&
        evzk_site_tx_decision(at->t) == EVZK_TX_COMMIT)
        sim_violation("site %c is told COMMIT, and has not voted so",
                      tp.own->sites[at->site]);
}

/* A site is told once that a transaction has failed for a reason, until there
 * is other news of it.  A site that may not take its entry away begins it
 * anew. */
static void note_told(const struct tp_at *at, int64_t tx, evzk_site_event ev,
                      int rc)
{
    struct tp_slot *k = &tp.slot[at->act];
    bool anew = k->told_by[tx] != evzk_site_tx_arg(at->t) &&
                ens_denied(tp.own->act[at->act].proc);

    if (ev == EVZK_SITE_FAILED && k->failed[tx] == rc && !anew)
        sim_violation("a site is told twice that it has failed");
    k->told |= (uint8_t)(1U << tx);
    k->told_by[tx] = evzk_site_tx_arg(at->t);
    k->failed[tx] = ev == EVZK_SITE_FAILED ? rc : EVZK_OK;
}

/* The site was told that it may not take its entry away; and the transaction,
 * for which nothing more of the site stood, was removed. */
static bool was_denied(const struct tp_at *at, const struct tp_tx *x, int rc)
{
    return rc == EVZK_ERR_NODEGONE && x && x->removed &&
           tp.slot[at->act].failed[x - tp.tx] == EVZK_ERR_NOAUTH;
}

void tp_check_site(struct tp_at *at, evzk_site_event ev, int rc)
{
    const char *id = evzk_site_tx_id(at->t);
    const struct tp_tx *x = tp_find(id);
    size_t len;
    const char *question = evzk_site_tx_question(at->t, &len);

    at->tx = x ? (int)(x - tp.tx) + 1 : 0;
    if (rc != EVZK_OK && !tp_excused(at->act, rc) && !was_denied(at, x, rc))
        sim_violation("site %c: %s with %s", tp.own->act[at->act].site,
                      evzk_site_event_name(ev), evzk_errname(rc));
    if (ev < EVZK_SITE_FINISHED && (len != 1 || question[0] != '?') &&
        !(x && x->marred))
        sim_violation("a site is told another question");
    if (x)
        note_told(at, x - tp.tx, ev, rc);
    switch (ev) {
    case EVZK_SITE_QUESTION:
        if (at->asked || at->voted || at->decided)
            sim_violation("a site is asked twice");
        at->asked = true;
        break;
    case EVZK_SITE_VOTED:
        if (at->voted || at->decided)
            sim_violation("a site is told its vote twice");
        at->voted = true;
        if (x && at->site >= 0 &&
            x->vote[at->site] != evzk_site_tx_own_vote(at->t) &&
            !tp_is_tampered() && !tp.own->foreign)
            sim_violation("site %c is told a vote that is not its own",
                          tp.own->sites[at->site]);
        break;
    case EVZK_SITE_DECIDED:
        if (at->decided)
            sim_violation("a site is told twice of a decision");
        at->decided = true;
        check_cast(at, x);
        check_decision("a site", id, evzk_site_tx_decision(at->t),
                       evzk_site_tx_token(at->t));
        break;
    case EVZK_SITE_FINISHED:
        check_site_finished(at, x);
        break;
    case EVZK_SITE_FAILED:
        if (rc == EVZK_OK)
            sim_violation("a site fails without an error");
        tp.slot[at->act].refused = tp.slot[at->act].refused ||
                                   rc == EVZK_ERR_NOAUTH ||
                                   rc == EVZK_ERR_TOOLARGE;
        tp.slot[at->act].foreign =
            tp.slot[at->act].foreign || rc == EVZK_ERR_FOREIGN;
        if (x && at->site >= 0)
            tp.tx[at->tx - 1].failed[at->site] = true;
        break;
    case EVZK_SITE_ENDED:
        break;
    }
}

/* Is it there, since before the look-up? */
static bool newer_stands(void)
{
    struct ens_seen seen;

    return ens_look("/t/tx/" TP_NEWER, &seen);
}

void tp_check_answer(int act, int rc, const evzk_tx_info *v, size_t n)
{
    bool newer = false;

    if (rc != EVZK_OK && !tp_excused(act, rc))
        sim_violation("act %d: the look-up: %s", act + 1, evzk_errname(rc));
    for (size_t i = 0; i < n; i++) {
        const struct tp_tx *x = tp_find(v[i].id);

        if (tp.own->newer && strcmp(v[i].id, TP_NEWER) == 0) {
            newer = v[i].hidden;
            continue;
        }
        if (!x && tp.own->foreign && v[i].hidden)
            continue;
        if (!x) {
            sim_violation("a look-up tells of %s, which never was", v[i].id);
            continue;
        }
        if (v[i].hidden)
            continue;
        if (v[i].orphan && tp_begun_by_living(x) && !tp_is_tampered())
            sim_violation("a look-up takes %s for an orphan", v[i].id);
        if (v[i].decision != EVZK_TX_NONE && !x->marred &&
            (v[i].decision != x->decision || v[i].token != x->decided))
            sim_violation("a look-up tells another decision of %s", v[i].id);
        if (v[i].variant != x->variant)
            sim_violation("a look-up tells another variant of %s", v[i].id);
    }
    if (rc == EVZK_OK && tp.own->newer && newer_stands() && !newer)
        sim_violation("a look-up hides a transaction that it cannot read");
}
