/* Runs CMD, and looks after the lease that it rests on. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "command.h"
#include "work.h"

#define MARGIN_MIN_MS 100
#define GRACE_MAX_MS 2000
#define LOOK_MAX_MS 500

static void look(struct work *w);

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    look(arg);
}

static uint32_t timeout_ms(const struct work *w)
{
    return evzk_session_timeout_ms(w->connection->session);
}

static uint32_t margin_ms(const struct work *w)
{
    uint32_t ms = timeout_ms(w) / 20;

    return ms > MARGIN_MIN_MS ? ms : MARGIN_MIN_MS;
}

static uint32_t grace_ms(const struct work *w)
{
    uint32_t ms = timeout_ms(w) / 3;

    return ms < GRACE_MAX_MS ? ms : GRACE_MAX_MS;
}

/* So long CMD may still run. */
static int64_t left_ms(const struct work *w)
{
    return (int64_t)w->lease_ms(w->arg) - margin_ms(w);
}

static int64_t kill_us(const struct work *w)
{
    return w->lease_ms ? boottime_us() + left_ms(w) * 1000 : INT64_MAX;
}

static void on_reaped(evutil_socket_t signo, short what, void *arg)
{
    struct work *w = arg;

    (void)signo, (void)what;
    if (work_runs(w))
        watchdog_guard(&w->watchdog, w->child.pid, kill_us(w));
    if (!child_reap(&w->child, &w->watchdog)) {
        look(w);
        return;
    }
    event_del(w->look);
    w->ended(w->lost ? STATUS_LOST : w->child.status, w->arg);
}

int work_prepare(struct work *w)
{
    child_prepare();
    return watchdog_start(&w->watchdog);
}

static bool add_events(struct work *w)
{
    struct event_base *base = w->connection->base;

    if (w->look)
        return true;
    w->look = evtimer_new(base, on_look, w);
    w->reaped = evsignal_new(base, SIGCHLD, on_reaped, w);
    return w->look && w->reaped && event_add(w->reaped, NULL) == 0 &&
           child_pass_on(&w->child, base);
}

static void warn(struct work *w, int64_t left)
{
    if (w->warned || left > grace_ms(w) ||
        evzk_session_connected(w->connection->session))
        return;
    w->warned = w->lost = true;
    complain("the servers are silent, and the lease ends in %lld ms: ending "
             "the command",
             (long long)left + margin_ms(w));
    child_signal(&w->child, SIGTERM);
}

static void look(struct work *w)
{
    int64_t left, next;

    if (child_stands(&w->child))
        event_add(w->look, &(struct timeval){0, LOOK_MAX_MS * 1000});
    if (!w->lease_ms || w->child.pid <= 0)
        return;
    left = left_ms(w);
    if (left <= 0) {
        w->lost = true;
        child_signal(&w->child, SIGKILL);
        return;
    }
    watchdog_guard(&w->watchdog, w->child.pid, kill_us(w));
    warn(w, left);
    next = left / 8 + 1 < LOOK_MAX_MS ? left / 8 + 1 : LOOK_MAX_MS;
    event_add(w->look, &(struct timeval){0, next * 1000});
}

/* A file in memory, so that CMD may read its input in any way, or not at all.
 */
static bool give_input(const void *input, size_t len)
{
    int fd = memfd_create("evzk-input", 0);
    const char *data = input;
    bool done = fd >= 0;

    while (done && len > 0) {
        ssize_t n = write(fd, data, len);

        done = n > 0;
        if (done) {
            data += n;
            len -= (size_t)n;
        }
    }
    done = done && lseek(fd, 0, SEEK_SET) == 0 && dup2(fd, STDIN_FILENO) == 0;
    if (fd > STDIN_FILENO)
        close(fd);
    return done;
}

bool work_start(struct work *w, char **argv, const void *input, size_t len)
{
    w->lost = w->warned = false;
    if (add_events(w) && (!input || give_input(input, len)) &&
        child_start(&w->child, argv, &w->watchdog, kill_us(w))) {
        look(w);
        return true;
    }
    complain("cannot start %s: %s", argv[0], strerror(errno));
    return false;
}

bool work_runs(const struct work *w) { return w->child.pid > 0; }

bool work_signal(struct work *w, int signo)
{
    if (!work_runs(w))
        return false;
    child_signal(&w->child, signo);
    return true;
}

void work_lost(struct work *w, const char *path, int rc)
{
    if (!work_runs(w))
        return;
    complain("%s: lost: %s: killing the command", path, evzk_strerror(rc));
    w->lost = true;
    child_signal(&w->child, SIGKILL);
}

void work_free(struct work *w)
{
    if (w->look)
        event_free(w->look);
    if (w->reaped)
        event_free(w->reaped);
    child_free(&w->child);
    watchdog_end(&w->watchdog);
}

void work_number(const char *name, uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    setenv(name, text, 1);
}
