/*
 * A lane does one run at a time: a proxy, a session that is never disturbed and
 * stays, and for every run a new session behind the proxy.  Many lanes share
 * one loop.  The rule stays set until the far session is closed, so that the
 * closing is swept too.
 *
 *   IDLE -> PLAYING -> SETTLING -> CLOSING -> IDLE
 *
 * A run that does not come to its end in time is a fault, and is given up.
 */
#define _GNU_SOURCE 1
#include "sweep.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RUN_MS = 180000,  /* For one run; a healthy one takes a moment. */
    CLOSE_MS = 60000, /* No rule keeps a closing from being confirmed. */
    COPIES = 4
};

enum lane_state { IDLE, PLAYING, SETTLING, CLOSING };

struct sweep_lane {
    struct sweep *sw;
    struct proxy *proxy;
    bool waits;
    enum lane_state state;
    struct sweep_job job;
    struct sweep_run run;
    struct recorder near, far;
    void *scene;
    char dir[160];
    char servers[COPIES * 32]; /* Of the far session. */
    int64_t begun, fired, accepts;
    int64_t frames[2], bytes[2];
};

static const char *const state_name[] = {"idle", "playing", "settling",
                                         "closing"};

void sweep_complain(const struct sweep_run *run, enum sweep_fault fault,
                    const char *format, ...)
{
    struct sweep_lane *lane = run->lane;
    struct sweep_tally *t = &lane->sw->tally;
    char name[128], why[256], text[8192];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    sweep_name(lane->sw, &lane->job, name, sizeof name);
    lane->sw->recipe->tell(lane->scene, text, sizeof text);
    switch (fault) {
    case SWEEP_DOUBLED:
        t->doubled++;
        break;
    case SWEEP_BOTH_HELD:
        t->both_held++;
        break;
    case SWEEP_WRONG:
        t->wrong++;
        break;
    }
    fprintf(stderr, "sweep: --only %s (%s): %s: %s [session: %s]\n", name,
            state_name[lane->state],
            fault == SWEEP_DOUBLED     ? "doubled"
            : fault == SWEEP_BOTH_HELD ? "both held"
                                       : "wrong",
            why, lane->far.text);
    fprintf(stderr, "sweep:   %s\n", text);
}

/*
 * The client pauses for a part of its time-out when it has tried all servers.
 * That would be most of a run; so the one there is stands in its list often.
 */
static void list_servers(struct sweep_lane *lane)
{
    for (size_t i = 0, len = 0; i < COPIES; i++)
        len +=
            (size_t)snprintf(lane->servers + len, sizeof lane->servers - len,
                             "%s%s", i ? "," : "", proxy_address(lane->proxy));
}

struct sweep_lane *sweep_lane_open(struct sweep *sw, struct proxy *proxy,
                                   bool waits)
{
    struct sweep_lane *lane = calloc(1, sizeof *lane);

    if (!lane || !(lane->scene = malloc(sw->recipe->size)))
        support_fail("sweep: out of memory");
    lane->sw = sw;
    lane->proxy = proxy;
    lane->waits = waits;
    lane->run.lane = lane;
    lane->run.dir = lane->dir;
    list_servers(lane);
    return lane;
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    struct sweep_lane *lane = arg;

    if (event == EVZK_SESSION_CONNECTED)
        sweep_had(lane->sw, evzk_session_id(s));
    recorder_on_session(s, event, rc,
                        s == lane->run.near ? &lane->near : &lane->far);
}

static evzk_session *open_session(struct sweep_lane *lane, const char *servers,
                                  uint32_t timeout_ms)
{
    evzk_session_options opt = {.timeout_ms = timeout_ms,
                                .close_timeout_ms = CLOSE_MS};
    evzk_session *s;
    int rc =
        evzk_session_open(harness_base(), servers, &opt, on_session, lane, &s);

    if (rc)
        support_fail("sweep: session: %d", rc);
    return s;
}

static void read_counters(struct sweep_lane *lane, int64_t frames[2],
                          int64_t bytes[2])
{
    for (int i = 0; i < 2; i++) {
        frames[i] = proxy_frames(lane->proxy, (enum proxy_dir)i);
        bytes[i] = proxy_bytes(lane->proxy, (enum proxy_dir)i);
    }
}

/* A directory of its own for every run, so that all have the same to do. */
static void name_dir(struct sweep_lane *lane)
{
    size_t len;

    sweep_dir(lane->sw, lane->job.line, lane->dir, sizeof lane->dir);
    len = strlen(lane->dir);
    snprintf(lane->dir + len, sizeof lane->dir - len, "/%d",
             (int)lane->sw->dirs++);
}

