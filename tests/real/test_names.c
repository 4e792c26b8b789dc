/*
 * Names on a real server: endpoints of two sessions and one made by hand, a
 * session that ends and comes back, a process that goes for good, endpoints
 * that drain, a service that is resolved once, and a list of services.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

/* A registered endpoint, and what it said. */
struct one {
    evzk_member *m;
    int joined, updated, finals;
};

static void on_member(evzk_member *m, evzk_member_event event, int rc,
                      void *arg)
{
    struct one *o = arg;

    ck_assert_ptr_eq(m, o->m);
    ck_assert(event != EVZK_MEMBER_FAILED);
    ck_assert(event != EVZK_MEMBER_LEFT || rc == EVZK_OK);
    o->joined += event == EVZK_MEMBER_JOINED;
    o->updated += event == EVZK_MEMBER_UPDATED;
    o->finals += evzk_member_event_is_final(event);
}

static evzk_endpoint endpoint(const char *host, uint32_t weight)
{
    evzk_endpoint e = {
        .port = 80, .weight = weight, .data = "zone=b", .data_len = 6};

    snprintf(e.host, sizeof e.host, "%s", host);
    return e;
}

static void enter(struct one *o, evzk_session *s, const char *service,
                  const char *host, uint32_t weight)
{
    evzk_endpoint e = endpoint(host, weight);

    *o = (struct one){0};
    ck_assert_int_eq(
        evzk_names_register(s, service, NULL, &e, NULL, on_member, o, &o->m),
        EVZK_OK);
    WAIT(o->joined == 1);
}

static void leave(struct one *o)
{
    ck_assert_int_eq(evzk_member_leave(o->m), EVZK_OK);
    WAIT(o->finals == 1);
    evzk_member_free(o->m);
}

/* A resolver, and how often it said what. */
struct list {
    evzk_resolver *r;
    int added, changed, removed, ready, ended, malformed;
    bool once;
};

static void on_resolver(evzk_resolver *r, evzk_resolver_event event, int rc,
                        const evzk_resolved *e, void *arg)
{
    struct list *l = arg;

    ck_assert_ptr_eq(r, l->r);
    ck_assert_int_eq(rc, event == EVZK_RESOLVER_ENDED ? EVZK_ERR_CANCELED : 0);
    ck_assert_int_eq(e != NULL, event <= EVZK_RESOLVER_REMOVED);
    l->added += event == EVZK_RESOLVER_ADDED;
    l->changed += event == EVZK_RESOLVER_CHANGED;
    l->removed += event == EVZK_RESOLVER_REMOVED;
    l->ready += event == EVZK_RESOLVER_READY;
    l->ended += event == EVZK_RESOLVER_ENDED;
    l->malformed += e && e->malformed;
    if (!l->once || event != EVZK_RESOLVER_READY)
        return;
    evzk_resolver_free(r);
    l->r = NULL;
}

static void resolve(struct list *l, evzk_session *s, const char *service,
                    evzk_pick pick)
{
    evzk_resolver_options opt = {.pick = pick, .forgive_ms = UINT32_MAX};

    l->added = l->changed = l->removed = 0;
    l->ready = l->ended = l->malformed = 0;
    ck_assert_int_eq(
        evzk_resolver_start(s, service, &opt, on_resolver, l, &l->r), EVZK_OK);
    WAIT(l->ready == 1);
}

/* The next picks, by the first letters of their hosts. */
static void picks_are(struct list *l, const char *expected)
{
    evzk_resolved e;

    for (; *expected; expected++) {
        ck_assert(evzk_resolver_pick(l->r, &e));
        ck_assert_int_eq(e.endpoint.host[0], *expected);
    }
}

