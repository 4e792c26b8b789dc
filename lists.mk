# Made by tools/manifest from what is in the folders: do not edit.  When a file
# came, went or has another name, run "make manifest", or tools/manifest.  After
# a merge conflict in this file, take either side and run it.

public_headers = \
    include/evzk/barrier.h \
    include/evzk/cache.h \
    include/evzk/consumer.h \
    include/evzk/double_barrier.h \
    include/evzk/election.h \
    include/evzk/error.h \
    include/evzk/guard.h \
    include/evzk/lease.h \
    include/evzk/lock.h \
    include/evzk/producer.h \
    include/evzk/queue.h \
    include/evzk/semaphore.h \
    include/evzk/session.h \
    include/evzk/shards.h \
    include/evzk/two_phase.h \
    include/evzk/version.h

core_sources = \
    lib/base/acl.c \
    lib/base/acl.h \
    lib/base/error.c \
    lib/base/foreign.c \
    lib/base/foreign.h \
    lib/base/greeting.c \
    lib/base/greeting.h \
    lib/base/lease.c \
    lib/base/lease.h \
    lib/base/log_stderr.c \
    lib/base/loop.h \
    lib/base/mem.c \
    lib/base/mem.h \
    lib/base/name.c \
    lib/base/name.h \
    lib/base/net.h \
    lib/base/order.c \
    lib/base/order.h \
    lib/base/os.h \
    lib/base/util.h \
    lib/base/view.c \
    lib/base/view.h \
    lib/client/calls.c \
    lib/client/client.h \
    lib/client/handle.c \
    lib/client/handle.h \
    lib/client/log.c \
    lib/client/multi.c \
    lib/client/socket.c \
    lib/machine/ask.c \
    lib/machine/begin.c \
    lib/machine/catch_up.c \
    lib/machine/dispatch.c \
    lib/machine/end.c \
    lib/machine/hosted.c \
    lib/machine/kind.h \
    lib/machine/machine.c \
    lib/machine/machine.h \
    lib/machine/machine_internal.h \
    lib/machine/move.c \
    lib/machine/refuse.c \
    lib/machine/refuse.h \
    lib/machine/reply.c \
    lib/machine/rows.h \
    lib/machine/run.c \
    lib/machine/schedule.c \
    lib/machine/stop.c \
    lib/machine/table.c \
    lib/machine/trace.c \
    lib/machine/wake.c \
    lib/request/core.c \
    lib/request/core.h \
    lib/request/create_order.c \
    lib/request/create_order.h \
    lib/request/dir.c \
    lib/request/dir.h \
    lib/request/idle_dirs.c \
    lib/request/idle_dirs.h \
    lib/request/own_queue.c \
    lib/request/own_queue.h \
    lib/request/parents.c \
    lib/request/parents.h \
    lib/request/path_watch.c \
    lib/request/path_watch.h \
    lib/request/place.h \
    lib/request/request.c \
    lib/request/request.h \
    lib/request/send.c \
    lib/request/shared_list.c \
    lib/request/shared_list.h \
    lib/request/shared_read.c \
    lib/request/shared_read.h \
    lib/request/step.c \
    lib/request/step.h \
    lib/request/subrequest.c \
    lib/request/subrequest.h \
    lib/request/transaction.c \
    lib/request/transaction.h \
    lib/request/transaction_answer.c \
    lib/request/transaction_internal.h \
    lib/request/watch.c \
    lib/request/watch.h \
    lib/session/closing.c \
    lib/session/closing.h \
    lib/session/connection.c \
    lib/session/connection.h \
    lib/session/event.c \
    lib/session/servers.c \
    lib/session/servers.h \
    lib/session/session.c \
    lib/session/session.h \
    lib/session/shunned.c \
    lib/session/shunned.h \
    lib/session/state.c \
    lib/session/turn.c \
    recipes/barrier/barrier_internal.h \
    recipes/barrier/calls.c \
    recipes/barrier/common.c \
    recipes/barrier/lift.c \
    recipes/barrier/set.c \
    recipes/barrier/wait.c \
    recipes/cache/cache.c \
    recipes/cache/cache_internal.h \
    recipes/cache/follow.c \
    recipes/cache/follower.c \
    recipes/cache/found.c \
    recipes/cache/gone.c \
    recipes/cache/merge.c \
    recipes/cache/node.c \
    recipes/cache/tell.c \
    recipes/cache/view.c \
    recipes/consumer/bury.c \
    recipes/consumer/calls.c \
    recipes/consumer/consumer_internal.h \
    recipes/consumer/finish.c \
    recipes/consumer/items.c \
    recipes/consumer/list.c \
    recipes/consumer/prove.c \
    recipes/consumer/states.c \
    recipes/consumer/table.c \
    recipes/consumer/take.c \
    recipes/consumer/turn.c \
    recipes/consumer/view.c \
    recipes/double_barrier/calls.c \
    recipes/double_barrier/common.c \
    recipes/double_barrier/double_barrier_internal.h \
    recipes/double_barrier/enter.c \
    recipes/double_barrier/event.c \
    recipes/double_barrier/inside.c \
    recipes/double_barrier/leave.c \
    recipes/double_barrier/query.c \
    recipes/double_barrier/round.c \
    recipes/double_barrier/round.h \
    recipes/double_barrier/table.c \
    recipes/election/announce.c \
    recipes/election/announce_rows.h \
    recipes/election/election.c \
    recipes/election/observer.c \
    recipes/election/resign.c \
    recipes/election/table.c \
    recipes/guard/calls.c \
    recipes/guard/guard_internal.h \
    recipes/guard/write.c \
    recipes/kinds.c \
    recipes/kinds.h \
    recipes/list.h \
    recipes/lock/calls.c \
    recipes/lock/common.c \
    recipes/lock/contend_rows.h \
    recipes/lock/downgrade.c \
    recipes/lock/downgrade_rows.h \
    recipes/lock/enter.c \
    recipes/lock/held.c \
    recipes/lock/leave.c \
    recipes/lock/lock.c \
    recipes/lock/lock_internal.h \
    recipes/lock/own_node.c \
    recipes/lock/patient.c \
    recipes/lock/place.c \
    recipes/lock/priority.c \
    recipes/lock/priority_rows.h \
    recipes/lock/priority_wait.c \
    recipes/lock/query.c \
    recipes/lock/revoke.c \
    recipes/lock/revoke.h \
    recipes/lock/revoke_calls.c \
    recipes/lock/revoke_internal.h \
    recipes/lock/revoke_targets.c \
    recipes/lock/states.h \
    recipes/lock/wait.c \
    recipes/parts/make.c \
    recipes/parts/make.h \
    recipes/parts/numbers.c \
    recipes/parts/numbers.h \
    recipes/parts/queue_layout.c \
    recipes/parts/queue_layout.h \
    recipes/parts/read_all.c \
    recipes/parts/read_all.h \
    recipes/parts/receipt.c \
    recipes/parts/receipt.h \
    recipes/parts/rooted.c \
    recipes/parts/rooted.h \
    recipes/parts/watch_node.c \
    recipes/parts/watch_node.h \
    recipes/parts/write_once.c \
    recipes/parts/write_once.h \
    recipes/producer/batch.c \
    recipes/producer/calls.c \
    recipes/producer/producer_internal.h \
    recipes/producer/puts.c \
    recipes/producer/steps.c \
    recipes/producer/table.c \
    recipes/producer/tails.c \
    recipes/queue/count.c \
    recipes/queue/query.c \
    recipes/queue/query_internal.h \
    recipes/semaphore/calls.c \
    recipes/semaphore/common.c \
    recipes/semaphore/enter.c \
    recipes/semaphore/event.c \
    recipes/semaphore/held.c \
    recipes/semaphore/semaphore_internal.h \
    recipes/semaphore/table.c \
    recipes/semaphore/turn.c \
    recipes/shards/calls.c \
    recipes/shards/common.c \
    recipes/shards/end.c \
    recipes/shards/handover.c \
    recipes/shards/member.c \
    recipes/shards/mend.c \
    recipes/shards/plan.c \
    recipes/shards/plan.h \
    recipes/shards/plan_next.c \
    recipes/shards/plan_text.c \
    recipes/shards/planner.c \
    recipes/shards/planner.h \
    recipes/shards/planner_internal.h \
    recipes/shards/planner_read.c \
    recipes/shards/shard.c \
    recipes/shards/shards_internal.h \
    recipes/shards/step.c \
    recipes/shards/trouble.c \
    recipes/two_phase/begin.c \
    recipes/two_phase/cast.c \
    recipes/two_phase/clean_up.c \
    recipes/two_phase/decide.c \
    recipes/two_phase/event.c \
    recipes/two_phase/finish.c \
    recipes/two_phase/names.c \
    recipes/two_phase/presence.c \
    recipes/two_phase/query.c \
    recipes/two_phase/settle.c \
    recipes/two_phase/site.c \
    recipes/two_phase/site_internal.h \
    recipes/two_phase/site_tx.c \
    recipes/two_phase/site_tx_internal.h \
    recipes/two_phase/text.c \
    recipes/two_phase/two_phase_internal.h \
    recipes/two_phase/tx.c \
    recipes/two_phase/tx_calls.c \
    recipes/two_phase/tx_internal.h \
    recipes/two_phase/votes.c

