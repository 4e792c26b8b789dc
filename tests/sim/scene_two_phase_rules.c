/* The rules of two-phase commit that are asked after every step, and at the
 * end: while somebody lives who may decide, it is decided in time; and nothing
 * is left.
 *
 * How it can fail: debts are read off the tree as it is now. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_two_phase.h"

enum {
    KIDS = 32,
    RARELY_US = 33 * 1000 * 1000, /* Refused requests are asked again. */
    REFUSED_US = 4500 * 1000      /* Where a site asks again in a while. */
};

/* Promptness: whoever can go on does so. */

/* Nothing but the library keeps this site waiting. */
static bool site_waits(const struct tp_at *at)
{
    const struct tp_tx *x = at->tx ? &tp.tx[at->tx - 1] : NULL;

    if (!at->t || !x || at->decided || tp_is_tampered() ||
        ens_shut(tp.own->act[at->act].proc)) /* The site may wait for ever. */
        return false;
    if (x->decision != EVZK_TX_NONE)
        return true;
    return x->variant != EVZK_TX_PLAIN && !tp_begun_by_living(x);
}

/* Is another start of the site there?  That one may be told. */
static bool has_twin_site(int act)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (i != act && tp.slot[i].site &&
            tp.own->act[i].site == tp.own->act[act].site)
            return true;
    }
    return false;
}

static bool has_entry(const struct tp_tx *x, char site)
{
    struct ens_seen seen;
    char path[120];

    snprintf(path, sizeof path, "/t/inbox/%c/%s", site, x->id);
    return ens_look(path, &seen);
}

/* A site is done when its entry has gone, too: who ended in between may find
 * the transaction again. */
static bool all_done(const struct tp_tx *x)
{
    for (int i = 0; i < tp_n_sites(); i++) {
        if (!x->done[i] || has_entry(x, tp.own->sites[i]))
            return false;
    }
    return true;
}

static bool coordinator_waits(const struct tp_slot *k)
{
    const struct tp_tx *x = k->of ? &tp.tx[k->of - 1] : NULL;
    int commits = 0, aborts = 0;

    if (!k->tx || !x || tp_is_tampered() || tp.own->foreign || tp.own->denied ||
        tp.own->act[0].denied)
        return false;
    for (int i = 0; i < tp_n_sites(); i++) {
        commits += x->vote[i] == EVZK_TX_COMMIT;
        aborts += x->vote[i] == EVZK_TX_ABORT;
    }
    if (!k->told_decided && k->refused &&
        ens_shut(tp.own->act[k - tp.slot].proc))
        return false; /* The coordinator asks again, and in vain. */
    if (!k->told_decided)
        return x->decision != EVZK_TX_NONE || aborts > 0 ||
               commits == tp_n_sites() || k->stopped;
    return x->removed || all_done(x);
}

/* The program has this site, by this start or by another. */
static bool has_site(int act)
{
    const struct tp_act *a = &tp.own->act[act];

    for (int i = 0; i < TP_ACTS; i++) {
        if (tp.slot[i].site && tp.own->act[i].site == a->site &&
            tp.own->act[i].proc == a->proc)
            return true;
    }
    return false;
}

/* The program has let go of this site, and a znode says still that the site is
 * there. */
static bool haunts(int act)
{
    const struct tp_act *a = &tp.own->act[act];
    const struct process *p = process_of(a->proc);

    if (a->what != TP_SITE || !tp.slot[act].begun || has_site(act) ||
        p->n_ids == 0 || ens_shut(a->proc)) /* At the delete, maybe. */
        return false;
    for (int64_t k = 0; k < tp.txs; k++) {
        struct ens_seen seen;
        char path[120];

        snprintf(path, sizeof path, "/t/tx/%s/here-%c", tp.tx[k].id, a->site);
        if (ens_look(path, &seen) && seen.owner == p->ids[p->n_ids - 1])
            return true;
    }
    return false;
}

