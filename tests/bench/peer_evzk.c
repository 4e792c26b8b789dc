/*
 * Our own side of the comparison with Curator and Kazoo: the commands and
 * answers are those of PeerCurator.java, the options the default ones.  One
 * thread, one session.  "each" and "queue" start all their locks at once, but
 * for a slice a turn of the loop, as a program does that has other events too.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <evzk/evzk.h>

enum { SLICE = 1000 };

struct peer {
    struct event_base *base;
    evzk_session *zk;
    evzk_lock **locks; /* Those of "each"; of "queue" they free themselves. */
    evzk_lock *held;
    char dir[256];
    struct event *feeder;
    void (*feed)(struct peer *p, size_t i);
    size_t fed;
    size_t count, granted, ended;
    double begun, all_granted, last, cpu;
    bool joining;
    evzk_producer *producer; /* Of "items" and "claims". */
    evzk_consumer *consumer;
    bool claimed;
    size_t asked; /* Items that were taken, or are to be. */
};

static double seconds(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void) { return seconds(CLOCK_MONOTONIC); }

static double cpu(void) { return seconds(CLOCK_PROCESS_CPUTIME_ID); }

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vprintf(format, ap);
    va_end(ap);
    putchar('\n');
    fflush(stdout);
}

_Noreturn static void fail(const char *what, int rc)
{
    fprintf(stderr, "peer_evzk: %s: %s\n", what, evzk_strerror(rc));
    say("FAILED %s: %s", what, evzk_strerror(rc));
    exit(1);
}

static void must(int rc, const char *what)
{
    if (rc != EVZK_OK)
        fail(what, rc);
}

/* Nothing ends a lock here but its release. */
static bool released(evzk_lock *lock, evzk_lock_event event, int rc)
{
    if (event == EVZK_LOCK_LOST || event == EVZK_LOCK_FAILED)
        fail("a lock ended", rc);
    if (event != EVZK_LOCK_RELEASED)
        return false;
    must(rc, "release");
    evzk_lock_free(lock);
    return true;
}

