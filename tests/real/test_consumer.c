/*
 * Consumers on a real server: who gets which item, what is left of a queue, and
 * what becomes of items when a session ends.
 */
#define _GNU_SOURCE 1
#include "test_peers.h"

#include "lib/base/name.h"
#include "recipes/consumer/consumer_internal.h"

enum { HELD = 2048 };

/* A consumer, and what it has told. */
struct eater {
    evzk_consumer *c;
    evzk_item *held[HELD];
    int items, taken, finished, back, lost, dead, aside, over;
    int rc;        /* Of the latest event but ITEM. */
    bool finishes; /* At once. */
    char text[64]; /* The data of the first items. */
};

static int find(const struct eater *e, const evzk_item *item)
{
    int i = 0;

    while (i < HELD - 1 && e->held[i] != item)
        i++;
    return i;
}

static void on_item(struct eater *e, evzk_item *item)
{
    size_t n = strlen(e->text);

    if (n + item->len < sizeof e->text)
        memcpy(e->text + n, item->data, item->len);
    e->items++;
    if (item->claim_token == 0)
        return; /* Removed. */
    ck_assert(evzk_consumer_holds(e->c, item));
    e->held[find(e, NULL)] = item;
    if (e->finishes)
        ck_assert_int_eq(evzk_consumer_finish(e->c, item), EVZK_OK);
}

static void on_event(evzk_consumer *c, evzk_consumer_event event, int rc,
                     evzk_item *item, void *arg)
{
    struct eater *e = arg;

    ck_assert_ptr_eq(c, e->c);
    if (event == EVZK_CONSUMER_ITEM) {
        on_item(e, item);
        return;
    }
    e->rc = rc;
    e->taken += event == EVZK_CONSUMER_TAKEN;
    e->finished += event == EVZK_CONSUMER_FINISHED;
    e->back += event == EVZK_CONSUMER_GIVEN_BACK;
    e->lost += event == EVZK_CONSUMER_LOST;
    e->dead += event == EVZK_CONSUMER_DEAD_LETTER;
    e->aside += event == EVZK_CONSUMER_SET_ASIDE;
    e->over += evzk_consumer_event_is_final(event);
    if (item && event != EVZK_CONSUMER_DEAD_LETTER &&
        event != EVZK_CONSUMER_SET_ASIDE)
        e->held[find(e, item)] = NULL;
}

static void begin(struct eater *e, evzk_session *s, const char *path,
                  const evzk_consumer_options *opt)
{
    *e = (struct eater){.finishes = e->finishes};
    ck_assert_int_eq(evzk_consumer_start(s, path, opt, on_event, e, &e->c),
                     EVZK_OK);
}

static void take(struct eater *e, uint32_t max)
{
    int before = e->taken;

    ck_assert_int_eq(evzk_consumer_take(e->c, max, 0), EVZK_OK);
    WAIT(e->taken > before);
}

static void end(struct eater *e)
{
    ck_assert_int_eq(evzk_consumer_close(e->c), EVZK_OK);
    WAIT(e->over > 0);
    ck_assert_int_eq(e->rc, EVZK_OK);
    evzk_consumer_free(e->c);
}

/* A producer's work, by hand. */
static void put(const char *path, uint32_t segment, int seq, const char *data)
{
    struct evzk__segment seg = {.number = segment};
    char name[EVZK__SEGMENT_NAME], at[128];

    evzk__segment_print(name, &seg);
    snprintf(at, sizeof at, "%s/%s", path, name);
    raw_mkdirs(op(), at);
    snprintf(at, sizeof at, "%s/%s/queue-%010d", path, name, seq);
    ck_assert_int_eq(raw_create(op(), at, data, (int)strlen(data), 0, NULL, 0),
                     ZOK);
    snprintf(at, sizeof at, "%s/signal", path);
    if (raw_set(op(), at, "", 0) == ZNONODE)
        raw_create(op(), at, "", 0, 0, NULL, 0);
}

static int left(const char *path, const char *what)
{
    char at[128];

    snprintf(at, sizeof at, "%s/%s", path, what);
    return raw_count(op(), at);
}

static const evzk_consumer_options claimed = {.mode = EVZK_CONSUMER_CLAIMED};

