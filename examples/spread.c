/* Leads its share until Ctrl-C: spread SERVERS PATH SHARDS NAME */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <event2/event.h>
#include <evzk/evzk.h>

static evzk_shards *all; /* Ours to free. */
static int gained, lost; /* Since the last summary. */

/* A server would begin and end its work on a shard here. */
static void on_shard(evzk_shards *a, uint32_t shard, evzk_election_event ev,
                     int rc, void *arg)
{
    (void)a, (void)shard, (void)arg;
    gained += ev == EVZK_ELECTION_LEADING && rc == EVZK_OK;
    lost += ev == EVZK_ELECTION_RESIGNED || ev == EVZK_ELECTION_LOST;
}

static void print_summary(evzk_shards *a, const char *what)
{
    evzk_shards_stats st;
    evzk_shards_member m;
    evzk_shards_get_stats(a, &st);
    printf("plan %llu (%s): +%d -%d, leading %u:", (unsigned long long)st.plan,
           what, gained, lost, (unsigned)st.leading);
    for (uint32_t i = 0; evzk_shards_member_at(a, i, &m); i++)
        printf(" %.*s%s %u", (int)m.data_len, (const char *)m.data,
               m.self ? " (here)" : "", (unsigned)m.planned);
    puts("");
    gained = lost = 0;
}

static void on_shards(evzk_shards *a, evzk_shards_event ev, int rc, void *s)
{
    if (ev != EVZK_SHARDS_PLANNED)
        print_summary(a, evzk_strerror(rc));
    if (evzk_shards_event_is_final(ev)) /* Or failed: the last event. */
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
    if (argc != 5)
        return fputs("usage: spread SERVERS PATH SHARDS NAME\n", stderr), 2;
    const evzk_shards_options opt = {.count = (uint32_t)atoi(argv[3]),
                                     .data = argv[4],
                                     .data_len = strlen(argv[4])};
    struct event_base *base = event_base_new(); /* Your loop. */
    evzk_session *s = NULL;
    int rc = evzk_session_open(base, argv[1], NULL, on_session, base, &s);
    if (!rc)
        rc = evzk_shards_join(s, argv[2], &opt, on_shard, on_shards, s, &all);
    if (rc)
        return fprintf(stderr, "spread: %s\n", evzk_strerror(rc)), 1;
    struct event *stop = evsignal_new(base, SIGINT, on_interrupt, s);
    event_add(stop, NULL);
    event_base_dispatch(base);
    event_free(stop);
    evzk_shards_free(all);
    evzk_session_free(s);
    event_base_free(base);
}
