/*
 * No descriptor is free: the session cannot make a connection.  It must wait
 * without spinning, say so in the log, keep its locks while the lease lasts,
 * and be connected again soon after descriptors are free.
 *
 * The tests lower the soft limit below every number in use: what is open works
 * on, and nothing new can be opened.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/resource.h>

#include "test_session_kit.h"

enum {
    WATCH_MS = 2000, /* How long a session without descriptors is looked at. */
    TURNS_MAX = 100, /* Of the loop in that time; the harness makes some. */
    LINES_MAX = 10,  /* In the log in that time. */
    BACK_MS = 5000   /* To be connected again. */
};

static struct {
    int lines, told;
} noted;

static void note(evzk_log_level level, const char *line, void *arg)
{
    (void)arg;
    if (level == EVZK_LOG_DEBUG)
        return;
    noted.lines++;
    noted.told += strstr(line, "no descriptor is free") != NULL;
}

static struct rlimit before;

static void starve(void)
{
    struct rlimit none;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = before;
    none.rlim_cur = 3;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_int_lt(dup(STDIN_FILENO), 0);
}

static void feed(void)
{
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

static int count_open(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;

    ck_assert_ptr_nonnull(dir);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

static void on_late(evutil_socket_t fd, short what, void *arg)
{
    (void)fd, (void)what;
    *(bool *)arg = true;
}

/* Turns of the loop in WATCH_MS. */
static int watch_turns(void)
{
    const struct timeval tv = {WATCH_MS / 1000, WATCH_MS % 1000 * 1000};
    bool over = false;
    int turns = 0;

    ck_assert_int_eq(
        event_base_once(harness_base(), -1, EV_TIMEOUT, on_late, &over, &tv),
        0);
    while (!over) {
        ck_assert_int_eq(event_base_loop(harness_base(), EVLOOP_ONCE), 0);
        turns++;
    }
    return turns;
}

static void check_quiet(void)
{
    int turns;

    noted.lines = noted.told = 0;
    turns = watch_turns();
    printf("descriptors: none free for %d ms: %d turns, %d lines\n", WATCH_MS,
           turns, noted.lines);
    ck_assert_int_le(turns, TURNS_MAX);
    ck_assert_int_le(noted.lines, LINES_MAX);
}

/* The library writes nothing there, nor does what it uses. */
static void watch_stderr(void)
{
    FILE *f = tmpfile();

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(dup2(fileno(f), STDERR_FILENO), STDERR_FILENO);
    fclose(f);
}

static void check_stderr(void)
{
    char said[256] = "";

    ck_assert_int_ge(pread(STDERR_FILENO, said, sizeof said - 1, 0), 0);
    ck_assert_str_eq(said, "");
}

static const evzk_session_options *noting(void)
{
    static const evzk_session_options opt = {.timeout_ms = KIT_SESSION_MS,
                                             .log = note};

    unsetenv("EVZK_TEST_LATE"); /* The loop spins. */
    watch_stderr();
    return &opt;
}

START_TEST(descriptors_come_back_and_so_does_the_session)
{
    struct proxy *p = proxied();
    int64_t start;
    struct app a;
    struct one o;
    int told;

    app_up(&a, proxy_address(p), noting());
    one_hold(&o, &a, "/descriptors");
    noted.told = 0;
    starve();
    proxy_cut(p);
    WAIT(app_heard(&a, "SUSPENDED"));
    told = noted.told;
    check_quiet();
    ck_assert(!evzk_session_connected(a.s));
    ck_assert(evzk_lock_held(o.l));
    ck_assert_int_eq(told + noted.told, 1);
    feed();
    start = now_ms();
    WAIT(evzk_session_connected(a.s));
    ck_assert_int_lt(now_ms() - start, slow_ms(BACK_MS));
    WAIT(one_heard(&o, "RESUMED"));
    ck_assert_str_eq(a.rec.text, "CONNECTED SUSPENDED RESUMED");
    ck_assert_str_eq(o.rec.text, "GRANTED SUSPENDED RESUMED");
    one_free(&o);
    app_close(&a);
    proxy_stop(p);
    check_stderr();
    kit_done();
}
END_TEST

/* Names in the hosts file that the library reads: the test's own. */
static char hosts[64];

int open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    va_list more;

    if (flags & O_CREAT) {
        va_start(more, flags);
        mode = va_arg(more, mode_t);
        va_end(more);
    }
    if (hosts[0] && strcmp(path, "/etc/hosts") == 0)
        path = hosts;
    return openat(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
    __attribute__((alias("open"), nothrow));

static void write_hosts(void)
{
    static const char line[] = "127.0.0.1 zk-in-hosts\n";
    int fd;

    strcpy(hosts, "/tmp/evzk-hosts-XXXXXX");
    fd = mkstemp(hosts);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, line, sizeof line - 1),
                     (ssize_t)sizeof line - 1);
    close(fd);
}

/* Opened while nothing is free: by address, and by a name whose look-up needs
 * files and sockets of its own. */
START_TEST(descriptors_are_missing_from_the_start)
{
    const evzk_session_options *opt;
    char servers[64];
    struct app a;

    write_hosts();
    snprintf(servers, sizeof servers, "%s:%s", _i ? "zk-in-hosts" : "127.0.0.1",
             strrchr(server(), ':') + 1);
    harness_base();
    opt = noting();
    starve();
    app_open(&a, servers, opt);
    check_quiet();
    ck_assert_int_ge(noted.told, 1);
    feed();
    WAIT_MS(BACK_MS, app_heard(&a, "CONNECTED"));
    app_close(&a);
    unlink(hosts);
    check_stderr();
    kit_done();
}
END_TEST

/* The end needs no descriptor. */
START_TEST(descriptors_are_missing_at_the_end)
{
    struct proxy *p = proxied();
    struct app a;

    app_up(&a, proxy_address(p), noting());
    starve();
    if (_i) {
        proxy_cut(p);
        WAIT(app_heard(&a, "SUSPENDED"));
        feed();
    }
    app_close(&a);
    if (!_i)
        feed();
    proxy_stop(p);
    check_stderr();
    kit_done();
}
END_TEST

/* Lost again and again, with descriptors and without: none is kept. */
START_TEST(descriptors_are_given_back)
{
    struct proxy *p = proxied();
    struct app a;
    int open_before;

    app_up(&a, proxy_address(p), noting());
    open_before = count_open();
    for (unsigned i = 0; i < 6; i++) {
        if (i % 2)
            starve();
        proxy_cut(p);
        WAIT(stats_of(&a).losses == i + 1);
        if (i % 2)
            feed();
        WAIT(evzk_session_connected(a.s));
        WAIT(count_open() == open_before);
    }
    app_close(&a);
    proxy_stop(p);
    check_stderr();
    kit_done();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session descriptors");
    TCase *tc = kit_shared_tcase(suite, "descriptors", 120);

    tcase_add_test(tc, descriptors_come_back_and_so_does_the_session);
    tcase_add_loop_test(tc, descriptors_are_missing_from_the_start, 0, 2);
    tcase_add_loop_test(tc, descriptors_are_missing_at_the_end, 0, 2);
    tcase_add_test(tc, descriptors_are_given_back);
    return kit_main(suite);
}
