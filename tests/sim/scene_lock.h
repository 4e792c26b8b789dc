/* The lock's scenes: what a scene says, and what its parts share. */
#ifndef SIM_SCENE_LOCK_H
#define SIM_SCENE_LOCK_H

#include "evzk/election.h"
#include "evzk/lock.h"
#include "scene.h"
#include "world.h"

enum {
    LOCK_ACTIONS = 4, /* What others do in it. */
    LOCK_PLANS = 7,   /* Locks that a scene starts by itself. */
    LOCK_PLACES = 3,  /* Directories that they may be in. */
    LOCK_SLOTS = 10,  /* And those that the explorer adds. */
    LOCK_NODES = 48,  /* Contenders seen in the tree, in all of a run. */
    LOCK_QUERIES = 4, /* Look-ups at a time. */
    LOCK_REVOKES = 4, /* Revocations, in all of a run. */
    LOCK_TIMEOUT_MS = 1000
};

/* One lock; the times are in milliseconds, 0 in *_ms is never but for hold. */
struct lock_plan {
    int proc, start_ms;
    int place;              /* Its directory. */
    int hold_ms;            /* From GRANTED to release; 0: at once, inside. */
    int cancel_ms, free_ms; /* From its start. */
    int linger_ms;          /* From its final event until it is freed. */
    evzk_lock_mode mode;
    int down_ms;         /* Downgraded, from GRANTED; 0: not. */
    bool urgent, revoke; /* It has a priority; it asks those with less. */
    bool revocable;
    bool yields; /* Lets go when it is asked to. */
    uint8_t priority;
    uint32_t ageing, grace_ms;
    bool free_held;    /* Freed, not released. */
    bool again;        /* The next plan, when it has ended and is freed. */
    bool again_inside; /* The same, inside GRANTED, when it is let go. */
    bool try_once, no_requeue, no_own_watch, hidden;
    bool own_acl; /* One that is not the session's. */
    bool elect;   /* It stands in an election; so does a scene's first one. */
    int ready_ms; /* Acknowledged, from ELECTED; 0: inside; below: never. */
    int again_ms; /* Once more. */
    uint32_t timeout_ms;
};

enum lock_action {
    LOCK_NO_ACTION,
    LOCK_BREAK,     /* An operator deletes the znode of lock `which`. */
    LOCK_EXPIRE,    /* The servers end the session of process `which`. */
    LOCK_CLEAR,     /* An operator deletes the foreign contender. */
    LOCK_DOUBT,     /* Process `which` hears nothing for a while, and no sync is
                       answered until its lease is over. */
    LOCK_ASK,       /* Process `which` looks up who contends. */
    LOCK_AWAY,      /* It is cut, and finds no server for a while. */
    LOCK_SILENCE,   /* Nothing of it gets through for a while, either way. */
    LOCK_LATE,      /* It hears nothing for a short while. */
    LOCK_OFF,       /* Its follower is cut off, and no other is there. */
    LOCK_CLOSE,     /* It closes its session. */
    LOCK_REMOVE,    /* An operator deletes the directory `which`, if empty. */
    LOCK_MAKE,      /* He makes it. */
    LOCK_REVOKE,    /* Process `which` revokes, as the scene says. */
    LOCK_UNLOCK,    /* Somebody writes "unlock" to the znode of lock `which`. */
    LOCK_CHILD,     /* A foreign contender gets a child. */
    LOCK_CHILDLESS, /* That one goes. */
    LOCK_SCRIBBLE,  /* Somebody writes something else. */
    LOCK_OBSERVE,   /* Process `which` observes who leads in the first place. */
    LOCK_SEAT,      /* He makes one there, of nobody, with the newest epoch. */
    LOCK_UNSEAT,    /* An operator deletes the leader znode there. */
    LOCK_RESTORE    /* He puts a copy of what lock `which` had, and has gone. */
};

/* A leader znode that is there at first, and no session's. */
enum lock_leader_there {
    LOCK_NO_LEADER,
    LOCK_LEADER,       /* It says something else. */
    LOCK_LEADER_LIKE,  /* It names nobody, with the last epoch of all. */
    LOCK_LEADER_HAND,  /* It names the foreign contender. */
    LOCK_LEADER_PARENT /* It has a child. */
};

