# The simulated world: it takes the place of the seams and the ZooKeeper client.
simseam_sources = \
    tests/sim/area.c \
    tests/sim/area.h \
    tests/sim/ens.c \
    tests/sim/ens.h \
    tests/sim/ens_acl.c \
    tests/sim/ens_apply.c \
    tests/sim/ens_close.c \
    tests/sim/ens_fault.c \
    tests/sim/ens_flow.c \
    tests/sim/ens_internal.h \
    tests/sim/ens_link.c \
    tests/sim/ens_prep.c \
    tests/sim/ens_read.c \
    tests/sim/ens_session.c \
    tests/sim/ens_tree.c \
    tests/sim/ens_watch.c \
    tests/sim/loops.c \
    tests/sim/say.c \
    tests/sim/scene_timers.c \
    tests/sim/seams.c \
    tests/sim/steps.c \
    tests/sim/steps.h \
    tests/sim/wire.c \
    tests/sim/wire.h \
    tests/sim/wire_msg.c \
    tests/sim/world.c \
    tests/sim/world.h \
    tests/sim/zoo.c \
    tests/sim/zoo.h \
    tests/sim/zoo_answer.c \
    tests/sim/zoo_auth.c \
    tests/sim/zoo_calls.c \
    tests/sim/zoo_multi.c \
    tests/sim/zoo_names.c \
    tests/sim/zoo_recv.c \
    tests/sim/zoo_send.c \
    tests/sim/zoo_watch.c

# The other files of the folder are sim_sources, in lists.mk: the scenes, and the
# search for faults.

# One program, linked with the real client and with the simulated one.
conform_sources = \
    tests/sim/conform.c tests/sim/conform.h \
    tests/sim/conform_do.c tests/sim/conform_lives.c \
    tests/sim/conform_multi.c tests/sim/conform_pick.c \
    tests/sim/conform_tell.c

# What the simulated world itself promises.
world_tests = \
    tests/sim/test_ens \
    tests/sim/test_ens_session \
    tests/sim/test_wire \
    tests/sim/test_world \
    tests/sim/test_zoo
EXTRA_DIST += tests/sim/test_session.h tests/sim/test_world.h

sim_checks = \
    tests/sim/check-conformance \
    tests/sim/check-costs \
    tests/sim/check-explore
EXTRA_DIST += tests/sim/costs.txt
dist_check_SCRIPTS += tests/sim/conformance $(sim_checks)

if TESTS_WANTED
if HAVE_CHECK
check_LTLIBRARIES += libsim.la libsimseam.la
libsim_la_SOURCES = $(sim_sources)
sim_cppflags = $(AM_CPPFLAGS) $(SIM_CFLAGS) -I$(top_srcdir) \
    -iquote $(top_srcdir)/tests/sim
libsim_la_CPPFLAGS = $(sim_cppflags)
libsim_la_LIBTOOLFLAGS = $(once)
libsimseam_la_SOURCES = $(simseam_sources)
libsimseam_la_CPPFLAGS = $(sim_cppflags)
libsimseam_la_LIBTOOLFLAGS = $(once)
simseam = libsimseam.la $(LIBEVENT_LIBS) $(SIM_LIBS)
sim = libsim.la $(core) $(simseam)
world = libsimseam.la $(core) $(LIBEVENT_LIBS) $(SIM_LIBS) $(CHECK_LIBS)

check_PROGRAMS += \
    tests/sim/conform-real \
    tests/sim/conform-sim \
    tests/sim/explore \
    tests/sim/test_sim \
    tests/sim/test_request_steps \
    tests/sim/test_counter \
    tests/sim/test_deadline \
    tests/sim/test_double_barrier_requests \
    tests/sim/test_joined_commits \
    tests/sim/test_member \
    tests/sim/test_refused \
    tests/sim/test_shared_reads \
    tests/sim/test_site_tx \
    $(world_tests)
tests_sim_conform_real_SOURCES = $(conform_sources) tests/sim/conform_real.c
tests_sim_conform_real_CPPFLAGS = $(sim_cppflags)
tests_sim_conform_real_LDADD = $(core) $(seam) $(deps)
tests_sim_conform_sim_SOURCES = $(conform_sources) tests/sim/conform_sim.c
tests_sim_conform_sim_CPPFLAGS = $(sim_cppflags)
tests_sim_conform_sim_LDADD = libsimseam.la $(core) $(LIBEVENT_LIBS) $(SIM_LIBS)
tests_sim_explore_SOURCES = tests/sim/explore.c
tests_sim_explore_CPPFLAGS = $(sim_cppflags)
tests_sim_explore_LDADD = $(sim)
tests_sim_test_sim_CPPFLAGS = $(sim_cppflags)
tests_sim_test_sim_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_request_steps_CPPFLAGS = $(sim_cppflags)
tests_sim_test_request_steps_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_counter_CPPFLAGS = $(sim_cppflags)
tests_sim_test_counter_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_deadline_CPPFLAGS = $(sim_cppflags)
tests_sim_test_deadline_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_double_barrier_requests_CPPFLAGS = $(sim_cppflags)
tests_sim_test_double_barrier_requests_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_joined_commits_CPPFLAGS = $(sim_cppflags)
tests_sim_test_joined_commits_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_member_CPPFLAGS = $(sim_cppflags)
tests_sim_test_member_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_refused_CPPFLAGS = $(sim_cppflags)
tests_sim_test_refused_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_shared_reads_CPPFLAGS = $(sim_cppflags)
tests_sim_test_shared_reads_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_site_tx_CPPFLAGS = $(sim_cppflags)
tests_sim_test_site_tx_LDADD = $(sim) $(CHECK_LIBS)
tests_sim_test_ens_CPPFLAGS = $(sim_cppflags)
tests_sim_test_ens_LDADD = $(world)
tests_sim_test_ens_session_CPPFLAGS = $(sim_cppflags)
tests_sim_test_ens_session_LDADD = $(world)
tests_sim_test_wire_CPPFLAGS = $(sim_cppflags)
tests_sim_test_wire_LDADD = $(world)
tests_sim_test_world_CPPFLAGS = $(sim_cppflags)
tests_sim_test_world_LDADD = $(world)
tests_sim_test_zoo_CPPFLAGS = $(sim_cppflags)
tests_sim_test_zoo_LDADD = $(world)

sim_tests = tests/sim/test_sim tests/sim/test_request_steps \
    tests/sim/test_counter tests/sim/test_deadline \
    tests/sim/test_double_barrier_requests \
    tests/sim/test_joined_commits tests/sim/test_member tests/sim/test_refused \
    tests/sim/test_shared_reads \
    tests/sim/test_site_tx $(world_tests)
endif
endif

.PHONY: explore conformance
explore: tests/sim/explore$(EXEEXT)
	tests/sim/explore$(EXEEXT)

conformance: tests/sim/conform-real$(EXEEXT) tests/sim/conform-sim$(EXEEXT)
	EVZK_BUILDDIR='$(abs_top_builddir)' \
	    EVZK_ZK_PRIVATE='$(abs_top_srcdir)/tools/zk-private' \
	    $(top_srcdir)/tests/sim/conformance
