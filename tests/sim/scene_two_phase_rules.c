/* The rules of two-phase commit, asked after every step against the true tree.
 *
 * A transaction has one decision.  It is to commit only if every site has voted
 * so; no vote and no decision ever changes.  All who are told a decision are
 * told that one.  While somebody lives who may decide, it is decided in time.
 *
 * How it can fail: a transaction is known by its id, as the tree first shows
 * it. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "processes.h"
#include "scene_two_phase.h"

enum { KIDS = 32, TRUTH_US = 4 * 1000 * 1000, DECISION = 13, TAG = 15 };

struct tp_world tp;
SIM_KEEP(tp)

int tp_n_sites(void) { return tp.own->sites ? (int)strlen(tp.own->sites) : 0; }

int tp_site(char name)
{
    const char *at = tp.own->sites && name ? strchr(tp.own->sites, name) : NULL;

    return at ? (int)(at - tp.own->sites) : -1;
}

struct tp_tx *tp_find(const char *id)
{
    for (int64_t i = 0; i < tp.txs; i++) {
        if (strcmp(tp.tx[i].id, id) == 0)
            return &tp.tx[i];
    }
    return NULL;
}

void tp_path(char *to, size_t size, const char *path)
{
    const char *mark = strchr(path, '%');

    if (mark)
        snprintf(to, size, "/t/%.*s%s%s", (int)(mark - path), path,
                 tp.txs ? tp.tx[0].id : "none", mark + 1);
    else
        snprintf(to, size, "/t/%s", path);
    if (strcmp(path, "coordinator") == 0 && tp.txs)
        snprintf(to, size, "/t/coordinators/%s", tp.tx[0].tag);
}

/* Has an operator had a hand in this? */
static bool is_tampered(void) { return operator_deleted_any(); }

static struct tp_tx *note(const char *id, const struct ens_seen *seen)
{
    struct tp_tx *x = tp_find(id);

    if (x && x->removed && x->czxid != seen->czxid) {
        if (!is_tampered())
            sim_violation("a transaction is made again");
        *x = (struct tp_tx){.czxid = seen->czxid, .variant = x->variant};
        strcpy(x->id, id);
        snprintf(x->tag, sizeof x->tag, "%.42s", seen->data + TAG);
    }
    if (x || strlen(id) != EVZK_TX_ID_LEN || seen->len < 60 ||
        memcmp(seen->data, "evzk-2pc 1 ", 11) != 0)
        return x;
    if (tp.txs == TP_TXS) {
        sim_violation("too many transactions");
        return NULL;
    }
    x = &tp.tx[tp.txs++];
    strcpy(x->id, id);
    snprintf(x->tag, sizeof x->tag, "%.42s", seen->data + TAG);
    x->czxid = seen->czxid;
    x->variant = (evzk_tx_variant)(strchr("mps", seen->data[11]) - "mps");
    return x;
}

static void check_commit(const struct tp_tx *x)
{
    struct ens_seen seen;
    char path[120];

    for (int i = 0; i < tp_n_sites(); i++) {
        if (x->vote[i] != EVZK_TX_COMMIT)
            sim_violation("committed, and site %c has not voted so",
                          tp.own->sites[i]);
        snprintf(path, sizeof path, "/t/tx/%s/commit-%c", x->id,
                 tp.own->sites[i]);
        if (!ens_look(path, &seen) || seen.version != 0)
            sim_violation("committed, and somebody wrote to the vote of %c",
                          tp.own->sites[i]);
    }
}

static void look_at_decision(struct tp_tx *x, const struct ens_seen *seen)
{
    evzk_tx_verdict said = seen->len <= DECISION         ? EVZK_TX_NONE
                           : seen->data[DECISION] == 'c' ? EVZK_TX_COMMIT
                           : seen->data[DECISION] == 'a' ? EVZK_TX_ABORT
                                                         : EVZK_TX_NONE;

    if (seen->len == 8)
        return; /* An operator has written to it. */
    if (x->decision != EVZK_TX_NONE && !is_tampered() &&
        (said != x->decision || seen->mzxid != x->decided))
        sim_violation("the decision has changed");
    if (x->decision != EVZK_TX_NONE || said == EVZK_TX_NONE)
        return;
    x->decision = said;
    x->decided = seen->mzxid;
    if (said == EVZK_TX_COMMIT)
        check_commit(x);
}

