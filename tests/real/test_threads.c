/*
 * Leases in worker threads: no worker is told yes after the loss, whatever the
 * loop's thread does; and what workers have left lives for as long as they need
 * it.  Built with ThreadSanitizer too: make check-threads.
 */
#define _GNU_SOURCE 1
#include <event2/thread.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "test_shards.h"

enum { WORKERS = 4, ROUNDS = 60 };

static int64_t boot_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_BOOTTIME, &ts);
    return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* ---- Workers that ask until they are told no ---- */

struct crew {
    pthread_t thread[WORKERS];
    evzk_lease *lease;         /* A reference for each. */
    atomic_int asked;          /* So many have asked, once at least. */
    int64_t last_yes[WORKERS]; /* Asked then; 0: never. */
    pthread_mutex_t gate;      /* Locked: they keep their references. */
};

static int worker_of(struct crew *c)
{
    int i = 0;

    while (!pthread_equal(c->thread[i], pthread_self()))
        i++;
    return i;
}

/* A worker, at work between its questions for so long. */
static void work(void) { nanosleep(&(struct timespec){0, 100000}, NULL); }

static void *ask(void *arg)
{
    struct crew *c = arg;
    int64_t asked_at = boot_us(), last = 0;
    bool yes = evzk_lease_held(c->lease);

    atomic_fetch_add(&c->asked, 1);
    while (yes) {
        last = asked_at;
        work();
        asked_at = boot_us();
        yes = evzk_lease_held(c->lease);
    }
    pthread_mutex_lock(&c->gate);
    c->last_yes[worker_of(c)] = last;
    pthread_mutex_unlock(&c->gate);
    evzk_lease_unref(c->lease);
    return NULL;
}

/* Returns when each has asked.  Takes the caller's reference. */
static void crew_start(struct crew *c, evzk_lease *lease)
{
    memset(c, 0, sizeof *c);
    pthread_mutex_init(&c->gate, NULL);
    pthread_mutex_lock(&c->gate);
    c->lease = lease;
    for (int i = 0; i < WORKERS; i++) {
        evzk_lease_ref(lease);
        ck_assert_int_eq(pthread_create(&c->thread[i], NULL, ask, c), 0);
    }
    WAIT(atomic_load(&c->asked) == WORKERS);
    evzk_lease_unref(lease);
}

/* Waits for them without the loop.  The last moment that one was told yes. */
static int64_t crew_join(struct crew *c)
{
    int64_t last = 0;

    pthread_mutex_unlock(&c->gate);
    for (int i = 0; i < WORKERS; i++) {
        ck_assert_int_eq(pthread_join(c->thread[i], NULL), 0);
        if (c->last_yes[i] > last)
            last = c->last_yes[i];
    }
    pthread_mutex_destroy(&c->gate);
    return last;
}

static evzk_lease *lease_of(const struct claim *c)
{
    evzk_lease *lease = NULL;

    ck_assert_int_eq(evzk_lock_lease(c->l, &lease), EVZK_OK);
    ck_assert(evzk_lease_held(lease));
    ck_assert_uint_eq(evzk_lease_token(lease), evzk_lock_token(c->l));
    return lease;
}

/* The lease has ended, for ever. */
static void check_over(const evzk_lease *lease, uint64_t token)
{
    ck_assert(!evzk_lease_held(lease));
    ck_assert_int_eq(evzk_lease_deadline_us(lease), 0);
    ck_assert_uint_eq(evzk_lease_token(lease), token);
}

static void brief_open(struct peer *p, const char *server)
{
    evzk_session_options opt = {.timeout_ms = BRIEF_MS};

    peer_start(p, server, &opt);
    WAIT(evzk_session_connected(p->s));
}

/* ---- By the clock alone ---- */

/* The loop's thread waits for workers that wait for the lease to end.  False:
 * on a machine that stood still it had ended before. */
static bool stand_still(struct peer *p)
{
    struct claim c;
    struct crew crew;
    evzk_lease *lease;
    int64_t deadline, last;
    uint64_t token;

    claim_held(&c, p->s, "/threads-still", NULL);
    token = evzk_lock_token(c.l);
    lease = lease_of(&c);
    crew_start(&crew, evzk_lease_ref(lease));
    deadline = evzk_lease_deadline_us(lease);
    last = crew_join(&crew);
    if (deadline) {
        ck_assert_int_eq(evzk_lease_deadline_us(lease), deadline);
        ck_assert_int_ge(boot_us(), deadline);
        ck_assert_int_lt(last, deadline);
    }
    ck_assert(!evzk_lock_held(c.l));
    WAIT(c.rec.finals == 1);
    ck_assert_int_eq(c.rec.last, EVZK_LOCK_LOST);
    check_over(lease, token);
    evzk_lock_free(c.l);
    evzk_lease_unref(lease);
    return deadline != 0;
}

