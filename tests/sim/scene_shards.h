/* The scenes of the shards: up to three processes, whose members join, drain,
 * leave and die.
 *
 *   scene_shards_list.c     the scenes
 *   scene_shards.c          plays a scene: joins, drains, frees, closes
 *   scene_shards_actions.c  what operators, servers and the network do in it
 *   scene_shards_names.c    shards with names: which number is which shard
 *   scene_shards_tree.c     reads the simulated servers' tree; rules for plans
 *   scene_shards_right.c    is all as the plan says?
 *   scene_shards_told.c     rules for what the application is told
 *   scene_shards_rules.c    rules for all else, checked after every step
 */
#ifndef SIM_SCENE_SHARDS_H
#define SIM_SCENE_SHARDS_H

#include "evzk/shards.h"
#include "processes.h"
#include "scene.h"

enum {
    SHARDS_SLOTS = 4, /* Members that a scene can have in all. */
    SHARDS_MOST = 4,  /* Shards. */
    SHARDS_PLANNED =
        8, /* Shards of a plan in the tree: a forged one has more. */
    SHARDS_ACTIONS = 3,
    SHARDS_NODES = 16,  /* Znodes in a directory at a time. */
    SHARDS_WRITES = 24, /* Writes of the plan that are remembered. */
    SHARDS_TIMEOUT_MS = 1000,
    /* After this time a member may end, because plans for another number of
     * shards name it. */
    SHARDS_OTHER_COUNT_US = 5000 * 1000,
    SHARDS_SOON_US = 100 * 1000 /* Long enough where nothing is waited for. */
};

#define SHARDS_PATH "/s"

/* A member of a scene, and what it does by itself.  A member that neither
 * drains nor is freed here leaves when all is as it should be. */
struct shards_joiner {
    int process;
    int join_ms; /* After the scene's begin; 0: there is no such member. */
    int drain_ms, free_ms; /* After it has joined; 0: it does not. */
    int drain_timeout_ms;  /* 0: 300. */
    bool leaves_by_drain;  /* In the end it drains, and is not just freed. */
    uint32_t weight, most; /* As in evzk_shards_options. */
    uint32_t count;        /* Of shards, as it believes; 0: the scene's. */
    /* Where shards have names: those that it lists, in its order. */
    const char *names[SHARDS_MOST];
    bool observer;
    bool acknowledge; /* By hand, ... */
    int ack_ms;       /* ... so long after ELECTED; 0: inside the callback. */
    int linger_ms;    /* From its final event until it is freed. */
};

enum shards_action {
    SHARDS_NO_ACTION,
    SHARDS_WAIT,             /* Until then no member leaves. */
    SHARDS_EXPIRE_SESSION,   /* The servers end the process's session. */
    SHARDS_CUT_OFF,          /* The network: for longer than a session lives. */
    SHARDS_CLOSE_SESSION,    /* The process closes it: its members are there. */
    SHARDS_DELETE_MEMBER,    /* An operator: the znode of its member. */
    SHARDS_COPY_MEMBER,      /* And puts one there that no session owns. */
    SHARDS_DELETE_CANDIDATE, /* Of the shard's election: the oldest one's. */
    SHARDS_DELETE_MEMBERS_DIR, /* The members' directory, if it is empty. */
    SHARDS_DELETE_PLAN,
    SHARDS_UNBLOCK_LEADER, /* See `leader_blocked`. */
    SHARDS_SEAL, /* The plan is hidden, and no member can be listed or made. */
    SHARDS_SPOIL_PLAN, /* An operator writes garbage into it. */
    SHARDS_SPOIL_MEMBER
};

struct shards_scene {
    int shards;
    /* Their names, in order, of all that any member lists; else they have
     * numbers.  Shard i of the rules is that of names[i]. */
    const char *names[SHARDS_MOST];
    bool names_differ; /* A member lists other names than the first. */
    struct shards_joiner members[SHARDS_SLOTS];
    struct {
        enum shards_action action;
        int at_ms;
        union {
            int which;
            int process, shard; /* To which it is done. */
        };
    } actions[SHARDS_ACTIONS];
    /* At the beginning: */
    bool plan_is_garbage;
    bool leader_blocked;  /* Shard 0 has a leader znode made by hand.  It has a
                             child, so that no leader can replace it. */
    int32_t first_number; /* Of the members' sequence numbers, and of those of
                             shard 0's candidates; 0: they begin at 0. */
    bool numbers_end; /* Numbers end as in 3.8.0; else they go on below 0. */
    /* Also true while nothing disturbs the scene: */
    bool taken_over_at_once; /* After EXPIRE_SESSION no shard is without a
                                leader for longer than SHARDS_SOON_US. */
    bool one_plan;           /* There is one plan, and no shard moves. */
};

