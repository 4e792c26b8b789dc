/*
 * The demonstration of queues: producers put a million items, consumers claim
 * and finish them.  All the time consumers are killed, and ZooKeeper servers,
 * too; or these stand still.  At the end each item must have been finished,
 * none may have had two consumers at a time, and no consumer may have been idle
 * while items waited.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "demo.h"

static const char USAGE[] =
    "usage: queue-demo [-n ITEMS] [-p PRODUCERS] [-c CONSUMERS] [-x KILL_MS]\n"
    "                  [-k COMMAND] [-y SERVER_MS] [-s COMMAND] [-w PAUSE_MS]\n"
    "                  [-t SESSION_MS] [-i IDLE_MS] [-d SECONDS] SERVERS\n"
    "\n"
    "  -n ITEMS       how many (1000000)\n"
    "  -p PRODUCERS   processes that put them (4)\n"
    "  -c CONSUMERS   processes that take them (4)\n"
    "  -x KILL_MS     kill a consumer so often (1000)\n"
    "  -k COMMAND     kills a ZooKeeper server and starts it again\n"
    "  -y SERVER_MS   run that so often (10000)\n"
    "  -s COMMAND     has a ZooKeeper server stand still for a while\n"
    "  -w PAUSE_MS    run that so often (10000)\n"
    "  -t SESSION_MS  session time-out to ask for (4000)\n"
    "  -i IDLE_MS     a consumer may be told of no item for so long while "
    "items\n"
    "                 wait (30000)\n"
    "  -d SECONDS     give up after so long (900)\n"
    "  -h             show this\n"
    "\n"
    "The exit status is 0 when each item was finished, and none of them had "
    "two\n"
    "consumers at a time, and no consumer was idle.\n";

enum { TICK_MS = 50 };

static volatile sig_atomic_t interrupted;

static struct {
    struct options opt;
    struct history *h;
    pid_t producer[PROCESSES_MAX], consumer[PROCESSES_MAX];
    struct disturber {
        pid_t pid; /* Of its command; or 0. */
        uint32_t runs;
        int64_t last_ms;
    } killer, pauser;
    int64_t told_ms[PROCESSES_MAX]; /* When each consumer was told last... */
    uint32_t told[PROCESSES_MAX];   /* of an item; and of how many by then. */
    uint32_t idle_ms;               /* The longest that one was idle. */
    uint32_t life[PROCESSES_MAX];   /* Of each consumer. */
    uint32_t lives, kills;
    bool trouble;
} all;

static void interrupt(int sig) { interrupted = sig; }

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* There is no event_base and no session in the parent: a child gets none. */
static pid_t start(int (*run)(const struct options *, struct history *,
                              uint32_t),
                   uint32_t arg)
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(run(&all.opt, all.h, arg));
    all.trouble |= pid < 0;
    return pid;
}

static void start_consumer(uint32_t i)
{
    if (all.lives + 1 == LIVES_MAX) {
        all.trouble = true;
        return;
    }
    all.life[i] = ++all.lives;
    atomic_store(&all.h->alive[all.life[i]], 1);
    all.told_ms[i] = now_ms();
    all.told[i] = 0;
    all.consumer[i] = start(consume, all.life[i]);
}

/* The next one takes the place of the one that is killed. */
static void kill_consumer(void)
{
    uint32_t i = all.kills++ % all.opt.consumers;

    kill(all.consumer[i], SIGKILL);
    waitpid(all.consumer[i], NULL, 0);
    atomic_store(&all.h->alive[all.life[i]], 0);
    start_consumer(i);
}

/* Runs the command so often, one at a time. */
static void disturb(struct disturber *d, const char *command, uint32_t every_ms)
{
    int status;

    if (!command || now_ms() - d->last_ms < every_ms)
        return;
    d->last_ms = now_ms();
    if (d->pid > 0 && waitpid(d->pid, &status, WNOHANG) == 0)
        return; /* The last one has not ended. */
    d->pid = fork();
    if (d->pid == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(EXIT_FAILURE);
    }
    d->runs++;
}