struct lock_revoke_plan {
    evzk_lock_mode mode;
    uint8_t priority;
    bool remove;
    uint32_t grace_ms, timeout_ms;
};

struct lock_scene {
    struct lock_plan plan[LOCK_PLANS];
    struct {
        enum lock_action action;
        int at_ms, which;
    } action[LOCK_ACTIONS];
    struct lock_revoke_plan revoke;
    int route[SIM_PROCS]; /* The server that a process is with at first. */
    const char *chroot;
    bool make_chroot;
    bool rootless;   /* The chroot is missing: nothing can be had. */
    bool parents;    /* The first directory is there at first. */
    bool top;        /* What is above the directories is. */
    unsigned there;  /* These directories are: a bit each. */
    unsigned denies; /* These are, and let nobody make anything; one bit more is
                        for what is above. */
    bool nested;     /* The third one is above the others. */
    bool deep;       /* Several levels are above them, and none is there. */
    enum lock_leader_there leader;
    bool foreign;       /* So are a contender that is nobody's, and others. */
    bool sequence, end; /* Numbers begin at `first`; 3.8.0's end of them. */
    int32_t first;
    int32_t tick_ms; /* Of the servers; 0: a hundred. */
};

/* One lock of a run; a slot is used once. */
struct lock_slot {
    evzk_lock *l;      /* NULL: not started, or freed. */
    evzk_election *e;  /* The same, of one that stands in an election. */
    evzk_lease *lease; /* Of its grant, for every second lock. */
    const struct lock_plan *plan;
    int64_t proc, place, began, session;
    uint64_t token;
    /* Since when; 0: is not. */
    int64_t lapse, doubt, orphan, missing, left, unsaid, pressing;
    int64_t let_go;    /* Asked to let go, freed, or told its end. */
    int64_t placed;    /* Has a place that it knows of, or a lock. */
    int64_t lease_end; /* As it was known after the last step. */
    bool lapsed;       /* The lease has ended since the grant. */
    bool denied;       /* It was granted, and is held no more. */
    uint64_t guid;     /* Of the znode it had, a hash; 0: it may change. */
    int64_t listing;   /* In LISTING its server had applied this; 0: is not. */
    int64_t looked;    /* The same, of the last one. */
    uint64_t listing_on;       /* By this connection. */
    int64_t trips;             /* To be granted in so many; 0: no matter. */
    int64_t asked_down, moved; /* Since when; the czxid of what came of it. */
    int64_t undone, unheard;   /* Since when. */
    int64_t revokes, heard;    /* Requests told; when the last was. */
    int64_t acked, acks;       /* Since when, until LEADING; so often. */
    int64_t unled;             /* Since when. */
    int64_t doubts;            /* For process_certain(). */
    bool used, granted, suspended, ended, told_down;
    bool leads;           /* LEADING was told. */
    bool release, cancel; /* Were asked for, with success. */
    bool handed;          /* By one of its session, at the last move. */
    bool freed, gone;     /* Its znode is proved gone. */
};

/* A contender's znode, as it was seen in the true tree. */
struct lock_node {
    uint64_t name, guid; /* Hashes; guid 0: it begins with none. */
    int64_t czxid, owner;
    int32_t seq;
    int16_t slot; /* Whose; -1: foreign. */
    bool live, seen;
    int64_t place;
    bool shares, waits; /* It waits in the room. */
    bool common;        /* It is named as Curator's mutex names its own... */
    bool mutex;         /* ... which this one is. */
    bool foreign;       /* Another library's, and no contender of ours. */
    uint8_t priority;
    int64_t handicap, born; /* The change of the tree at which it came. */
    int64_t passed;         /* By those that came later. */
    int64_t mzxid, asks;    /* Asked to let go so often. */
    int64_t asked;          /* Since when its data says so; 0: it does not. */
    int64_t first_asked;
    int64_t died; /* The change of the tree at which it was gone. */
    int64_t died_zxid, died_at;
    bool broken;            /* Another deleted it. */
    bool removed;           /* One that revokes did. */
    int64_t again, by_hand; /* Asked once more; written to by the scene. */
};

