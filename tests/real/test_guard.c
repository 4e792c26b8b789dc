/*
 * Guarded writes on a real server: the results, the refusals, and the receipts
 * that must not stay.
 */
#define _GNU_SOURCE 1
#include "test_lock.h"

/* A write, and its outcome. */
struct write {
    evzk_guard *g;
    int told, rc;
    evzk_guard_outcome outcome;
    int64_t zxid;
    int32_t version[4];
    size_t failed;
    size_t n_ops;
};

static void on_write(evzk_guard *g, evzk_guard_outcome outcome, int rc,
                     const evzk_guard_result *result, void *arg)
{
    struct write *w = arg;

    ck_assert_ptr_eq(g, w->g); /* Not inside the call that began it. */
    ck_assert_int_eq(evzk_guard_cancel(g), EVZK_ERR_STATE);
    w->told++;
    w->outcome = outcome;
    w->rc = rc;
    w->zxid = result->zxid;
    w->failed = result->failed;
    if (result->version)
        memcpy(w->version, result->version, w->n_ops * sizeof w->version[0]);
}

static void write_ends(struct write *w, evzk_guard_outcome outcome, int rc)
{
    WAIT(w->told > 0);
    ck_assert_int_eq(w->told, 1);
    ck_assert_str_eq(evzk_guard_outcome_name(w->outcome),
                     evzk_guard_outcome_name(outcome));
    ck_assert_int_eq(w->rc, rc);
    evzk_guard_free(w->g);
    w->g = NULL;
}

#define BEGIN(w, s, by, ops, n)                                                \
    ck_assert_int_eq(evzk_guard_write(s, by, ops, ((w)->n_ops = (n)), NULL,    \
                                      on_write, w, &(w)->g),                   \
                     EVZK_OK)

static void on_election(evzk_election *e, evzk_election_event event, int rc,
                        void *arg)
{
    (void)e, (void)event, (void)rc, (void)arg;
}

/* On an empty place: /guard/old exists, with a child or not. */
static void prepare(void)
{
    raw_delete_tree(op(), "/guard");
    raw_mkdirs(op(), "/guard/old");
}

static const evzk_guard_op four[] = {
    {.verb = EVZK_GUARD_CREATE,
     .path = "/guard/new",
     .data = "one",
     .data_len = 3},
    {.verb = EVZK_GUARD_SET,
     .path = "/guard/new",
     .data = "two",
     .data_len = 3},
    {.verb = EVZK_GUARD_CHECK, .path = "/guard/new", .version = 1},
    {.verb = EVZK_GUARD_DELETE, .path = "/guard/old", .version = -1}};

/* Under a lock (0), and as one that is elected (1). */
START_TEST(writes_under_its_guard)
{
    evzk_election *e = NULL;
    struct claim c = {0};
    struct write w = {0};
    struct Stat stat;
    struct peer p;
    char data[8];
    int len = sizeof data;

    prepare();
    peer_open(&p, the_server());
    if (_i) {
        ck_assert_int_eq(evzk_election_volunteer(p.s, "/guard-by", NULL,
                                                 on_election, NULL, &e),
                         EVZK_OK);
        WAIT(evzk_election_elected(e));
    } else
        claim_held(&c, p.s, "/guard-by", NULL);
    BEGIN(&w, p.s, (&(evzk_guard_by){.lock = c.l, .candidate = e}), four, 4);
    write_ends(&w, EVZK_GUARD_DONE, EVZK_OK);
    ck_assert_int_eq(raw_get(op(), "/guard/new", data, &len, &stat), ZOK);
    ck_assert_int_eq(len, 3);
    ck_assert_int_eq(memcmp(data, "two", 3), 0);
    ck_assert_int_eq(stat.czxid, w.zxid);
    ck_assert_int_eq(stat.mzxid, w.zxid);
    for (int i = 0; i < 3; i++) /* All three are about this znode. */
        ck_assert_int_eq(stat.version, w.version[i]);
    ck_assert_int_eq(w.version[3], -1);
    ck_assert_int_eq(raw_exists(op(), "/guard/old", NULL), ZNONODE);
    raw_wait_children(op(), "/guard-by", 1, 60000); /* No receipt. */
    if (c.l)
        claim_release(&c);
    evzk_election_free(e);
    nothing_left("/guard-by", p.s);
    peer_close(&p);
}
END_TEST