/* A timer, not an active event: the loop is to look at the socket between. */
static void feed_more(struct peer *p)
{
    static const struct timeval soon;

    if (p->fed < p->count && evtimer_add(p->feeder, &soon) < 0)
        fail("timer", EVZK_ERR_NOMEM);
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

/* Calls @call for each lock. */
static void feed(struct peer *p, void (*call)(struct peer *p, size_t i))
{
    p->feed = call;
    p->fed = 0;
    feed_more(p);
}

static void begin(struct peer *p, const char *dir, size_t count)
{
    snprintf(p->dir, sizeof p->dir, "%s", dir);
    p->count = count;
    p->granted = p->ended = 0;
    p->joining = false;
    p->cpu = cpu();
    p->begun = now();
}

/* ------------------------------------------------------------------- each */

static void release(struct peer *p, size_t i)
{
    must(evzk_lock_release(p->locks[i]), "release");
}

static void on_each(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct peer *p = arg;

    if (event == EVZK_LOCK_GRANTED && ++p->granted == p->count) {
        p->all_granted = now();
        feed(p, release);
    }
    if (!released(lock, event, rc) || ++p->ended < p->count)
        return;
    say("OK %.6f %.6f %.6f", p->all_granted - p->begun, now() - p->all_granted,
        cpu() - p->cpu);
    free(p->locks);
    p->locks = NULL;
}

static void acquire(struct peer *p, size_t i)
{
    char path[300];

    snprintf(path, sizeof path, "%s/%zu", p->dir, i);
    must(evzk_lock_acquire(p->zk, path, NULL, on_each, p, &p->locks[i]), path);
}

static void each(struct peer *p, const char *dir, size_t count)
{
    p->locks = calloc(count, sizeof *p->locks);
    if (!p->locks)
        fail("each", EVZK_ERR_NOMEM);
    begin(p, dir, count);
    feed(p, acquire);
}

/* -------------------------------------------------------------- one queue */

static void on_held(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    (void)arg;
    if (event == EVZK_LOCK_GRANTED)
        say("OK");
    released(lock, event, rc);
}

static void hold(struct peer *p, const char *dir)
{
    must(evzk_lock_acquire(p->zk, dir, NULL, on_held, p, &p->held), dir);
}

static void free_held(struct peer *p)
{
    double begun = now();

    must(evzk_lock_release(p->held), "free");
    say("OK %.6f", begun);
}

static void join(struct peer *p)
{
    p->joining = true;
    if (p->ended == p->count)
        say("OK %.6f %.6f", p->last, cpu() - p->cpu);
}

static void on_waiter(evzk_lock *lock, evzk_lock_event event, int rc, void *arg)
{
    struct peer *p = arg;

    if (event == EVZK_LOCK_GRANTED) {
        p->last = now();
        must(evzk_lock_release(lock), "release");
    }
    if (released(lock, event, rc) && ++p->ended == p->count && p->joining)
        join(p);
}

static void wait_too(struct peer *p, size_t i)
{
    evzk_lock *lock;

    (void)i;
    must(evzk_lock_acquire(p->zk, p->dir, NULL, on_waiter, p, &lock), p->dir);
}

static void queue(struct peer *p, const char *dir, size_t count)
{
    begin(p, dir, count);
    feed(p, wait_too);
    say("OK");
}

/* ------------------------------------------------------------------ items */

enum { ITEM_SIZE = 100, TAKE_MAX = 1000 };

static void end_items(struct peer *p)
{
    say("OK %.6f %.6f %.6f", p->all_granted - p->begun, now() - p->all_granted,
        cpu() - p->cpu);
    evzk_producer_free(p->producer);
    evzk_consumer_free(p->consumer);
    p->producer = NULL;
    p->consumer = NULL;
}

static void take_more(struct peer *p)
{
    size_t left = p->count - p->asked;
    uint32_t n = (uint32_t)(left < TAKE_MAX ? left : TAKE_MAX);

    if (n > 0)
        must(evzk_consumer_take(p->consumer, n, 0), "take");
}

/* @true: the item's way ends here, and it was the last. */
static bool ends(struct peer *p) { return ++p->ended == p->count; }

static void on_consumer(evzk_consumer *consumer, evzk_consumer_event event,
                        int rc, evzk_item *item, void *arg)
{
    struct peer *p = arg;

    switch (event) {
    case EVZK_CONSUMER_ITEM:
        p->asked++;
        if (p->claimed)
            must(evzk_consumer_finish(consumer, item), "finish");
        else if (ends(p))
            end_items(p);
        break;
    case EVZK_CONSUMER_FINISHED:
        must(rc, "finish");
        if (ends(p))
            end_items(p);
        break;
    case EVZK_CONSUMER_TAKEN:
        must(rc, "take");
        take_more(p);
        break;
    case EVZK_CONSUMER_GIVEN_BACK:
    case EVZK_CONSUMER_LOST:
    case EVZK_CONSUMER_DEAD_LETTER:
    case EVZK_CONSUMER_CLOSED:
    case EVZK_CONSUMER_FAILED:
        fail("the consumer", rc);
    }
}

static void on_producer(evzk_producer *producer, evzk_producer_event event,
                        int rc, void *arg)
{
    (void)producer, (void)event, (void)arg;
    fail("the producer", rc);
}

static void on_put(evzk_producer *producer, int rc, size_t done, void *arg)
{
    struct peer *p = arg;

    (void)producer;
    must(rc, "put");
    p->granted += done;
    if (p->granted < p->count)
        return;
    p->all_granted = now();
    take_more(p);
}

static void put(struct peer *p, size_t i)
{
    static const char text[ITEM_SIZE];
    const evzk_put_item item = {.data = text, .len = sizeof text};

    (void)i;
    must(evzk_producer_put(p->producer, &item, 1, on_put, p), "put");
}

static void items(struct peer *p, const char *dir, size_t count, bool claimed)
{
    evzk_consumer_options opt = {.mode = claimed ? EVZK_CONSUMER_CLAIMED
                                                 : EVZK_CONSUMER_AT_MOST_ONCE};

    p->claimed = claimed;
    p->asked = 0;
    must(evzk_producer_start(p->zk, dir, NULL, on_producer, p, &p->producer),
         dir);
    must(evzk_consumer_start(p->zk, dir, &opt, on_consumer, p, &p->consumer),
         dir);
    begin(p, dir, count);
    feed(p, put);
}

/* --------------------------------------------------------------- commands */

static void obey(struct peer *p, const char *line)
{
    char word[16] = "", dir[256] = "";
    size_t n = 0;
    int fields = sscanf(line, "%15s %255s %zu", word, dir, &n);

    if (strcmp(word, "mkdirs") == 0)
        say("OK"); /* The library makes directories on demand. */
    else if (strcmp(word, "each") == 0 && fields == 3 && n > 0)
        each(p, dir, n);
    else if ((strcmp(word, "items") == 0 || strcmp(word, "claims") == 0) &&
             fields == 3 && n > 0)
        items(p, dir, n, word[0] == 'c');
    else if (strcmp(word, "hold") == 0 && fields == 2)
        hold(p, dir);
    else if (strcmp(word, "queue") == 0 && fields == 3 && n > 0)
        queue(p, dir, n);
    else if (strcmp(word, "free") == 0)
        free_held(p);
    else if (strcmp(word, "join") == 0)
        join(p);
    else
        fail(line, EVZK_ERR_INVAL);
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
        say("OK");
    else if (event == EVZK_SESSION_EXPIRED)
        fail("session", rc);
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
    must(evzk_session_open(p.base, argv[1], &opt, on_session, &p, &p.zk),
         "session");
    input = event_new(p.base, STDIN_FILENO, EV_READ | EV_PERSIST, on_input, &p);
    p.feeder = evtimer_new(p.base, on_feeder, &p);
    if (!input || !p.feeder || event_add(input, NULL) < 0)
        fail("events", EVZK_ERR_NOMEM);
    event_base_dispatch(p.base);
    event_free(input);
    event_free(p.feeder);
    evzk_session_close(p.zk);
    evzk_session_free(p.zk);
    event_base_dispatch(p.base);
    event_base_free(p.base);
    return 0;
}