/* A transaction of this site stands that nobody may read, and the site was not
 * told so. */
static bool is_deaf(int act)
{
    const struct tp_act *a = &tp.own->act[act];

    return a->what == TP_SITE && tp.slot[act].site && !tp.slot[act].refused &&
           !(tp.slot[act].told & 1) && tp.hidden && !tp.tx[0].removed &&
           !tp_is_tampered();
}

/* A site was told that a fault has written to the transaction: that site leaves
 * it to an operator. */
static bool is_given_up(const struct tp_tx *x)
{
    bool told = false;

    for (int i = 0; i < TP_ACTS; i++)
        told = told || tp.slot[i].foreign;
    return x->marred && told;
}

/* The servers hang up at what a site asks for: at the removal, maybe. */
static bool any_site_is_shut(void)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (tp.own->act[i].what == TP_SITE && ens_shut(tp.own->act[i].proc))
            return true;
    }
    return false;
}

/* All sites are done, and the coordinator's session is over. */
static bool is_left(const struct tp_tx *x)
{
    return !is_given_up(x) && tp.own->sites_remove && !x->removed &&
           x->decision != EVZK_TX_NONE && all_done(x) &&
           !tp_begun_by_living(x) && !tp_is_tampered() &&
           !fault_forged_votes() && !any_site_is_shut();
}

/* The program was told the decision, and is not done. */
static bool is_applying(const struct tp_tx *x, int act)
{
    for (int k = 0; k < TP_AT; k++) {
        const struct tp_at *at = &tp.at[k];

        if (at->act == act && at->tx == x - tp.tx + 1 && at->decided &&
            at->site >= 0 && !x->said[at->site])
            return true;
    }
    return false;
}

/* The transaction is gone, and the site has the entry still. */
static bool is_kept(const struct tp_tx *x, int act)
{
    return x->removed && !ens_refused(tp.own->act[act].proc) &&
           has_entry(x, tp.own->act[act].site) && !is_applying(x, act);
}

/* The program has voted to commit, and knows nothing of the end: neither has it
 * said that it is done, nor was it told that this has failed. */
static bool has_debt(const struct tp_tx *x, int i)
{
    return i >= 0 && x->cast[i] && !x->said[i] && !x->failed[i];
}

/* The site has taken its entry away, and its program knows nothing. */
static bool is_silenced(const struct tp_tx *x, int act)
{
    int i = tp_site(tp.own->act[act].site);

    return has_debt(x, i) && x->entry[i] && !tp.unlisted &&
           !operator_deleted(x->entry[i]) &&
           !has_entry(x, tp.own->act[act].site);
}

/* The entry stands, and this start of the site has told nothing of it. */
static bool is_untold(const struct tp_tx *x, int act)
{
    return has_debt(x, tp_site(tp.own->act[act].site)) &&
           !(tp.slot[act].told & 1U << (x - tp.tx)) && !has_twin_site(act) &&
           has_entry(x, tp.own->act[act].site);
}

/* The site has no inbox, and nobody keeps it from making one; nor was it asked
 * about an entry there. */
static bool is_out(int act)
{
    struct ens_seen seen;
    char path[32];

    if (!tp.slot[act].site || !tp.slot[act].ready || tp.sealed)
        return false;
    snprintf(path, sizeof path, "/t/inbox/%c", tp.own->act[act].site);
    return !ens_look(path, &seen);
}

static bool is_known(const struct tp_tx *x, int act)
{
    for (int k = 0; k < TP_AT; k++) {
        if (tp.at[k].act == act && tp.at[k].tx == x - tp.tx + 1)
            return true;
    }
    return false;
}

