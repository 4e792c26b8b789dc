/* One job of a search: depth first, with a saved world for each depth.
 *
 * A scene is played without a fault.  Before each of its steps the world is
 * saved, and put back for each fault that can strike there; what follows is
 * played to its end, and before each of its steps a second fault is tried in
 * the same way.  A run ends at a world that was seen before with as many faults
 * to come: all that can follow was or will be visited from there.
 *
 * How it can fail: something that decides what happens is not part of what is
 * saved and digested.  Then a schedule, played from its beginning, does not
 * show what the search saw. */
#include "search_job.h"

#include <string.h>

#include "ens.h"
#include "search_seen.h"
#include "world.h"

struct job {
    const struct search_plan *plan;
    struct search_shared *sh;
    struct search_slot *slot;
    struct run *run;
    struct sim_saved *saved[SEEN_LEFT + 1];
    uint64_t unit; /* First faults are numbered, through all scenes. */
    uint64_t mine; /* The next that is this job's. */
};

bool search_wanted(const struct search_plan *p, const struct sim_scene *s)
{
    return !p->scene || strcmp(p->scene, s->name) == 0;
}

static void beat(struct job *j)
{
    atomic_fetch_add_explicit(&j->slot->beat, 1, memory_order_relaxed);
}

static void count_step(struct job *j)
{
    beat(j);
    atomic_fetch_add_explicit(&j->sh->steps, 1, memory_order_relaxed);
}

static bool stopped(const struct job *j)
{
    return atomic_load_explicit(&j->sh->stop, memory_order_relaxed);
}

/* The next first fault of this job, if the present one is its own. */
static bool take(struct job *j)
{
    uint32_t share = j->plan->share;
    bool own = j->unit++ == j->mine;

    if (own)
        j->mine = atomic_fetch_add(&j->sh->next, 1);
    return own && (j->unit - 1) % share == j->plan->seed % share;
}

/* All that may strike before step, or inside it.  The world is saved, and stays
 * as it is. */
static size_t list(struct job *j, unsigned depth, const struct sim_step *step,
                   struct fault *out)
{
    struct faults_inside in;
    size_t n = faults_before(step, out);

    j->saved[depth] = sim_save(j->saved[depth]);
    if (step->proc < 0 || step->kind == SIM_ARRIVAL)
        return n;
    faults_watch(step, &in);
    run_step(j->run, step);
    faults_watched(step, &in);
    sim_violation_clear();
    sim_restore(j->saved[depth]);
    return faults_within(step, &in, out, n);
}

/* A digest costs more than what happens.  When no more faults are to come, one
 * after every so-manieth arrival will do: worlds that are the same count alike,
 * and meet at the next. */
enum { SEEN_EVERY = 4 };

static bool is_seen(struct job *j, unsigned left, const struct sim_step *step)
{
    struct sim_digest d;

    if (left == 0 &&
        (step->kind != SIM_ARRIVAL || ens_requests(ENS_ALL) % SEEN_EVERY != 0))
        return false;
    d = sim_digest();

    d.v[0] ^= (uint64_t)sim_scene_number(j->run->recipe, j->run->scene) << 56;
    return seen_add(d, left);
}

static void branch(struct job *j, unsigned left, uint32_t n,
                   const struct sim_step *step);

/* From the present world to its end. */
static void explore(struct job *j, unsigned left, uint32_t n)
{
    struct sim_step step;
    enum run_end end;

    while ((end = run_next(j->run, n, &step)) == RUN_GOES_ON && !stopped(j)) {
        if (left > 0 && !run_settling())
            branch(j, left, n, &step);
        run_step(j->run, &step);
        n++;
        count_step(j);
        if (!sim_violated() && is_seen(j, left, &step)) {
            end = RUN_DONE;
            break;
        }
    }
    if (!stopped(j) || sim_violated())
        search_ended(j->plan, j->sh, j->run, end);
}

/* With one more fault.  The world is another then: true. */
static bool try(struct job *j, unsigned left, uint32_t n,
                const struct sim_step *step, const struct fault *f)
{
    struct strike *s = &j->run->strikes[j->run->n_strikes];

    s->n = n;
    s->fault = *f;
    j->run->n_strikes++;
    if (fault_strike(f, step)) {
        explore(j, left - 1, n);
        sim_violation_clear();
        j->run->n_strikes--;
        return true;
    }
    j->run->n_strikes--;
    return false;
}

