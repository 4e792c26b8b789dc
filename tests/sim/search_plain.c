/* Runs that are played from their beginning: a schedule again, single faults
 * without snapshots, and many faults by chance.
 *
 * How it can fail: a run by chance that cannot be played again.  The choice
 * depends on nothing but the seed, and the schedule tells which faults struck.
 */
#include "search.h"

#include <stdlib.h>

#include "world.h"

/* One strike in so many steps; numbers inside a step up to these. */
enum { ODDS = 24, ALLOCS = 12, CALLBACKS = 3 };

const char *search_replay(const struct sim_recipe *recipe, const char *schedule,
                          uint64_t seed, struct run *r)
{
    r->seed = seed;
    if (!run_parse(recipe, schedule, r))
        return "no such schedule";
    run_play(r);
    return sim_violated();
}

struct singles {
    struct strike *v;
    size_t n, room;
};

static void keep(struct singles *s, uint32_t n, const struct fault *f,
                 size_t n_faults)
{
    if (s->n + n_faults > s->room) {
        s->room = 2 * (s->n + n_faults);
        s->v = realloc(s->v, s->room * sizeof *s->v);
        if (!s->v)
            abort();
    }
    for (size_t i = 0; i < n_faults; i++) {
        s->v[s->n].n = n;
        s->v[s->n++].fault = f[i];
    }
}

/* All single faults of a scene, by playing it without any. */
static void find_singles(const struct run *r, struct singles *s)
{
    struct fault faults[FAULTS_MAX];
    struct faults_inside in;
    struct sim_step step;
    size_t n_faults;

    run_begin(r);
    for (uint32_t n = 0; run_next(r, n, &step) == RUN_GOES_ON; n++) {
        n_faults = run_settling() ? 0 : faults_before(&step, faults);
        faults_watch(&step, &in);
        run_step(r, &step);
        faults_watched(&step, &in);
        if (!run_settling())
            n_faults = faults_within(&step, &in, faults, n_faults);
        keep(s, n, faults, n_faults);
    }
}

const char *search_singles(const struct sim_recipe *recipe,
                           const struct sim_scene *scene, uint64_t seed,
                           unsigned first, unsigned stride, struct run *r,
                           unsigned *runs)
{
    struct singles s = {0};

    r->recipe = recipe;
    r->scene = scene;
    r->seed = seed;
    r->n_strikes = 0;
    *runs = 1;
    find_singles(r, &s);
    r->n_strikes = 1;
    for (size_t i = first; i < s.n && !sim_violated(); i += stride) {
        r->strikes[0] = s.v[i];
        run_play(r);
        ++*runs;
    }
    free(s.v);
    return sim_violated();
}

static uint64_t ordered(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* One of all that may strike here; false: it was in vain. */
static bool strike_by_chance(struct run *r, uint32_t n,
                             const struct sim_step *step, uint64_t *dice)
{
    const struct faults_inside in = {ALLOCS, CALLBACKS};
    struct fault faults[FAULTS_MAX];
    size_t n_faults = faults_before(step, faults);
    struct strike *s = &r->strikes[r->n_strikes];

    n_faults = faults_within(step, &in, faults, n_faults);
    if (n_faults == 0)
        return false;
    s->n = n;
    s->fault = faults[ordered(dice) % n_faults];
    if (!fault_strike(&s->fault, step))
        return false;
    r->n_strikes++;
    return true;
}

enum run_end search_chance_end(struct run *r, uint64_t n)
{
    uint64_t dice = r->seed + n * UINT64_C(0x2545f4914f6cdd1d);
    struct sim_step step;
    enum run_end end;
    uint32_t i = 0;

    r->seed = ordered(&dice) & 0xffffffff;
    r->n_strikes = 0;
    run_begin(r);
    while ((end = run_next(r, i, &step)) == RUN_GOES_ON) {
        if (r->n_strikes < RUN_STRIKES && !run_settling() &&
            ordered(&dice) % ODDS == 0 && strike_by_chance(r, i, &step, &dice))
            continue;
        run_step(r, &step);
        i++;
    }
    return end;
}

const char *search_chance(const struct sim_recipe *recipe,
                          const struct sim_scene *scene, uint64_t seed,
                          uint64_t n, struct run *r)
{
    r->recipe = recipe;
    r->scene = scene;
    r->seed = seed;
    search_chance_end(r, n);
    return sim_violated();
}
