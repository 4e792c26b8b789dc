/* Runs CMD in a round of a double barrier.  A process that loses its place has
 * gone for the others, so CMD is ended before that can happen. */
#include "round.h"
#include "action.h"
#include "work.h"

struct round {
    struct connection connection;
    struct work work;
    const char *path;
    char **run;
    uint32_t count;
    evzk_double_barrier *object;
    evzk_double_barrier_query *look;
    int status; /* Of CMD. */
    int signo;  /* The signal that ended the wait, or 0. */
};

static void finish(struct round *r, int status)
{
    connection_finish(&r->connection, status);
}

/* A place that is lost needs no leaving. */
static void leave(struct round *r)
{
    if (!r->object || evzk_double_barrier_leave(r->object))
        finish(r, r->status);
}

static void on_ended(int status, void *arg)
{
    struct round *r = arg;

    r->status = status;
    leave(r);
}

static void enter(struct round *r)
{
    work_number("EVZK_COUNT", r->count);
    if (!r->run) {
        leave(r);
    } else if (!work_start(&r->work, r->run, NULL, 0)) {
        r->status = STATUS_NOT_RUN;
        leave(r);
    }
}

/* Says how many have come, this process included. */
static void on_look(evzk_double_barrier_query *look, int rc,
                    const evzk_participant *v, size_t n, void *arg)
{
    struct round *r = arg;
    size_t waiting = 0;

    (void)look;
    if (connection_finished(&r->connection))
        return;
    for (size_t i = 0; i < n; i++)
        waiting += !v[i].inside;
    if (rc)
        finish(r, complain_error(rc, r->path));
    else
        finish(r, complain_waited(
                      &r->connection,
                      "%s: not enough have come: %zu of %u: start more, or "
                      "wait longer (-w)",
                      r->path, waiting + 1, r->count));
}

static void too_few(struct round *r)
{
    if (!r->connection.connected ||
        evzk_double_barrier_query_start(r->connection.session, r->path, on_look,
                                        r, &r->look))
        finish(r, complain_waited(&r->connection, "%s: not enough have come",
                                  r->path));
}

static void drop(struct round *r)
{
    evzk_double_barrier_free(r->object);
    r->object = NULL;
}

static void failed(struct round *r, int rc)
{
    drop(r);
    if (r->signo)
        finish(r, 128 + r->signo);
    else if (rc == EVZK_ERR_TIMEOUT)
        too_few(r);
    else if (!connection_finished(&r->connection))
        finish(r, complain_error(rc, r->path));
}

static void left(struct round *r, int rc)
{
    drop(r);
    if (rc && !r->signo && rc != EVZK_ERR_CLOSED)
        complain("%s: others may still be inside: %s", r->path,
                 evzk_strerror(rc));
    finish(r, r->signo ? 128 + r->signo : r->status);
}

static void lost(struct round *r, int rc)
{
    drop(r);
    if (work_runs(&r->work)) {
        work_lost(&r->work, r->path, rc);
        return;
    }
    if (!connection_finished(&r->connection))
        complain("%s: lost: %s", r->path, evzk_strerror(rc));
    finish(r, STATUS_LOST);
}

static void on_round(evzk_double_barrier *object,
                     evzk_double_barrier_event event, int rc, void *arg)
{
    struct round *r = arg;

    (void)object;
    switch (event) {
    case EVZK_DOUBLE_BARRIER_ENTERED:
        enter(r);
        break;
    case EVZK_DOUBLE_BARRIER_SUSPENDED:
    case EVZK_DOUBLE_BARRIER_RESUMED:
        break;
    case EVZK_DOUBLE_BARRIER_LEFT:
        left(r, rc);
        break;
    case EVZK_DOUBLE_BARRIER_LOST:
        lost(r, rc);
        break;
    case EVZK_DOUBLE_BARRIER_FAILED:
        failed(r, rc);
        break;
    }
}

static uint32_t lease_ms(void *arg)
{
    struct round *r = arg;

    return r->object ? evzk_double_barrier_lease_ms(r->object) : 0;
}

/* A signal ends the wait for the others, or goes to CMD. */
static void on_stop(int signo, void *arg)
{
    struct round *r = arg;

    if (work_signal(&r->work, signo))
        return;
    if (r->signo || !r->object || evzk_double_barrier_cancel(r->object))
        finish(r, 128 + signo);
    r->signo = signo;
}

static int start(struct round *r, uint32_t wait_ms)
{
    evzk_double_barrier_options opt = {.count = r->count,
                                       .timeout_ms = wait_ms};
    int rc = evzk_double_barrier_enter(r->connection.session, r->path, &opt,
                                       on_round, r, &r->object);

    return rc ? complain_error(rc, r->path) : 0;
}

int round_run(const char *path, uint32_t count, uint32_t wait_ms, char **run)
{
    struct round r = {.path = path, .run = run, .count = count};
    int status;

    r.connection.stop = on_stop;
    r.connection.arg = &r;
    r.work = (struct work){.connection = &r.connection,
                           .lease_ms = lease_ms,
                           .ended = on_ended,
                           .arg = &r};
    status = work_prepare(&r.work);
    if (!status)
        status = connection_open(&r.connection);
    if (!status)
        status = start(&r, wait_ms);
    if (!status)
        status = connection_run(&r.connection);
    drop(&r);
    evzk_double_barrier_query_free(r.look);
    work_free(&r.work);
    connection_free(&r.connection);
    return status;
}
