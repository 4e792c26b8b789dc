/* Scenes for many shards: a few processes that join, drain, leave and die; what
 * they do (scene_shards.c), what is to be true all the while
 * (scene_shards_rules.c) and of the tree (scene_shards_tree.c), and what others
 * do (scene_shards_actions.c).  The scenes are in scene_shards_list.c. */
#ifndef SIM_SCENE_SHARDS_H
#define SIM_SCENE_SHARDS_H

#include "evzk/shards.h"
#include "processes.h"
#include "scene.h"

enum {
    SHARDS_SLOTS = 4,
    SHARDS_MOST = 4,
    SHARDS_PLANNED = 8, /* Also by a plan that is forged. */
    SHARDS_ACTIONS = 2,
    SHARDS_NODES = 8,   /* In a directory, at a time. */
    SHARDS_WRITES = 24, /* Of the plan, that are remembered. */
    SHARDS_TIMEOUT_MS = 1000,
    SHARDS_ODD_US = 5000 * 1000, /* Named by plans for another number. */
    SHARDS_SOON_US = 100 * 1000  /* What waits for nobody. */
};

#define SHARDS_PATH "/s"

/* One that joins.  Who has no time to leave stays until all is quiet. */
struct shards_plan {
    int proc;
    int join_ms; /* 0: nobody. */
    int drain_ms, timeout_ms, free_ms;
    uint32_t weight, most, count; /* Count 0: the scene's. */
    bool observer, drains;        /* When all is quiet it leaves by that. */
    bool acknowledge;
    int ack_ms;    /* 0: inside the callback. */
    int linger_ms; /* From the final event to its being freed. */
};

enum shards_action {
    SHARDS_NO_ACTION,
    SHARDS_STAY,         /* Nothing: until then nobody leaves, all quiet. */
    SHARDS_EXPIRE,       /* Of the process `which`: its session ends. */
    SHARDS_AWAY,         /* Nothing gets through, for longer than that lives. */
    SHARDS_CLOSE,        /* It closes its session under its shards. */
    SHARDS_BREAK_MEMBER, /* Its member's znode is deleted. */
    SHARDS_COPY_MEMBER,  /* One that no session owns takes its place. */
    SHARDS_BREAK,        /* The first candidate's znode of shard `which` is. */
    SHARDS_BREAK_DIR,    /* The members' directory, if it is empty. */
    SHARDS_BREAK_PLAN,
    SHARDS_ALLOW,      /* What is below shard 0's leader znode goes. */
    SHARDS_SPOIL_PLAN, /* Something else is written there. */
    SHARDS_SPOIL_MEMBER
};

struct shards_scene {
    int shards;
    struct shards_plan plan[SHARDS_SLOTS];
    struct {
        enum shards_action action;
        int at_ms, which;
    } action[SHARDS_ACTIONS];
    bool garbage;  /* There is something in `plan` at first. */
    bool refused;  /* A leader znode by hand, with a child, is shard 0's. */
    bool soon;     /* Who is ended by the action is followed at once. */
    bool together; /* All join at once: one plan, and nothing moves. */
    bool sequence, end; /* The members' numbers begin at `first`, and those of
                           shard 0's candidates; 3.8.0's end of them. */
    int32_t first;
};

/* One shard of one that has joined, as it was told. */
struct shards_seat {
    evzk_lease *lease; /* Of every second shard; NULL: it is not elected. */
    int64_t epoch;     /* 0: it is not elected. */
    int64_t session;   /* At that time. */
    int64_t leading, suspended;
    int64_t acked;
    int64_t failed; /* LEADING was refused, of this plan. */
    int64_t absent; /* FAILED was told, of this plan. */
    int64_t doubts; /* For process_certain(). */
};

struct shards_slot {
    evzk_shards *a; /* NULL: not joined yet, or freed. */
    const struct shards_plan *plan;
    int64_t proc, used;
    int64_t was_elected; /* Of anything, once. */
    int64_t drain;       /* Was called. */
    int64_t ended;       /* DRAINED or FAILED was told. */
    int64_t lapsed;      /* Its lease was: what it had may still be there. */
    uint64_t planned;    /* The plan that was told last. */
    int64_t ending;      /* What its end was told with, of a shard; or 0. */
    /* Since PLANNED a plan for another number named it first and last then. */
    int64_t odd_first, odd_last;
    /* The shard, plus one, that it gave to each first, of this plan. */
    int64_t given[SHARDS_SLOTS];
    struct shards_seat seat[SHARDS_MOST];
};

