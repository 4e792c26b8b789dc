/*
 * What a two-phase commit costs, over the number of its sites: the plain
 * variant, in which every site watches all votes, beside the mediated one.
 *
 * A message is a request that a session sends, or a watch event that the server
 * sends.  Requests come from the sessions' figures, less those that only renew
 * a lease.  Events are what the server has sent beyond one answer to each
 * packet that it received.  A transaction is measured from its beginning until
 * all sites are done.  The sites vote in two ways: all at once, as soon as they
 * are asked; or apart, each when all have heard of the vote before.
 */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#include <evzk/evzk.h>

#include "bench.h"
#include "harness.h"
#include "zk.h"

enum { SITES_MAX = 128, ROUNDS = 3, SESSION_MS = 60000, QUIET_MS = 10 };

#define ROOT "/two-phase-cost"
#define JAVA_FLAGS "-Xmx1g"

struct site {
    evzk_session *s;
    evzk_site *site;
    evzk_site_tx *tx;
    char name[16];
};

/* What one transaction has cost. */
struct cost {
    double requests, events, ms;
};

static struct {
    struct event_base *base;
    const char *server;
    evzk_session *s; /* The coordinator's. */
    struct site site[SITES_MAX];
    const char *name[SITES_MAX];
    int connected, closed;
    int asked, decided, done; /* Sites. */
    int64_t decided_ns;
    bool finished; /* The coordinator is. */
    bool at_once;
} all;

void fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("two-phase-cost: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    exit(1);
}

static void check(int rc, const char *what)
{
    if (rc != EVZK_OK)
        fail("%s: %s", what, evzk_strerror(rc));
}

int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * (int64_t)1000000000 + t.tv_nsec;
}

static void await(const int *count, int n)
{
    while (*count < n)
        event_base_loop(all.base, EVLOOP_ONCE);
}

/* ---- Sessions ---- */

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)rc, (void)arg;
    all.connected += event == EVZK_SESSION_CONNECTED;
    all.closed += event == EVZK_SESSION_CLOSED;
    if (event == EVZK_SESSION_EXPIRED)
        fail("a session expired");
}

static evzk_session *open_session(void)
{
    const evzk_session_options opt = {.timeout_ms = SESSION_MS};
    evzk_session *s;

    check(evzk_session_open(all.base, all.server, &opt, on_session, NULL, &s),
          "open");
    return s;
}

static evzk_session *session_of(int i)
{
    return i < SITES_MAX ? all.site[i].s : all.s;
}

static bool busy(void)
{
    for (int i = 0; i <= SITES_MAX; i++) {
        evzk_session_stats st;

        if (!session_of(i))
            continue;
        evzk_session_get_stats(session_of(i), &st);
        if (st.in_flight > 0 || st.queued > 0)
            return true;
    }
    return false;
}

/* Until nothing was asked for a while. */
static void settle(void)
{
    const struct timeval tick = {0, 1000};
    int64_t began = now_ns();

    while (now_ns() - began < QUIET_MS * (int64_t)1000000) {
        event_base_loopexit(all.base, &tick);
        event_base_dispatch(all.base);
        if (busy())
            began = now_ns();
    }
}

static int64_t requests(void)
{
    int64_t n = 0;

    for (int i = 0; i <= SITES_MAX; i++) {
        evzk_session_stats st;

        if (!session_of(i))
            continue;
        evzk_session_get_stats(session_of(i), &st);
        n += (int64_t)(st.requests - st.probes);
    }
    return n;
}

/* Packets that the server sent, less those that it received. */
static int64_t surplus(void)
{
    return mntr_figure(all.server, "zk_packets_sent") -
           mntr_figure(all.server, "zk_packets_received");
}

/* Asking the server for its figures counts, too. */
static int64_t surplus_of_asking(void)
{
    int64_t before = surplus();

    return surplus() - before;
}

/* ---- Sites ---- */

static void on_site(evzk_site *site, evzk_site_event event, evzk_site_tx *tx,
                    int rc, void *arg)
{
    struct site *t = arg;

    (void)site;
    switch (event) {
    case EVZK_SITE_QUESTION:
        all.asked++;
        t->tx = tx;
        if (all.at_once)
            check(evzk_site_tx_vote(tx, EVZK_TX_COMMIT, NULL, 0), "vote");
        break;
    case EVZK_SITE_VOTED:
        break;
    case EVZK_SITE_DECIDED:
        all.decided++;
        all.decided_ns = now_ns();
        check(evzk_site_tx_done(tx), "done");
        break;
    case EVZK_SITE_FINISHED:
        all.done++;
        break;
    case EVZK_SITE_FAILED:
        check(rc, "a transaction at a site");
        break;
    case EVZK_SITE_ENDED:
        break;
    }
}

static void open_all(int n)
{
    all.base = event_base_new();
    if (!all.base)
        fail("out of memory");
    all.s = open_session();
    for (int i = 0; i < n; i++) {
        struct site *t = &all.site[i];

        snprintf(t->name, sizeof t->name, "site-%03d", i);
        all.name[i] = t->name;
        t->s = open_session();
    }
    await(&all.connected, n + 1);
    for (int i = 0; i < n; i++)
        check(evzk_site_start(all.site[i].s, ROOT, all.name[i], NULL, on_site,
                              &all.site[i], &all.site[i].site),
              "site");
    settle();
}

static void close_all(int n)
{
    for (int i = 0; i < n; i++) {
        evzk_site_free(all.site[i].site);
        evzk_session_close(all.site[i].s);
    }
    evzk_session_close(all.s);
    await(&all.closed, n + 1);
    for (int i = 0; i < n; i++)
        evzk_session_free(all.site[i].s);
    evzk_session_free(all.s);
    event_base_free(all.base);
}