START_TEST(the_loop_stands_still)
{
    struct peer p;

    brief_open(&p, the_server());
    while (!stand_still(&p))
        ;
    peer_close(&p);
}
END_TEST

/* When the whole process was stopped, no worker that asks after that hears yes,
 * be it sooner than the loop. */
struct stopped {
    _Atomic int64_t at, next; /* Stopped; and about to go on. */
};

_Noreturn static void be_stopped(struct stopped *s, int up)
{
    struct peer p;
    struct claim c;
    struct crew crew;
    int64_t last;

    evthread_use_pthreads();
    brief_open(&p, the_server());
    claim_held(&c, p.s, "/threads-stopped", NULL);
    crew_start(&crew, lease_of(&c));
    if (write(up, "h", 1) != 1)
        _exit(1);
    WAIT(s->next && c.rec.finals == 1);
    last = crew_join(&crew);
    _exit(last >= s->next ? 2 : 0);
}

START_TEST(the_process_is_stopped)
{
    struct stopped *s = harness_share(sizeof *s);
    int fds[2], status;
    pid_t pid;
    char c;

    ck_assert_int_eq(pipe(fds), 0);
    the_server();
    pid = harness_fork();
    if (pid == 0)
        be_stopped(s, fds[1]);
    ck_assert_int_eq(read(fds[0], &c, 1), 1);
    ck_assert_int_eq(kill(pid, SIGSTOP), 0);
    ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
    s->at = boot_us();
    WAIT(boot_us() - s->at > BRIEF_MS * 1000);
    s->next = boot_us();
    ck_assert_int_eq(kill(pid, SIGCONT), 0);
    ck_assert_int_eq(harness_join(pid), 0);
    close(fds[0]);
    close(fds[1]);
    harness_unshare(s, sizeof *s);
}
END_TEST

/* ---- By a call ---- */

enum { RELEASE, FREE, CLOSE, FREE_SESSION, ENDS };

/* When the call has returned the answer is no; and workers give the last
 * references back when nothing else is left. */
START_TEST(the_grant_is_given_up)
{
    struct peer p;
    struct claim c;
    struct crew crew;
    evzk_lease *lease, *same;
    uint64_t token;

    peer_open(&p, the_server());
    claim_held(&c, p.s, "/threads-given-up", NULL);
    lease = lease_of(&c);
    same = lease_of(&c);
    ck_assert_ptr_eq(lease, same);
    evzk_lease_unref(same);
    token = evzk_lease_token(lease);
    crew_start(&crew, evzk_lease_ref(lease));
    if (_i == RELEASE)
        ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    else if (_i == FREE)
        evzk_lock_free(c.l);
    else if (_i == CLOSE)
        ck_assert_int_eq(evzk_session_close(p.s), EVZK_OK);
    else
        evzk_session_free(p.s);
    check_over(lease, token);
    if (_i != FREE) {
        ck_assert_int_eq(evzk_lock_lease(c.l, &same), EVZK_ERR_STATE);
        WAIT(c.rec.finals == 1);
        evzk_lock_free(c.l);
    }
    if (_i == RELEASE || _i == FREE)
        peer_close(&p);
    else if (_i == CLOSE) {
        WAIT(p.rec.finals == 1);
        evzk_session_free(p.s);
    }
    check_over(lease, token);
    evzk_lease_unref(lease);
    operator_close();
    harness_free();
    crew_join(&crew);
}
END_TEST

/* ---- Inside callbacks ---- */

struct inside {
    evzk_lease *lease;
    uint64_t token;
    bool free_it;
    int granted, finals, last;
};

static void on_inside(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct inside *in = arg;

    (void)rc;
    if (ev == EVZK_LOCK_GRANTED) {
        in->granted++;
        in->token = evzk_lock_token(l);
        ck_assert_int_eq(evzk_lock_lease(l, &in->lease), EVZK_OK);
        ck_assert(evzk_lease_held(in->lease));
        if (in->free_it)
            evzk_lock_free(l);
    }
    if (ev >= EVZK_LOCK_RELEASED) {
        in->finals++;
        in->last = (int)ev;
    }
    if (in->finals || in->free_it)
        check_over(in->lease, in->token);
}