man_pages = \
    doc/evzk.3 \
    doc/evzk_barrier.3 \
    doc/evzk_cache.3 \
    doc/evzk_consumer.3 \
    doc/evzk_double_barrier.3 \
    doc/evzk_election.3 \
    doc/evzk_error.3 \
    doc/evzk_guard.3 \
    doc/evzk_lease.3 \
    doc/evzk_lock.3 \
    doc/evzk_lock_revoke.3 \
    doc/evzk_producer.3 \
    doc/evzk_queue.3 \
    doc/evzk_semaphore.3 \
    doc/evzk_session.3 \
    doc/evzk_shards.3 \
    doc/evzk_two_phase.3 \
    doc/evzk_version.3

doc_pages = \
    doc/add-a-recipe.md \
    doc/architecture.md \
    doc/barrier-lift.svg \
    doc/barrier-set.svg \
    doc/barrier-wait.svg \
    doc/cache-node.svg \
    doc/cache.svg \
    doc/client-facts.md \
    doc/consumer.svg \
    doc/double-barrier-query.svg \
    doc/double-barrier.svg \
    doc/election-replace.svg \
    doc/election.md \
    doc/election.svg \
    doc/explorer.md \
    doc/guard.svg \
    doc/lease.md \
    doc/lock-downgrade.svg \
    doc/lock-priority.svg \
    doc/lock-query.svg \
    doc/lock-revoke.svg \
    doc/lock-states.md \
    doc/lock-traces.md \
    doc/lock.md \
    doc/lock.svg \
    doc/observer.svg \
    doc/performance.md \
    doc/performance.svg \
    doc/producer.svg \
    doc/queue-query.svg \
    doc/queue.md \
    doc/semaphore.svg \
    doc/shard-server.png \
    doc/shards-demo.svg \
    doc/shards-internals.md \
    doc/shards-planner.svg \
    doc/shards.md \
    doc/site-tx.svg \
    doc/site.svg \
    doc/testing.md \
    doc/transactions.md \
    doc/two-phase-cost.svg \
    doc/two-phase.md \
    doc/tx-query.svg \
    doc/tx.svg \
    doc/watch-node.svg \
    doc/watches.md \
    doc/write-once.svg

