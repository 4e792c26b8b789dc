/* The request layer: what machines ask of the server, and how it gets there.
 *
 * A request may be compound (create and list, in one trip); its owner sees one
 * reply.  Requests wait in queues by urgency until the flow window has room;
 * the session sends them once a turn of the loop.  A request is embedded in its
 * owner and goes through it again and again: asking takes no memory. */
#ifndef EVZK_REQUEST_H
#define EVZK_REQUEST_H

#include <sys/queue.h>

#include "client.h"
#include "watch.h"

enum evzk__op {
    EVZK__SYNC,        /* Asks the leader whether the session is alive. */
    EVZK__DELETE,      /* Deletes <dir>/<name>. */
    EVZK__UNWATCH,     /* Takes the watch off <dir>/<name>, if unused. */
    EVZK__PARENTS,     /* Makes <dir> and what is missing above it. */
    EVZK__MKDIR,       /* Makes <dir> alone. */
    EVZK__LOOK,        /* Stat of <dir>/<name>; takes no permission. */
    EVZK__LIST,        /* Children of <dir>. */
    EVZK__SYNC_LIST,   /* The same, as the leader knows it now. */
    EVZK__SETTLE_LIST, /* The same, after all that this session ever wrote. */
    EVZK__WATCH,       /* Reads `own` and `pred`, and sets watches on them. */
    EVZK__GETS,        /* Reads <dir>/<names[i]>: a reply for each. */
    EVZK__CREATE_LIST, /* Creates <dir>/<name><seq>; then children of <dir>. */
    EVZK__OPS
};

enum evzk__request_state {
    EVZK__IDLE,
    EVZK__QUEUED,
    EVZK__WAITING, /* For another that makes the same parents. */
    EVZK__SENT
};

/* One reply.  What it points to is borrowed for the call. */
struct evzk__reply {
    int rc;                  /* Of the last part. */
    int first_rc;            /* Of the first part of a compound request. */
    struct evzk__stat first; /* The same. */
    unsigned part;           /* GETS: which one; `last` tells the last reply. */
    bool last;
    const struct evzk__result *res; /* Of the last part. */
};

struct evzk__request {
    TAILQ_ENTRY(evzk__request) link;
    void (*done)(struct evzk__request *r, const struct evzk__reply *reply);
    const char *dir, *name; /* Borrowed from the owner until the reply. */
    const char *unwatch;    /* Of <dir>: take its watch off first; or NULL. */
    union {
        struct {              /* CREATE_LIST, MKDIR, PARENTS */
            const void *data; /* Borrowed, as is the ACL. */
            const evzk_acl *acl;
            uint32_t len, acl_count;
            char *created; /* CREATE_LIST: gets the name; may be `name`. */
        };
        struct { /* WATCH */
            struct evzk__watch *own, *pred;
            const char *pred_name;
        };
        struct { /* GETS */
            char *const *names;
            uint32_t n;
        };
    };
    struct evzk__stat first;
    int first_rc, last_rc;
    uint8_t op, state;
    bool plain; /* MKDIR: never a container. */
    uint32_t parts, sent, answered;
};

TAILQ_HEAD(evzk__request_queue, evzk__request);

struct evzk__requests {
    struct evzk__request_queue queue[EVZK__OPS]; /* Urgent ones first. */
    uint32_t queued, in_flight;
    char path[2][8704]; /* Room to put paths together. */
};

struct evzk_session;

void evzk__requests_init(struct evzk__requests *q);

/* Puts a request into its queue; `done` is called later, never from here. */
void evzk__request_submit(struct evzk_session *s, struct evzk__request *r);

/* Takes a request back that was not sent.  False: it was, or is idle; of one
 * that goes out bit by bit no more is sent. */
bool evzk__request_cancel(struct evzk_session *s, struct evzk__request *r);

/* The watch that `unwatch` is about went with its connection. */
void evzk__request_no_unwatch(struct evzk__request *r);

/* Sends what the window has room for, until `deadline_us`; while machines are
 * being told of a change, the lease's question only.  True: there is more to
 * send, and room for it. */
bool evzk__requests_flush(struct evzk_session *s, int64_t deadline_us);

/* The connection is lost: everything in flight is answered with CONNLOSS. */
void evzk__requests_lost(struct evzk_session *s, struct evzk__client *c);

/* Nobody wants the answers any more. */
void evzk__requests_forget(struct evzk__client *c);

/* The client's hook. */
void evzk__request_completed(void *session, struct evzk__slot *slot,
                             const struct evzk__result *res);

/* Answers a request that is in no queue and not in flight. */
void evzk__request_answer(struct evzk__request *r, int rc);

#endif