/* A leader znode of a run, as it was seen in the true tree. */
struct lock_leader {
    int64_t czxid, mzxid, owner, place;
    uint64_t epoch, node; /* Epoch 0: is not of this form.  Node: a hash. */
    uint64_t said;        /* A hash, too. */
    int64_t slot, nth;    /* Whose, the nth that it says; -1: nobody's. */
    int64_t died;         /* The change of the tree at which it was gone. */
    bool live, seen;
    bool changed; /* Another wrote that. */
};

struct lock_world {
    const struct lock_scene *sc;
    struct lock_slot slot[LOCK_SLOTS];
    int64_t slots, actions;     /* Used; still to be done. */
    int64_t planned[SIM_PROCS]; /* Locks still to be started. */
    bool idle[SIM_PROCS];       /* A timer is set to close its session. */
    struct lock_node node[LOCK_NODES];
    int64_t nodes, changes, looked; /* Of the tree; the zxid seen last. */
    struct {
        uint64_t born;    /* The connection; 0: none. */
        int64_t applied;  /* What its server had, when it was made. */
        int64_t since;    /* When. */
        int64_t proposed; /* What was on its way then. */
        int64_t count;    /* So many, with it. */
    } conn[SIM_PROCS];
    struct lock_place {
        uint64_t last_token, last_alone; /* Of all, and of those not shared. */
        int64_t deaths, wakes;    /* Contenders gone; waiters that looked. */
        int64_t concerned;        /* Waiters that those who went were before. */
        int64_t touched, late;    /* Told to look; or not, and look in vain. */
        int64_t broken;           /* Of those gone, deleted by another. */
        int64_t again[SIM_PROCS]; /* Waiters that looked, for any reason. */
    } place[LOCK_PLACES];
    struct lock_dir {
        int64_t czxid, mzxid; /* Of one that is not the library's, or 0. */
        bool soiled;          /* It need not go with the locks in it. */
    } dir[LOCK_PLACES + 1];   /* And what is above. */
    int64_t rough; /* Until then something was done to servers or network. */
    int64_t second, asked; /* Requests in the present second: its end, .. */
};
extern struct lock_world lock_world;

/* scene_lock.c */
void lock_begin(const struct sim_scene *sc);
bool lock_done(void);
bool lock_start(int proc, const struct lock_plan *plan);
void lock_release(struct lock_slot *k);
void lock_cancel(struct lock_slot *k);
void lock_take_lease(struct lock_slot *k); /* Inside GRANTED. */
void lock_free(struct lock_slot *k);
void lock_downgrade(struct lock_slot *k);
/* What its callback hears; `which` is what called. */
void lock_heard(struct lock_slot *k, evzk_lock_event ev, int rc);
void lock_maybe_close(int proc); /* When it has nothing left to do. */
extern const char *const lock_calls[];
bool lock_call(int proc, unsigned which);

/* scene_lock_actions.c */
void lock_actions_begin(void);

/* scene_lock_dirs.c */
const char *lock_dir(int place);     /* In the true tree. */
const char *lock_path(int place);    /* As the session names it. */
int lock_place_of(const char *path); /* As the session names it; -1. */
bool lock_rootless(void);            /* Its chroot is missing. */
void lock_dirs_begin(void);
void lock_dirs_started(struct lock_slot *k);
void lock_dirs_busy(int proc); /* Asks for something else, too. */
void lock_dirs_granted(const struct lock_slot *k);
void lock_dirs_placed(const struct lock_node *n); /* Seen for the first time. */
void lock_dirs_check(void);
void lock_dirs_check_end(void);
/* Nothing was done to the servers, the network or the process since. */
bool lock_calm(int proc, int64_t since);
void lock_rough(int ms); /* An action that lasts so long. */

/* scene_lock_seen.c */
void lock_seen_told(const struct lock_slot *k, evzk_lock_event ev);
void lock_seen_check(struct lock_slot *k); /* Of one that is used. */
void lock_seen_conns(void);
void lock_seen_granted(struct lock_slot *k);
bool lock_lapsed(const struct lock_slot *k); /* Its lease has ended. */
void lock_traced(int proc, const evzk_trace *t);

