/* Consumers of one queue, and their rules: what the files share.
 *
 *   scene_consumer.c         what the processes do
 *   scene_consumer_acts.c    what operators, servers and the network do
 *   scene_consumer_tree.c    what the tree says, and its rules
 *   scene_consumer_told.c    rules for what consumers are told
 *   scene_consumer_rules.c   rules for all else, after each step
 *   scene_consumer_list.c    the scenes
 */
#ifndef SIM_SCENE_CONSUMER_H
#define SIM_SCENE_CONSUMER_H

#include "ens.h"
#include "evzk/consumer.h"
#include "faults.h"
#include "processes.h"
#include "scene.h"
#include "steps.h"

enum { CONSUMERS = 3, ITEMS = 12, SEGMENTS = 4, ACTS = 4 };

struct consumer_plan {
    bool on;
    int proc;
    bool claimed;
    uint32_t prefetch, max_deliveries;
    uint32_t max, takes, timeout_ms; /* Of each take; 0: 1 at a time, for ever,
                                        1 take. */
    int start_us, work_us, close_us; /* 0: when all takes are over. */
    int free_us, cancel_us;          /* 0: never. */
    bool drains;                     /* Closes when all items have gone. */
    bool always_gives_back;
    bool ends_at_once; /* Closes in the callback of its first item. */
    int gives_back;    /* The item that is given back, from 1; 0: none. */
};

/* An item, which is put at that time; 0: it is there from the beginning. */
struct item_plan {
    uint32_t priority, segment;
    int seq; /* From 1; 0: no item. */
    int put_us;
    bool ephemeral;
};

struct segment_plan {
    uint32_t priority, number;
    bool on, open;
};

/* What an operator does. */
enum act_kind {
    NO_ACT,
    DELETE_ITEM,
    DELETE_CLAIM,
    DELETE_RECEIPT,
    DELETE_ALIVE,
    DELETE_SIGNAL,
    DELETE_QUEUE,
    HIDE_ITEM,    /* The item may not be read. */
    DENY_COUNT,   /* Nothing may be made below it. */
    CHILD,        /* Something is made below it; */
    CHILDLESS,    /* and goes. */
    SHOW_ITEM,    /* All may be done to it again. */
    DENY_DEAD,    /* No dead letter may be made. */
    SHOW_DEAD,    /* But now they may. */
    HIDE_QUEUE,   /* The queue may not be listed. */
    HIDE_SEGMENT, /* The item's. */
    HOLD_SEGMENT, /* Nothing may be deleted in the item's. */
    DENY_SEGMENT, /* Nothing may be made there. */
    SHOW_SEGMENT, /* All may be done to it again. */
    EXPIRE,
    CLOSE_SESSION,
    FOREIGN_TAKES, /* Another program takes the item. */
    FOREIGN_CHILD, /* And something else is in the queue. */
    CURATOR_ITEM,  /* Or an item of Curator's queue; */
    KAZOO_ITEM,    /* or of Kazoo's. */
    COPY_DEAD,     /* Dead letters are copied, znode by znode. */
    FILL,          /* A quota is used up, for so many ms. */
    CUT,
    FREEZE
};
struct act_plan {
    enum act_kind kind;
    int at_us, which; /* The item, or the process. */
};

struct consumer_scene {
    struct consumer_plan consumer[CONSUMERS];
    struct item_plan item[ITEMS];
    struct segment_plan segment[SEGMENTS];
    struct act_plan act[ACTS];
    const char *chroot;
    evzk_queue_layout layout;
    bool buries;    /* Items may become dead letters. */
    bool refuses;   /* Each take gets something, or is refused. */
    bool no_queue;  /* The queue does not exist at first. */
    bool no_signal; /* Nor does the signal. */
    bool tidies;    /* Killed clients have left receipts. */
};

/* What a consumer's program knows. */
struct consumer_slot {
    evzk_consumer *c;
    int64_t planned, takes; /* Not begun yet; takes that were begun. */
    int64_t session_of[ITEMS];
    evzk_item *held[ITEMS];
    bool finish[ITEMS], give[ITEMS]; /* As it has asked. */
    bool taking, got, canceled, closing, over;
    bool gave;     /* The plan's item was given back. */
    int64_t begun; /* Its take; 0: none. */
};

