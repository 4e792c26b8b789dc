/* Our own side of the comparison: the session, the commands, and the slices in
 * which work is begun; see peer_evzk.h. */
#include "peer_evzk.h"

#include <event2/event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SLICE = 1000 };

static double seconds(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double peer_now(void) { return seconds(CLOCK_MONOTONIC); }

double peer_cpu(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

void peer_say(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

_Noreturn void peer_fail(const char *what, int rc)
{
    fprintf(stderr, "peer_evzk: %s: %s\n", what, evzk_strerror(rc));
    peer_say("FAILED %s: %s", what, evzk_strerror(rc));
    exit(1);
}

void peer_must(int rc, const char *what)
{
    if (rc != EVZK_OK)
        peer_fail(what, rc);
}

void *peer_room(size_t n, size_t size)
{
    void *room = calloc(n, size);

    if (!room)
        peer_fail("memory", EVZK_ERR_NOMEM);
    return room;
}

/* A timer, not an active event: the loop is to look at the socket between. */
static void feed_more(struct peer *p)
{
    static const struct timeval soon;

    if (p->fed < p->count && evtimer_add(p->feeder, &soon) < 0)
        peer_fail("timer", EVZK_ERR_NOMEM);
}

static void on_feeder(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;

    (void)fd;
    (void)what;
    for (int k = 0; k < SLICE && p->fed < p->count; k++)
        p->feed(p, p->fed++);
    feed_more(p);
}

void peer_feed(struct peer *p, void (*call)(struct peer *p, size_t i))
{
    p->feed = call;
    p->fed = 0;
    feed_more(p);
}

void peer_begin(struct peer *p, const char *dir, size_t count)
{
    snprintf(p->dir, sizeof p->dir, "%s", dir);
    p->count = count;
    p->granted = p->ended = 0;
    p->cpu = peer_cpu();
    p->begun = peer_now();
}

bool peer_granted(struct peer *p)
{
    if (++p->granted < p->count)
        return false;
    p->all_granted = peer_now();
    return true;
}

bool peer_ended(struct peer *p) { return ++p->ended == p->count; }

void peer_say_both(const struct peer *p)
{
    peer_say("OK %.6f %.6f %.6f", p->all_granted - p->begun,
             peer_now() - p->all_granted, peer_cpu() - p->cpu);
}

void peer_say_all(const struct peer *p)
{
    peer_say("OK %.6f %.6f", peer_now() - p->begun, peer_cpu() - p->cpu);
}

/* --------------------------------------------------------------- commands */

static void obey(struct peer *p, const char *line)
{
    static const struct {
        const char *word;
        void (*call)(struct peer *p, const char *dir, size_t n);
    } of_many[] = {{"each", peer_each},       {"queue", peer_queue},
                   {"items", peer_items},     {"claims", peer_claims},
                   {"members", peer_members}, {"seats", peer_seats},
                   {"counter", peer_counter}, {"cache", peer_cache}};
    char word[16] = "", dir[256] = "";
    size_t n = 0;
    int fields = sscanf(line, "%15s %255s %zu", word, dir, &n);

    for (size_t k = 0; k < sizeof of_many / sizeof of_many[0]; k++) {
        if (strcmp(word, of_many[k].word) != 0 || fields != 3 || n == 0)
            continue;
        of_many[k].call(p, dir, n);
        return;
    }
    if (strcmp(word, "mkdirs") == 0)
        peer_say("OK"); /* The library makes directories on demand. */
    else if (strcmp(word, "hold") == 0 && fields == 2)
        peer_hold(p, dir);
    else if (strcmp(word, "free") == 0)
        peer_free_held(p);
    else if (strcmp(word, "join") == 0)
        peer_join(p);
    else
        peer_fail(line, EVZK_ERR_INVAL);
}

/* One command is under way at a time, and is written at once. */
static void on_input(evutil_socket_t fd, short what, void *arg)
{
    struct peer *p = arg;
    char line[512];
    ssize_t n = read(fd, line, sizeof line - 1);

    (void)what;
    if (n <= 0) {
        event_base_loopbreak(p->base);
        return;
    }
    line[n] = '\0';
    obey(p, line);
}

static void on_session(evzk_session *zk, evzk_session_event event, int rc,
                       void *arg)
{
    (void)zk;
    (void)arg;
    if (event == EVZK_SESSION_CONNECTED)
        peer_say("OK");
    else if (event == EVZK_SESSION_EXPIRED)
        peer_fail("session", rc);
}

int main(int argc, char **argv)
{
    evzk_session_options opt = {.timeout_ms = 30000};
    struct peer p = {.base = event_base_new()};
    struct event *input;

    if (argc != 2 || !p.base) {
        fprintf(stderr, "usage: peer_evzk SERVER\n");
        return 2;
    }
    peer_must(evzk_session_open(p.base, argv[1], &opt, on_session, &p, &p.zk),
              "session");
    input = event_new(p.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, &p);
    p.feeder = evtimer_new(p.base, on_feeder, &p);
    if (!input || !p.feeder || event_add(input, NULL) < 0)
        peer_fail("events", EVZK_ERR_NOMEM);
    event_base_dispatch(p.base);
    event_free(input);
    event_free(p.feeder);
    evzk_session_close(p.zk);
    evzk_session_free(p.zk);
    event_base_dispatch(p.base);
    event_base_free(p.base);
    return 0;
}
