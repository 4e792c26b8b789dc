/*
 * The example server, as processes on a private ZooKeeper: what it answers, and
 * that it hands over at its end; and the demonstration of shards.  Skipped
 * where it was not built, without json-c.
 */
#include <regex.h>

#include "test_example.h"

#define SQUARE "h8.5v8.5h-8.5z"

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
    i = is_led_by(&p[0], 3); /* A process that does not lead it. */
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

/* A draining process answers until it has no shard left; then the other has
 * all. */
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
    char line[512];

    snprintf(line, sizeof line,
             "exec '%s/examples/shards-demo/shards-demo' -n 60 -t 2000 %s",
             build_folder(), zk_server(zk_shared(), 0));
    ck_assert_int_eq(WEXITSTATUS(system(line)), 0);
    zk_wait_mntr(zk_shared(), 0, "zk_ephemerals_count", 0);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("shards");

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
    return example_main("example-shards", tests);
}
