/* Scenes of configurations: who reads, follows and replaces one, and what is
 * kept of it.
 *
 *   scene_config.c        the processes
 *   scene_config_rules.c  the rules
 *   scene_config_acts.c   what an operator, the network and rivals do
 *   scene_config_list.c   the scenes */
#ifndef SIM_SCENE_CONFIG_H
#define SIM_SCENE_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "evzk/config.h"
#include "scene.h"
#include "world.h"

enum {
    CONFIG_READERS = 3,
    UPDATES = 4,
    CONFIG_ACTS = 4,
    CONFIG_KEYS = 6,
    CONFIG_STOOD = CONFIG_KEYS + 2,
    WHOLES = 24,
    OPERATOR = UPDATES /* The set of the beginning, or made by hand. */
};

struct config_reader_plan {
    int proc, start_ms;
    bool gets; /* Else it follows, until .. */
    int stop_ms;
    uint32_t timeout_ms;
};

struct update_plan {
    int proc, start_ms;
    int first, n; /* Its keys: so many, from this one on. */
    uint32_t timeout_ms;
    bool if_same; /* Replaces only what stands when it begins. */
};

enum config_act {
    CONFIG_NOTHING,
    CONFIG_CUT,     /* The first process loses its connection. */
    CONFIG_KEY,     /* An operator deletes the first key. */
    CONFIG_GROW,    /* .. makes the last key, .. */
    CONFIG_UNREADY, /* .. deletes `ready`, .. */
    CONFIG_GONE,    /* .. deletes the directory with all in it, .. */
    CONFIG_UNLOCK,  /* .. deletes the lock's znodes. */
    CONFIG_CHILD    /* .. makes a child of the first key. */
};

struct config_scene {
    struct config_reader_plan reader[CONFIG_READERS];
    struct update_plan update[UPDATES];
    struct {
        int at_ms;
        enum config_act what;
        int times; /* So often, each 7 ms; 0: once. */
    } act[CONFIG_ACTS];
    int stands;     /* So many keys are there from the beginning. */
    uint32_t steps; /* The most keys of a transaction; 0: many. */
    const char *chroot;
    int root_ms;   /* The chroot is missing until then; 0: for ever. */
    bool hidden;   /* The keys may not be read. */
    bool unlisted; /* The directory may not be listed. */
    bool denied;   /* Nothing may be made in it. */
    bool own_acl;  /* All is made with an ACL of its own. */
    bool lags;     /* Followers are behind the leader. */
    bool hides;    /* From the first process, for a while. */
    /* An operator that makes or deletes the last key each time that the first
     * process has listed the directory: so often. */
    int rivals;
    bool replaces; /* .. or replaces the set by the same, as others do. */
};

/* A configuration that was whole. */
struct whole {
    int64_t number, print; /* Print: of its znodes. */
    int32_t update;
};

struct config_world {
    const struct config_scene *own;
    int64_t looked, ready, n_wholes, acts_done[CONFIG_ACTS];
    int64_t newest;              /* The last transaction that wrote to a key. */
    int64_t stood[CONFIG_STOOD]; /* The znodes of the set: their czxids. */
    bool touched;                /* The operator has changed what is whole. */
    bool marred;                 /* A fault has written to `ready`; .. */
    bool rewritten;              /* .. to a key. */
    int32_t rivals;              /* So often the operator was in between. */
    int32_t refusals[SIM_PROCS]; /* In a row, since others changed something. */
    bool foreign; /* Another library's contender was in the lock's directory. */
    struct whole whole[WHOLES];
    struct config_reader {
        evzk_config_query *q;
        evzk_config_follower *f;
        bool begun, over, canceled, told;
        bool rootless; /* When it was asked. */
        int64_t due;   /* When its end is to be told; 0: nobody knows. */
        int64_t at;    /* The last that was whole when it was asked; as told. */
    } reader[CONFIG_READERS];
    struct update {
        evzk_config_update *u;
        bool begun, over, canceled, refused;
        int64_t due; /* When its end is to be told; 0: nobody knows. */
        int64_t made, number, if_number;
    } update[UPDATES];
};
extern struct config_world configured;
extern const evzk_acl config_acl; /* Of scenes with an ACL of their own. */

static inline const struct update_plan *update_plan(int i)
{
    return &configured.own->update[i];
}

static inline const struct config_reader_plan *config_reader(int i)
{
    return &configured.own->reader[i];
}

/* ---- scene_config.c ---- */

void config_begin(const struct sim_scene *sc);
bool config_done(void);
extern const char *const config_calls[];
bool config_call(int proc, unsigned which);

/* ---- scene_config_acts.c ---- */

void config_acts_begin(void);
void config_traced(int proc, const evzk_trace *t);

/* ---- scene_config_rules.c ---- */

/* Looks at the tree: notes a configuration that has become whole. */
void config_look(void);
bool config_rc_ok(int proc, int rc, bool canceled);
void config_check_read(int i, const evzk_config *c);
void config_check_told(int i, int rc, int64_t number);
void config_check(void);
void config_owes(int proc, struct sim_debt *debt);
void config_check_end(void);

#endif