/* ---- A transaction ---- */

static void on_tx(evzk_tx *tx, evzk_tx_event event, const evzk_tx_vote *vote,
                  int rc, void *arg)
{
    (void)vote, (void)arg;
    if (event == EVZK_TX_FAILED)
        check(rc, "the transaction");
    if (event == EVZK_TX_DECIDED && evzk_tx_decision(tx) != EVZK_TX_COMMIT)
        fail("it was aborted");
    all.finished |= event == EVZK_TX_FINISHED;
}

/* Each vote when all have heard of the one before. */
static void vote_apart(int n)
{
    await(&all.asked, n);
    for (int i = 0; i < n; i++) {
        settle();
        check(evzk_site_tx_vote(all.site[i].tx, EVZK_TX_COMMIT, NULL, 0),
              "vote");
    }
}

/* Until it has ended everywhere; in ms, until all sites knew the decision. */
static double transact(evzk_tx_variant variant, int n)
{
    const evzk_tx_options opt = {.variant = variant,
                                 .sites = all.name,
                                 .n_sites = (size_t)n,
                                 .question = "Ready?",
                                 .question_len = 6};
    int64_t begun = now_ns();
    evzk_tx *tx;

    all.asked = all.decided = all.done = 0;
    all.finished = false;
    check(evzk_tx_begin(all.s, ROOT, &opt, on_tx, NULL, &tx), "begin");
    if (!all.at_once)
        vote_apart(n);
    await(&all.done, n);
    while (!all.finished)
        event_base_loop(all.base, EVLOOP_ONCE);
    evzk_tx_free(tx);
    return (double)(all.decided_ns - begun) / 1e6;
}

static struct cost cost_of(evzk_tx_variant variant, int n)
{
    int64_t asking = surplus_of_asking(), before = requests();
    int64_t events = surplus();
    struct cost cost;

    cost.ms = transact(variant, n);
    settle();
    cost.requests = (double)(requests() - before);
    cost.events = (double)(surplus() - events - asking);
    return cost;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, compare);
    return v[n / 2];
}

/* The median of some, behind one that nobody counts. */
static struct cost measure(evzk_tx_variant variant, int n, int rounds)
{
    double requests[ROUNDS_MAX], events[ROUNDS_MAX], ms[ROUNDS_MAX];

    transact(variant, n);
    settle();
    for (int k = 0; k < rounds; k++) {
        struct cost cost = cost_of(variant, n);

        requests[k] = cost.requests;
        events[k] = cost.events;
        ms[k] = cost.ms;
    }
    return (struct cost){median(requests, rounds), median(events, rounds),
                         median(ms, rounds)};
}

/* ---- The table ---- */

enum { PLAIN, MEDIATED, VARIANTS };

static double messages(const struct cost *c) { return c->requests + c->events; }

static void print_row(int n, struct cost apart[VARIANTS],
                      struct cost at_once[VARIANTS])
{
    printf("| %d |", n);
    for (int v = 0; v < VARIANTS; v++)
        printf(" %.0f (%.0f + %.0f) |", messages(&apart[v]), apart[v].requests,
               apart[v].events);
    for (int v = 0; v < VARIANTS; v++)
        printf(" %.0f |", messages(&at_once[v]));
    for (int v = 0; v < VARIANTS; v++)
        printf(" %.1f |", at_once[v].ms);
    printf("\n");
    fflush(stdout);
}

static void write_row(FILE *f, int n, const char *way, const char *variant,
                      const struct cost *c)
{
    fprintf(f, "%d\t%s\t%s\t%.0f\t%.0f\t%.3f\n", n, way, variant, c->requests,
            c->events, c->ms);
    fflush(f);
}

static void measure_sites(int n, int rounds, FILE *tsv)
{
    static const evzk_tx_variant VARIANT[] = {EVZK_TX_PLAIN, EVZK_TX_MEDIATED};
    static const char *const NAME[] = {"plain", "mediated"};
    struct cost cost[2][VARIANTS];

    for (int at_once = 0; at_once < 2; at_once++) {
        all.at_once = at_once;
        for (int v = 0; v < VARIANTS; v++) {
            cost[at_once][v] = measure(VARIANT[v], n, at_once ? rounds : 1);
            if (tsv)
                write_row(tsv, n, at_once ? "at-once" : "apart", NAME[v],
                          &cost[at_once][v]);
        }
    }
    print_row(n, cost[0], cost[1]);
}

static int number(const char *text, int max)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || n < 1 || n > max)
        fail("%s: not a number that can be", text);
    return (int)n;
}

int main(int argc, char **argv)
{
    int max = SITES_MAX, rounds = ROUNDS, c;
    FILE *tsv = NULL;
    struct zk *zk;

    while ((c = getopt(argc, argv, "n:r:o:")) != -1)
        if (c == 'n')
            max = number(optarg, SITES_MAX);
        else if (c == 'r')
            rounds = number(optarg, ROUNDS_MAX);
        else if (c != 'o' || !(tsv = fopen(optarg, "we")))
            fail("usage: two_phase_cost [-n SITES] [-r ROUNDS] [-o FIGURES]");
    zk = zk_start(
        &(struct zk_config){.tick_ms = 2000, .java_flags = JAVA_FLAGS});
    all.server = zk_server(zk, 0);
    open_all(max);
    printf("| sites | apart: plain, messages (requests + events) | mediated | "
           "at once: plain, messages | mediated | plain, ms | mediated, ms |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n");
    for (int n = 2; n <= max; n *= 2)
        measure_sites(n, rounds, tsv);
    close_all(max);
    zk_stop(zk);
    return tsv && fclose(tsv) != 0;
}