/* One shard, as a member was told of it. */
struct shards_seat {
    evzk_lease *lease; /* Of every second shard; NULL: it is not elected. */
    int64_t epoch;     /* 0: it is not elected. */
    int64_t session;   /* At the time of ELECTED. */
    int64_t leading, suspended;
    int64_t acked;  /* evzk_shards_acknowledge() was called. */
    int64_t failed; /* LEADING was told with an error, of this plan. */
    int64_t absent; /* FAILED was told, of this plan. */
    int64_t doubts; /* For process_certain(). */
};

/* A member that has joined: a member, until it is freed. */
struct shards_slot {
    evzk_shards *a; /* NULL: not joined yet, or freed. */
    const struct shards_joiner *joiner;
    int64_t proc, used;
    int64_t was_elected; /* Of any shard, once. */
    int64_t drain;       /* When evzk_shards_drain() was called; 0: never. */
    int64_t ended;       /* DRAINED or FAILED was told. */
    int64_t lapsed;      /* Its lease ended: its znodes may still be there. */
    uint64_t plan_told;  /* The number of the plan that was told last. */
    int64_t ending; /* The rc of the LOST that announces the object's end; 0. */
    /* Since the last PLANNED: when plans for another number of shards named the
     * member first and last; 0: none did. */
    int64_t odd_first, odd_last;
    /* For each other slot: the shard, plus one, that this member handed to it
     * first, of this plan. */
    int64_t given[SHARDS_SLOTS];
    struct shards_seat seat[SHARDS_MOST];
};

/* ---- What is in the servers' tree ---- */

struct shards_node {
    int64_t czxid, owner;
    uint64_t name;   /* A hash. */
    int64_t ok;      /* A member's znode: its data is a member's ... */
    uint64_t names;  /* ... with such a fingerprint of its names; 0: none. */
    int64_t acl;     /* The version of its ACL: the planner leaves out a member
                        whose znode it may not read. */
    int64_t by_hand; /* A fault has written it. */
};

struct shards_dir {
    struct shards_node node[SHARDS_NODES];
    int64_t n;
    int64_t foreign; /* The czxid of the oldest contender of another library;
                        0: there is none. */
};

/* The data of the plan's znode. */
struct shards_tree_plan {
    int64_t ok; /* A member has written it. */
    uint64_t version;
    int64_t shards, members;
    uint64_t names;              /* A fingerprint; 0: none. */
    uint64_t name[SHARDS_NODES]; /* A hash. */
    int64_t weight[SHARDS_NODES], most[SHARDS_NODES];
    int64_t owner[SHARDS_PLANNED]; /* The index of a member, or -1. */
};

struct shards_path {
    char v[48];
};

