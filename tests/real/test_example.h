/*
 * The example server as processes, for its tests: started, asked, ended.
 */
#ifndef TESTS_REAL_TEST_EXAMPLE_H
#define TESTS_REAL_TEST_EXAMPLE_H

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "zk.h"

#define LEADS_HERE "\"leader\": \"127.0.0.1:"
#define SAYS(text) (strstr(said, (text)) != NULL)

enum { SHARDS = 16 };

/* A process. */
struct served {
    pid_t pid;
    int out; /* Its output. */
    int err; /* The file that it writes its errors to, if it is limited. */
    int port;
};

static char said[400000]; /* The last answer, with its head. */

static inline const char *program(void)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/examples/shard-server/shard-server",
             build_folder());
    return path;
}

/* ---- Processes ---- */

/* The last of its arguments are ZooKeeper's servers, the path, and port 0.  It
 * may have so many descriptors; 0: as many as the test. */
static inline void launch_within(struct served *p, unsigned descriptors,
                                 const char *servers, const char *path,
                                 const char *option, const char *value)
{
    FILE *err = tmpfile();
    char limit[24];
    int out[2];

    snprintf(limit, sizeof limit, "%u", descriptors);
    ck_assert_ptr_nonnull(err);
    p->err = fileno(err);

    ck_assert_int_eq(pipe(out), 0);
    p->pid = fork();
    ck_assert_int_ge(p->pid, 0);
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        if (descriptors)
            dup2(p->err, STDERR_FILENO);
        close(out[0]);
        close(out[1]);
        /* The shell sets the limit: Valgrind would keep it to itself. */
        execl("/bin/sh", "sh", "-c",
              "test \"$0\" = 0 || ulimit -n \"$0\"; exec \"$@\"", limit,
              program(), option, value, servers, path, "0", (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    p->out = out[0];
}

static inline void launch(struct served *p, const char *servers,
                          const char *path, const char *option,
                          const char *value)
{
    launch_within(p, 0, servers, path, option, value);
}

static inline void read_line(struct served *p, char *line, size_t size)
{
    size_t n = 0;

    while (n + 1 < size && read(p->out, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
}

/* The server is there: it has said where. */
static inline void await_port(struct served *p)
{
    char line[200];

    read_line(p, line, sizeof line);
    ck_assert_msg(sscanf(line, "http://127.0.0.1:%d/status", &p->port) == 1,
                  "it said: %s", line);
}

static inline void serve(struct served *p, const char *path, const char *option,
                         const char *value)
{
    launch(p, zk_server(zk_shared(), 0), path, option, value);
    await_port(p);
}

static inline bool has_ended(struct served *p, int *status)
{
    return waitpid(p->pid, status, WNOHANG) == p->pid;
}

/* Its exit status. */
static inline int ended(struct served *p)
{
    int status = 0;

    WAIT(has_ended(p, &status));
    close(p->out);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static inline int stop(struct served *p)
{
    ck_assert_int_eq(kill(p->pid, SIGTERM), 0);
    return ended(p);
}

/* ---- Asking ---- */

static inline int connect_to(int port)
{
    const struct timeval patience = {slow_ms(30000) / 1000, 0};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
        return fd;
    close(fd);
    return -1;
}

/* The status, or -1 when nobody listens; the answer is in said[]. */
static inline int ask(int port, const char *what)
{
    int fd = connect_to(port), status = -1;
    size_t len = 0;
    ssize_t n;

    said[0] = '\0';
    if (fd < 0)
        return -1;
    dprintf(fd, "GET %s HTTP/1.0\r\n\r\n", what);
    while ((n = read(fd, said + len, sizeof said - 1 - len)) > 0)
        len += (size_t)n;
    said[len] = '\0';
    ck_assert(n == 0 || errno == ECONNRESET);
    close(fd);
    if (sscanf(said, "HTTP/1.%*d %d", &status) != 1)
        return -1; /* The program ended meanwhile. */
    return status;
}

static inline int ask_shard(const struct served *p, unsigned shard)
{
    char what[32];

    snprintf(what, sizeof what, "/shard/%u", shard);
    return ask(p->port, what);
}

/* The process leads so many shards, as planned, among so many members. */
static inline bool leads(const struct served *p, int n, int members)
{
    char word[64];
    const char *at;
    int found = 0;

    if (ask(p->port, "/status.json") != 200)
        return false;
    for (at = said; (at = strstr(at, "\"node\":")) != NULL; at++)
        found++;
    snprintf(word, sizeof word, "\"elected\":%d,\"leading\":%d,", n, n);
    return SAYS(word) && found == members;
}

static inline int port_there(void)
{
    const char *at = strstr(said, "Location: http://127.0.0.1:");

    ck_assert_ptr_nonnull(at);
    return atoi(at + strlen("Location: http://127.0.0.1:"));
}

static inline bool is_led_by(const struct served *p, unsigned shard)
{
    char here[64];

    snprintf(here, sizeof here, LEADS_HERE "%d\"", p->port);
    return ask_shard(p, shard) == 200 && SAYS(here) && !SAYS("\"epoch\": 0");
}

static inline void example_up(void) { zk_shared(); }

/* The suite of these tests, on one server; 77 where there is no program. */
static inline int example_main(const char *name, TCase *tests)
{
    Suite *suite = suite_create(name);
    SRunner *runner;
    int failed;

    if (access(program(), X_OK) != 0) {
        puts("the example server was not built: no json-c");
        return 77;
    }
    signal(SIGPIPE, SIG_IGN); /* A server may hang up on what it refuses. */
    tcase_set_timeout(tests, (double)slow_ms(60000) / 1000);
    tcase_add_unchecked_fixture(tests, example_up, zk_shared_stop);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

#endif
