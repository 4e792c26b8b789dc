/*
 * Locks and elections on a path that the real Curator uses.
 */
#define _GNU_SOURCE 1
#include "test_dialect.h"
#include "test_installed.h"

static void compile(void) { curator_compile("PeerLocks"); }

/* ---- What is shared ---- */

START_TEST(mutex_is_waited_for)
{
    const char *dir = "/curator/mutex";
    struct library curator;
    struct peer p;
    struct claim c;

    curator_start(&curator, "PeerLocks");
    peer_open(&p, the_server());
    library_holds(&curator, "mutex", dir);
    claim_fails(p.s, dir, &(evzk_lock_options){.try_once = true},
                "FAILED(BUSY)");
    claim_queued(&c, p.s, dir, NULL);
    settle(p.s);
    ck_assert_int_eq(c.rec.count, 0);
    library_free(&curator);
    WAIT_EVENT(&c, "GRANTED");
    claim_release(&c);
    peer_close(&p);
    library_end(&curator);
}
END_TEST

START_TEST(mutex_waits)
{
    const char *dir = "/curator/waits";
    struct library curator;
    struct peer p;
    struct claim held, next;

    curator_start(&curator, "PeerLocks");
    peer_open(&p, the_server());
    claim_held(&held, p.s, dir, NULL);
    library_ask(&curator, "mutex", dir);
    library_waits(&curator);
    WAIT(raw_count(op(), dir) == 2); /* On a loaded machine Curator is late. */
    claim_queued(&next, p.s, dir, NULL);
    claim_release(&held);
    library_has(&curator);
    settle(p.s);
    ck_assert_int_eq(next.rec.count, 0);
    library_free(&curator);
    WAIT_EVENT(&next, "GRANTED");
    claim_release(&next);
    peer_close(&p);
    library_end(&curator);
}
END_TEST

START_TEST(barrier_is_shared)
{
    struct library curator;

    curator_start(&curator, "PeerLocks");
    barriers_are_shared(&curator, "/curator/barrier");
    library_end(&curator);
}
END_TEST

/* ---- What is not ---- */

static void is_refused(const char *kind, const char *path, const char *dir)
{
    struct library curator;
    struct logged g;
    struct claim c;

    curator_start(&curator, "PeerLocks");
    logged_open(&g);
    library_holds(&curator, kind, path);
    all_are_refused(g.p.s, dir, 1);
    ck_assert_ptr_nonnull(strstr(g.log, "Curator"));
    ck_assert_ptr_nonnull(strstr(g.log, dir));
    library_free(&curator);
    /* A latch is closed before its znode has gone. */
    WAIT(raw_count(op(), dir) <= 0);
    claim_held(&c, g.p.s, dir, NULL);
    claim_release(&c);
    peer_close(&g.p);
    library_end(&curator);
}

START_TEST(write_lock_is_refused)
{
    is_refused("write", "/curator/write", "/curator/write");
}
END_TEST

START_TEST(read_lock_is_refused)
{
    is_refused("read", "/curator/read", "/curator/read");
}
END_TEST

START_TEST(leader_latch_is_refused)
{
    is_refused("latch", "/curator/latch", "/curator/latch");
}
END_TEST

/* A semaphore keeps its leases in a directory of their own. */
START_TEST(lease_is_refused)
{
    is_refused("lease", "/curator/lease", "/curator/lease/leases");
}
END_TEST

/* Curator's mutex waits for names with "-lock-" alone. */
START_TEST(mutex_is_refused_by_other_names)
{
    const evzk_lock_options opt[] = {{.mode = EVZK_LOCK_WRITE},
                                     {.mode = EVZK_LOCK_READ}};
    const char *dir = "/curator/other";
    struct library curator;
    struct peer p;
    struct claim held;
    struct candidate c;

    curator_start(&curator, "PeerLocks");
    peer_open(&p, the_server());
    for (int i = 0; i < 2; i++) {
        claim_held(&held, p.s, dir, &opt[i]);
        library_holds(&curator, "mutex", dir); /* Both hold: hence this. */
        claim_release(&held);
        claim_fails(p.s, dir, &opt[i], "FAILED(FOREIGN)");
        library_free(&curator);
    }
    for (int i = 0; i < 2; i++) { /* The second one uses a mutex. */
        library_holds(&curator, i == 0 ? "mutex" : "selector", dir);
        stand(&c, p.s, dir, NULL);
        WAIT(c.text[0]);
        ck_assert_str_eq(c.text, "FAILED(FOREIGN)");
        evzk_election_free(c.e);
        library_free(&curator);
    }
    peer_close(&p);
    library_end(&curator);
}
END_TEST

