/* A parallel computation in steps: so many processes begin each step together,
 * and nobody begins the next one before all are done.
 *
 *     in-step localhost:2181 /app/step 3 5    (one of 3 processes; 5 steps)
 *
 * Exit status: 0 all steps are done; 1 an error, or another process was lost.
 */
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static struct event_base *base;
static evzk_session *session;
static evzk_double_barrier *step;
static const char *path;
static evzk_double_barrier_options opt;
static int done, steps;

static void begin_step(void);

/* The computation: here, some time has passed. */
static void on_worked(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what, (void)arg;
    evzk_double_barrier_leave(step);
}

static void on_step(evzk_double_barrier *d, evzk_double_barrier_event event,
                    int rc, void *arg)
{
    const struct timeval some = {0, 100000};

    (void)arg;
    printf("step %d: %s, %s\n", done + 1, evzk_double_barrier_event_name(event),
           evzk_strerror(rc));
    if (event == EVZK_DOUBLE_BARRIER_ENTERED)
        event_base_once(base, -1, EV_TIMEOUT, on_worked, NULL, &some);
    if (!evzk_double_barrier_event_is_final(event))
        return;
    evzk_double_barrier_free(d);
    step = NULL;
    if (rc == EVZK_OK && ++done < steps)
        begin_step();
    else
        evzk_session_close(session);
}

static void begin_step(void)
{
    if (evzk_double_barrier_enter(session, path, &opt, on_step, NULL, &step))
        evzk_session_close(session);
}

static void on_session(evzk_session *s, evzk_session_event event, int rc,
                       void *arg)
{
    (void)s, (void)rc, (void)arg;
    if (event == EVZK_SESSION_CLOSED)
        event_base_loopbreak(base);
}

int main(int argc, char **argv)
{
    if (argc != 5 || !(base = event_base_new()) ||
        evzk_session_open(base, argv[1], NULL, on_session, NULL, &session)) {
        fprintf(stderr, "usage: in-step SERVERS PATH PROCESSES STEPS\n");
        return EXIT_FAILURE;
    }
    path = argv[2];
    opt.count = (uint32_t)strtoul(argv[3], NULL, 10);
    steps = atoi(argv[4]);
    begin_step();
    event_base_dispatch(base);
    evzk_session_free(session);
    event_base_free(base);
    return done == steps ? EXIT_SUCCESS : EXIT_FAILURE;
}
