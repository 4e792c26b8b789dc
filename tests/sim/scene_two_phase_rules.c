/* The rules of two-phase commit that are asked after every step, and at the
 * end: while somebody lives who may decide, it is decided in time; and nothing
 * is left.
 *
 * How it can fail: a process that stands still excuses all others, so what its
 * fault hides is seen only in scenes with one fault less. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_two_phase.h"

enum { KIDS = 32, TRUTH_US = 4 * 1000 * 1000 };

/* Promptness: after all faults are over, whoever can go on does so. */

static bool is_well(int proc)
{
    const struct process *p = process_of(proc);

    return p->s && !p->closing && process_is_connected(proc) &&
           !process_lacked_memory_since(proc, sim_now() - TRUTH_US);
}

static bool is_troubled(int64_t since)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_was_frozen(p, since) ||
            (process_of(p)->s && !process_is_connected(p)))
            return true;
    }
    return faults_healed_at() > since;
}

static bool is_too_late(int64_t *since, bool waits)
{
    if (!waits) {
        *since = 0;
        return false;
    }
    if (*since == 0 || is_troubled(*since))
        *since = sim_now();
    return sim_now() - *since > TRUTH_US;
}

/* Nothing but the library keeps this site waiting. */
static bool site_waits(const struct tp_at *at)
{
    const struct tp_act *a = &tp.own->act[at->act];
    const struct tp_tx *x = at->tx ? &tp.tx[at->tx - 1] : NULL;

    if (!at->t || !x || at->decided || !is_well(a->proc) || tp_is_tampered())
        return false;
    if (x->decision != EVZK_TX_NONE)
        return true;
    return x->variant != EVZK_TX_PLAIN && !tp_begun_by_living(x);
}

static bool coordinator_waits(const struct tp_slot *k, int proc)
{
    const struct tp_tx *x = k->of ? &tp.tx[k->of - 1] : NULL;
    int commits = 0, aborts = 0;

    if (!k->tx || !x || !is_well(proc) || tp_is_tampered() || tp.own->foreign ||
        tp.own->denied || tp.own->act[0].denied)
        return false;
    for (int i = 0; i < tp_n_sites(); i++) {
        commits += x->vote[i] == EVZK_TX_COMMIT;
        aborts += x->vote[i] == EVZK_TX_ABORT;
    }
    if (!k->told_decided)
        return x->decision != EVZK_TX_NONE || aborts > 0 ||
               commits == tp_n_sites() || k->stopped;
    return x->removed || tp_count(x->done) == tp_n_sites();
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
        !is_well(a->proc) || p->n_ids == 0)
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
           tp.hidden && !tp.tx[0].removed && is_well(a->proc) &&
           !tp_is_tampered();
}

/* All sites are done, and the coordinator's session is over. */
static bool is_left(const struct tp_tx *x)
{
    bool lives = false;

    for (int i = 0; i < TP_ACTS; i++)
        lives = lives || (tp.slot[i].site && is_well(tp.own->act[i].proc));
    return lives && tp.own->sites_remove && !x->removed &&
           x->decision != EVZK_TX_NONE && tp_count(x->done) == tp_n_sites() &&
           !tp_begun_by_living(x) && !tp_is_tampered() && !fault_forged_votes();
}

/* That the coordinator stands still excuses nobody. */
static bool is_trouble_of_sites(int64_t since)
{
    for (int i = 0; i < TP_ACTS; i++) {
        int p = tp.own->act[i].proc;

        if (tp.own->act[i].what == TP_SITE &&
            (process_was_frozen(p, since) || !process_is_connected(p)))
            return true;
    }
    return faults_healed_at() > since || tp.rough;
}

static void check_left(struct tp_tx *x)
{
    if (!is_left(x))
        x->left = 0;
    else if (x->left == 0 || is_trouble_of_sites(x->left))
        x->left = sim_now();
    else if (sim_now() - x->left > TRUTH_US)
        sim_violation("all sites are done, and none removes the transaction");
}

/* The transaction is gone, and a site that lives has the entry still. */
static bool is_kept(const struct tp_tx *x)
{
    for (int i = 0; x->removed && i < TP_ACTS; i++) {
        const struct tp_act *a = &tp.own->act[i];
        struct ens_seen seen;
        char path[120];

        if (a->what != TP_SITE || !tp.slot[i].site || !is_well(a->proc) ||
            ens_refused(a->proc))
            continue;
        snprintf(path, sizeof path, "/t/inbox/%c/%s", a->site, x->id);
        if (ens_look(path, &seen))
            return true;
    }
    return false;
}

static void check_promptness(void)
{
    for (int64_t k = 0; k < tp.txs; k++) {
        check_left(&tp.tx[k]);
        if (is_too_late(&tp.tx[k].kept, is_kept(&tp.tx[k])))
            sim_violation("a transaction is gone, and a site keeps its entry");
    }
    for (int i = 0; i < TP_ACTS; i++) {
        if (is_too_late(&tp.slot[i].deaf, is_deaf(i)))
            sim_violation("site %c may not read a transaction, and hears "
                          "nothing",
                          tp.own->act[i].site);
    }
    for (int i = 0; i < TP_ACTS; i++) {
        if (is_too_late(&tp.slot[i].haunts, haunts(i)))
            sim_violation("site %c has been freed, and is there",
                          tp.own->act[i].site);
    }
    for (int k = 0; k < TP_AT; k++) {
        if (is_too_late(&tp.at[k].late, site_waits(&tp.at[k])))
            sim_violation("site %c waits, and need not: %s",
                          tp.own->act[tp.at[k].act].site,
                          evzk_site_tx_state(tp.at[k].t));
    }
    for (int i = 0; i < TP_ACTS; i++) {
        struct tp_slot *k = &tp.slot[i];

        if (is_too_late(&k->late, coordinator_waits(k, tp.own->act[i].proc)))
            sim_violation("act %d waits, and need not: %s", i + 1,
                          evzk_tx_state(k->tx));
    }
}

void tp_check(void)
{
    tp_look();
    check_promptness();
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

/* The end: nothing is left, unless something was cut short. */
void tp_check_end(void)
{
    const char *names[KIDS];
    char path[32];
    bool broken = tp.rough || tp_is_tampered() || tp.own->foreign ||
                  tp.own->denied || tp.own->act[0].denied;

    for (int p = 0; p < SIM_PROCS; p++)
        broken = broken || process_of(p)->n_ids > 1 ||
                 process_of(p)->close_rc != EVZK_OK ||
                 (process_of(p)->n_ids == 1 &&
                  session_forced(process_of(p)->ids[0])) ||
                 process_lacked_memory(p) || ens_refused(p);
    check_presences();
    if (tp.shown && tp.deserted)
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