/* Two sealed segments: in order, and the segments go. */
START_TEST(takes_in_order)
{
    struct eater e = {0};
    struct peer p;

    put("/q-order", 2, 1, "c");
    put("/q-order", 1, 7, "b");
    put("/q-order", 1, 3, "a");
    peer_open(&p, the_server());
    begin(&e, p.s, "/q-order", NULL);
    take(&e, 2);
    ck_assert_str_eq(e.text, "ab");
    take(&e, 5);
    ck_assert_str_eq(e.text, "abc");
    ck_assert_int_eq(evzk_consumer_take(e.c, 1, 50), EVZK_OK);
    WAIT(e.taken == 3);
    ck_assert_int_eq(e.rc, EVZK_ERR_TIMEOUT);
    ck_assert_int_lt(left("/q-order", "seg-00-0000000001"), 0);
    end(&e);
    ck_assert_int_le(left("/q-order", "clients"), 0);
    peer_close(&p);
    raw_delete_tree(op(), "/q-order");
}
END_TEST

/* A consumer that waits gets what the other one gives back, and what is left of
 * it when its session ends. */
START_TEST(item_goes_on)
{
    struct eater first = {0}, second = {.finishes = true};
    struct peer p, q;

    put("/q-on", 1, 1, "a");
    put("/q-on", 1, 2, "b");
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    begin(&first, p.s, "/q-on", &claimed);
    take(&first, 2);
    begin(&second, q.s, "/q-on", &claimed);
    ck_assert_int_eq(evzk_consumer_take(second.c, 1, 0), EVZK_OK);
    WAIT(strcmp(evzk_consumer_state(second.c), "WAITING") == 0);
    ck_assert_int_eq(evzk_consumer_give_back(first.c, first.held[1]), EVZK_OK);
    WAIT(second.finished == 1 && first.back == 1);
    ck_assert_str_eq(second.text, "b");
    ck_assert_int_eq(evzk_consumer_take(second.c, 1, 0), EVZK_OK);
    WAIT(strcmp(evzk_consumer_state(second.c), "WAITING") == 0);
    raw_expire(the_server(), evzk_session_id(p.s));
    WAIT(second.finished == 2 && first.lost == 1);
    ck_assert_str_eq(second.text, "ba");
    end(&first);
    end(&second);
    peer_close(&p);
    peer_close(&q);
    raw_delete_tree(op(), "/q-on");
}
END_TEST

/* What a program does with an item it does with the consumer that has told it:
 * to any other one nothing happens. */
START_TEST(items_are_one_consumers)
{
    struct eater first = {0}, second = {0};
    struct peer p;

    put("/q-mine", 1, 1, "a");
    peer_open(&p, the_server());
    begin(&first, p.s, "/q-mine", &claimed);
    begin(&second, p.s, "/q-mine", &claimed);
    take(&first, 1);
    ck_assert_int_eq(evzk_consumer_finish(second.c, first.held[0]),
                     EVZK_ERR_INVAL);
    ck_assert_int_eq(evzk_consumer_give_back(second.c, first.held[0]),
                     EVZK_ERR_INVAL);
    ck_assert(!evzk_consumer_holds(second.c, first.held[0]));
    ck_assert(evzk_consumer_holds(first.c, first.held[0]));
    ck_assert_uint_eq(evzk_consumer_held(first.c), 1);
    ck_assert_int_eq(evzk_consumer_finish(first.c, first.held[0]), EVZK_OK);
    WAIT(first.finished == 1);
    end(&first);
    end(&second);
    peer_close(&p);
    raw_delete_tree(op(), "/q-mine");
}
END_TEST

/* The path of the only claim in that segment. */
static void find_claim(const char *segment, char path[EVZK__PATH_MAX])
{
    struct raw_names names;
    int32_t seq;
    int n = 0;

    ck_assert_int_eq(raw_children(op(), segment, &names), ZOK);
    for (size_t i = 0; i < names.n; i++) {
        if (evzk__claim_parse(names.name[i], &seq) && n++ == 0)
            sprintf(path, "%s/%s", segment, names.name[i]);
    }
    ck_assert_int_eq(n, 1);
    raw_names_free(&names);
}

/* An operator deletes a claim, and another consumer claims the item.  What the
 * first one does then takes nothing away from the second. */
