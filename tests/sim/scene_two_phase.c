/* Processes that are coordinators and sites of transactions.
 *
 * A site answers each question after a while, and is done a while after each
 * decision.  It ends when no coordinator is left, and no transaction that it
 * has not finished.  At last the users give up: a site that has died holds up
 * the coordinators, which wait until it is done.
 *
 * How it can fail: the rules are in scene_two_phase_rules.c. */
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "faults.h"
#include "owes.h"
#include "processes.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "scene_two_phase.h"
#include "steps.h"

enum {
    LAST_US = 8 * 1000 * 1000, /* Then the users give up what still waits; .. */
    LASTS_US = 1200 * 1000,    /* .. earlier where something blocks, .. */
    GIVEN_US = 40 * 1000 * 1000, /* .. later where a right comes back. */
    FREEZE_US = 7 * 1000 * 1000,
    FAILED_US = 4 * 1000 * 1000,
    AGAIN_US = 2000,
    QUIET_US = 30000,
    REFUSED_US = 2500 * 1000 /* A coordinator asks again earlier. */
};

static void start(intptr_t i);

static bool is_coordinator(int i)
{
    return tp.own->act[i].what == TP_BEGIN ||
           tp.own->act[i].what == TP_RECOVER || tp.own->act[i].what == TP_ASK;
}

static bool is_quiet(int proc)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (tp.own->act[i].what && tp.own->act[i].proc == proc &&
            !tp.slot[i].over)
            return false;
    }
    return true;
}

static void maybe_close(int proc)
{
    if (is_quiet(proc) && process_has_session(proc))
        process_close(proc);
}

static void over(int i)
{
    tp.slot[i].over = true;
    maybe_close(tp.own->act[i].proc);
}

/* What a site has of transactions is gone with it. */
static void forget_at(int act)
{
    for (int k = 0; k < TP_AT; k++) {
        if (tp.at[k].t && tp.at[k].act == act)
            tp.at[k].t = NULL;
    }
}

static void end(int i)
{
    struct tp_slot *k = &tp.slot[i];
    struct tp_slot old = *k;
    int proc = tp.own->act[i].proc;

    forget_at(i);
    k->tx = NULL;
    k->site = NULL;
    k->q = NULL;
    process_call_begins(proc);
    evzk_tx_free(old.tx);
    evzk_site_free(old.site);
    evzk_tx_query_free(old.q);
    process_call_ends(proc);
    over(i);
}

static void over_later(intptr_t i) { over((int)i); }

/* The coordinator has failed.  Its process lives on, as programs do: the sites
 * must not wait for its end. */
static void fail(int i)
{
    int proc = tp.own->act[i].proc;
    evzk_tx *tx = tp.slot[i].tx;

    tp.slot[i].tx = NULL;
    process_call_begins(proc);
    evzk_tx_free(tx);
    process_call_ends(proc);
    scene_timer_set(FAILED_US, proc, over_later, i);
}

static void end_early(int i)
{
    tp.rough = true;
    end(i);
}

static bool stop(int i)
{
    struct tp_slot *k = &tp.slot[i];
    int proc = tp.own->act[i].proc, rc;

    process_call_begins(proc);
    rc = k->tx ? evzk_tx_abort(k->tx) : evzk_site_cancel(k->site);
    process_call_ends(proc);
    sim_say("p%d: act %d is stopped: %s", proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_OK && k->tx && k->told_decided)
        sim_violation("act %d is decided, and may be aborted", i + 1);
    k->stopped = k->stopped || rc == EVZK_OK;
    return rc == EVZK_OK;
}

/* The coordinator wants to abort; or the site does, with whatever it has. */
static void want_abort(intptr_t i)
{
    if (tp.slot[i].tx && tp.own->act[i].frees)
        end_early((int)i);
    else if (tp.slot[i].tx)
        stop((int)i);
}

/* Sites. */