/* What is in the true tree. */
struct shards_node {
    int64_t czxid, owner;
    uint64_t name; /* A hash. */
    int64_t ok;    /* A member's: says what a member does. */
    int64_t acl;   /* The version of its ACL: who may not be read is no member
                      to whoever plans. */
};

struct shards_dir {
    struct shards_node node[SHARDS_NODES];
    int64_t n;
    int64_t foreign; /* The oldest of another library's; 0: there is none. */
};

struct shards_text { /* The plan's. */
    int64_t ok;      /* Is one. */
    uint64_t version;
    int64_t shards, members;
    uint64_t name[SHARDS_NODES];
    int64_t weight[SHARDS_NODES], most[SHARDS_NODES];
    int64_t owner[SHARDS_PLANNED]; /* A member, or -1. */
};

struct shards_world {
    const struct shards_scene *sc;
    struct shards_slot slot[SHARDS_SLOTS];
    int64_t slots, actions, planned[SIM_PROCS];
    int64_t closing[SIM_PROCS]; /* So often it was not quiet enough for that. */
    int64_t home;               /* All may leave. */
    int64_t checks;             /* So often it was not right, and excused. */
    int64_t rough;              /* Something has befallen it. */
    int64_t by_hand;            /* Another wrote to the plan, or a member's. */
    int64_t forged;             /* One wrote a plan that is none of theirs. */
    int64_t rivals;             /* Two made plans since the last one. */
    int64_t calm;               /* Since then nothing befalls anybody. */
    int64_t touched;            /* The same, but for what an action ends. */
    int64_t ended_at, ends;     /* Since that was, and whose session. */
    int64_t moved;              /* Since the last change of members, or plan. */
    int64_t looked;             /* The zxid seen last. */
    uint64_t conn[SIM_PROCS];
    struct shards_dir members, dir[SHARDS_MOST];
    struct shards_node newest[SIM_PROCS]; /* By which it stood last. */
    struct shards_text text;
    int64_t plan_czxid, plan_mzxid, plan_version;
    int64_t plan_before; /* The highest version of plan znodes that have gone;
                            -1: none has. */
    /* Since one has come or gone, or may be read again, or not: when members
     * wrote it, the last ones; and how many have planned at a time. */
    int64_t wrote[SHARDS_WRITES], writes, planners;
    int64_t epoch[SHARDS_MOST];   /* The highest told. */
    int64_t led[SHARDS_MOST];     /* Was, once. */
    int64_t unled[SHARDS_MOST];   /* Since when; 0: it is. */
    int64_t foreign[SHARDS_MOST]; /* One of another library was there last. */
};
extern struct shards_world shards_world;

static inline int shards_index(const struct shards_slot *v)
{
    return (int)(v - shards_world.slot);
}

static inline const struct process *shards_process(const struct shards_slot *v)
{
    return process_of((int)v->proc);
}

/* Its end could not be foreseen. */
static inline bool shards_seat_excused(const struct shards_seat *seat)
{
    return operator_deleted(seat->epoch) || session_forced(seat->session);
}

static inline bool shards_expired_once(const struct process *p)
{
    for (unsigned i = 0; i < p->n_ids; i++) {
        if (session_over(p->ids[i]))
            return true;
    }
    return false;
}

/* scene_shards.c */
void shards_begin(const struct sim_scene *sc);
bool shards_done(void);
void shards_maybe_close(int proc);
extern const char *const shards_calls[];
bool shards_call(int proc, unsigned which);

/* scene_shards_actions.c */
void shards_actions_begin(void);

/* scene_shards_tree.c */
void shards_look(void);
/* Does the plan that is there, forged or not, name a member of the process?  It
 * may not have heard that its newest znode has gone. */
bool shards_plan_names(int proc);
bool shards_plan_even(void);       /* That is there now, also a forged one. */
bool shards_owns(int64_t session); /* Has it a znode there? */
const struct shards_node *shards_candidate(int shard, int64_t czxid);
int64_t shards_member(const char *name); /* Whose it is; 0: there is none. */
bool shards_stands(int shard, int64_t session);
bool shards_says(int shard, int64_t session); /* That it leads. */

/* scene_shards_told.c */
void shards_told(struct shards_slot *v, int shard, evzk_election_event ev,
                 int rc);
void shards_told_all(struct shards_slot *v, evzk_shards_event ev, int rc);

/* All its seats are empty. */
void shards_vacate(struct shards_slot *v);

/* scene_shards_rules.c */
bool shards_right(void);   /* All is as it should be when all is quiet. */
bool shards_excused(void); /* It need not come to that. */
void shards_leases(int proc);
void shards_check_epoch(const struct shards_slot *v, int shard);
void shards_check(void);
void shards_check_end(void);

#endif