START_TEST(it_is_freed_inside_the_grant)
{
    struct inside in = {.free_it = true};
    struct peer p;
    evzk_lock *l;

    peer_open(&p, the_server());
    ck_assert_int_eq(
        evzk_lock_acquire(p.s, "/threads-inside", NULL, on_inside, &in, &l),
        EVZK_OK);
    WAIT(in.granted == 1);
    nothing_left("/threads-inside", p.s);
    peer_close(&p);
    check_over(in.lease, in.token);
    evzk_lease_unref(in.lease);
}
END_TEST

START_TEST(the_loss_is_known_before_it_is_told)
{
    struct inside in = {0};
    const evzk_lock_options opt = {.revocable = true};
    struct peer p;
    evzk_lock *l;

    peer_open(&p, the_server());
    ck_assert_int_eq(
        evzk_lock_acquire(p.s, "/threads-lost", &opt, on_inside, &in, &l),
        EVZK_OK);
    WAIT(in.granted == 1);
    ck_assert_int_eq(
        raw_delete(op(), node_path("/threads-lost", evzk_lock_node(l))), ZOK);
    WAIT(in.finals == 1);
    ck_assert_int_eq(in.last, EVZK_LOCK_LOST);
    evzk_lock_free(l);
    peer_close(&p);
    evzk_lease_unref(in.lease);
}
END_TEST

/* ---- Elections and shards ---- */

static void on_candidate(evzk_election *e, evzk_election_event ev, int rc,
                         void *arg)
{
    struct inside *in = arg;

    (void)rc;
    if (ev == EVZK_ELECTION_ELECTED) {
        in->granted++;
        in->token = evzk_election_epoch(e);
        ck_assert_int_eq(evzk_election_lease(e, &in->lease), EVZK_OK);
    }
    if (ev >= EVZK_ELECTION_RESIGNED) {
        in->finals++;
        check_over(in->lease, in->token);
    }
}

START_TEST(a_candidate_resigns)
{
    struct inside in = {0};
    evzk_lease *none;
    evzk_election *e;
    struct peer p;

    peer_open(&p, the_server());
    ck_assert_int_eq(evzk_election_volunteer(p.s, "/threads-elect", NULL,
                                             on_candidate, &in, &e),
                     EVZK_OK);
    ck_assert_int_eq(evzk_election_lease(e, &none), EVZK_ERR_STATE);
    WAIT(in.granted == 1);
    ck_assert(evzk_lease_held(in.lease));
    ck_assert_uint_eq(evzk_lease_token(in.lease), in.token);
    ck_assert_int_eq(evzk_election_resign(e), EVZK_OK);
    check_over(in.lease, in.token);
    WAIT(in.finals == 1);
    evzk_election_free(e);
    peer_close(&p);
    evzk_lease_unref(in.lease);
}
END_TEST

static void on_one(evzk_shards *a, uint32_t shard, evzk_election_event ev,
                   int rc, void *arg)
{
    struct inside *in = (struct inside *)arg + shard;

    (void)rc;
    if (ev == EVZK_ELECTION_ELECTED) {
        in->granted++;
        in->token = evzk_shards_epoch(a, shard);
        ck_assert_int_eq(evzk_shards_lease(a, shard, &in->lease), EVZK_OK);
        ck_assert(evzk_lease_held(in->lease));
    }
    if (ev == EVZK_ELECTION_RESIGNED) {
        in->finals++;
        check_over(in->lease, in->token);
    }
}

static void on_all(evzk_shards *a, evzk_shards_event ev, int rc, void *arg)
{
    struct inside *in = arg;

    (void)a, (void)rc;
    in->last = (int)ev;
}

START_TEST(shards_are_drained)
{
    struct inside in[2] = {{0}};
    const evzk_shards_options opt = {.count = 2};
    struct peer p;
    evzk_lease *none;
    evzk_shards *a;

    peer_open(&p, the_server());
    ck_assert_int_eq(
        evzk_shards_join(p.s, "/threads-shards", &opt, on_one, on_all, in, &a),
        EVZK_OK);
    ck_assert_int_eq(evzk_shards_lease(a, 0, &none), EVZK_ERR_STATE);
    ck_assert_int_eq(evzk_shards_lease(a, 2, &none), EVZK_ERR_INVAL);
    WAIT(in[0].granted && in[1].granted);
    ck_assert(evzk_lease_held(in[0].lease) && evzk_lease_held(in[1].lease));
    ck_assert_int_eq(evzk_shards_drain(a, 1), EVZK_OK);
    WAIT(in[0].last == EVZK_SHARDS_DRAINED);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(in[i].finals, 1);
        check_over(in[i].lease, in[i].token);
        evzk_lease_unref(in[i].lease);
    }
    evzk_shards_free(a);
    peer_close(&p);
}
END_TEST