static struct tp_at *at_of(int act, const evzk_site_tx *t)
{
    for (int k = 0; k < TP_AT; k++) {
        if (tp.at[k].t == t && tp.at[k].act == act)
            return &tp.at[k];
    }
    return NULL;
}

static struct tp_at *new_at(int act, evzk_site_tx *t)
{
    int k = 0;

    while (tp.at[k].t) {
        if (++k == TP_AT) {
            sim_violation("too many transactions at sites");
            return &tp.at[0];
        }
    }
    tp.at[k] = (struct tp_at){
        .t = t, .act = act, .site = tp_site(tp.own->act[act].site)};
    return &tp.at[k];
}

static void vote(intptr_t k)
{
    struct tp_at *at = &tp.at[k];
    const struct tp_act *a = &tp.own->act[at->act];
    int rc;

    if (!at->t || !at->asked || at->voted || at->decided)
        return;
    process_call_begins(a->proc);
    rc = evzk_site_tx_vote(at->t, a->vote ? EVZK_TX_ABORT : EVZK_TX_COMMIT,
                           &a->site, 1);
    process_call_ends(a->proc);
    sim_say("p%d: site %c votes: %s", a->proc, a->site, evzk_errname(rc));
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(AGAIN_US, a->proc, vote, k);
    if (rc == EVZK_OK && at->tx && at->site >= 0 && !a->vote)
        tp.tx[at->tx - 1].cast[at->site] = true;
}

static bool abort_at(struct tp_at *at)
{
    const struct tp_act *a = &tp.own->act[at->act];
    int rc;

    process_call_begins(a->proc);
    rc = evzk_site_tx_abort(at->t);
    process_call_ends(a->proc);
    sim_say("p%d: site %c aborts: %s", a->proc, a->site, evzk_errname(rc));
    return rc == EVZK_OK;
}

static void want_abort_at(intptr_t k)
{
    if (tp.at[k].t && !tp.at[k].decided)
        abort_at(&tp.at[k]);
}

static void be_done(intptr_t k)
{
    struct tp_at *at = &tp.at[k];
    int proc = tp.own->act[at->act].proc, rc;

    if (!at->t || !at->decided)
        return;
    process_call_begins(proc);
    rc = evzk_site_tx_done(at->t);
    process_call_ends(proc);
    sim_say("p%d: site %c is done: %s", proc, tp.own->act[at->act].site,
            evzk_errname(rc));
    if (rc == EVZK_OK && at->tx && at->site >= 0)
        tp.tx[at->tx - 1].said[at->site] = true;
}

static void go_on(struct tp_at *at, evzk_site_event ev)
{
    const struct tp_act *a = &tp.own->act[at->act];
    int k = (int)(at - tp.at);

    if (ev == EVZK_SITE_QUESTION && a->vote < 2)
        scene_timer_set(a->vote_us + 1, a->proc, vote, k);
    if (ev == EVZK_SITE_QUESTION && a->abort_us)
        scene_timer_set(a->abort_us, a->proc, want_abort_at, k);
    if (ev == EVZK_SITE_DECIDED && a->done_us >= 0)
        scene_timer_set(a->done_us + 1, a->proc, be_done, k);
    if (ev == EVZK_SITE_FINISHED || ev == EVZK_SITE_FAILED)
        at->t = NULL;
}

