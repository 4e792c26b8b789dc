/*
 * The scenario of two-phase commit: a coordinator and two sites commit one
 * transaction, then abort another; the process behind the proxy is the
 * coordinator, or one of the sites.  Must hold whatever the network does: one
 * decision, the same for all; to commit only when both have voted so; and
 * nothing is left.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdio.h>
#include <string.h>

static const char *const parts[] = {"coordinator", "site", "presence", NULL};

enum { SITES = 2, TXS = 2 };
static const char *const names[SITES] = {"near", "far"};

struct at_site {
    evzk_site_tx *t;
    evzk_tx_verdict decision;
    int64_t token;
    bool over;
};

struct commits {
    struct sweep_run *run;
    evzk_site *site[SITES];
    struct at_site at[SITES][TXS];
    char id[TXS][EVZK_TX_ID_LEN + 1];
    evzk_tx *tx[TXS];
    evzk_tx_verdict decision[TXS];
    int64_t token[TXS];
    bool begun[TXS];
    int final[TXS], rc[TXS], started;
    char path[256];
};

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    struct commits *c = arg;
    int i = c->started - 1;

    (void)vote;
    if (event == EVZK_TX_BEGUN)
        c->begun[i] = true;
    if (event == EVZK_TX_DECIDED) {
        if (c->decision[i] != EVZK_TX_NONE)
            sweep_complain(c->run, SWEEP_DOUBLED, "tx %d is decided twice", i);
        c->decision[i] = evzk_tx_decision(tx);
        c->token[i] = evzk_tx_token(tx);
    }
    if (!evzk_tx_event_is_final(event))
        return;
    if (c->final[i])
        sweep_complain(c->run, SWEEP_DOUBLED, "tx %d ends twice", i);
    c->final[i] = (int)event;
    c->rc[i] = rc;
}

/* The far site wants to abort the second transaction. */
static evzk_tx_verdict wish(int site, int tx)
{
    return site == 1 && tx == 1 ? EVZK_TX_ABORT : EVZK_TX_COMMIT;
}

static void on_site(evzk_site *site, evzk_site_event event, evzk_site_tx *t,
                    int rc, void *arg)
{
    struct commits *c = arg;
    int i = site == c->site[1], k = 0;
    struct at_site *at;

    (void)rc;
    if (event == EVZK_SITE_ENDED)
        return;
    while (k < c->started - 1 && strcmp(c->id[k], evzk_site_tx_id(t)) != 0)
        k++;
    at = &c->at[i][k];
    if (event == EVZK_SITE_QUESTION)
        evzk_site_tx_vote(t, wish(i, k), "x", 1);
    if (event == EVZK_SITE_DECIDED) {
        if (at->decision != EVZK_TX_NONE)
            sweep_complain(c->run, SWEEP_DOUBLED, "%s hears twice", names[i]);
        at->decision = evzk_site_tx_decision(t);
        at->token = evzk_site_tx_token(t);
        evzk_site_tx_done(t);
    }
    if (event == EVZK_SITE_FINISHED || event == EVZK_SITE_FAILED)
        at->over = true;
}

static void begin(void *scene, struct sweep_run *run)
{
    struct commits *c = scene;

    c->run = run;
    snprintf(c->path, sizeof c->path, "%s/2pc", run->dir);
    for (int i = 0; i < SITES; i++) {
        evzk_session *s = i == 1 && run->part != 0 ? run->far : run->near;

        if (evzk_site_start(s, c->path, names[i], NULL, on_site, c,
                            &c->site[i]))
            support_fail("sweep: two-phase");
    }
}

static void end(void *scene)
{
    struct commits *c = scene;

    for (int i = 0; i < TXS; i++) {
        evzk_tx_free(c->tx[i]);
        c->tx[i] = NULL;
    }
    for (int i = 0; i < SITES; i++) {
        evzk_site_free(c->site[i]);
        c->site[i] = NULL;
    }
}

static void ask(struct commits *c)
{
    evzk_tx_options opt = {.variant = c->run->part == 2 ? EVZK_TX_PRESENCE
                                                        : EVZK_TX_MEDIATED,
                           .sites = names,
                           .n_sites = SITES,
                           .question = "?",
                           .question_len = 1,
                           .vote_data = true};
    int i = c->started++, rc;

    rc = evzk_tx_begin(c->run->part == 0 ? c->run->far : c->run->near, c->path,
                       &opt, on_tx, c, &c->tx[i]);
    if (rc)
        support_fail("sweep: two-phase: %d", rc);
    strcpy(c->id[i], evzk_tx_id(c->tx[i]));
}

static bool is_ready(const struct commits *c)
{
    for (int i = 0; i < SITES; i++) {
        if (strcmp(evzk_site_state(c->site[i]), "WATCHING") != 0)
            return false;
    }
    return true;
}

/* A transaction that was begun is over when all sites are done with it. */
static bool is_over(const struct commits *c, int i)
{
    if (!c->final[i])
        return false;
    return !c->begun[i] || (c->at[0][i].over && c->at[1][i].over);
}

static bool turn(void *scene)
{
    struct commits *c = scene;

    if (c->started == TXS && is_over(c, TXS - 1)) {
        end(c);
        return true;
    }
    if (c->started == 0 ? is_ready(c)
                        : c->started < TXS && is_over(c, c->started - 1))
        ask(c);
    return false;
}

static void judge_tx(struct commits *c, int i)
{
    bool told = c->decision[i] != EVZK_TX_NONE;

    if (c->final[i] != EVZK_TX_FINISHED && !c->run->may_lose)
        sweep_complain(c->run, SWEEP_WRONG, "tx %d: %s", i,
                       evzk_errname(c->rc[i]));
    if (i == 1 && c->decision[i] == EVZK_TX_COMMIT)
        sweep_complain(c->run, SWEEP_BOTH_HELD, "tx %d is committed", i);
    if (i == 0 && !c->run->may_lose && c->decision[i] != EVZK_TX_COMMIT)
        sweep_complain(c->run, SWEEP_WRONG, "tx %d is not committed", i);
    for (int k = 0; k < SITES && told; k++) {
        if (c->at[k][i].decision != c->decision[i] ||
            c->at[k][i].token != c->token[i])
            sweep_complain(c->run, SWEEP_BOTH_HELD, "tx %d: %s hears another",
                           i, names[k]);
    }
}

static void judge(void *scene)
{
    for (int i = 0; i < TXS; i++)
        judge_tx(scene, i);
}

static void tell(const void *scene, char *text, size_t size)
{
    const struct commits *c = scene;

    snprintf(text, size, "%d begun, the last one %s; sites %s, %s", c->started,
             c->started ? evzk_tx_state(c->tx[c->started - 1]) : "",
             evzk_site_state(c->site[0]), evzk_site_state(c->site[1]));
}

const struct sweep_recipe sweep_two_phase = {.name = "two-phase",
                                             .parts = parts,
                                             .size = sizeof(struct commits),
                                             .keeps = 6,
                                             .share = 20,
                                             .begin = begin,
                                             .turn = turn,
                                             .judge = judge,
                                             .end = end,
                                             .tell = tell};