static void look_at_site(struct tp_tx *x, int i)
{
    static const char *const kinds[] = {"open", "asked", "commit", "abort"};
    char path[120];
    bool any = false;

    for (int k = 0; k < 4; k++) {
        struct ens_seen seen;

        snprintf(path, sizeof path, "/t/tx/%s/%s-%c", x->id, kinds[k],
                 tp.own->sites[i]);
        if (!ens_look(path, &seen))
            continue;
        any = true;
        if (k == 1)
            x->came[i] = true;
        if (k >= 2 && x->vote[i] != EVZK_TX_NONE &&
            x->vote[i] != (k == 2 ? EVZK_TX_COMMIT : EVZK_TX_ABORT) &&
            !tp.own->foreign && !is_tampered())
            sim_violation("site %c has changed its vote", tp.own->sites[i]);
        if (k >= 2 && x->decision == EVZK_TX_NONE && x->vote[i] == 0)
            x->vote[i] = k == 2 ? EVZK_TX_COMMIT : EVZK_TX_ABORT;
        if (k >= 2 && x->decision != EVZK_TX_NONE && x->vote[i] == 0 &&
            !is_tampered() && !tp.own->foreign)
            sim_violation("site %c votes behind the decision",
                          tp.own->sites[i]);
    }
    x->came[i] = x->came[i] || any;
    if (x->came[i] && !any && x->decision != EVZK_TX_NONE)
        x->done[i] = true;
}

static void look_at_tx(struct tp_tx *x)
{
    struct ens_seen seen;
    char path[64];

    snprintf(path, sizeof path, "/t/tx/%s", x->id);
    if (!ens_look(path, &seen)) {
        x->removed = true;
        return;
    }
    for (int i = 0; i < tp_n_sites() && x->decision == EVZK_TX_NONE; i++)
        look_at_site(x, i);
    look_at_decision(x, &seen);
    for (int i = 0; i < tp_n_sites(); i++)
        look_at_site(x, i);
}

void tp_look(void)
{
    const char *names[KIDS];
    size_t n;

    if (!ens_has_changed(&tp.looked))
        return;
    n = ens_children("/t/tx", names, KIDS);
    for (size_t i = 0; i < n && i < KIDS; i++) {
        struct ens_seen seen;
        char path[80];

        snprintf(path, sizeof path, "/t/tx/%.36s", names[i]);
        if (ens_look(path, &seen))
            note(names[i], &seen);
    }
    for (int64_t i = 0; i < tp.txs; i++) {
        if (!tp.tx[i].removed)
            look_at_tx(&tp.tx[i]);
    }
}

static int count(const bool *v)
{
    int n = 0;

    for (int i = 0; i < tp_n_sites(); i++)
        n += v[i];
    return n;
}

bool tp_come_to(enum tp_when when)
{
    const struct tp_tx *x = &tp.tx[0];
    int votes = 0;
    char path[120];
    struct ens_seen seen;
    bool here = false;

    if (tp.txs == 0)
        return false;
    for (int i = 0; i < tp_n_sites(); i++) {
        votes += x->vote[i] != 0;
        snprintf(path, sizeof path, "/t/tx/%s/here-%c", x->id,
                 tp.own->sites[i]);
        here = here || ens_look(path, &seen);
    }
    switch (when) {
    case TP_AT_ONCE:
    case TP_STANDS:
        return true;
    case TP_HERE:
        return here;
    case TP_VOTED:
        return votes > 0;
    case TP_ALL_VOTED:
        return votes == tp_n_sites();
    case TP_DECIDED:
        return x->decision != EVZK_TX_NONE;
    case TP_DONE:
        return count(x->done) > 0;
    case TP_ALL_DONE:
        return count(x->done) == tp_n_sites();
    case TP_OVER:
        return x->removed;
    }
    return false;
}

