/* What the explorer knows of a recipe: its scenes, its rules, its calls.
 *
 * A scene has a few processes, each with a session, do something with the
 * recipe by themselves: start, hold for a while, let go, free, close.  Its own
 * memory is kept (SIM_KEEP).  It knows nothing of faults: whatever befalls it,
 * the rules hold, and it comes to its end. */
#ifndef SIM_SCENE_H
#define SIM_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recipes/kinds.h"

struct sim_scene {
    const char *name, *about;
    int processes;
    bool pairs;      /* Small enough for pairs of faults. */
    const void *own; /* The recipe's description of it. */
};

/* A list of scenes about one subject, in a file of its own. */
struct sim_scenes {
    const struct sim_scene *v;
    unsigned n;
};
#define SIM_SCENES(list)                                                       \
    {                                                                          \
        (list), sizeof(list) / sizeof(list)[0]                                 \
    }
enum { SIM_MORE = 4 };

/* What a process owes: something that an object of it, which acts by itself, is
 * there for and could do now. */
struct sim_debt {
    const char *what; /* Static; NULL: nothing. */
    int64_t whose;    /* Of several objects alike. */
    uint64_t paid;   /* Counts what was done of it: each time it begins anew. */
    int64_t most_us; /* The time that a page gives; 0: that of all debts. */
};

/* The first debt that is so is noted, the others when that one is paid. */
static inline void sim_owe(struct sim_debt *d, bool is, const char *what,
                           int64_t whose)
{
    if (is && !d->what) {
        d->what = what;
        d->whose = whose;
    }
}

struct sim_recipe {
    const char *name;
    /* Its moves and pairs are counted.  NULL: the recipe is put together of
     * others, and has no table. */
    const struct evzk__kind *kind;
    const struct sim_scene *scenes;
    unsigned n_scenes;
    const struct sim_scenes *more[SIM_MORE];   /* Behind those. */
    void (*begin)(const struct sim_scene *sc); /* In a world just begun. */
    void (*check)(void); /* The rules; after every step. */
    /* Fills in what the process, which is entered, owes now: see owes.c.  NULL:
     * no object of the recipe acts by itself. */
    void (*owes)(int proc, struct sim_debt *debt);
    bool (*done)(void);      /* All has come to its end, and is closed. */
    void (*check_end)(void); /* The rules at the end: nothing is left. */
    /* Calls of the library that the explorer makes at any time, also inside
     * callbacks, for a process that is entered.  False: there is nothing to
     * call it on (now). */
    const char *const *calls; /* Names; NULL at the end. */
    bool (*call)(int proc, unsigned which);
};

/* The scenes of all lists have numbers, from 0. */
unsigned sim_scene_count(const struct sim_recipe *r);
const struct sim_scene *sim_scene_at(const struct sim_recipe *r, unsigned i);
unsigned sim_scene_number(const struct sim_recipe *r,
                          const struct sim_scene *sc);

/* All that recipes/manifest names.  NULL at the end. */
extern const struct sim_recipe *const sim_recipes[];
#define SIM_DECLARE(name) extern const struct sim_recipe sim_##name;
EVZK__SCENES(SIM_DECLARE)
#undef SIM_DECLARE
extern const struct sim_recipe sim_ballot; /* Of the tests alone. */

#endif