START_TEST(picked_in_turn)
{
    struct peer p, q, client;
    struct one a, b;
    struct list l = {.once = false};
    evzk_resolved e, again;
    evzk_endpoint drained = endpoint("b.example", 0);

    peer_open(&p, the_server());
    peer_open(&q, the_server());
    peer_open(&client, the_server());
    resolve(&l, client.s, "/web", EVZK_PICK_IN_TURN);
    ck_assert(!evzk_resolver_pick(l.r, &e));
    enter(&a, p.s, "/web", "a.example", 1);
    WAIT(l.added == 1);
    enter(&b, q.s, "/web", "b.example", 5);
    WAIT(l.added == 2);
    picks_are(&l, "ababa");
    ck_assert(evzk_resolver_find(l.r, "a.example:80", &e));
    ck_assert_uint_eq(e.token, evzk_member_token(a.m));
    ck_assert_int_eq(e.session, evzk_session_id(p.s));
    ck_assert_uint_eq(e.endpoint.data_len, 6);
    ck_assert_int_eq(memcmp(e.endpoint.data, "zone=b", 6), 0);
    raw_expire(the_server(), evzk_session_id(p.s));
    WAIT(a.joined == 2);
    WAIT(l.added == 3);
    ck_assert_int_eq(l.removed, 1);
    ck_assert(evzk_resolver_find(l.r, "a.example:80", &again));
    ck_assert_uint_gt(again.token, e.token);
    picks_are(&l, "baba");
    ck_assert_int_eq(evzk_names_update(b.m, &drained), EVZK_OK);
    WAIT(b.updated == 1);
    WAIT(l.changed == 1);
    picks_are(&l, "aaa");
    evzk_session_free(p.s); /* The process is gone, and its member with it. */
    evzk_member_free(a.m);
    WAIT(l.removed == 2);
    ck_assert(!evzk_resolver_pick(l.r, &e));
    ck_assert_uint_eq(evzk_resolver_count(l.r), 1);
    leave(&b);
    WAIT(l.removed == 3);
    ck_assert_int_eq(evzk_resolver_cancel(l.r), EVZK_OK);
    ck_assert_int_eq(evzk_resolver_cancel(l.r), EVZK_ERR_STATE);
    WAIT(l.ended == 1);
    evzk_resolver_free(l.r);
    peer_close(&q);
    peer_close(&client);
}
END_TEST

/* By hand: through a value, and by an operator who errs. */

static void on_writer(evzk_value_writer *w, evzk_value_writer_event event,
                      int rc, void *arg)
{
    (void)w, (void)event, (void)rc, (void)arg;
}

static void on_write(evzk_value_writer *w, int rc, int64_t number, void *arg)
{
    int *written = arg;

    (void)w, (void)number;
    ck_assert_int_eq(rc, EVZK_OK);
    ++*written;
}

START_TEST(made_by_hand)
{
    struct peer p;
    struct list l = {.once = false};
    evzk_value_writer *w;
    evzk_endpoint e = endpoint("::1", 1);
    evzk_resolved is;
    char text[64];
    size_t len = evzk_endpoint_print(&e, text, sizeof text);
    int written = 0;

    peer_open(&p, the_server());
    resolve(&l, p.s, "/hand", EVZK_PICK_WEIGHTED);
    ck_assert_int_eq(
        evzk_value_writer_start(p.s, "/hand/old", NULL, on_writer, NULL, &w),
        EVZK_OK);
    ck_assert_int_eq(evzk_value_create(w, text, len, on_write, &written),
                     EVZK_OK);
    WAIT(l.added == 1);
    ck_assert(evzk_resolver_pick(l.r, &is));
    ck_assert_str_eq(is.name, "old");
    ck_assert_str_eq(is.endpoint.host, "::1");
    ck_assert_int_eq(is.session, 0);
    ck_assert_int_eq(
        raw_create(op(), "/hand/new", "new.example:80 3", 16, 0, NULL, 0), ZOK);
    ck_assert_int_eq(raw_create(op(), "/hand/web", "host:4711", 9, 0, NULL, 0),
                     ZOK);
    WAIT(l.added == 3);
    ck_assert_int_eq(l.malformed, 1);
    for (int i = 0; i < 1000; i++) {
        ck_assert(evzk_resolver_pick(l.r, &is));
        ck_assert_str_ne(is.name, "web");
    }
    ck_assert(evzk_resolver_find(l.r, "web", &is));
    ck_assert(is.malformed);
    ck_assert_uint_eq(is.text_len, 9);
    e = endpoint("old.example", 0);
    len = evzk_endpoint_print(&e, text, sizeof text);
    ck_assert_int_eq(evzk_value_set(w, text, len, on_write, &written), EVZK_OK);
    WAIT(written == 2);
    WAIT(l.changed == 1);
    for (int i = 0; i < 100; i++)
        picks_are(&l, "n");
    evzk_value_writer_free(w);
    evzk_resolver_free(l.r);
    raw_delete_tree(op(), "/hand");
    peer_close(&p);
}
END_TEST

