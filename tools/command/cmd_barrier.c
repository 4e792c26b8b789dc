/* evzk barrier PATH set|lift|wait, and evzk barrier PATH N [-- CMD...] */
#include <ctype.h>

#include "action.h"
#include "round.h"

#define UNSET UINT32_MAX

static uint32_t wait_ms = UNSET, count;

/* clang-format off */
static const struct option_row options[] = {
    OPTION_SECONDS_ROW("wait", 'w', "SECONDS", &wait_ms,
        "wait so long at most, then exit with 73"),
    OPTION_END
};
/* clang-format on */

struct barrier {
    struct connection connection;
    const char *path;
    evzk_barrier *object;
    evzk_value_query *look;
};

static void say_stands(struct barrier *b)
{
    connection_finish(
        &b->connection,
        complain_waited(&b->connection,
                        "%s: the barrier stands: wait longer (-w), or have it "
                        "lifted: `evzk barrier %s lift`",
                        b->path, b->path));
}

static void on_end(evzk_barrier *object, int rc, void *arg)
{
    struct barrier *b = arg;

    (void)object;
    if (rc == EVZK_ERR_TIMEOUT)
        say_stands(b);
    else if (!connection_finished(&b->connection))
        connection_finish(&b->connection, rc ? complain_error(rc, b->path) : 0);
}

/* Of -w 0: is there a barrier now? */
static void on_look(evzk_value_query *look, int rc, const evzk_value *value,
                    void *arg)
{
    struct barrier *b = arg;

    (void)look;
    if (connection_finished(&b->connection))
        return;
    if (rc == EVZK_OK && value->exists)
        say_stands(b);
    else
        connection_finish(&b->connection, rc ? complain_error(rc, b->path) : 0);
}

static int start_set(struct barrier *b)
{
    return evzk_barrier_set(b->connection.session, b->path, NULL, on_end, b,
                            &b->object);
}

static int start_lift(struct barrier *b)
{
    return evzk_barrier_lift(b->connection.session, b->path, NULL, on_end, b,
                             &b->object);
}

static int start_wait(struct barrier *b)
{
    evzk_barrier_options opt = {.timeout_ms = wait_ms == UNSET ? 0 : wait_ms};

    return wait_ms == 0 ? evzk_value_get(b->connection.session, b->path, NULL,
                                         on_look, b, &b->look)
                        : evzk_barrier_wait(b->connection.session, b->path,
                                            &opt, on_end, b, &b->object);
}

static int run(int (*start)(struct barrier *b), const struct arguments *a)
{
    struct barrier b = {.path = a->words[0]};
    int rc, status = connection_open(&b.connection);

    if (!status) {
        rc = start(&b);
        status =
            rc ? complain_error(rc, b.path) : connection_run(&b.connection);
    }
    evzk_barrier_free(b.object);
    evzk_value_query_free(b.look);
    connection_free(&b.connection);
    return status;
}

static int set(const struct arguments *a) { return run(start_set, a); }

static int lift(const struct arguments *a) { return run(start_lift, a); }

static int wait_for(const struct arguments *a) { return run(start_wait, a); }

static int enter(const struct arguments *a)
{
    return round_run(a->words[0], count,
                     wait_ms == UNSET ? 0
                     : wait_ms        ? wait_ms
                                      : 1,
                     a->run);
}

static const struct action actions[] = {
    {"set", "", "", 0, 0, RUNS_NOTHING, set},
    {"lift", "", "", 0, 0, RUNS_NOTHING, lift},
    {"wait", "", "wait", 0, 0, RUNS_NOTHING, wait_for},
    {"N", "[-- CMD [ARG...]]", "wait", 0, 0, RUNS_MAYBE, enter},
    ACTION_END};

/* PATH takes the place of N in the words, so N is read here. */
static int run_barrier(const struct arguments *a)
{
    const char *word = a->count > 1 ? a->words[1] : "";
    int status = 0;

    if (isdigit((unsigned char)word[0]))
        status = action_number(word, "N", 1, 1000000, &count);
    return status ? status : action_run(a);
}

const struct command cmd_barrier = {
    .name = "barrier",
    .summary = "hold processes back, or begin and end together",
    .arguments = "PATH set|lift|wait|N",
    .about =
        "set    sets the barrier at PATH: from now on it holds back who "
        "waits.\n"
        "lift   lifts it: all that wait go on.\n"
        "wait   waits until the barrier does not stand.  With -w 0 it only\n"
        "       looks: 0 no barrier stands, 73 one does.\n"
        "N      a double barrier: waits until N processes have come, runs "
        "CMD,\n"
        "       and ends when CMD has ended in all of them.  All have to give\n"
        "       the same N.\n"
        "\n"
        "  evzk barrier /deploy set\n"
        "  evzk barrier /deploy wait -w 60 && ./start\n"
        "  evzk barrier /load-test 3 -- ./generate-load\n",
    .options = options,
    .actions = actions,
    .min = 1,
    .max = -1,
    .runs = RUNS_MAYBE,
    .run = run_barrier,
};
