/* evzk bench: what the servers give. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "command.h"
#include "output.h"

static uint32_t seconds = 9;
static const char *path = "/";
static struct json_object *results; /* With --json. */

static const struct option_row options[] = {
    OPTION_NUMBER_ROW("seconds", 'n', "N", &seconds, 1, 60,
                      "take this long in all (9)"),
    OPTION_TEXT_ROW("path", 'p', "PATH", &path, "make the locks below (/)"),
    OPTION_END};

static void report(struct bench *b)
{
    const struct phase *phase = &bench_phases[b->phase];
    double time_s = (double)(b->ended_us - b->begun_us) / 1e6;
    double rate = (double)b->rounds / time_s;
    double median = bench_percentile(b, 0.5), p99 = bench_percentile(b, 0.99);
    struct json_object *o;

    if (!settings.json) {
        if (isatty(STDERR_FILENO))
            fputs("\r\033[K", stderr);
        printf("%-38s  %8.0f /s  median %8.2f ms  p99 %8.2f ms\n", phase->what,
               rate, median, p99);
        fflush(stdout);
        return;
    }
    o = json_object_new_object();
    json_object_object_add(o, "what", json_object_new_string(phase->name));
    json_object_object_add(o, "locks_per_s", json_object_new_double(rate));
    json_object_object_add(o, "median_ms", json_object_new_double(median));
    json_object_object_add(o, "p99_ms", json_object_new_double(p99));
    json_object_object_add(o, "locks",
                           json_object_new_int64((int64_t)b->rounds));
    json_object_array_add(results, o);
}

/* The first signal ends the phase, and removes what was made; the second one
 * leaves that to the servers. */
static void on_stop(int signo, void *arg)
{
    struct bench *b = arg;

    if (b->signo || (!b->busy && !b->sweeping))
        connection_finish(&b->connection, 128 + signo);
    b->signo = signo;
    bench_stop(b);
}

static void on_session(evzk_session_event event, void *arg)
{
    struct bench *b = arg;

    if (event == EVZK_SESSION_CONNECTED && !b->timer)
        bench_begin(b);
}

static void free_all(struct bench *b)
{
    for (size_t i = 0; i < BENCH_MANY; i++)
        evzk_lock_free(b->contenders[i].lock);
    for (size_t i = 0; i < BENCH_RIVALS; i++)
        evzk_session_free(b->rivals[i]);
    evzk_guard_free(b->guard);
    if (b->timer)
        event_free(b->timer);
    if (b->progress)
        event_free(b->progress);
    free(b->samples.v);
    connection_free(&b->connection);
}

static int run(const struct arguments *arguments)
{
    static struct bench b;
    static char prefix[4096];
    int status;

    (void)arguments;
    if (strlen(path) > 4000)
        return complain_usage("the path is too long");
    snprintf(prefix, sizeof(prefix), "%s/evzk-bench-%d",
             strcmp(path, "/") ? path : "", (int)getpid());
    b = (struct bench){
        .path = prefix,
        .phase_ms = (int64_t)(seconds * 1000 / bench_phase_count),
        .report = report,
        .connection = {.stop = on_stop, .told = on_session, .arg = &b}};
    if (settings.json) {
        results = json_object_new_array();
        json_c_set_serialization_double_format("%.3f", JSON_C_OPTION_GLOBAL);
    }
    status = connection_open(&b.connection);
    if (!status)
        status = connection_run(&b.connection);
    free_all(&b);
    if (results && !status)
        return output_json(results);
    json_object_put(results);
    return status ? status : output_flush();
}

const struct command cmd_bench = {
    .name = "bench",
    .summary = "measure how many locks a second the servers give",
    .arguments = "",
    .about =
        "Acquires and releases locks for some seconds, and prints how many a\n"
        "second, and how long it takes from asking to having: the median, and\n"
        "what one in a hundred takes longer.  The locks are named\n"
        "evzk-bench-..., and removed again.  This is load for the servers, "
        "and\n"
        "for all that use them.\n"
        "\n"
        "  evzk bench --seconds 30 --path /app\n",
    .options = options,
    .run = run,
};