static void on_site(evzk_site *site, evzk_site_event ev, evzk_site_tx *t,
                    int rc, void *arg)
{
    int i = (int)(intptr_t)arg, proc = tp.own->act[i].proc;
    struct tp_at *at = NULL;

    sim_say("p%d: site %c: %s %s %s", proc, tp.own->act[i].site,
            evzk_site_event_name(ev), evzk_errname(rc),
            evzk_tx_verdict_name(evzk_site_tx_decision(t)));
    process_heard(proc, "the site's callback");
    if (ev != EVZK_SITE_FINISHED && ev != EVZK_SITE_FAILED &&
        !evzk_site_event_is_final(ev))
        process_news(proc, "news of the site");
    if (tp.slot[i].site != site)
        sim_violation("p%d: act %d is told after its end", proc, i + 1);
    tp_look();
    if (t) {
        if (!evzk_site_tx_arg(t))
            evzk_site_tx_set_arg(t, (void *)(intptr_t)++tp.numbers);
        at = at_of(i, t);
        if (!at)
            at = new_at(i, t);
        tp_check_site(at, ev, rc);
    } else if (rc != EVZK_OK && !tp_site_may_end(i, rc))
        sim_violation("p%d: site %c ends: %s", proc, tp.own->act[i].site,
                      evzk_errname(rc));
    process_callback(proc); /* The explorer may free it here. */
    if (tp.slot[i].site != site)
        return;
    if (evzk_site_event_is_final(ev))
        end(i);
    else
        go_on(at, ev);
}

/* No coordinator is left, and nothing at this site: it ends. */
static void maybe_end(intptr_t i)
{
    bool busy = false;

    if (!tp.slot[i].site)
        return;
    for (int k = 0; k < TP_ACTS; k++)
        busy = busy ||
               (tp.own->act[k].what && is_coordinator(k) && !tp.slot[k].over);
    for (int k = 0; k < TP_ACTS; k++) {
        const struct tp_act *a = &tp.own->act[k];

        busy = busy || (a->what >= TP_DELETE && !tp.slot[k].over);
        busy = busy || (a->what == TP_SITE && !tp.slot[k].begun);
    }
    for (int k = 0; k < TP_AT; k++)
        busy = busy || (tp.at[k].t && tp.at[k].act == i);
    for (int k = 0; k < tp.txs; k++) {
        int site = tp_site(tp.own->act[i].site);

        busy = busy || (!tp.tx[k].removed && site >= 0 && tp.tx[k].came[site] &&
                        !tp.tx[k].done[site]);
    }
    if (busy || owes_any())
        scene_timer_set(QUIET_US, tp.own->act[i].proc, maybe_end, i);
    else
        end((int)i);
}

/* Coordinators. */

static void on_tx(evzk_tx *t, evzk_tx_event ev, const evzk_tx_vote *v, int rc,
                  void *arg)
{
    int i = (int)(intptr_t)arg, proc = tp.own->act[i].proc;

    sim_say("p%d: act %d: %s %s %s %s", proc, i + 1, evzk_tx_event_name(ev),
            v ? v->site : "", evzk_errname(rc),
            evzk_tx_verdict_name(v ? v->verdict : evzk_tx_decision(t)));
    process_heard(proc, "the coordinator's callback");
    if (!evzk_tx_event_is_final(ev))
        process_news(proc, "news of the transaction");
    if (tp.slot[i].tx != t)
        sim_violation("p%d: act %d is told after its end", proc, i + 1);
    tp_look();
    tp_check_tx(i, t, ev, v, rc);
    process_callback(proc); /* The explorer may free it here. */
    if (tp.slot[i].tx != t || !evzk_tx_event_is_final(ev))
        return;
    if (ev == EVZK_TX_FAILED && tp.slot[i].told_begun &&
        !tp.slot[i].told_decided && !process_of(proc)->closing)
        fail(i);
    else
        end(i);
}

static void on_answer(evzk_tx_query *q, int rc, const evzk_tx_info *v, size_t n,
                      void *arg)
{
    int i = (int)(intptr_t)arg, proc = tp.own->act[i].proc;

    sim_say("p%d: act %d: %d are told of: %s", proc, i + 1, (int)n,
            evzk_errname(rc));
    process_heard(proc, "the look-up's callback");
    if (tp.slot[i].q != q)
        sim_violation("p%d: act %d is told after its end", proc, i + 1);
    tp_look();
    tp_check_answer(i, rc, v, n);
    process_callback(proc);
    if (tp.slot[i].q == q)
        end(i);
}

