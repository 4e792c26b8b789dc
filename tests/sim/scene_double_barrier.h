/* Scenes of double barriers: what the processes do (scene_double_barrier.c),
 * the rules (scene_double_barrier_rules.c; of look-ups
 * scene_double_barrier_query.c), and the list (scene_double_barrier_list.c). */
#ifndef SIM_SCENE_DOUBLE_BARRIER_H
#define SIM_SCENE_DOUBLE_BARRIER_H

#include "evzk/double_barrier.h"
#include "scene.h"
#include "world.h"

enum { DB_ACTS = 9, DB_NODES = 64, DB_ROUNDS = 8, DB_NAME = 96 };

/* Names and texts of what a scene has made by itself. */
#define DB_GUID "01234567-89ab-4def-8123-456789abcdef"
#define DB_OLD "evzk 1 0 @ " DB_GUID "-in-0000000000"

enum db_what { DB_NOTHING, DB_ENTER, DB_ASK, DB_DELETE_DIR };
enum db_how { DB_LEAVE, DB_CANCEL, DB_FREE };

/* What a process does: after so many microseconds, or after another act. */
struct db_act {
    int proc, at_us;
    int after; /* When act number `after` has ended, from 1; 0: at_us. */
    enum db_what what;
    uint32_t timeout_ms, leave_timeout_ms;
    int stay_us;     /* So long it is inside. */
    enum db_how how; /* Then it goes so. */
    bool mute;       /* Its znode may be read by nobody. */
    int cancel_us;   /* The user gives up after so long; 0: never. */
};

struct db_scene {
    uint32_t count;
    struct db_act act[DB_ACTS];
    const char *chroot;
    /* What `ready` says at the beginning, with the directory's czxid in the
     * place of "@"; NULL: no such. */
    const char *ready;
    bool foreign_ready; /* `ready` is refused. */
    uint8_t denied; /* What nobody may do to `ready`; or to the directory, .. */
    bool dir;       /* .. which is there at the beginning. */
    int32_t number; /* If the directory is there: the first one; 0: as is. */
    bool foreign;   /* Znodes of others are there at the beginning. */
    bool hidden;    /* A participant that nobody may read is there, too. */
    bool copied; /* Copies of participants are there, which no session owns. */
};

/* A participant's znode, or what is named like one. */
struct db_node {
    int64_t czxid, died; /* died: counts changes; 0: it stands. */
    int64_t owner;       /* 0: a copy, which counts for nobody. */
    int64_t act;         /* -1: of no act. */
    int64_t round;       /* From 1; 0: of none yet. */
    int64_t other_round; /* An operator deleted `ready`: of this one, too. */
    int32_t seq;
    char name[DB_NAME];
};

struct db_slot {
    evzk_double_barrier *d;
    evzk_double_barrier_query *q;
    int64_t began, doubts, round;
    int64_t asked;           /* Of a look-up: after so many changes. */
    bool there[DB_NODES];    /* Of a look-up: those that stood then .. */
    bool in_round[DB_NODES]; /* .. and were in a round. */
    bool begun, over, stopped, entered, leaving, doubtful;
    bool left; /* LEFT was told, and all have gone. */
};

struct db_world {
    const struct db_scene *own;
    char dir[64];
    struct db_node node[DB_NODES];
    int64_t nodes, changes;
    int64_t ready_mzxid; /* 0: none. */
    int64_t made_mzxid;  /* Of the `ready` that the scene has made. */
    bool marred;         /* A fault has written to `ready`. */
    int64_t rounds;
    int64_t looked; /* The newest zxid when the rules saw the tree. */
    int64_t rough;  /* Until then something has disturbed; -1: nothing yet. */
    bool up[SIM_PROCS]; /* Their sessions are connected. */
    struct db_slot slot[DB_ACTS];
};
extern struct db_world db;

/* scene_double_barrier.c, for the list of scenes */
void double_barrier_begin(const struct sim_scene *sc);
void double_barrier_check(void);
void double_barrier_owes(int proc, struct sim_debt *debt);
bool double_barrier_done(void);
void double_barrier_check_end(void);
extern const char *const double_barrier_calls[];
bool double_barrier_call(int proc, unsigned which);

/* scene_double_barrier_query.c */
void db_asked(int act);
void db_check_answer(int act, int rc, const evzk_participant *v, size_t n);

/* scene_double_barrier_rules.c */
bool db_read_seq(const char *name, int32_t *seq);
void db_look(void);  /* What the tree says now. */
void db_check(void); /* After every step. */
void db_check_end(void);
struct db_node *db_node_of(int act); /* The newest; NULL: none. */
bool db_excused(int act, evzk_double_barrier_event ev, int rc);
void db_check_told(int act, evzk_double_barrier_event ev, int rc);
void db_traced(int proc, const evzk_trace *t);

#endif