/* ---- Memory, and a fork ---- */

static atomic_int live, allowed;

static void *meager_malloc(size_t n)
{
    if (atomic_fetch_sub(&allowed, 1) <= 0)
        return NULL;
    atomic_fetch_add(&live, 1);
    return malloc(n);
}

static void *meager_realloc(void *p, size_t n) { return realloc(p, n); }

static void meager_free(void *p)
{
    atomic_fetch_sub(&live, p != NULL);
    free(p);
}

/* Without memory there is no lease, and nothing has changed; to let go takes
 * none. */
START_TEST(no_memory_for_a_lease)
{
    evzk_lease *lease = NULL;
    struct peer p;
    struct claim c;
    int rc, n = 0;

    allowed = 1000000;
    evzk_set_allocator(meager_malloc, meager_realloc, meager_free);
    peer_open(&p, the_server());
    claim_held(&c, p.s, "/threads-meager", NULL);
    do {
        allowed = n++;
        rc = evzk_lock_lease(c.l, &lease);
        ck_assert(rc == EVZK_OK || (rc == EVZK_ERR_NOMEM && !lease));
        ck_assert(evzk_lock_held(c.l));
    } while (rc != EVZK_OK);
    ck_assert_int_gt(n, 1);
    allowed = 0;
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    ck_assert(!evzk_lease_held(lease));
    allowed = 1000000;
    WAIT(c.rec.finals == 1);
    evzk_lock_free(c.l);
    peer_close(&p);
    WAIT(live > 0); /* The lease. */
    evzk_lease_unref(lease);
    ck_assert_int_eq(live, 0);
    evzk_set_allocator(NULL, NULL, NULL);
}
END_TEST

static int be_a_child(struct claim *c, evzk_lease *lease, uint64_t token)
{
    evzk_lease *other = NULL;

    if (evzk_lease_held(lease) || evzk_lease_deadline_us(lease) ||
        evzk_lease_token(lease) != token)
        return 1;
    if (evzk_lock_lease(c->l, &other) != EVZK_ERR_FORKED || other)
        return 2;
    evzk_lease_unref(lease);
    return 0;
}

START_TEST(a_child_holds_nothing)
{
    evzk_lease *lease;
    struct claim c;
    struct peer p;
    uint64_t token;
    pid_t pid;

    peer_open(&p, the_server());
    claim_held(&c, p.s, "/threads-fork", NULL);
    lease = lease_of(&c);
    token = evzk_lease_token(lease);
    pid = harness_fork();
    if (pid == 0)
        _exit(be_a_child(&c, lease, token));
    ck_assert_int_eq(harness_join(pid), 0);
    ck_assert(evzk_lease_held(lease));
    evzk_lease_unref(lease);
    claim_release(&c);
    peer_close(&p);
}
END_TEST

/* ---- Many grants, and a connection that is cut ---- */

/* What the loop's thread has told: a worker that has read it and then asks, may
 * not hear yes. */
struct grant {
    atomic_bool over;
    evzk_lease *lease; /* Under the pool's mutex. */
};