doc_dots = \
    doc/barrier-lift.dot \
    doc/barrier-set.dot \
    doc/barrier-wait.dot \
    doc/cache-node.dot \
    doc/cache.dot \
    doc/consumer.dot \
    doc/double-barrier-query.dot \
    doc/double-barrier.dot \
    doc/election-replace.dot \
    doc/election.dot \
    doc/guard.dot \
    doc/lock-downgrade.dot \
    doc/lock-priority.dot \
    doc/lock-query.dot \
    doc/lock-revoke.dot \
    doc/lock.dot \
    doc/observer.dot \
    doc/producer.dot \
    doc/queue-query.dot \
    doc/semaphore.dot \
    doc/shards-planner.dot \
    doc/site-tx.dot \
    doc/site.dot \
    doc/tx-query.dot \
    doc/tx.dot \
    doc/watch-node.dot \
    doc/write-once.dot

example_sources = \
    examples/barrier.c \
    examples/consume.c \
    examples/elect.c \
    examples/guard.c \
    examples/in-step.c \
    examples/lock.c \
    examples/mirror.c \
    examples/peek.c \
    examples/priority.c \
    examples/produce.c \
    examples/readme.c \
    examples/revoke.c \
    examples/seats.c \
    examples/shared.c \
    examples/spread.c \
    examples/two-phase.c \
    examples/who.c

