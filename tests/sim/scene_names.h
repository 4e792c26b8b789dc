/* Scenes of names: what the processes and an operator do (scene_names.c), a
 * resolver with its picks and their rules (scene_names_rules.c), and the list
 * (scene_names_list.c). */
#ifndef SIM_SCENE_NAMES_H
#define SIM_SCENE_NAMES_H

#include "evzk/names.h"
#include "scene.h"
#include "world.h"

enum { NM_ACTS = 10, NM_SLOTS = 20, NM_NAME = 64, NM_PATH = 96 };

/* The texts of the scenes; an endpoint of weight n is NM_W0 + n. */
enum nm_text { NM_W0, NM_W1, NM_W2, NM_W3, NM_BAD, NM_CUT, NM_EMPTY, NM_TEXTS };

enum nm_what {
    NM_NOTHING,
    NM_REGISTER, /* A process does; all else is an operator's. */
    NM_UPDATE,   /* The process gives what it has registered another text. */
    NM_LEAVE,    /* .. leaves. */
    NM_FREE,     /* .. frees the member. */
    NM_MAKE,     /* A persistent znode. */
    NM_WRITE,
    NM_DELETE,
    NM_REMAKE, /* Deletes it, and makes another one at once. */
    NM_HIDE,
    NM_SHOW,
    NM_EXPIRE /* The process's session. */
};

struct nm_act {
    enum nm_what what;
    int at_us;
    int proc;
    const char *name; /* Of the znode; for what is registered: also of the act.
                       */
    enum nm_text text;
};

struct nm_scene {
    struct nm_act act[NM_ACTS];
    const char *chroot; /* NULL: none. */
    evzk_pick pick;
    uint32_t forgive_ms;
    int picks;  /* So many by a timer, besides those in callbacks. */
    bool once;  /* The resolver is freed at its first READY. */
    bool frees; /* The first callback with an endpoint frees it. */
    bool cancels;
};

struct nm_world {
    const struct nm_scene *own;
    evzk_resolver *r;
    bool begun, over;
    int64_t changed; /* When the tree changed last. */
    int64_t looked;
    int64_t picks;
    /* In the callback that tells of the end of a znode, where the next one of
     * that name may be in the list already. */
    bool removed;
};
extern struct nm_world nm;

void nm_path(const char *name, char to[NM_PATH]);
const char *nm_text(enum nm_text text);

/* scene_names.c, for the list of scenes */
void names_begin(const struct sim_scene *sc);
void names_check(void);
void names_owes(int proc, struct sim_debt *debt);
bool names_done(void);
void names_check_end(void);
extern const char *const names_calls[];
bool names_call(int proc, unsigned which);

/* scene_names_rules.c */
void nm_rules_begin(void);
void nm_rules_look(void); /* Notes when the tree changes. */
void nm_rules_told(evzk_resolver_event event, const evzk_resolved *e);
/* The process is entered. */
void nm_pick(void);
void nm_report(bool failed); /* On what was picked last. */
void nm_pick_all(void);      /* At rest: each is picked, if in turn. */
bool nm_is_right(void);      /* The list is the tree. */

#endif
