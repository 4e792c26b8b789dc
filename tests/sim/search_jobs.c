/* The jobs of a search: begun, watched, and their results put together.
 *
 * A job that dies is a finding like another: what it was at stands in shared
 * memory.  Another job takes its place, and goes on with the schedules that
 * none has taken.
 *
 * How it can fail: what a job had not finished when it died is not searched;
 * the search is not called complete then. */
#include "search_job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "search_seen.h"
#include "world.h"

enum { DEATHS = SEARCH_FOUND, GLANCES = 20 };

struct jobs {
    const struct search_plan *plan;
    struct search_shared *sh;
    pid_t pids[SEARCH_JOBS];
    uint64_t beats[SEARCH_JOBS];
    int64_t heard[SEARCH_JOBS], began;
    unsigned n, deaths;
};

static int64_t seconds(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec;
}

bool search_same(const char *a, const char *b)
{
    static const char digits[] = "-0123456789abcdef";

    while (*a && *b) {
        size_t na = strspn(a, digits), nb = strspn(b, digits);

        a += na;
        b += nb;
        if (*a != *b)
            return false;
        if (*a) {
            a++;
            b++;
        }
    }
    return *a == *b;
}

void search_note(struct search_shared *sh, const struct run *r,
                 const char *text)
{
    uint32_t n;
    bool known = false;

    while (atomic_flag_test_and_set(&sh->lock))
        ;
    n = atomic_load(&sh->n_found);
    for (uint32_t i = 0; i < n; i++)
        known = known || search_same(sh->found[i].text, text);
    if (!known && n < SEARCH_FOUND) {
        sh->found[n].seed = r->seed;
        snprintf(sh->found[n].text, SEARCH_TEXT, "%s", text);
        run_text(r, sh->found[n].schedule);
        atomic_store(&sh->n_found, n + 1);
    }
    atomic_flag_clear(&sh->lock);
}

void search_ended(const struct search_plan *p, struct search_shared *sh,
                  const struct run *r, enum run_end end)
{
    uint64_t runs = atomic_fetch_add(&sh->runs, 1) + 1;

    if (p->max_runs && runs >= p->max_runs)
        atomic_store(&sh->stop, true);
    if (!sim_violated())
        return;
    switch (end) {
    case RUN_GOES_ON:
    case RUN_DONE:
        atomic_fetch_add(&sh->violations, 1);
        break;
    case RUN_LEFT:
        atomic_fetch_add(&sh->leaks, 1);
        break;
    case RUN_STUCK:
        atomic_fetch_add(&sh->stuck, 1);
        break;
    }
    search_note(sh, r, sim_violated());
}

static void begin_job(struct jobs *js, unsigned i)
{
    pid_t parent = getpid();

    fflush(NULL);
    js->sh->slots[i].busy = true;
    js->heard[i] = seconds();
    js->pids[i] = fork();
    if (js->pids[i] != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent)
        search_job(js->plan, js->sh, &js->sh->slots[i]);
    _exit(0);
}

static void job_died(struct jobs *js, unsigned i, int status)
{
    struct run r = js->sh->slots[i].run;
    char text[64] = "a job ended by itself";

    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "the program died: %s",
                 strsignal(WTERMSIG(status)));
    atomic_fetch_add(&js->sh->violations, 1);
    if (r.scene)
        search_note(js->sh, &r, text);
    if (++js->deaths < DEATHS)
        begin_job(js, i);
}

static void reap(struct jobs *js)
{
    for (unsigned i = 0; i < js->n; i++) {
        int status = 0;

        if (js->pids[i] <= 0 || waitpid(js->pids[i], &status, WNOHANG) == 0)
            continue;
        js->pids[i] = 0;
        js->sh->slots[i].busy = false;
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            job_died(js, i, status);
    }
}

/* A job that is caught in a loop is ended, and so found. */
static void listen_to(struct jobs *js, unsigned i)
{
    uint64_t beat = atomic_load(&js->sh->slots[i].beat);

    if (beat != js->beats[i])
        js->heard[i] = seconds();
    js->beats[i] = beat;
    if (js->pids[i] > 0 && seconds() - js->heard[i] > SEARCH_SILENT_S)
        kill(js->pids[i], SIGABRT);
}

static bool any(const struct jobs *js)
{
    for (unsigned i = 0; i < js->n; i++) {
        if (js->pids[i] > 0)
            return true;
    }
    return false;
}

static void gather(const struct jobs *js, struct search_result *out)
{
    struct search_shared *sh = js->sh;

    out->runs = atomic_load(&sh->runs);
    out->steps = atomic_load(&sh->steps);
    out->states = seen_count();
    out->full = seen_full();
    out->violations = atomic_load(&sh->violations);
    out->stuck = atomic_load(&sh->stuck);
    out->leaks = atomic_load(&sh->leaks);
    out->units = atomic_load(&sh->units);
    out->tried = atomic_load(&sh->tried);
    out->allocs = atomic_load(&sh->allocs);
    out->starved = atomic_load(&sh->starved);
    out->n_found = atomic_load(&sh->n_found);
    memcpy(out->found, sh->found, sizeof out->found);
    out->complete = !atomic_load(&sh->stop) && js->deaths == 0;
}

static void count_scenes(const struct search_plan *p, struct search_result *out)
{
    for (unsigned i = 0; i < sim_scene_count(p->recipe); i++) {
        const struct sim_scene *s = sim_scene_at(p->recipe, i);

        if (!search_wanted(p, s))
            continue;
        out->scenes++;
        out->doubles += s->pairs;
        out->doubled += s->pairs && p->faults > 1 && !p->chance;
    }
}

static void attend(struct jobs *js, struct search_result *out,
                   void (*progress)(const struct search_result *so_far))
{
    const struct timespec glance = {.tv_nsec = 1000000000 / GLANCES};
    sigset_t ended;

    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD); /* The signal is blocked: see search_run(). */
    for (unsigned i = 0; any(js); i++) {
        sigtimedwait(&ended, NULL, &glance);
        reap(js);
        for (unsigned k = 0; k < js->n; k++)
            listen_to(js, k);
        if (js->plan->seconds &&
            seconds() - js->began >= (int64_t)js->plan->seconds)
            atomic_store(&js->sh->stop, true);
        if (progress && i % GLANCES == 0) {
            gather(js, out);
            progress(out);
        }
    }
    gather(js, out);
}

static void *share_memory(size_t n)
{
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                   -1, 0);

    if (p == MAP_FAILED || !seen_open()) {
        fprintf(stderr, "no memory to share: %s\n", strerror(errno));
        exit(2);
    }
    return p;
}

void search_run(const struct search_plan *p, struct search_result *out,
                void (*progress)(const struct search_result *so_far))
{
    struct jobs js = {.plan = p, .n = p->jobs, .began = seconds()};
    sigset_t ended, before;

    memset(out, 0, sizeof *out);
    sigemptyset(&ended);
    sigaddset(&ended, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ended, &before);
    js.sh = share_memory(sizeof *js.sh);
    if (js.n > SEARCH_JOBS)
        js.n = SEARCH_JOBS;
    count_scenes(p, out);
    faults_begin(p->recipe); /* To name what a job was at. */
    for (unsigned i = 0; i < js.n; i++)
        begin_job(&js, i);
    attend(&js, out, progress);
    sigprocmask(SIG_SETMASK, &before, NULL);
    munmap(js.sh, sizeof *js.sh);
    seen_close();
}