/* More than all consumers have at hand. */
static bool items_wait(void)
{
    return atomic_load(&all.h->put) - atomic_load(&all.h->asked) >
           2 * PREFETCH * all.opt.consumers;
}

/* How long has each consumer been told of no item while items waited? */
static void watch_consumers(void)
{
    int64_t now = now_ms();

    for (uint32_t i = 0; i < all.opt.consumers; i++) {
        uint32_t told = atomic_load(&all.h->told[all.life[i]]);

        if (told != all.told[i] || !items_wait())
            all.told_ms[i] = now;
        all.told[i] = told;
        if (now - all.told_ms[i] > all.idle_ms)
            all.idle_ms = (uint32_t)(now - all.told_ms[i]);
    }
}

static void show(bool end)
{
    unsigned finished = atomic_load(&all.h->asked), n = all.opt.items;
    int width = (int)(30ull * finished / n);

    if (!isatty(STDOUT_FILENO) && !end)
        return;
    printf("%s[%.*s%*s] %3u%%  put %u, finished %u, killed %u consumers, "
           "%u servers, paused %u%s",
           end ? "" : "\r", width, "##############################", 30 - width,
           "", (unsigned)(100ull * finished / n), atomic_load(&all.h->put),
           finished, all.kills, all.killer.runs, all.pauser.runs,
           end ? "\n" : "\033[K");
    fflush(stdout);
}

static bool is_done(void)
{
    return atomic_load(&all.h->put) >= all.opt.items &&
           atomic_load(&all.h->asked) >= all.opt.items;
}

static bool must_stop(int64_t began)
{
    return interrupted || all.trouble || atomic_load(&all.h->failures) > 0 ||
           all.idle_ms > all.opt.idle_ms ||
           now_ms() - began > (int64_t)all.opt.deadline_s * 1000;
}

static bool work(void)
{
    const struct timespec tick = {0, TICK_MS * 1000000L};
    int64_t began = now_ms(), killed = began;

    all.killer.last_ms = all.pauser.last_ms = began;
    for (uint32_t i = 0; i < all.opt.producers; i++)
        all.producer[i] = start(produce, i);
    for (uint32_t i = 0; i < all.opt.consumers; i++)
        start_consumer(i);
    while (!is_done()) {
        if (must_stop(began))
            return false;
        nanosleep(&tick, NULL);
        if (now_ms() - killed >= all.opt.kill_ms) {
            killed = now_ms();
            kill_consumer();
        }
        disturb(&all.killer, all.opt.kill, all.opt.server_ms);
        disturb(&all.pauser, all.opt.pause, all.opt.pause_ms);
        watch_consumers();
        show(false);
    }
    printf("%s%u items in %.1f s\n", isatty(STDOUT_FILENO) ? "\n" : "",
           all.opt.items, (double)(now_ms() - began) / 1000);
    return true;
}

/* What a killed consumer had claimed comes back, and is finished. */
static bool drain(void)
{
    const struct timespec tick = {0, 200 * 1000000L};
    int64_t began = now_ms();

    do {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0)
            _exit(audit(&all.opt, all.h));
        waitpid(pid, &status, 0);
        if (status != 0)
            return false;
        nanosleep(&tick, NULL);
    } while (atomic_load(&all.h->left) > 0 && !must_stop(began));
    return atomic_load(&all.h->left) == 0;
}

static void dismiss(void)
{
    for (uint32_t i = 0; i < all.opt.producers; i++)
        if (all.producer[i] > 0)
            waitpid(all.producer[i], NULL, 0);
    for (uint32_t i = 0; i < all.opt.consumers; i++)
        if (all.consumer[i] > 0)
            kill(all.consumer[i], SIGTERM);
    for (uint32_t i = 0; i < all.opt.consumers; i++)
        if (all.consumer[i] > 0)
            waitpid(all.consumer[i], NULL, 0);
    if (all.killer.pid > 0)
        waitpid(all.killer.pid, NULL, 0);
    if (all.pauser.pid > 0)
        waitpid(all.pauser.pid, NULL, 0);
}

