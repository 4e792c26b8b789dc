/* The watchdog: a loop over a pipe and a timer.  Everything that the watchdog
 * needs is in these two descriptors. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "watchdog.h"

/* What evzk tells.  Short enough that a pipe takes it whole.  Without gaps, in
 * which bytes of evzk's would go to the pipe. */
struct order {
    int64_t kill_us;
    int64_t group; /* 0: guard nothing. */
};

int64_t boottime_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Nobody has to read this: stderr may be gone. */
static void say(const char *what, const char *why)
{
    static const char name[] = "evzk: the watchdog ";

    if (write(STDERR_FILENO, name, sizeof(name) - 1) < 0 ||
        write(STDERR_FILENO, what, strlen(what)) < 0 ||
        write(STDERR_FILENO, why, strlen(why)) < 0)
        return;
}

static void kill_group(struct order *order, const char *why)
{
    if (order->group <= 0)
        return;
    if (kill((pid_t)-order->group, SIGKILL) == 0)
        say("killed the command: ", why);
    else if (errno == EPERM)
        say("may not kill the command, which runs as another user: ", why);
    order->group = 0;
}

static void set_timer(int timer, const struct order *order)
{
    struct itimerspec at = {.it_value = {order->kill_us / 1000000,
                                         order->kill_us % 1000000 * 1000}};

    if (order->group <= 0)
        at.it_value = (struct timespec){0, 0}; /* Off. */
    timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

/* Reads all that has come; the last order counts.  False: evzk has ended. */
static bool hear(int in, struct order *order)
{
    struct order next;
    ssize_t n;

    while ((n = read(in, &next, sizeof(next))) == (ssize_t)sizeof(next))
        *order = next;
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void watch(int in, int timer)
{
    struct pollfd fds[] = {{in, POLLIN, 0}, {timer, POLLIN, 0}};
    struct order order = {0, 0};

    for (;;) {
        poll(fds, 2, -1);
        /* After a stop of this process the orders count that came meanwhile. */
        if (!hear(in, &order)) {
            kill_group(&order, "evzk has died\n");
            return;
        }
        if (order.group > 0 && boottime_us() >= order.kill_us)
            kill_group(&order, "the lease was about to end\n");
        set_timer(timer, &order);
    }
}

static void close_range_of(int from, int to)
{
    if (from <= to)
        close_range((unsigned)from, (unsigned)to, 0);
}

/* All but these two, of which `low` is lower, and those of the standard. */
static void close_others(int low, int high)
{
    close_range_of(STDERR_FILENO + 1, low - 1);
    close_range_of(low + 1, high - 1);
    close_range_of(high + 1, INT_MAX);
}

/* Has little to do, and has to be in time, also where all processors are busy.
 * Only root may say so.  A nice value counts only among the processes of one
 * session where the kernel groups them so, and this one has its own session. */
static void hurry(void)
{
    const struct sched_param least = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_FIFO, &least) != 0)
        setpriority(PRIO_PROCESS, 0, -20);
}

/* No signal of a terminal, no folder and no file of the user is kept. */
static void detach(int in, int timer)
{
    static const int ignored[] = {SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                                  SIGPIPE, SIGUSR1, SIGUSR2};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        signal(ignored[i], SIG_IGN);
    setsid();
    hurry();
    prctl(PR_SET_NAME, "evzk-watchdog");
    if (chdir("/") || dup2(null, STDIN_FILENO) < 0 ||
        dup2(null, STDOUT_FILENO) < 0)
        return; /* As well as can be. */
    close_others(in < timer ? in : timer, in < timer ? timer : in);
}

static int start(struct watchdog *w, const int ends[2])
{
    int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);

    w->pid = timer < 0 ? -1 : fork();
    if (w->pid == 0) {
        close(ends[1]);
        detach(ends[0], timer);
        watch(ends[0], timer);
        _exit(0);
    }
    if (timer >= 0)
        close(timer);
    close(ends[0]);
    w->pipe = ends[1];
    if (w->pid > 0)
        return 0;
    close(ends[1]);
    return -1;
}

int watchdog_start(struct watchdog *w)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) || start(w, ends)) {
        complain("cannot start the watchdog: %s", strerror(errno));
        return STATUS_FAILED;
    }
    return 0;
}

/* A watchdog that was stopped goes on: evzk may be stopped next. */
static bool has_died(struct watchdog *w)
{
    int how;

    if (w->pid <= 0 || waitpid(w->pid, &how, WNOHANG | WUNTRACED) != w->pid)
        return false;
    if (!WIFSTOPPED(how))
        return true;
    kill(w->pid, SIGCONT);
    return false;
}

/* A pipe that is full, or whose reader has died, takes nothing: then the last
 * order stands, which is no later. */
static void tell(struct watchdog *w, const struct order *order)
{
    if (w->pid <= 0 ||
        write(w->pipe, order, sizeof(*order)) != (ssize_t)sizeof(*order))
        return;
}

bool watchdog_guard(struct watchdog *w, pid_t group, int64_t kill_us)
{
    if (has_died(w))
        watchdog_end(w);
    if (w->pid <= 0 && watchdog_start(w))
        return false;
    tell(w, &(struct order){kill_us, group});
    return true;
}

void watchdog_rest(struct watchdog *w) { tell(w, &(struct order){0, 0}); }

void watchdog_end(struct watchdog *w)
{
    if (w->pid > 0)
        close(w->pipe);
    w->pid = 0;
}
