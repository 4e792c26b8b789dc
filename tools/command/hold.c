/* Runs CMD while something is held. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "hold.h"
#include "hold_rule.h"

struct hold_options hold_options = {.wait_ms = HOLD_UNSET,
                                    .conflict = STATUS_NOT_GOT,
                                    .grace_ms = HOLD_UNSET,
                                    .on_lost = "term",
                                    .dialect_name = "evzk"};

/* A try that waits for no holder still waits for the servers. */
uint32_t hold_timeout_ms(void)
{
    if (hold_options.try_once)
        return settings.connect_ms;
    return hold_options.wait_ms == HOLD_UNSET ? 0 : hold_options.wait_ms;
}

static void on_look(evutil_socket_t fd, short what, void *arg)
{
    struct hold *h = arg;

    (void)fd, (void)what;
    if (h->child.pid > 0) {
        hold_look(h);
    } else if (h->state == HOLD_GIVES_BACK) {
        complain("%s: the servers are silent: given back when the session ends",
                 h->path);
        connection_finish(&h->connection, h->child.status);
    } else {
        hold_try(h);
    }
}

static void set_environment(struct hold *h, uint64_t token)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)token);
    setenv("EVZK_TOKEN", text, 1);
    setenv("EVZK_PATH", h->path, 1);
    setenv("EVZK_NODE", h->kind->node(h), 1);
}

/* Where the servers are silent nobody waits for their word: the session's end
 * gives back what it held. */
static void give_back(struct hold *h)
{
    uint32_t ms = evzk_session_timeout_ms(h->connection.session);

    h->state = HOLD_GIVES_BACK;
    if (h->lost || h->doubt || !h->object || h->kind->release(h))
        connection_finish(&h->connection, h->child.status);
    else
        event_add(h->look, &(struct timeval){ms / 1000, ms % 1000 * 1000});
}

static void say_never_started(struct hold *h)
{
    h->child.status = STATUS_LOST;
    complain("%s: lost before %s could start: try again", h->path,
             h->arguments->run[0]);
}

void hold_granted(struct hold *h, uint64_t token)
{
    if (h->state != HOLD_WAITS || h->kind->lease(h, &h->lease)) {
        say_never_started(h);
        give_back(h);
        return;
    }
    hold_set_times(h);
    set_environment(h, token);
    hold_note("%s: %s, token %llu, node %s", h->path, h->kind->held,
              (unsigned long long)token, h->kind->node(h));
    h->deadline_us = evzk_lease_deadline_us(h->lease);
    hold_note_deadline(h);
    h->state = HOLD_RUNS;
    if (child_start(&h->child, h->arguments->run, &h->watchdog,
                    h->deadline_us - h->margin_us)) {
        hold_look(h);
        return;
    }
    complain("cannot start %s: %s", h->arguments->run[0], strerror(errno));
    h->child.status = STATUS_NOT_RUN;
    give_back(h);
}

void hold_suspended(struct hold *h)
{
    hold_note("%s: in doubt", h->path);
    h->doubt = true;
    if (h->child.pid > 0)
        hold_look(h);
}

void hold_resumed(struct hold *h)
{
    hold_note("%s: out of doubt", h->path);
    h->doubt = false;
    if (h->child.pid > 0)
        hold_look(h);
}

void hold_asked(struct hold *h)
{
    complain("%s: another process asks for it", h->path);
    if (h->state == HOLD_RUNS) {
        child_signal(&h->child, SIGTERM);
    } else if (h->state == HOLD_WAITS) {
        h->child.status = (int)hold_options.conflict;
        h->kind->cancel(h);
    }
}

void hold_refused(struct hold *h, int rc)
{
    h->child.status = complain_error(rc, h->path);
    give_back(h);
}

static void drop(struct hold *h)
{
    h->kind->free(h);
    h->object = NULL;
}

void hold_released(struct hold *h, int rc)
{
    hold_note("%s: %s", h->path, h->kind->released);
    drop(h);
    if (rc && rc != EVZK_ERR_CLOSED)
        complain_error(rc, h->path);
    connection_finish(&h->connection, h->child.status);
}

