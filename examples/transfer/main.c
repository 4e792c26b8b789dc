/*
 * The demonstration of two-phase commit: money moves between two accounts, each
 * a file of a process of its own.  All the time one of the processes is killed,
 * at each step of the protocol in turn, and started again.  The sum of both
 * accounts must be right at any time.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "account.h"
#include "demo.h"

static const char USAGE[] =
    "usage: transfer [-n TRANSFERS] [-k KILLS] [-t SESSION_MS] [-v VARIANT]\n"
    "                [-d SECONDS] SERVERS\n"
    "\n"
    "  -n TRANSFERS   at least so many (100)\n"
    "  -k KILLS       of the three processes, by turns (50)\n"
    "  -t SESSION_MS  session time-out to ask for (2000)\n"
    "  -v VARIANT     mediated, plain or presence (mediated)\n"
    "  -d SECONDS     give up when nothing goes on for so long (60)\n"
    "  -h             show this\n"
    "\n"
    "The exit status is 0 when the sum of both accounts was right at any "
    "time.\n"
    "Else the accounts stay, for whoever looks for the reason.\n";

/* Of five processes that are killed, one comes back when its session is over;
 * the others at once. */
enum { TICK_MS = 2, LATE_EVERY = 5 };

static const struct {
    int process;
    const char *text;
} MOMENT[MOMENT_COUNT] = {{0},
#define ROW(name, process, text) {process, text},
                          MOMENTS(ROW)
#undef ROW
};

static volatile sig_atomic_t interrupted;

static struct {
    struct options opt;
    struct shared *shared;
    pid_t pid[PROCESSES];        /* 0: it does not run. */
    int64_t start_ms[PROCESSES]; /* Then it is started again, at that time. */
    int64_t kill_ms;             /* Of a kill at any moment. */
    int64_t progress_ms;         /* When something went on last. */
    uint32_t armed;              /* Kills, so far. */
    uint32_t settled;            /* Transfers, as seen last. */
    struct balance balance;
    bool done, trouble;
} all;

static void interrupt(int sig) { interrupted = sig; }

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* There is no event_base and no session in the parent: a child gets none.  A
 * site unblocks SIGTERM when it can be ended by it. */
static void start(int i)
{
    sigset_t term, before;
    pid_t pid;

    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, &before);
    pid = fork();
    if (pid == 0)
        _exit(i == COORDINATOR ? coordinate(&all.opt, all.shared)
                               : be_site(&all.opt, all.shared, i));
    sigprocmask(SIG_SETMASK, &before, NULL);
    all.trouble |= pid < 0;
    all.pid[i] = pid > 0 ? pid : 0;
}

/* ---- Kills ---- */

static bool is_any(int moment)
{
    return moment == AT_ALICE_ANY || moment == AT_BOB_ANY ||
           moment == AT_COORDINATOR_ANY;
}

/* The next kill is prepared when the last one is over. */
static void arm(void)
{
    int moment = 1 + (int)(all.armed % (MOMENT_COUNT - 1));

    if (atomic_load(&all.shared->armed) != NEVER ||
        all.armed != atomic_load(&all.shared->kills) ||
        all.armed >= all.opt.kills)
        return;
    for (int i = 0; i < PROCESSES; i++)
        if (!all.pid[i])
            return;
    all.armed++;
    all.kill_ms = now_ms() + rand() % 20;
    atomic_store(&all.shared->armed, moment);
}

static void kill_at_any_moment(void)
{
    int moment = atomic_load(&all.shared->armed);

    if (!is_any(moment) || now_ms() < all.kill_ms)
        return;
    atomic_store(&all.shared->armed, NEVER);
    kill(all.pid[MOMENT[moment].process], SIGKILL);
}

/* ---- Processes that end ---- */

static void was_killed(int i)
{
    uint32_t kills = atomic_fetch_add(&all.shared->kills, 1) + 1;
    bool late = kills % LATE_EVERY == 0;

    all.start_ms[i] = now_ms() + (late ? all.opt.session_ms * 3 / 2 : 0);
    all.progress_ms = now_ms();
}

static void has_ended(int i, int status)
{
    all.pid[i] = 0;
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        was_killed(i);
    else if (i == COORDINATOR && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        all.done = true;
    else
        all.trouble = true;
}

static void collect(void)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < PROCESSES; i++)
            if (all.pid[i] == pid)
                has_ended(i, status);
}

static void start_again(void)
{
    for (int i = 0; i < PROCESSES; i++)
        if (!all.pid[i] && !all.done && now_ms() >= all.start_ms[i])
            start(i);
}

/* ---- The run ---- */

static void show(void)
{
    int armed = atomic_load(&all.shared->armed);
    uint32_t i = (all.armed + MOMENT_COUNT - 2) % (MOMENT_COUNT - 1) + 1;

    if (!isatty(STDOUT_FILENO))
        return;
    printf("\r%u transfers, %u committed, %u aborted, sum %lld; %u killed; "
           "%s: %s\033[K",
           atomic_load(&all.shared->begun), all.balance.committed,
           all.balance.aborted, all.balance.sum,
           atomic_load(&all.shared->kills),
           MOMENT[i].process == COORDINATOR ? "coordinator"
                                            : SITE[MOMENT[i].process],
           armed == NEVER ? "" : MOMENT[i].text);
    fflush(stdout);
}

static void look_at_accounts(void)
{
    uint32_t settled;

    all.trouble |= !audit(&all.opt, &all.balance);
    settled = all.balance.committed + all.balance.aborted;
    if (settled != all.settled)
        all.progress_ms = now_ms();
    all.settled = settled;
}