/* Told of what was forged in its place, a site leaves it for an operator. */
static bool is_ignored(const struct tp_tx *x, int act)
{
    char site = tp.own->act[act].site;

    return tp.slot[act].site && tp.slot[act].ready && !tp.sealed &&
           !tp.hidden && !tp.hid && !tp.own->denied && !tp.own->act[0].denied &&
           !x->removed && x->decision == EVZK_TX_NONE &&
           x->vote[tp_site(site)] == EVZK_TX_NONE && has_entry(x, site) &&
           !is_known(x, act) && tp_begun_by_living(x) &&
           !(x->failed[tp_site(site)] &&
             (fault_forged_votes() || tp_is_tampered())) &&
           !ens_shut(tp.own->act[act].proc);
}

static void site_owes(int act, struct sim_debt *debt)
{
    sim_owe(debt, is_deaf(act),
            "a site may not read a transaction, and hears nothing", act + 1);
    sim_owe(debt, is_out(act), "a site has no inbox", act + 1);
    sim_owe(debt, haunts(act), "a site has been freed, and is there", act + 1);
    for (int k = 0; k < TP_AT; k++)
        sim_owe(debt, tp.at[k].act == act && site_waits(&tp.at[k]),
                "a site waits, and need not", act + 1);
    for (int64_t k = 0; tp.slot[act].site && k < tp.txs; k++) {
        sim_owe(debt, is_left(&tp.tx[k]),
                "all sites are done, and none removes the transaction", k);
        sim_owe(debt, is_ignored(&tp.tx[k], act),
                "a site takes no notice of an entry", k);
        sim_owe(debt, is_kept(&tp.tx[k], act),
                "a transaction is gone, and a site keeps its entry", k);
        sim_owe(debt, is_silenced(&tp.tx[k], act),
                "a site has voted to commit, and is told nothing more", k);
        sim_owe(debt, is_untold(&tp.tx[k], act),
                "a site owes a decision, and is told nothing", k);
    }
}

/* All sites have voted to commit, and the session of this process has begun the
 * transaction: the sites wait for its decision. */
static bool nobody_decides(const struct tp_tx *x, int proc)
{
    const struct process *p = process_of(proc);
    struct ens_seen seen;
    char path[120];

    snprintf(path, sizeof path, "/t/coordinators/%s", x->tag);
    if (x->removed || x->decision != EVZK_TX_NONE || x->unreadable ||
        x->marred || tp_is_tampered() || tp.own->foreign || ens_shut(proc) ||
        p->n_ids == 0 || !ens_look(path, &seen) ||
        seen.owner != p->ids[p->n_ids - 1])
        return false;
    for (int i = 0; i < tp_n_sites(); i++) {
        if (x->vote[i] != EVZK_TX_COMMIT)
            return false;
    }
    return true;
}

/* Where an operator takes rights away for longer, it is asked every half
 * minute. */
static void decision_owed(int proc, struct sim_debt *debt)
{
    for (int64_t k = 0; k < tp.txs && !debt->what; k++) {
        if (!nobody_decides(&tp.tx[k], proc))
            continue;
        sim_owe(debt, true, "all have voted, and nobody decides", k);
        debt->most_us = tp.hid ? RARELY_US : 0;
    }
}

/* Its program knows the coordinator as over, or has let go of it; and what it
 * has begun stands undecided, while its session keeps the sites waiting. */
static bool is_deserted(int act)
{
    const struct tp_slot *k = &tp.slot[act];
    const struct process *p = process_of(tp.own->act[act].proc);
    const struct tp_tx *x = tp_find(k->id);
    struct ens_seen seen;
    char path[120];

    if (!k->id[0] || k->tx || !x || x->removed || x->decision != EVZK_TX_NONE ||
        x->unreadable || x->marred || tp_is_tampered() || tp.own->foreign ||
        p->n_ids == 0 ||
        ens_shut(tp.own->act[act].proc)) /* At the decision, maybe. */
        return false;
    snprintf(path, sizeof path, "/t/coordinators/%s", x->tag);
    return ens_look(path, &seen) && seen.owner == p->ids[p->n_ids - 1];
}

