/*
 * One run: a process of its own, so that its CPU, its memory and its stalls are
 * nobody else's.
 */
#include <event2/event.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "harness.h"

enum {
    QUIET_NS = 5000000,
    MADE_MAX = 24,
    DIRS_MIN = 1000,
    SESSION_MS = 10000 /* As the library's default. */
};

#define QUIET_LIMIT_NS ((int64_t)30000000000)

static const char ephemerals_count[] = "zk_ephemerals_count";

void fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("bench: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\n", stderr);
    va_end(args);
    fflush(NULL);
    _exit(1);
}

/* ---- In the process of the run ---- */

/* A number that looks as if by chance (the mixing of MurmurHash3): two of one
 * lock have nothing to do with each other. */
static uint32_t chance(const struct run *r, int i, uint32_t which)
{
    uint32_t x = 2 * (uint32_t)(r->first + i) + which + 1;

    x = (x ^ x >> 16) * 0x85ebca6b;
    x = (x ^ x >> 13) * 0xc2b2ae35;
    return x ^ x >> 16;
}

void run_path(const struct run *r, int i, char path[PATH_SIZE])
{
    if (r->paths)
        i = (int)(chance(r, i, 0) % (uint32_t)r->paths);
    snprintf(path, PATH_SIZE, "%s/%06d", r->dir, r->one ? 0 : i);
}

enum mode run_mode(const struct run *r, int i)
{
    if (r->w->reads == 0)
        return ALONE;
    return chance(r, i, 1) % 100 < (uint32_t)r->w->reads ? READS : WRITES;
}

void run_granted(struct run *r, int i)
{
    r->n_granted++;
    r->granted_ns = now_ns();
    if (r->granted)
        r->granted(r, i);
}

void run_released(struct run *r, int i)
{
    r->n_released++;
    r->released_ns = now_ns();
    if (r->released)
        r->released(r, i);
}

void run_given(struct run *r, int i)
{
    r->n_given++;
    if (r->given)
        r->given(r, i);
}

void run_all_released(struct run *r)
{
    r->n_released = r->n_given;
    r->released_ns = now_ns();
}

int run_session_ms(const struct run *r)
{
    return r->w->session_ms ? r->w->session_ms : SESSION_MS;
}

void run_open(struct run *r, const char *servers)
{
    r->base = event_base_new();
    if (!r->base)
        fail("out of memory");
    r->way->open(r, servers);
    meter_start(&r->meter, r->base);
}

void run_close(struct run *r)
{
    r->ending = true;
    r->way->close();
    if (r->meter.timer)
        meter_stop(&r->meter);
    event_base_free(r->base);
}

void run_await(struct run *r, const int *count, int wanted)
{
    while (*count < wanted)
        event_base_loop(r->base, EVLOOP_ONCE);
}

int64_t run_settle(struct run *r)
{
    int64_t began = now_ns();

    while (now_ns() - began < QUIET_NS) {
        event_base_loop(r->base, EVLOOP_ONCE);
        if (r->way->busy())
            began = now_ns();
    }
    return began;
}

void run_for_ms(struct run *r, int ms)
{
    struct timeval tv = {ms / 1000, ms % 1000 * 1000};

    event_base_loopexit(r->base, &tv);
    event_base_dispatch(r->base);
}

void run_feed(struct run *r, void (*call)(int i), int first, int n, int step)
{
    for (int k = 0; k < n; k++) {
        call(first + k * step);
        if (k % SLICE == SLICE - 1)
            event_base_loop(r->base, EVLOOP_NONBLOCK);
    }
}

_Noreturn static void play(const struct workload *w, const struct way *way,
                           const char *servers, const char *dir, int fd)
{
    struct run r = {.w = w,
                    .way = way,
                    .servers = servers,
                    .dir = dir,
                    .one = w->one,
                    .paths = w->paths};

    signal(SIGPIPE, SIG_IGN);
    result_clear(&r.res);
    w->play(&r);
    if (write(fd, &r.res, sizeof r.res) != (ssize_t)sizeof r.res)
        _exit(1);
    _exit(0);
}

/* ---- In the process that starts them ---- */

