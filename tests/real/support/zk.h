/*
 * Real ZooKeeper servers for tests, one or an ensemble, on loopback ports and
 * in a temporary folder.  A supervisor process is the servers' parent: when the
 * process that called zk_start() dies, by SIGKILL too, it kills them and
 * removes the folder (EVZK_TEST_KEEP=1 keeps it).  Every call here is
 * synchronous, has a deadline, and fails the test with a reason.
 *
 * Servers are numbered from 0.  In an ensemble what a follower and the leader
 * say to each other goes through proxies (zk_link_freeze()); elections do not.
 */
#ifndef TESTS_REAL_ZK_H
#define TESTS_REAL_ZK_H

#include <stddef.h>
#include <sys/types.h>

enum { ZK_MAX = 5 };

struct zk;

/* Zero-initialize, then set what you need. */
struct zk_config {
    int size;               /* Servers; 0 is 1. */
    int tick_ms;            /* 0 is 200. */
    int min_session_ms;     /* 0: the server's rule, 2 ticks. */
    int max_session_ms;     /* 0 is 60000. */
    int sync_limit;         /* Ticks of silence on a link; 0 is 5. */
    int init_limit;         /* Ticks for a follower to join; 0 is 25. */
    const char *cfg_lines;  /* More lines for zoo.cfg; NULL: none. */
    const char *java_flags; /* More flags for java, as in "-Dx=y". */
};

enum zk_mode { ZK_DOWN, ZK_STANDALONE, ZK_FOLLOWER, ZK_LEADER };

/* Starts them and waits until all serve.  NULL: one server, as by default. */
struct zk *zk_start(const struct zk_config *config);

/* Ends them and removes the folder.  In a process that is not the owner (a
 * test's, of the suite's server) it only frees the memory. */
void zk_stop(struct zk *zk);

/*
 * One standalone server for all tests of a suite: started by the first call.
 * Make that an unchecked fixture, so that Check's own process is the owner.
 */
struct zk *zk_shared(void);
void zk_shared_stop(void);

/* "127.0.0.1:p0,127.0.0.1:p1,..." and "127.0.0.1:pi"; live as long as @zk. */
const char *zk_servers(const struct zk *zk);
const char *zk_server(const struct zk *zk, int i);
int zk_size(const struct zk *zk);
const char *zk_folder(const struct zk *zk);
pid_t zk_pid(struct zk *zk, int i);

/* SIGKILL, and it is gone; start again on the same port and data. */
void zk_kill(struct zk *zk, int i);
void zk_revive(struct zk *zk, int i);  /* Starts it, does not wait. */
void zk_restart(struct zk *zk, int i); /* Kills, starts, waits. */
void zk_wait(struct zk *zk, int i);    /* Until it serves. */

/* SIGSTOP and SIGCONT. */
void zk_stop_signal(struct zk *zk, int i);
void zk_cont(struct zk *zk, int i);

/* What server @i says it is now; ZK_DOWN if it does not serve. */
enum zk_mode zk_mode(struct zk *zk, int i);

/* The leader, waiting until there is one; the @k-th follower (from 0). */
int zk_leader(struct zk *zk);
int zk_follower(struct zk *zk, int k);

/*
 * The answer to a four-letter word, cut to fit.  Its length, or -1 when the
 * server is down, stopped or silent for 5 s.
 */
int zk_4lw(struct zk *zk, int i, const char *word, char *buf, size_t size);

/* A figure of "mntr", as "zk_watch_count"; -1 when there is none. */
long zk_mntr(struct zk *zk, int i, const char *name);

/* Waits until that figure is @value. */
void zk_wait_mntr(struct zk *zk, int i, const char *name, long value);

/*
 * The link between servers @i and @j, both ways, whichever of them leads: held
 * with the sockets open and no byte lost, let go, or reset once.
 */
void zk_link_freeze(struct zk *zk, int i, int j);
void zk_link_thaw(struct zk *zk, int i, int j);
void zk_link_cut(struct zk *zk, int i, int j);

#endif