static void meet(int (*gives)(evzk_consumer *c, evzk_item *item))
{
    const char *segment = "/q-claim/seg-00-0000000001";
    char claim[EVZK__PATH_MAX];
    struct eater first = {0}, second = {0}, third = {0};
    struct peer p, q;

    raw_delete_tree(op(), "/q-claim"); /* Of a test that has failed. */
    put("/q-claim", 1, 1, "a");
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    begin(&first, p.s, "/q-claim", &claimed);
    begin(&second, q.s, "/q-claim", &claimed);
    begin(&third, q.s, "/q-claim", &claimed);
    take(&first, 1);
    find_claim(segment, claim);
    ck_assert_int_eq(raw_delete(op(), claim), ZOK);
    take(&second, 1);
    find_claim(segment, claim);
    ck_assert_int_eq(gives(first.c, first.held[0]), EVZK_OK);
    WAIT(first.lost + first.back + first.finished == 1);
    ck_assert(evzk_consumer_holds(second.c, second.held[0]));
    ck_assert_int_ge(raw_count(op(), claim), 0);
    ck_assert_int_eq(first.lost, 1);
    ck_assert_int_eq(first.rc, EVZK_ERR_NODEGONE);
    ck_assert_int_eq(evzk_consumer_take(third.c, 1, 50), EVZK_OK);
    WAIT(third.taken == 1);
    ck_assert_int_eq(third.items, 0);
    ck_assert_int_eq(evzk_consumer_finish(second.c, second.held[0]), EVZK_OK);
    WAIT(second.finished == 1);
    end(&first);
    end(&second);
    end(&third);
    peer_close(&p);
    peer_close(&q);
    raw_delete_tree(op(), "/q-claim");
}

START_TEST(give_back_spares_others) { meet(evzk_consumer_give_back); }
END_TEST

START_TEST(finish_spares_others) { meet(evzk_consumer_finish); }
END_TEST

/* More than one segment, and more than one transaction. */
START_TEST(many_are_taken)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                       .prefetch = 200};
    struct eater e[2] = {{.finishes = true}, {.finishes = true}};
    struct peer p[2];

    for (int i = 0; i < 600; i++)
        put("/q-many", 1 + (uint32_t)i / 250, i, "x");
    for (int i = 0; i < 2; i++) {
        peer_open(&p[i], the_server());
        begin(&e[i], p[i].s, "/q-many", &opt);
    }
    WAIT(e[0].finished + e[1].finished == 600);
    ck_assert_int_gt(e[0].finished, 0);
    ck_assert_int_gt(e[1].finished, 0);
    for (int i = 0; i < 2; i++) {
        end(&e[i]);
        ck_assert_int_eq(e[i].items, e[i].finished);
        peer_close(&p[i]);
    }
    raw_delete_tree(op(), "/q-many");
}
END_TEST

START_TEST(letter_is_dead)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                       .max_deliveries = 2};
    struct eater e = {0};
    struct peer p;

    put("/q-dead", 1, 1, "a");
    peer_open(&p, the_server());
    begin(&e, p.s, "/q-dead", &opt);
    for (uint32_t i = 1; i <= 2; i++) {
        take(&e, 1);
        ck_assert_uint_eq(e.held[0]->deliveries, i);
        ck_assert_int_eq(evzk_consumer_give_back(e.c, e.held[0]), EVZK_OK);
        WAIT(e.back == (int)i);
    }
    ck_assert_int_eq(evzk_consumer_take(e.c, 1, 0), EVZK_OK);
    WAIT(e.dead == 1);
    ck_assert_int_eq(left("/q-dead", "dead"), 1);
    end(&e);
    peer_close(&p);
    raw_delete_tree(op(), "/q-dead");
}
END_TEST

/* A copy that an operator has put before a consumer's turn never goes by
 * itself: the log says so, once. */
START_TEST(turn_of_nobody)
{
    static const char *const copy =
        "/q-copy/turn/85925149-6182-4831-a33f-33e1fe78a1d3-lock-0000000000";
    const char *said;
    struct eater e = {0};
    struct logged g;

    put("/q-copy", 1, 1, "a");
    raw_mkdirs(op(), "/q-copy/turn");
    ck_assert_int_eq(
        raw_create(op(), "/q-copy/turn/x", "", 0, ZOO_SEQUENCE, NULL, 0),
        ZOK); /* The directory's next number is 1. */
    ck_assert_int_eq(raw_create(op(), copy, "", 0, 0, NULL, 0), ZOK);
    logged_open(&g);
    begin(&e, g.p.s, "/q-copy", &claimed);
    ck_assert_int_eq(evzk_consumer_take(e.c, 1, 0), EVZK_OK);
    WAIT((said = strstr(g.log, "which no session owns")) != NULL);
    ck_assert_ptr_nonnull(strstr(g.log, copy));
    ck_assert_ptr_null(strstr(said + 1, "which no session owns"));
    ck_assert_int_eq(e.items, 0);
    ck_assert_int_eq(raw_delete(op(), copy), ZOK);
    WAIT(e.taken == 1);
    ck_assert_str_eq(e.text, "a");
    end(&e);
    peer_close(&g.p);
    raw_delete_tree(op(), "/q-copy");
}
END_TEST

