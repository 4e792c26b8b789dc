/* Scenes of values: who reads, follows and writes one, and what is kept of it.
 *
 *   scene_value_list.c     the scenes
 *   scene_value.c          plays a scene: its beginning, its end, calls
 *   scene_value_readers.c  what each reader does
 *   scene_value_writers.c  what each writer does
 *   scene_value_acts.c     what an operator and the network do
 *   scene_value_tree.c     the values that stood in the tree
 *   scene_value_rules.c    the rules for what is told */
#ifndef SIM_SCENE_VALUE_H
#define SIM_SCENE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "evzk/value.h"
#include "scene.h"
#include "world.h"

enum { READERS = 3, WRITERS = 3, OPS = 6, SEEN = 96, ACTS = 4, ROOM = 160 };

struct reader_plan {
    int proc, start_ms;
    bool gets; /* Else it follows, until .. */
    int stop_ms;
    uint32_t timeout_ms;
};

/* How a writer ends when it has asked for all. */
enum value_ending { VALUE_CLOSES, VALUE_CANCELS, VALUE_FREES };

struct writer_plan {
    int proc, start_ms;
    /* A letter for each write: s sets, c compares with what stands, o compares
     * with what is not there, n makes, + adds, x adds too much. */
    const char *writes;
    int gap_ms; /* Between two writes; 0: all at once. */
    enum value_ending ending;
    size_t pending_max;
};

/* What an operator does. */
enum value_act {
    ACT_NOTHING,
    ACT_SET,      /* Writes a text. */
    ACT_NUMBER,   /* Writes a number. */
    ACT_DELETE,   /* Deletes the value, with all below it. */
    ACT_REMAKE,   /* The same, and makes it anew. */
    ACT_RECEIPTS, /* Deletes the receipts. */
    ACT_CREATE,
    ACT_BESIDE, /* Makes a znode beside the value. */
    ACT_DAY,    /* A day passes, by the servers' clock. */
    ACT_CUT     /* The first process loses its connection. */
};

struct value_scene {
    struct reader_plan reader[READERS];
    struct writer_plan writer[WRITERS];
    struct {
        int at_ms;
        enum value_act what;
        int times; /* So often, each 7 ms; 0: once. */
    } act[ACTS];
    const char *path; /* NULL: "/v". */
    const char *chroot;
    int root_ms;          /* The chroot is missing until then; 0: for ever. */
    const char *data;     /* At the beginning; NULL: there is no value. */
    int32_t version;      /* Of the value, at the beginning. */
    unsigned perms;       /* Of the value, without these; 0: all. */
    unsigned above_perms; /* The same, of the znode above. */
    bool sealed;          /* What writers make may not be written. */
    bool lags;            /* Followers are behind the leader. */
    bool hides;           /* From the first process, for a while. */
    bool tidies;          /* Killed writers have left receipts. */
};

/* The states of the value, in their order. */
struct value_state {
    int64_t czxid; /* 0: there is no value. */
    int64_t mzxid, number;
    int32_t version, len;
    bool is_number;
    bool foreign;  /* A number that an operator has written, or one on that. */
    char data[24]; /* At least the beginning; .. */
    uint64_t hash; /* .. of all. */
};

struct value_op {
    char kind;
    bool told, refused;
    int rc;
    int64_t number; /* As told. */
    int64_t from;   /* The state when it was asked for. */
    int64_t losses; /* value_losses() by then. */
    int64_t made;   /* So often it was done. */
    bool foreign;   /* An addition to another number than those of the scene. */
    evzk_value_stamp stamp;
};

struct value_world {
    const struct value_scene *own;
    char path[64];
    int64_t looked, n_seen, acts_done[ACTS];
    struct value_state seen[SEEN];
    struct reader {
        evzk_value_query *q;
        evzk_value_follower *f;
        bool begun, over, canceled;
        bool rootless; /* When it was asked. */
        int64_t due;   /* When its end is to be told; 0: nobody knows. */
        int64_t at;    /* The state when it was asked for; then, as told. */
        bool told;
    } reader[READERS];
    struct writer {
        evzk_value_writer *w;
        bool begun, over, closed, canceled;
        int64_t n_ops, n_told, extra;
        /* When the last write was told that was done, and the one before. */
        int64_t done_at, done_before;
        struct value_op op[OPS];
    } writer[WRITERS];
};
extern struct value_world valued;

static inline const struct writer_plan *writer_plan(int i)
{
    return &valued.own->writer[i];
}

static inline const struct reader_plan *reader_plan(int i)
{
    return &valued.own->reader[i];
}

static inline bool reads(int i) { return reader_plan(i)->start_ms > 0; }

static inline bool writes(int i) { return writer_plan(i)->writes != NULL; }

/* ---- scene_value.c ---- */

void value_begin(const struct sim_scene *sc);
bool value_done(void);
extern const char *const value_calls[];
bool value_call(int proc, unsigned which);

/* A process with nothing left to do closes its session. */
void value_maybe_close(int proc);

/* ---- scene_value_readers.c ---- */

/* Begins as planned: a timer's. */
void value_start_reader(intptr_t reader);
bool value_cancel_reader(int i);
void value_free_reader(int i);
void value_reader_over(int i);

/* ---- scene_value_writers.c ---- */

/* Begins, and goes on, as planned: a timer's. */
void value_start_writer(intptr_t writer);
int value_write_now(int i, char kind);
bool value_end_as(int i, bool cancel); /* Else it is closed. */
void value_free_writer(int i);
void value_writer_over(int i);

/* ---- scene_value_acts.c ---- */

/* Three receipts of killed writers that are old, and one that is not. */
void value_leave_receipts(void);
bool value_is_left(const char *name); /* The latter; .. */
bool value_is_old(const char *name);  /* .. one of the others. */

void value_acts_begin(void);

/* ---- scene_value_tree.c ---- */

/* Looks at the tree: notes the state of the value, if it has changed. */
void value_look(void);

/* What a write of this writer adds, and how often a number has that in it. */
int64_t value_delta(int i, int n);
int value_digit(int64_t number, int i, int n);

/* ---- scene_value_rules.c ---- */

/* How much operators, or processes that tidy, have deleted. */
int64_t value_losses(void);

/* May a process be told this? */
bool value_rc_ok(int proc, int rc, bool canceled);

/* A reader is told this value. */
void value_check_read(int i, const evzk_value *v, bool follows);
void value_check_told(int i, int n);
void value_check(void);
void value_owes(int proc, struct sim_debt *debt);
void value_check_end(void);

#endif