/* As many as the workload uses: few are used several times over. */
static int dirs_of(const struct workload *w)
{
    if (w->one)
        return 1;
    if (w->paths)
        return w->paths;
    if (w->shards)
        return w->shards;
    return w->n < DIRS_MIN ? DIRS_MIN : w->n;
}

/* Directories that stay are made once, and used in every round. */
static struct {
    char dir[PATH_SIZE];
    int n;
} made[MADE_MAX];
static int made_count;

static void make_lasting(const char *servers, const char *dir, int n,
                         void (*fill)(const char *, const char *, int))
{
    for (int k = 0; k < made_count; k++)
        if (strcmp(made[k].dir, dir) == 0)
            return;
    if (made_count == MADE_MAX)
        fail("too many workloads");
    fill(servers, dir, n);
    made[made_count].n = n;
    snprintf(made[made_count++].dir, PATH_SIZE, "%s", dir);
}

void run_clean(const char *servers)
{
    for (int k = 0; k < made_count; k++)
        fill_remove(servers, made[k].dir, made[k].n);
    fill_remove(servers, BENCH_ROOT, 0);
}

static bool read_result(int fd, int limit_s, struct result *out)
{
    struct pollfd p = {fd, POLLIN, 0};

    return poll(&p, 1, limit_s * 1000) > 0 &&
           read(fd, out, sizeof *out) == (ssize_t)sizeof *out;
}

static bool watch_over(pid_t pid, int fd, int limit_s, struct result *out)
{
    int64_t begun = now_ns();
    bool done = read_result(fd, limit_s, out);
    int status = 0;

    if (!done && now_ns() - begun >= limit_s * (int64_t)1000000000)
        fprintf(stderr, "bench: not done in %d s\n", limit_s);
    if (!done)
        kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return done && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool start_run(const struct workload *w, const struct way *way,
                      const char *servers, const char *dir, int limit_s,
                      struct result *out)
{
    int fds[2];
    pid_t pid;
    bool done;

    if (pipe(fds) != 0)
        fail("no pipe for a run");
    pid = harness_fork();
    if (pid == 0) {
        close(fds[0]);
        play(w, way, servers, dir, fds[1]);
    }
    close(fds[1]);
    done = watch_over(pid, fds[0], limit_s, out);
    close(fds[0]);
    return done;
}

/* A server may go on for a while with what a run has left to it. */
static void await_quiet(const char *server, int64_t ephemerals)
{
    int64_t end = now_ns() + QUIET_LIMIT_NS;

    while (mntr_figure(server, ephemerals_count) > ephemerals && now_ns() < end)
        poll(NULL, 0, 20);
}

static bool run_below(const struct workload *w, const struct way *way,
                      const char *servers, const char *dir, int limit_s,
                      struct result *out)
{
    int64_t ephemerals = mntr_figure(servers, ephemerals_count);
    bool done = start_run(w, way, servers, dir, limit_s, out);

    await_quiet(servers, ephemerals);
    return done;
}

static void remove_rest(const struct workload *w, const char *servers,
                        const char *dir)
{
    char shards[PATH_SIZE];

    if (w->queue) {
        fill_clear_tree(servers, dir);
        return;
    }
    snprintf(shards, sizeof shards, "%.100s/" SHARDS_NAME, dir);
    if (w->shards)
        fill_clear(servers, shards);
    fill_remove(servers, dir, dirs_of(w));
}

bool run_once(const struct workload *w, const struct way *way,
              const char *servers, int limit_s, struct result *out)
{
    static int serial;
    char dir[PATH_SIZE];
    bool done;

    result_clear(out);
    if (w->filled || !way->makes_dirs) {
        snprintf(dir, sizeof dir, BENCH_ROOT "/%d-%s-%d", (int)getpid(),
                 w->filled ? "values" : way->name, dirs_of(w));
        make_lasting(servers, dir, dirs_of(w),
                     w->filled ? fill_values : fill_dirs);
        return run_below(w, way, servers, dir, limit_s, out);
    }
    snprintf(dir, sizeof dir, BENCH_ROOT "/%d-%d", (int)getpid(), serial++);
    fill_dirs(servers, dir, w->dirs_there ? dirs_of(w) : 0);
    done = run_below(w, way, servers, dir, limit_s, out);
    if (done)
        remove_rest(w, servers, dir);
    return done;
}