static void begin(struct sweep_lane *lane)
{
    const struct sweep_rule *rule = lane->job.line->rule;
    struct sweep_run *run = &lane->run;

    run->server = zk_server(lane->sw->zk, 0);
    proxy_reset(lane->proxy);
    read_counters(lane, lane->frames, lane->bytes);
    lane->fired = proxy_fired(lane->proxy);
    lane->accepts = proxy_accepts(lane->proxy);
    sweep_arm(&lane->job, lane->proxy);
    name_dir(lane);
    if (!run->near)
        run->near =
            open_session(lane, zk_server(lane->sw->zk, 0), SWEEP_SESSION_MS);
    recorder_clear(&lane->far);
    run->far = open_session(lane, lane->servers,
                            rule->may_lose ? SWEEP_SHORT_MS : SWEEP_SESSION_MS);
    run->part = lane->job.line->part;
    run->may_lose = rule->may_lose;
    run->free_early = lane->job.k & 1;
    lane->begun = now_ms();
    memset(lane->scene, 0, lane->sw->recipe->size);
    lane->state = PLAYING;
    lane->sw->recipe->begin(lane->scene, run);
}

/* Nothing that the session does is under way, and nothing is watched. */
static bool is_idle(const evzk_session *s)
{
    evzk_session_stats stats;

    evzk_session_get_stats(s, &stats);
    return stats.machines == 0 && stats.watches == 0 && stats.queued == 0 &&
           stats.in_flight == 0;
}

static void judge_close(struct sweep_lane *lane)
{
    const struct recorder *rec = &lane->far;

    if (rec->finals > 1)
        sweep_complain(&lane->run, SWEEP_DOUBLED, "closed twice");
    if (rec->last != EVZK_SESSION_CLOSED || rec->rc != EVZK_OK)
        sweep_complain(&lane->run, SWEEP_WRONG, "the session's end");
}

/* What became of the one run that was asked for. */
static void show(const struct sweep_lane *lane)
{
    char text[8192];

    lane->sw->recipe->tell(lane->scene, text, sizeof text);
    fprintf(stderr, "sweep: %s [session: %s] %s\n", lane->sw->only,
            lane->far.text, text);
}

static void measure(struct sweep_lane *lane)
{
    int64_t frames[2], bytes[2];

    read_counters(lane, frames, bytes);
    for (int i = 0; i < 2; i++) {
        frames[i] -= lane->frames[i];
        bytes[i] -= lane->bytes[i];
    }
    sweep_measured(lane->sw, lane->run.part, frames, bytes);
}

static void count_unanswered(struct sweep_lane *lane)
{
    evzk_session_stats stats;

    evzk_session_get_stats(lane->run.far, &stats);
    lane->sw->unanswered +=
        proxy_accepts(lane->proxy) - lane->accepts - (int64_t)stats.connects;
}

static void finish(struct sweep_lane *lane)
{
    int64_t took = now_ms() - lane->begun;

    if (lane->sw->only && lane->job.line->rule->kind != SWEEP_PLAIN)
        show(lane);
    lane->sw->recipe->end(lane->scene);
    count_unanswered(lane);
    evzk_session_free(lane->run.far);
    lane->run.far = NULL;
    if (lane->job.line->rule->kind == SWEEP_PLAIN)
        measure(lane);
    if (took > lane->sw->tally.slowest_ms)
        lane->sw->tally.slowest_ms = took;
    sweep_report(lane->sw, &lane->job, proxy_fired(lane->proxy) - lane->fired,
                 took);
    lane->state = IDLE;
}

static void give_up(struct sweep_lane *lane)
{
    sweep_complain(&lane->run, SWEEP_WRONG, "not over after %d ms",
                   (int)(now_ms() - lane->begun));
    finish(lane);
}

static void play(struct sweep_lane *lane)
{
    if (!lane->sw->recipe->turn(lane->scene))
        return;
    lane->sw->recipe->judge(lane->scene);
    if (lane->run.free_early)
        lane->sw->recipe->end(lane->scene);
    lane->state = SETTLING;
}

static void settle(struct sweep_lane *lane)
{
    if (!evzk_session_connected(lane->run.far) || !is_idle(lane->run.far) ||
        !is_idle(lane->run.near))
        return;
    if (evzk_session_close(lane->run.far) != EVZK_OK)
        sweep_complain(&lane->run, SWEEP_WRONG, "closing");
    lane->state = CLOSING;
}

static void await_close(struct sweep_lane *lane)
{
    if (lane->far.finals == 0)
        return;
    judge_close(lane);
    finish(lane);
}

static void step(struct sweep_lane *lane)
{
    switch (lane->state) {
    case IDLE:
        if (sweep_next(lane->sw, lane->waits, &lane->job))
            begin(lane);
        return;
    case PLAYING:
        play(lane);
        return;
    case SETTLING:
        settle(lane);
        return;
    case CLOSING:
        await_close(lane);
        return;
    }
}

void sweep_lane_turn(struct sweep_lane *lane)
{
    if (lane->state != IDLE && now_ms() - lane->begun > slow_ms(RUN_MS))
        give_up(lane);
    else
        step(lane);
}

bool sweep_lane_closed(struct sweep_lane *lane)
{
    if (!lane->run.near)
        return true;
    evzk_session_close(lane->run.near); /* Refused but for the first time. */
    return lane->near.finals > 0;
}

void sweep_lane_free(struct sweep_lane *lane)
{
    evzk_session_free(lane->run.near);
    proxy_stop(lane->proxy);
    free(lane->scene);
    free(lane);
}
