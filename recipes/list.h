/* Made by tools/manifest from recipes/manifest: do not edit.  Each list names
 * things of C: X(lock) stands for evzk__lock_kind, sim_lock, and so on. */
#ifndef EVZK_RECIPES_LIST_H
#define EVZK_RECIPES_LIST_H

/* clang-format off */
#define EVZK__KINDS(X) \
    X(lock) \
    X(lock_query) \
    X(lock_revoke) \
    X(election) \
    X(observer) \
    X(planner) \
    X(tidy) \
    X(watch_node) \
    X(write_once) \
    X(barrier_set) \
    X(barrier_lift) \
    X(barrier_wait) \
    X(queue_query) \
    X(double_barrier) \
    X(double_barrier_query) \
    X(producer) \
    X(consumer) \
    X(tx) \
    X(site) \
    X(site_tx) \
    X(tx_query) \
    X(cache) \
    X(cache_node) \
    X(guard) \
    X(semaphore) \
    X(multi_lock) \
    X(value_read) \
    X(value_writer) \
    X(config_read) \
    X(config_write) \
    X(member) \
    X(chubby) \
    X(chubby_lock) \
    X(chubby_check) \
    X(chubby_anchor)

#define EVZK__SCENES(X) \
    X(lock) \
    X(lock_query) \
    X(lock_revoke) \
    X(lock_dialect) \
    X(election) \
    X(observer) \
    X(election_dialect) \
    X(shards) \
    X(tidy) \
    X(watch_node) \
    X(write_once) \
    X(barrier) \
    X(barrier_set) \
    X(barrier_lift) \
    X(queue) \
    X(double_barrier) \
    X(double_barrier_query) \
    X(producer) \
    X(consumer) \
    X(two_phase) \
    X(two_phase_site_tx) \
    X(two_phase_site) \
    X(two_phase_query) \
    X(cache) \
    X(cache_node) \
    X(guard) \
    X(semaphore) \
    X(multi_lock) \
    X(value) \
    X(value_writer) \
    X(config) \
    X(config_write) \
    X(group) \
    X(names) \
    X(chubby) \
    X(chubby_lock) \
    X(chubby_check) \
    X(chubby_anchor)

#define EVZK__SWEEPS(X) \
    X(lock) \
    X(shared) \
    X(revoke) \
    X(priority) \
    X(election) \
    X(shards) \
    X(barrier) \
    X(queue) \
    X(double_barrier) \
    X(producer) \
    X(consumer) \
    X(two_phase) \
    X(cache) \
    X(guard) \
    X(semaphore) \
    X(multi_lock) \
    X(value) \
    X(config) \
    X(group) \
    X(names) \
    X(chubby)

#define EVZK__ARGS(X) \
    X(lock) \
    X(election) \
    X(shards) \
    X(barrier) \
    X(queue) \
    X(double_barrier) \
    X(producer) \
    X(consumer) \
    X(two_phase) \
    X(cache) \
    X(guard) \
    X(semaphore) \
    X(multi_lock) \
    X(value) \
    X(config) \
    X(group) \
    X(names) \
    X(chubby)

/* clang-format on */

#endif
