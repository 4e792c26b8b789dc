/* The lock's scenes: what a scene says, and what its parts share. */
#ifndef SIM_SCENE_LOCK_H
#define SIM_SCENE_LOCK_H

#include "evzk/election.h"
#include "evzk/lock.h"
#include "processes.h"
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

/* The life of a lock, or of a candidate of an election.  Times are in
 * milliseconds; 0 is never, where nothing else is said. */
struct lock_plan {
    int process;
    int start_ms; /* From the beginning; 0: another lock's end starts it. */
    int dir;      /* Its directory, of LOCK_PLACES. */
    int hold_ms;  /* From GRANTED to its release; 0: inside GRANTED. */
    int cancel_ms, free_ms; /* From its start. */
    int linger_ms;          /* From its final event until it is freed. */
    evzk_lock_mode mode;
    int downgrade_ms;    /* From GRANTED. */
    bool urgent, revoke; /* Has a priority; revokes less urgent ones. */
    bool revocable;
    bool yields; /* Is released when it is asked to let go. */
    uint8_t priority;
    uint32_t ageing, grace_ms;
    bool free_held;         /* Freed instead of released. */
    bool then_next;         /* Starts the next one, once it is freed. */
    bool next_when_granted; /* Starts the next one, inside GRANTED. */
    bool try_once, no_requeue, no_own_watch;
    bool hidden;        /* Nobody may read its znode. */
    bool own_acl;       /* Another ACL than the session's. */
    bool elect;         /* A candidate; then the scene's first one is, too. */
    int acknowledge_ms; /* From ELECTED; 0: inside it; below: never. */
    int acknowledge_again_ms; /* From ELECTED. */
    uint32_t timeout_ms;
};

/* Actions of others in a scene: of an operator, the servers, the network, or a
 * process besides its locks.  The target is in brackets. */
enum lock_action {
    LOCK_NO_ACTION,
    /* An operator */
    LOCK_DELETE_ZNODE,   /* deletes the znode of a lock [lock]; */
    LOCK_RESTORE_ZNODE,  /* makes a copy of a lock's deleted znode [lock]; */
    LOCK_WRITE_UNLOCK,   /* writes "unlock" to the znode of a lock [lock]; */
    LOCK_WRITE_OTHER,    /* writes other data to it [lock]; */
    LOCK_DELETE_DIR,     /* deletes a directory, if it is empty [dir]; */
    LOCK_MAKE_DIR,       /* makes it [dir]; */
    LOCK_DENY_CREATE,    /* lets nobody create in a directory [dir]; */
    LOCK_ALLOW_CREATE,   /* lets everybody do so again [dir]; */
    LOCK_DELETE_FOREIGN, /* deletes the contenders made by hand; */
    LOCK_MAKE_CHILD,     /* makes a child below each of those; */
    LOCK_DELETE_CHILD,   /* deletes it; */
    LOCK_FORGE_LEADER,   /* makes a leader znode that names nobody; */
    LOCK_DELETE_LEADER,  /* deletes the leader znode. */
    /* The servers and the network */
    LOCK_EXPIRE,        /* end the session [process]; */
    LOCK_DISCONNECT,    /* cut the connection; no server is there for 0.2 s; */
    LOCK_PARTITION,     /* pass nothing, either way, for 0.9 s; */
    LOCK_DELAY_REPLIES, /* hold what it is sent for 0.28 s; */
    LOCK_CUT_FOLLOWER,  /* cut its follower from the leader; no other is there;
                         */
    LOCK_REFUSE_WRITES, /* refuse its next hundred writes, for the moment; */
    LOCK_STALL,         /* hold replies, and answer no sync before its lease is
                           over. */
    /* A process [process] */
    LOCK_CLOSE_SESSION,
    LOCK_QUERY,   /* looks up the contenders in the first directory; */
    LOCK_REVOKE,  /* revokes there, as the scene says; */
    LOCK_OBSERVE, /* observes the election there. */
};

/* A leader znode that is there at first, and no session's. */
enum lock_leader_there {
    LOCK_NO_LEADER,
    LOCK_LEADER,       /* With other data. */
    LOCK_LEADER_LIKE,  /* With a candidate that is not there. */
    LOCK_LEADER_HAND,  /* With a contender made by hand as its candidate. */
    LOCK_LEADER_PARENT /* With other data, and a child. */
};

