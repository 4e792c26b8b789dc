/* The exam: its steps, its locks, its session. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "command.h"
#include "exam.h"

#define LOCK_MS 15000
#define DRIFT_MS 1000
#define LOSSES_MAX 3 /* Then no lock is acquired again. */

static int64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void exam_join(char out[EXAM_PATH_MAX], const char *path, const char *tail)
{
    snprintf(out, EXAM_PATH_MAX, "%.3900s%s", path[1] || !*tail ? path : "",
             tail);
}

const char *exam_shown(const struct exam *e, const char *path)
{
    return path[e->d->chroot] ? path + e->d->chroot : "/";
}

void exam_fail(struct exam *e, enum exam_step step, int rc, const char *what)
{
    const char *advice = "see the log of the servers";

    if (connection_finished(&e->connection))
        return;
    if (rc == EVZK_ERR_NOAUTH)
        advice = "give credentials with --auth-file or EVZK_AUTH, have the "
                 "ACL changed, or use another --path";
    else if (rc == EVZK_ERR_TIMEOUT)
        advice = "find out why the servers are slow: disks, or memory";
    else if (rc == EVZK_ERR_LEASE || rc == EVZK_ERR_EXPIRED)
        advice = "try again; a longer --session-timeout bears longer gaps";
    else if (rc == EVZK_ERR_QUOTA)
        advice = "raise the quota";
    else if (rc == EVZK_ERR_UNSUPPORTED)
        advice = "evzk needs servers of version 3.5 or newer";
    if (!e->signo)
        doctor_report(e->d, VERDICT_FAIL, advice, "%s below %s fails: %s", what,
                      exam_shown(e, e->base), evzk_strerror(rc));
    exam_go(e, step);
}

void exam_leave_behind(struct exam *e, enum exam_step step, int rc)
{
    if (connection_finished(&e->connection))
        return;
    if (!e->left)
        doctor_report(e->d, VERDICT_FAIL,
                      "delete them, and what is below: deleteall of zkCli.sh",
                      "%s and %s-box may be left: %s", exam_shown(e, e->first),
                      exam_shown(e, e->first),
                      rc ? evzk_strerror(rc) : "something is still there");
    e->left = true;
    exam_go(e, step);
}

/* ------------------------------------------------------------------ the locks
 */

static void free_operations(struct exam *e)
{
    evzk_value_query_free(e->value);
    evzk_lock_query_free(e->query);
    evzk_guard_free(e->guard);
    evzk_value_writer_free(e->writer);
    evzk_lock_free(e->box_lock);
    evzk_lock_free(e->lock);
    if (e->patience)
        event_free(e->patience);
    e->value = NULL, e->query = NULL, e->guard = NULL, e->writer = NULL;
    e->box_lock = NULL, e->lock = NULL, e->patience = NULL;
}

/* The step that is under way ends here, too: it needs both locks. */
static void lose(struct exam *e, int rc)
{
    free_operations(e);
    if (++e->losses > LOSSES_MAX)
        exam_leave_behind(e, EXAM_END, rc);
    else
        exam_fail(e, EXAM_AGAIN, rc, "holding a lock");
}

static void on_entered(evzk_lock *lock, evzk_lock_event event, int rc,
                       void *arg)
{
    struct exam *e = arg;

    if (event == EVZK_LOCK_GRANTED) {
        exam_go(e, e->step == EXAM_AGAIN ? EXAM_LEAVE : EXAM_CLOCK);
    } else if (event == EVZK_LOCK_LOST) {
        lose(e, rc);
    } else if (evzk_lock_event_is_final(event)) {
        evzk_lock_free(lock);
        e->lock = NULL;
        if (event == EVZK_LOCK_RELEASED)
            exam_go(e, EXAM_SEE);
        else if (e->step == EXAM_AGAIN)
            exam_leave_behind(e, EXAM_END, rc);
        else
            exam_fail(e, EXAM_END, rc, "a lock");
    }
}

void exam_name_lock(const struct exam *e, int losses, char out[EXAM_PATH_MAX])
{
    char tail[32] = "";

    if (losses > 0)
        snprintf(tail, sizeof(tail), "-again-%d", losses);
    exam_join(out, e->first, tail);
}

/* Names of their own, below the base. */
static void name_paths(struct exam *e)
{
    uint64_t number = 0;
    char tail[64];

    if (getrandom(&number, sizeof(number), 0) < 0)
        number = (uint64_t)e->begun_ms;
    snprintf(tail, sizeof(tail), "/evzk-doctor-%016llx",
             (unsigned long long)number);
    exam_join(e->first, e->base, tail);
    exam_join(e->box, e->first, "-box");
    exam_name_lock(e, 0, e->own);
}

/* From EXAM_AGAIN on a lock may wait for another session. */
static int acquire(struct exam *e, const char *path, evzk_lock_cb *cb,
                   evzk_lock **out)
{
    evzk_lock_options opt = {.timeout_ms = LOCK_MS,
                             .no_requeue = e->step < EXAM_AGAIN};

    return evzk_lock_acquire(e->connection.session, path, &opt, cb, e, out);
}

static void enter(struct exam *e)
{
    int rc;

    name_paths(e);
    doctor_check_timeout(e->d, evzk_session_timeout_ms(e->connection.session));
    e->begun_ms = now_ms();
    rc = acquire(e, e->own, on_entered, &e->lock);
    if (rc)
        exam_fail(e, EXAM_END, rc, "a lock");
}

static void enter_again(struct exam *e)
{
    int rc;

    exam_name_lock(e, e->losses, e->own);
    rc = acquire(e, e->own, on_entered, &e->lock);
    if (rc)
        exam_leave_behind(e, EXAM_END, rc);
}

