/* Sites that commit together, or not at all; the last argument is a vote.
 *
 *     two-phase localhost:2181 /app/2pc site paris commit
 *     two-phase localhost:2181 /app/2pc site tokyo abort
 *     two-phase localhost:2181 /app/2pc ask "Ready?" paris tokyo
 * Exit status of ask: 0 committed; 1 aborted, or an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static struct event_base *base;
static evzk_session *session;
static evzk_tx_verdict verdict; /* Of the site; or the decision. */

static void on_site(evzk_site *site, evzk_site_event event, evzk_site_tx *tx,
                    int rc, void *arg)
{
    size_t len;
    const char *question = evzk_site_tx_question(tx, &len);

    (void)site, (void)arg;
    printf("%s: %.*s: %s, %s\n", evzk_site_event_name(event), (int)len,
           question ? question : "",
           evzk_tx_verdict_name(evzk_site_tx_decision(tx)), evzk_strerror(rc));
    if (event == EVZK_SITE_QUESTION)
        evzk_site_tx_vote(tx, verdict, NULL, 0);
    else if (event == EVZK_SITE_DECIDED)
        evzk_site_tx_done(tx); /* A real site would write to its disk first. */
    else if (event == EVZK_SITE_ENDED)
        evzk_session_close(session);
}

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    (void)arg;
    printf("%s: %s %s, %s\n", evzk_tx_event_name(event), vote ? vote->site : "",
           evzk_tx_verdict_name(vote ? vote->verdict : evzk_tx_decision(tx)),
           evzk_strerror(rc));
    verdict = evzk_tx_decision(tx);
    if (evzk_tx_event_is_final(event))
        evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)rc, (void)arg;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    evzk_tx_options opt = {.timeout_ms = 10000};
    evzk_site *site;
    evzk_tx *tx;

    if (argc < 6 || !(base = event_base_new()) ||
        evzk_session_open(base, argv[1], NULL, on_session, NULL, &session))
        return EXIT_FAILURE;
    opt.question = argv[4];
    opt.question_len = strlen(argv[4]);
    opt.sites = (const char *const *)&argv[5];
    opt.n_sites = (size_t)argc - 5;
    verdict = strcmp(argv[5], "commit") ? EVZK_TX_ABORT : EVZK_TX_COMMIT;
    if (strcmp(argv[3], "site") == 0
            ? evzk_site_start(session, argv[2], argv[4], NULL, on_site, 0,
                              &site)
            : evzk_tx_begin(session, argv[2], &opt, on_tx, NULL, &tx))
        return EXIT_FAILURE;
    event_base_dispatch(base);
    evzk_session_free(session);
    event_base_free(base);
    return verdict == EVZK_TX_COMMIT ? EXIT_SUCCESS : EXIT_FAILURE;
}