void hold_lost(struct hold *h, int rc)
{
    drop(h);
    if (h->state == HOLD_WAITS && !h->signo)
        say_never_started(h);
    if (h->child.pid <= 0) {
        connection_finish(&h->connection, h->child.status);
        return;
    }
    complain("%s: lost: %s: killing %s", h->path, evzk_strerror(rc),
             h->arguments->run[0]);
    if (!h->warned && strcmp(hold_options.on_lost, "term") != 0 &&
        strcmp(hold_options.on_lost, "kill") != 0)
        child_hook(hold_options.on_lost);
    hold_kill_child(h);
}

void hold_failed(struct hold *h, int rc)
{
    drop(h);
    if (connection_finished(&h->connection))
        return;
    if (h->signo)
        connection_finish(&h->connection, 128 + h->signo);
    else if (rc == EVZK_ERR_CANCELED) /* Another process asked for it. */
        connection_finish(&h->connection, (int)hold_options.conflict);
    else if (rc == EVZK_ERR_BUSY || rc == EVZK_ERR_TIMEOUT)
        hold_complain_held(h);
    else if (rc != EVZK_ERR_CLOSED && rc != EVZK_ERR_AUTH)
        connection_finish(&h->connection, complain_error(rc, h->path));
}

static void on_reaped(evutil_socket_t signo, short what, void *arg)
{
    struct hold *h = arg;

    (void)signo, (void)what;
    if (h->child.pid > 0)
        watchdog_guard(&h->watchdog, h->child.pid,
                       h->deadline_us - h->margin_us);
    if (!child_reap(&h->child, &h->watchdog))
        return;
    event_del(h->look);
    /* The watchdog may have killed it. */
    if (h->lost || boottime_us() >= h->deadline_us - h->margin_us)
        h->child.status = STATUS_LOST;
    give_back(h);
}

/* A signal to evzk is one to CMD, if CMD runs; before that it ends the wait.
 * The second one ends evzk, whatever the servers say. */
static void on_stop(int signo, void *arg)
{
    struct hold *h = arg;

    if (h->child.pid > 0) {
        child_signal(&h->child, signo);
    } else if (h->state == HOLD_WAITS && !h->signo) {
        h->signo = signo;
        h->child.status = 128 + signo;
        if (!h->object || h->kind->cancel(h))
            connection_finish(&h->connection, 128 + signo);
    } else {
        connection_finish(&h->connection, 128 + signo);
    }
}

static bool add_events(struct hold *h)
{
    struct event_base *base = h->connection.base;

    h->look = evtimer_new(base, on_look, h);
    h->reaped = evsignal_new(base, SIGCHLD, on_reaped, h);
    return h->look && h->reaped && event_add(h->reaped, NULL) == 0 &&
           child_pass_on(&h->child, base);
}

static void free_events(struct hold *h)
{
    if (h->look)
        event_free(h->look);
    if (h->reaped)
        event_free(h->reaped);
    child_free(&h->child);
}

static int start(struct hold *h)
{
    int rc;

    if (!add_events(h)) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    rc = h->kind->start(h);
    if (rc == EVZK_OK && h->kind->tries && hold_options.try_once)
        hold_try(h);
    return rc ? complain_error(rc, h->path) : 0;
}

int hold_run(const struct hold_kind *kind, const struct arguments *arguments)
{
    struct hold h = {.kind = kind,
                     .arguments = arguments,
                     .path = arguments->words[0],
                     .connection = {.stop = on_stop, .arg = &h}};
    int status;

    if (hold_options.wait_ms == 0)
        hold_options.try_once = 1;
    child_prepare();
    status = dialect_read(hold_options.dialect_name, &hold_options.dialect);
    if (!status)
        status = watchdog_start(&h.watchdog);
    if (!status)
        status = connection_open(&h.connection);
    if (!status)
        status = start(&h);
    if (!status)
        status = connection_run(&h.connection);
    evzk_lease_unref(h.lease);
    evzk_lock_query_free(h.query);
    if (h.object)
        drop(&h);
    free_events(&h);
    connection_free(&h.connection);
    watchdog_end(&h.watchdog);
    return status;
}
