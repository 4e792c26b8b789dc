/* How long a site's transaction lasts, and what a site is asked again: with
 * real sessions in the simulated world.  Process 0 is the site, process 1 the
 * coordinator. */
#include "test_session.h"

#include <stdio.h>

#include "evzk/two_phase.h"

static evzk_site_tx *first; /* NULL once it has ended. */
static evzk_site *started[2];
static evzk_tx *txs[2];
static unsigned questions, repeated, ends, failures;
static bool over;
static char voted[EVZK_TX_ID_LEN + 1]; /* Where its vote stands. */

static void on_site(evzk_site *s, evzk_site_event event, evzk_site_tx *t,
                    int rc, void *arg)
{
    (void)s, (void)rc, (void)arg;
    if (event == EVZK_SITE_QUESTION) {
        repeated += strcmp(evzk_site_tx_id(t), voted) == 0;
        first = questions++ == 0 ? t : first;
        if (t == first)
            ck_assert_int_eq(evzk_site_tx_vote(t, EVZK_TX_COMMIT, NULL, 0),
                             EVZK_OK);
    }
    if (event == EVZK_SITE_VOTED)
        strcpy(voted, evzk_site_tx_id(t));
    if (event == EVZK_SITE_FINISHED || event == EVZK_SITE_FAILED) {
        ends++;
        failures += event == EVZK_SITE_FAILED;
        first = t == first ? NULL : first;
    }
    over = over || event == EVZK_SITE_ENDED;
}

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    (void)tx, (void)event, (void)vote, (void)rc, (void)arg;
}

static void begin_tx(int i, const char *other)
{
    const char *sites[] = {"a", other};
    const evzk_tx_options opt = {.sites = sites, .n_sites = other ? 2 : 1};
    int before = sim_enter(1);

    ck_assert_int_eq(
        evzk_tx_begin(process_of(1)->s, "/a", &opt, on_tx, NULL, &txs[i]),
        EVZK_OK);
    sim_leave(before);
}

/* A site that never votes. */
static void on_other(evzk_site *s, evzk_site_event event, evzk_site_tx *t,
                     int rc, void *arg)
{
    (void)s, (void)event, (void)t, (void)rc, (void)arg;
}

static void start_site(int i, const char *name, evzk_site_cb *cb)
{
    int before = sim_enter(0);

    ck_assert_int_eq(evzk_site_start(process_of(0)->s, "/a", name, NULL, cb,
                                     NULL, &started[i]),
                     EVZK_OK);
    sim_leave(before);
}

static void set_up(void)
{
    const struct process_config cfg = {.timeout_ms = 10000};

    ens_removes = NULL;
    first = NULL;
    voted[0] = '\0';
    questions = repeated = ends = failures = 0;
    over = false;
    begin_with_a();
    session_open(&cfg);
    wire_route(1, 2);
    process_open(1, &cfg);
    pass(200 * MS);
    start_site(0, "a", on_site);
    start_site(1, "b", on_other);
    pass(200 * MS);
}

static void close_both(void)
{
    for (int p = 0; p < 2; p++) {
        int before = sim_enter(p);

        if (!process_of(p)->closing)
            process_close(p);
        sim_leave(before);
    }
    pass(3000 * MS);
    for (int i = 0; i < 2; i++) {
        int before = sim_enter(0);

        evzk_site_free(started[i]);
        sim_leave(before);
        before = sim_enter(1);
        evzk_tx_free(txs[i]);
        sim_leave(before);
        started[i] = NULL;
        txs[i] = NULL;
    }
}

/* The answer to the last write comes while the session is being closed: the
 * program hears of the end, and so knows that the transaction is gone. */
START_TEST(ends_while_closing)
{
    int before;

    set_up();
    begin_tx(0, NULL);
    while (evzk_site_tx_decision(first) == EVZK_TX_NONE)
        pass(MS / 10);
    before = sim_enter(0);
    ck_assert_int_eq(evzk_site_tx_done(first), EVZK_OK);
    sim_leave(before);
    while (strcmp(evzk_site_tx_state(first), "ACKNOWLEDGING") != 0)
        pass(MS / 10);
    pass(MS);
    before = sim_enter(0);
    process_close(0);
    sim_leave(before);
    while (!over) {
        if (first)
            ck_assert_str_ne(evzk_site_tx_id(first), "");
        pass(MS / 10);
    }
    ck_assert_uint_eq(ends, 1);
    ck_assert_uint_eq(failures, 0);
    close_both();
}
END_TEST

/* The first look fails for a while, and the site gives the transaction up.
 * When another one comes, the vote that stands is not asked for again. */
START_TEST(no_question_behind_a_vote)
{
    char path[80];

    set_up();
    begin_tx(0, "b");
    pass(200 * MS);
    ck_assert_uint_eq(questions, 1);
    snprintf(path, sizeof path, "/a/tx/%s", evzk_tx_id(txs[0]));
    ck_assert_int_eq(ens_set_perms(path, ZOO_PERM_ALL & ~ZOO_PERM_READ), ZOK);
    wire_cut(wire_conn_of(0));
    pass(1000 * MS);
    ck_assert_uint_eq(failures, 1);
    ens_set_perms(path, ZOO_PERM_ALL);
    begin_tx(1, "b");
    pass(300 * MS);
    ck_assert_uint_eq(questions, 2);
    ck_assert_uint_eq(repeated, 0);
    close_both();
}
END_TEST

UNIT_MAIN("transactions at a site", ends_while_closing,
          no_question_behind_a_vote)
