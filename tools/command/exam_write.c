/* Steps of the exam: what may be made, written, read and deleted. */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "exam.h"

static const char probe[] = "evzk doctor";

/* Sends a guarded write; `cb` goes on. */
static int write_guarded(struct exam *e, const evzk_guard_op *ops, size_t n,
                         evzk_guard_cb *cb)
{
    evzk_guard_by by = {.lock = e->lock};

    return evzk_guard_write(e->connection.session, &by, ops, n, NULL, cb, e,
                            &e->guard);
}

static void done(struct exam *e, evzk_guard *guard)
{
    evzk_guard_free(guard);
    e->guard = NULL;
}

static void on_create(evzk_guard *guard, evzk_guard_outcome outcome, int rc,
                      const evzk_guard_result *result, void *arg)
{
    struct exam *e = arg;

    (void)result;
    done(e, guard);
    if (outcome == EVZK_GUARD_DONE)
        exam_go(e, EXAM_READ);
    else
        exam_fail(e, EXAM_LEAVE, rc, "creating znodes");
}

/* Ephemeral: nothing is left if evzk is killed. */
void exam_create(struct exam *e)
{
    char path[EXAM_PATH_MAX];
    evzk_guard_op ops[] = {
        {.verb = EVZK_GUARD_CREATE, .path = path, .ephemeral = true},
        {.verb = EVZK_GUARD_SET,
         .path = path,
         .version = -1,
         .data = probe,
         .data_len = sizeof(probe) - 1}};
    int rc;

    exam_join(path, e->box, "/probe");
    rc = write_guarded(e, ops, 2, on_create);
    if (rc)
        exam_fail(e, EXAM_LEAVE, rc, "creating znodes");
}

static void on_read(evzk_value_query *query, int rc, const evzk_value *value,
                    void *arg)
{
    struct exam *e = arg;
    bool right = !rc && value->exists && value->len == sizeof(probe) - 1 &&
                 memcmp(value->data, probe, value->len) == 0;

    evzk_value_query_free(query);
    e->value = NULL;
    if (right)
        exam_go(e, EXAM_DELETE);
    else
        exam_fail(e, EXAM_LEAVE, rc ? rc : EVZK_ERR_BADDATA, "reading znodes");
}

void exam_read(struct exam *e)
{
    char path[EXAM_PATH_MAX];
    int rc;

    exam_join(path, e->box, "/probe");
    rc = evzk_value_get(e->connection.session, path, NULL, on_read, e,
                        &e->value);
    if (rc)
        exam_fail(e, EXAM_LEAVE, rc, "reading znodes");
}

static void on_delete(evzk_guard *guard, evzk_guard_outcome outcome, int rc,
                      const evzk_guard_result *result, void *arg)
{
    struct exam *e = arg;

    (void)result;
    done(e, guard);
    if (outcome != EVZK_GUARD_DONE) {
        exam_fail(e, EXAM_LEAVE, rc, "deleting znodes");
        return;
    }
    doctor_report(e->d, VERDICT_OK, NULL,
                  "znodes can be made, written, read and deleted below %s",
                  exam_shown(e, e->base));
    exam_go(e, EXAM_LARGE);
}

static int delete_below(struct exam *e, const char *tail, evzk_guard_cb *cb)
{
    char path[EXAM_PATH_MAX];
    evzk_guard_op op = {.verb = EVZK_GUARD_DELETE, .path = path, .version = -1};

    exam_join(path, e->box, tail);
    return write_guarded(e, &op, 1, cb);
}

void exam_delete(struct exam *e)
{
    int rc = delete_below(e, "/probe", on_delete);

    if (rc)
        exam_fail(e, EXAM_LEAVE, rc, "deleting znodes");
}

static void end_large(struct exam *e)
{
    event_del(e->patience);
    exam_go(e, EXAM_LEAVE);
}

static void on_writer(evzk_value_writer *writer, evzk_value_writer_event event,
                      int rc, void *arg)
{
    struct exam *e = arg;

    (void)event, (void)rc;
    evzk_value_writer_free(writer);
    e->writer = NULL;
    end_large(e);
}

static void report_too_large(struct exam *e)
{
    doctor_report(e->d, VERDICT_WARN,
                  "raise jute.maxbuffer to 1048575, or keep what is written "
                  "small: values, guarded writes, and the names in a directory",
                  "a request of %d bytes is not taken", EVZK_VALUE_DATA_MAX);
}