void two_phase_owes(int proc, struct sim_debt *debt)
{
    decision_owed(proc, debt);
    for (int i = 0; i < TP_ACTS; i++) {
        if (tp.own->act[i].proc != proc)
            continue;
        if (tp.own->act[i].what == TP_SITE)
            site_owes(i, debt);
        if ((tp.own->seals || ens_refused(proc)) && debt->most_us < REFUSED_US)
            debt->most_us = REFUSED_US;
        if ((tp.hid || ens_denied(proc)) && debt->most_us < RARELY_US)
            debt->most_us = RARELY_US;
        sim_owe(debt, is_deserted(i),
                "a coordinator is over, and its transaction is undecided",
                i + 1);
        sim_owe(debt, coordinator_waits(&tp.slot[i]),
                "a coordinator waits, and need not", i + 1);
        sim_owe(debt, tp.slot[i].q != NULL, "a look-up is not told", i + 1);
    }
}

static void note_ready(void)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (tp.slot[i].site &&
            strcmp(evzk_site_state(tp.slot[i].site), "WATCHING") == 0)
            tp.slot[i].ready = true;
    }
}

void tp_check(void)
{
    tp_look();
    note_ready();
    processes_check();
}

static void check_presences(void)
{
    const char *names[KIDS];
    size_t n = ens_children("/t/coordinators", names, KIDS);

    for (size_t i = 0; i < n && i < KIDS; i++) {
        struct ens_seen seen;
        char path[160];

        snprintf(path, sizeof path, "/t/coordinators/%.90s", names[i]);
        if (ens_look(path, &seen) && seen.owner)
            sim_violation("a coordinator's znode is left");
    }
}

/* An act waits for what does not happen where votes are forged. */
static bool never_came(void)
{
    bool waits = false;

    for (int i = 0; i < TP_ACTS; i++)
        waits =
            waits || (tp.own->act[i].when != TP_AT_ONCE && !tp.slot[i].watched);
    return waits && fault_forged_votes();
}

/* What no process here can read stays as it was. */
static void check_newer(void)
{
    struct ens_seen seen;

    if (!ens_look("/t/inbox/a/" TP_NEWER, &seen) ||
        !ens_look("/t/tx/" TP_NEWER "/open-a", &seen))
        sim_violation("a site has taken away what it cannot read");
}

/* The end: nothing is left, unless something was cut short. */
void tp_check_end(void)
{
    const char *names[KIDS];
    char path[32];
    bool broken = tp.rough || tp_is_tampered() || tp_is_marred() ||
                  tp.own->foreign || tp.own->denied || tp.own->act[0].denied;

    for (int p = 0; p < SIM_PROCS; p++)
        broken = broken || process_of(p)->n_ids > 1 ||
                 process_closed_badly(p) ||
                 (process_of(p)->n_ids == 1 &&
                  session_forced(process_of(p)->ids[0])) ||
                 process_lacked_memory(p) || ens_refused(p);
    check_presences();
    if (tp.own->newer && tp_n_sites() > 0 && !tp_is_tampered() &&
        tp.slot[2].begun)
        check_newer();
    if (tp.shown && tp.deserted && !tp_is_marred())
        sim_violation("a right came back, and a site did not go on");
    if (tp.last && !tp.own->lasts && !broken && !never_came())
        sim_violation("the users had to give up");
    broken =
        broken || tp.last || (tp.own->sites_remove && fault_forged_votes());
    if (!broken && ens_children("/t/tx", names, KIDS) > 0)
        sim_violation("a transaction is left");
    for (int i = 0; i < tp_n_sites() && !broken; i++) {
        snprintf(path, sizeof path, "/t/inbox/%c", tp.own->sites[i]);
        if (ens_children(path, names, KIDS) > 0)
            sim_violation("the inbox of site %c is not empty",
                          tp.own->sites[i]);
    }
    processes_check_end();
}
