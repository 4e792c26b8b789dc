/* Processes that count the children of a znode, and their rule: each is told a
 * number that was true between its question and the answer.
 *
 * How it can fail: the tree is looked at after every step. */
#include <string.h>

#include "ens.h"
#include "evzk/count.h"
#include "processes.h"
#include "scene.h"
#include "scene_list.h"
#include "scene_setup.h"
#include "steps.h"

struct count_scene {
    int counts;   /* One after another, by process 0. */
    bool missing; /* The znode is not there. */
};

static const char dir[] = "/counted";

static struct {
    evzk_count *c;
    int64_t left;  /* Counts that are still to begin. */
    uint64_t seen; /* A bit for each number since the question. */
    bool missing, over;
} one;
SIM_KEEP(one)

static void start(intptr_t arg);

static void end(void)
{
    evzk_count *gone = one.c;

    one.c = NULL;
    process_call_begins(0);
    evzk_count_free(gone);
    process_call_ends(0);
    if (one.left > 0)
        scene_timer_set(100 * 1000, 0, start, 0);
    else if (!one.over) {
        one.over = true;
        process_close(0);
    }
}

static void look(void)
{
    const char *names[8];

    one.seen |= UINT64_C(1) << ens_children(dir, names, 8);
    if (!ens_look(dir, &(struct ens_seen){0}))
        one.missing = true;
}

static bool excused(int rc)
{
    return (rc == EVZK_ERR_NONODE && one.missing) ||
           (rc == EVZK_ERR_CLOSED && process_of(0)->closing) ||
           (rc == EVZK_ERR_SERVER && ens_throttled(0)) ||
           (rc == EVZK_ERR_TOOLARGE && ens_shut(0)) ||
           (rc == EVZK_ERR_NOMEM && process_lacked_memory(0));
}

static void on_count(evzk_count *c, int rc, size_t n, void *arg)
{
    (void)arg;
    sim_say("p0 counts %zu: %s", n, evzk_errname(rc));
    process_heard(0, "the count's callback");
    if (c != one.c || (rc != EVZK_OK && !excused(rc)))
        sim_violation("a count gave %s", evzk_errname(rc));
    if (rc == EVZK_OK && !(one.seen >> n & 1))
        sim_violation("a count gave %zu, which was never true", n);
    process_callback(0); /* The explorer may free it here. */
    if (one.c == c)
        end();
}

static void start(intptr_t arg)
{
    int rc;

    if (one.over || one.c)
        return;
    if (process_opening(0)) {
        scene_timer_set(5000, 0, start, arg);
        return;
    }
    one.seen = 0;
    look();
    process_call_begins(0);
    rc = evzk_count_start(process_of(0)->s, dir, on_count, NULL, &one.c);
    process_call_ends(0);
    if (rc == EVZK_ERR_NOMEM)
        scene_timer_set(5000, 0, start, arg);
    else
        one.left--;
    if (rc != EVZK_OK && !excused(rc))
        sim_violation("to count: %s", evzk_errname(rc));
    if (rc == EVZK_ERR_CLOSED)
        one.over = true;
}

/* Another program makes a child, and deletes it. */
static void make(intptr_t arg)
{
    (void)arg;
    ens_create("/counted/b", "", 0, 0);
}

static void unmake(intptr_t arg)
{
    (void)arg;
    ens_delete("/counted/b");
}

static void count_begin(const struct sim_scene *sc)
{
    static const struct process_config cfg = {.timeout_ms = 1000};
    const struct count_scene *own = sc->own;

    scene_unhook();
    memset(&one, 0, sizeof one);
    one.left = own->counts;
    one.missing = own->missing;
    ens_begin(&scene_servers);
    if (!own->missing) {
        ens_create(dir, "", 0, 0);
        ens_create("/counted/a", "", 0, 0);
        scene_timer_set(12000, 0, make, 0);
        scene_timer_set(2000000, 0, unmake, 0);
    }
    scene_open(sc, &cfg);
    scene_timer_set(10000, 0, start, 0);
}

static void count_check(void)
{
    if (one.c)
        look();
    processes_check();
}

/* Each count is told. */
static void count_owes(int proc, struct sim_debt *debt)
{
    sim_owe(debt, proc == 0 && one.c, "a count is not told", 0);
}

static bool count_done(void) { return one.over && processes_gone(); }

static void count_check_end(void) { processes_check_end(); }

static const char *const count_calls[] = {"free", "close-session", NULL};

static bool count_call(int proc, unsigned which)
{
    if (which == 0) {
        if (!one.c)
            return false;
        end();
        return true;
    }
    if (!process_has_session(proc))
        return false;
    one.over = true;
    process_close(proc);
    return true;
}

static const struct sim_scene count_scenes[] = {
    {.name = "count",
     .about = "one counts while a child comes and goes",
     .processes = 1,
     .pairs = true,
     .own = &(const struct count_scene){.counts = 4}},
    {.name = "count-nothing",
     .about = "what is counted is not there",
     .processes = 1,
     .own = &(const struct count_scene){.counts = 1, .missing = true}},
};

const struct sim_recipe sim_count =
    SIM_RECIPE("count", count, count_scenes, count, count);
