/* The timers of the scene.  In the order in which they were set: of two that
 * are due at the same time, the one set first goes first. */
#include <string.h>

#include "happen.h"
#include "world.h"

struct timer {
    void (*fn)(intptr_t arg);
    intptr_t arg;
    int64_t at;
    int64_t proc; /* As wide as the others: no padding. */
};

static struct {
    struct timer timer[STAGE_TIMERS];
    int64_t n;
} stage;
SIM_KEEP(stage)

void stage_at(int64_t delay_us, int proc, void (*fn)(intptr_t arg),
              intptr_t arg)
{
    if (stage.n == STAGE_TIMERS) {
        sim_violation("too many timers of the scene");
        return;
    }
    stage.timer[stage.n++] = (struct timer){
        fn, arg, sim_now() + (delay_us > 0 ? delay_us : 0), proc};
}

static void drop(int64_t i)
{
    struct timer *t = &stage.timer[i];

    stage.n--;
    memmove(t, t + 1, (size_t)(stage.n - i) * sizeof *t);
    memset(&stage.timer[stage.n], 0, sizeof *t);
}

void stage_cancel(void (*fn)(intptr_t arg), intptr_t arg)
{
    for (int64_t i = stage.n; i-- > 0;) {
        if (stage.timer[i].fn == fn && stage.timer[i].arg == arg)
            drop(i);
    }
}

static int64_t due(const struct timer *t)
{
    int64_t until = t->proc < 0 ? 0 : proc_frozen((int)t->proc);

    return t->at > until ? t->at : until;
}

bool stage_next(struct sim_happening *h)
{
    const struct timer *t = stage.timer, *first = NULL;

    for (; t < stage.timer + stage.n; t++) {
        if (!first || due(t) < due(first))
            first = t;
    }
    if (!first)
        return false;
    *h = (struct sim_happening){SIM_STAGE, due(first), (int)first->proc,
                                (int)(first - stage.timer)};
    return true;
}

void stage_do(const struct sim_happening *h)
{
    struct timer t;
    int before;

    if (h->id >= stage.n || due(&stage.timer[h->id]) > sim_now())
        return; /* It was cancelled, or put off, since it was the next. */
    t = stage.timer[h->id];
    drop(h->id);
    before = sim_enter((int)t.proc);
    t.fn(t.arg);
    sim_leave(before);
}
