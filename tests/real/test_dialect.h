/*
 * Locks, candidates and leases of evzk's that have the names of another
 * library, in one queue with the real one's.
 */
#ifndef TESTS_REAL_TEST_DIALECT_H
#define TESTS_REAL_TEST_DIALECT_H

#include "test_peers.h"

/* Each waits for the other, and gets its turn. */
static inline void lock_is_shared(struct library *b, const char *kind,
                                  const char *dir, evzk_dialect dialect,
                                  evzk_lock_mode mode)
{
    const evzk_lock_options opt = {.mode = mode, .dialect = dialect};
    struct claim c;
    struct peer p;

    peer_open(&p, the_server());
    claim_held(&c, p.s, dir, &opt);
    library_ask(b, kind, dir);
    library_waits(b);
    claim_release(&c);
    library_has(b);
    claim_queued(&c, p.s, dir, &opt);
    settle(p.s);
    ck_assert_int_eq(c.rec.count, 0);
    library_free(b);
    WAIT_EVENT(&c, "GRANTED");
    claim_release(&c);
    library_holds(b, kind, dir); /* The directory is there, or made again. */
    library_free(b);
    WAIT(raw_count(op(), dir) <= 0);
    peer_close(&p);
}

/* Readers of both hold together. */
static inline void readers_share(struct library *b, const char *kind,
                                 const char *dir, evzk_dialect dialect)
{
    const evzk_lock_options reads = {.mode = EVZK_LOCK_READ,
                                     .dialect = dialect},
                            writes = {.mode = EVZK_LOCK_WRITE,
                                      .dialect = dialect};
    struct claim reader, writer;
    struct peer p;

    peer_open(&p, the_server());
    library_holds(b, kind, dir);
    claim_held(&reader, p.s, dir, &reads);
    claim_queued(&writer, p.s, dir, &writes);
    library_free(b);
    settle(p.s);
    ck_assert_int_eq(writer.rec.count, 0);
    claim_release(&reader);
    WAIT_EVENT(&writer, "GRANTED");
    ck_assert_int_eq(evzk_lock_downgrade(writer.l), EVZK_OK);
    WAIT_EVENT(&writer, "DOWNGRADED");
    library_holds(b, kind, dir);
    library_free(b);
    claim_release(&writer);
    peer_close(&p);
}

static inline void election_is_shared(struct library *b, const char *kind,
                                      const char *dir, evzk_dialect dialect)
{
    const evzk_election_options opt = {.dialect = dialect};
    struct candidate c;
    struct peer p;

    peer_open(&p, the_server());
    library_holds(b, kind, dir);
    stand_behind(&c, p.s, dir, &opt);
    settle(p.s);
    ck_assert_str_eq(c.text, "");
    library_free(b);
    WAIT(evzk_election_elected(c.e));
    ck_assert_int_eq(evzk_election_acknowledge(c.e, "evzk", 4), EVZK_OK);
    WAIT(evzk_election_leading(c.e)); /* The znode `leader` is there, too. */
    library_ask(b, kind, dir);
    library_waits(b);
    ck_assert_int_eq(evzk_election_resign(c.e), EVZK_OK);
    library_has(b);
    WAIT(c.finals == 1);
    evzk_election_free(c.e);
    library_free(b);
    peer_close(&p);
}

static inline void seat_hear(evzk_semaphore *semaphore,
                             evzk_semaphore_event event, int rc, void *arg)
{
    (void)semaphore;
    (void)rc;
    *(evzk_semaphore_event *)arg = event;
}

static inline evzk_semaphore *seat(evzk_session *s, const char *path,
                                   evzk_dialect dialect,
                                   evzk_semaphore_event *event)
{
    const evzk_semaphore_options opt = {.leases = 1, .dialect = dialect};
    evzk_semaphore *p = NULL;

    *event = 0;
    ck_assert_int_eq(
        evzk_semaphore_acquire(s, path, &opt, seat_hear, event, &p), EVZK_OK);
    return p;
}

static inline void seat_release(evzk_semaphore *p, evzk_semaphore_event *event)
{
    ck_assert_int_eq(evzk_semaphore_release(p), EVZK_OK);
    WAIT(*event == EVZK_SEMAPHORE_RELEASED);
    evzk_semaphore_free(p);
}

/* Of one lease. */
static inline void semaphore_is_shared(struct library *b, const char *kind,
                                       const char *path, evzk_dialect dialect)
{
    evzk_semaphore_event event;
    evzk_semaphore *p;
    struct peer peer;

    peer_open(&peer, the_server());
    library_holds(b, kind, path);
    p = seat(peer.s, path, dialect, &event);
    WAIT(strcmp(evzk_semaphore_state(p), "WAITING") == 0);
    settle(peer.s);
    ck_assert_int_eq(event, 0);
    library_free(b);
    WAIT(event == EVZK_SEMAPHORE_ACQUIRED);
    library_ask(b, kind, path);
    library_waits(b);
    seat_release(p, &event);
    library_has(b);
    library_free(b);
    peer_close(&peer);
}

#endif
