/* The timers of the scene.  In the order in which they were set: of two that
 * are due at the same time, the one set first goes first. */
#include <string.h>

#include "steps.h"
#include "world.h"

struct timer {
    void (*fn)(intptr_t arg);
    intptr_t arg;
    int64_t at;
    int64_t proc; /* As wide as the others: no padding. */
};

static struct {
    struct timer due[SCENE_TIMERS];
    int64_t n;
} timers;
SIM_KEEP(timers)

void scene_timer_set(int64_t delay_us, int proc, void (*fn)(intptr_t arg),
                     intptr_t arg)
{
    if (timers.n == SCENE_TIMERS) {
        sim_violation("too many timers of the scene");
        return;
    }
    timers.due[timers.n++] = (struct timer){
        fn, arg, sim_now() + (delay_us > 0 ? delay_us : 0), proc};
}

static void drop(int64_t i)
{
    struct timer *t = &timers.due[i];

    timers.n--;
    memmove(t, t + 1, (size_t)(timers.n - i) * sizeof *t);
    memset(&timers.due[timers.n], 0, sizeof *t);
}

void scene_timer_cancel(void (*fn)(intptr_t arg), intptr_t arg)
{
    for (int64_t i = timers.n; i-- > 0;) {
        if (timers.due[i].fn == fn && timers.due[i].arg == arg)
            drop(i);
    }
}

static int64_t due(const struct timer *t)
{
    int64_t until = t->proc < 0 ? 0 : process_frozen_until((int)t->proc);

    return t->at > until ? t->at : until;
}

bool scene_timer_next(struct sim_step *step)
{
    const struct timer *t = timers.due, *first = NULL;

    for (; t < timers.due + timers.n; t++) {
        if (!first || due(t) < due(first))
            first = t;
    }
    if (!first)
        return false;
    *step = (struct sim_step){SIM_SCENE_TIMER, due(first), (int)first->proc,
                              (int)(first - timers.due)};
    return true;
}

void scene_timer_do(const struct sim_step *step)
{
    struct timer t;
    int before;

    if (step->id >= timers.n || due(&timers.due[step->id]) > sim_now())
        return; /* The timer was cancelled, or put off, since it was the next.
                 */
    t = timers.due[step->id];
    drop(step->id);
    before = sim_enter((int)t.proc);
    t.fn(t.arg);
    sim_leave(before);
}
