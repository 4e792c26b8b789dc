/* The request layer: what machines ask of the server, and how it gets there.
 *
 * A request may be compound (create and list, in one trip); its owner sees one
 * reply.  Requests wait in queues by urgency until the flow window has room;
 * the session sends them once a turn of the loop: creates and deletes together,
 * as one transaction (request/transaction.h), and one listing, or one read of a
 * znode, for all who may use it (request/shared_read.h).  A request is embedded
 * in its owner and goes through it again and again: asking takes no memory. */
#ifndef EVZK_REQUEST_H
#define EVZK_REQUEST_H

#include <sys/queue.h>

#include "lib/client/client.h"
#include "lib/request/dir.h"
#include "lib/request/step.h"

/* In the order in which they are sent.  Steps that a recipe puts together
 * (request/step.h) are one of five: SOON goes before listings; reads of many
 * znodes, which go out bit by bit, are finished before others begin; writes go
 * before reads. */
enum evzk__op {
    EVZK__SYNC,   /* Asks the leader whether the session is alive. */
    EVZK__DELETE, /* Deletes <dir>/<name>, <also>, and <dir> if we made it. */
    EVZK__SOON_WRITES, /* Steps. */
    EVZK__LEFT_WRITES, /* The same, of machines that have ended; also sent
                          while the session is being closed. */
    EVZK__UNWATCH,     /* Takes the watch off <dir>/<name>, if unused. */
    EVZK__PARENTS, /* Makes missing parents of <dir>; with a name, <dir> too. */
    EVZK__MKDIR,   /* Makes <dir> alone. */
    EVZK__RMDIR,   /* Deletes <dir>, if it is empty. */
    EVZK__SWAP,    /* Deletes <dir>/<old>, and creates another in its place;
                      or creates one while <own> is there. */
    EVZK__SOON_READS,  /* Steps. */
    EVZK__LIST,        /* Children of <dir>; shared. */
    EVZK__SYNC_LIST,   /* The same, as the leader knows it now. */
    EVZK__SETTLE_LIST, /* The same, after all that this session ever wrote. */
    EVZK__WATCH,       /* Reads `own` and `pred`, and sets watches on them. */
    EVZK__LOOK,        /* Looks at a path that is watched: request/look.h. */
    EVZK__WRITES,      /* Steps. */
    EVZK__EACH_READS,  /* Steps, with a reply for each. */
    EVZK__READS,       /* Steps. */
    EVZK__CREATE_LIST, /* Creates <dir>/<name><seq>, <dir> too if need be; then
                          children of <dir>, if we may be the only one. */
    EVZK__BATCH,       /* Several requests, in one transaction; never queued. */
    EVZK__OPS
};

enum evzk__request_state {
    EVZK__IDLE,
    EVZK__QUEUED,
    EVZK__WAITING, /* Another request makes the same parents. */
    EVZK__JOINED,  /* Another request lists the same directory, or reads the
                      same znode. */
    EVZK__SENT
};

/* Kept of the first part's answer. */
struct evzk__first {
    int64_t czxid;
    bool ours;       /* The present session owns it. */
    bool told;       /* Its data is EVZK__UNLOCK, .. */
    int32_t version; /* .. and the version of its data. */
};

/* Written to a contender's znode, this asks the contender to let go. */
#define EVZK__UNLOCK "unlock"

/* Replaces a znode by another.  The asking machine keeps it until the reply. */
struct evzk__swap {
    const char *guard; /* Only if this znode exists; NULL: in any case. */
    const char *old;   /* The znode to delete; NULL: none. */
    char *created;     /* Gets the number added, if `numbered`. */
    const void *data;
    uint32_t len, acl_count;
    const evzk_acl *acl;
    bool numbered;
    int64_t version; /* Of the old znode; or EVZK__ANY_VERSION. */
};

/* One reply.  Its pointers are borrowed for the call. */
struct evzk__reply {
    int rc; /* Of the last part. */
    /* Of the first part of a compound request; of steps with EVZK__EACH, the
     * error of a step that was lost on the way. */
    int first_rc;
    struct evzk__first first; /* What the first part read. */
    unsigned part;            /* Which step; `last`: no other reply follows. */
    bool last;
    bool listed; /* CREATE_LIST: the children were listed, too. */
    const struct evzk__result *res; /* Of the last part. */
};