/* Has a session of this process come to its end? */
static bool had_end(int proc)
{
    const struct process *p = process_of(proc);

    for (unsigned i = 0; i < p->n_ids; i++) {
        if (session_over(p->ids[i]))
            return true;
    }
    return p->n_ids > 1;
}

/* Another process is the site of the same name: that one may be done. */
static bool has_twin(int act)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (i != act && tp.own->act[i].what == TP_SITE &&
            tp.own->act[i].site == tp.own->act[act].site)
            return true;
    }
    return false;
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
    case EVZK_ERR_CONNLOSS:
        return had_end(a->proc) || is_tampered() || ens_throttled(a->proc);
    case EVZK_ERR_NODEGONE:
        return is_tampered() || had_end(a->proc) || a->what == TP_RECOVER ||
               tp.rough || has_twin(act);
    case EVZK_ERR_FOREIGN:
        return is_tampered();
    case EVZK_ERR_NOAUTH:
        return a->denied || tp.own->denied || tp.own->act[0].denied;
    case EVZK_ERR_NONODE:
        return !tp.own->tree || is_tampered();
    case EVZK_ERR_NODEEXISTS:
        return is_tampered();
    case EVZK_ERR_NOTEMPTY:
        return tp.own->foreign;
    case EVZK_ERR_NOCHROOT:
        return tp.own->chroot != NULL;
    default:
        return false;
    }
}

/* The decision that somebody is told. */
static void check_decision(const char *who, const char *id,
                           evzk_tx_verdict verdict, int64_t token)
{
    const struct tp_tx *x = tp_find(id);

    if (is_tampered())
        return;
    if (!x || x->decision == EVZK_TX_NONE)
        sim_violation("%s is told a decision, and none was made", who);
    else if (x->decision != verdict)
        sim_violation("%s is told %s, and the decision is %s", who,
                      evzk_tx_verdict_name(verdict),
                      evzk_tx_verdict_name(x->decision));
    else if (x->decided != token)
        sim_violation("%s is told another number of the decision", who);
}

static void check_vote(const struct tp_tx *x, const evzk_tx_vote *vote)
{
    int i = tp_site(vote->site[0]);

    if (i < 0 || vote->site[1] || !x)
        sim_violation("a vote of nobody is told");
    else if (x->vote[i] != vote->verdict && !is_tampered() && !tp.own->foreign)
        sim_violation("another vote of site %c is told", vote->site[0]);
    if (vote->data && !tp.own->foreign &&
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
 * transaction; after the end of a session perhaps a moment later. */
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
        if (ens_look(path, &seen))
            sim_violation("finished, and site %c was not told",
                          tp.own->sites[i]);
    }
}

static void check_finished(int act, const struct tp_tx *x)
{
    if (!x || (!x->removed && !may_leave(act, x)))
        sim_violation("finished, and the transaction stands");
    if (is_tampered())
        return;
    if (x && !tp.own->foreign)
        check_entries(x);
    for (int i = 0; x && i < tp_n_sites(); i++) {
        if (!x->done[i] && !is_tampered())
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
            !is_tampered() && rc != EVZK_ERR_NOMEM && rc != EVZK_ERR_SERVER)
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
    if (!x->removed && !x->done[at->site] && !tp.own->foreign)
        sim_violation("site %c has finished, and its znode stands",
                      tp.own->sites[at->site]);
}

void tp_check_site(struct tp_at *at, evzk_site_event ev, int rc)
{
    const char *id = evzk_site_tx_id(at->t);
    const struct tp_tx *x = tp_find(id);
    size_t len;
    const char *question = evzk_site_tx_question(at->t, &len);

    at->tx = x ? (int)(x - tp.tx) + 1 : 0;
    if (rc != EVZK_OK && !tp_excused(at->act, rc))
        sim_violation("site %c: %s with %s", tp.own->act[at->act].site,
                      evzk_site_event_name(ev), evzk_errname(rc));
    if (ev < EVZK_SITE_FINISHED && (len != 1 || question[0] != '?'))
        sim_violation("a site is told another question");
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
            !is_tampered() && !tp.own->foreign)
            sim_violation("site %c is told a vote that is not its own",
                          tp.own->sites[at->site]);
        break;
    case EVZK_SITE_DECIDED:
        if (at->decided)
            sim_violation("a site is told twice of a decision");
        at->decided = true;
        check_decision("a site", id, evzk_site_tx_decision(at->t),
                       evzk_site_tx_token(at->t));
        break;
    case EVZK_SITE_FINISHED:
        check_site_finished(at, x);
        break;
    case EVZK_SITE_FAILED:
        if (rc == EVZK_OK)
            sim_violation("a site fails without an error");
        break;
    case EVZK_SITE_ENDED:
        break;
    }
}

