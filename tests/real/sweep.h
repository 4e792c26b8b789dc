/*
 * The frame proxy sweep: a recipe's scenario, run once for every rule of the
 * proxy and every frame (or byte) the rule can hit.  Each recipe has a struct
 * sweep_recipe in a file of its own; all else is shared:
 *
 * sweep.c        the program: options, the server, the figures
 * sweep_line.c   what is to be run: rules, frames, bytes, shares
 * sweep_lane.c   one run at a time: sessions, proxy, scenario, the end
 * sweep_count.c  what the server says is left, for which nothing waits: all
 *                session time-outs are long, but for those of rules that need
 *                an expiry
 */
#ifndef TESTS_REAL_SWEEP_H
#define TESTS_REAL_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evzk/evzk.h>

#include "harness.h"
#include "proxy.h"
#include "recipes/list.h"
#include "zk.h"

/*
 * Time-outs of sessions: never reached, however slow the machine is, so that no
 * run's end depends on how long it took; and reached by rules that outlast it.
 */
enum { SWEEP_SESSION_MS = 60000, SWEEP_SHORT_MS = 2000 };

/* Defects that a run may show. */
enum sweep_fault {
    SWEEP_DOUBLED,   /* A second final callback, or a second grant. */
    SWEEP_BOTH_HELD, /* Two hold what one may hold. */
    SWEEP_WRONG      /* Anything else: another end, or none in time. */
};

/* One run of a scenario: its sessions, and what it may do. */
struct sweep_run {
    const char *dir;    /* Below it the scenario does what it likes. */
    evzk_session *far;  /* Behind the proxy. */
    evzk_session *near; /* Not; it is never disturbed. */
    const char *server; /* Where it is connected. */
    int part;           /* Which of the recipe's. */
    bool may_lose;      /* The rule may outlast the far session. */
    bool free_early;    /* Free objects when they ended, not at the close. */
    uint64_t token;     /* Of the latest grant, also of earlier runs. */
    void *lane;         /* Of sweep_complain() only. */
};

/*
 * A recipe's scenario.  It is played in event callbacks and in turn(), which is
 * called after every turn of the loop.  Its memory is @size zeroed bytes.
 */
struct sweep_recipe {
    const char *name;
    const char *const *parts; /* Their names, and NULL. */
    size_t size;
    int keeps; /* Znodes below its directory that it may leave there. */
    int share; /* So many per cent of its runs are enough; 0: all are run. */
    void (*begin)(void *scene, struct sweep_run *run);
    bool (*turn)(void *scene);  /* True when all has ended. */
    void (*judge)(void *scene); /* Complains of a wrong end. */
    void (*end)(void *scene);   /* Frees what it made; at most twice. */
    void (*tell)(const void *scene, char *text, size_t size);
};

/* All that recipes/manifest names. */
#define SWEEP_DECLARE(name) extern const struct sweep_recipe sweep_##name;
EVZK__SWEEPS(SWEEP_DECLARE)
#undef SWEEP_DECLARE

void sweep_complain(const struct sweep_run *run, enum sweep_fault fault,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- Of the sweep's own files ---- */

struct sweep_tally {
    int64_t runs, hits;
    int64_t requests, replies, bytes; /* Of an undisturbed run. */
    int64_t nodes_left, watches_left, sessions_left, conns_left;
    int64_t doubled, both_held, wrong;
    int64_t slowest_ms;
};

/* How a rule's runs are numbered. */
enum sweep_kind {
    SWEEP_PLAIN, /* Undisturbed, some times; the shortest counts. */
    SWEEP_FRAME, /* At frame k. */
    SWEEP_BYTE,  /* At byte k. */
    SWEEP_TWICE, /* At frame k, then at frame n of a later connection. */
    SWEEP_WHOLE  /* One run. */
};

struct sweep_rule {
    const char *name;
    enum sweep_kind kind;
    enum proxy_dir dir;
    enum proxy_act act;
    int64_t ms;    /* How long it holds. */
    bool waits;    /* For time to pass: many are run side by side. */
    bool may_lose; /* Outlasts the session. */
};

struct sweep_line;

struct sweep_job {
    struct sweep_line *line;
    int64_t k, n;
    int tries; /* Before this one. */
};

enum { SWEEP_AGAIN = 32 };

/* A rule for a part of the recipe, and how far it has been run. */
struct sweep_line {
    const struct sweep_rule *rule;
    int part;
    int64_t k, n;     /* The latest run begun. */
    int64_t turn;     /* Counts what could be run, for shares. */
    int64_t step;     /* One of so many is run. */
    int64_t extent;   /* Frames or bytes of an undisturbed run. */
    int64_t measured; /* Undisturbed runs. */
    int64_t hits;     /* Runs in which the rule struck. */
    int64_t farthest; /* The greatest k of them. */
    int64_t runs, spent_ms;
    struct sweep_job again[SWEEP_AGAIN]; /* Missed: run those again. */
    size_t agains;
    int under_way;
    bool over, checked;
    int64_t check_end; /* When what is left on the server counts. */
    int64_t next_check;
};

struct sweep_lane;

struct sweep {
    const struct sweep_recipe *recipe;
    struct zk *zk;
    struct sweep_tally tally;
    struct sweep_line *line;
    size_t lines;
    struct sweep_lane **lane;
    size_t lanes, quick; /* The first ones do not wait. */
    int64_t *had;        /* Ids of all sessions that the library had. */
    size_t hads, had_room;
    int64_t unanswered;      /* Connections it never had a session by. */
    struct sweep_line *last; /* For the progress line. */
    int64_t dirs;            /* Made so far. */
    const char *only;        /* "part/rule:k[:n]", or NULL. */
    double share;            /* Per cent. */
    int frames;              /* In a share, one in so many at the most. */
    bool verbose;            /* A line of figures for every rule. */
};

/* sweep_line.c */
/* False: no run has the name sw->only. */
bool sweep_plan(struct sweep *sw);
bool sweep_next(struct sweep *sw, bool waits, struct sweep_job *job);
void sweep_report(struct sweep *sw, const struct sweep_job *job, int64_t hits,
                  int64_t took_ms);
void sweep_measured(struct sweep *sw, int part, const int64_t frames[2],
                    const int64_t bytes[2]);
void sweep_arm(const struct sweep_job *job, struct proxy *proxy);
void sweep_name(const struct sweep *sw, const struct sweep_job *job, char *text,
                size_t size);
int sweep_rules(void);
void sweep_sum(struct sweep *sw); /* Figures of the lines. */
bool sweep_done(const struct sweep *sw);

/* sweep_lane.c */
struct sweep_lane *sweep_lane_open(struct sweep *sw, struct proxy *proxy,
                                   bool waits);
void sweep_lane_turn(struct sweep_lane *lane);
bool sweep_lane_closed(struct sweep_lane *lane); /* Closes it, at last. */
void sweep_lane_free(struct sweep_lane *lane);

/* sweep_count.c */
void sweep_had(struct sweep *sw, int64_t session);
void sweep_dir(const struct sweep *sw, const struct sweep_line *line, char *dir,
               size_t size);
void sweep_check_lines(struct sweep *sw);
void sweep_check_end(struct sweep *sw);

#endif