example_programs = \
    examples/barrier \
    examples/consume \
    examples/elect \
    examples/guard \
    examples/in-step \
    examples/lock \
    examples/mirror \
    examples/peek \
    examples/priority \
    examples/produce \
    examples/readme \
    examples/revoke \
    examples/seats \
    examples/shared \
    examples/spread \
    examples/two-phase \
    examples/who
examples_barrier_LDADD = $(examples)
examples_consume_LDADD = $(examples)
examples_elect_LDADD = $(examples)
examples_guard_LDADD = $(examples)
examples_in_step_LDADD = $(examples)
examples_lock_LDADD = $(examples)
examples_mirror_LDADD = $(examples)
examples_peek_LDADD = $(examples)
examples_priority_LDADD = $(examples)
examples_produce_LDADD = $(examples)
examples_readme_LDADD = $(examples)
examples_revoke_LDADD = $(examples)
examples_seats_LDADD = $(examples)
examples_shared_LDADD = $(examples)
examples_spread_LDADD = $(examples)
examples_two_phase_LDADD = $(examples)
examples_who_LDADD = $(examples)

unit_tests = \
    tests/unit/test_args \
    tests/unit/test_dir \
    tests/unit/test_error \
    tests/unit/test_event \
    tests/unit/test_greeting \
    tests/unit/test_lease \
    tests/unit/test_name \
    tests/unit/test_net \
    tests/unit/test_order \
    tests/unit/test_own_queue \
    tests/unit/test_plan \
    tests/unit/test_round \
    tests/unit/test_servers \
    tests/unit/test_shards_judge \
    tests/unit/test_tables \
    tests/unit/test_transaction

args_sources = \
    tests/unit/args.h \
    tests/unit/args_barrier.c \
    tests/unit/args_cache.c \
    tests/unit/args_consumer.c \
    tests/unit/args_double_barrier.c \
    tests/unit/args_election.c \
    tests/unit/args_every.c \
    tests/unit/args_fork.c \
    tests/unit/args_guard.c \
    tests/unit/args_kit.c \
    tests/unit/args_lock.c \
    tests/unit/args_producer.c \
    tests/unit/args_queue.c \
    tests/unit/args_semaphore.c \
    tests/unit/args_session.c \
    tests/unit/args_shards.c \
    tests/unit/args_two_phase.c \
    tests/unit/test_args.c

unit_headers = \
    tests/unit/unit.h \
    tests/unit/unit_dir.h

