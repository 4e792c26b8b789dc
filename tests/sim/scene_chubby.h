/* Scenes of Chubby's interface: what their processes do, and what is kept of
 * it.
 *
 *   scene_chubby.c          the processes and their handles
 *   scene_chubby_others.c   what operators and other programs do
 *   scene_chubby_refused.c  which calls are refused
 *   scene_chubby_told.c     what is told, against what is true
 *   scene_chubby_due.c      what is told at last
 *   scene_chubby_tree.c     the files and the locks in the tree
 *   scene_chubby_list.c     the scenes */
#ifndef SIM_SCENE_CHUBBY_H
#define SIM_SCENE_CHUBBY_H

#include <stdbool.h>
#include <stdint.h>

#include "evzk/chubby.h"
#include "scene.h"
#include "world.h"

enum { MARK_MS = 300 };
enum { HANDLES = 4, DOES = 8, OPS = 32, FILES = 3, STATES_SEEN = 24 };
enum { CAME = 16 };

/* What a handle does, some time after the scene's begin. */
enum chubby_act {
    ACT_NONE,
    ACT_GET,
    ACT_GET_LATEST,
    ACT_STAT,
    ACT_READ_DIR,
    ACT_SET,
    ACT_SET_GEN, /* If the contents are those that it has read last. */
    ACT_DELETE,
    ACT_ACQUIRE,
    ACT_SHARE,
    ACT_TRY,
    ACT_RELEASE,
    ACT_GIVE_SEQUENCER,  /* Keeps its sequencer for others. */
    ACT_SET_SEQUENCER,   /* That of the handle `of`. */
    ACT_CHECK_SEQUENCER, /* The same. */
    ACT_CHECK_SEEN,      /* The same. */
    ACT_POISON,
    ACT_CLOSE,
    ACT_FREE
};

struct chubby_does {
    int ms;
    enum chubby_act act;
    int of;
};

struct chubby_plan {
    int proc;
    int open_ms; /* 0: there is no such handle. */
    int file;
    evzk_chubby_create create;
    bool ephemeral, read_only, children, lock_events;
    bool own_acl; /* Its znodes have an ACL of their own. */
    uint32_t delay_ms, timeout_ms;
    struct chubby_does does[DOES];
    int close_ms; /* 0: CLOSE_MS. */
    /* The act inside the callback of an operation that has ended well:
     * `ms` is its enum chubby_act. */
    struct chubby_does in_done[2];
    /* And inside that of an event: `ms` is its evzk_chubby_event. */
    struct chubby_does in_event[2];
};

struct chubby_scene {
    bool chroot;     /* The sessions have one, which they make. */
    bool rootless;   /* .. which is missing, and which they do not make. */
    unsigned window; /* Of the sessions; 0: 8. */
    bool denied;     /* Nothing may be made beside the files. */
    struct chubby_plan plan[HANDLES];
    bool foreign; /* The first file is there: another program's. */
    bool child;   /* .. and has a child. */
    bool litter;  /* Other programs' znodes are in the lock's directory. */
    int marks;    /* Holders of old have left so many marks; the first of them
                     asks for MARK_MS; .. */
    bool mark_child;          /* .. and that one has a child, which stays. */
    int write_ms;             /* An operator writes to the first file then, */
    int child_ms;             /* makes a child of it, */
    int drop_ms;              /* deletes that, */
    int delete_ms;            /* deletes the file, */
    int remake_ms;            /* makes it anew, */
    int hide_ms;              /* takes away the right to read it, */
    int veil_ms;              /* and to read the child. */
    int steal_ms;             /* An operator deletes the lock's first znode. */
    int expire_ms;            /* The servers end the first process's session. */
    int cut_us;               /* The first process loses its connection. */
    int freeze_ms, frozen_ms; /* The first process is stopped, so long. */
};

struct chubby_op {
    int32_t handle; /* And 1; 0: no operation. */
    enum chubby_act act;
    int32_t of, gen;
    bool told, unknown, landed;
    bool rival;     /* A try: another contender, or an old mark, was there. */
    bool in_doubt;  /* At the call. */
    int64_t doubts; /* At the call, of its session; */
    int64_t forced; /* and the deletions of operators. */
    int64_t due;    /* Since then its end is due; 0: it is not. */
    bool maybe;     /* Another write of the same transaction may hide it. */
    int rc;
    int32_t landed_gen; /* Of a set. */
    uint64_t under;     /* The token of the lock that was held at the call. */
    int32_t by;         /* The handle whose sequencer it is under, and 1. */
    bool bare;          /* At the call nobody was in the lock's queue. */
    int64_t begun;      /* When. */
    int64_t sure;       /* The mzxid of the file then. */
};

/* A state of a file that the tree had. */
struct chubby_state {
    int64_t czxid, mzxid;
    int32_t file, version, len;
    char data[8];  /* At least of what an operation writes; .. */
    uint64_t hash; /* .. of all. */
    int64_t gone;  /* When the instance was gone; 0: it stands. */
    int64_t at;    /* When it came. */
};

/* The last lock of a handle, as far as it is known. */
struct chubby_hold {
    uint64_t token; /* 0: none so far. */
    int64_t mark;   /* The czxid of its mark; 0: it has none. */
    int64_t gone;   /* When its znode was gone; 0: it stands. */
    char node[96];
    bool shared, clean; /* The lock was given back, or freed. */
    bool lost;
    int32_t conflicts; /* CONFLICT was told, so often. */
};

/* A contender that has come into the queue of a lock. */
struct chubby_came {
    int64_t czxid;
    bool shared, stands;
};

