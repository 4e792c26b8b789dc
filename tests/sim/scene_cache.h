/* The scenes of the cache, as their files know them. */
#ifndef SIM_SCENE_CACHE_H
#define SIM_SCENE_CACHE_H

#include "evzk/cache.h"
#include "scene.h"

enum { CACHE_NODES = 10, CACHE_ACTS = 16, CACHES = 2, CACHE_STATES = 24 };

/* What an operator does to a znode. */
enum cache_act_kind {
    CACHE_MAKE = 1,
    CACHE_WRITE,
    CACHE_DELETE,  /* With all below it. */
    CACHE_REMAKE,  /* Deletes it, with all below it, and makes it anew. */
    CACHE_REPLACE, /* The same: then it is ephemeral. */
    CACHE_HIDE,
    CACHE_SHOW
};

struct cache_act {
    int64_t at_us; /* 0: no more acts. */
    enum cache_act_kind what;
    int node;
};

struct cache_scene {
    const char *node[CACHE_NODES]; /* Paths; those above come first. */
    unsigned there;                /* A bit for each that is there at first. */
    struct cache_act act[CACHE_ACTS];
    /* Of the sessions, and of all paths; NULL: none.  It is missing until then;
     * 0: for ever. */
    const char *chroot;
    int root_ms;
    bool followers_lag; /* Followers hear late of changes. */
    int64_t start_us;   /* When the caches begin; 0: soon. */
    bool denied;        /* The root may not be read at last. */
    bool cancels;       /* Each cache is canceled, not freed. */
    unsigned window;
    const char *root[CACHES]; /* NULL: no such cache.  All in process 0. */
    evzk_cache_options opt[CACHES];
    int touched; /* The node that the explorer's calls are about. */
};

/* The list: scene_cache_list.c. */
extern const struct sim_scene cache_scenes[];
enum { CACHE_SCENES = 17 };

/* The rules: scene_cache_rules.c.  `i` is the number of a cache. */
void cache_rules_begin(const struct cache_scene *own);
void cache_rules_look(void); /* At the tree: notes what each znode is now. */
void cache_rules_started(int i, evzk_cache *c);
void cache_rules_filling(int i); /* All is read again from here. */
/* The process has another connection: nothing was read on it yet. */
void cache_rules_connected(int i);
void cache_rules_told(int i, const evzk_cache *c, evzk_cache_event event,
                      const evzk_cache_entry *entry,
                      const evzk_cache_entry *before);
void cache_rules_check_view(int i, const evzk_cache *c);
/* The view is the tree, and is said to be whole. */
bool cache_rules_is_right(int i, const evzk_cache *c);
int64_t cache_rules_changed_at(void); /* The tree, last. */

void cache_begin(const struct sim_scene *sc);
void cache_check(void);
void cache_owes(int proc, struct sim_debt *debt);
bool cache_done(void);
void cache_check_end(void);
extern const char *const cache_calls[];
bool cache_call(int proc, unsigned which);

#endif
