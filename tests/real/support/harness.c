/*
 * Waiting, recording and measuring for tests that drive an event_base; see
 * harness.h.
 */
#define _GNU_SOURCE 1
#include "harness.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 10, JOIN_MS = 60000, STILL_NS = 10000000 };

/* ---- Waiting ---- */

static struct event_base *current, *own;
static pid_t owner;

struct event_base *harness_base(void)
{
    if (owner != getpid()) { /* After a fork: the parent's is not ours. */
        owner = getpid();
        current = own = NULL;
    }
    if (!current)
        current = own = event_base_new();
    return current;
}

void harness_set_base(struct event_base *base)
{
    harness_base();
    current = base ? base : own;
}

void harness_free(void)
{
    if (owner == getpid() && own)
        event_base_free(own);
    current = own = NULL;
}

static void on_tick(int fd, short what, void *arg)
{
    (void)fd;
    (void)what;
    (void)arg;
}

static struct event *start_tick(struct event_base *base, int64_t ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};
    struct event *tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);

    event_add(tick, &tv);
    return tick;
}

bool run_until(struct event_base *base, bool (*cond)(void *arg), void *arg,
               int64_t ms)
{
    int64_t end = now_ms() + slow_ms(ms);
    struct event *tick = start_tick(base, TICK_MS);
    bool met;

    while (!(met = cond(arg)) && now_ms() < end)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(tick);
    return met;
}

void run_for(struct event_base *base, int64_t ms)
{
    int64_t end = now_ms() + ms;
    struct event *tick = start_tick(base, ms < TICK_MS ? 1 : TICK_MS);

    while (now_ms() < end)
        event_base_loop(base, EVLOOP_ONCE);
    event_free(tick);
}

void harness_wait_begin(struct harness_wait *w, int64_t ms, const char *file,
                        int line, const char *text)
{
    w->file = file;
    w->line = line;
    w->text = text;
    w->ms = slow_ms(ms);
    w->end = now_ms() + w->ms;
    w->base = harness_base();
    w->tick = start_tick(w->base, TICK_MS);
}

void harness_wait_turn(struct harness_wait *w)
{
    if (now_ms() >= w->end)
        support_fail("%s:%d: not within %d ms: %s", w->file, w->line,
                     (int)w->ms, w->text);
    event_base_loop(w->base, EVLOOP_ONCE);
}

void harness_wait_end(struct harness_wait *w) { event_free(w->tick); }

/* ---- Recording ---- */

const char *session_event_name(evzk_session_event event)
{
    return evzk_session_event_name(event);
}

const char *lock_event_name(evzk_lock_event event)
{
    return evzk_lock_event_name(event);
}

/* "EXPIRED" for EVZK_ERR_EXPIRED. */
static const char *error_name(int rc)
{
    switch (rc) {
#define NAME(name, value, class, text)                                         \
    case (value):                                                              \
        return #name;
        EVZK_ERRORS(NAME)
#undef NAME
    }
    return "?";
}

static void record(struct recorder *rec, const char *name, int event, int rc)
{
    size_t room = sizeof rec->text - rec->len;
    int n = rc ? snprintf(rec->text + rec->len, room, "%s%s(%s)",
                          rec->len ? " " : "", name, error_name(rc))
               : snprintf(rec->text + rec->len, room, "%s%s",
                          rec->len ? " " : "", name);

    if ((size_t)n < room)
        rec->len += (size_t)n;
    else
        rec->text[rec->len] = '\0'; /* Full: the counts go on. */
    rec->count++;
    rec->last = event;
    rec->rc = rc;
    rec->when = now_ms();
}

void recorder_on_session(evzk_session *session, evzk_session_event event,
                         int rc, void *arg)
{
    struct recorder *rec = arg;

    (void)session;
    rec->finals += event == EVZK_SESSION_CLOSED;
    record(rec, session_event_name(event), (int)event, rc);
}

void recorder_on_lock(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct recorder *rec = arg;

    (void)lock;
    rec->finals += evzk_lock_event_is_final(event);
    record(rec, lock_event_name(event), (int)event, rc);
}

void recorder_clear(struct recorder *rec) { memset(rec, 0, sizeof *rec); }

bool recorder_has(const struct recorder *rec, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = rec->text; (at = strstr(at, word)); at += len)
        if ((at == rec->text || at[-1] == ' ') &&
            (at[len] == '\0' || at[len] == ' ' || at[len] == '('))
            return true;
    return false;
}

const char *recorder_story(const struct recorder *rec)
{
    static const char doubt[] = " SUSPENDED RESUMED";
    static char story[sizeof rec->text];
    char *at;

    snprintf(story, sizeof story, "%s", rec->text);
    while ((at = strstr(story, doubt)))
        memmove(at, at + sizeof doubt - 1, strlen(at + sizeof doubt - 1) + 1);
    return story;
}

/* ---- Measuring ---- */