/* The name of a lock that was released (0), or whose session has ended (1). */
START_TEST(refused_when_the_guard_is_gone)
{
    struct claim c = {0};
    struct write w = {0};
    struct peer p, q;
    char path[256];

    prepare();
    peer_open(&p, the_server());
    peer_open(&q, the_server());
    claim_held(&c, p.s, "/guard-by", NULL);
    strcpy(path, node_path("/guard-by", evzk_lock_node(c.l)));
    raw_mkdirs(op(), "/guard-by/stays");
    BEGIN(&w, q.s, (&(evzk_guard_by){.path = path}), &four[0], 1);
    write_ends(&w, EVZK_GUARD_DONE, EVZK_OK);
    if (_i) {
        raw_expire(the_server(), evzk_session_id(p.s));
        raw_wait_gone(op(), path, 60000);
    } else
        claim_release(&c);
    w.told = 0;
    BEGIN(&w, q.s, (&(evzk_guard_by){.path = path}), &four[3], 1);
    write_ends(&w, EVZK_GUARD_REFUSED, EVZK_ERR_NODEGONE);
    ck_assert_int_eq(raw_exists(op(), "/guard/old", NULL), ZOK);
    evzk_lock_free(c.l);
    raw_wait_children(op(), "/guard-by", 1, 60000);
    raw_delete_tree(op(), "/guard-by");
    peer_close(&p);
    peer_close(&q);
}
END_TEST

/* A receipt that this connection has made is not read before it is deleted. */
START_TEST(few_requests)
{
    struct proxy *proxy = proxy_start(the_server());
    struct claim c = {0};
    struct write w = {0};
    struct peer p;
    int64_t reads;

    prepare();
    peer_open(&p, proxy_address(proxy));
    claim_held(&c, p.s, "/guard-by", NULL);
    reads = proxy_frames_of(proxy, PROXY_C2S, OP_GET);
    BEGIN(&w, p.s, (&(evzk_guard_by){.lock = c.l}), four, 4);
    write_ends(&w, EVZK_GUARD_DONE, EVZK_OK);
    raw_wait_children(op(), "/guard-by", 1, 60000);
    ck_assert_int_eq(proxy_frames_of(proxy, PROXY_C2S, OP_GET), reads);
    claim_release(&c);
    nothing_left("/guard-by", p.s);
    peer_close(&p);
    proxy_stop(proxy);
}
END_TEST

/* A lock that is being given up (0), or has been (1), guards nothing. */
START_TEST(no_write_under_a_lock_that_goes)
{
    struct claim c = {0};
    struct write w = {0};
    struct peer p;

    prepare();
    peer_open(&p, the_server());
    claim_held(&c, p.s, "/guard-by", NULL);
    ck_assert_int_eq(evzk_lock_release(c.l), EVZK_OK);
    if (_i)
        WAIT(c.rec.finals == 1);
    ck_assert_int_eq(evzk_guard_write(p.s, &(evzk_guard_by){.lock = c.l}, four,
                                      1, NULL, on_write, &w, &w.g),
                     EVZK_ERR_STATE);
    ck_assert_ptr_null(w.g);
    WAIT(c.rec.finals == 1);
    evzk_lock_free(c.l);
    nothing_left("/guard-by", p.s);
    ck_assert_int_eq(raw_exists(op(), "/guard/new", NULL), ZNONODE);
    peer_close(&p);
}
END_TEST