/* A directory of dead letters that takes none stops no item but that one, and
 * an item is a dead letter when it takes some again. */
START_TEST(no_letter_stops_none)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                       .max_deliveries = 1};
    struct ACL read = {ZOO_PERM_READ | ZOO_PERM_ADMIN, ZOO_ANYONE_ID_UNSAFE},
               all = {ZOO_PERM_ALL, ZOO_ANYONE_ID_UNSAFE};
    struct eater e = {0};
    struct peer p;

    evzk__consumer_limits.aside_us = 200000;
    put("/q-shut", 1, 1, "a");
    ck_assert_int_eq(raw_create(op(), "/q-shut/dead", "", 0, 0, NULL, 0), ZOK);
    ck_assert_int_eq(
        raw_set_acl(op(), "/q-shut/dead",
                    &(struct ACL_vector){.count = 1, .data = &read}),
        ZOK);
    peer_open(&p, the_server());
    begin(&e, p.s, "/q-shut", &opt);
    take(&e, 1);
    ck_assert_int_eq(evzk_consumer_give_back(e.c, e.held[0]), EVZK_OK);
    WAIT(e.back == 1);
    put("/q-shut", 1, 2, "b");
    take(&e, 1);
    ck_assert_str_eq(e.text, "ab");
    ck_assert_int_eq(e.aside, 1);
    ck_assert_int_eq(evzk_consumer_take(e.c, 1, 0), EVZK_OK);
    ck_assert_int_eq(
        raw_set_acl(op(), "/q-shut/dead",
                    &(struct ACL_vector){.count = 1, .data = &all}),
        ZOK);
    WAIT(e.dead == 1);
    ck_assert_int_eq(left("/q-shut", "dead"), 1);
    end(&e);
    peer_close(&p);
    raw_delete_tree(op(), "/q-shut");
}
END_TEST

/* A znode without the right to read it. */
static void hide(const char *path, bool hidden)
{
    struct ACL one = {hidden ? ZOO_PERM_ALL & ~ZOO_PERM_READ : ZOO_PERM_ALL,
                      ZOO_ANYONE_ID_UNSAFE};

    ck_assert_int_eq(
        raw_set_acl(op(), path, &(struct ACL_vector){.count = 1, .data = &one}),
        ZOK);
}

/* Of three items the first two are bad: one may not be read, and something is
 * below the other. */
static void put_bad_and_good(const char *path)
{
    char at[128];

    put(path, 1, 1, "a");
    put(path, 1, 2, "b");
    put(path, 1, 3, "c");
    snprintf(at, sizeof at, "%s/seg-00-0000000001/queue-0000000001", path);
    hide(at, true);
    snprintf(at, sizeof at, "%s/seg-00-0000000001/queue-0000000002/x", path);
    ck_assert_int_eq(raw_create(op(), at, "", 0, 0, NULL, 0), ZOK);
}

static void mend(const char *path)
{
    char at[128];

    snprintf(at, sizeof at, "%s/seg-00-0000000001/queue-0000000001", path);
    hide(at, false);
    snprintf(at, sizeof at, "%s/seg-00-0000000001/queue-0000000002/x", path);
    ck_assert_int_eq(raw_delete(op(), at), ZOK);
}

static void take_behind(const char *path, const evzk_consumer_options *opt)
{
    struct eater e = {0};
    struct peer p;

    evzk__consumer_limits.aside_us = 200000;
    put_bad_and_good(path);
    peer_open(&p, the_server());
    begin(&e, p.s, path, opt);
    take(&e, 3);
    ck_assert_str_eq(e.text, "c");
    if (opt->mode == EVZK_CONSUMER_CLAIMED) {
        ck_assert_int_eq(evzk_consumer_finish(e.c, e.held[0]), EVZK_OK);
        WAIT(e.finished == 1);
    }
    ck_assert_int_eq(evzk_consumer_take(e.c, 1, 200), EVZK_OK);
    WAIT(e.taken == 2);
    ck_assert_int_eq(e.rc, EVZK_ERR_TIMEOUT);
    ck_assert_int_eq(left(path, "seg-00-0000000001"), 2);
    ck_assert_int_eq(e.aside, 2);
    mend(path);
    take(&e, 1); /* Tried again, without a word from anybody, each at its time.
                  */
    take(&e, 1);
    ck_assert(strcmp(e.text, "cab") == 0 || strcmp(e.text, "cba") == 0);
    ck_assert_int_eq(e.aside, 2);
    end(&e);
    peer_close(&p);
    raw_delete_tree(op(), path);
}

