/* A run from its beginning to its end: when it is over, and when it is stuck.
 *
 * A scene that is done still leaves something to the servers: sessions that
 * were left without a word end, what was held is committed.  Only then must
 * nothing be left.
 *
 * How it can fail: a run that would come to its end later is called stuck.  The
 * limits are far beyond everything that a scene waits for. */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ens.h"
#include "lib/machine/machine.h"
#include "lib/request/core.h"
#include "owes.h"
#include "processes.h"
#include "world.h"

enum {
    MANY = 20000,               /* Steps. */
    LONG_US = 60 * 1000 * 1000, /* After the last fault was healed. */
    SETTLE_US = 5 * 1000 * 1000 /* For sessions to end. */
};

static int64_t done_at; /* 0: not yet. */
SIM_KEEP(done_at)

void run_begin(const struct run *r)
{
    sim_violation_clear();
    sim_world_begin(r->seed);
    faults_begin(r->recipe);
    r->recipe->begin(r->scene);
}

static void tell_machines(int proc, char *out, size_t size)
{
    const struct process *p = process_of(proc);
    const struct evzk__machine *m;
    size_t len = 0;

    out[0] = '\0';
    if (!p || !p->s)
        return;
    len = (size_t)snprintf(out, size, " p%d:%s", proc,
                           p->closing ? "closing" : "");
    TAILQ_FOREACH(m, &evzk__core_of(p->s)->machines, all)
    {
        if (len < size)
            len += (size_t)snprintf(out + len, size - len, " %s %s",
                                    m->kind->name, evzk__machine_state(m));
    }
}

static enum run_end stuck(const struct run *r, const char *why)
{
    char text[SIM_PROCS][160];

    if (sim_violated())
        return RUN_DONE;
    for (int i = 0; i < SIM_PROCS; i++) {
        text[i][0] = '\0';
        if (i < r->scene->processes)
            tell_machines(i, text[i], sizeof text[i]);
    }
    sim_violation("stuck: %s:%s%s%s%s", why, text[0], text[1], text[2],
                  text[3]);
    return RUN_STUCK;
}

/* Sessions that were freed still let go of their connections. */
static bool idle(void)
{
    for (int i = 0; i < SIM_PROCS; i++) {
        if (sim_live(i))
            return false;
    }
    return ens_sessions() == 0 && ens_watches() == 0;
}

static bool settled(void)
{
    int64_t from = faults_healed_at();

    if (sim_now() <= from) /* Much may be mended at one moment. */
        return false;
    if (done_at > from)
        from = done_at;
    return idle() || sim_now() >= from + SETTLE_US;
}

static enum run_end finish(const struct run *r)
{
    r->recipe->check_end();
    processes_check_end();
    return sim_violated() ? RUN_LEFT : RUN_DONE;
}

bool run_settling(void) { return done_at != 0; }

enum run_end run_next(const struct run *r, uint32_t n, struct sim_step *step)
{
    if (sim_violated())
        return RUN_DONE;
    if (!done_at && r->recipe->done())
        done_at = sim_now();
    if (done_at && settled())
        return finish(r);
    if (!sim_next(step))
        return done_at ? finish(r) : stuck(r, "nothing will happen");
    if (n >= MANY)
        return stuck(r, "too much happens");
    if (!done_at && sim_now() > faults_healed_by() + LONG_US)
        return stuck(r, "long after all was healed");
    return RUN_GOES_ON;
}

void run_step(const struct run *r, const struct sim_step *step)
{
    sim_do(step);
    faults_after(step);
    r->recipe->check();
    owes_check(r->recipe);
    processes_check();
}

static void strike(const struct strike *s, const struct sim_step *step)
{
    bool struck = fault_strike(&s->fault, step);
    char text[FAULT_TEXT];

    if (sim_talking()) {
        fault_text(&s->fault, text);
        sim_say("%" PRIu32 "=%s%s", s->n, text, struck ? "" : ": in vain");
    }
}

bool run_play(const struct run *r)
{
    struct sim_step step;
    uint32_t strikes = 0, n = 0;

    run_begin(r);
    while (run_next(r, n, &step) == RUN_GOES_ON) {
        if (strikes < r->n_strikes && r->strikes[strikes].n <= n) {
            strike(&r->strikes[strikes++], &step);
        } else {
            run_step(r, &step);
            n++;
        }
    }
    return !sim_violated();
}

void run_text(const struct run *r, char out[RUN_TEXT])
{
    size_t len = (size_t)snprintf(out, RUN_TEXT, "%s:", r->scene->name);
    char text[FAULT_TEXT];

    for (uint32_t i = 0; i < r->n_strikes && len < RUN_TEXT; i++) {
        fault_text(&r->strikes[i].fault, text);
        len += (size_t)snprintf(out + len, RUN_TEXT - len, "%s%" PRIu32 "=%s",
                                i ? "," : "", r->strikes[i].n, text);
    }
}

static bool parse_scene(const char *text, size_t len, struct run *r)
{
    for (unsigned i = 0; i < sim_scene_count(r->recipe); i++) {
        const struct sim_scene *s = sim_scene_at(r->recipe, i);

        if (strlen(s->name) == len && strncmp(s->name, text, len) == 0) {
            r->scene = s;
            return true;
        }
    }
    return false;
}

static bool parse_strike(const char *text, size_t len, struct strike *s)
{
    char fault[FAULT_TEXT];
    int at = 0;

    if (sscanf(text, "%" SCNu32 "=%n", &s->n, &at) != 1 || at == 0 ||
        (size_t)at > len || len - (size_t)at >= sizeof fault)
        return false;
    memcpy(fault, text + at, len - (size_t)at);
    fault[len - (size_t)at] = '\0';
    return fault_parse(fault, &s->fault);
}

bool run_parse(const struct sim_recipe *recipe, const char *text, struct run *r)
{
    size_t len = strcspn(text, ":");

    r->recipe = recipe;
    r->n_strikes = 0;
    faults_begin(recipe);
    if (!parse_scene(text, len, r))
        return false;
    text += len;
    while (*text && text[1]) {
        text++;
        len = strcspn(text, ",");
        if (r->n_strikes == RUN_STRIKES ||
            !parse_strike(text, len, &r->strikes[r->n_strikes++]))
            return false;
        text += len;
    }
    return true;
}
