/*
 * What sequencers are for: a file server that takes writes from whichever
 * process holds a lock, and refuses the late write of one that held it before.
 *
 *     primary serve localhost:2181 127.0.0.1:7000 /tmp/journal
 *     primary run localhost:2181 127.0.0.1:7000 anna
 *     primary run -f 5 localhost:2181 127.0.0.1:7000 bert
 *
 * Stop anna with Ctrl-C.  Then bert writes, and freezes between a look at the
 * lease and the write.  Start anna again, and wait until she writes.  Then wake
 * bert (fg, or kill -CONT): his late write is refused.  With "serve -x" the
 * late write is taken.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "primary.h"

static const char USAGE[] =
    "usage: primary serve [-x | -s] [-p PATH] [-t MS] SERVERS ADDRESS[:PORT] "
    "FILE\n"
    "       primary run [-f N] [-i MS] [-p PATH] [-t MS] SERVERS ADDRESS:PORT "
    "NAME\n"
    "\n"
    "serve appends TEXT to FILE when it is sent \"WRITE SEQUENCER TEXT\", and\n"
    "answers OK or REFUSED; without a port it takes a free one.  run waits for "
    "the\n"
    "lock, and sends a write now and then while it holds the lock.\n"
    "\n"
    "  -x       do not check sequencers\n"
    "  -s       check them by what was seen of the lock's queue, and ask "
    "ZooKeeper\n"
    "           only where that is unknown\n"
    "  -f N     freeze (SIGSTOP) just before the N-th write goes out\n"
    "  -i MS    from one write to the next (1000)\n"
    "  -p PATH  of the lock's file in ZooKeeper (/evzk-example/primary)\n"
    "  -t MS    session time-out to ask for (10000)\n"
    "  -h       show this\n";

static bool number(const char *text, uint32_t *out)
{
    char *rest;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &rest, 10);
    *out = (uint32_t)n;
    return !errno && *text >= '0' && *text <= '9' && !*rest && n >= 1 &&
           n <= 3600000;
}

static bool set(struct options *opt, int option)
{
    switch (option) {
    case 'x':
        opt->unchecked = true;
        return true;
    case 's':
        opt->seen = true;
        return true;
    case 'p':
        opt->path = optarg;
        return true;
    case 'f':
        return number(optarg, &opt->freeze_at);
    case 'i':
        return number(optarg, &opt->pace_ms);
    case 't':
        return number(optarg, &opt->session_ms);
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, const char *known, struct options *opt)
{
    int option;

    while ((option = getopt(argc, argv, known)) != -1) {
        if (option == 'h') {
            fputs(USAGE, stdout);
            exit(EXIT_SUCCESS);
        }
        if (!set(opt, option))
            return false;
    }
    if (optind + 3 != argc)
        return false;
    opt->servers = argv[optind];
    opt->address = argv[optind + 1];
    opt->last = argv[optind + 2];
    return true;
}

int main(int argc, char **argv)
{
    struct options opt = {
        .path = "/evzk-example/primary", .session_ms = 10000, .pace_ms = 1000};

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "serve") == 0 &&
        parse(argc - 1, argv + 1, "xsp:t:h", &opt))
        return serve(&opt);
    if (argc > 1 && strcmp(argv[1], "run") == 0 &&
        parse(argc - 1, argv + 1, "f:i:p:t:h", &opt))
        return run(&opt);
    fputs(USAGE, stderr);
    return 2;
}
