/*
 * Locks and elections on a path that the real Kazoo uses.
 */
#define _GNU_SOURCE 1
#include "test_dialect.h"
#include "test_installed.h"

/* ---- What is shared ---- */

/* A Kazoo lock whose own znode has our mark, too. */
START_TEST(lock_among_others_is_shared)
{
    const char *dir = "/kazoo/among";
    struct library kazoo;
    struct peer p;
    struct claim c;

    kazoo_start(&kazoo, "peer_locks.py");
    peer_open(&p, the_server());
    library_holds(&kazoo, "among", dir);
    claim_queued(&c, p.s, dir, NULL);
    settle(p.s);
    ck_assert_int_eq(c.rec.count, 0);
    library_free(&kazoo);
    WAIT_EVENT(&c, "GRANTED");
    library_ask(&kazoo, "among", dir);
    library_waits(&kazoo);
    claim_release(&c);
    library_has(&kazoo);
    library_free(&kazoo);
    peer_close(&p);
    library_end(&kazoo);
}
END_TEST

/* A Kazoo lock that knows our mark waits for us; what it is named, we refuse.
 */
START_TEST(extra_lock_patterns)
{
    const char *dir = "/kazoo/extra";
    struct library kazoo;
    struct peer p;
    struct claim held, next;

    kazoo_start(&kazoo, "peer_locks.py");
    peer_open(&p, the_server());
    claim_held(&held, p.s, dir, NULL);
    claim_queued(&next, p.s, dir, NULL);
    library_ask(&kazoo, "extra", dir);
    library_waits(&kazoo);
    claim_release(&held);
    WAIT_EVENT(&next, "GRANTED"); /* Came before. */
    library_waits(&kazoo);
    claim_release(&next);
    library_has(&kazoo);
    claim_fails(p.s, dir, NULL, "FAILED(FOREIGN)");
    library_free(&kazoo);
    claim_held(&held, p.s, dir, NULL);
    claim_release(&held);
    peer_close(&p);
    library_end(&kazoo);
}
END_TEST

START_TEST(barrier_is_shared)
{
    struct library kazoo;

    kazoo_start(&kazoo, "peer_locks.py");
    barriers_are_shared(&kazoo, "/kazoo/barrier");
    library_end(&kazoo);
}
END_TEST

/* ---- What is not ---- */

static void is_refused(const char *kind, const char *dir)
{
    struct library kazoo;
    struct logged g;
    struct claim c;

    kazoo_start(&kazoo, "peer_locks.py");
    logged_open(&g);
    library_holds(&kazoo, kind, dir);
    all_are_refused(g.p.s, dir, 1);
    ck_assert_ptr_nonnull(strstr(g.log, "Kazoo"));
    ck_assert_ptr_nonnull(strstr(g.log, dir));
    library_free(&kazoo);
    claim_held(&c, g.p.s, dir, NULL);
    claim_release(&c);
    peer_close(&g.p);
    library_end(&kazoo);
}

START_TEST(lock_is_refused) { is_refused("lock", "/kazoo/lock"); }
END_TEST

START_TEST(write_lock_is_refused) { is_refused("wlock", "/kazoo/wlock"); }
END_TEST

START_TEST(read_lock_is_refused) { is_refused("rlock", "/kazoo/rlock"); }
END_TEST

START_TEST(election_is_refused) { is_refused("election", "/kazoo/election"); }
END_TEST

/* ---- With Kazoo's names ---- */

START_TEST(lock_of_kazoo)
{
    struct library kazoo;

    kazoo_start(&kazoo, "peer_locks.py");
    lock_is_shared(&kazoo, "lock", "/dialect/lock", EVZK_DIALECT_KAZOO,
                   EVZK_LOCK_EXCLUSIVE);
    library_end(&kazoo);
}
END_TEST

START_TEST(read_write_lock_of_kazoo)
{
    struct library kazoo;

    kazoo_start(&kazoo, "peer_locks.py");
    lock_is_shared(&kazoo, "wlock", "/dialect/write", EVZK_DIALECT_KAZOO,
                   EVZK_LOCK_WRITE);
    lock_is_shared(&kazoo, "wlock", "/dialect/read", EVZK_DIALECT_KAZOO,
                   EVZK_LOCK_READ);
    lock_is_shared(&kazoo, "rlock", "/dialect/reads", EVZK_DIALECT_KAZOO,
                   EVZK_LOCK_EXCLUSIVE);
    readers_share(&kazoo, "rlock", "/dialect/readers", EVZK_DIALECT_KAZOO);
    library_end(&kazoo);
}
END_TEST

START_TEST(election_of_kazoo)
{
    struct library kazoo;

    kazoo_start(&kazoo, "peer_locks.py");
    election_is_shared(&kazoo, "election", "/dialect/election",
                       EVZK_DIALECT_KAZOO);
    library_end(&kazoo);
}
END_TEST

/* Kazoo compares the number of leases, which the semaphore's znode has. */
START_TEST(semaphore_says_its_number)
{
    const char *path = "/dialect/number";
    evzk_semaphore_event event;
    evzk_semaphore *p;
    struct peer peer;
    char said[16];
    int len = sizeof said;

    peer_open(&peer, the_server());
    p = seat(peer.s, path, EVZK_DIALECT_KAZOO, &event);
    WAIT(event == EVZK_SEMAPHORE_ACQUIRED);
    ck_assert_int_eq(raw_get(op(), path, said, &len, NULL), ZOK);
    ck_assert_int_eq(len, 1);
    ck_assert_int_eq(said[0], '1');
    seat_release(p, &event);
    peer_close(&peer);
}
END_TEST

START_TEST(semaphore_of_kazoo)
{
    struct library kazoo;

    kazoo_start(&kazoo, "peer_locks.py");
    semaphore_is_shared(&kazoo, "semaphore", "/dialect/semaphore",
                        EVZK_DIALECT_KAZOO);
    library_end(&kazoo);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lock-kazoo");
    TCase *tests;

    if (!kazoo_is_there())
        return PEERS_SKIPPED;
    tests = lock_tests(suite, "kazoo", 60000);
    tcase_add_test(tests, barrier_is_shared);
    tcase_add_test(tests, lock_among_others_is_shared);
    tcase_add_test(tests, extra_lock_patterns);
    tcase_add_test(tests, lock_is_refused);
    tcase_add_test(tests, write_lock_is_refused);
    tcase_add_test(tests, read_lock_is_refused);
    tcase_add_test(tests, election_is_refused);
    tcase_add_test(tests, lock_of_kazoo);
    tcase_add_test(tests, read_write_lock_of_kazoo);
    tcase_add_test(tests, election_of_kazoo);
    tcase_add_test(tests, semaphore_says_its_number);
    tcase_add_test(tests, semaphore_of_kazoo);
    return lock_suite_run(suite);
}
