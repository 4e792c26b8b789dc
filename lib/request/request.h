/* The request layer: what machines ask of the server, and how it gets there.
 *
 * A request may be compound (create and list, in one trip); its owner sees one
 * reply.  Requests wait in queues by urgency until the flow window has room;
 * the session sends them once a turn of the loop: creates and deletes together,
 * as one transaction (request/transaction.h), and one listing for all who may
 * use it.  A request is embedded in its owner and goes through it again and
 * again: asking takes no memory. */
#ifndef EVZK_REQUEST_H
#define EVZK_REQUEST_H

#include <sys/queue.h>

#include "lib/client/client.h"
#include "lib/request/dir.h"
#include "lib/request/step.h"

/* In the order in which they are sent.  What a recipe has put together from
 * steps, see request/step.h, is one of five: what cannot wait goes before what
 * is listed; reads of many, which go out bit by bit, are finished first; and
 * writes go before reads. */
enum evzk__op {
    EVZK__SYNC,        /* Asks the leader whether the session is alive. */
    EVZK__DELETE,      /* Deletes <dir>/<name>, <also>, and <dir> if it is
                          ours. */
    EVZK__SOON_WRITES, /* Steps. */
    EVZK__UNWATCH,     /* Takes the watch off <dir>/<name>, if unused. */
    EVZK__PARENTS,     /* Makes what is missing above <dir>; with a
                         name, <dir> too. */
    EVZK__MKDIR,       /* Makes <dir> alone. */
    EVZK__RMDIR,       /* Deletes <dir>, if it is empty. */
    EVZK__SWAP,        /* Deletes <dir>/<old>, and creates another in its place;
                          or creates one while <own> is there. */
    EVZK__SOON_READS,  /* Steps. */
    EVZK__LIST,        /* Children of <dir>; shared. */
    EVZK__SYNC_LIST,   /* The same, as the leader knows it now. */
    EVZK__SETTLE_LIST, /* The same, after all that this session ever wrote. */
    EVZK__WATCH,       /* Reads `own` and `pred`, and sets watches on them. */
    EVZK__EACH_READS,  /* Steps, with a reply for each. */
    EVZK__WRITES,      /* Steps. */
    EVZK__READS,       /* Steps. */
    EVZK__CREATE_LIST, /* Creates <dir>/<name><seq>, <dir> too if need be; then
                          children of <dir>, if we may be the only one. */
    EVZK__BATCH,       /* Others, in one transaction; never queued. */
    EVZK__OPS
};

enum evzk__request_state {
    EVZK__IDLE,
    EVZK__QUEUED,
    EVZK__WAITING, /* For another that makes the same parents. */
    EVZK__JOINED,  /* For another that lists the same directory. */
    EVZK__SENT
};

/* What is kept of the first part's answer. */
struct evzk__first {
    int64_t czxid;
    bool ours;       /* The present session owns it. */
    bool told;       /* Its data is EVZK__UNLOCK, .. */
    int32_t version; /* .. and that of its data. */
};

/* Who writes this to a contender asks it to let go. */
#define EVZK__UNLOCK "unlock"

/* A znode in the place of another.  Owned by who asks, until the reply. */
struct evzk__swap {
    const char *own; /* Only if this is there; NULL: that does not matter. */
    const char *old; /* NULL: there is none to go. */
    char *created;   /* Gets the number added, if `numbered`. */
    const void *data;
    uint32_t len, acl_count;
    const evzk_acl *acl;
    bool numbered;
    int32_t version; /* That the old one must have; -1: any. */
};

/* One reply.  What it points to is borrowed for the call. */
struct evzk__reply {
    int rc;                   /* Of the last part. */
    int first_rc;             /* Of the first part of a compound request. */
    struct evzk__first first; /* The same. */
    unsigned part; /* Which step it is about; `last` tells the last reply. */
    bool last;
    bool listed;                    /* CREATE_LIST: children were asked for. */
    const struct evzk__result *res; /* Of the last part. */
};

struct evzk__watch;
TAILQ_HEAD(evzk__request_queue, evzk__request);

/* More than eight flags: how it was asked, where it waits, what was learnt
 * while it was sent, what the first answer said.  Each changes without the
 * others. They are bits, since ten thousand requests may wait at once. */
