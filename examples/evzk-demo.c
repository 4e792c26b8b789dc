/*
 * The demonstration: ten thousand locks on one thread.
 *
 * Process A, with one thread and one session, takes all locks.  Process B
 * queues for each of them.  A's connection is cut, and A must keep every lock.
 * Then A releases them, and every one must pass to B.
 *
 * This file is the parent.  It starts A and B, leads them through the phases,
 * watches their progress, and judges the counts at the end.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <evzk/error.h>

#include "demo.h"

#define REDRAW_MS 100
#define LEAVE_US 5000000u /* How long a worker may take to go. */
#define LOCKS_MAX 100000  /* Five digits in their names. */

struct parent {
    const struct demo_options *opt;
    struct demo_shared *shared;
    pid_t pid[ROLES];
    int channel[ROLES];
    bool done[ROLES]; /* With the phase that is on. */
    struct demo_result result;
    uint64_t began_us;    /* The phase. */
    uint64_t progress_us; /* When a figure last moved, ... */
    size_t progress;      /* ... and their sum then. */
};

static volatile sig_atomic_t interrupted;

static void interrupt(int sig) { interrupted = sig; }

/* Starting the workers --------------------------------------------------- */

/* Both are forked before there is any event_base or session: neither may be
 * used on both sides of a fork. */
static bool start(struct parent *p, enum demo_role role)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return false;
    p->pid[role] = fork();
    if (p->pid[role] == 0) {
        for (int r = 0; r < (int)role; r++)
            close(p->channel[r]); /* Else A would not see the parent end. */
        close(pair[0]);
        exit(worker_run(p->opt, role, p->shared, pair[1]));
    }
    close(pair[1]);
    p->channel[role] = pair[0];
    return p->pid[role] > 0;
}

static struct demo_shared *share(size_t locks)
{
    struct demo_shared *shared;
    size_t size = sizeof *shared + locks * sizeof shared->slot[0];

    shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return NULL;
    memset(shared, 0, size); /* In memory from now on: none of it is a cost. */
    return shared;
}

/* Watching them ---------------------------------------------------------- */

/* How far the phase is: what the bar shows. */
static size_t done_in(const struct demo_shared *s, enum demo_phase phase)
{
    const struct demo_worker *a = &s->worker[ROLE_A];
    const struct demo_worker *b = &s->worker[ROLE_B];

    switch (phase) {
    case PHASE_CONNECT:
        return a->connected + b->connected;
    case PHASE_TAKE:
        return a->granted;
    case PHASE_QUEUE:
        return b->waiting;
    case PHASE_CUT:
        return a->resumed;
    case PHASE_PASS:
        return b->granted;
    case PHASE_DROP:
        return b->released;
    case PHASE_CLOSE:
        return a->closed + b->closed;
    case PHASES:
        break;
    }
    return 0;
}

static size_t all_in(const struct demo_options *opt, enum demo_phase phase)
{
    return phase == PHASE_CONNECT || phase == PHASE_CLOSE ? ROLES : opt->locks;
}

static size_t progress(const struct demo_shared *s)
{
    size_t sum = s->worker[ROLE_A].released; /* The bars do not show it. */

    for (enum demo_phase phase = 0; phase < PHASES; phase++)
        sum += done_in(s, phase);
    return sum;
}

static bool is_stuck(struct parent *p)
{
    uint64_t now = meter_now_us();
    size_t sum = progress(p->shared);

    if (sum != p->progress)
        p->progress_us = now;
    p->progress = sum;
    return now - p->progress_us > (uint64_t)p->opt->deadline_s * 1000000u;
}

/* Says what went wrong with a worker, if anything did. */
static bool has_trouble(const struct parent *p, enum demo_role role)
{
    const struct demo_worker *w = &p->shared->worker[role];
    const char *what = atomic_load(&w->trouble);
    int rc = atomic_load(&w->trouble_rc);

    if (!what)
        return false;
    ui_clear();
    fprintf(stderr, "evzk-demo: %c: %s%s%s\n", role == ROLE_A ? 'A' : 'B', what,
            rc ? ": " : "", rc ? evzk_strerror(rc) : "");
    return true;
}

/* True when the demonstration cannot go on; it has said why. */
static bool must_stop(struct parent *p, enum demo_phase phase)
{
    if (has_trouble(p, ROLE_A) || has_trouble(p, ROLE_B))
        return true;
    if (interrupted) {
        ui_clear();
        fprintf(stderr, "evzk-demo: interrupted\n");
        return true;
    }
    if (!is_stuck(p))
        return false;
    ui_clear();
    fprintf(stderr, "evzk-demo: stuck in \"%s\": no progress in %u s\n",
            ui_phase_name(phase), p->opt->deadline_s);
    return true;
}

/* Leading them ----------------------------------------------------------- */

/* Takes a worker's word that it is done; false when it is gone instead. */
static bool hear(struct parent *p, enum demo_role role)
{
    unsigned char byte;

    if (recv(p->channel[role], &byte, 1, 0) == 1) {
        p->done[role] = true;
        return true;
    }
    ui_clear();
    fprintf(stderr, "evzk-demo: process %c ended\n",
            role == ROLE_A ? 'A' : 'B');
    return false;
}

static bool wait_for_word(struct parent *p)
{
    struct pollfd fds[ROLES];

    for (int r = 0; r < ROLES; r++)
        fds[r] = (struct pollfd){.fd = p->channel[r], .events = POLLIN};
    if (poll(fds, ROLES, REDRAW_MS) < 0)
        return errno == EINTR;
    for (int r = 0; r < ROLES; r++)
        if (fds[r].revents && !hear(p, (enum demo_role)r))
            return false;
    return true;
}