/* Acts. */

static int begin_tx(int i, evzk_session *s)
{
    const struct tp_act *a = &tp.own->act[i];
    evzk_acl mute[] = {{.perms = (EVZK_PERM_ALL & ~(uint32_t)a->denied),
                        .scheme = "world",
                        .id = "anyone"}};
    char name[TP_SITES][2];
    const char *sites[TP_SITES];
    evzk_tx_options opt = {.variant = a->variant,
                           .question = "?",
                           .question_len = 1,
                           .timeout_ms = a->timeout_ms,
                           .vote_data = a->vote_data};
    void *arg = (void *)(intptr_t)i;
    int rc;

    if (a->denied) {
        opt.acl = mute;
        opt.acl_count = 1;
    }
    if (a->what == TP_RECOVER) {
        tp.slot[i].lived = tp.txs && tp_begun_by_living(&tp.tx[0]);
        return evzk_tx_recover(s, "/t",
                               tp.txs ? tp.tx[0].id
                                      : "00000000-0000-0000-0000-000000000000",
                               &opt, on_tx, arg, &tp.slot[i].tx);
    }
    for (int k = 0; k < tp_n_sites(); k++) {
        name[k][0] = tp.own->sites[k];
        name[k][1] = '\0';
        sites[k] = name[k];
    }
    opt.sites = sites;
    opt.n_sites = (size_t)tp_n_sites();
    rc = evzk_tx_begin(s, "/t", &opt, on_tx, arg, &tp.slot[i].tx);
    if (rc == EVZK_OK)
        strcpy(tp.slot[i].id, evzk_tx_id(tp.slot[i].tx));
    return rc;
}

static int begin_act(int i, evzk_session *s)
{
    const struct tp_act *a = &tp.own->act[i];
    const char name[2] = {a->site, '\0'};
    void *arg = (void *)(intptr_t)i;

    if (a->what == TP_SITE) {
        evzk_acl all = {
            .perms = EVZK_PERM_ALL, .scheme = "world", .id = "anyone"};
        evzk_site_options opt = {.acl = &all, .acl_count = 1};

        return evzk_site_start(s, "/t", name, a->own_acl ? &opt : NULL, on_site,
                               arg, &tp.slot[i].site);
    }
    if (a->what == TP_ASK) {
        tp_look();
        return evzk_tx_query_start(s, "/t", on_answer, arg, &tp.slot[i].q);
    }
    return begin_tx(i, s);
}

static void note_write(const char *path)
{
    struct ens_seen seen;

    if (ens_look(path, &seen))
        operator_note_deleted(seen.czxid);
}

/* Writes what a coordinator would, if all had voted to commit; not over a
 * decision that stands. */
static void decide(const char *path)
{
    struct ens_seen seen;
    char text[256];

    if (!ens_look_ahead(path, &seen) || seen.len < 0 ||
        seen.len > (int32_t)sizeof text || seen.version > 0)
        return;
    memcpy(text, seen.data, (size_t)seen.len);
    text[13] = 'c'; /* recipes/two_phase/text.c */
    tp.overruled = ens_set_data(path, text, (size_t)seen.len) == 0;
}

/* A process that stands still has not heard that what it knows was replaced by
 * a copy. */
static bool anybody_is_frozen(void)
{
    for (int p = 0; p < SIM_PROCS; p++) {
        if (process_was_frozen(p, sim_now()))
            return true;
    }
    return false;
}

/* As after a copy of the whole tree: every znode says what it said, and nobody
 * has written to it yet. */