static bool hangs(void)
{
    if (now_ms() - all.progress_ms <= (int64_t)all.opt.deadline_s * 1000)
        return false;
    fprintf(stderr, "transfer: nothing goes on any more\n");
    return true;
}

static bool run(void)
{
    const struct timespec tick = {0, TICK_MS * 1000000L};

    all.progress_ms = now_ms();
    for (int i = 0; i < PROCESSES; i++)
        start(i);
    while (!all.done && !all.trouble && !interrupted && !hangs()) {
        nanosleep(&tick, NULL);
        collect();
        start_again();
        arm();
        kill_at_any_moment();
        look_at_accounts();
        show();
    }
    return all.done && !all.trouble;
}

static void dismiss(bool good)
{
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        if (!all.pid[i])
            continue;
        kill(all.pid[i], good ? SIGTERM : SIGKILL);
        waitpid(all.pid[i], &status, 0);
        all.trouble |= good && status != 0;
        all.pid[i] = 0;
    }
}

/* Each transfer has ended at both accounts. */
static bool is_settled(void)
{
    if (!all.balance.agree)
        fprintf(stderr, "transfer: one account has settled more than the "
                        "other\n");
    if (all.balance.promised > 0)
        fprintf(stderr, "transfer: %u promises are left\n",
                all.balance.promised);
    return all.balance.agree && all.balance.promised == 0;
}

/* A transfer whose coordinator died while the question was under way may not
 * have begun: both sites never heard of it. */
static bool report(bool good)
{
    uint32_t begun = atomic_load(&all.shared->begun);
    uint32_t kills = atomic_load(&all.shared->kills), unbegun;

    good = audit(&all.opt, &all.balance) && good && !all.trouble;
    unbegun = begun - all.balance.committed - all.balance.aborted;
    good = good && is_settled() && unbegun <= kills + 10 &&
           all.balance.settled_sum == START_SUM;
    printf("%stransfers=%u committed=%u aborted=%u unbegun=%u kills=%u "
           "recovered=%u sum=%lld right=%s\n",
           isatty(STDOUT_FILENO) ? "\r\033[K" : "", begun,
           all.balance.committed, all.balance.aborted, unbegun, kills,
           atomic_load(&all.shared->recovered), all.balance.settled_sum,
           good ? "yes" : "no");
    return good;
}

/* ---- The command line ---- */

static bool number(const char *text, uint32_t min, uint32_t max, uint32_t *out)
{
    char *rest;
    unsigned long n;

    errno = 0;
    n = strtoul(text, &rest, 10);
    *out = (uint32_t)n;
    return !errno && *text >= '0' && *text <= '9' && !*rest && n >= min &&
           n <= max;
}

static bool variant(const char *text, evzk_tx_variant *out)
{
    static const char *const NAMES[] = {[EVZK_TX_MEDIATED] = "mediated",
                                        [EVZK_TX_PLAIN] = "plain",
                                        [EVZK_TX_PRESENCE] = "presence"};

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++)
        if (strcmp(NAMES[i], text) == 0) {
            *out = (evzk_tx_variant)i;
            return true;
        }
    return false;
}

static bool set(struct options *opt, int option)
{
    switch (option) {
    case 'n':
        return number(optarg, 1, 100000000, &opt->transfers);
    case 'k':
        return number(optarg, 0, 1000000, &opt->kills);
    case 't':
        return number(optarg, 1, 3600000, &opt->session_ms);
    case 'd':
        return number(optarg, 1, 86400, &opt->deadline_s);
    case 'v':
        return variant(optarg, &opt->variant);
    default:
        return false;
    }
}

static bool parse(int argc, char **argv, struct options *opt)
{
    int option;

    while ((option = getopt(argc, argv, "n:k:t:d:v:h")) != -1) {
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

/* ---- Accounts ---- */

static void remove_accounts(void)
{
    char path[256];

    for (int i = 0; i < SITES; i++) {
        static const char *const SUFFIX[] = {"", ".new"};

        for (int k = 0; k < 2; k++) {
            snprintf(path, sizeof path, "%s/%s%s", all.opt.dir, SITE[i],
                     SUFFIX[k]);
            unlink(path);
        }
    }
    rmdir(all.opt.dir);
}

static bool prepare(void)
{
    static char dir[128];
    const char *tmp = getenv("TMPDIR");

    snprintf(dir, sizeof dir, "%s/transfer-XXXXXX", tmp ? tmp : "/tmp");
    all.opt.dir = mkdtemp(dir);
    all.shared = mmap(NULL, sizeof *all.shared, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!all.opt.dir || all.shared == MAP_FAILED)
        return false;
    for (int i = 0; i < SITES; i++)
        if (!account_create(dir, SITE[i], START_BALANCE))
            return false;
    return true;
}

static int demonstrate(void)
{
    bool good;

    if (!prepare()) {
        perror("transfer");
        return EXIT_FAILURE;
    }
    good = run();
    dismiss(good);
    good = report(good);
    if (good)
        remove_accounts();
    else
        fprintf(stderr, "transfer: the accounts are in %s\n", all.opt.dir);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const struct sigaction on_interrupt = {.sa_handler = interrupt};
    static char root[64];

    all.opt = (struct options){.root = root,
                               .transfers = 100,
                               .kills = 50,
                               .session_ms = 2000,
                               .deadline_s = 60};
    snprintf(root, sizeof root, "/transfer-%lld-%d", (long long)time(NULL),
             (int)getpid());
    if (!parse(argc, argv, &all.opt)) {
        fputs(USAGE, stderr);
        return 2;
    }
    sigaction(SIGINT, &on_interrupt, NULL);
    sigaction(SIGTERM, &on_interrupt, NULL);
    return demonstrate();
}
