/* Conformance in the simulated world: one process, one server, and a loop that
 * lets the earliest thing happen until what was waited for is there. */
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>

#include "ens.h"
#include "steps.h"
#include "wire.h"
#include "world.h"

/* As in the snapshot that the real server begins with. */
enum { END_NEXT = 2147483637, TURNS = 1000000 };

static void give_up(const char *why)
{
    fflush(stdout);
    fprintf(stderr, "conform-sim: %s\n", why);
    exit(3);
}

static void print_line(const char *line, void *arg)
{
    (void)arg;
    fprintf(stderr, "%s\n", line);
}

/* The operations are those of no recipe: they delete whatever there is. */
static bool takes_any(int64_t session, const char *path)
{
    (void)session;
    (void)path;
    return true;
}

const char *platform_begin(uint64_t seed, const char *servers)
{
    struct ens_config cfg = {.servers = 1,
                             .tick_ms = 2000,
                             .quirk_end = true,
                             .commit_us = 2000,
                             .link_us = 1000,
                             .patience_us = 1000000};

    sim_world_begin(seed);
    if (getenv("CONFORM_TRACE"))
        sim_talk(print_line, NULL);
    ens_takes = takes_any;
    ens_begin(&cfg);
    ens_create("/end", "", 0, ZOO_PERSISTENT);
    ens_set_sequence("/end", END_NEXT);
    sim_enter(0);
    return servers ? servers : "127.0.0.1:2181";
}

/* When it wants to be looked at again; -1: it did something. */
static int64_t drive(zhandle_t *zh)
{
    struct timeval tv = {0, 0};
    int fd = -1, interest = 0, conn, what = 0;
    int64_t at, readable;

    zookeeper_interest(zh, &fd, &interest, &tv);
    at = sim_now() + tv.tv_sec * INT64_C(1000000) + tv.tv_usec;
    if (fd < 0)
        return at;
    conn = fd - WIRE_FD;
    if ((interest & ZOOKEEPER_READ) && wire_readable(conn))
        what |= ZOOKEEPER_READ;
    if ((interest & ZOOKEEPER_WRITE) && wire_state(conn) != WIRE_CONNECTING)
        what |= ZOOKEEPER_WRITE;
    if (what) {
        zookeeper_process(zh, what);
        return -1;
    }
    readable = wire_readable_at(conn);
    return readable < at ? readable : at;
}

static void pass_time(int64_t until)
{
    struct sim_step step;

    if (sim_next(&step) && step.at <= until)
        sim_do(&step);
    else if (until == INT64_MAX)
        give_up("nothing will ever happen");
    else if (until > sim_now())
        sim_set_now(until);
}

void platform_wait(zhandle_t *const *zh, unsigned n, bool (*done)(void))
{
    for (unsigned turns = 0; !done(); turns++) {
        int64_t until = INT64_MAX;

        for (unsigned i = 0; i < n && until >= 0; i++) {
            int64_t at = drive(zh[i]);

            until = at < until ? at : until;
        }
        if (n == 0) /* For an answer that is looked for by hand. */
            until = sim_now() + WIRE_US;
        if (until >= 0)
            pass_time(until);
        if (sim_violated())
            give_up(sim_violated());
        if (turns == TURNS)
            give_up("no answer");
    }
}
