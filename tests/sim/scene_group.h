/* Scenes of groups.
 *
 *   scene_group_list.c   the scenes
 *   scene_group.c        what the processes and operators do
 *   scene_group_view.c   a view, with its rules
 *   scene_group_tree.c   the znodes of members, as they came and went
 *   scene_group_told.c   the rules for what is told
 *   scene_group_rules.c  all other rules, asked after every step */
#ifndef SIM_SCENE_GROUP_H
#define SIM_SCENE_GROUP_H

#include "evzk/group.h"
#include "scene.h"
#include "world.h"

enum { GR_ACTS = 6, GR_NODES = 64, GR_DATA = 4, GR_PATH = 96 };

enum gr_what {
    GR_NOTHING,
    GR_JOIN,
    /* What an operator deletes of this name. */
    GR_DELETE_NAME,
    GR_DELETE_CLAIM,
    GR_DELETE_GUARD,
    GR_DELETE_BOTH,   /* The name and the claim, in one transaction. */
    GR_DELETE_BESIDE, /* Claim, guard, and the directory of all claims. */
    GR_COPY_CLAIM,    /* The claim is a persistent znode now, its data kept. */
    /* The name may not be written any more; nothing may be made beside it; or
     * in the group. */
    GR_SEAL_NAME,
    GR_SEAL_CLAIMS,
    GR_SEAL_GROUP,
    GR_OPEN, /* All of that is allowed again. */
    /* The name is written to, and may not be read any more; or may be again. */
    GR_HIDE_NAME,
    GR_SHOW_NAME
};

/* What a process does, or an operator: after so many microseconds, or after
 * another act. */
struct gr_act {
    int proc, at_us;
    int after; /* When act number `after` has ended, from 1; 0: at_us. */
    enum gr_what what;
    const char *name; /* NULL: "a". */
    int stay_us;      /* So long after its first JOINED it goes. */
    int give_up_us;   /* So long after its beginning it goes in any case. */
    int update_us;    /* Then it has other data; 0: never. */
    int updates;      /* So many times at once. */
    bool resumes;     /* Not then, but in its RESUMED. */
    bool frees, no_wait;
};

struct gr_scene {
    unsigned hides; /* Processes from which what they watch is hidden. */
    struct gr_act act[GR_ACTS];
    const char *chroot;
    bool view; /* This process watches the group. */
    int view_proc;
    bool sealed;       /* An operator seals something. */
    bool dir;          /* The group is there at the beginning, .. */
    bool by_hand;      /* .. with a znode "a" that was made by hand; .. */
    int denied;        /* .. and nobody may do this there; .. */
    int denied_claims; /* .. or this in the directory of claims. */
};

/* The znode of a member. */
struct gr_node {
    int64_t czxid, owner;
    int64_t act;  /* Its maker; -1: none. */
    int64_t died; /* 0: it stands. */
    int64_t over; /* Other than 0: no member wrote its last data. */
};

struct gr_slot {
    evzk_member *d;
    evzk_lease *lease; /* Of its membership, for every second act. */
    int64_t began, doubts, claim;
    int64_t n_updates, told_updates;
    char data[GR_DATA]; /* As it should be in the znode. */
    bool begun, over, stopped, leaving, joined, doubtful, conflict, ever;
    int rejoin_rc; /* Told why it cannot join again. */
};

struct gr_world {
    const struct gr_scene *own;
    struct gr_node node[GR_NODES];
    int64_t nodes, changes, looked;
    bool sealed; /* Something is sealed now. */
    bool copied; /* A name, or a claim, was there that no session owned. */
    struct gr_slot slot[GR_ACTS];
};
extern struct gr_world gr;

static inline const char *gr_name(int act)
{
    return gr.own->act[act].name ? gr.own->act[act].name : "a";
}

/* scene_group.c, for the list of scenes */
void group_begin(const struct sim_scene *sc);
void group_check(void);
void group_owes(int proc, struct sim_debt *debt);
bool group_done(void);
void group_check_end(void);
extern const char *const group_calls[];
bool group_call(int proc, unsigned which);

/* scene_group_view.c */
void gr_view_begin(void);
bool gr_view_is_wrong(int proc);
void gr_view_free(void);

/* scene_group_tree.c */
/* The path of the znode of a name; of its claim; of the guard that the claim
 * says: false, if there is none. */
void gr_path(const char *name, char to[GR_PATH]);
void gr_claim_path(const char *name, char to[GR_PATH]);
bool gr_guard_path(const char *name, char to[GR_PATH]);
void gr_look(void); /* What the tree says now. */
struct gr_node *gr_node_at(int64_t czxid, const char *name);
struct gr_node *gr_node_of(int act); /* The newest one; NULL: none. */
bool gr_is_hole(const struct gr_node *n);
/* Nobody could foresee that it went. */
bool gr_was_forced(const struct gr_node *n);
/* Does another act of this scene want the same name? */
bool gr_has_rival(int act);

/* scene_group_told.c */
bool gr_excused(int act, evzk_member_event ev, int rc);
void gr_check_told(int act, evzk_member_event ev, int rc);

/* scene_group_rules.c */
void gr_leases(int proc);
void gr_check(void);
void gr_check_end(void);

#endif