static void check_clock(struct exam *e, int64_t created_ms)
{
    int64_t now = now_ms(), drift = 0;

    if (created_ms < e->begun_ms)
        drift = created_ms - e->begun_ms;
    else if (created_ms > now)
        drift = created_ms - now;
    if (drift > DRIFT_MS || drift < -DRIFT_MS)
        doctor_report(e->d, VERDICT_WARN,
                      "set the clocks by NTP; only the ages that evzk shows "
                      "depend on them",
                      "the clock of the servers is %.1f s %s this one",
                      (double)(drift < 0 ? -drift : drift) / 1000,
                      drift < 0 ? "behind" : "ahead of");
    else
        doctor_report(e->d, VERDICT_OK, NULL,
                      "the clock of the servers agrees with this one");
}

static void on_clock(evzk_lock_query *query, int rc, const evzk_contender *v,
                     size_t n, void *arg)
{
    struct exam *e = arg;

    if (!rc && n == 1)
        check_clock(e, v[0].created_ms);
    evzk_lock_query_free(query);
    e->query = NULL;
    if (rc)
        exam_fail(e, EXAM_RELEASE, rc, "looking up a lock");
    else
        exam_go(e, EXAM_BOX);
}

static void look_up(struct exam *e)
{
    int rc = evzk_lock_query_start(e->connection.session, e->own, on_clock, e,
                                   &e->query);

    if (rc)
        exam_fail(e, EXAM_RELEASE, rc, "looking up a lock");
}

static void on_boxed(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct exam *e = arg;

    if (event == EVZK_LOCK_GRANTED) {
        doctor_report(e->d, VERDICT_OK, NULL, "containers can be made");
        exam_go(e, EXAM_CREATE);
    } else if (event == EVZK_LOCK_LOST) {
        lose(e, rc);
    } else if (evzk_lock_event_is_final(event)) {
        evzk_lock_free(lock);
        e->box_lock = NULL;
        if (event == EVZK_LOCK_RELEASED && !rc)
            exam_go(e, EXAM_DROP);
        else
            exam_fail(e, EXAM_DROP, rc, "a lock in a container");
    }
}

static void enter_box(struct exam *e)
{
    char path[EXAM_PATH_MAX];
    int rc;

    exam_join(path, e->box, "/lock");
    rc = acquire(e, path, on_boxed, &e->box_lock);
    if (rc)
        exam_fail(e, EXAM_DROP, rc, "a lock in a container");
}

static void leave_box(struct exam *e)
{
    if (!e->box_lock ||
        (evzk_lock_release(e->box_lock) && evzk_lock_cancel(e->box_lock)))
        exam_go(e, EXAM_DROP);
}

static void release(struct exam *e)
{
    if (!e->lock || (evzk_lock_release(e->lock) && evzk_lock_cancel(e->lock)))
        exam_go(e, EXAM_END);
}

static void end(struct exam *e)
{
    connection_finish(&e->connection, e->signo ? 128 + e->signo : 0);
}

/* ------------------------------------------------------------------- all of it
 */

static void (*const steps[])(struct exam *e) = {
    [EXAM_FIND] = exam_find,
    [EXAM_LIMITS] = exam_limits,
    [EXAM_USED] = exam_used,
    [EXAM_ENTER] = enter,
    [EXAM_CLOCK] = look_up,
    [EXAM_BOX] = enter_box,
    [EXAM_CREATE] = exam_create,
    [EXAM_READ] = exam_read,
    [EXAM_DELETE] = exam_delete,
    [EXAM_LARGE] = exam_large,
    [EXAM_AGAIN] = enter_again,
    [EXAM_LEAVE] = leave_box,
    [EXAM_DROP] = exam_drop,
    [EXAM_UNLOCK] = exam_unlock,
    [EXAM_UNBOX] = exam_unbox,
    [EXAM_UNMAKE] = exam_unmake,
    [EXAM_RELEASE] = release,
    [EXAM_SEE] = exam_see,
    [EXAM_END] = end,
};

void exam_go(struct exam *e, enum exam_step step)
{
    if (connection_finished(&e->connection))
        return;
    if (e->signo && step < EXAM_AGAIN)
        step = e->lock ? EXAM_LEAVE : EXAM_END;
    e->step = step;
    steps[step](e);
}

/* The first signal ends the exam behind the step that is under way, or at once
 * the one that may take long.  The second signal cleans nothing up. */
static void on_stop(int signo, void *arg)
{
    struct exam *e = arg;

    if (e->signo || !e->connection.connected)
        connection_finish(&e->connection, 128 + signo);
    e->signo = signo;
    if (e->step == EXAM_LARGE && !connection_finished(&e->connection)) {
        event_del(e->patience);
        evzk_value_writer_free(e->writer);
        e->writer = NULL;
        exam_go(e, EXAM_LEAVE);
    }
}

static void on_session(evzk_session_event event, void *arg)
{
    struct exam *e = arg;

    if (event == EVZK_SESSION_CONNECTED && !e->begun_ms && !e->value)
        exam_go(e, EXAM_FIND);
}

int doctor_check_session(struct doctor *d)
{
    struct exam e = {
        .d = d, .connection = {.stop = on_stop, .told = on_session, .arg = &e}};
    int status;

    snprintf(e.base, sizeof(e.base), "%.3900s", d->path);
    status = connection_open(&e.connection);
    if (!status)
        status = connection_run(&e.connection);
    free_operations(&e);
    connection_free(&e.connection);
    if (status && status < 128)
        doctor_report(d, VERDICT_FAIL, "see what was said above",
                      "no session can be made");
    return status >= 128 ? status : 0;
}
