/* A session for a subcommand, its loop, and what errors mean to its user.
 *
 *     struct connection c = {.stop = on_stop, .arg = &mine};
 *     int status = connection_open(&c);
 *
 *     if (!status && !(status = start_something(c.session)))
 *         status = connection_run(&c);
 *     connection_free(&c);
 *     return status;
 *
 * The callbacks call connection_finish() in the end. */
#ifndef EVZK_COMMAND_CONNECT_H
#define EVZK_COMMAND_CONNECT_H

#include <stdbool.h>

#include <event2/event.h>
#include <evzk/evzk.h>

#define CONNECTION_SIGNALS 4

struct connection {
    /* Set before connection_open(), or left NULL: what a signal does that asks
     * the program to end.  NULL: connection_finish(128 + signo). */
    void (*stop)(int signo, void *arg);
    /* NULL, or hears what becomes of the session. */
    void (*told)(evzk_session_event event, void *arg);
    void *arg;

    struct event_base *base;
    evzk_session *session;
    bool connected; /* A server has answered at some time. */

    /* For connect.c alone. */
    struct event *silence, *signals[CONNECTION_SIGNALS];
    bool finished;
    int status;
};

/* Completes the settings, and opens the session: 0, or an exit status with a
 * message.  Operations may be started right away. */
int connection_open(struct connection *c);

/* Opens one more session on the same loop, with the same settings: 0, or an
 * exit status with a message.  The caller closes and frees it before
 * connection_finish() is called. */
int connection_more(struct connection *c, evzk_session_cb *cb, void *arg,
                    evzk_session **out);

/* Runs the loop until the session has ended after connection_finish().  Returns
 * what that said. */
int connection_run(struct connection *c);

/* Closes the session; operations hear their end with EVZK_ERR_CLOSED.  Only the
 * first call counts. */
void connection_finish(struct connection *c, int status);

/* Has connection_finish() been called?  Then nobody wants to hear of errors. */
bool connection_finished(const struct connection *c);

/* Gives all back.  Operations have to be freed before. */
void connection_free(struct connection *c);

/* Was it ignored when evzk started?  Then it stays so: under nohup, and in the
 * background of a script.  Only before evzk hears it. */
bool signal_ignored(int signo);

/* Says what went wrong with `path`, and what to do.  Returns what to exit with.
 * `path` may be NULL. */
int complain_error(int rc, const char *path);

#endif
