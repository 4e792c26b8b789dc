/* The demonstration of two-phase commit: what its processes share. */
#ifndef TRANSFER_DEMO_H
#define TRANSFER_DEMO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <evzk/evzk.h>

enum { ALICE, BOB, COORDINATOR, PROCESSES, SITES = COORDINATOR };
enum { START_BALANCE = 1000, START_SUM = 2 * START_BALANCE };

extern const char *const SITE[SITES];

/* The moments at which a process is killed: X(name, process, text). */
/* clang-format off */
#define SITE_MOMENTS(X, WHO) \
    X(WHO##_ASKED,    WHO, "before its vote") \
    X(WHO##_PROMISED, WHO, "its promise is durable, its vote is not cast") \
    X(WHO##_VOTED,    WHO, "after its vote") \
    X(WHO##_HEARD,    WHO, "the decision is heard, and not durable") \
    X(WHO##_SETTLED,  WHO, "the decision is durable, and not done") \
    X(WHO##_ANY,      WHO, "at any moment")
#define MOMENTS(X) \
    SITE_MOMENTS(X, ALICE) \
    SITE_MOMENTS(X, BOB) \
    X(COORDINATOR_SENT,    COORDINATOR, "the question is under way") \
    X(COORDINATOR_BEGUN,   COORDINATOR, "the question stands") \
    X(COORDINATOR_VOTE,    COORDINATOR, "after a vote") \
    X(COORDINATOR_DECIDED, COORDINATOR, "after the decision") \
    X(COORDINATOR_ANY,     COORDINATOR, "at any moment")
/* clang-format on */

enum moment {
    NEVER,
#define NAME(name, process, text) AT_##name,
    MOMENTS(NAME)
#undef NAME
        MOMENT_COUNT
};

struct options {
    const char *servers, *root, *dir;
    evzk_tx_variant variant;
    uint32_t transfers, kills, session_ms, deadline_s;
};

/* In memory that all processes share. */
struct shared {
    atomic_int armed;  /* enum moment: the process that comes there dies. */
    atomic_uint kills; /* So far. */
    atomic_uint begun; /* Transfers that were asked for, so far. */
    atomic_uint recovered;
};

/* What both accounts say. */
struct balance {
    long long sum;         /* With what is promised, and will be applied. */
    long long settled_sum; /* Without. */
    unsigned committed, aborted;
    unsigned promised; /* Of both, not settled yet. */
    bool agree;        /* Both have settled as many. */
};

/* Is all right, as far as both files say?  Says what is not. */
bool audit(const struct options *opt, struct balance *out);

/* ---- process.c: what every process has ---- */

struct process {
    const struct options *opt;
    struct shared *shared;
    struct event_base *base;
    evzk_session *s;
};

extern struct process self;

/* Opens the session. */
void process_begin(const struct options *opt, struct shared *shared);

/* Runs the loop until the session is closed. */
int process_end(void);

/* Ends the process with a failure unless rc is EVZK_OK. */
void check(const char *what, int rc);
_Noreturn void fail(const char *what, const char *why);

/* Kills the process, if that is the moment that is armed. */
void come_to(enum moment moment);

/* ---- The processes; each returns its exit status. ---- */

int be_site(const struct options *opt, struct shared *shared, int which);
int coordinate(const struct options *opt, struct shared *shared);

#endif
