/*
 * What the sweep runs.  Every rule makes a line for every part of the recipe,
 * and a line counts k up until the scenario ends before the k-th frame or byte.
 * How many there are is known only by trying: an undisturbed run is measured
 * first, runs up to there go side by side, and those beyond one by one.
 *
 * A line that never strikes would prove nothing, so that is an error.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HOLD_MS = 100, /* Too short for anybody's time-out. */
    FREEZE_MS = SWEEP_SHORT_MS * 3 / 2,
    TWICE_AT_ONCE = 4,
    PLAIN_RUNS = 8,
    TRIES = 4,
    ENOUGH = 50,    /* Faults, to go on for more. */
    FIRST_FRAME = 5 /* In a share, one of so many is the first that is tried. */
};

/* clang-format off */
static const struct sweep_rule rules[] = {
    {"plain", SWEEP_PLAIN, PROXY_C2S, PROXY_CUT_AFTER, 0, false, false},
    {"freeze-request", SWEEP_FRAME, PROXY_C2S, PROXY_FREEZE_BOTH, FREEZE_MS,
     true, true},
    {"freeze-reply", SWEEP_FRAME, PROXY_S2C, PROXY_FREEZE_BOTH, FREEZE_MS,
     true, true},
    {"drop-request", SWEEP_FRAME, PROXY_C2S, PROXY_DROP, 0, true, true},
    {"drop-reply", SWEEP_FRAME, PROXY_S2C, PROXY_DROP, 0, true, true},
    {"slow", SWEEP_WHOLE, PROXY_C2S, PROXY_FREEZE, 0, true, false},
    {"hold-request", SWEEP_FRAME, PROXY_C2S, PROXY_FREEZE, HOLD_MS, true,
     false},
    {"hold-reply", SWEEP_FRAME, PROXY_S2C, PROXY_FREEZE, HOLD_MS, true, false},
    {"cut-before-request", SWEEP_FRAME, PROXY_C2S, PROXY_CUT_BEFORE, 0, false,
     false},
    {"cut-after-request", SWEEP_FRAME, PROXY_C2S, PROXY_CUT_AFTER, 0, false,
     false},
    {"cut-before-reply", SWEEP_FRAME, PROXY_S2C, PROXY_CUT_BEFORE, 0, false,
     false},
    {"cut-after-reply", SWEEP_FRAME, PROXY_S2C, PROXY_CUT_AFTER, 0, false,
     false},
    {"twice-request", SWEEP_TWICE, PROXY_C2S, PROXY_CUT_BEFORE, 0, false,
     false},
    {"twice-reply", SWEEP_TWICE, PROXY_S2C, PROXY_CUT_BEFORE, 0, false, false},
    {"byte-request", SWEEP_BYTE, PROXY_C2S, PROXY_CUT_AFTER, 0, false, false},
    {"byte-reply", SWEEP_BYTE, PROXY_S2C, PROXY_CUT_AFTER, 0, false, false},
};
/* clang-format on */

enum { RULES = sizeof rules / sizeof *rules };

int sweep_rules(void) { return RULES - 1; /* But for "plain". */ }

static int64_t step_of(const struct sweep *sw, const struct sweep_rule *rule)
{
    int64_t step = (int64_t)(100 / sw->share);

    switch (rule->kind) {
    case SWEEP_PLAIN:
    case SWEEP_WHOLE:
        return 1;
    case SWEEP_FRAME:
        return step < sw->frames ? step : sw->frames;
    case SWEEP_BYTE:
    case SWEEP_TWICE:
        return step;
    }
    return 1;
}

/* Each line of a share begins elsewhere, and none so late that a short scenario
 * is over. */
static int64_t first_of(const struct sweep_line *line)
{
    int64_t within = line->step;

    if (line->rule->kind == SWEEP_FRAME && within > FIRST_FRAME)
        within = FIRST_FRAME;
    return (line->rule - rules + line->part) % within;
}

/* Is the run that was asked for of this line?  Then k and n are its numbers.  A
 * name without them, or with anything behind them, is of no line. */
static bool is_asked(const struct sweep *sw, const struct sweep_line *line,
                     int64_t *k, int64_t *n)
{
    bool twice = line->rule->kind == SWEEP_TWICE;
    const char *numbers;
    char name[128];
    int end = 0;

    snprintf(name, sizeof name, "%s/%s:", sw->recipe->parts[line->part],
             line->rule->name);
    if (line->rule->kind == SWEEP_PLAIN ||
        strncmp(sw->only, name, strlen(name)) != 0)
        return false;
    numbers = sw->only + strlen(name);
    *k = *n = 0;
    return sscanf(numbers, "%" SCNd64 "%n:%" SCNd64 "%n", k, &end, n, &end) >=
               1 + twice &&
           !numbers[end] && *k > 0 && *n >= twice;
}

