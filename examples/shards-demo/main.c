/*
 * The demonstration of shards: five processes share five thousand.  One more
 * joins, one is killed, one is frozen and goes on, one drains, and a ZooKeeper
 * server is killed.  No shard may have two leaders at a time, and at the end
 * each has one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "demo.h"

static const char USAGE[] =
    "usage: shards-demo [-n SHARDS] [-t SESSION_MS] [-d SECONDS] [-o FILE]\n"
    "                   [-k COMMAND] SERVERS\n"
    "\n"
    "  -n SHARDS      how many (5000; at most 65536)\n"
    "  -t SESSION_MS  session time-out to ask for (4000)\n"
    "  -d SECONDS     give up when one thing takes so long (40)\n"
    "  -o FILE        draw a picture into it (SVG)\n"
    "  -k COMMAND     what kills a ZooKeeper server; without it none is\n"
    "  -h             show this\n"
    "\n"
    "The exit status is 0 when no shard had two leaders at a time, and each "
    "has\n"
    "one at the end.\n";

/* Reads a number from 1 to max. */
static bool number(const char *text, unsigned long max, uint32_t *out)
{
    char *rest;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &rest, 10);
    *out = (uint32_t)n;
    return !errno && *text >= '0' && *text <= '9' && !*rest && n >= 1 &&
           n <= max;
}

static bool set(struct options *opt, int option)
{
    switch (option) {
    case 'n':
        return number(optarg, 65536, &opt->count);
    case 't':
        return number(optarg, 3600000, &opt->session_ms);
    case 'd':
        return number(optarg, 86400, &opt->deadline_s);
    case 'o':
        return (opt->svg = optarg);
    case 'k':
        return (opt->kill = optarg);
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, struct options *opt)
{
    int option;

    while ((option = getopt(argc, argv, "n:t:d:o:k:h")) != -1) {
        if (option == 'h') {
            fputs(USAGE, stdout);
            exit(EXIT_SUCCESS);
        }
        if (!set(opt, option))
            return false;
    }
    opt->servers = argv[optind];
    return optind + 1 == argc;
}

static bool is_right(const struct result *r)
{
    return r->ended && r->doubles == 0 && r->disorder == 0 &&
           r->phase[r->phases - 1].led[NOBODY] == 0;
}

static int demonstrate(const struct options *opt)
{
    struct log log = {0};
    struct result r = {0};
    bool ran, ok;

    if (opt->svg && !svg_writable(opt->svg)) { /* Now, not in half a minute. */
        perror(opt->svg);
        return EXIT_FAILURE;
    }
    printf("%u shards, 5 processes, then 6; session time-out %u ms\n\n",
           opt->count, opt->session_ms);
    fflush(stdout); /* Or each fork would print it again. */
    ran = run(opt, &log);
    ok = judge(&log, opt->count, &r) && ran;
    if (r.ended)
        show_result(&r);
    if (ok && opt->svg && !svg_write(&r, opt->svg)) {
        perror(opt->svg);
        ok = false;
    }
    ok = ok && is_right(&r);
    puts(ok ? "\nNo shard had two leaders, and each has one." : "\nFAILED");
    free(r.sample);
    free(log.said);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    char path[64];
    struct options opt = {
        .count = 5000, .session_ms = 4000, .deadline_s = 40, .path = path};

    snprintf(path, sizeof path, "/shards-demo-%lld-%d", (long long)time(NULL),
             (int)getpid());
    if (!parse(argc, argv, &opt)) {
        fputs(USAGE, stderr);
        return 2;
    }
    return demonstrate(&opt);
}
