/* The session: from the application's point of view one, over many connections
 * and over expiry.  Internal header. */
#ifndef EVZK_LIB_SESSION_H
#define EVZK_LIB_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "evzk/session.h"
#include "lib/base/loop.h"
#include "lib/base/net.h"
#include "lib/request/core.h"
#include "lib/session/servers.h"
#include "lib/session/shunned.h"

struct evzk__credential {
    STAILQ_ENTRY(evzk__credential) link;
    char *scheme, *cert; /* Owned. */
    size_t len;
    bool presented; /* To the present connection. */
};

/* What the application asked for; the rest of it is in the core. */
struct evzk__options {
    evzk_session_cb *cb; /* NULL once freed. */
    void *cb_arg;
    uint32_t timeout_ms, close_timeout_ms;
    STAILQ_HEAD(, evzk__credential) credentials;
};

/* What the application was told last. */
struct evzk__told {
    bool up;
    bool known; /* CONNECTED was told, for this session. */
};

/* The session's connection, and the way to it. */
struct evzk__connection {
    unsigned char passwd[16]; /* Of the session. */
    uint32_t timeout_ms;      /* As the server granted it. */
    struct evzk__servers *servers;
    bool moved;        /* The servers' addresses have changed. */
    uint32_t offered;  /* Addresses that the present handle was given. */
    uint32_t attempts; /* Attempts of the handle, as far as we know. */
    bool hurried; /* A silent server was given up: the next round waits longer.
                   */
    unsigned rounds; /* Rounds in which silent servers were given up. */
    struct evzk__shunned shunned; /* Servers that are no ZooKeeper. */
    int64_t connected_at, retry_at, resolve_at;
    int64_t away_since, say_away_at; /* No server is reached; 0: not begun. */
    char away_why[160];              /* What the client said last of that. */
};

/* The questions to the leader that renew the lease. */
struct evzk__probe {
    struct evzk__request sync;
    struct evzk__dir *root; /* "/": they concern no directory. */
    int64_t sent;           /* 0: none under way. */
    int64_t next;
    bool lease_on; /* The lease has not ended since it was last renewed. */
};

struct evzk__closing {
    int rc;
    int64_t deadline;
    int64_t tidy_until; /* So long, what ended machines left is deleted. */
    int64_t silent_at;  /* ENDING: the connection is left without an answer. */
    struct evzk__farewell farewell;
};

struct evzk_session {
    struct evzk__core core; /* First: see evzk__session_of(). */
    struct evzk__options options;
    struct evzk__told told;
    struct evzk__connection connection;
    struct evzk__probe probe;
    struct evzk__closing closing;
    struct evzk__io *io; /* Of the connection, in the loop. */
};

_Static_assert(offsetof(struct evzk_session, core) == 0,
               "evzk__session_of() and evzk__core_of() rest on it");

/* Has every machine handle the session's latest change. */
void evzk__session_sweep(evzk_session *s);

/* One turn of the loop; `ready` is what the connection is ready for. */
void evzk__session_turn(evzk_session *s, int ready);

/* Has the lease ended, or begun anew?  Asked before anything extends it. */
void evzk__session_update_lease(evzk_session *s);

/* Is the session in doubt, or out of it?  Tells the application, and has every
 * machine look. */
void evzk__session_set_doubt(evzk_session *s, bool doubt);

/* Ends the lease's term: other threads see that no lock is held any more. */
void evzk__session_end_term(evzk_session *s);

/* Reports an event to the application. */
void evzk__session_tell(evzk_session *s, evzk_session_event ev, int rc);

/* Frees the session: the core's `destroy`. */
void evzk__session_destroy(struct evzk__core *core);

#endif