static void kill_all(void)
{
    for (uint32_t i = 0; i < PROCESSES_MAX; i++) {
        if (all.producer[i] > 0)
            kill(all.producer[i], SIGKILL);
        if (all.consumer[i] > 0)
            kill(all.consumer[i], SIGKILL);
    }
}

static bool report(void)
{
    const struct history *h = all.h;
    unsigned lost = 0, unput = 0, twice = 0;

    for (uint32_t i = 0; i < all.opt.items; i++) {
        unput += !atomic_load(&h->item[i].put);
        lost += atomic_load(&h->item[i].put) && !atomic_load(&h->item[i].asked);
        twice += atomic_load(&h->item[i].finished) > 1;
    }
    show(true);
    printf("history: items=%u put=%u unput=%u finished=%u lost=%u "
           "finished_twice=%u doubled=%u redelivered_after_death=%u "
           "redelivered_after_loss=%u lost_told=%u foreign=%u left=%d "
           "consumers_killed=%u servers_killed=%u servers_paused=%u "
           "longest_idle=%ums\n",
           all.opt.items, atomic_load(&h->put), unput,
           atomic_load(&h->finished), lost, twice, atomic_load(&h->doubled),
           atomic_load(&h->redelivered_dead), atomic_load(&h->redelivered_lost),
           atomic_load(&h->lost_told), atomic_load(&h->foreign),
           atomic_load(&h->left), all.kills, all.killer.runs, all.pauser.runs,
           all.idle_ms);
    return !unput && !lost && !twice && !atomic_load(&h->doubled) &&
           !atomic_load(&h->foreign) && atomic_load(&h->left) == 0 &&
           all.idle_ms <= all.opt.idle_ms && !atomic_load(&h->failures);
}

static bool number(const char *text, uint32_t max, uint32_t *out)
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
        return number(optarg, 100000000, &opt->items);
    case 'p':
        return number(optarg, PROCESSES_MAX, &opt->producers);
    case 'c':
        return number(optarg, PROCESSES_MAX, &opt->consumers);
    case 'x':
        return number(optarg, 86400000, &opt->kill_ms);
    case 'y':
        return number(optarg, 86400000, &opt->server_ms);
    case 't':
        return number(optarg, 3600000, &opt->session_ms);
    case 'd':
        return number(optarg, 86400, &opt->deadline_s);
    case 'w':
        return number(optarg, 86400000, &opt->pause_ms);
    case 'i':
        return number(optarg, 86400000, &opt->idle_ms);
    case 's':
        opt->pause = optarg;
        return true;
    case 'k':
        opt->kill = optarg;
        return true;
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, struct options *opt)
{
    int option;

    while ((option = getopt(argc, argv, "n:p:c:x:y:w:t:i:d:k:s:h")) != -1) {
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

static int demonstrate(void)
{
    size_t bytes = sizeof *all.h + all.opt.items * sizeof all.h->item[0];
    bool ok;

    all.h = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (all.h == MAP_FAILED) {
        perror("queue-demo");
        return EXIT_FAILURE;
    }
    atomic_store(&all.h->left, -1);
    ok = work() && drain();
    if (ok)
        dismiss();
    else
        kill_all();
    ok = report() && ok;
    puts(ok ? "Each item was finished, none had two consumers, none was idle."
            : "FAILED");
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const struct sigaction on_interrupt = {.sa_handler = interrupt};
    static char path[64];

    all.opt = (struct options){.path = path,
                               .items = 1000000,
                               .producers = 4,
                               .consumers = 4,
                               .kill_ms = 1000,
                               .server_ms = 10000,
                               .pause_ms = 10000,
                               .idle_ms = 30000,
                               .session_ms = 4000,
                               .deadline_s = 900};
    snprintf(path, sizeof path, "/queue-demo-%lld-%d", (long long)time(NULL),
             (int)getpid());
    if (!parse(argc, argv, &all.opt)) {
        fputs(USAGE, stderr);
        return 2;
    }
    sigaction(SIGINT, &on_interrupt, NULL);
    sigaction(SIGTERM, &on_interrupt, NULL);
    return demonstrate();
}
