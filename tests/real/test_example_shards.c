/*
 * The example server, as processes on a private ZooKeeper: what it answers, and
 * that it hands over at its end; and the demonstration of shards.  Skipped
 * where it was not built, without json-c.
 */
#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "zk.h"

#define SQUARE "h8.5v8.5h-8.5z"
#define LEADS_HERE "\"leader\": \"127.0.0.1:"
#define SAYS(text) (strstr(said, (text)) != NULL)

enum { SHARDS = 16 };

/* A process. */
struct served {
    pid_t pid;
    int out; /* What it prints. */
    int port;
};

static char said[400000]; /* The last answer, with its head. */

static const char *program(void)
{
    static char path[512];
    const char *build = getenv("EVZK_BUILDDIR");

    snprintf(path, sizeof path, "%s/examples/shard-server/shard-server",
             build ? build : ".");
    return path;
}

/* ---- Processes ---- */

/* The last of its arguments are ZooKeeper's servers, the path, and port 0. */
static void launch(struct served *p, const char *servers, const char *path,
                   const char *option, const char *value)
{
    int out[2];

    ck_assert_int_eq(pipe(out), 0);
    p->pid = fork();
    ck_assert_int_ge(p->pid, 0);
    if (p->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(out[1], STDOUT_FILENO);
        close(out[0]);
        close(out[1]);
        execl(program(), "shard-server", option, value, servers, path, "0",
              (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    p->out = out[0];
}

static void read_line(struct served *p, char *line, size_t size)
{
    size_t n = 0;

    while (n + 1 < size && read(p->out, line + n, 1) == 1 && line[n] != '\n')
        n++;
    line[n] = '\0';
}

static void serve(struct served *p, const char *path, const char *option,
                  const char *value)
{
    char line[200];

    launch(p, zk_server(zk_shared(), 0), path, option, value);
    read_line(p, line, sizeof line);
    ck_assert_msg(sscanf(line, "http://127.0.0.1:%d/status", &p->port) == 1,
                  "it said: %s", line);
}

static bool has_ended(struct served *p, int *status)
{
    return waitpid(p->pid, status, WNOHANG) == p->pid;
}

/* Its exit status. */
static int ended(struct served *p)
{
    int status = 0;

    WAIT(has_ended(p, &status));
    close(p->out);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int stop(struct served *p)
{
    ck_assert_int_eq(kill(p->pid, SIGTERM), 0);
    return ended(p);
}

/* ---- Asking ---- */

static int connect_to(int port)
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
static int ask(int port, const char *what)
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
        return -1; /* It ended meanwhile. */
    return status;
}

static int ask_shard(const struct served *p, unsigned shard)
{
    char what[32];

    snprintf(what, sizeof what, "/shard/%u", shard);
    return ask(p->port, what);
}

/* It leads so many, as planned, of those that the shards are shared by. */
static bool leads(const struct served *p, int n, int members)
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

static int port_there(void)
{
    const char *at = strstr(said, "Location: http://127.0.0.1:");

    ck_assert_ptr_nonnull(at);
    return atoi(at + strlen("Location: http://127.0.0.1:"));
}

static bool is_led_by(const struct served *p, unsigned shard)
{
    char here[64];

    snprintf(here, sizeof here, LEADS_HERE "%d\"", p->port);
    return ask_shard(p, shard) == 200 && SAYS(here) && !SAYS("\"epoch\": 0");
}

/* ---- The tests ---- */

/* Each shard is led by one of them, and the other knows by whom. */
START_TEST(answers_or_sends_to_where_it_is_led)
{
    struct served p[2];
    int here = 0;

    for (int i = 0; i < 2; i++)
        serve(&p[i], "/answers", "--shards", "16");
    WAIT(leads(&p[0], SHARDS / 2, 2) && leads(&p[1], SHARDS / 2, 2));
    for (unsigned i = 0; i < SHARDS; i++) {
        int a = is_led_by(&p[0], i), b = is_led_by(&p[1], i);

        ck_assert_int_eq(a + b, 1);
        here += a;
        ck_assert_int_eq(ask_shard(&p[a], i), 307);
        ck_assert_int_eq(port_there(), p[!a].port);
    }
    ck_assert_int_eq(here, SHARDS / 2);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(stop(&p[i]), 0);
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
}
END_TEST

/* A request that names a host, as a proxy's does: who is elsewhere is sent to
 * that process, and to the same path and query. */
START_TEST(sent_on_without_the_host_it_named)
{
    struct served p[2];
    char want[96];
    int i;

    for (i = 0; i < 2; i++)
        serve(&p[i], "/host", "--shards", "16");
    WAIT(leads(&p[0], SHARDS / 2, 2) && leads(&p[1], SHARDS / 2, 2));
    i = is_led_by(&p[0], 3); /* Who does not lead it. */
    ck_assert_int_eq(ask(p[i].port, "http://there:1/shard/3?a=b%20c"), 307);
    snprintf(want, sizeof want,
             "Location: http://127.0.0.1:%d/shard/3?a=b%%20c", p[!i].port);
    ck_assert_msg(SAYS(want), "%s", said);
    for (i = 0; i < 2; i++)
        ck_assert_int_eq(stop(&p[i]), 0);
}
END_TEST

/* A name that is no UTF-8 would make the JSON none; a request that does not end
 * would be kept, and looked through again and again. */
START_TEST(what_is_no_text_or_too_long_is_refused)
{
    static char line[70000] = "/shard/";
    struct served p;

    serve(&p, "/odd", "--name", "al\xff\xc3pha \xe2\x82\xac\xed\xa0\x80");
    WAIT(leads(&p, 64, 1));
    ck_assert_int_eq(ask(p.port, "/status.json"), 200);
    ck_assert(SAYS("\"name\":\"al??pha \xe2\x82\xac???\""));
    memset(line + strlen(line), 'a', sizeof line - 1 - strlen(line));
    ck_assert_int_ne(ask(p.port, line), 200);
    ck_assert_int_eq(ask(p.port, "/metrics"), 200);
    ck_assert_int_eq(stop(&p), 0);
}
END_TEST

/* The shard of a key is the same for all; a number is a shard. */
START_TEST(keys_and_wrong_numbers)
{
    char one[64], two[64];
    struct served p[2];
    char *at;

    serve(&p[0], "/keys", "--shards", "16");
    WAIT(leads(&p[0], SHARDS, 1));
    ck_assert_int_eq(ask(p[0].port, "/shard/a%20key?x=y"), 200);
    at = strstr(said, "\"shard\"");
    ck_assert_ptr_nonnull(at);
    snprintf(one, sizeof one, "%.14s", at);
    ck_assert_int_eq(ask(p[0].port, "/shard/a+key"), 200);
    ck_assert_int_eq(ask(p[0].port, "/shard/16"), 404);
    ck_assert_int_eq(ask(p[0].port, "/shard/99999999999999999999"), 404);
    ck_assert_int_eq(ask(p[0].port, "/shard/"), 404);
    ck_assert_int_eq(ask(p[0].port, "/other"), 404);
    serve(&p[1], "/keys", "--shards", "16");
    WAIT(leads(&p[0], SHARDS / 2, 2) && leads(&p[1], SHARDS / 2, 2));
    ck_assert_int_eq(stop(&p[0]), 0);
    WAIT(leads(&p[1], SHARDS, 1));
    ck_assert_int_eq(ask(p[1].port, "/shard/a%20key"), 200);
    at = strstr(said, "\"shard\"");
    ck_assert_ptr_nonnull(at);
    snprintf(two, sizeof two, "%.14s", at);
    ck_assert_str_eq(one, two);
    ck_assert_int_eq(stop(&p[1]), 0);
}
END_TEST

static void check_metrics(char *lines)
{
    int rows = 0, heads = 0;
    regex_t row, head;

    regcomp(&row, "^shard_server_[a-z_]+([{][a-z]+=\"[a-z]+\"[}])? [0-9.e+-]+$",
            REG_EXTENDED | REG_NOSUB);
    regcomp(&head, "^# (HELP [a-z_]+ .+|TYPE [a-z_]+ (gauge|counter))$",
            REG_EXTENDED | REG_NOSUB);
    for (char *l = strtok(lines, "\n"); l; l = strtok(NULL, "\n")) {
        bool is_head = regexec(&head, l, 0, NULL, 0) == 0;

        ck_assert_msg(is_head || regexec(&row, l, 0, NULL, 0) == 0,
                      "this is no line of metrics: %s", l);
        heads += is_head;
        rows += !is_head;
    }
    ck_assert_int_ge(rows, 20);
    ck_assert_int_eq(heads, 2 * (rows - 3)); /* Of one name there are four. */
    regfree(&row);
    regfree(&head);
}

START_TEST(metrics_are_as_prometheus_reads_them)
{
    struct served p;
    char *body;

    serve(&p, "/metrics", "--shards", "16");
    WAIT(leads(&p, SHARDS, 1));
    ck_assert_int_eq(ask_shard(&p, 3), 200);
    ck_assert_int_eq(ask_shard(&p, 16), 404);
    ck_assert_int_eq(ask(p.port, "/metrics"), 200);
    ck_assert(SAYS("Content-Type: text/plain; version=0.0.4"));
    ck_assert(SAYS("\nshard_server_leading 16\n"));
    ck_assert(SAYS("\nshard_server_answers_total{to=\"led\"} 1\n"));
    ck_assert(SAYS("\nshard_server_answers_total{to=\"wrong\"} 1\n"));
    ck_assert(SAYS("\nshard_server_session_connected 1\n"));
    body = strstr(said, "\r\n\r\n");
    ck_assert_ptr_nonnull(body);
    check_metrics(body + 4);
    ck_assert_int_eq(stop(&p), 0);
}
END_TEST

static int squares(void)
{
    char *script = strstr(said, "<script>");
    int n = 0;

    ck_assert_ptr_nonnull(script);
    *script = '\0';
    for (const char *at = said; (at = strstr(at, SQUARE)) != NULL; at++)
        n++;
    return n;
}

/* A square for each shard, nothing from elsewhere, and names do no harm. */
START_TEST(page_shows_all_and_escapes_names)
{
    struct served p;

    serve(&p, "/page", "--name", "<b>\"&'x");
    WAIT(leads(&p, 64, 1));
    ck_assert_int_eq(ask(p.port, "/status"), 200);
    ck_assert(SAYS("Content-Type: text/html; charset=utf-8"));
    ck_assert(!SAYS("<b>\"&"));
    ck_assert(SAYS("&lt;b&gt;&quot;&amp;"));
    ck_assert(SAYS("<b id=leading>64</b>"));
    ck_assert(!SAYS(" src=") && !SAYS("<link") && !SAYS("@import"));
    ck_assert_int_eq(squares(), 64);
    ck_assert_int_eq(ask(p.port, "/status.json"), 200);
    ck_assert(SAYS("\"name\":\"<b>\\\"&'x\""));
    ck_assert_int_eq(stop(&p), 0);
}
END_TEST

/* One that drains answers until it has nothing left; then the other has all. */
START_TEST(sigterm_drains)
{
    bool closed = false;
    int status = 0, got;
    struct served p[2];
    char line[64];

    for (int i = 0; i < 2; i++)
        serve(&p[i], "/drain", "--shards", "16");
    WAIT(leads(&p[0], SHARDS / 2, 2) && leads(&p[1], SHARDS / 2, 2));
    ck_assert_int_eq(kill(p[0].pid, SIGTERM), 0);
    read_line(&p[0], line, sizeof line);
    ck_assert_str_eq(line, "draining");
    for (unsigned i = 0; !has_ended(&p[0], &status); i = (i + 1) % SHARDS) {
        got = ask_shard(&p[0], i);
        ck_assert(got == -1 || !closed);
        closed = got == -1;
        ck_assert(closed || got == 200 || got == 307 || got == 503);
    }
    read_line(&p[0], line, sizeof line);
    ck_assert_str_eq(line, "drained");
    close(p[0].out);
    ck_assert_int_eq(status, 0);
    WAIT(leads(&p[1], SHARDS, 1));
    for (unsigned i = 0; i < SHARDS; i++)
        ck_assert(is_led_by(&p[1], i));
    ck_assert_int_eq(stop(&p[1]), 0); /* With nobody to hand over to. */
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
}
END_TEST

/* A port where nobody is: it serves, leads nothing, and ends at the second
 * signal, since there is nobody to confirm an orderly end. */
START_TEST(without_zookeeper_nobody_leads)
{
    struct served p;
    char line[200];

    launch(&p, "127.0.0.1:1", "/nowhere", "--shards", "16");
    read_line(&p, line, sizeof line);
    ck_assert_int_eq(sscanf(line, "http://127.0.0.1:%d/", &p.port), 1);
    ck_assert_int_eq(ask_shard(&p, 1), 503);
    ck_assert(SAYS("Retry-After: 1\r\n"));
    ck_assert_int_eq(ask(p.port, "/status"), 200);
    ck_assert(SAYS(">in doubt<"));
    ck_assert_int_eq(squares(), SHARDS);
    ck_assert_int_eq(kill(p.pid, SIGTERM), 0);
    read_line(&p, line, sizeof line);
    ck_assert_str_eq(line, "draining");
    ck_assert_int_eq(ended(&p), 0); /* Nothing is to be handed over. */
}
END_TEST

static bool shards_there(evzk_shards *a)
{
    evzk_shards_stats st;

    evzk_shards_get_stats(a, &st);
    return st.members == 2 && st.leading == SHARDS / 2;
}

static void hear(evzk_shards *a, evzk_shards_event ev, int rc, void *arg)
{
    (void)a, (void)rc, (void)arg;
    ck_assert_int_ne(ev, EVZK_SHARDS_FAILED);
}

/* What another member says is not believed to be an address. */
START_TEST(nobody_is_sent_to_what_is_no_address)
{
    static const char evil[] = "x\r\nSet-Cookie: y <script>";
    const evzk_shards_options opt = {
        .count = SHARDS, .data = evil, .data_len = strlen(evil)};
    static struct recorder rec;
    evzk_session *s;
    evzk_shards *a;
    struct served p;
    int here = 0;

    ck_assert_int_eq(evzk_session_open(harness_base(),
                                       zk_server(zk_shared(), 0), NULL,
                                       recorder_on_session, &rec, &s),
                     EVZK_OK);
    ck_assert_int_eq(evzk_shards_join(s, "/evil", &opt, NULL, hear, NULL, &a),
                     EVZK_OK);
    serve(&p, "/evil", "--shards", "16");
    WAIT(shards_there(a) && leads(&p, SHARDS / 2, 2));
    for (unsigned i = 0; i < SHARDS; i++) {
        int status = ask_shard(&p, i);

        ck_assert_int_eq(status, evzk_shards_leading(a, i) ? 503 : 200);
        ck_assert(!SAYS("Set-Cookie"));
        here += status == 200;
    }
    ck_assert_int_eq(here, SHARDS / 2);
    ck_assert_int_eq(ask(p.port, "/status"), 200);
    ck_assert(!SAYS("y <script>"));
    evzk_shards_free(a);
    ck_assert_int_eq(stop(&p), 0);
    ck_assert_int_eq(evzk_session_close(s), EVZK_OK);
    WAIT(recorder_has(&rec, "CLOSED"));
    evzk_session_free(s);
    harness_free();
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    struct served p;

    launch(&p, zk_server(zk_shared(), 0), "/wrong", "--shards", "0");
    ck_assert_int_eq(ended(&p), 2);
    launch(&p, zk_server(zk_shared(), 0), "wrong", "--shards", "16");
    ck_assert_int_eq(ended(&p), 1);
}
END_TEST

/* The others have another number of shards. */
START_TEST(another_number_of_shards_is_refused)
{
    struct served p, q;

    serve(&p, "/number", "--shards", "16");
    WAIT(leads(&p, SHARDS, 1));
    serve(&q, "/number", "--shards", "17");
    ck_assert_int_eq(ended(&q), 1);
    WAIT(leads(&p, SHARDS, 1));
    ck_assert_int_eq(stop(&p), 0);
}
END_TEST

/* A small one, with one server, which nobody kills. */
START_TEST(the_demonstration_comes_to_its_end)
{
    const char *build = getenv("EVZK_BUILDDIR");
    char line[512];

    snprintf(line, sizeof line,
             "exec '%s/examples/shards-demo/shards-demo' -n 60 -t 2000 %s",
             build ? build : ".", zk_server(zk_shared(), 0));
    ck_assert_int_eq(WEXITSTATUS(system(line)), 0);
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
}
END_TEST

static void up(void) { zk_shared(); }

int main(void)
{
    Suite *suite = suite_create("example-shards");
    TCase *tests = tcase_create("shards");
    SRunner *runner = srunner_create(suite);
    int failed;

    if (access(program(), X_OK) != 0) {
        puts("the example server was not built: no json-c");
        return 77;
    }
    signal(SIGPIPE, SIG_IGN); /* A server may hang up on what it refuses. */
    tcase_set_timeout(tests, (double)slow_ms(60000) / 1000);
    tcase_add_unchecked_fixture(tests, up, zk_shared_stop);
    tcase_add_test(tests, answers_or_sends_to_where_it_is_led);
    tcase_add_test(tests, sent_on_without_the_host_it_named);
    tcase_add_test(tests, what_is_no_text_or_too_long_is_refused);
    tcase_add_test(tests, keys_and_wrong_numbers);
    tcase_add_test(tests, metrics_are_as_prometheus_reads_them);
    tcase_add_test(tests, page_shows_all_and_escapes_names);
    tcase_add_test(tests, sigterm_drains);
    tcase_add_test(tests, without_zookeeper_nobody_leads);
    tcase_add_test(tests, nobody_is_sent_to_what_is_no_address);
    tcase_add_test(tests, wrong_arguments_are_refused);
    tcase_add_test(tests, another_number_of_shards_is_refused);
    tcase_add_test(tests, the_demonstration_comes_to_its_end);
    suite_add_tcase(suite, tests);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
