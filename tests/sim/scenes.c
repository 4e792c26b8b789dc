/* The recipes that the explorer knows. */
#include "scene_lock.h"
#include "scene_shards.h"

const struct sim_recipe *const sim_recipes[] = {
    &sim_lock,     &sim_lock_query, &sim_lock_revoke,
    &sim_election, &sim_observer,   &sim_shards,
    &sim_follow,   &sim_once,       NULL};
