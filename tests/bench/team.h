/*
 * Processes of one run that share shards: each has a session, joins when it is
 * told to, and hands over or dies.  The process of the run tells them, and sees
 * in their common memory what each leads, and since when.
 */
#ifndef TESTS_BENCH_TEAM_H
#define TESTS_BENCH_TEAM_H

#include "play.h"

enum order {
    REST, /* Only at first. */
    JOIN,
    COUNT, /* Its costs, from now on. */
    DRAIN,
    LEAVE /* The costs are added up, and the session is closed. */
};

/* Starts so many of them, without a shard. */
void team_start(struct run *r, int n);

/* Returns when it has done so, or, of JOIN, has begun to. */
void team_tell(int k, enum order what);

/* The session ends when the server says so; when the process was killed. */
int64_t team_kill(int k);

/* Waits until process @k leads @n. */
void team_await(int k, int n);

/* So many are led, by all. */
int team_led(void);

/* Forgets all that has happened to the shards so far. */
void team_forget(void);

/* All that are left leave; none has failed. */
void team_end(struct run *r);

/* The times without a leader, of the @n shards that were handed over since
 * team_forget(): from the end of each, or @end, if that is not 0. */
void team_note_times(struct run *r, int n, int64_t end);

/* Waits until the first znode of a session that was killed has gone; when. */
int64_t team_await_end(const char *server, int64_t znodes);

/* The late watches are set, and what it cost up to now does not count. */
void team_settle(struct run *r);

#endif