/* Narrows a line to the one run that was asked for; false: it is not of this
 * line. */
static bool narrow(const struct sweep *sw, struct sweep_line *line)
{
    int64_t k, n;

    if (is_asked(sw, line, &k, &n)) {
        line->k = k - (line->rule->kind != SWEEP_TWICE);
        line->n = n - (line->rule->kind == SWEEP_TWICE);
        line->step = 1;
        return true;
    }
    if (line->rule->kind != SWEEP_PLAIN)
        line->over = line->checked = true;
    return false;
}

/* False: another run was asked for. */
static bool add_line(struct sweep *sw, const struct sweep_rule *rule, int part)
{
    struct sweep_line *line = &sw->line[sw->lines++];

    line->rule = rule;
    line->part = part;
    line->step = step_of(sw, rule);
    line->k = rule->kind == SWEEP_TWICE;
    line->turn = line->step - 1 - first_of(line);
    return !sw->only || narrow(sw, line);
}

bool sweep_plan(struct sweep *sw)
{
    int parts = 0;
    bool any = false;

    while (sw->recipe->parts[parts])
        parts++;
    sw->line = calloc((size_t)(RULES * parts), sizeof *sw->line);
    if (!sw->line)
        support_fail("sweep: out of memory");
    for (size_t i = 0; i < RULES; i++)
        for (int part = 0; part < parts; part++)
            any = add_line(sw, &rules[i], part) || any;
    return any;
}

/* True when another run may begin beside those under way. */
static bool may_begin(const struct sweep_line *line)
{
    if (line->over)
        return false;
    switch (line->rule->kind) {
    case SWEEP_PLAIN:
        return line->k < PLAIN_RUNS && line->under_way == 0;
    case SWEEP_WHOLE:
        return line->measured == PLAIN_RUNS && line->k == 0;
    case SWEEP_FRAME:
    case SWEEP_BYTE:
        return line->measured == PLAIN_RUNS &&
               (line->k < line->extent || line->under_way == 0);
    case SWEEP_TWICE:
        return line->measured == PLAIN_RUNS &&
               line->under_way < TWICE_AT_ONCE &&
               (line->k <= line->extent || line->under_way == 0);
    }
    return false;
}

static void count_up(struct sweep_line *line)
{
    do {
        if (line->rule->kind == SWEEP_TWICE)
            line->n++;
        else
            line->k++;
    } while (++line->turn % line->step != 0);
}

/* The next run of a line, if there is one. */
static bool take(const struct sweep *sw, struct sweep_line *line,
                 struct sweep_job *job)
{
    const struct sweep_tally *t = &sw->tally;

    if (t->doubled + t->both_held + t->wrong >= ENOUGH) {
        line->over = true;
        line->agains = 0;
    }
    if (line->agains > 0) {
        *job = line->again[--line->agains];
    } else if (may_begin(line)) {
        count_up(line);
        *job = (struct sweep_job){.line = line, .k = line->k, .n = line->n};
        if (sw->only && line->rule->kind != SWEEP_PLAIN)
            line->over = true;
    } else {
        return false;
    }
    line->under_way++;
    return true;
}

bool sweep_next(struct sweep *sw, bool waits, struct sweep_job *job)
{
    for (size_t i = 0; i < sw->lines; i++) {
        struct sweep_line *line = &sw->line[i];

        if (line->rule->waits != waits || !take(sw, line, job))
            continue;
        sw->last = line;
        return true;
    }
    return false;
}

/*
 * How many frames there are differs a little from run to run: a request that
 * crosses an event may be spared.  So a miss where an undisturbed run had
 * frames is tried again.  True when it will be.
 */
static bool try_again(const struct sweep *sw, struct sweep_line *line,
                      const struct sweep_job *job)
{
    if (sw->only || job->k > line->extent || job->tries >= TRIES ||
        line->agains == SWEEP_AGAIN)
        return false;
    line->again[line->agains] = *job;
    line->again[line->agains++].tries++;
    return true;
}