/*
 * A thread that sleeps a millisecond at a time: when it stands still too, and
 * not for want of a CPU, it is the whole process or machine that does.
 */
struct witness {
    pthread_t thread;
    atomic_bool end;
    _Atomic int64_t last_ns;  /* When it was last seen. */
    _Atomic int64_t still_ns; /* How long it stood still so far. */
};

struct stall {
    struct event *timer;
    struct witness witness;
    int schedstat; /* Of this thread, or -1. */
    int64_t last_still_ns;
    int64_t last_ns;
    int64_t last_waited_ns;
    int64_t max_ns;
    int64_t own_ns;
};

static int64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int open_schedstat(void)
{
    return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

/* How long that thread has been ready to run, and was not run. */
static int64_t waited_ns(int schedstat)
{
    char buf[128];
    long long ran, waited;
    ssize_t n = schedstat < 0 ? -1 : pread(schedstat, buf, sizeof buf - 1, 0);

    if (n <= 0)
        return 0;
    buf[n] = '\0';
    return sscanf(buf, "%lld %lld", &ran, &waited) == 2 ? waited : 0;
}

static void *bear_witness(void *arg)
{
    const struct timespec ms = {0, 1000000};
    struct witness *w = arg;
    int schedstat = open_schedstat();
    int64_t waited = waited_ns(schedstat);

    while (!atomic_load(&w->end)) {
        int64_t was = atomic_load(&w->last_ns), queued = waited, still;

        nanosleep(&ms, NULL);
        waited = waited_ns(schedstat);
        still = now_ns() - was - (waited - queued);
        if (still > STILL_NS)
            atomic_fetch_add(&w->still_ns, still);
        atomic_store(&w->last_ns, now_ns());
    }
    if (schedstat >= 0)
        close(schedstat);
    return NULL;
}

/* What the witness has seen, and what it is about to: it may not have run since
 * all stood still. */
static int64_t still_ns(struct witness *w)
{
    int64_t seen = atomic_load(&w->still_ns);
    int64_t since = now_ns() - atomic_load(&w->last_ns);

    return seen + (since > STILL_NS ? since : 0);
}

static void on_stall_tick(int fd, short what, void *arg)
{
    struct stall *stall = arg;
    int64_t ns = now_ns(), waited = waited_ns(stall->schedstat);
    int64_t still = still_ns(&stall->witness);
    int64_t gap = ns - stall->last_ns;
    int64_t mine = gap - (waited - stall->last_waited_ns);

    (void)fd;
    (void)what;
    if (still > stall->last_still_ns)
        mine -= still - stall->last_still_ns;
    if (gap > stall->max_ns)
        stall->max_ns = gap;
    if (mine > stall->own_ns)
        stall->own_ns = mine;
    stall->last_ns = ns;
    stall->last_still_ns = still;
    stall->last_waited_ns = waited;
}

void stall_reset(struct stall *stall)
{
    stall->last_ns = now_ns();
    stall->last_still_ns = still_ns(&stall->witness);
    stall->last_waited_ns = waited_ns(stall->schedstat);
    stall->max_ns = stall->own_ns = 0;
}

struct stall *stall_start(struct event_base *base)
{
    struct timeval ms = {0, 1000};
    struct stall *stall = calloc(1, sizeof *stall);

    if (!stall)
        support_fail("stall: out of memory");
    stall->schedstat = open_schedstat();
    stall->witness.last_ns = now_ns();
    if (pthread_create(&stall->witness.thread, NULL, bear_witness,
                       &stall->witness) != 0)
        support_fail("stall: no thread");
    stall->timer = event_new(base, -1, EV_PERSIST, on_stall_tick, stall);
    stall_reset(stall);
    event_add(stall->timer, &ms);
    return stall;
}

double stall_max_ms(const struct stall *stall)
{
    return (double)stall->max_ns / 1e6;
}

double stall_own_ms(const struct stall *stall)
{
    return (double)stall->own_ns / 1e6;
}

void stall_stop(struct stall *stall)
{
    event_free(stall->timer);
    atomic_store(&stall->witness.end, true);
    pthread_join(stall->witness.thread, NULL);
    if (stall->schedstat >= 0)
        close(stall->schedstat);
    free(stall);
}

/* ---- Several processes ---- */

void *harness_share(size_t size)
{
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (shared == MAP_FAILED)
        support_fail("mmap: %s", strerror(errno));
    return shared;
}

void harness_unshare(void *shared, size_t size) { munmap(shared, size); }

pid_t harness_fork(void)
{
    pid_t parent = getpid(), pid;

    fflush(NULL);
    pid = fork();
    if (pid < 0)
        support_fail("fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

int harness_join(pid_t pid)
{
    int64_t end = now_ms() + slow_ms(JOIN_MS);
    int status;

    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (now_ms() > end)
            support_fail("process %d does not end", (int)pid);
        poll(NULL, 0, TICK_MS);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