struct shards_world {
    const struct shards_scene *scene;
    struct shards_joiner besides; /* Joins when the explorer has it so. */
    struct shards_slot slot[SHARDS_SLOTS];
    int64_t slots;              /* So many have joined. */
    int64_t to_join[SIM_PROCS]; /* So many of the process are still to join. */
    int64_t hang_ups, hung_up_at; /* By servers, at all processes' requests. */
    int64_t actions;              /* Still to come, or under way. */
    int64_t closing[SIM_PROCS];   /* So often the session was not idle enough to
                                     be closed. */
    int64_t leaving;              /* All is as it should be: all leave. */
    int64_t excused_checks;    /* So often all was not as it should be, and that
                                  was    excused. */
    int64_t disturbed;         /* A fault, an action or a call has disturbed the
                                  scene: rules for calm are not checked. */
    int64_t disturbed_besides; /* The same, but not by EXPIRE_SESSION. */
    int64_t by_hand; /* An operator wrote to the plan, or a member's znode. */
    int64_t forged;  /* A fault wrote a well-formed plan of its own. */
    int64_t rivals;  /* Two members have made plans since the last plan. */
    int64_t expired_at, expired_process; /* By EXPIRE_SESSION. */
    int64_t changed_at;  /* The last change of the members or of the plan. */
    int64_t looked_zxid; /* The tree was read when this was committed. */
    uint64_t conn[SIM_PROCS];
    struct shards_dir members, dir[SHARDS_MOST];
    struct shards_node newest[SIM_PROCS]; /* The process's last member znode. */
    struct shards_tree_plan plan;
    int64_t plan_czxid, plan_mzxid, plan_version;
    int64_t plan_before; /* The highest version of plan znodes that have gone;
                            -1: none has. */
    /* Since the members changed last: when they wrote the plan, and how many
     * members made plans at a time. */
    int64_t written_at[SHARDS_WRITES], writes, planners;
    int64_t epoch[SHARDS_MOST];       /* The highest that was told. */
    int64_t led[SHARDS_MOST];         /* Some member has led it. */
    int64_t unled_since[SHARDS_MOST]; /* 0: a member leads it. */
    int64_t foreign[SHARDS_MOST]; /* The zxid at which a contender of another
                                     library was there last; 0: never. */
};
extern struct shards_world shards_world;

/* In this scene the members have been given different shards. */
static inline bool shards_differ(void)
{
    return shards_world.scene->members[0].count != 0 ||
           shards_world.scene->names_differ;
}

static inline int shards_index(const struct shards_slot *v)
{
    return (int)(v - shards_world.slot);
}

static inline const struct process *shards_process(const struct shards_slot *v)
{
    return process_of((int)v->proc);
}

/* Force was used on its znode, or its session: no library can foresee that. */
static inline bool shards_seat_excused(const struct shards_seat *seat)
{
    return operator_deleted(seat->epoch) || session_forced(seat->session);
}

/* scene_shards.c */
void shards_begin(const struct sim_scene *sc);
bool shards_done(void);
void shards_maybe_close(int proc);
extern const char *const shards_calls[];
bool shards_call(int proc, unsigned which);

/* scene_shards_actions.c */
void shards_actions_begin(void);

/* scene_shards_names.c */

/* So many does it list; 0: its shards are numbered. */
uint32_t shards_listed(const struct shards_joiner *joiner);
/* The library's number of a shard, which may be no number of the member's; and
 * the other way round. */
uint32_t shards_own(const struct shards_slot *v, int shard);
int shards_of(const struct shards_slot *v, uint32_t own);
void shards_check_names(const struct shards_slot *v);
/* Is the plan in the tree for the member's shards? */
bool shards_plan_is_for(const struct shards_slot *v);
/* The znode of a shard's election. */
struct shards_path shards_dir(int shard);
/* A fingerprint at the end of a line, with the line's end; *at is behind it. */
bool shards_read_print(const char *text, int *at, uint64_t *names);

/* scene_shards_tree.c */
void shards_look(void);
/* Does the plan in the tree, forged or not, name a member of the process?  Or
 * its newest znode, of whose end the process may not have heard? */
bool shards_plan_names(int proc);
bool shards_plan_even(void);       /* The plan in the tree, forged or not. */
bool shards_owns(int64_t session); /* Has it a znode anywhere? */
const struct shards_node *shards_candidate(int shard, int64_t czxid);
int64_t shards_member(const char *name); /* Its session; 0: no such znode. */
bool shards_stands(int shard, int64_t session);
bool shards_says(int shard, int64_t session); /* Its leader znode is there. */

/* scene_shards_told.c */
void shards_told(struct shards_slot *v, int shard, evzk_election_event ev,
                 int rc);
void shards_told_all(struct shards_slot *v, evzk_shards_event ev, int rc);

/* Empties all its seats. */
void shards_vacate(struct shards_slot *v);

/* scene_shards_right.c */
bool shards_right(void);      /* All members follow the plan in the tree. */
bool shards_excused(void);    /* May never come to that. */
int shards_planners(void);    /* How many members make plans. */
bool shards_has_rivals(void); /* More than one, because of a copied member. */

/* scene_shards_rules.c */
void shards_leases(int proc);
void shards_check_epoch(const struct shards_slot *v, int shard);
void shards_check(void);
void shards_owes(int proc, struct sim_debt *debt);
void shards_check_end(void);

#endif
