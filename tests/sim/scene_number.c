/* The scenes of a recipe, counted over all its lists. */
#include "scene.h"

unsigned sim_scene_count(const struct sim_recipe *r)
{
    unsigned n = r->n_scenes;

    for (unsigned k = 0; k < SIM_MORE && r->more[k]; k++)
        n += r->more[k]->n;
    return n;
}

const struct sim_scene *sim_scene_at(const struct sim_recipe *r, unsigned i)
{
    if (i < r->n_scenes)
        return &r->scenes[i];
    i -= r->n_scenes;
    for (unsigned k = 0; k < SIM_MORE && r->more[k]; k++) {
        if (i < r->more[k]->n)
            return &r->more[k]->v[i];
        i -= r->more[k]->n;
    }
    return NULL;
}

static bool has(const struct sim_scene *v, unsigned n,
                const struct sim_scene *sc)
{
    return sc >= v && sc < v + n;
}

unsigned sim_scene_number(const struct sim_recipe *r,
                          const struct sim_scene *sc)
{
    unsigned before = r->n_scenes;

    if (has(r->scenes, r->n_scenes, sc))
        return (unsigned)(sc - r->scenes);
    for (unsigned k = 0; k < SIM_MORE && r->more[k]; k++) {
        if (has(r->more[k]->v, r->more[k]->n, sc))
            return before + (unsigned)(sc - r->more[k]->v);
        before += r->more[k]->n;
    }
    return before;
}