static void branch(struct job *j, unsigned left, uint32_t n,
                   const struct sim_step *step)
{
    struct fault faults[FAULTS_MAX];
    unsigned depth = j->run->n_strikes;
    size_t n_faults = list(j, depth, step, faults);

    for (size_t i = 0; i < n_faults && !stopped(j); i++) {
        if (try(j, left, n, step, &faults[i]))
            sim_restore(j->saved[depth]);
    }
}

static bool is_wanted(const struct job *j, const struct fault *f)
{
    return !j->plan->fault || fault_is_kind(f, j->plan->fault);
}

/* The first faults, each tried by one of the jobs. */
static void branch_first(struct job *j, unsigned left, uint32_t n,
                         const struct sim_step *step, uint64_t *allocs)
{
    struct fault faults[FAULTS_MAX];
    size_t n_faults = list(j, 0, step, faults);

    for (size_t i = 0; i < n_faults && !stopped(j); i++) {
        bool is_alloc = fault_is_oom(&faults[i]);

        *allocs += is_alloc;
        if (!is_wanted(j, &faults[i]) || !take(j))
            continue;
        atomic_fetch_add(&j->sh->tried, 1);
        atomic_fetch_add(&j->sh->starved, is_alloc);
        if (try(j, left, n, step, &faults[i]))
            sim_restore(j->saved[0]);
    }
}

static void search_scene(struct job *j, const struct sim_scene *scene,
                         uint64_t *allocs)
{
    unsigned left = j->plan->faults;
    struct sim_step step;
    enum run_end end;
    bool own = take(j);

    if (left > 1 && !scene->pairs)
        left = 1;
    j->run->scene = scene;
    j->run->n_strikes = 0;
    run_begin(j->run);
    for (uint32_t n = 0; (end = run_next(j->run, n, &step)) == RUN_GOES_ON;
         n++) {
        if (stopped(j))
            return;
        if (left > 0 && !run_settling())
            branch_first(j, left, n, &step, allocs);
        run_step(j->run, &step);
        count_step(j);
    }
    if (own)
        search_ended(j->plan, j->sh, j->run, end);
    sim_violation_clear();
}

static void begin_run(struct job *j)
{
    j->run = &j->slot->run;
    j->run->recipe = j->plan->recipe;
    j->run->seed = j->plan->seed;
    j->mine = atomic_fetch_add(&j->sh->next, 1);
}

static void by_chance(struct job *j)
{
    const struct sim_recipe *recipe = j->plan->recipe;
    enum run_end end;

    for (; j->mine < j->plan->chance && !stopped(j);
         j->mine = atomic_fetch_add(&j->sh->next, 1)) {
        j->run->scene =
            sim_scene_at(recipe, (unsigned)(j->mine % sim_scene_count(recipe)));
        if (!search_wanted(j->plan, j->run->scene))
            continue;
        j->run->seed = j->plan->seed;
        end = search_chance_end(j->run, j->mine);
        beat(j);
        search_ended(j->plan, j->sh, j->run, end);
        sim_violation_clear();
    }
}

void search_job(const struct search_plan *p, struct search_shared *sh,
                struct search_slot *slot)
{
    struct job j = {.plan = p, .sh = sh, .slot = slot};
    uint64_t allocs = 0;

    begin_run(&j);
    if (p->chance > 0) {
        by_chance(&j);
        return;
    }
    for (unsigned i = 0; i < sim_scene_count(p->recipe) && !stopped(&j); i++) {
        if (search_wanted(p, sim_scene_at(p->recipe, i)))
            search_scene(&j, sim_scene_at(p->recipe, i), &allocs);
    }
    if (!stopped(&j)) { /* The same for each job that came this far. */
        atomic_store(&sh->allocs, allocs);
        atomic_store(&sh->units, j.unit);
    }
    for (unsigned i = 0; i <= SEEN_LEFT; i++)
        sim_saved_free(j.saved[i]);
}