static void copy(void)
{
    char text[256], vote[TP_SITES], path[160];
    bool voted[TP_SITES];
    struct ens_seen seen;
    size_t len;

    tp_path(path, sizeof path, "tx/%");
    if (!ens_look(path, &seen) || seen.len < 0 ||
        seen.len > (int32_t)sizeof text || fault_wrote(seen.mzxid))
        return; /* A malformed text. */
    tp.copied = true;
    tp.copied_late = wire_holds_requests() || anybody_is_frozen();
    memcpy(text, seen.data, len = (size_t)seen.len);
    for (int i = 0; i < tp_n_sites(); i++) {
        snprintf(path, sizeof path, "/t/tx/%s/commit-%c", tp.tx[0].id,
                 tp.own->sites[i]);
        voted[i] = ens_look(path, &seen) && seen.len == 1;
        if (voted[i])
            vote[i] = seen.data[0];
        operator_delete(path);
    }
    tp_path(path, sizeof path, "tx/%");
    operator_delete(path);
    ens_create(path, text, len, ZOO_PERSISTENT);
    for (int i = 0; i < tp_n_sites(); i++) {
        snprintf(path, sizeof path, "/t/tx/%s/commit-%c", tp.tx[0].id,
                 tp.own->sites[i]);
        if (voted[i])
            ens_create(path, &vote[i], 1, ZOO_PERSISTENT);
    }
}

/* A right to `path` goes, or all come back. */
static void change_rights(const struct tp_act *a, const char *path)
{
    uint32_t denied = a->denied ? a->denied : EVZK_PERM_READ;
    bool takes = a->what == TP_HIDE;

    tp.hidden = takes && denied & EVZK_PERM_READ;
    tp.hid = tp.hid || takes;
    tp.shown = !takes;
    ens_set_perms(path, (int)(EVZK_PERM_ALL & ~(takes ? denied : 0)));
}

/* What an operator does, or the process itself at its end. */
static void operate(int i)
{
    const struct tp_act *a = &tp.own->act[i];
    char path[160];

    tp_path(path, sizeof path, a->path ? a->path : "");
    sim_say("act %d: %s", i + 1, path);
    if (a->what == TP_DELETE) {
        tp.unlisted = tp.unlisted || strncmp(path, "/t/inbox", 8) == 0;
        operator_delete(path);
    } else if (a->what == TP_CREATE)
        ens_create(path, a->data ? a->data : "x", a->data ? strlen(a->data) : 1,
                   ZOO_PERSISTENT);
    else if (a->what == TP_WRITE) {
        note_write(path);
        ens_set_data(path, "nonsense", 8);
    }
    if (a->what == TP_DECIDE)
        decide(path);
    if (a->what == TP_FREEZE)
        process_freeze(a->proc, sim_now() + FREEZE_US);
    if (a->what == TP_COPY)
        copy();
    if (a->what == TP_HIDE || a->what == TP_GIVE)
        change_rights(a, path);
    if (a->what == TP_SEAL || a->what == TP_OPEN) {
        tp.sealed = a->what == TP_SEAL;
        ens_set_perms(path, (int)(EVZK_PERM_ALL & ~(uint32_t)a->denied));
    }
    if (a->what == TP_SLOW)
        sim_slow(a->proc, true);
    else if ((a->what != TP_DIE && a->what != TP_FREEZE) ||
             !tp.own->sites_remove)
        tp.rough = true;
    if (a->what == TP_LEAVE && tp.slot[a->of - 1].site)
        end(a->of - 1);
    if (a->what == TP_DIE && process_has_session(a->proc)) {
        for (int k = 0; k < TP_ACTS; k++) {
            const struct tp_slot *slot = &tp.slot[k];

            if (k != i && tp.own->act[k].what &&
                tp.own->act[k].proc == a->proc && !slot->tx && !slot->site &&
                !slot->q && !slot->over && !slot->begun)
                tp.slot[k].over = true;
        }
        process_close(a->proc);
    }
    tp.slot[i].begun = true;
    over(i);
}

