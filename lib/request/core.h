/* The part of a session that requests and machines see; they see no other.  It
 * is the first member of evzk_session (lib/session/session.h), which drives it:
 * the session makes connections, keeps the lease, and calls requests and
 * machines once a turn of the loop. */
#ifndef EVZK_CORE_H
#define EVZK_CORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "evzk/session.h"
#include "lib/base/acl.h"
#include "lib/base/lease.h"
#include "lib/base/loop.h"
#include "lib/client/client.h"
#include "lib/request/dir.h"
#include "lib/request/path_watch.h"
#include "lib/request/place.h"
#include "lib/request/request.h"

struct evzk__machine;
struct evzk__maker;
struct evzk__term;
struct evzk__idle_dir_check;
struct evzk__look;
TAILQ_HEAD(evzk__machines, evzk__machine);
RB_HEAD(evzk__maker_tree, evzk__maker);

enum evzk__phase {
    EVZK__RUNNING,  /* Connected, or on the way to it. */
    EVZK__DRAINING, /* Closing: requests in flight are waited for. */
    EVZK__ENDING,   /* Closing: the server is asked, and its answer awaited. */
    EVZK__ENDING_MACHINES, /* Over: machines get their final events. */
    EVZK__CLOSED
};

/* What the session has of the servers. */
enum evzk__contact {
    EVZK__NO_CONTACT, /* No connection is established. */
    EVZK__IN_DOUBT,   /* Connected, but the leader is silent. */
    EVZK__IN_CONTACT
};

/* The session's turn of the loop. */
enum evzk__turn {
    EVZK__NO_TURN,
    EVZK__TURN_ASKED, /* The next one is asked for. */
    EVZK__IN_TURN     /* The turn runs. */
};

struct evzk__core {
    unsigned refs;
    void (*destroy)(struct evzk__core *s); /* Called at the last reference. */
    const struct evzk__wake *wake;         /* The machines' own. */
    long pid;                              /* Of the process that opened it. */
    struct event_base *base;

    /* The options. */
    char *chroot; /* Owned; "" for none. */
    bool make_chroot;
    struct evzk__acl acl; /* Of what machines create. */
    char *data;           /* The same.  Owned. */
    size_t data_len;
    uint32_t window; /* So many requests may be in flight. */
    struct {
        evzk_log_cb *cb; /* Or NULL. */
        void *arg;
        evzk_log_level level;
    } log;
    struct {
        evzk_trace_cb *cb; /* Or NULL. */
        void *arg;
    } trace;

    /* The session on the server. */
    int64_t id;                   /* 0: none yet. */
    char tag[EVZK__GUID_LEN + 1]; /* Of evzk__machine_session_tag(); or "". */
    struct evzk__lease lease;
    struct evzk__term *term; /* Of the lease, for other threads; or NULL. */
    enum evzk__phase phase;
    struct evzk__changes now;
    enum evzk__contact contact;

    /* The connection. */
    struct evzk__client *client; /* The present one, or NULL. */
    struct evzk__client *old;    /* A lost one, being emptied. */
    uint32_t forgotten;          /* Watches taken out of it, of all so far. */
    int64_t send_at; /* Nothing is sent before: out of memory. 0: now. */

    /* The turn of the loop. */
    struct evzk__timer *timer;
    enum evzk__turn turn;
    bool more;      /* Something is left for the next turn. */
    uint8_t tick;   /* Counts probes' intervals. */
    unsigned out;   /* Callbacks of the application that run: none, or one. */
    int64_t out_us; /* Spent in them, this turn. */

    /* Requests. */
    struct evzk__requests requests;
    struct evzk__maker_tree makers;
    struct evzk__dir_tree dirs;
    TAILQ_HEAD(, evzk__dir)
    idle; /* No machine is there: request/idle_dirs.c. */
    LIST_HEAD(, evzk__idle_dir_check) idle_dir_checks;
    uint32_t n_tidies;
    struct evzk__path_watches path_watches;
    struct evzk__onlookers onlookers; /* See request/own_queue.h. */
    uint32_t onlooked;                /* So many have been. */
    uint32_t watches;
    LIST_HEAD(, evzk__look) looks, barred_looks; /* See request/look.h. */

    /* Machines. */
    struct evzk__machines machines, running;
    struct evzk__machines later;          /* To hear STAYED in a while. */
    struct evzk__machines awaiting_reply; /* Ended, but await an answer. */
    struct {
        struct evzk__machines all, waiting; /* Ended: machine/left_overs.c. */
        int64_t at;     /* When those that wait ask again; 0: none waits. */
        uint8_t pauses; /* So many in a row, without a success. */
    } left;
    struct evzk__machine *cursor; /* The next to be swept; NULL: done. */
    LIST_HEAD(, evzk__resident) residents; /* See lib/machine/machine.h. */
    struct {                               /* See machine/rounds.h. */
        struct evzk__machine *at; /* The next to be visited; NULL: the first. */
        int64_t next_us;          /* When; 0: no machine is there. */
        uint32_t looks;           /* Under way. */
        uint8_t number;           /* Of the round. */
    } rounds;

    evzk_session_stats stats;
};

/* From the core to the application's session, and back. */
static inline evzk_session *evzk__session_of(const struct evzk__core *s)
{
    return (evzk_session *)(uintptr_t)s;
}

static inline struct evzk__core *evzk__core_of(const evzk_session *s)
{
    return (struct evzk__core *)(uintptr_t)s;
}

/* Gives a reference back. */
void evzk__core_unref(struct evzk__core *s);

/* The time that each part of a turn of the loop may take.  budget_spent() looks
 * at the clock at every n-th step only.
 */
enum { EVZK__BUDGET_US = 1500 };
bool evzk__budget_spent(unsigned n, int64_t until);

/* Has a turn of the loop come soon, once. */
void evzk__session_kick(struct evzk__core *s);

/* A callback of the application runs between these two: its time is not the
 * library's.  `begun` is what the first of the two returned. */
int64_t evzk__call_out(struct evzk__core *s);
void evzk__called(struct evzk__core *s, int64_t begun);

/* Is news told?  Once the session is closed only final events are. */
static inline bool evzk__session_tells(const struct evzk__core *s)
{
    return s->phase == EVZK__RUNNING;
}

/* Is a connection established? */
static inline bool evzk__session_up(const struct evzk__core *s)
{
    return s->contact != EVZK__NO_CONTACT;
}

/* May requests be sent now? */
bool evzk__session_usable(const struct evzk__core *s);

/* Milliseconds of the lease that are left. */
int64_t evzk__session_left_ms(const struct evzk__core *s);

/* Is the lease valid now? */
bool evzk__session_sure(const struct evzk__core *s);

/* Is the lease valid, and is there no doubt?  Only then may something begin. */
bool evzk__session_certain(const struct evzk__core *s);

/* Of the lease that is valid now, for views; NULL: no memory. */
struct evzk__term *evzk__session_term(struct evzk__core *s);

/* The lease was extended: other threads see it. */
void evzk__session_show_lease(struct evzk__core *s);

/* In the child of a fork. */
bool evzk__session_forked(const struct evzk__core *s);

void evzk__session_log(struct evzk__core *s, evzk_log_level level,
                       const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void evzk__session_vlog(struct evzk__core *s, evzk_log_level level,
                        const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* No memory, or the server refuses for now: nothing is sent for a while. */
void evzk__requests_pause(struct evzk__core *s);

#endif