START_TEST(bad_items_stop_none_removed)
{
    take_behind("/q-bad-once", &(const evzk_consumer_options){0});
}
END_TEST

START_TEST(bad_items_stop_none_claimed) { take_behind("/q-bad", &claimed); }
END_TEST

/* Deliveries of an item that goes with its producer are counted, too. */
START_TEST(ephemeral_items_are_counted)
{
    const evzk_consumer_options opt = {.mode = EVZK_CONSUMER_CLAIMED,
                                       .max_deliveries = 2};
    struct eater e = {0};
    struct peer p;

    put("/q-eph", 1, 2, "b");
    ck_assert_int_eq(raw_create(op(),
                                "/q-eph/seg-00-0000000001/queue-0000000001",
                                "a", 1, ZOO_EPHEMERAL, NULL, 0),
                     ZOK);
    peer_open(&p, the_server());
    begin(&e, p.s, "/q-eph", &opt);
    for (uint32_t i = 1; i <= 2; i++) {
        take(&e, 1);
        ck_assert_uint_eq(e.held[0]->deliveries, i);
        ck_assert_int_eq(evzk_consumer_give_back(e.c, e.held[0]), EVZK_OK);
        WAIT(e.back == (int)i);
    }
    take(&e, 1);
    ck_assert_int_eq(e.dead, 1);
    ck_assert_str_eq(e.text, "aab");
    ck_assert_int_eq(left("/q-eph", "dead"), 1);
    end(&e);
    peer_close(&p);
    raw_delete_tree(op(), "/q-eph");
}
END_TEST

/* As another program leaves it; with something else in it. */
START_TEST(plain_queue)
{
    const evzk_consumer_options opt = {.layout = EVZK_QUEUE_PLAIN_PRIORITY};
    struct eater e = {0};
    struct peer p;

    peer_open(&p, the_server());
    begin(&e, p.s, "/q-plain", &opt);
    ck_assert_int_eq(evzk_consumer_take(e.c, 3, 0), EVZK_OK);
    WAIT(strcmp(evzk_consumer_state(e.c), "WAITING") == 0);
    raw_mkdirs(op(), "/q-plain");
    raw_create(op(), "/q-plain/queue-070000000001", "b", 1, 0, NULL, 0);
    WAIT(e.taken == 1);
    raw_create(op(), "/q-plain/other", "", 0, 0, NULL, 0);
    raw_create(op(), "/q-plain/queue-070000000002", "d", 1, 0, NULL, 0);
    raw_create(op(), "/q-plain/queue-030000000009", "c", 1, 0, NULL, 0);
    take(&e, 3);
    ck_assert_str_eq(e.text, "bcd");
    ck_assert_int_eq(raw_count(op(), "/q-plain"), 1);
    end(&e);
    peer_close(&p);
    raw_delete_tree(op(), "/q-plain");
    raw_delete_tree(op(), "/q-plain.evzk");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("consumer");
    TCase *tests = lock_tests(suite, "consumer", 60000);

    tcase_add_test(tests, takes_in_order);
    tcase_add_test(tests, item_goes_on);
    tcase_add_test(tests, items_are_one_consumers);
    tcase_add_test(tests, give_back_spares_others);
    tcase_add_test(tests, finish_spares_others);
    tcase_add_test(tests, many_are_taken);
    tcase_add_test(tests, letter_is_dead);
    tcase_add_test(tests, no_letter_stops_none);
    tcase_add_test(tests, turn_of_nobody);
    tcase_add_test(tests, bad_items_stop_none_removed);
    tcase_add_test(tests, bad_items_stop_none_claimed);
    tcase_add_test(tests, ephemeral_items_are_counted);
    tcase_add_test(tests, plain_queue);
    return lock_suite_run(suite);
}
