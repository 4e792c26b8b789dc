/*
 * A mixed fleet: processes of evzk, of Curator and of Kazoo on one lock, which
 * are killed, cut off and expired meanwhile.  Each appends to a log what it
 * believes (test_beliefs.h); at the end no two beliefs may contradict each
 * other, and no contender may be left on the server.  The default is short and
 * small; EVZK_FLEET_SECONDS=60 EVZK_FLEET_PROCESSES=10 gives the figure that
 * the project promises.
 *
 * Curator and Kazoo do not know each other's names: so there are two paths,
 * and half of evzk's processes are on each.
 *
 * A process of another library believes to hold from acquire()'s return to
 * release()'s call, but not while its library says that the connection is
 * suspended or the session lost: their users are told to listen to that.  A
 * process of evzk believes so while evzk_lock_held() says it, in doubt too.  A
 * killed one believes nothing.
 *
 * Sessions expire by silence, as they do in life: the proxy before a holder
 * freezes for longer than the session's time-out.  An operator who closes the
 * session of another (raw_expire()) is not tried here: no library can know of
 * that before its next request, and the beliefs would contradict each other
 * until then.
 *
 * How it can fail: only evzk's belief ends by a clock.  Curator and Kazoo
 * notice the silence after two thirds of the time-out, so one of their
 * processes that gets no processor for the last third tells of it after its
 * session's end.  The line of such an overlap has a first belief of theirs that
 * ends with S or X.
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <sys/wait.h>

#include "test_beliefs.h"
#include "test_installed.h"

enum library_of { EVZK, CURATOR, KAZOO, LIBRARIES };
static const char *const library_name[] = {"evzk", "curator", "kazoo"};
static const evzk_dialect dialect_of[] = {EVZK_DIALECT_CURATOR,
                                          EVZK_DIALECT_KAZOO};

enum {
    PATHS = 2,
    PROXIES = 5,
    EACH_MAX = WORKERS_MAX / LIBRARIES,
    TIMEOUT_MS = 5000, /* The sessions'. */
    FROZEN_MS = TIMEOUT_MS + 1500,
    STEP_MS = 3000, /* Between cuts. */
    REST_MS = 5000, /* Between two expiries, with kills. */
    END_MS = 60000
};

struct fleet {
    const char *kind;
    int each, seconds, proxies;
    char log[256], errors[256], hold[PATHS][256], dir[PATHS][64];
    struct proxy *proxy[PROXIES];
    pid_t pid[WORKERS_MAX];
    int stop[2]; /* A pipe: its end is the workers' sign to end. */
    struct beliefs seen;
    int kills, cuts, step;
    int frozen;      /* A proxy; -1: none. */
    int victim;      /* The holder behind it. */
    int turn;        /* The path whose holder is frozen, or is to be. */
    int64_t before;  /* Its expiries until then. */
    int64_t next_ms; /* When to thaw, or to freeze. */
};

static int all(const struct fleet *f) { return LIBRARIES * f->each; }

static enum library_of library_of(const struct fleet *f, int who)
{
    return (enum library_of)(who / f->each);
}

/* 0: with Curator; 1: with Kazoo. */
static int path_of(const struct fleet *f, int who)
{
    return library_of(f, who) == EVZK ? who % PATHS
                                      : library_of(f, who) == KAZOO;
}

static int proxy_of(const struct fleet *f, int who)
{
    return who % f->each / (library_of(f, who) == EVZK ? PATHS : 1) %
           f->proxies;
}

static const char *server_of(const struct fleet *f, int who)
{
    return proxy_address(f->proxy[proxy_of(f, who)]);
}

static bool has_readers(const struct fleet *f)
{
    return strcmp(f->kind, "rw") == 0;
}

/* ---- A process of evzk's ---- */

struct worker {
    const struct fleet *f;
    int who;
    evzk_lock *l;
    evzk_lock_mode mode;
    bool granted, asked, done; /* asked: to release, or to cancel. */
    bool connected, closed;
    int64_t until; /* The end of the lease, as it was seen last. */
    int64_t end;
};