struct evzk__request {
    TAILQ_ENTRY(evzk__request) link;
    void (*done)(struct evzk__request *r, const struct evzk__reply *reply);
    struct evzk__dir *dir; /* Borrowed from the owner until the reply. */
    union {
        const char *name; /* The same. */
        char *created;    /* CREATE_LIST: gets the number added. */
        struct evzk__request_queue *waits_in; /* WAITING: for a directory. */
    };
    const char *unwatch; /* Of <dir>: take its watch off first; or NULL. */
    union {
        struct {              /* CREATE_LIST, MKDIR, PARENTS */
            const void *data; /* Borrowed, as is the ACL. */
            const evzk_acl *acl;
            uint32_t len, acl_count;
        };
        struct { /* WATCH, UNWATCH */
            struct evzk__watch *own, *pred;
            const char *pred_name;
        };
        struct { /* STEPS */
            const struct evzk__step *steps;
            char *const *names; /* The first step is for each; or NULL. */
            uint32_t n;
        };
        struct evzk__swap *swap;               /* SWAP */
        const char *also;                      /* DELETE: or NULL. */
        struct {                               /* LIST */
            struct evzk__request_queue joined; /* Who shares it. */
            struct evzk__request *leader;      /* JOINED: whom it has joined. */
        };
    };
    int64_t czxid; /* Of the first part's answer. */
    uint32_t parts, sent, answered;
    int32_t version; /* The same. */
    int16_t first_rc, last_rc;
    uint8_t op;
    uint8_t state : 3;
    uint8_t behind : 1; /* STEPS: another's sync goes before it. */
    uint8_t absent : 1; /* STEPS: the last one's was not there. */
    uint8_t each : 1;   /* STEPS: as they were asked, EVZK__EACH, .. */
    uint8_t commit : 1;
    uint8_t stamp : 1;
    uint8_t tries : 5;     /* Times it was sent anew, after an answer. */
    uint8_t keeps_dir : 1; /* DELETE: another stands in its directory. */
    uint8_t bulk : 1; /* CREATE_LIST: one of many, see request/transaction.c. */
    uint8_t told : 1; /* Data read first was EVZK__UNLOCK. */
    bool ours : 1;    /* The present session owns what was read first. */
    bool plain : 1;   /* MKDIR: never a container. */
    bool denied : 1;  /* It may not make its directory. */
    bool with_dir : 1; /* In a transaction: its directory comes, or goes,
                          with it. */
    bool cut : 1;      /* Those behind it go in another one. */
    bool given_up : 1; /* Its owner wants no more of it. */
    bool back : 1;     /* In the queue of that name. */
    bool parked : 1;   /* In its directory's line, and in no queue. */
};

struct evzk__batch;
LIST_HEAD(evzk__batches, evzk__batch);

struct evzk__requests {
    struct evzk__request_queue queue[EVZK__OPS]; /* Urgent ones first. */
    /* Creates that came back, since their directory is missing.  Of all creates
     * only the first in each directory is in a queue: see
     * request/create_order.c. */
    struct evzk__request_queue back;
    uint32_t tickets;             /* Drawn by contenders, as they asked. */
    struct evzk__batches batches; /* In flight. */
    uint32_t queued, in_flight, n_batches;
    uint16_t fresh;   /* How often directories are found missing, of 65535. */
    uint16_t emptied; /* How often ours are empty when we leave: the same. */
    uint8_t put_off;  /* Turns for which listings have waited for company. */
    bool synced;      /* A sync went out for those that follow in this turn. */
    int16_t sync_rc;  /* What the last one of these was answered. */
    char path[2][8704]; /* Room to put paths together. */
};

struct evzk__core;

void evzk__requests_init(struct evzk__requests *q);

/* Puts a request into its queue; `done` is called later, never from here. */
void evzk__request_submit(struct evzk__core *s, struct evzk__request *r);

/* Puts a request of a transaction that was not done back to the queue's head.
 */
void evzk__request_again(struct evzk__core *s, struct evzk__request *r);

/* Takes it out of its queue, to be sent with all its parts. */
void evzk__request_take(struct evzk__core *s, struct evzk__request *r);

/* Takes a request back that was not sent.  False: it was, or is idle; of one
 * that goes out bit by bit no more is sent. */
bool evzk__request_cancel(struct evzk__core *s, struct evzk__request *r);

/* The watch that `unwatch` is about went with its connection. */
void evzk__request_no_unwatch(struct evzk__request *r);

/* Sends what the window has room for, until `deadline_us`; while machines are
 * being told of a change, the lease's question only.  True: there is more to
 * send, and room for it. */
bool evzk__requests_flush(struct evzk__core *s, int64_t deadline_us);

/* The connection is lost: everything in flight is answered with CONNLOSS. */
void evzk__requests_lost(struct evzk__core *s, struct evzk__client *c);

/* Nobody wants the answers any more. */
void evzk__requests_forget(struct evzk__client *c);

/* The client's hook. */
void evzk__request_completed(struct evzk__core *s, struct evzk__slot *slot,
                             const struct evzk__result *res);

/* Answers a request that is in no queue and not in flight by itself. */
void evzk__request_answer(struct evzk__core *s, struct evzk__request *r,
                          const struct evzk__result *res);
void evzk__request_answer_rc(struct evzk__core *s, struct evzk__request *r,
                             int rc);

/* Sends the first of a queue, and what behind it goes with it. */
void evzk__batch_send(struct evzk__core *s, struct evzk__request *first);

/* For send.c: the queues and the answers of request.c. */
void evzk__request_put(struct evzk__core *s, struct evzk__request *r,
                       bool first);
void evzk__request_unqueue(struct evzk__core *s, struct evzk__request *r);
void evzk__request_count_parts(struct evzk__request *r);
bool evzk__request_goes_bit_by_bit(const struct evzk__core *s,
                                   const struct evzk__request *r);
bool evzk__request_answers_each(const struct evzk__request *r);
void evzk__request_answered(struct evzk__core *s, struct evzk__request *r,
                            unsigned part, const struct evzk__result *res);

#endif
