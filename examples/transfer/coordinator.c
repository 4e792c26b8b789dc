/* The coordinator: first brings to an end what an earlier one has left, then
 * begins one transfer after the other. */
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>

#include "demo.h"

enum { PAUSE_MS = 50, PATIENCE_MS = 20000, AMOUNT_MAX = 1500 };

static void look(void);
static void begin(void);

static bool recovering; /* The transfer is an earlier coordinator's. */

static bool is_enough(void)
{
    return atomic_load(&self.shared->begun) >= self.opt->transfers &&
           atomic_load(&self.shared->kills) >= self.opt->kills;
}

static void after_ms(int ms, void (*call)(evutil_socket_t, short, void *))
{
    const struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    if (event_base_once(self.base, -1, EV_TIMEOUT, call, NULL, &tv))
        fail("coordinator", "out of memory");
}

static void on_pause(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    look();
}

/* As if by chance, and the same in every run. */
static uint32_t chance(uint32_t i)
{
    i = (i ^ i >> 16) * 0x85ebca6b;
    i = (i ^ i >> 13) * 0xc2b2ae35;
    return i ^ i >> 16;
}

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    (void)vote, (void)arg;
    switch (event) {
    case EVZK_TX_BEGUN:
        come_to(AT_COORDINATOR_BEGUN);
        return;
    case EVZK_TX_VOTE:
        come_to(AT_COORDINATOR_VOTE);
        return;
    case EVZK_TX_DECIDED:
        come_to(AT_COORDINATOR_DECIDED);
        return;
    case EVZK_TX_REFUSED: /* The library asks again. */
        return;
    case EVZK_TX_FAILED:
        /* A site that has not started yet; or it is over, or nobody knows: then
         * the accounts do. */
        if (rc != EVZK_ERR_NONODE && rc != EVZK_ERR_CONNLOSS &&
            rc != EVZK_ERR_NODEGONE)
            check("coordinator", rc);
        evzk_tx_free(tx);
        after_ms(PAUSE_MS, on_pause);
        return;
    case EVZK_TX_FINISHED:
        evzk_tx_free(tx);
        if (recovering || is_enough())
            look();
        else
            begin();
    }
}

static void on_sent(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    come_to(AT_COORDINATOR_SENT);
}

static void begin(void)
{
    uint32_t n = chance(atomic_fetch_add(&self.shared->begun, 1) + 1);
    evzk_tx_options opt = {.variant = self.opt->variant,
                           .sites = SITE,
                           .n_sites = SITES,
                           .timeout_ms = PATIENCE_MS};
    char text[64];
    evzk_tx *tx;

    recovering = false;
    opt.question = text;
    opt.question_len =
        (size_t)snprintf(text, sizeof text, "move %u from %s to %s",
                         n / 2 % AMOUNT_MAX + 1, SITE[n % 2], SITE[!(n % 2)]);
    check("begin",
          evzk_tx_begin(self.s, self.opt->root, &opt, on_tx, NULL, &tx));
    after_ms(1, on_sent);
}

static void recover(const char *id)
{
    const evzk_tx_options opt = {.timeout_ms = PATIENCE_MS};
    evzk_tx *tx;

    recovering = true;
    atomic_fetch_add(&self.shared->recovered, 1);
    check("recover",
          evzk_tx_recover(self.s, self.opt->root, id, &opt, on_tx, NULL, &tx));
}

/* An orphan has no coordinator any more.  Others may become orphans:
 * a dead coordinator's session lasts for a while. */
static void on_look(evzk_tx_query *query, int rc, const evzk_tx_info *v,
                    size_t n, void *arg)
{
    size_t i = 0;

    (void)arg;
    check("look", rc);
    while (i < n && !v[i].orphan)
        i++;
    if (i < n)
        recover(v[i].id);
    else if (n > 0)
        after_ms(PAUSE_MS, on_pause);
    else if (!is_enough())
        begin();
    else
        evzk_session_close(self.s);
    evzk_tx_query_free(query);
}

static void look(void)
{
    evzk_tx_query *query;

    check("look",
          evzk_tx_query_start(self.s, self.opt->root, on_look, NULL, &query));
}

int coordinate(const struct options *opt, struct shared *shared)
{
    process_begin(opt, shared);
    look();
    return process_end();
}