static void start(intptr_t arg)
{
    int i = (int)arg, rc;
    const struct tp_act *a = &tp.own->act[i];
    const struct process *p = process_of(a->proc);
    struct tp_slot *k = &tp.slot[i];

    if (k->begun || k->over)
        return;
    if (!p->closing && process_opening(a->proc)) {
        scene_timer_set(AGAIN_US, a->proc, start, arg);
        return;
    }
    if (a->what >= TP_DELETE) {
        operate(i);
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
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(AGAIN_US, a->proc, start, arg);
    else
        k->begun = true;
    if (rc != EVZK_OK && !tp_excused(i, rc))
        sim_violation("p%d: act %d: %s", a->proc, i + 1, evzk_errname(rc));
    if (rc == EVZK_ERR_CLOSED)
        over(i);
    if (rc == EVZK_OK && a->what == TP_SITE)
        scene_timer_set(QUIET_US, a->proc, maybe_end, arg);
    else if (rc == EVZK_OK && a->abort_us)
        scene_timer_set(a->abort_us, a->proc, want_abort, arg);
}

/* A site that was freed, or has told its end, does nothing more; and for what
 * the servers hang up at it asks each half minute. */
static bool has_site(void)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (tp.slot[i].site && !ens_shut(tp.own->act[i].proc))
            return true;
    }
    return false;
}

/* The servers hang up at a coordinator's decision, always, or have refused
 * until now what it asks for: it keeps trying, and the sites wait as long as it
 * lives. */
static bool is_in_vain(void)
{
    for (int i = 0; i < TP_ACTS; i++) {
        const struct tp_slot *k = &tp.slot[i];
        int proc = tp.own->act[i].proc;

        if (k->tx && k->refused && !k->told_decided &&
            (ens_shut(proc) ||
             (ens_throttled_at(proc) > sim_now() - REFUSED_US)))
            return true;
    }
    return false;
}

/* The users give up at last what has not ended by itself, and is not about to:
 * what was due a moment ago may have come. */
static void give_up(intptr_t proc)
{
    bool due = tp.due[proc];

    tp.due[proc] = owes_any();
    if (due || tp.due[proc]) {
        scene_timer_set(OWES_AGAIN_US, (int)proc, give_up, proc);
        return;
    }
    for (int i = 0; i < TP_ACTS; i++) {
        const struct tp_act *a = &tp.own->act[i];

        if (!a->what || a->proc != proc || tp.slot[i].over)
            continue;
        tp.last = true;
        tp.deserted = tp.deserted || (has_site() && !is_in_vain());
        if (tp.slot[i].tx || tp.slot[i].site || tp.slot[i].q)
            end(i); /* The rules look whether somebody had to. */
        else
            over(i);
    }
    if (!process_of((int)proc)->closing)
        scene_timer_set(LAST_US / 4, (int)proc, give_up, proc);
}

/* The beginning. */

/* Within a transaction a site deletes whatever has its name. */
static void open_processes(const struct sim_scene *sc)
{
    struct process_config cfg = {.timeout_ms = 1000};

    cfg.chroot = tp.own->chroot;
    for (int p = 0; p < sc->processes; p++) {
        wire_route(p, (p + 1) % SIM_SERVERS);
        process_open(p, &cfg);
        scene_timer_set((tp.own->lasts                           ? LASTS_US
                         : tp.own->given || tp.own->sites_remove ? GIVEN_US
                                                                 : LAST_US) +
                            p * 200000,
                        p, give_up, p);
    }
}