static struct {
    pthread_mutex_t mutex;
    struct grant grant[ROUNDS];
    int present; /* The newest; under the mutex. */
    atomic_bool end;
    atomic_int wrong, yes;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static struct grant *take_grant(evzk_lease **lease)
{
    struct grant *g;

    pthread_mutex_lock(&pool.mutex);
    g = &pool.grant[pool.present];
    *lease = evzk_lease_ref(g->lease);
    pthread_mutex_unlock(&pool.mutex);
    return g;
}

static void *pool_work(void *arg)
{
    while (!atomic_load(&pool.end)) {
        evzk_lease *lease;
        struct grant *g = take_grant(&lease);

        for (int i = 0; lease && i < 20; i++) {
            bool over = atomic_load(&g->over), yes = evzk_lease_held(lease);

            atomic_fetch_add(&pool.wrong, over && yes);
            atomic_fetch_add(&pool.yes, yes);
        }
        evzk_lease_unref(lease);
        work();
    }
    return arg;
}

static void on_pooled(evzk_lock *l, evzk_lock_event ev, int rc, void *arg)
{
    struct grant *g = arg;

    (void)rc;
    if (ev == EVZK_LOCK_GRANTED) {
        pthread_mutex_lock(&pool.mutex);
        pool.present = (int)(g - pool.grant);
        ck_assert_int_eq(evzk_lock_lease(l, &g->lease), EVZK_OK);
        pthread_mutex_unlock(&pool.mutex);
    }
    if (ev >= EVZK_LOCK_RELEASED)
        atomic_store(&g->over, true);
}

static void one_round(evzk_session *s, struct grant *g, struct proxy *proxy)
{
    bool cut = (g - pool.grant) % 6 == 5;
    evzk_lock *l;
    int yes;

    ck_assert_int_eq(
        evzk_lock_acquire(s, "/threads-pool", NULL, on_pooled, g, &l), EVZK_OK);
    WAIT(evzk_lock_held(l) || atomic_load(&g->over));
    yes = atomic_load(&pool.yes);
    WAIT(atomic_load(&pool.yes) > yes || !evzk_lock_held(l));
    if (cut)
        proxy_cut(proxy);
    if (evzk_lock_release(l) == EVZK_OK)
        atomic_store(&g->over, true);
    WAIT(atomic_load(&g->over));
    evzk_lock_free(l);
}

START_TEST(many_grants)
{
    struct proxy *proxy = proxy_start(the_server());
    pthread_t worker[WORKERS];
    struct peer p;

    peer_open(&p, proxy_address(proxy));
    for (int i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&worker[i], NULL, pool_work, NULL), 0);
    for (int i = 0; i < ROUNDS; i++)
        one_round(p.s, &pool.grant[i], proxy);
    atomic_store(&pool.end, true);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(worker[i], NULL);
    ck_assert_int_eq(pool.wrong, 0);
    ck_assert_int_gt(pool.yes, 0);
    peer_close(&p);
    proxy_stop(proxy);
    for (int i = 0; i < ROUNDS; i++)
        evzk_lease_unref(pool.grant[i].lease);
}
END_TEST

/* ---- The example ---- */

static FILE *example(const char *dir, pid_t *pid)
{
    char line[512];
    FILE *f;

    snprintf(line, sizeof line, "echo $$; exec '%s/examples/workers' %s %s",
             build_folder(), the_server(), dir);
    f = popen(line, "r");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    *pid = (pid_t)atoi(line);
    ck_assert_int_gt(*pid, 0);
    return f;
}

static void read_until(FILE *f, const char *what)
{
    char line[256];

    do
        ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    while (strncmp(line, what, strlen(what)) != 0);
}

/* The example loses its lock, holds it again, and ends on a signal: with
 * writes, and nothing is left. */
START_TEST(the_example_works)
{
    static const char dir[] = "/threads-example";
    unsigned long long writes = 0, refused = 0;
    struct raw_names names;
    char line[256] = "";
    pid_t pid;
    FILE *f = example(dir, &pid);

    read_until(f, "event 1 "); /* GRANTED. */
    ck_assert_int_eq(raw_children(op(), dir, &names), ZOK);
    ck_assert_uint_eq(names.n, 1);
    ck_assert_int_eq(raw_delete(op(), node_path(dir, names.name[0])), ZOK);
    raw_names_free(&names);
    read_until(f, "event 8 "); /* LOST. */
    read_until(f, "event 1 ");
    ck_assert_int_eq(kill(pid, SIGINT), 0);
    while (fgets(line, sizeof line, f))
        ;
    ck_assert_int_eq(
        sscanf(line, "%llu writes, %llu refused", &writes, &refused), 2);
    ck_assert_uint_eq(refused, 0);
    ck_assert_int_eq(pclose(f), 0);
    WAIT(raw_count(op(), dir) <= 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threads");
    TCase *tests;

    evthread_use_pthreads();
    tests = lock_tests(suite, "threads", 120000);
    tcase_add_test(tests, the_loop_stands_still);
    tcase_add_test(tests, the_process_is_stopped);
    tcase_add_loop_test(tests, the_grant_is_given_up, 0, ENDS);
    tcase_add_test(tests, it_is_freed_inside_the_grant);
    tcase_add_test(tests, the_loss_is_known_before_it_is_told);
    tcase_add_test(tests, a_candidate_resigns);
    tcase_add_test(tests, shards_are_drained);
    tcase_add_test(tests, no_memory_for_a_lease);
    tcase_add_test(tests, a_child_holds_nothing);
    tcase_add_test(tests, many_grants);
    tcase_add_test(tests, the_example_works);
    return lock_suite_run(suite);
}
