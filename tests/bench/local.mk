# The benchmark: "make check" builds it, so that it always compiles; "make bench"
# runs it.
EXTRA_DIST += tests/bench/plot tests/bench/plot.gp

if TESTS_WANTED
if HAVE_CHECK
check_PROGRAMS += tests/bench/bench
tests_bench_bench_SOURCES = $(bench_sources) tests/bench/mntr.c
# The library as programs use it: the exported functions, and no others.
tests_bench_bench_LDADD = libtestsupport.la libevzk.la $(deps) \
    $(CHECK_LIBS) -lm -ldl
CLEANFILES += bench.tsv tests/bench/bench$(EXEEXT)

# Everything is measured, then drawn.  BENCH_ARGS, as in "one-lock --rounds 9".
bench: tests/bench/bench$(EXEEXT)
	EVZK_ZK_PRIVATE='$(abs_top_srcdir)/tools/zk-private' \
	    tests/bench/bench$(EXEEXT) --tsv bench.tsv $(BENCH_ARGS)
	bash $(top_srcdir)/tests/bench/plot bench.tsv \
	    $(top_srcdir)/doc/performance.svg
else
bench: no-check
endif
else
bench: no-check
endif

.PHONY: bench

# The same work on Curator and Kazoo, where they are installed.
check_PROGRAMS += tests/bench/peer_evzk
tests_bench_peer_evzk_SOURCES = \
    tests/bench/peer_evzk.c tests/bench/peer_evzk.h \
    tests/bench/peer_evzk_cache.c tests/bench/peer_evzk_counter.c \
    tests/bench/peer_evzk_items.c tests/bench/peer_evzk_locks.c \
    tests/bench/peer_evzk_members.c tests/bench/peer_evzk_seats.c
tests_bench_peer_evzk_LDADD = libevzk.la $(LIBEVENT_LIBS)
EXTRA_DIST += \
    tests/bench/PeerCurator.java tests/bench/peer_kazoo.py \
    tests/bench/peers tests/bench/peers-table.awk \
    tests/bench/recipes-table.awk
CLEANFILES += peers.tsv tests/bench/peer_evzk$(EXEEXT)
.PHONY: bench-peers
bench-peers: tests/bench/peer_evzk$(EXEEXT)
	EVZK_ZK_PRIVATE='$(abs_top_srcdir)/tools/zk-private' \
	    EVZK_BUILDDIR='$(abs_top_builddir)' \
	    bash $(top_srcdir)/tests/bench/peers --tsv peers.tsv $(PEERS_ARGS)

# What a two-phase commit costs, over the number of its sites: a table, and the
# picture of doc/two-phase.md.
if TESTS_WANTED
if HAVE_CHECK
check_PROGRAMS += tests/bench/two_phase_cost
tests_bench_two_phase_cost_SOURCES = \
    tests/bench/two_phase_cost.c tests/bench/mntr.c
tests_bench_two_phase_cost_LDADD = libtestsupport.la libevzk.la $(deps) \
    $(CHECK_LIBS) -lm
CLEANFILES += two-phase-cost.tsv tests/bench/two_phase_cost$(EXEEXT)
two-phase-cost: tests/bench/two_phase_cost$(EXEEXT)
	EVZK_ZK_PRIVATE='$(abs_top_srcdir)/tools/zk-private' \
	    tests/bench/two_phase_cost$(EXEEXT) -o two-phase-cost.tsv
	bash $(top_srcdir)/tests/bench/plot_two_phase_cost two-phase-cost.tsv \
	    $(top_srcdir)/doc/two-phase-cost.svg
else
two-phase-cost: no-check
endif
else
two-phase-cost: no-check
endif
EXTRA_DIST += tests/bench/plot_two_phase_cost tests/bench/two_phase_cost.gp
.PHONY: two-phase-cost
