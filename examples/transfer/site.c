/* A site: votes for transfers as its account permits, and applies them. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>

#include "account.h"
#include "demo.h"

static struct {
    int which;
    evzk_site *site;
    struct account account;
} here;

/* The same moment of either site. */
static void come_to_mine(enum moment moment)
{
    come_to(moment + (here.which == BOB ? AT_BOB_ASKED - AT_ALICE_ASKED : 0));
}

/* "move 5 from alice to bob": what that does to this account; 0: nothing that
 * can be understood. */
static long long change_of(evzk_site_tx *tx)
{
    char text[128], from[16], to[16];
    long long amount;
    size_t len;
    const char *question = evzk_site_tx_question(tx, &len);

    snprintf(text, sizeof text, "%.*s", (int)len, question);
    if (sscanf(text, "move %lld from %15s to %15s", &amount, from, to) != 3)
        return 0;
    if (strcmp(from, SITE[here.which]) == 0)
        return -amount;
    return strcmp(to, SITE[here.which]) == 0 ? amount : 0;
}

/* A promise is durable before the vote is cast; no promise: abort. */
static void vote(evzk_site_tx *tx)
{
    const char *id = evzk_site_tx_id(tx);
    long long change = change_of(tx);
    bool promised = account_find(&here.account, id) != NULL;
    evzk_tx_verdict verdict = EVZK_TX_ABORT;

    come_to_mine(AT_ALICE_ASKED);
    if (promised ||
        (change != 0 && account_free_balance(&here.account) + change >= 0)) {
        if (!account_promise(&here.account, id, change))
            fail(SITE[here.which], "cannot promise");
        come_to_mine(AT_ALICE_PROMISED);
        verdict = EVZK_TX_COMMIT;
    }
    check("vote", evzk_site_tx_vote(tx, verdict, NULL, 0));
}

/* A decision is durable before it is done. */
static void settle(evzk_site_tx *tx)
{
    bool commit = evzk_site_tx_decision(tx) == EVZK_TX_COMMIT;

    come_to_mine(AT_ALICE_HEARD);
    if (!account_settle(&here.account, evzk_site_tx_id(tx), commit))
        fail(SITE[here.which], "cannot settle");
    come_to_mine(AT_ALICE_SETTLED);
    check("done", evzk_site_tx_done(tx));
}

static void on_site(evzk_site *site, evzk_site_event event, evzk_site_tx *tx,
                    int rc, void *arg)
{
    (void)arg;
    switch (event) {
    case EVZK_SITE_QUESTION:
        vote(tx);
        break;
    case EVZK_SITE_VOTED:
        come_to_mine(AT_ALICE_VOTED);
        break;
    case EVZK_SITE_DECIDED:
        settle(tx);
        break;
    case EVZK_SITE_FINISHED:
        account_forget(&here.account, evzk_site_tx_id(tx));
        break;
    case EVZK_SITE_FAILED:
        fail("a transaction at a site", evzk_strerror(rc));
        break;
    case EVZK_SITE_ENDED:
        if (rc != EVZK_ERR_CANCELED)
            check(SITE[here.which], rc);
        evzk_site_free(site);
        evzk_session_close(self.s);
    }
}

static void on_term(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    check("end", evzk_site_cancel(here.site));
}

int be_site(const struct options *opt, struct shared *shared, int which)
{
    struct event *term;
    sigset_t unblock;
    int status;

    here.which = which;
    if (!account_load(&here.account, opt->dir, SITE[which]))
        fail(SITE[which], "cannot read the account");
    process_begin(opt, shared);
    term = evsignal_new(self.base, SIGTERM, on_term, NULL);
    if (!term || evsignal_add(term, NULL))
        fail(SITE[which], "out of memory");
    check("site", evzk_site_start(self.s, opt->root, SITE[which], NULL, on_site,
                                  NULL, &here.site));
    sigemptyset(&unblock);
    sigaddset(&unblock, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &unblock, NULL);
    status = process_end();
    event_free(term);
    account_free(&here.account);
    return status;
}