real_tests = \
    tests/real/test_barrier \
    tests/real/test_cache \
    tests/real/test_consumer \
    tests/real/test_create_order \
    tests/real/test_double_barrier \
    tests/real/test_election \
    tests/real/test_event_order \
    tests/real/test_example_flood \
    tests/real/test_example_herd \
    tests/real/test_example_page \
    tests/real/test_example_queue \
    tests/real/test_example_shards \
    tests/real/test_example_transfer \
    tests/real/test_guard \
    tests/real/test_lock \
    tests/real/test_lock_curator \
    tests/real/test_lock_downgrade \
    tests/real/test_lock_expiry \
    tests/real/test_lock_foreign \
    tests/real/test_lock_herd \
    tests/real/test_lock_kazoo \
    tests/real/test_lock_memory \
    tests/real/test_lock_operator \
    tests/real/test_lock_options \
    tests/real/test_lock_other_libraries \
    tests/real/test_lock_query \
    tests/real/test_lock_revocable \
    tests/real/test_lock_shared \
    tests/real/test_many_waiters \
    tests/real/test_memory_use \
    tests/real/test_observer \
    tests/real/test_producer \
    tests/real/test_queue_size \
    tests/real/test_regressions \
    tests/real/test_round_trip \
    tests/real/test_scale \
    tests/real/test_semaphore \
    tests/real/test_session_auth \
    tests/real/test_session_close \
    tests/real/test_session_descriptors \
    tests/real/test_two_phase

sweep_sources = \
    tests/real/sweep.c \
    tests/real/sweep.h \
    tests/real/sweep_barrier.c \
    tests/real/sweep_cache.c \
    tests/real/sweep_consumer.c \
    tests/real/sweep_count.c \
    tests/real/sweep_double_barrier.c \
    tests/real/sweep_election.c \
    tests/real/sweep_guard.c \
    tests/real/sweep_lane.c \
    tests/real/sweep_line.c \
    tests/real/sweep_lock.c \
    tests/real/sweep_producer.c \
    tests/real/sweep_queue.c \
    tests/real/sweep_semaphore.c \
    tests/real/sweep_shards.c \
    tests/real/sweep_two_phase.c

support_sources = \
    tests/real/support/harness.c \
    tests/real/support/harness.h \
    tests/real/support/proxy.c \
    tests/real/support/proxy.h \
    tests/real/support/proxy_conn.c \
    tests/real/support/proxy_frame.c \
    tests/real/support/proxy_process.c \
    tests/real/support/proxy_route.h \
    tests/real/support/raw.c \
    tests/real/support/raw.h \
    tests/real/support/support.c \
    tests/real/support/support.h \
    tests/real/support/zk.c \
    tests/real/support/zk.h

real_headers = \
    tests/real/test_demo.h \
    tests/real/test_election.h \
    tests/real/test_example.h \
    tests/real/test_lock.h \
    tests/real/test_many.h \
    tests/real/test_party.h \
    tests/real/test_peers.h \
    tests/real/test_session_kit.h \
    tests/real/test_shards.h