START_TEST(failed_ones_last)
{
    struct peer p;
    struct one a, b;
    struct list l = {.once = false};
    evzk_resolved e;

    peer_open(&p, the_server());
    enter(&a, p.s, "/last", "a.example", 1);
    enter(&b, p.s, "/last", "b.example", 1);
    resolve(&l, p.s, "/last", EVZK_PICK_LEAST_RECENTLY_FAILED);
    picks_are(&l, "abab");
    ck_assert(evzk_resolver_find(l.r, "a.example:80", &e));
    ck_assert(evzk_resolver_failed(l.r, "a.example:80", e.token));
    picks_are(&l, "bbb");
    ck_assert(evzk_resolver_failed(l.r, "b.example:80", 0));
    picks_are(&l, "aa");
    ck_assert(evzk_resolver_failed(l.r, "a.example:80", e.token));
    picks_are(&l, "b");
    ck_assert(evzk_resolver_worked(l.r, "b.example:80", 0));
    ck_assert_int_eq(raw_delete(op(), "/last/a.example:80"), ZOK);
    WAIT(l.added == 4 || (l.added == 3 && l.removed == 1));
    ck_assert(!evzk_resolver_failed(l.r, "a.example:80", e.token));
    ck_assert(!evzk_resolver_worked(l.r, "nobody:80", 0));
    picks_are(&l, "baba"); /* The next one of this name has not failed. */
    leave(&a);
    leave(&b);
    evzk_resolver_free(l.r);
    peer_close(&p);
}
END_TEST

/* Services: the znodes below a directory. */

static void on_services(evzk_cache *c, evzk_cache_event event, int rc,
                        const evzk_cache_entry *entry,
                        const evzk_cache_entry *before, void *arg)
{
    int *services = arg;

    (void)c, (void)before;
    ck_assert_int_eq(rc, EVZK_OK);
    *services += event == EVZK_CACHE_ADDED && entry->path[0] != '\0';
}

START_TEST(resolved_once_and_listed)
{
    struct peer p;
    struct one a, b;
    struct list l = {.once = true};
    evzk_cache_options names = {.names_only = true};
    evzk_cache *services;
    int n = 0;

    peer_open(&p, the_server());
    enter(&a, p.s, "/services/web", "a.example", 1);
    enter(&b, p.s, "/services/mail", "b.example", 1);
    resolve(&l, p.s, "/services/web", EVZK_PICK_IN_TURN);
    ck_assert_ptr_null(l.r);
    ck_assert_int_eq(l.added, 1);
    ck_assert_int_eq(
        evzk_cache_start(p.s, "/services", &names, on_services, &n, &services),
        EVZK_OK);
    WAIT(n == 2);
    evzk_cache_free(services);
    leave(&a);
    leave(&b);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("names");
    TCase *few = lock_tests(suite, "few", 60000);

    tcase_add_test(few, picked_in_turn);
    tcase_add_test(few, made_by_hand);
    tcase_add_test(few, failed_ones_last);
    tcase_add_test(few, resolved_once_and_listed);
    return lock_suite_run(suite);
}