/* ---- With Curator's names ---- */

START_TEST(mutex_of_curator)
{
    struct library curator;

    curator_start(&curator, "PeerLocks");
    lock_is_shared(&curator, "mutex", "/dialect/mutex", EVZK_DIALECT_CURATOR,
                   EVZK_LOCK_EXCLUSIVE);
    library_end(&curator);
}
END_TEST

START_TEST(read_write_lock_of_curator)
{
    struct library curator;

    curator_start(&curator, "PeerLocks");
    lock_is_shared(&curator, "write", "/dialect/write", EVZK_DIALECT_CURATOR,
                   EVZK_LOCK_WRITE);
    lock_is_shared(&curator, "write", "/dialect/read", EVZK_DIALECT_CURATOR,
                   EVZK_LOCK_READ);
    lock_is_shared(&curator, "read", "/dialect/reads", EVZK_DIALECT_CURATOR,
                   EVZK_LOCK_WRITE);
    readers_share(&curator, "read", "/dialect/readers", EVZK_DIALECT_CURATOR);
    library_end(&curator);
}
END_TEST

START_TEST(latch_of_curator)
{
    struct library curator;

    curator_start(&curator, "PeerLocks");
    election_is_shared(&curator, "latch", "/dialect/latch",
                       EVZK_DIALECT_CURATOR);
    library_end(&curator);
}
END_TEST

START_TEST(semaphore_of_curator)
{
    struct library curator;

    curator_start(&curator, "PeerLocks");
    semaphore_is_shared(&curator, "lease", "/dialect/lease",
                        EVZK_DIALECT_CURATOR);
    library_end(&curator);
}
END_TEST

/* Curator's mutex does not wait for its read-write lock, nor this one. */
START_TEST(families_of_curator)
{
    const evzk_lock_options opt[] = {
        {.dialect = EVZK_DIALECT_CURATOR},
        {.dialect = EVZK_DIALECT_CURATOR, .mode = EVZK_LOCK_WRITE}};
    const char *kind[] = {"write", "mutex"}, *dir = "/dialect/families";
    struct library curator;
    struct logged g;

    curator_start(&curator, "PeerLocks");
    logged_open(&g);
    for (int i = 0; i < 2; i++) {
        library_holds(&curator, kind[i], dir);
        claim_fails(g.p.s, dir, &opt[i], "FAILED(FOREIGN)");
        library_free(&curator);
    }
    peer_close(&g.p);
    library_end(&curator);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-curator");
    TCase *tests;

    if (!curator_is_there())
        return PEERS_SKIPPED;
    tests = lock_tests(suite, "curator", 60000);
    tcase_add_unchecked_fixture(tests, compile, NULL);
    tcase_add_test(tests, barrier_is_shared);
    tcase_add_test(tests, mutex_is_waited_for);
    tcase_add_test(tests, mutex_waits);
    tcase_add_test(tests, write_lock_is_refused);
    tcase_add_test(tests, read_lock_is_refused);
    tcase_add_test(tests, leader_latch_is_refused);
    tcase_add_test(tests, lease_is_refused);
    tcase_add_test(tests, mutex_is_refused_by_other_names);
    tcase_add_test(tests, mutex_of_curator);
    tcase_add_test(tests, read_write_lock_of_curator);
    tcase_add_test(tests, latch_of_curator);
    tcase_add_test(tests, semaphore_of_curator);
    tcase_add_test(tests, families_of_curator);
    return lock_suite_run(suite);
}
