/* The herd: what one release costs, with the simplest lock and with evzk's:
 *
 *     herd localhost:2181
 *     herd localhost:2181 10 100
 *
 * All waiters are in this process, and share ten sessions; each has a watch of
 * its own.  Wake-ups are counted where they arrive, requests where they are
 * sent.  The locks are below the root, named after this process, and go.
 */
#include <stdio.h>
#include <stdlib.h>

#include "herd.h"

/* A thousand waiters of the naive lock make 500,500 wake-ups, and a million
 * requests: of such a long queue only the first releases are measured. */
enum { WAITERS_MAX = 10000, WHOLE = 200, FIRST = 50 };

void herd_fail(const char *what, const char *why)
{
    fprintf(stderr, "herd: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void print_head(void)
{
    printf("%8s | %-31s | %s\n"
           "%8s | %9s %10s %10s | %9s %10s %10s\n",
           "", "the naive lock", "evzk", "waiters", "releases", "wake-ups",
           "requests", "releases", "wake-ups", "requests");
}

static void print_costs(const struct herd *h)
{
    printf(" | %9d %10.1f %10.1f", h->releases, (double)h->wakes / h->releases,
           (double)h->requests / h->releases);
}

static void print_row(const char *servers, int waiters)
{
    struct herd naive = {.waiters = waiters, .wanted = waiters}, evzk = naive;

    if (waiters > WHOLE)
        naive.wanted = FIRST;
    herd_naive(servers, &naive);
    herd_evzk(servers, &evzk);
    printf("%8d", waiters);
    print_costs(&naive);
    print_costs(&evzk);
    putchar('\n');
    fflush(stdout);
}

static int to_waiters(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || n < 1 || n > WAITERS_MAX)
        herd_fail(text, "not a number of waiters; herd SERVERS [WAITERS...]");
    return (int)n;
}

int main(int argc, char **argv)
{
    static const int usual[] = {10, 100, 1000};

    if (argc < 2)
        herd_fail("usage", "herd SERVERS [WAITERS...]");
    print_head();
    for (int i = 2; i < argc; i++)
        print_row(argv[1], to_waiters(argv[i]));
    for (size_t i = 0; argc == 2 && i < sizeof usual / sizeof usual[0]; i++)
        print_row(argv[1], usual[i]);
    printf("\n"
           "Wake-ups and requests are of one release, on average, from the "
           "first until each\n"
           "has had the lock; with more than %d waiters the naive lock is "
           "stopped after %d\n"
           "releases.  A release of it wakes all who still wait, to serve "
           "one, and each of\n"
           "them asks twice.  A release of evzk's wakes the next, and nobody "
           "else.\n",
           WHOLE, FIRST);
    return EXIT_SUCCESS;
}