static void on_written(evzk_value_writer *writer, int rc, int64_t number,
                       void *arg)
{
    struct exam *e = arg;

    (void)number;
    if (!rc)
        doctor_report(e->d, VERDICT_OK, NULL,
                      "a request may have %d bytes (jute.maxbuffer)",
                      EVZK_VALUE_DATA_MAX);
    else if (rc == EVZK_ERR_TOOLARGE)
        report_too_large(e);
    else
        doctor_report(e->d, VERDICT_WARN, NULL,
                      "a large znode cannot be written: %s", evzk_strerror(rc));
    evzk_value_writer_close(writer);
}

/* A server that does not take a request of this size hangs up, as often as it
 * comes. */
static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct exam *e = arg;

    (void)fd, (void)what;
    report_too_large(e);
    evzk_value_writer_free(e->writer);
    e->writer = NULL;
    exam_go(e, EXAM_LEAVE);
}

void exam_large(struct exam *e)
{
    struct timeval seconds = {5, 0};
    char path[EXAM_PATH_MAX], *data = calloc(1, EVZK_VALUE_DATA_MAX);
    int rc;

    exam_join(path, e->box, "/large");
    e->patience = evtimer_new(e->connection.base, on_patience, e);
    rc = data && e->patience && !event_add(e->patience, &seconds)
             ? evzk_value_writer_start(e->connection.session, path, NULL,
                                       on_writer, e, &e->writer)
             : EVZK_ERR_NOMEM;
    if (!rc)
        rc =
            evzk_value_set(e->writer, data, EVZK_VALUE_DATA_MAX, on_written, e);
    free(data);
    if (rc)
        exam_fail(e, EXAM_LEAVE, rc, "writing a large znode");
}

/* The steps from EXAM_DROP to EXAM_UNMAKE follow one another.  No such znode is
 * no failure: a step before may have failed. */
static void on_drop(evzk_guard *guard, evzk_guard_outcome outcome, int rc,
                    const evzk_guard_result *result, void *arg)
{
    struct exam *e = arg;
    enum exam_step next = (enum exam_step)(e->step + 1);

    (void)result;
    done(e, guard);
    if (outcome == EVZK_GUARD_DONE || rc == EVZK_ERR_NONODE)
        exam_go(e, next);
    else
        exam_leave_behind(e, next, rc);
}

void exam_drop(struct exam *e)
{
    int rc = delete_below(e, "/large", on_drop);

    if (rc)
        exam_leave_behind(e, EXAM_UNLOCK, rc);
}

void exam_unlock(struct exam *e)
{
    int rc = delete_below(e, "/lock", on_drop);

    if (rc)
        exam_leave_behind(e, EXAM_UNBOX, rc);
}

void exam_unbox(struct exam *e)
{
    int rc = delete_below(e, "", on_drop);

    if (rc)
        exam_leave_behind(e, EXAM_UNMAKE, rc);
}

static void on_unmade(evzk_guard *guard, evzk_guard_outcome outcome, int rc,
                      const evzk_guard_result *result, void *arg)
{
    struct exam *e = arg;

    (void)result;
    done(e, guard);
    e->unmade++;
    if (outcome == EVZK_GUARD_DONE || rc == EVZK_ERR_NONODE)
        exam_go(e, EXAM_UNMAKE);
    else
        exam_leave_behind(e, EXAM_UNMAKE, rc);
}

void exam_unmake(struct exam *e)
{
    char path[EXAM_PATH_MAX];
    evzk_guard_op op = {.verb = EVZK_GUARD_DELETE, .path = path, .version = -1};
    int rc;

    if (e->unmade == e->losses) {
        exam_go(e, EXAM_RELEASE);
        return;
    }
    exam_name_lock(e, e->unmade, path);
    rc = write_guarded(e, &op, 1, on_unmade);
    if (rc)
        exam_leave_behind(e, EXAM_RELEASE, rc);
}

static void on_seen(evzk_value_query *query, int rc, const evzk_value *value,
                    void *arg)
{
    struct exam *e = arg;
    bool stands = !rc && value->exists;

    evzk_value_query_free(query);
    e->value = NULL;
    if (stands || rc)
        exam_leave_behind(e, EXAM_END, rc);
    else
        exam_go(e, EXAM_END);
}

void exam_see(struct exam *e)
{
    int rc = evzk_value_get(e->connection.session, e->own, NULL, on_seen, e,
                            &e->value);

    if (rc)
        exam_leave_behind(e, EXAM_END, rc);
}