static void say(const struct worker *w, char event, int64_t ns)
{
    belief_say(w->f->log, w->who, event, ns);
}

static void look_at_lease(struct worker *w)
{
    int64_t now = now_ns();
    uint32_t ms = evzk_lock_lease_ms(w->l);

    if (ms > 0)
        w->until = now + ((int64_t)ms + 1) * 1000000;
}

/* A process that stood still hears of the end of its lease too late, but
 * evzk_lock_held() has said it in time. */
static int64_t belief_until(const struct worker *w)
{
    int64_t now = now_ns();

    return w->granted && w->until < now ? w->until : now;
}

static void on_worker_session(evzk_session *s, evzk_session_event event, int rc,
                              void *arg)
{
    struct worker *w = arg;

    (void)s, (void)rc;
    if (event == EVZK_SESSION_CONNECTED && !w->connected) {
        w->connected = true;
        say(w, 'C', now_ns());
    }
    if (event == EVZK_SESSION_EXPIRED)
        say(w, 'X', belief_until(w));
    w->closed = event == EVZK_SESSION_CLOSED;
}

static void on_worker_lock(evzk_lock *l, evzk_lock_event event, int rc,
                           void *arg)
{
    struct worker *w = arg;

    (void)l, (void)rc;
    if (event == EVZK_LOCK_GRANTED) {
        w->granted = true;
        w->end = now_ns() + (2 + rand() % 20) * 1000000LL;
        look_at_lease(w);
        say(w, w->mode == EVZK_LOCK_READ ? 'r' : 'w', now_ns());
    } else if (event == EVZK_LOCK_SUSPENDED) {
        look_at_lease(w);
        say(w, 'D', w->until);
    } else if (event == EVZK_LOCK_RESUMED && !w->asked) {
        say(w, 'C', now_ns());
    } else if (event == EVZK_LOCK_LOST) {
        say(w, 'L', belief_until(w));
    }
    w->done = evzk_lock_event_is_final(event);
}

static bool is_over(const struct fleet *f)
{
    struct pollfd p = {.fd = f->stop[0], .events = POLLIN};

    return poll(&p, 1, 0) != 0;
}

static bool exists(const char *file) { return access(file, F_OK) == 0; }

static void go_on(struct worker *w)
{
    bool over = is_over(w->f);

    if (w->done || w->asked)
        return;
    look_at_lease(w);
    if (!w->granted) {
        w->asked = over && evzk_lock_cancel(w->l) == EVZK_OK;
    } else if (over || (now_ns() >= w->end &&
                        !exists(w->f->hold[path_of(w->f, w->who)]))) {
        say(w, 'E', belief_until(w));
        w->asked = evzk_lock_release(w->l) == EVZK_OK;
    }
}

static void acquire_once(struct worker *w, evzk_session *s)
{
    int path = path_of(w->f, w->who);

    w->mode = !has_readers(w->f) ? EVZK_LOCK_EXCLUSIVE
              : rand() % 3 == 0  ? EVZK_LOCK_WRITE
                                 : EVZK_LOCK_READ;
    w->granted = w->asked = w->done = false;
    ck_assert_int_eq(
        evzk_lock_acquire(
            s, w->f->dir[path],
            &(evzk_lock_options){.mode = w->mode, .dialect = dialect_of[path]},
            on_worker_lock, w, &w->l),
        EVZK_OK);
    while (!w->done) {
        run_for(harness_base(), 1);
        go_on(w);
    }
    evzk_lock_free(w->l);
    w->l = NULL;
}

