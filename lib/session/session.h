/* The session: from the application's point of view one, over many connections
 * and over expiry.  Internal header. */
#ifndef EVZK_LIB_SESSION_H
#define EVZK_LIB_SESSION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "evzk/session.h"
#include "lib/base/acl.h"
#include "lib/base/lease.h"
#include "lib/base/loop.h"
#include "lib/base/net.h"
#include "lib/client/client.h"
#include "lib/request/dir.h"
#include "lib/request/parents.h"
#include "lib/request/path_watch.h"
#include "lib/request/request.h"
#include "lib/session/servers.h"
#include "lib/session/shunned.h"

struct evzk__machine;
struct evzk__term;
TAILQ_HEAD(evzk__machines, evzk__machine);

enum evzk__phase {
    EVZK__RUNNING,  /* Connected, or on the way to it. */
    EVZK__DRAINING, /* Closing: requests in flight are waited for. */
    EVZK__ENDING,   /* Closing: the server is asked, and its answer awaited. */
    EVZK__SWEEPING, /* Over: machines get their final events. */
    EVZK__CLOSED
};

struct evzk__credential {
    STAILQ_ENTRY(evzk__credential) link;
    char *scheme, *cert; /* Owned. */
    size_t len;
    bool presented; /* To the present connection. */
};

struct evzk_session {
    struct event_base *base;
    evzk_session_cb *cb;
    void *cb_arg;
    long pid;
    unsigned refs;

    /* As asked for. */
    char *chroot; /* Owned; "" for none. */
    bool make_chroot;
    struct evzk__acl acl;
    char *data; /* Owned. */
    size_t data_len;
    uint32_t ask_timeout_ms, close_timeout_ms, window;
    evzk_log_cb *log;
    void *log_arg;
    evzk_log_level log_level;
    evzk_trace_cb *trace;
    void *trace_arg;
    STAILQ_HEAD(, evzk__credential) credentials;

    /* The session itself. */
    int64_t id; /* 0: none yet. */
    unsigned char passwd[16];
    uint32_t timeout_ms;
    struct evzk__lease lease;
    struct evzk__term *term; /* Of the lease, for other threads; or NULL. */
    enum evzk__phase phase;
    int close_rc;
    int64_t close_deadline;

    /* How machines learn what became of it: they compare these with what they
     * saw last, whenever they are looked at; `round` counts any change. */
    uint32_t round;
    uint16_t gen, conn, lease_ends;
    bool up;       /* A connection is established. */
    bool doubt;    /* It is, but the leader is silent. */
    bool told_up;  /* What the application was told last. */
    bool known;    /* It was told CONNECTED, for this session. */
    bool lease_on; /* The lease has not ended since it was last renewed. */

    /* The connection. */
    struct evzk__servers *servers;
    struct evzk__client *client; /* The present one, or NULL. */
    struct evzk__client *old;    /* One that was lost, and is emptied. */
    uint32_t forgotten;          /* Watches taken out of it, of all so far. */
    bool moved;                  /* The servers' addresses have changed. */
    uint32_t offered;  /* Addresses that the present handle was given. */
    uint32_t attempts; /* It has made, as far as we know. */
    bool hurried;      /* It gave a server up that another waits for longer. */
    unsigned rounds;   /* So often all were tried, and some given up so. */
    struct evzk__shunned shunned; /* Servers that are no ZooKeeper. */
    int64_t connected_at, retry_at, resolve_at;
    int64_t away_since, say_away_at; /* No server is reached; 0: not begun. */
    char away_why[160];              /* What the client said last of that. */
    struct evzk__farewell farewell;
    struct evzk__request sync;
    int64_t sync_sent; /* 0: none under way. */
    int64_t next_probe;
    int64_t send_at; /* Nothing is sent before: out of memory. 0: now. */

    /* The loop. */
    struct evzk__timer *timer;
    struct evzk__io *io;
    bool in_turn, kicked, more;
    int64_t out_us; /* Spent in the application's callbacks, this turn. */

    struct evzk__requests requests;
    struct evzk__dir_tree dirs;
    struct evzk__dir *root; /* "/", for what concerns none. */
    TAILQ_HEAD(, evzk__dir)
    idle; /* Where nobody is, but see request/idle_dirs.c. */
    LIST_HEAD(, evzk__tidy) tidies;
    struct evzk__path_watches path_watches;
    struct evzk__onlookers onlookers; /* See request/own_queue.h. */
    uint32_t onlooked;                /* So many have been. */
    uint32_t n_tidies;
    uint32_t watches;
    struct evzk__maker_tree makers;
    struct evzk__machines machines, running;
    struct evzk__machines later;  /* They are told that they have stayed. */
    uint8_t tick;                 /* Counts probes' intervals. */
    struct evzk__machines owed;   /* They have ended, but for an answer. */
    struct evzk__machine *cursor; /* The next to be swept; NULL: done. */
    bool freed;                   /* The application has let go of it. */

    const struct evzk__wake *wake; /* The machines' own. */
    evzk_session_stats stats;
};

/* Each part of a turn of the loop has this long; asked after every n-th step.
 */
enum { EVZK__BUDGET_US = 1500 };
bool evzk__budget_spent(unsigned n, int64_t until);

/* Has every machine look at what has changed. */
void evzk__session_sweep(evzk_session *s);

/* One turn of the loop; `ready` is what the connection is ready for. */
void evzk__session_turn(evzk_session *s, int ready);

/* Has the lease ended, or begun anew?  Asked before anything extends it. */
void evzk__session_update_lease(evzk_session *s);

/* Is the session in doubt, or out of it?  Tells the application, and has every
 * machine look. */
void evzk__session_set_doubt(evzk_session *s, bool doubt);

/* Is news told?  Once the session is closed only final events are. */
static inline bool evzk__session_tells(const evzk_session *s)
{
    return s->phase == EVZK__RUNNING;
}

/* Of the lease that is valid now, for views; NULL: no memory. */
struct evzk__term *evzk__session_term(evzk_session *s);

/* The lease was extended: other threads see it. */
void evzk__session_show_lease(evzk_session *s);

/* Nothing is held any more, for other threads either. */
void evzk__session_end_term(evzk_session *s);

/* Reports an event to the application. */
void evzk__session_tell(evzk_session *s, evzk_session_event ev, int rc);

/* Has a turn of the loop come soon, once. */
void evzk__session_kick(evzk_session *s);

/* May requests be sent now? */
bool evzk__session_usable(const evzk_session *s);

/* Milliseconds of the lease that are left. */
int64_t evzk__session_left_ms(const evzk_session *s);

/* Is the lease valid now? */
bool evzk__session_sure(const evzk_session *s);

/* The same, and is there no doubt either?  Only then may something begin. */
bool evzk__session_certain(const evzk_session *s);

/* In the child of a fork. */
bool evzk__session_forked(const evzk_session *s);

/* Is what every struct of options reserves NULL? */
enum { EVZK__RESERVED = 4 };
bool evzk__reserved_ok(void *const reserved[EVZK__RESERVED]);

void evzk__session_log(evzk_session *s, evzk_log_level level, const char *fmt,
                       ...) __attribute__((format(printf, 3, 4)));
void evzk__session_vlog(evzk_session *s, evzk_log_level level, const char *fmt,
                        va_list ap) __attribute__((format(printf, 3, 0)));

void evzk__session_unref(evzk_session *s);

/* Frees it, whoever refers to it. */
void evzk__session_destroy(evzk_session *s);

#endif