static void begin(struct parent *p, enum demo_phase phase)
{
    unsigned char byte = (unsigned char)phase;

    p->began_us = p->progress_us = meter_now_us();
    for (int r = 0; r < ROLES; r++) {
        p->done[r] = false;
        send(p->channel[r], &byte, 1, MSG_NOSIGNAL);
    }
}

static bool run_phase(struct parent *p, enum demo_phase phase)
{
    size_t all = all_in(p->opt, phase);
    uint64_t us = 0;

    begin(p, phase);
    while (!p->done[ROLE_A] || !p->done[ROLE_B]) {
        if (!wait_for_word(p) || must_stop(p, phase))
            return false;
        us = meter_now_us() - p->began_us;
        ui_bar(phase, done_in(p->shared, phase), all, us);
    }
    ui_phase_end(phase, done_in(p->shared, phase), all, us);
    p->result.phase_us[phase] = us;
    p->result.ended = phase + 1;
    return true;
}

/* Hangs up, which makes a worker close its session and end. */
static void dismiss(struct parent *p, enum demo_role role)
{
    static const struct timespec pause = {0, 1000000};
    uint64_t by = meter_now_us() + LEAVE_US;

    close(p->channel[role]);
    while (waitpid(p->pid[role], NULL, WNOHANG) == 0) {
        if (meter_now_us() > by)
            kill(p->pid[role], SIGKILL);
        nanosleep(&pause, NULL);
    }
}

/* The verdict ------------------------------------------------------------ */

static bool is_right(const struct parent *p)
{
    const struct demo_worker *a = &p->result.worker[ROLE_A];
    const struct demo_worker *b = &p->result.worker[ROLE_B];
    size_t n = p->opt->locks;

    return p->result.ended == PHASES && a->granted == n && b->waiting == n &&
           a->resumed == n && a->kept == n && a->released == n &&
           b->granted == n && b->released == n && a->lost + b->lost == 0 &&
           b->early == 0 && b->disorder == 0 && a->closed && b->closed;
}

static void run(struct parent *p)
{
    bool ok = start(p, ROLE_A) && start(p, ROLE_B);

    if (!ok)
        perror("evzk-demo: cannot start a process");
    for (enum demo_phase phase = 0; ok && phase < PHASES; phase++)
        ok = run_phase(p, phase);
    /* Now: what they do when dismissed in the middle is not to be judged. */
    memcpy(p->result.worker, p->shared->worker, sizeof p->result.worker);
    for (int r = 0; r < ROLES; r++)
        if (p->pid[r] > 0)
            dismiss(p, (enum demo_role)r);
}

static int demonstrate(const struct demo_options *opt)
{
    struct parent p = {.opt = opt, .shared = share(opt->locks)};

    if (!p.shared) {
        perror("evzk-demo: no memory");
        return EXIT_FAILURE;
    }
    p.result.opt = opt;
    printf("%zu locks in /evzk-demo/%s on %s\n\n", opt->locks, opt->run,
           opt->servers);
    fflush(stdout); /* Or each fork would print it again. */
    run(&p);
    ui_table(&p.result);
    puts(is_right(&p) ? "\nEvery count is right." : "\nFAILED");
    return is_right(&p) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* The command line ------------------------------------------------------- */

static const char USAGE[] =
    "usage: evzk-demo [-n LOCKS] [-t SESSION_MS] [-d SECONDS] [-v] SERVERS\n"
    "\n"
    "  -n LOCKS       how many locks at once (10000; at most 100000)\n"
    "  -t SESSION_MS  session time-out to ask for (10000)\n"
    "  -d SECONDS     give up after so long without progress (300)\n"
    "  -v             show the library's log on stderr\n"
    "  -h             show this\n"
    "\n"
    "SERVERS is host:port, or several of them with commas between.  The exit\n"
    "status is 0 when every lock was granted, kept and handed over.\n";

/* Reads a number from 1 to max. */
static bool number(const char *text, unsigned long max, unsigned long *out)
{
    char *rest;

    errno = 0;
    *out = strtoul(text, &rest, 10);
    return !errno && *text >= '0' && *text <= '9' && !*rest && *out >= 1 &&
           *out <= max;
}

static bool set(struct demo_options *opt, int option)
{
    unsigned long n = 0;

    switch (option) {
    case 'n':
        return number(optarg, LOCKS_MAX, &n) && (opt->locks = n);
    case 't':
        return number(optarg, 3600000, &n) && (opt->session_ms = (uint32_t)n);
    case 'd':
        return number(optarg, 86400, &n) && (opt->deadline_s = (uint32_t)n);
    case 'v':
        return (opt->verbose = true);
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, struct demo_options *opt)
{
    int option;

    while ((option = getopt(argc, argv, "n:t:d:vh")) != -1) {
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

int main(int argc, char **argv)
{
    const struct sigaction on_interrupt = {.sa_handler = interrupt};
    char name[48];
    struct demo_options opt = {
        .locks = 10000, .session_ms = 10000, .deadline_s = 300, .run = name};

    snprintf(name, sizeof name, "%lld-%d", (long long)time(NULL),
             (int)getpid());
    if (!parse(argc, argv, &opt)) {
        fputs(USAGE, stderr);
        return 2;
    }
    sigaction(SIGINT, &on_interrupt, NULL);
    sigaction(SIGTERM, &on_interrupt, NULL);
    return demonstrate(&opt);
}