/* The third operation is refused: by its version (0), or by the ACL (1). */
START_TEST(failed_operation_is_named)
{
    evzk_guard_op ops[] = {four[0], four[1], four[2], four[3]};
    struct claim c = {0};
    struct write w = {0};
    struct peer p;

    prepare();
    peer_open(&p, the_server());
    claim_held(&c, p.s, "/guard-by", NULL);
    if (_i)
        ops[2] = (evzk_guard_op){
            .verb = EVZK_GUARD_DELETE, .path = "/guard/no/such", .version = -1};
    else
        ops[2].version = 7;
    BEGIN(&w, p.s, (&(evzk_guard_by){.lock = c.l}), ops, 4);
    write_ends(&w, EVZK_GUARD_FAILED,
               _i ? EVZK_ERR_NONODE : EVZK_ERR_BADVERSION);
    ck_assert_uint_eq(w.failed, 2);
    ck_assert_int_eq(raw_exists(op(), "/guard/new", NULL), ZNONODE);
    ck_assert_int_eq(raw_exists(op(), "/guard/old", NULL), ZOK);
    claim_release(&c);
    nothing_left("/guard-by", p.s);
    peer_close(&p);
}
END_TEST

/* A znode that is created has the ACL of its operation, or the session's: here
 * others may not write to it. */
START_TEST(acl_of_what_is_created)
{
    const evzk_acl sealed = {EVZK_PERM_ALL & ~EVZK_PERM_WRITE, "world",
                             "anyone"};
    const evzk_acl open = {EVZK_PERM_ALL, "world", "anyone"};
    const evzk_session_options session = {
        .timeout_ms = SESSION_MS, .acl = &sealed, .acl_count = 1};
    const evzk_lock_options lock = {.acl = &open, .acl_count = 1};
    const evzk_guard_options receipt = {.acl = &open, .acl_count = 1};
    const evzk_guard_op ops[] = {
        {.verb = EVZK_GUARD_CREATE, .path = "/guard/a"},
        {.verb = EVZK_GUARD_CREATE, .path = "/guard/b"},
        {.verb = EVZK_GUARD_CREATE,
         .path = "/guard/c",
         .acl = &open,
         .acl_count = 1}};
    struct write w = {.n_ops = 3};
    struct claim c = {0};
    struct peer p;

    prepare();
    peer_start(&p, the_server(), &session);
    claim_held(&c, p.s, "/guard-by", &lock);
    ck_assert_int_eq(evzk_guard_write(p.s, &(evzk_guard_by){.lock = c.l}, ops,
                                      3, &receipt, on_write, &w, &w.g),
                     EVZK_OK);
    write_ends(&w, EVZK_GUARD_DONE, EVZK_OK);
    ck_assert_int_eq(raw_set(op(), "/guard/a", "x", 1), ZNOAUTH);
    ck_assert_int_eq(raw_set(op(), "/guard/b", "x", 1), ZNOAUTH);
    ck_assert_int_eq(raw_set(op(), "/guard/c", "x", 1), ZOK);
    claim_release(&c);
    nothing_left("/guard-by", p.s);
    peer_close(&p);
}
END_TEST

/* A znode that a write makes and deletes is not there. */
START_TEST(made_and_deleted)
{
    const evzk_guard_op ops[] = {
        {.verb = EVZK_GUARD_CREATE, .path = "/guard/a"},
        {.verb = EVZK_GUARD_DELETE, .path = "/guard/a"}};
    struct claim c = {0};
    struct write w = {0};
    struct peer p;

    prepare();
    peer_open(&p, the_server());
    claim_held(&c, p.s, "/guard-by", NULL);
    BEGIN(&w, p.s, (&(evzk_guard_by){.lock = c.l}), ops, 2);
    write_ends(&w, EVZK_GUARD_DONE, EVZK_OK);
    ck_assert_int_eq(w.version[0], -1);
    ck_assert_int_eq(w.version[1], -1);
    claim_release(&c);
    nothing_left("/guard-by", p.s);
    peer_close(&p);
}
END_TEST

/* A receipt needs the rights to read it and to write to it (0); without the
 * latter the write fails (1), and the receipt does not stay. */