_Noreturn static void evzk_worker(const struct fleet *f, int who)
{
    const evzk_session_options opt = {.timeout_ms = TIMEOUT_MS,
                                      .close_timeout_ms = CLOSE_MS};
    struct worker w = {.f = f, .who = who};
    evzk_session *s;

    close(f->stop[1]);
    srand((unsigned)getpid());
    harness_set_base(event_base_new());
    ck_assert_int_eq(evzk_session_open(harness_base(), server_of(f, who), &opt,
                                       on_worker_session, &w, &s),
                     EVZK_OK);
    while (!is_over(f))
        acquire_once(&w, s);
    ck_assert_int_eq(evzk_session_close(s), EVZK_OK);
    WAIT(w.closed);
    _exit(0);
}

/* ---- A process of another library's ---- */

_Noreturn static void other_worker(const struct fleet *f, int who)
{
    bool kazoo = library_of(f, who) == KAZOO;
    char program[256], script[4096], server[64], number[16], timeout[16];
    char *java[] = {program,    "-XX:TieredStopAtLevel=1",
                    "-Xmx64m",  "-XX:+UseSerialGC",
                    "-cp",      curator_jars,
                    "PeerFleet"};
    char *py[] = {program, script};
    char *argv[16] = {NULL};
    int n = kazoo ? 2 : (int)(sizeof java / sizeof java[0]);
    int errors = open(f->errors, O_WRONLY | O_CREAT | O_APPEND, 0666);

    snprintf(program, sizeof program, "%s",
             kazoo ? python() : tool("JAVA", "java"));
    snprintf(script, sizeof script, "%s", in_source("peer_fleet.py"));
    snprintf(server, sizeof server, "%s", server_of(f, who));
    snprintf(number, sizeof number, "%d", who);
    snprintf(timeout, sizeof timeout, "%d", TIMEOUT_MS);
    memcpy(argv, kazoo ? py : java, (size_t)n * sizeof *argv);
    memcpy(argv + n,
           (char *[]){server, (char *)f->dir[kazoo], (char *)f->kind,
                      (char *)f->log, (char *)f->hold[kazoo], number, timeout},
           7 * sizeof *argv);
    dup2(f->stop[0], 0);
    dup2(errors, 2);
    unsetenv("LD_PRELOAD"); /* For the tests' own answers. */
    execvp(argv[0], argv);
    _exit(127);
}

static void worker_start(struct fleet *f, int who)
{
    f->pid[who] = harness_fork();
    if (f->pid[who] != 0)
        return;
    if (library_of(f, who) == EVZK)
        evzk_worker(f, who);
    other_worker(f, who);
}

/* ---- Troubles ---- */

/* Somebody that holds on that path, by the log; -1: nobody. */
static int a_holder(struct fleet *f, int path)
{
    beliefs_read(&f->seen, f->log);
    for (int i = 0, who = rand(); i < all(f); i++, who++) {
        who %= all(f);
        if (path_of(f, who) == path && belief_lasts(&f->seen, who))
            return who;
    }
    return -1;
}

static void kill_one(struct fleet *f, int who)
{
    int64_t ns = now_ns();
    int status;

    if (f->frozen >= 0 && who == f->victim)
        return;
    ck_assert_int_eq(kill(f->pid[who], SIGKILL), 0);
    ck_assert_int_eq(waitpid(f->pid[who], &status, 0), f->pid[who]);
    ck_assert_msg(WIFSIGNALED(status), "worker %d ended with %d", who,
                  WEXITSTATUS(status));
    belief_say(f->log, who, 'K', ns);
    f->kills++;
    worker_start(f, who);
}

static void cut_one(struct fleet *f, int proxy)
{
    if (proxy == f->frozen)
        return;
    proxy_cut(f->proxy[proxy]);
    f->cuts++;
}

/* The holder on the other path, and some who wait.  All at once: the znode of
 * each keeps the rest waiting until its session expires. */
static void kill_some(struct fleet *f)
{
    int holder = a_holder(f, PATHS - 1 - f->turn);

    kill_one(f, holder >= 0 ? holder : rand() % all(f));
    for (int i = 1; i <= f->each / 2; i++)
        kill_one(f, rand() % all(f));
}

