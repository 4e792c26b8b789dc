/* evzk's two-phase commit, used as the manual says: sites and coordinators
 * share one session. */
#include "library.h"

static struct {
    struct run *run;
    evzk_site *site[TWO_PHASE_SITES];
    char root[PATH_SIZE];
} self;

static const char *const NAME[TWO_PHASE_SITES] = {"s0", "s1", "s2"};

static void on_site(evzk_site *site, evzk_site_event event, evzk_site_tx *tx,
                    int rc, void *arg)
{
    (void)site, (void)arg;
    switch (event) {
    case EVZK_SITE_QUESTION:
        library_check(evzk_site_tx_vote(tx, EVZK_TX_COMMIT, NULL, 0), "vote");
        break;
    case EVZK_SITE_DECIDED:
        library_check(evzk_site_tx_done(tx), "done");
        break;
    case EVZK_SITE_VOTED:
    case EVZK_SITE_FINISHED:
        break;
    case EVZK_SITE_FAILED:
    case EVZK_SITE_ENDED:
        if (!self.run->ending)
            fail("evzk: a site: %s", evzk_strerror(rc));
    }
}

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    int i = (int)(intptr_t)arg;

    (void)vote;
    switch (event) {
    case EVZK_TX_BEGUN:
    case EVZK_TX_VOTE:
    case EVZK_TX_REFUSED:
        break;
    case EVZK_TX_DECIDED:
        if (evzk_tx_decision(tx) != EVZK_TX_COMMIT)
            fail("evzk: a transaction was aborted");
        run_granted(self.run, i);
        break;
    case EVZK_TX_FINISHED:
        evzk_tx_free(tx);
        run_released(self.run, i);
        break;
    case EVZK_TX_FAILED:
        fail("evzk: a transaction: %s", evzk_strerror(rc));
    }
}

static void open_sites(struct run *r, const char *servers)
{
    self.run = r;
    library_open(r, servers);
    run_path(r, 0, self.root);
    for (int k = 0; k < TWO_PHASE_SITES; k++)
        library_check(evzk_site_start(library, self.root, NAME[k], NULL,
                                      on_site, NULL, &self.site[k]),
                      "site");
}

static void begin(int i)
{
    const evzk_tx_options opt = {.sites = NAME,
                                 .n_sites = TWO_PHASE_SITES,
                                 .question = TWO_PHASE_QUESTION,
                                 .question_len = sizeof TWO_PHASE_QUESTION - 1};
    evzk_tx *tx;

    library_check(evzk_tx_begin(library, self.root, &opt, on_tx,
                                (void *)(intptr_t)i, &tx),
                  "begin");
}

static void end(void)
{
    for (int k = 0; k < TWO_PHASE_SITES; k++)
        evzk_site_free(self.site[k]);
    library_close();
}

const struct way way_evzk_two_phase = {.name = "evzk",
                                       .makes_dirs = true,
                                       .open = open_sites,
                                       .acquire = begin,
                                       .busy = library_busy,
                                       .connected = library_connected,
                                       .close = end,
                                       .watches = library_watches};