struct evzk__watch;
TAILQ_HEAD(evzk__request_queue, evzk__request);
LIST_HEAD(evzk__followers, evzk__request);

/* The flags say how the request was asked, where it waits, what was learnt
 * while it was sent, and what the first answer said.  Each changes without the
 * others.  They are bits, since ten thousand requests may wait at once. */
struct evzk__request {
    union {
        TAILQ_ENTRY(evzk__request) link;
        LIST_ENTRY(evzk__request) follow; /* STEPS, JOINED. */
    };
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
            union {
                char *const *names; /* The first step, for each name. */
                struct evzk__followers followers; /* Of the same read. */
            };
            uint32_t n;
            bool for_each_name;
            bool each : 1; /* As they were asked, EVZK__EACH, .. */
            bool commit : 1;
            bool stamp : 1;
            bool join : 1;
            bool proved : 1;
            bool behind : 1; /* Another request's sync goes before it. */
            bool absent : 1; /* The last step's znode did not exist. */
        };
        struct {               /* LOOK: `name` is a whole path */
            bool sets_watch;   /* On a znode that did not exist. */
            bool leaves_watch; /* That watch is to be taken off. */
        };
        struct evzk__swap *swap;               /* SWAP */
        const char *also;                      /* DELETE: or NULL. */
        struct {                               /* LIST */
            struct evzk__request_queue joined; /* Requests that share it. */
            struct evzk__request *leader; /* JOINED: the request that lists. */
        };
    };
    union {
        int64_t czxid;              /* Of the first part's answer. */
        struct evzk__request *like; /* Before: see request/shared_read.c. */
    };
    uint32_t parts, sent, answered;
    union {
        int32_t version; /* The same. */
        uint32_t hash;
    };
    int8_t first_rc, last_rc;
    /* See request/suspect.c: like which request it was lost, and how often;
     * `others` of its owner were lost since. */
    uint16_t died_as : 15;
    uint16_t parked : 1; /* In its directory's line, in no queue. */
    uint8_t losses : 3;  /* Connections that ended during it, in a row. */
    uint8_t blamed : 1;  /* The last of them since it was sent. */
    uint8_t held : 1;    /* In the queue `suspects`. */
    uint8_t others : 3;
    uint8_t op : 5;
    uint8_t state : 3;
    uint8_t released : 2; /* By suspect.c: so often since it was answered. */
    uint8_t tries : 4; /* Times it was sent anew, after an answer; most 15. */
    uint8_t keeps_dir : 1; /* CREATE_LIST, DELETE: others use the directory,
                              which is not made or deleted with it. */
    uint8_t bulk : 1;  /* CREATE_LIST: of many, see request/transaction.c. */
    uint8_t told : 1;  /* Data read first was EVZK__UNLOCK. */
    bool ours : 1;     /* Our session owns the znode read first. */
    bool plain : 1;    /* MKDIR, PARENTS: never a container. */
    bool denied : 1;   /* Has no right to make its directory. */
    bool with_dir : 1; /* In a transaction: makes, or deletes, its directory,
                          too. */
    bool cut : 1;      /* This request ends its transaction. */
    bool given_up : 1; /* The owner does not need it any more. */
    bool back : 1;     /* In the queue `back`. */
};

#define EVZK__OP_MASK 31U
#define EVZK__LIKENESS_MASK 0x7fffU
_Static_assert(EVZK__OPS <= EVZK__OP_MASK + 1, "they fit into five bits");

struct evzk__batch;
LIST_HEAD(evzk__batches, evzk__batch);

enum { EVZK__READ_SLOTS = 1024, EVZK__LOST_READS = 8 };

/* A read that was lost, and that its machine asks for no more: see
 * request/suspect.c. */
struct evzk__lost_read {
    uint32_t key;         /* A hash of what was read. */
    uint8_t losses : 3;   /* 0: a machine goes on with the count. */
    uint8_t released : 2; /* By suspect.c, so often. */
    int64_t barred_until; /* Until then it is not sent. */
};

