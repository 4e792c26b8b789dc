/*
 * The example server out of descriptors: more idle connections than it may
 * have, and a limit that is lowered while it runs.  It must not spin, nor fill
 * its log; its connection to ZooKeeper comes back, and it keeps its shards.
 */
#include <poll.h>

#include "proxy.h"
#include "test_example.h"

enum {
    LIMIT = 1024,
    IDLE = 1500,
    BATCH = 50,
    WATCH_MS = 2000,
    CPU_MS = 400,    /* At most, of these. */
    LOG_BYTES = 4000 /* At most, of all. */
};

/* The processor time used so far. */
static long cpu_ms(const struct served *p)
{
    unsigned long user = 0, sys = 0;
    char path[64], line[1024] = "";
    const char *at;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)p->pid);
    f = fopen(path, "re");
    ck_assert_ptr_nonnull(f);
    ck_assert_ptr_nonnull(fgets(line, sizeof line, f));
    fclose(f);
    at = strrchr(line, ')');
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(sscanf(at + 1,
                            " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u "
                            "%lu %lu",
                            &user, &sys),
                     2);
    return (long)(user + sys) * 1000 / sysconf(_SC_CLK_TCK);
}

static bool has_open(const struct served *p, int fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)p->pid, fd);
    return access(path, F_OK) == 0;
}

static void check_calm(const struct served *p)
{
    long cpu = cpu_ms(p);
    off_t log;

    run_for(harness_base(), WATCH_MS);
    cpu = cpu_ms(p) - cpu;
    log = lseek(p->err, 0, SEEK_END);
    printf("flood: %ld ms of processor in %d ms, %ld bytes of log\n", cpu,
           WATCH_MS, (long)log);
    ck_assert_msg(cpu <= CPU_MS && log <= LOG_BYTES,
                  "%ld ms of processor in %d ms, %ld bytes of log", cpu,
                  WATCH_MS, (long)log);
}

static void raise_limit(void)
{
    struct rlimit mine;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &mine), 0);
    mine.rlim_cur = mine.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &mine), 0);
}

/* So many, which say nothing. */
static void connect_idle(int port, int fd[BATCH])
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    for (int i = 0; i < BATCH; i++) {
        fd[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        ck_assert_int_ge(fd[i], 0);
        (void)connect(fd[i], (const struct sockaddr *)&to, sizeof to);
    }
}

/* All are connected, or it has no descriptor left. */
static bool is_settled(const struct served *p, const int fd[BATCH])
{
    struct pollfd all[BATCH];

    for (int i = 0; i < BATCH; i++)
        all[i] = (struct pollfd){.fd = fd[i], .events = POLLOUT};
    return poll(all, BATCH, 0) == BATCH || has_open(p, LIMIT - 1);
}

/* Fewer at a time than the kernel queues for a listener. */
static void flood(const struct served *p, int fd[IDLE])
{
    raise_limit();
    for (int i = 0; i < IDLE; i += BATCH) {
        connect_idle(p->port, fd + i);
        WAIT(is_settled(p, fd + i));
    }
    WAIT(has_open(p, LIMIT - 100));
}

static bool metric_is(const struct served *p, const char *name, int value)
{
    char line[128];

    snprintf(line, sizeof line, "\nshard_server_%s %d\n", name, value);
    return ask(p->port, "/metrics") == 200 && SAYS(line);
}

/* The epochs of all shards, as /status.json has them. */
static void epochs(const struct served *p, char *out, size_t size)
{
    const char *at;

    ck_assert_int_eq(ask(p->port, "/status.json"), 200);
    at = strstr(said, "\"epoch\":");
    ck_assert_ptr_nonnull(at);
    snprintf(out, size, "%s", at);
}

static void begin(struct served *p, struct proxy *proxy, const char *path)
{
    launch_within(p, LIMIT, proxy_address(proxy), path, "--shards", "16");
    await_port(p);
    WAIT(leads(p, SHARDS, 1));
}

static bool is_back(struct proxy *proxy)
{
    return proxy_frames_of(proxy, PROXY_S2C, PROXY_OP_CONNECT) == 2;
}

/* A connection beyond the cap is told so, and hung up on. */
static void check_refused(const struct served *p)
{
    int fd = connect_to(p->port);
    ssize_t n;

    ck_assert_int_ge(fd, 0);
    n = recv(fd, said, sizeof said - 1, MSG_WAITALL);
    said[n > 0 ? n : 0] = '\0';
    ck_assert_msg(strncmp(said, "HTTP/1.1 503 ", 13) == 0, "%zd %s", n, said);
    ck_assert(SAYS("\r\nRetry-After: 1\r\n"));
    close(fd);
}

START_TEST(idle_connections_do_not_starve_it)
{
    struct proxy *proxy = proxy_start(zk_server(zk_shared(), 0));
    char before[1024], after[1024];
    static int fd[IDLE];
    struct served p;

    begin(&p, proxy, "/flood");
    epochs(&p, before, sizeof before);
    flood(&p, fd);
    check_calm(&p);
    ck_assert(!has_open(&p, LIMIT - 1));
    proxy_refuse(proxy, true);
    proxy_cut(proxy);
    check_calm(&p); /* Its descriptor may be taken. */
    proxy_refuse(proxy, false);
    WAIT_MS(15000, is_back(proxy));
    check_refused(&p);
    for (int i = 0; i < IDLE; i++)
        close(fd[i]);
    WAIT(leads(&p, SHARDS, 1));
    epochs(&p, after, sizeof after);
    ck_assert_str_eq(before, after);
    ck_assert(metric_is(&p, "session_losses_total", 1));
    ck_assert(metric_is(&p, "session_expirations_total", 0));
    ck_assert(!metric_is(&p, "connections_refused_total", 0));
    ck_assert_int_eq(stop(&p), 0);
    proxy_stop(proxy);
    harness_free();
}
END_TEST

static void limit_process(const struct served *p, rlim_t descriptors)
{
    const struct rlimit limit = {descriptors, LIMIT};

    ck_assert_int_eq(prlimit(p->pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

/* Other programs took the descriptors: accept() itself fails.  The end of it is
 * seen, and the connection that waited is answered. */
START_TEST(accept_that_fails_is_not_tried_in_a_loop)
{
    struct proxy *proxy = proxy_start(zk_server(zk_shared(), 0));
    struct served p;
    int fd;

    begin(&p, proxy, "/accept");
    limit_process(&p, 3);
    proxy_cut(proxy);
    fd = connect_to(p.port);
    ck_assert_int_ge(fd, 0);
    check_calm(&p);
    limit_process(&p, LIMIT);
    WAIT(is_back(proxy));
    dprintf(fd, "GET /shard/1 HTTP/1.0\r\n\r\n");
    ck_assert_int_gt(recv(fd, said, sizeof said, 0), 0);
    close(fd);
    WAIT(leads(&p, SHARDS, 1));
    ck_assert(!metric_is(&p, "accept_errors_total", 0));
    ck_assert(metric_is(&p, "session_expirations_total", 0));
    ck_assert_int_eq(stop(&p), 0);
    proxy_stop(proxy);
    harness_free();
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("flood");

    tcase_add_test(tests, idle_connections_do_not_starve_it);
    tcase_add_test(tests, accept_that_fails_is_not_tried_in_a_loop);
    return example_main("example-flood", tests);
}