/* scene_election.c */
int lock_volunteer(struct lock_slot *k);
void lock_acknowledge(struct lock_slot *k);
void lock_acknowledge_set(struct lock_slot *k); /* It is elected. */
void lock_acknowledge_end(struct lock_slot *k); /* It is freed. */
void lock_leader_begin(void);
extern const char *const lock_election_calls[];
bool lock_election_call(int proc, unsigned which);

/* scene_election_rules.c */
void lock_election_look(void); /* Brings the leader znodes up to date. */
void lock_election_check(struct lock_slot *k);
void lock_told_leading(struct lock_slot *k, int rc);
/* Who leads there in truth; NULL: nobody. */
const struct lock_leader *lock_leader_of(int64_t place);
/* As an observer tells it; NULL: never was. */
const struct lock_leader *lock_leader_told(int64_t place, const evzk_leader *l);
const struct lock_node *lock_leader_node(const struct lock_leader *r);
void lock_unseat(int64_t place);
void lock_seat(int64_t place);

/* scene_observer.c */
bool lock_observe(int proc);
bool lock_observing(int proc); /* -1: anybody. */
bool lock_observe_free(int proc);
void lock_observers_look(void); /* The tree has changed. */
void lock_observers_check(void);
void lock_observers_traced(int proc, const evzk_trace *t);

/* scene_lock_rules.c */
/* Is it first of all that are there, but for what nobody can help? */
const struct lock_node *lock_one_before(const struct lock_node *own);
/* Of another library, and there before its own: that one does not wait. */
void lock_check_alone(const struct lock_slot *k, const char *what);
/* Is true for longer than anybody may take to notice. */
bool lock_lasts(const struct lock_slot *k, int64_t *since, bool is,
                int64_t most);
void lock_told(struct lock_slot *k, evzk_lock_event ev, int rc);
bool lock_denied(int64_t place); /* May NOAUTH be told to anybody there? */
void lock_leases(int proc);
void lock_check(void);
void lock_check_end(void);

/* scene_lock_tree.c */
uint64_t lock_hash(const char *s, size_t n);
bool lock_bars(const struct lock_node *a, const struct lock_node *b);
bool lock_foreign_name(const char *name); /* Of a contender, not for evzk. */
/* Does it wait for none that is named as `common` says? */
bool lock_stranger(const struct lock_node *n, bool common);
bool lock_before(const struct lock_node *a, const struct lock_node *b);
int64_t lock_concerned(const struct lock_node *gone); /* Whom it barred. */
void lock_look(void);                            /* Brings `node` up to date. */
bool lock_was_broken(const struct lock_slot *k); /* A znode that it had. */
/* The znode that an operator made this copy of; NULL: it is none. */
const struct lock_node *lock_original(const struct lock_node *n);
/* An operator put it in the place of a lock's; and that lock's process had
 * connected since, and was to have looked, when it sent this transaction. */
bool lock_is_copy(const struct lock_node *n);
bool lock_knows_copy(const struct lock_node *n, int64_t zxid);
bool lock_is_leaving(const struct lock_slot *k); /* It deletes its znode. */
const struct lock_node *lock_node_of(const struct lock_slot *k);
const struct lock_node *lock_node_named(const char *name);
/* As an operator would: deletes a node, or writes to it. */
void lock_break(const struct lock_node *n);
void lock_write(const struct lock_node *n, const char *data);
void lock_child(bool make); /* Of the foreign one. */

/* scene_lock_query.c */
bool lock_ask(int proc);
bool lock_asking(int proc);   /* -1: anybody. */
bool lock_ask_free(int proc); /* Gives a look-up up. */

/* scene_lock_revoke.c */
bool lock_revoke(int proc, const struct lock_revoke_plan *plan);
bool lock_revoking(int proc); /* -1: anybody. */
bool lock_revoke_cancel(int proc);
bool lock_revoke_free(int proc);
/* Was this one, which has gone, deleted by one that may? */
bool lock_removed(const struct lock_node *n);
bool lock_removing(void); /* Might one have been? */

extern const struct sim_recipe sim_lock, sim_lock_query, sim_lock_revoke,
    sim_election, sim_observer;

#endif
