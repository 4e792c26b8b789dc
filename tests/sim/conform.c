/* The conformance program: random operations of a few sessions, and what came
 * of them.
 *
 * A few requests of one session go out together, and are answered, before
 * another session's turn.  That one first reads something, alone: so the watch
 * events that are due to it have come before it goes on.  So a real server,
 * too, does everything in one order, and its client hears of it in one order.
 * While it is not its turn a session's handle rests. */
#include "conform.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/net.h"

static uint64_t state;
static unsigned long operations;
static int acted = -1; /* The last session that did something. */

/* splitmix64 */
static uint64_t next_random(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

unsigned pick(unsigned n) { return (unsigned)((next_random() >> 16) % n); }

static bool none_pending(void) { return requests_pending() == 0; }

/* Other sessions may have done something that this one hears of. */
static void catch_up(int slot)
{
    if (slot != acted)
        lives_barrier(slot);
    acted = slot;
}

static int fd_of(int slot)
{
    struct timeval tv;
    int fd, interest;

    zookeeper_interest(slots[slot].zh, &fd, &interest, &tv);
    return fd;
}

/* A real server reads it apart from the other requests: so it goes alone. */
static void run_auth(int slot)
{
    catch_up(slot);
    do_add_auth(slot);
    operations++;
    platform_wait(&slots[slot].zh, 1, none_pending);
    told_flush(slot, false);
}

static void run_batch(int slot)
{
    int fd;

    catch_up(slot);
    fd = fd_of(slot);
    evzk__net_cork(fd, true);
    evict(slot);
    for (unsigned n = 1 + pick(10); n > 0; n--) {
        operations++;
        if (!do_something(slot))
            break;
    }
    evzk__net_cork(fd, false);
    platform_wait(&slots[slot].zh, 1, none_pending);
    told_flush(slot, false);
}

static void settle(bool sort)
{
    for (int i = 0; i < CONFORM_SLOTS; i++) {
        lives_barrier(i);
        told_flush(i, sort);
    }
}

/* The nodes of a session go in any order: its watch events are sorted. */
static void run_life(int slot)
{
    unsigned how = pick(10);

    settle(false);
    acted = -1;
    operations++;
    if (how == 0)
        lives_expire(slot);
    else if (how == 1)
        lives_spoil_auth(slot);
    else
        lives_close(slot);
    settle(true);
    lives_open(slot);
    told_flush(slot, false);
}

static void run(unsigned long wanted)
{
    for (int i = 0; i < CONFORM_SLOTS; i++)
        lives_open(i);
    do_base(0);
    platform_wait(&slots[0].zh, 1, none_pending);
    for (operations = 1; operations < wanted;) {
        int slot = (int)pick(CONFORM_SLOTS);

        if (pick(50) == 0)
            run_life(slot);
        else if (pick(25) == 0)
            run_auth(slot);
        else
            run_batch(slot);
    }
    settle(false);
    for (int i = 0; i < CONFORM_SLOTS; i++) {
        lives_close(i);
        settle(true);
    }
    printf("operations=%lu sessions=%lu watch_events=%lu return_codes=%d\n",
           operations, lives_opened(), lives_events(), tell_return_codes());
}

static unsigned long number(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);

    if (*text == '\0' || *end != '\0') {
        fprintf(stderr, "conform: not a number: %s\n", text);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"seed", required_argument, NULL, 's'},
        {"ops", required_argument, NULL, 'o'},
        {"servers", required_argument, NULL, 'z'},
        {NULL, 0, NULL, 0}};
    unsigned long seed = 1, ops = 1000;
    const char *servers = NULL;
    int c;

    while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (c == 's')
            seed = number(optarg);
        else if (c == 'o')
            ops = number(optarg);
        else if (c == 'z')
            servers = optarg;
        else
            return 2;
    }
    state = seed;
    conform_servers = platform_begin(seed, servers);
    run(ops);
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 3;
}