struct evzk__requests {
    struct evzk__request_queue queue[EVZK__OPS];   /* Urgent ones first. */
    struct evzk__request *reads[EVZK__READ_SLOTS]; /* In the queues, by path. */
    /* Creates to be sent again, since their directory was missing.  Only the
     * first create of each directory is in a queue: see request/create_order.c.
     */
    struct evzk__request_queue back;
    struct evzk__request_queue suspects; /* See request/suspect.c. */
    struct evzk__request *alone;  /* The suspect that is being sent, or NULL. */
    int64_t alone_at;             /* Until then all others go first. */
    uint32_t trusted, to_release; /* Suspects that are trusted again. */
    struct evzk__lost_read lost_reads[EVZK__LOST_READS]; /* The last ones. */
    uint8_t next_lost_read;
    bool heard;                   /* This connection has answered something. */
    uint32_t tickets;             /* Drawn by contenders, as they asked. */
    struct evzk__batches batches; /* In flight. */
    uint32_t queued, in_flight, n_batches;
    struct evzk__request nobody; /* Its answers are of no interest. */
    uint16_t fresh;   /* How often directories are found missing, of 65535. */
    uint16_t emptied; /* How often ours are empty when we leave, likewise. */
    uint8_t put_off;  /* Turns for which listings waited for others to join. */
    bool synced; /* A sync went out that later requests of this turn share. */
    int16_t sync_rc;    /* The result of the last such sync. */
    uint16_t synced_no; /* The connection of the last such sync that worked. */
    char path[2][8704]; /* Room to put paths together. */
};

struct evzk__core;

void evzk__requests_init(struct evzk__requests *q);

/* Puts a request into its queue; `done` is called later, never from here. */
void evzk__request_submit(struct evzk__core *s, struct evzk__request *r);

/* Puts a request back to the head of its queue, when its transaction was not
 * done.
 */
void evzk__request_again(struct evzk__core *s, struct evzk__request *r);

/* Takes it out of its queue, to be sent with all its parts. */
void evzk__request_take(struct evzk__core *s, struct evzk__request *r);

/* Takes a request back that was not sent.  False: it was sent, or is idle.  If
 * it goes out bit by bit, no more of it is sent. */
bool evzk__request_cancel(struct evzk__core *s, struct evzk__request *r);

/* The watch that `unwatch` is about was lost with its connection. */
void evzk__request_no_unwatch(struct evzk__request *r);

/* The connection was lost, and the request waits in its queue: answers it with
 * EVZK_ERR_CONNLOSS if it must not be sent by another connection. */
void evzk__request_cut(struct evzk__core *s, struct evzk__request *r);

/* Sends requests while the window has room, until `deadline_us`; while machines
 * are being told of a change, only the lease's sync.  True: there is more to
 * send, and room for it. */
bool evzk__requests_flush(struct evzk__core *s, int64_t deadline_us);

/* The connection is lost: everything in flight is answered with CONNLOSS. */
void evzk__requests_lost(struct evzk__core *s, struct evzk__client *c);

/* The answers are not needed any more. */
void evzk__requests_forget(struct evzk__client *c);

/* The client's hook. */
void evzk__request_completed(struct evzk__core *s, struct evzk__slot *slot,
                             const struct evzk__result *res);

/* Answers a request that is in no queue and not in flight by itself. */
void evzk__request_answer(struct evzk__core *s, struct evzk__request *r,
                          const struct evzk__result *res);
void evzk__request_answer_rc(struct evzk__core *s, struct evzk__request *r,
                             int rc);

/* Sends the first request of a queue, together with those behind it that may go
 * in the same transaction. */
void evzk__batch_send(struct evzk__core *s, struct evzk__request *first);

/* For send.c and answer.c: the queues of request.c.  `enqueue` puts a request
 * into its queue, or has it join another that waits for the same answer. */
void evzk__request_enqueue(struct evzk__core *s, struct evzk__request *r,
                           bool first);
void evzk__request_count_try(struct evzk__request *r);
void evzk__request_put(struct evzk__core *s, struct evzk__request *r,
                       bool first);
void evzk__request_unqueue(struct evzk__core *s, struct evzk__request *r);
void evzk__request_count_parts(struct evzk__request *r);
bool evzk__request_goes_bit_by_bit(const struct evzk__core *s,
                                   const struct evzk__request *r);
bool evzk__request_answers_each(const struct evzk__request *r);
/* answer.c: one part was answered. */
void evzk__request_part_answered(struct evzk__core *s, struct evzk__request *r,
                                 unsigned part, const struct evzk__result *res);

#endif