struct lock_revoke_plan {
    evzk_lock_mode mode;
    uint8_t priority;
    bool remove;
    uint32_t grace_ms, timeout_ms;
};

#define LOCK_DIR(place) (1U << (place))
#define LOCK_ABOVE LOCK_DIR(LOCK_PLACES) /* Above the directories. */

struct lock_scene {
    struct lock_plan locks[LOCK_PLANS];
    struct {
        enum lock_action action;
        int at_ms;
        union {
            int which;
            int process, dir; /* To whom, or where. */
            int lock; /* Counted from 0, in the order in which they start. */
        };
    } actions[LOCK_ACTIONS];
    struct lock_revoke_plan revoke;
    int server[SIM_PROCS]; /* The server that a process is first with. */
    evzk_dialect dialect;  /* Of all locks and candidates. */
    const char *chroot;
    bool make_chroot;
    bool rootless; /* The chroot is missing, and nobody makes it. */
    /* At the beginning */
    bool dir_exists;     /* the first directory, and what is above, is there; */
    bool above_exists;   /* what is above the directories is there; */
    unsigned more_exist; /* these directories are there: LOCK_DIR()s; */
    unsigned deny_create; /* these, too, and nobody may create in them; */
    bool foreign; /* a contender made by hand is there, and other children; */
    enum lock_leader_there leader; /* a leader znode made by hand is there. */
    bool nested; /* The third directory is above the others. */
    bool deep;   /* Several levels are above them, all of them missing. */
    int32_t first_number;   /* Of the sequence numbers; 0: they begin at 0. */
    bool numbers_end;       /* Numbers end as in 3.8.0; else they wrap. */
    int32_t server_tick_ms; /* 0: 100. */
    uint32_t rivals;        /* So often others come and go in a directory. */
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
    bool denied;       /* Was granted, and is not held any more. */
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
    int16_t slot; /* Its lock; -1: foreign. */
    bool live, seen;
    int64_t place;
    bool shares, waits; /* Waits by priority. */
    bool common;        /* Named as Curator's mutex names its own... */
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
    bool broken;            /* Another client deleted it. */
    bool removed;           /* A revocation deleted it. */
    int64_t again, by_hand; /* Asked once more; written to by the scene. */
};

/* A leader znode of a run, as it was seen in the true tree. */
struct lock_leader {
    int64_t czxid, mzxid, owner, place;
    uint64_t epoch, node; /* Epoch 0: is not of this form.  Node: a hash. */
    uint64_t said;        /* A hash, too. */
    int64_t slot, nth;    /* Its lock, the nth that it says; -1: none. */
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
    int64_t unasked[SIM_PROCS]; /* Revocations that ended for want of memory. */
    struct lock_node node[LOCK_NODES];
    int64_t nodes, changes, looked; /* Of the tree; the zxid seen last. */
    struct {
        uint64_t born;    /* The connection; 0: none. */
        int64_t applied;  /* What its server had, when it was made. */
        int64_t since;    /* When. */
        int64_t proposed; /* The zxids on the way then. */
        int64_t count;    /* So many, with it. */
    } conn[SIM_PROCS];
    struct lock_place {
        uint64_t last_token, last_alone; /* Of all, and of those not shared. */
        int64_t deaths, wakes;    /* Contenders gone; waiters that looked. */
        int64_t concerned;        /* Waiters that those who went were before. */
        int64_t touched, late;    /* Told to look; or not, and look in vain. */
        int64_t broken;           /* Of those gone, deleted by another. */
        int64_t again[SIM_PROCS]; /* Waiters that looked, for any reason. */
        bool denied; /* An action has let nobody create in it, for a while. */
    } place[LOCK_PLACES];
    struct lock_dir {
        int64_t czxid, mzxid; /* Of one that is not the library's, or 0. */
        bool soiled;          /* Need not go with its locks. */
        bool made;            /* Was there once. */
        int64_t by_hand;      /* When an operator made it. */
    } dir[LOCK_PLACES + 1];   /* And what is above. */
    int64_t rough; /* Until then something was done to servers or network. */
    int64_t second, asked; /* Requests in the present second: its end, .. */
};
/* Lists of scenes. */
extern const struct sim_scenes lock_many_scenes, lock_shared_scenes,
    lock_priority_scenes;

