/* A member heals itself: CMD goes on while it joins again. */
#include <signal.h>
#include <stdlib.h>

#include "action.h"
#include "member.h"
#include "output.h"

static void leave(struct member *m)
{
    if (!m->object || evzk_member_leave(m->object))
        connection_finish(&m->connection, m->status);
}

static void on_ended(int status, void *arg)
{
    struct member *m = arg;

    m->status = status;
    leave(m);
}

static int print(const struct member *m)
{
    struct json_object *object;

    if (!settings.json) {
        printf("%s %s\n", m->joined, m->id);
        return output_flush();
    }
    object = json_object_new_object();
    json_object_object_add(object, "event", json_object_new_string(m->joined));
    json_object_object_add(object, "name", json_object_new_string(m->id));
    return output_json(object);
}

static void begin(struct member *m)
{
    m->began = true;
    event_del(m->patience);
    work_number("EVZK_TOKEN", evzk_member_token(m->object));
    setenv("EVZK_PATH", m->path, 1);
    setenv("EVZK_ID", m->id, 1);
    if (!m->run)
        m->status = print(m);
    else if (!work_start(&m->work, m->run, NULL, 0))
        m->status = STATUS_NOT_RUN;
    if (m->status)
        leave(m);
}

static void drop(struct member *m)
{
    evzk_member_free(m->object);
    m->object = NULL;
}

static int complain_taken(const struct member *m)
{
    return complain_waited(
        &m->connection,
        "%s: another process is '%s': take another name, or wait longer (-w)",
        m->path, m->id);
}

static void failed(struct member *m, int rc)
{
    drop(m);
    if (connection_finished(&m->connection))
        return;
    if (rc == EVZK_ERR_BUSY)
        m->status = complain_taken(m);
    else
        m->status = complain_error(rc, m->path);
    if (!work_signal(&m->work, SIGTERM))
        connection_finish(&m->connection, m->status);
}

static void left(struct member *m, int rc)
{
    drop(m);
    if (rc && rc != EVZK_ERR_CLOSED && !connection_finished(&m->connection))
        complain("%s: %s may stand until the session ends: %s", m->path, m->id,
                 evzk_strerror(rc));
    connection_finish(&m->connection, m->status);
}

static void say_conflict(struct member *m)
{
    if (!m->conflict && !connection_finished(&m->connection))
        complain("%s: another process is '%s': waiting until it has gone "
                 "(take another name, or limit the wait with -w)",
                 m->path, m->id);
    m->conflict = true;
}

static void say_rejoining(struct member *m, int rc)
{
    if (!connection_finished(&m->connection))
        complain("%s: '%s' is out for now, and joins again: %s", m->path, m->id,
                 evzk_strerror(rc));
}

void member_hear(evzk_member *object, evzk_member_event event, int rc,
                 void *arg)
{
    struct member *m = arg;

    (void)object;
    switch (event) {
    case EVZK_MEMBER_JOINED:
        if (!m->began)
            begin(m);
        else
            complain("%s: '%s' is in again", m->path, m->id);
        break;
    case EVZK_MEMBER_REJOINING:
        say_rejoining(m, rc);
        break;
    case EVZK_MEMBER_CONFLICT:
        say_conflict(m);
        break;
    case EVZK_MEMBER_LEFT:
        left(m, rc);
        break;
    case EVZK_MEMBER_FAILED:
        failed(m, rc);
        break;
    case EVZK_MEMBER_UPDATED:
    case EVZK_MEMBER_SUSPENDED:
    case EVZK_MEMBER_RESUMED:
        break;
    }
}

static void on_patience(evutil_socket_t fd, short what, void *arg)
{
    struct member *m = arg;

    (void)fd, (void)what;
    if (m->began || connection_finished(&m->connection))
        return;
    m->status = complain_taken(m);
    leave(m);
}

/* A signal goes to CMD, or lets the member leave; the second one ends evzk,
 * whatever the servers say. */
static void on_stop(int signo, void *arg)
{
    struct member *m = arg;

    if (work_signal(&m->work, signo))
        return;
    m->status = 128 + signo;
    leave(m);
}

static int start(struct member *m)
{
    struct timeval patience = {m->wait / 1000, m->wait % 1000 * 1000};
    int rc;

    m->patience = evtimer_new(m->connection.base, on_patience, m);
    if (!m->patience ||
        (m->wait != UINT32_MAX && event_add(m->patience, &patience)))
        rc = EVZK_ERR_NOMEM;
    else
        rc = m->join(m);
    return rc ? complain_error(rc, m->path) : 0;
}

int member_run(struct member *m)
{
    int status;

    m->connection = (struct connection){.stop = on_stop, .arg = m};
    m->work = (struct work){
        .connection = &m->connection, .ended = on_ended, .arg = m};
    status = work_prepare(&m->work);
    if (!status)
        status = connection_open(&m->connection);
    if (!status)
        status = start(m);
    if (!status)
        status = connection_run(&m->connection);
    drop(m);
    if (m->patience)
        event_free(m->patience);
    work_free(&m->work);
    connection_free(&m->connection);
    return status;
}
