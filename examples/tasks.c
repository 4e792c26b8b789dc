/* Runs its part of named tasks until Ctrl-C: tasks SERVERS PATH NAME TASK... */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static evzk_shards *all; /* Ours to free. */

/* A scheduler would start and stop the task here. */
static void on_task(evzk_shards *a, uint32_t task, evzk_election_event ev,
                    int rc, void *arg)
{
    const char *name = evzk_shards_name(a, task);
    (void)arg;
    if (ev == EVZK_ELECTION_LEADING && rc == EVZK_OK)
        printf("start %s\n", name);
    if (ev == EVZK_ELECTION_RESIGNED || ev == EVZK_ELECTION_LOST)
        printf("stop %s\n", name);
}

static void print_tasks(evzk_shards *a)
{
    printf("here:");
    for (uint32_t i = 0; evzk_shards_name(a, i); i++) {
        if (evzk_shards_leading(a, i))
            printf(" %s", evzk_shards_name(a, i));
    }
    puts("");
}

static void on_tasks(evzk_shards *a, evzk_shards_event ev, int rc, void *s)
{
    if (ev == EVZK_SHARDS_BALANCED)
        print_tasks(a);
    if (rc) /* EVZK_ERR_INVAL: the others have other tasks. */
        fprintf(stderr, "tasks: %s\n", evzk_strerror(rc));
    if (evzk_shards_event_is_final(ev))
        evzk_session_close(s);
}

static void on_session(evzk_session *s, evzk_session_event e, int rc, void *b)
{
    (void)s, (void)rc;
    if (e == EVZK_SESSION_CLOSED)
        event_base_loopbreak(b);
}

static void on_interrupt(evutil_socket_t fd, short what, void *session)
{
    (void)fd, (void)what;
    if (evzk_shards_drain(all, 10000)) /* The second time: at once. */
        evzk_session_close(session);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return fputs("usage: tasks SERVERS PATH NAME TASK...\n", stderr), 2;
    const evzk_shards_options opt = {.count = (uint32_t)argc - 4,
                                     .names = (const char *const *)argv + 4,
                                     .data = argv[3],
                                     .data_len = strlen(argv[3])};
    struct event_base *base = event_base_new(); /* Your loop. */
    evzk_session *s = NULL;
    int rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_shards_join(s, argv[2], &opt, on_task, on_tasks, s, &all);
    if (rc)
        return fprintf(stderr, "tasks: %s\n", evzk_strerror(rc)), 1;
    struct event *stop = evsignal_new(base, SIGINT, on_interrupt, s);
    event_add(stop, NULL);
    event_base_dispatch(base);
    event_free(stop);
    evzk_shards_free(all);
    evzk_session_free(s);
    event_base_free(base);
}