extern struct lock_world lock_world;
static inline int lock_index(const struct lock_slot *k)
{
    return (int)(k - lock_world.slot);
}
static inline const struct process *lock_process(const struct lock_slot *k)
{
    return process_of((int)k->proc);
}

/* scene_lock.c */
void lock_begin(const struct sim_scene *sc);
bool lock_done(void);
bool lock_start(int proc, const struct lock_plan *plan);
void lock_release(struct lock_slot *k);
void lock_cancel(struct lock_slot *k);
void lock_take_lease(struct lock_slot *k); /* Inside GRANTED. */
void lock_free(struct lock_slot *k);
void lock_downgrade(struct lock_slot *k);
/* The events of its callback; `which` is what called. */
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
void lock_acknowledge_set(struct lock_slot *k); /* When elected. */
void lock_acknowledge_end(struct lock_slot *k); /* When freed. */
void lock_leader_begin(void);
extern const char *const lock_election_calls[];
bool lock_election_call(int proc, unsigned which);

/* scene_election_rules.c */
void lock_election_look(void); /* Brings the leader znodes up to date. */
void lock_election_check(struct lock_slot *k);
void lock_told_leading(struct lock_slot *k, int rc);
/* The leader there, in truth; NULL: none. */
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
void lock_observers_owe(int proc, struct sim_debt *debt);
void lock_observers_traced(int proc, const evzk_trace *t);

/* scene_lock_told.c */
/* Is it first of all that are there, but for what nobody can help? */
const struct lock_node *lock_one_before(const struct lock_node *own);
/* Of another library, and there before its own: that one does not wait. */
void lock_check_alone(const struct lock_slot *k, const char *what);
bool lock_denied(int64_t place); /* May NOAUTH be told to anybody there? */
void lock_told(struct lock_slot *k, evzk_lock_event ev, int rc);

/* scene_lock_rules.c */
/* Its end could not be foreseen. */
bool lock_is_excused(const struct lock_slot *k);
/* What other threads see is what this one sees. */
void lock_check_view(const struct lock_slot *k);
/* Is true for longer than anybody may take to notice. */
bool lock_lasts(const struct lock_slot *k, int64_t *since, bool is,
                int64_t most);
void lock_leases(int proc);
void lock_check(void);
void lock_owes(int proc, struct sim_debt *debt);
void lock_check_end(void);

/* scene_lock_names.c */
/* What a name says; the rest is zero.  False: of no contender. */
bool lock_read_name(const char *name, struct lock_node *n);
bool lock_foreign_name(const char *name); /* Of a contender, not for evzk. */
bool lock_bars(const struct lock_node *a, const struct lock_node *b);
/* Does it wait for none that is named as `common` says? */
bool lock_stranger(const struct lock_node *n, bool common);
bool lock_before(const struct lock_node *a, const struct lock_node *b);

/* scene_lock_tree.c */
int64_t lock_concerned(const struct lock_node *gone); /* Those it barred. */
void lock_look(void);                            /* Brings `node` up to date. */
bool lock_was_broken(const struct lock_slot *k); /* A znode that it had. */
/* The znode that an operator made this copy of; NULL: it is none. */
const struct lock_node *lock_original(const struct lock_node *n);
/* An operator put it in the place of a lock's; and that lock's process had
 * connected since, and was to have looked, when it sent this transaction. */
bool lock_is_copy(const struct lock_node *n);
bool lock_knows_copy(const struct lock_node *n, int64_t zxid);
bool lock_is_leaving(const struct lock_slot *k); /* Deletes its znode. */
bool lock_is_waiting(
    const struct lock_slot *k); /* In the queue or by priority. */
bool lock_state_lists(const char *state);
bool lock_state_waits(const char *state);
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
/* Nobody is in its way any more, or it was canceled. */
bool lock_revoke_is_due(int proc);
bool lock_revoking(int proc); /* -1: anybody. */
void lock_revoke_check(void);
bool lock_revoke_cancel(int proc);
bool lock_revoke_free(int proc);
/* Was this one, which has gone, deleted by one that may? */
bool lock_removed(const struct lock_node *n);
bool lock_removing(void); /* Might one have been? */

#endif