static void make_tree(void)
{
    const struct tp_scene *own = tp.own;
    char path[64];

    if (own->tree || own->foreign || own->denied) {
        static const char *const dirs[] = {"/t", "/t/tx", "/t/coordinators",
                                           "/t/inbox"};

        for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
            ens_create(dirs[i], "", 0, ZOO_PERSISTENT);
        for (int i = 0; i < tp_n_sites(); i++) {
            snprintf(path, sizeof path, "/t/inbox/%c", own->sites[i]);
            ens_create(path, "", 0, ZOO_PERSISTENT);
        }
    }
    if (own->foreign) {
        ens_create("/t/inbox/a/readme", "hello", 5, ZOO_PERSISTENT);
        ens_create("/t/inbox/a/00000000-0000-0000-0000-000000000001", "", 0,
                   ZOO_PERSISTENT);
        ens_create("/t/inbox/a/00000000-0000-0000-0000-000000000002", "", 0,
                   ZOO_PERSISTENT);
        ens_create("/t/tx/00000000-0000-0000-0000-000000000002", "hello", 5,
                   ZOO_PERSISTENT);
    }
    if (own->denied)
        ens_set_perms(own->denied_at, (int)(EVZK_PERM_ALL & ~own->denied));
}

/* When a transaction is decided, who is there matters no more. */
static bool takes(int64_t session, const char *path)
{
    struct ens_seen tx;
    char dir[160];

    (void)session;
    snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
    return ens_look_ahead(dir, &tx) && tx.version > 0;
}

void two_phase_begin(const struct sim_scene *sc)
{
    scene_unhook();
    memset(&tp, 0, sizeof tp);
    tp.own = sc->own;
    ens_removes = scene_any_removes;
    ens_takes = takes;
    ens_on_delete = tp_note_delete;
    ens_begin(&scene_servers);
    make_tree();
    open_processes(sc);
    for (int i = 0; i < TP_ACTS; i++) {
        const struct tp_act *a = &tp.own->act[i];

        tp.slot[i].over = !a->what;
        if (a->what && a->when == TP_AT_ONCE)
            scene_timer_set(a->at_us, a->proc, start, i);
    }
}

/* Acts that wait for something to happen. */
static void start_waiting(void)
{
    for (int i = 0; i < TP_ACTS; i++) {
        const struct tp_act *a = &tp.own->act[i];

        if (!a->what || a->when == TP_AT_ONCE || tp.slot[i].watched ||
            !tp_come_to(a->when))
            continue;
        tp.slot[i].watched = true;
        scene_timer_set(a->at_us + 1, a->proc, start, i);
    }
}

void two_phase_check(void)
{
    tp_check();
    start_waiting();
}

bool two_phase_done(void)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if (!tp.slot[i].over)
            return false;
    }
    return processes_gone();
}

void two_phase_check_end(void)
{
    for (int p = 0; p < SIM_PROCS; p++)
        scene_timer_cancel(give_up, p);
    tp_look();
    tp_check_end();
}

/* What the explorer calls. */

const char *const two_phase_calls[] = {"free", "stop", "abort", "close-session",
                                       NULL};

static int act_of(int proc)
{
    for (int i = 0; i < TP_ACTS; i++) {
        if ((tp.slot[i].tx || tp.slot[i].site || tp.slot[i].q) &&
            tp.own->act[i].proc == proc)
            return i;
    }
    return -1;
}

static bool close_now(int proc)
{
    if (!process_has_session(proc))
        return false;
    tp.rough = true;
    for (int k = 0; k < TP_ACTS; k++) {
        const struct tp_slot *slot = &tp.slot[k];

        if (tp.own->act[k].what && tp.own->act[k].proc == proc && !slot->tx &&
            !slot->site && !slot->q && !slot->begun)
            over(k);
    }
    if (!process_of(proc)->closing)
        process_close(proc);
    return true;
}

static bool abort_some(int act)
{
    for (int k = 0; k < TP_AT; k++) {
        if (tp.at[k].t && tp.at[k].act == act)
            return abort_at(&tp.at[k]);
    }
    return false;
}

bool two_phase_call(int proc, unsigned which)
{
    int i = act_of(proc);

    if (which == 3)
        return close_now(proc);
    if (i < 0)
        return false;
    if (which == 0) {
        end_early(i);
        return true;
    }
    if (tp.slot[i].q)
        return false;
    tp.rough = true;
    if (tp.slot[i].site && which == 2)
        return abort_some(i);
    return stop(i);
}