static void next_k(const struct sweep *sw, struct sweep_line *line,
                   const struct sweep_job *job)
{
    if (job->k == line->k) {
        line->k += sw->share < 100 ? sw->frames : 1;
        line->n = 0;
    }
}

/* The scenario ended before it: beyond the extent that is the line's end. */
static void missed(const struct sweep *sw, struct sweep_line *line,
                   const struct sweep_job *job)
{
    switch (line->rule->kind) {
    case SWEEP_PLAIN:
        line->over = line->runs == PLAIN_RUNS;
        return;
    case SWEEP_WHOLE:
        line->over = true;
        return;
    case SWEEP_FRAME:
    case SWEEP_BYTE:
        if (!try_again(sw, line, job) && job->k > line->extent)
            line->over = true;
        return;
    case SWEEP_TWICE:
        if (try_again(sw, line, job))
            return;
        line->over = line->over || job->k > line->extent;
        next_k(sw, line, job);
        return;
    }
}

void sweep_report(struct sweep *sw, const struct sweep_job *job, int64_t hits,
                  int64_t took_ms)
{
    struct sweep_line *line = job->line;

    line->under_way--;
    line->runs++;
    line->spent_ms += took_ms;
    line->hits += hits > 0;
    sw->tally.runs++;
    sw->tally.hits += hits > 0;
    if (hits > 0 && job->k > line->farthest)
        line->farthest = job->k;
    if (hits == 0)
        missed(sw, line, job);
    else if (hits == 1 && line->rule->kind == SWEEP_TWICE)
        next_k(sw, line, job);
}

/* The first runs are slow, on a server that is cold: frames that only keep the
 * session alive make them longer. */
void sweep_measured(struct sweep *sw, int part, const int64_t frames[2],
                    const int64_t bytes[2])
{
    for (size_t i = 0; i < sw->lines; i++) {
        struct sweep_line *line = &sw->line[i];
        enum proxy_dir dir = line->rule->dir;
        bool by_byte = line->rule->kind == SWEEP_BYTE;
        int64_t extent = by_byte ? bytes[dir] : frames[dir];

        if (line->part == part &&
            (line->measured++ == 0 || extent < line->extent))
            line->extent = extent;
    }
}

void sweep_arm(const struct sweep_job *job, struct proxy *proxy)
{
    const struct sweep_rule *rule = job->line->rule;

    switch (rule->kind) {
    case SWEEP_PLAIN:
        return;
    case SWEEP_FRAME:
        proxy_hold_at_frame(proxy, rule->dir, job->k, rule->act, rule->ms);
        return;
    case SWEEP_BYTE:
        proxy_cut_after_bytes(proxy, rule->dir, job->k);
        return;
    case SWEEP_TWICE:
        proxy_cut_at_frame(proxy, rule->dir, job->k, rule->act);
        proxy_then_at_frame(proxy, rule->dir, job->n, rule->act);
        return;
    case SWEEP_WHOLE:
        proxy_slow(proxy, true);
        return;
    }
}

void sweep_name(const struct sweep *sw, const struct sweep_job *job, char *text,
                size_t size)
{
    int n =
        snprintf(text, size, "%s/%s:%ld", sw->recipe->parts[job->line->part],
                 job->line->rule->name, (long)job->k);

    if (job->line->rule->kind == SWEEP_TWICE && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, ":%ld", (long)job->n);
}

void sweep_sum(struct sweep *sw)
{
    for (size_t i = 0; i < sw->lines; i++) {
        const struct sweep_line *line = &sw->line[i];
        int64_t extent =
            line->farthest > line->extent ? line->farthest : line->extent;

        if (strcmp(line->rule->name, "cut-before-request") == 0)
            sw->tally.requests += extent;
        else if (strcmp(line->rule->name, "cut-before-reply") == 0)
            sw->tally.replies += extent;
        else if (line->rule->kind == SWEEP_BYTE)
            sw->tally.bytes += extent;
        if (sw->verbose)
            fprintf(stderr,
                    "%-8s %-18s extent=%d farthest=%d runs=%d hits=%d "
                    "mean=%dms\n",
                    sw->recipe->parts[line->part], line->rule->name,
                    (int)line->extent, (int)line->farthest, (int)line->runs,
                    (int)line->hits,
                    (int)(line->spent_ms / (line->runs ? line->runs : 1)));
    }
}

bool sweep_done(const struct sweep *sw)
{
    for (size_t i = 0; i < sw->lines; i++)
        if (!sw->line[i].checked)
            return false;
    return true;
}