/* An item, and its fate. */
struct truth {
    int64_t czxid, mzxid;       /* 0: it is not there now. */
    int64_t claim, claim_czxid; /* The session that has claimed it. */
    uint32_t claims;            /* So often it was claimed. */
    uint64_t unheard; /* What consumers hear when its claim went, and they did
                         not hear of that; or 0. */
    uint64_t token;   /* Of the newest claim that was delivered. */
    bool put, gone, operated; /* Deleted, and by an operator. */
    bool delivered, finished, dead;
    bool doubted; /* LOST was told, since nobody knows what became of it. */
    bool lost;    /* Removed, and its consumer has gone. */
    bool left;    /* LOST with CLOSED: its claim goes with its session. */
    bool buried;  /* There was a dead letter when it went. */
    int64_t finish_asked; /* By how many. */
    uint32_t before;    /* Free items before it, when it was first seen free. */
    bool seen_free;     /* In this turn. */
    bool bad;           /* Nobody can finish it, as it is now. */
    uint32_t was_bad;   /* So often; what others make below it counts, too. */
    uint32_t rewritten; /* So often by faults, which counts, or takes back. */
    bool was_fixed;     /* For a while it could not be written to. */
    int64_t good_since; /* After it was bad. */
};

struct consumer_world {
    const struct consumer_scene *own;
    uint64_t heard; /* What consumers hear, at the last look. */
    struct consumer_slot p[CONSUMERS];
    struct truth t[ITEMS];
    int64_t turn;           /* The czxid of the lock's first znode. */
    int64_t turn_owner;     /* And its session. */
    uint32_t taken;         /* In this turn. */
    uint64_t moves;         /* Items that were taken, or that went, so far. */
    int64_t looked;         /* The newest zxid when the rules saw the tree. */
    bool early[SIM_PROCS];  /* Its session was closed too soon. */
    bool freed[SIM_PROCS];  /* A consumer of it was. */
    bool unsaid[SIM_PROCS]; /* What a removal had done: its session was closed
                               before that was asked, or servers refused. */
    bool idle[SIM_PROCS];
    bool refused[CONSUMERS];   /* A take; or gave back: it is about to fail. */
    bool meddled;              /* An operator has deleted what is ours; */
    bool foreign;              /* Another library's item is in the queue. */
    bool claims_meddled;       /* or a claim, or has replaced it. */
    int64_t listed[SIM_PROCS]; /* When the one with the turn had listed. */
    int64_t patience[SIM_PROCS];
    /* Segments, when it began to delete some: those that were empty; all. */
    uint32_t empty[SIM_PROCS], there[SIM_PROCS];
    uint32_t deliveries[ITEMS];
    uint32_t untold[ITEMS];          /* So many of those that are counted. */
    uint8_t aside[CONSUMERS][ITEMS]; /* So often it was told. */
    /* So often others had the item before it was told last. */
    uint32_t aside_claims[CONSUMERS][ITEMS];
};
extern struct consumer_world queue;

/* scene_consumer_tree.c */
void consumer_traced(int proc, const evzk_trace *t);
const char *queue_path(const char *rest);
const char *side_path(const char *rest);
const char *item_path(int i);
/* Of the first claim; of none, if there is none. */
const char *claim_path(int i);
int consumer_proc(int k);
int64_t consumer_session(int proc); /* The newest of the process; 0: none. */
bool consumer_claims(int k);
bool consumer_item_is_free(int i);
/* And consumers have heard so: `signal` was written, or a consumer has gone. */
bool consumer_item_is_known_free(int i);
bool consumer_item_is_buried(int i);
/* Items that the operator has put in the way count as never there. */
bool consumer_item_meddled(int i);
/* Nobody can take it, or consumers need not have noticed yet that one can. */
bool consumer_item_is_bad(int i);
/* A claim that its session has, and that it may delete. */
bool consumer_may_free(int i, int64_t session);
void consumer_look(void); /* What the tree says now. */

/* scene_consumer_told.c: notes an event that was told, and checks it. */
void rules_item(int k, const evzk_item *item, int i);
void rules_dead(int k, const evzk_item *item, int i);
void rules_ended(int k, int i, evzk_consumer_event event, int rc);
/* Of this number and priority; -1: there is none. */
int consumer_item_of(const evzk_item *item);
void rules_aside(int k, int rc, const evzk_item *item);
void rules_taken(int k, int rc);
void rules_over(int k, evzk_consumer_event event, int rc);

/* scene_consumer_rules.c */
void consumer_check(void);
void consumer_owes(int proc, struct sim_debt *debt);
void consumer_check_end(void);

/* scene_consumer_acts.c */
void consumer_acts_begin(void);
/* Receipts that stood a day before: of two producers and a consumer that were
 * killed, and of a consumer that lives; and that of a producer which was killed
 * just now. */
void consumer_leave_receipts(void);
bool consumer_any_old_receipt(void);     /* Of the three that are to go. */
bool consumer_is_left(const char *name); /* Another one of these. */

/* scene_consumer.c */
void consumer_begin(const struct sim_scene *sc);
bool consumer_done(void);
bool consumer_call(int proc, unsigned which);
extern const char *const consumer_calls[];

#endif
