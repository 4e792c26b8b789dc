/*
 * Other libraries' locks beside ours: a process with the real Curator or Kazoo,
 * that obeys the commands of PeerLocks.java, and what a look-up says of it.
 */
#ifndef TESTS_REAL_TEST_PEERS_H
#define TESTS_REAL_TEST_PEERS_H

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_election.h"

/* Automake's word for a test that cannot run here. */
enum { PEERS_SKIPPED = 77 };

/* A process, with the ends of the pipes to it. */
struct library {
    pid_t pid;
    FILE *to, *from;
};

static inline const char *in_source(const char *file)
{
    static char path[4096];
    const char *top = getenv("EVZK_SRCDIR");

    snprintf(path, sizeof path, "%s/tests/real/%s", top ? top : ".", file);
    return path;
}

/* The loop runs until there is an answer. */
static inline const char *library_says(struct library *b)
{
    static char line[256];
    struct pollfd p = {.fd = fileno(b->from), .events = POLLIN};

    WAIT(poll(&p, 1, 0) != 0);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, b->from));
    line[strcspn(line, "\n")] = '\0';
    return line;
}

__attribute__((format(printf, 2, 3))) static inline const char *
library_tell(struct library *b, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vfprintf(b->to, format, ap);
    va_end(ap);
    fputc('\n', b->to);
    fflush(b->to);
    return library_says(b);
}

/* argv[0] is looked for in PATH. */
static inline void library_run(struct library *b, char *const argv[])
{
    int to[2], from[2];

    the_server(); /* Not in the child. */
    ck_assert_int_eq(pipe(to), 0);
    ck_assert_int_eq(pipe(from), 0);
    b->pid = harness_fork();
    if (b->pid == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[0]);
        close(to[1]);
        close(from[0]);
        close(from[1]);
        unsetenv("LD_PRELOAD"); /* For the tests' own answers. */
        execvp(argv[0], argv);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    b->to = fdopen(to[1], "w");
    b->from = fdopen(from[0], "r");
    ck_assert_str_eq(library_says(b), "OK");
}

/* The end of its input is its sign to end. */
static inline void library_end(struct library *b)
{
    fclose(b->to);
    fclose(b->from);
    harness_join(b->pid);
}

static inline void library_ask(struct library *b, const char *kind,
                               const char *path)
{
    ck_assert_str_eq(library_tell(b, "ask %s %s", kind, path), "OK");
}

/* The library acquires its lock in the end. */
static inline void library_has(struct library *b)
{
    ck_assert_str_eq(library_tell(b, "got %lld", (long long)slow_ms(30000)),
                     "YES");
}

/* The library waits: not for longer than it takes to see that. */
static inline void library_waits(struct library *b)
{
    ck_assert_str_eq(library_tell(b, "got 300"), "NO");
}

static inline void library_holds(struct library *b, const char *kind,
                                 const char *path)
{
    library_ask(b, kind, path);
    library_has(b);
}

static inline void library_free(struct library *b)
{
    ck_assert_str_eq(library_tell(b, "free"), "OK");
}

/* ---- What evzk does beside it ---- */

static inline void claim_fails(evzk_session *s, const char *dir,
                               const evzk_lock_options *opt, const char *how)
{
    struct claim c;

    claim(&c, s, dir, opt);
    WAIT(c.rec.count > 0);
    ck_assert_str_eq(c.rec.text, how);
    evzk_lock_free(c.l);
}

/* Of every kind there is. */
static inline void all_are_refused(evzk_session *s, const char *dir, int there)
{
    static const evzk_lock_priority urgent = {.priority = 1};
    const evzk_lock_options opt[] = {
        {.mode = EVZK_LOCK_EXCLUSIVE},
        {.mode = EVZK_LOCK_WRITE},
        {.mode = EVZK_LOCK_READ},
        {.try_once = true},
        {.mode = EVZK_LOCK_WRITE, .priority = &urgent},
        {.mode = EVZK_LOCK_READ, .priority = &urgent}};
    struct candidate c;

    for (size_t i = 0; i < sizeof opt / sizeof opt[0]; i++)
        claim_fails(s, dir, &opt[i], "FAILED(FOREIGN)");
    stand(&c, s, dir, NULL);
    WAIT(c.text[0]);
    ck_assert_str_eq(c.text, "FAILED(FOREIGN)");
    evzk_election_free(c.e);
    idle(s);
    ck_assert_int_eq(raw_sync(op(), dir), ZOK);
    ck_assert_int_eq(raw_count(op(), dir), there); /* Ours have gone. */
}

/* The end of an operation on a barrier; 1: it has not ended. */
static inline void barrier_hear(evzk_barrier *b, int rc, void *arg)
{
    (void)b;
    *(int *)arg = rc;
}

typedef int barrier_begin(evzk_session *s, const char *path,
                          const evzk_barrier_options *opt, evzk_barrier_cb *cb,
                          void *arg, evzk_barrier **out);

/* From the call to the end. */
static inline void barrier_done(barrier_begin *begin, evzk_session *s,
                                const char *path)
{
    evzk_barrier *b;
    int rc = 1;

    ck_assert_int_eq(begin(s, path, NULL, barrier_hear, &rc, &b), EVZK_OK);
    WAIT(rc != 1);
    ck_assert_int_eq(rc, EVZK_OK);
    evzk_barrier_free(b);
}

/* Each side sets a barrier, for which the other waits, and lifts it. */
static inline void barriers_are_shared(struct library *b, const char *path)
{
    evzk_barrier *waits;
    struct peer p;
    int rc = 1;

    peer_open(&p, the_server());
    library_holds(b, "barrier-set", path);
    ck_assert_int_eq(
        evzk_barrier_wait(p.s, path, NULL, barrier_hear, &rc, &waits), EVZK_OK);
    settle(p.s);
    ck_assert_int_eq(rc, 1);
    library_free(b); /* The library lifts the barrier. */
    WAIT(rc != 1);
    ck_assert_int_eq(rc, EVZK_OK);
    evzk_barrier_free(waits);
    barrier_done(evzk_barrier_set, p.s, path);
    library_ask(b, "barrier", path);
    library_waits(b);
    barrier_done(evzk_barrier_lift, p.s, path);
    library_has(b);
    library_free(b);
    peer_close(&p);
}

/* A session whose log is kept. */
struct logged {
    struct peer p;
    char log[8192];
};

static inline void keep_line(evzk_log_level level, const char *line, void *arg)
{
    struct logged *g = arg;
    size_t n = strlen(g->log);

    (void)level;
    snprintf(g->log + n, sizeof g->log - n, "%s\n", line);
}

static inline void logged_open(struct logged *g)
{
    evzk_session_options opt = {
        .timeout_ms = SESSION_MS, .log = keep_line, .log_arg = g};

    g->log[0] = '\0';
    peer_start(&g->p, the_server(), &opt);
    WAIT(evzk_session_connected(g->p.s));
}

#endif