/* The proxy of a holder, and another. */
static void cut_some(struct fleet *f)
{
    int who = a_holder(f, f->step++ % PATHS);

    cut_one(f, proxy_of(f, who >= 0 ? who : 0));
    cut_one(f, rand() % f->proxies);
}

static void hold_on(const struct fleet *f, int path, bool on)
{
    if (!on) {
        unlink(f->hold[path]);
        return;
    }
    close(open(f->hold[path], O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

static bool has_expired(struct fleet *f)
{
    beliefs_read(&f->seen, f->log);
    return f->seen.of[f->victim].expiries > f->before;
}

static void thaw(struct fleet *f)
{
    proxy_thaw(f->proxy[f->frozen]);
    WAIT(has_expired(f));
    hold_on(f, f->turn, false);
    f->turn = (f->turn + 1) % PATHS;
    f->frozen = -1;
    f->next_ms = now_ms() + REST_MS;
}

/* A holder goes on holding; its session expires; those behind it are granted
 * the lock while it still is cut off. */
static void freeze(struct fleet *f)
{
    if (now_ms() < f->next_ms)
        return;
    if (f->frozen >= 0) {
        thaw(f);
        return;
    }
    hold_on(f, f->turn, true);
    f->victim = a_holder(f, f->turn);
    if (f->victim < 0)
        return;
    f->before = f->seen.of[f->victim].expiries;
    f->frozen = proxy_of(f, f->victim);
    f->next_ms = now_ms() + FROZEN_MS;
    proxy_freeze(f->proxy[f->frozen], PROXY_BOTH);
    kill_some(f);
}

/* ---- The fleet ---- */

static int between(int least, int n, int most)
{
    return n < least ? least : n > most ? most : n;
}

static void fleet_name(struct fleet *f)
{
    const char *folder = zk_folder(zk_shared());

    snprintf(f->log, sizeof f->log, "%s/fleet-%s.log", folder, f->kind);
    snprintf(f->errors, sizeof f->errors, "%s/fleet-errors", folder);
    for (int i = 0; i < PATHS; i++) {
        snprintf(f->hold[i], sizeof f->hold[i], "%s/hold-%d", folder, i);
        snprintf(f->dir[i], sizeof f->dir[i], "/fleet/%s-%s", f->kind,
                 library_name[CURATOR + i]);
    }
    close(open(f->log, O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
}

static bool all_are_met(struct fleet *f)
{
    beliefs_read(&f->seen, f->log);
    for (int i = 0; i < all(f); i++) {
        if (!f->seen.of[i].met)
            return false;
    }
    return true;
}

static void fleet_start(struct fleet *f)
{
    the_server();
    f->each = between(PATHS, number_set("EVZK_FLEET_PROCESSES", 2), EACH_MAX);
    f->seconds = between(1, number_set("EVZK_FLEET_SECONDS", 8), 3600);
    f->proxies = f->each < PROXIES ? f->each : PROXIES;
    f->frozen = -1;
    fleet_name(f);
    ck_assert_int_eq(pipe2(f->stop, O_CLOEXEC), 0);
    for (int i = 0; i < f->proxies; i++)
        f->proxy[i] = proxy_start(the_server());
    for (int i = 0; i < all(f); i++)
        worker_start(f, i);
    WAIT(all_are_met(f));
}

static void fleet_run(struct fleet *f)
{
    int64_t end = now_ms() + f->seconds * 1000;

    while (now_ms() < end || f->frozen >= 0) {
        freeze(f);
        cut_some(f);
        run_for(harness_base(), STEP_MS);
    }
}

static int contenders(const struct fleet *f)
{
    int left = 0;

    for (int i = 0; i < PATHS; i++) {
        int n = raw_count(op(), f->dir[i]);

        left += n > 0 ? n : 0;
    }
    return left;
}

/* The sessions of killed processes have to expire.  Returns how many contenders
 * are left at last. */
static int fleet_end(struct fleet *f)
{
    int64_t end = now_ms() + slow_ms(END_MS);

    for (int i = 0; i < PATHS; i++)
        hold_on(f, i, false);
    close(f->stop[1]);
    for (int i = 0; i < all(f); i++)
        ck_assert_int_eq(harness_join(f->pid[i]), 0);
    close(f->stop[0]);
    WAIT(contenders(f) == 0 || now_ms() > end);
    for (int i = 0; i < f->proxies; i++)
        proxy_stop(f->proxy[i]);
    return contenders(f);
}

static void tell_overlap(const struct fleet *f, const struct belief *a,
                         const struct belief *b)
{
    const struct belief *both[] = {a, b};

    printf("dialect fleet overlap on %s:", f->dir[path_of(f, a->who)]);
    for (int i = 0; i < 2; i++) {
        const struct belief *x = both[i];

        printf(" %s %d %s from %.3f ms to %.3f ms (%c)",
               library_name[library_of(f, x->who)], x->who,
               x->writes ? "writes" : "reads",
               (double)(x->begin - b->begin) / 1e6,
               (double)(x->end - b->begin) / 1e6, x->how);
    }
    printf("; at %" PRId64 "\n", b->begin);
}

static int overlaps(const struct fleet *f)
{
    const struct belief *v = f->seen.v;
    int n = 0;

    qsort(f->seen.v, (size_t)f->seen.n, sizeof *v, by_begin);
    for (int i = 0; i < f->seen.n; i++) {
        for (int j = i + 1; j < f->seen.n && v[j].begin < v[i].end; j++) {
            if (v[i].who == v[j].who || !(v[i].writes || v[j].writes) ||
                path_of(f, v[i].who) != path_of(f, v[j].who) ||
                v[j].begin == v[j].end)
                continue;
            tell_overlap(f, &v[i], &v[j]);
            n++;
        }
    }
    return n;
}

static void fleet(const char *kind)
{
    struct fleet f = {.kind = kind};
    int64_t grants[LIBRARIES] = {0}, expiries = 0;
    int left, twice;

    fleet_start(&f);
    fleet_run(&f);
    left = fleet_end(&f);
    beliefs_read(&f.seen, f.log);
    for (int i = 0; i < all(&f); i++) {
        grants[library_of(&f, i)] += f.seen.of[i].grants;
        expiries += f.seen.of[i].expiries;
    }
    twice = overlaps(&f);
    printf("dialect fleet kind=%s processes=%d seconds=%d kills=%d cuts=%d "
           "expiries=%d grants evzk=%d curator=%d kazoo=%d overlaps=%d "
           "left=%d\n",
           kind, all(&f), f.seconds, f.kills, f.cuts, (int)expiries,
           (int)grants[EVZK], (int)grants[CURATOR], (int)grants[KAZOO], twice,
           left);
    ck_assert(grants[EVZK] > 0 && grants[CURATOR] > 0 && grants[KAZOO] > 0);
    ck_assert(f.kills > 0 && f.cuts > 0 && expiries > 0);
    ck_assert_int_eq(twice, 0);
    ck_assert_int_eq(left, 0);
    free(f.seen.v);
}

START_TEST(one_lock) { fleet("lock"); }
END_TEST

START_TEST(one_read_write_lock) { fleet("rw"); }
END_TEST

static void compile(void) { curator_compile("PeerFleet"); }

static void add(Suite *suite, const char *name, const TTest *test)
{
    TCase *tests = lock_tests(suite, name, 600000);

    tcase_add_unchecked_fixture(tests, compile, NULL);
    tcase_add_test(tests, test);
}

int main(void)
{
    Suite *suite = suite_create("dialect-fleet");

    if (!curator_is_there() || !kazoo_is_there())
        return PEERS_SKIPPED;
    add(suite, "lock", one_lock);
    add(suite, "rw", one_read_write_lock);
    return lock_suite_run(suite);
}