sim_sources = \
    tests/sim/ballot.c \
    tests/sim/ballot.h \
    tests/sim/coverage.c \
    tests/sim/coverage.h \
    tests/sim/faults.c \
    tests/sim/faults.h \
    tests/sim/faults_kinds.h \
    tests/sim/faults_net.c \
    tests/sim/faults_plan.c \
    tests/sim/faults_tree.c \
    tests/sim/leases.c \
    tests/sim/leases.h \
    tests/sim/processes.c \
    tests/sim/processes.h \
    tests/sim/run.c \
    tests/sim/run.h \
    tests/sim/scene.h \
    tests/sim/scene_ballot.c \
    tests/sim/scene_barrier.c \
    tests/sim/scene_cache.c \
    tests/sim/scene_cache.h \
    tests/sim/scene_cache_list.c \
    tests/sim/scene_cache_rules.c \
    tests/sim/scene_consumer.c \
    tests/sim/scene_consumer.h \
    tests/sim/scene_consumer_list.c \
    tests/sim/scene_consumer_rules.c \
    tests/sim/scene_double_barrier.c \
    tests/sim/scene_double_barrier.h \
    tests/sim/scene_double_barrier_list.c \
    tests/sim/scene_double_barrier_query.c \
    tests/sim/scene_double_barrier_rules.c \
    tests/sim/scene_election.c \
    tests/sim/scene_election_list.c \
    tests/sim/scene_election_rules.c \
    tests/sim/scene_guard.c \
    tests/sim/scene_guard.h \
    tests/sim/scene_guard_rules.c \
    tests/sim/scene_list.h \
    tests/sim/scene_lock.c \
    tests/sim/scene_lock.h \
    tests/sim/scene_lock_actions.c \
    tests/sim/scene_lock_calls.c \
    tests/sim/scene_lock_dirs.c \
    tests/sim/scene_lock_list.c \
    tests/sim/scene_lock_query.c \
    tests/sim/scene_lock_query_list.c \
    tests/sim/scene_lock_revoke.c \
    tests/sim/scene_lock_rules.c \
    tests/sim/scene_lock_seen.c \
    tests/sim/scene_lock_tree.c \
    tests/sim/scene_observer.c \
    tests/sim/scene_producer.c \
    tests/sim/scene_producer.h \
    tests/sim/scene_producer_list.c \
    tests/sim/scene_producer_others.c \
    tests/sim/scene_producer_rules.c \
    tests/sim/scene_queue.c \
    tests/sim/scene_semaphore.c \
    tests/sim/scene_semaphore.h \
    tests/sim/scene_semaphore_list.c \
    tests/sim/scene_semaphore_rules.c \
    tests/sim/scene_shards.c \
    tests/sim/scene_shards.h \
    tests/sim/scene_shards_actions.c \
    tests/sim/scene_shards_list.c \
    tests/sim/scene_shards_rules.c \
    tests/sim/scene_shards_told.c \
    tests/sim/scene_shards_tree.c \
    tests/sim/scene_two_phase.c \
    tests/sim/scene_two_phase.h \
    tests/sim/scene_two_phase_list.c \
    tests/sim/scene_two_phase_rules.c \
    tests/sim/scenes.c \
    tests/sim/search.c \
    tests/sim/search.h \
    tests/sim/search_job.h \
    tests/sim/search_jobs.c \
    tests/sim/search_plain.c \
    tests/sim/search_seen.c \
    tests/sim/search_seen.h

bench_sources = \
    tests/bench/batch.c \
    tests/bench/batch.h \
    tests/bench/bench.c \
    tests/bench/bench.h \
    tests/bench/crew.c \
    tests/bench/fill.c \
    tests/bench/goals.c \
    tests/bench/holder.c \
    tests/bench/library.c \
    tests/bench/library.h \
    tests/bench/meter.c \
    tests/bench/plain.c \
    tests/bench/plain.h \
    tests/bench/play.c \
    tests/bench/play.h \
    tests/bench/play_hand_over.c \
    tests/bench/play_join.c \
    tests/bench/play_many.c \
    tests/bench/play_observe.c \
    tests/bench/play_one.c \
    tests/bench/play_queue.c \
    tests/bench/play_share.c \
    tests/bench/play_shared.c \
    tests/bench/play_transact.c \
    tests/bench/play_waiting.c \
    tests/bench/raw_queue.c \
    tests/bench/raw_queue.h \
    tests/bench/report.c \
    tests/bench/runs.c \
    tests/bench/team.c \
    tests/bench/team.h \
    tests/bench/way_evzk.c \
    tests/bench/way_evzk_double_barrier.c \
    tests/bench/way_evzk_election.c \
    tests/bench/way_evzk_observe.c \
    tests/bench/way_evzk_queue.c \
    tests/bench/way_evzk_shards.c \
    tests/bench/way_evzk_two_phase.c \
    tests/bench/way_raw.c \
    tests/bench/way_raw_double_barrier.c \
    tests/bench/way_raw_election.c \
    tests/bench/way_raw_observe.c \
    tests/bench/way_raw_queue.c \
    tests/bench/way_raw_queue_calls.c \
    tests/bench/way_raw_two_phase.c \
    tests/bench/wire.c \
    tests/bench/workloads.c