/* Events that a handle owes its user. */
enum chubby_due {
    DUE_OPENED, /* Or the end. */
    DUE_INVALID,
    DUE_CONTENTS,
    DUE_CHILD,
    DUE_FRONT,
    DUE_CONFLICT,
    DUE_DOUBT,
    DUES
};

struct chubby_world {
    const struct chubby_scene *own;
    int64_t looked;
    int32_t n_ops, n_states;
    struct chubby_op op[OPS];
    struct chubby_state state[STATES_SEEN];
    uint64_t last_alone[FILES]; /* Token of the last exclusive holder. */
    int32_t fronts[FILES];      /* How many came to the front of the queue. */
    char front[FILES][96];
    int64_t front_at[FILES]; /* Since when it is in front. */
    int32_t n_came[FILES];
    struct chubby_came came[FILES][CAME];
    int64_t old_at[FILES]; /* When a mark without its holder was there. */
    /* The oldest mark: it stands; and since when each process could know, being
     * in front of the queue. */
    bool marked[FILES];
    int64_t mark_seen[FILES][SIM_PROCS];
    /* When each process last had company in the queue. */
    int64_t company_at[FILES][SIM_PROCS];
    bool child;                   /* The first file has its child. */
    int64_t hidden_at;            /* An operator has hidden the first file: */
    int64_t hidden;               /* its czxid, .. */
    uint64_t heard_by[SIM_PROCS]; /* .. and the connections of that time. */
    int64_t veiled_at;            /* and the child. */
    bool early[SIM_PROCS];
    int32_t leaves[SIM_PROCS]; /* How often it was not at rest. */
    bool foreign; /* Another library's contender was in the queue; .. */
    bool meddled; /* An operator has deleted, or written to, a receipt. */
    bool forged;  /* .. or one that came before all. */
    bool unclean; /* A handle has lost its lock, or ended with its session. */
    struct chubby_handle {
        evzk_chubby *h;
        int32_t fronts, acquired; /* Before the open; LOCK_ACQUIRED was told. */
        bool begun, over, ended, opened, poisoned, invalid, closes, jeopardy;
        bool acquiring, releasing;
        bool missed, met; /* Since the call the file was away; was there. */
        bool child;       /* As it was told. */
        int64_t begun_at, opened_at, contents_at, front_at;
        int64_t closed_at; /* When the close was called; 0: it was not. */
        int32_t contents;  /* CONTENTS_CHANGED was told. */
        int64_t due[DUES]; /* Since when it is due; 0: it is not. */
        int64_t instance, newest;
        int32_t gen; /* As read last. */
        struct chubby_hold hold;
        char sequencer[256];
        int64_t sequencer_czxid, sequencer_gone;
        uint64_t seen_by[HANDLES]; /* The connection on which check_seen() has
                                      found that handle's one valid. */
        int64_t busy_since;        /* Told BUSY, and nobody had the lock. */
        int32_t sequenced;         /* By the sequencer of this handle, and 1. */
    } of[HANDLES];
};
extern struct chubby_world chubbies;

static inline const struct chubby_plan *chubby_plan_of(int i)
{
    return &chubbies.own->plan[i];
}

/* ---- scene_chubby_others.c ---- */

void chubby_others_begin(void); /* Before the processes begin. */
void chubby_others_plan(void);  /* Later. */

/* ---- scene_chubby_refused.c ---- */

/* What a call ends with: it is taken, or refused with EVZK_ERR_STATE; or it may
 * be either, since something has happened that is not told yet. */
enum chubby_verdict { TAKEN, REFUSED, EITHER };
enum chubby_verdict chubby_verdict(int i, enum chubby_act act);
/* The lock is held, as far as the handle was told, and not given back. */
bool chubby_holds(int i);
/* The handle whose sequencer is set, or being set, on this one; and 1. */
int32_t chubby_sequenced_by(int i);

/* ---- scene_chubby_due.c ---- */

/* Something was not told yet that must be: no user closes a handle now. */
bool chubby_waits(void);
void chubby_check_due(void);
void chubby_owes(int proc, struct sim_debt *debt);

/* ---- scene_chubby_tree.c ---- */

/* The path in the tree, and that which a session with a chroot gives. */
const char *chubby_file(int file);
const char *chubby_name(int file);
const char *chubby_side(int file);
/* The state of the file now; NULL: it does not exist. */
const struct chubby_state *chubby_now(int file);
/* When the instance was gone; 0: it stands. */
int64_t chubby_gone(int64_t instance);
bool chubby_meddled(int64_t instance);
void chubby_look(void);
/* How many wait for the lock that the handle holds, or have done so. */
int chubby_behind(int i, bool now);
void chubby_check_held(void);

bool chubby_is_old_mark(int file, const char *name);
bool chubby_has_contender(int file);
bool chubby_has_rival(int file, int contenders); /* More, or an old mark. */
bool chubby_has_waited(int file); /* Long enough for such a mark. */
bool chubby_has_marks(int file);  /* Of holders before the scene. */

/* ---- scene_chubby_told.c ---- */

void chubby_told(int i, evzk_chubby_event event, int rc);
void chubby_done_told(int k, int rc, const evzk_chubby_answer *a);
bool chubby_rc_ok(int i, int rc);
bool chubby_session_ended(int proc);
void chubby_check_left(int proc);
void chubby_check_marks(void);

/* ---- scene_chubby.c ---- */

void chubby_begin(const struct sim_scene *sc);
bool chubby_done(void);
void chubby_check(void);
void chubby_check_end(void);
extern const char *const chubby_calls[];
bool chubby_call(int proc, unsigned which);

#endif