START_TEST(rights_on_the_receipt)
{
    const evzk_acl acl = {EVZK_PERM_READ | (_i ? 0 : EVZK_PERM_WRITE), "world",
                          "anyone"};
    const evzk_guard_options receipt = {.acl = &acl, .acl_count = 1};
    struct write w = {.n_ops = 4};
    struct claim c = {0};
    struct peer p;

    prepare();
    peer_open(&p, the_server());
    claim_held(&c, p.s, "/guard-by", NULL);
    ck_assert_int_eq(evzk_guard_write(p.s, &(evzk_guard_by){.lock = c.l}, four,
                                      4, &receipt, on_write, &w, &w.g),
                     EVZK_OK);
    if (_i) {
        write_ends(&w, EVZK_GUARD_FAILED, EVZK_ERR_NOAUTH);
        ck_assert_uint_eq(w.failed, 4);
    } else
        write_ends(&w, EVZK_GUARD_DONE, EVZK_OK);
    raw_wait_children(op(), "/guard-by", 1, 60000);
    claim_release(&c);
    nothing_left("/guard-by", p.s);
    peer_close(&p);
}
END_TEST

/* The servers check the guard only for those who may read it. */
START_TEST(guard_that_may_not_be_read)
{
    const evzk_acl acl = {EVZK_PERM_ALL & ~EVZK_PERM_READ, "world", "anyone"};
    const evzk_guard_op sealed = {.verb = EVZK_GUARD_CREATE,
                                  .path = "/guard/sealed",
                                  .acl = &acl,
                                  .acl_count = 1};
    struct write w = {0};
    struct peer p;

    prepare();
    peer_open(&p, the_server());
    BEGIN(&w, p.s, (&(evzk_guard_by){.path = "/guard/old"}), &sealed, 1);
    write_ends(&w, EVZK_GUARD_DONE, EVZK_OK);
    w.told = 0;
    BEGIN(&w, p.s, (&(evzk_guard_by){.path = "/guard/sealed"}), four, 4);
    write_ends(&w, EVZK_GUARD_FAILED, EVZK_ERR_NOAUTH);
    ck_assert_uint_eq(w.failed, 4);
    ck_assert_int_eq(raw_exists(op(), "/guard/new", NULL), ZNONODE);
    raw_wait_children(op(), "/guard", 2, 60000); /* No receipt. */
    peer_close(&p);
}
END_TEST

/* Each of many writes is done once, and one in three fails alone. */
START_TEST(many_writes)
{
    enum { N = 300 };
    static struct write w[N];
    struct claim c = {0};
    struct Stat stat;
    struct peer p;

    memset(w, 0, sizeof w);
    prepare();
    peer_open(&p, the_server());
    claim_held(&c, p.s, "/guard-by", NULL);
    for (int i = 0; i < N; i++) {
        evzk_guard_op ops[] = {
            {.verb = EVZK_GUARD_SET, .path = "/guard/old", .version = -1},
            {.verb = EVZK_GUARD_CHECK,
             .path = "/guard",
             .version = i % 3 ? -1 : 9}};

        BEGIN(&w[i], p.s, (&(evzk_guard_by){.lock = c.l}), ops, 2);
    }
    for (int i = 0; i < N; i++)
        write_ends(&w[i], i % 3 ? EVZK_GUARD_DONE : EVZK_GUARD_FAILED,
                   i % 3 ? EVZK_OK : EVZK_ERR_BADVERSION);
    ck_assert_int_eq(raw_exists(op(), "/guard/old", &stat), ZOK);
    ck_assert_int_eq(stat.version, N - N / 3);
    raw_wait_children(op(), "/guard-by", 1, 60000);
    claim_release(&c);
    nothing_left("/guard-by", p.s);
    peer_close(&p);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("guard");
    TCase *tests = lock_tests(suite, "guard", 60000);

    tcase_add_loop_test(tests, writes_under_its_guard, 0, 2);
    tcase_add_loop_test(tests, refused_when_the_guard_is_gone, 0, 2);
    tcase_add_loop_test(tests, failed_operation_is_named, 0, 2);
    tcase_add_loop_test(tests, no_write_under_a_lock_that_goes, 0, 2);
    tcase_add_test(tests, few_requests);
    tcase_add_test(tests, acl_of_what_is_created);
    tcase_add_test(tests, made_and_deleted);
    tcase_add_loop_test(tests, rights_on_the_receipt, 0, 2);
    tcase_add_test(tests, guard_that_may_not_be_read);
    tcase_add_test(tests, many_writes);
    return lock_suite_run(suite);
}