void tp_check_answer(int act, int rc, const evzk_tx_info *v, size_t n)
{
    if (rc != EVZK_OK && !tp_excused(act, rc))
        sim_violation("act %d: the look-up: %s", act + 1, evzk_errname(rc));
    for (size_t i = 0; i < n; i++) {
        const struct tp_tx *x = tp_find(v[i].id);

        if (!x) {
            sim_violation("a look-up tells of %s, which never was", v[i].id);
            continue;
        }
        if (v[i].hidden)
            continue;
        if (v[i].orphan && tp_begun_by_living(x) && !is_tampered())
            sim_violation("a look-up takes %s for an orphan", v[i].id);
        if (v[i].decision != EVZK_TX_NONE &&
            (v[i].decision != x->decision || v[i].token != x->decided))
            sim_violation("a look-up tells another decision of %s", v[i].id);
        if (v[i].variant != x->variant)
            sim_violation("a look-up tells another variant of %s", v[i].id);
    }
}

/* Promptness: after all faults are over, whoever can go on does so. */

static bool is_connected(int proc)
{
    int before = sim_enter(proc);
    bool is = evzk_session_connected(process_of(proc)->s);

    sim_leave(before);
    return is;
}

static bool is_well(int proc)
{
    const struct process *p = process_of(proc);

    return p->s && !p->closing && is_connected(proc) &&
           !process_lacked_memory_since(proc, sim_now() - TRUTH_US);
}

static bool is_troubled(int64_t since)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_was_frozen(p, since) ||
            (process_of(p)->s && !is_connected(p)))
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

    if (!at->t || !x || at->decided || !is_well(a->proc) || is_tampered())
        return false;
    if (x->decision != EVZK_TX_NONE)
        return true;
    return x->variant != EVZK_TX_PLAIN && !tp_begun_by_living(x);
}

static bool coordinator_waits(const struct tp_slot *k, int proc)
{
    const struct tp_tx *x = k->of ? &tp.tx[k->of - 1] : NULL;
    int commits = 0, aborts = 0;

    if (!k->tx || !x || !is_well(proc) || is_tampered() || tp.own->foreign ||
        tp.own->denied || tp.own->act[0].denied)
        return false;
    for (int i = 0; i < tp_n_sites(); i++) {
        commits += x->vote[i] == EVZK_TX_COMMIT;
        aborts += x->vote[i] == EVZK_TX_ABORT;
    }
    if (!k->told_decided)
        return aborts > 0 || commits == tp_n_sites() || k->stopped;
    return x->removed || count(x->done) == tp_n_sites();
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

static void check_promptness(void)
{
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

/* The end: nothing is left, unless something was cut short. */
void tp_check_end(void)
{
    const char *names[KIDS];
    char path[32];
    bool broken = tp.rough || is_tampered() || tp.own->foreign ||
                  tp.own->denied || tp.own->act[0].denied;

    for (int p = 0; p < SIM_PROCS; p++)
        broken = broken || process_of(p)->n_ids > 1 ||
                 process_of(p)->close_rc != EVZK_OK ||
                 (process_of(p)->n_ids == 1 &&
                  session_forced(process_of(p)->ids[0])) ||
                 process_lacked_memory(p) || ens_throttled(p);
    check_presences();
    if (tp.last && !tp.own->lasts && !broken)
        sim_violation("the users had to give up");
    broken = broken || tp.last;
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
