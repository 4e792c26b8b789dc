# A test is a file tests/unit/test_*.c or tests/real/test_*.c: lists.mk has it.
script_tests = \
    tests/check-code \
    tests/check-docs \
    tests/test-diagram \
    tests/check-exports \
    tests/check-abi \
    tests/test-abi \
    tests/check-layers \
    tests/test-layers \
    tests/check-manifest \
    tests/test-manifest \
    tests/check-words \
    tests/test-words \
    tests/check-headers
museum_tests = tests/museum/check-museum

# tests/unit/test_args is one program; each recipe adds a file to it.
EXTRA_DIST += $(unit_headers)

# These tests take longest, and start before the other ones on servers, so that
# "make -j" ends sooner.
long_tests = \
    tests/real/test_dialect_fleet \
    tests/real/test_shards_trouble \
    tests/real/test_shards_forged \
    tests/real/test_shards \
    tests/real/test_session_net \
    tests/real/test_session_greeting \
    tests/real/test_session_lease \
    tests/real/test_lock_callbacks \
    tests/real/test_lock_priority \
    tests/real/test_session_ensemble \
    tests/real/test_lock_faults \
    tests/real/test_lock_revoke \
    tests/real/test_lock_suspended \
    tests/real/test_lock_verify \
    tests/real/test_dirs \
    tests/real/test_transaction \
    tests/real/test_session \
    tests/real/support/selftest
server_tests = $(long_tests) $(real_tests)
if HAVE_EVTHREAD
thread_tests = tests/real/test_threads
endif
tests_real_test_threads_LDADD = $(LDADD) $(LIBEVENT_PTHREADS_LIBS)
# These tests measure the time that the library takes: with "make -j" they run
# one at a time, after all others.  "alone_tests=" lets them run with the others.
alone_tests = $(addprefix tests/real/,test_scale test_session_close)
EXTRA_DIST += $(real_headers) \
    tests/real/PeerFleet.java tests/real/PeerLocks.java \
    tests/real/PeerQueues.java tests/real/peer_queues.py \
    tests/real/peer_fleet.py tests/real/peer_locks.py

# Orders the tests of this run: alone_tests come last, the second of them after
# the first.  A third one would need a line too.
alone = $(filter $(alone_tests:=.log),$(TEST_LOGS))
others = $(if $(alone_tests),$(filter-out $(alone),$(TEST_LOGS)))
$(alone): $(others)
$(word 2,$(alone)): $(word 1,$(alone))

# The command evzk, run as its users run it: bash scripts, with tests/command/kit.bash.
dist_check_SCRIPTS += $(command_tests)
EXTRA_DIST += tests/command/kit.bash
tests_command_stamp_SOURCES = tests/command/stamp.c
tests_command_stamp_LDADD =
tests_command_knot_SOURCES = tests/command/knot.c
tests_command_knot_LDADD = libevzk.la $(LIBEVENT_LIBS)

# doc/tutorial.md, and its steps.
tutorial_tests = tests/check-tutorial
dist_check_SCRIPTS += $(tutorial_tests)

# A recipe to copy: doc/add-a-recipe.md.
toy_tests = tests/toy/check-toy
EXTRA_DIST += tests/toy
dist_check_SCRIPTS += $(script_tests) $(museum_tests) tests/real/check-proxy
EXTRA_DIST += tests/abi tests/museum

# Libtool compiles each file of a library twice: for a static and for a shared
# library.  The tests' own libraries are static only.
once = --tag=disable-shared

if TESTS_WANTED
if HAVE_CHECK
check_LTLIBRARIES += libtestsupport.la
libtestsupport_la_SOURCES = $(support_sources)
libtestsupport_la_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS)
libtestsupport_la_LIBTOOLFLAGS = $(once)

# A library to load before a program: it holds the answers of servers back.
check_LTLIBRARIES += tests/real/support/late.la
tests_real_support_late_la_SOURCES = tests/real/support/late.c
tests_real_support_late_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version \
    -rpath /nowhere
tests_real_support_late_la_LIBADD = -ldl

tests_unit_test_args_SOURCES = $(args_sources)
tests_unit_test_readers_SOURCES = $(reader_sources)
tests_unit_test_readers_CPPFLAGS = $(AM_CPPFLAGS) \
    -DFUZZ_SEEDS='"$(abs_top_srcdir)/tests/fuzz/seeds"'
check_PROGRAMS += $(unit_tests) $(server_tests) $(thread_tests) \
    tests/real/sweep
tests_real_sweep_SOURCES = $(sweep_sources)
tests_real_support_selftest_SOURCES = tests/real/support/selftest.c
# "make -j" starts tests in this order.  Short tests come last, so that all
# processors have work to the end.
TESTS += $(sim_checks) $(fuzz_tests) $(toy_tests) tests/real/check-proxy \
    $(sim_tests) $(unit_tests) $(long_tests) $(museum_tests)
else
check-local: no-check
endif
TESTS += $(script_tests)
if HAVE_COMMAND
check_PROGRAMS += tests/command/knot tests/command/stamp
TESTS += $(command_tests) $(tutorial_tests)
endif
if HAVE_CHECK
TESTS += $(real_tests) $(thread_tests)
endif
endif

include tests/fuzz/local.mk
include tests/sim/local.mk
include tests/bench/local.mk

# "make check" builds all programs, then runs the tests.  "make check TESTS=..."
# builds these tests alone: the log of a test depends on its program.  "make check
# TESTS=" builds all programs, and runs no test.
some_tests = $(and $(filter check check-TESTS,$(MAKECMDGOALS)), \
    $(filter command line,$(origin TESTS)),$(strip $(TESTS)))
build_some := $(if $(some_tests),$(eval override check_PROGRAMS :=) \
    $(eval override check_LTLIBRARIES :=))
script_logs = $(filter $(addsuffix .log,$(1)),$(TEST_LOGS))
$(call script_logs,tests/real/check-proxy): tests/real/sweep$(EXEEXT)
$(call script_logs,$(fuzz_tests)): tests/fuzz/fuzz$(EXEEXT)
$(call script_logs,$(command_tests)): tools/evzk$(EXEEXT) \
    tests/command/stamp$(EXEEXT)
$(call script_logs,tests/command/test_lock): examples/revoke$(EXEEXT)
$(call script_logs,$(tutorial_tests)): tools/evzk$(EXEEXT) \
    tests/command/knot$(EXEEXT) \
    $(tutorial_programs:=$(EXEEXT))
$(call script_logs,tests/command/test_why tests/command/test_revoke): \
    tests/command/knot$(EXEEXT)
$(call script_logs,tests/command/test_elect): examples/elect$(EXEEXT)
$(call script_logs,tests/command/test_pages): examples/readme$(EXEEXT)
$(call script_logs,tests/test-diagram): tools/evzk-diagram$(EXEEXT)
$(call script_logs,tests/sim/check-explore tests/sim/check-costs): tests/sim/explore$(EXEEXT)
$(call script_logs,$(toy_tests)): tests/sim/explore$(EXEEXT)
$(call script_logs,tests/sim/check-conformance): \
    tests/sim/conform-real$(EXEEXT) tests/sim/conform-sim$(EXEEXT)

# For each program that has no LDADD of its own: the tests.
LDADD = libtestsupport.la $(core) $(seam) $(deps) $(CHECK_LIBS)
AM_CPPFLAGS += $(CHECK_CFLAGS) -iquote $(top_srcdir)/tests/real/support

AM_TESTS_ENVIRONMENT = \
    CC='$(CC)'; CFLAGS='$(CFLAGS)'; CPPFLAGS='$(CPPFLAGS)'; NM='$(NM)'; \
    EVZK_SRCDIR='$(abs_top_srcdir)'; EVZK_BUILDDIR='$(abs_top_builddir)'; \
    EVZK_ZK_PRIVATE='$(abs_top_srcdir)/tools/zk-private'; \
    LIBEVENT_CFLAGS='$(LIBEVENT_CFLAGS)'; LIBEVENT_LIBS='$(LIBEVENT_LIBS)'; \
    SIM_CFLAGS='$(SIM_CFLAGS)'; SIM_LIBS='$(SIM_LIBS)'; \
    ZOOKEEPER_CFLAGS='$(ZOOKEEPER_CFLAGS)'; \
    ZOOKEEPER_LIBS='$(ZOOKEEPER_LIBS)'; LDFLAGS='$(LDFLAGS)'; \
    SANITIZER_CFLAGS='$(SANITIZER_CFLAGS)'; \
    export CC CFLAGS CPPFLAGS NM LDFLAGS SANITIZER_CFLAGS \
        LIBEVENT_CFLAGS LIBEVENT_LIBS SIM_CFLAGS SIM_LIBS ZOOKEEPER_CFLAGS ZOOKEEPER_LIBS \
        EVZK_SRCDIR EVZK_BUILDDIR EVZK_ZK_PRIVATE;

# Every rule of the frame proxy at every frame and byte: some minutes.
proxy: tests/real/sweep$(EXEEXT) libtestsupport.la
	tests/real/sweep$(EXEEXT) --list | while read recipe share; do \
	    EVZK_ZK_PRIVATE='$(abs_top_srcdir)/tools/zk-private' \
	        tests/real/sweep$(EXEEXT) --recipe $$recipe --share $$share || \
	        exit 1; \
	done

# Known defects, each planted and caught: about a minute.
museum:
	@$(AM_TESTS_ENVIRONMENT) bash $(top_srcdir)/tests/museum/run

.PHONY: museum proxy no-check check-quick check-plain \
    check-sanitized \
    abi-baseline check-packages check-threads check-units late \
    valgrind distcheck-quick
no-check:
	@echo 'The tests need Check: apt-get install check,' \
	    'then ./configure again.' >&2; exit 1

# All but the tests against real servers.
check-quick: tests/bench/bench$(EXEEXT) tests/bench/peer_evzk$(EXEEXT)
	$(MAKE) check TESTS='$(script_tests) $(toy_tests) $(unit_tests) $(sim_tests)'

# What a package's build has time for.
check-units:
	$(MAKE) check TESTS='tests/check-exports tests/check-headers $(unit_tests)'

# Sanitizers show nothing new in these: they measure what the library takes, or run
# mostly others' programs: the servers, Curator and Kazoo, or the proxy.
plain_programs = $(addprefix tests/real/,test_dialect_fleet test_lock_curator \
    test_session_ensemble support/selftest test_scale test_session_close \
    test_memory_use)
sanitized_programs = $(fuzz_tests) $(sim_tests) $(unit_tests) \
    $(filter-out $(plain_programs),$(server_tests)) $(thread_tests)

plain_tests = $(sim_checks) tests/museum/check-museum $(toy_tests) \
    tests/real/check-proxy $(tutorial_tests) $(command_tests) $(script_tests) \
    $(plain_programs)

# ./quickstart check: each test once, in the build that shows more.
check-sanitized:
	$(MAKE) check TESTS='$(sanitized_programs)'
check-plain:
	$(MAKE) check TESTS='$(plain_tests)'

# The programs that have threads, for --enable-sanitizers=thread; no other is
# built.
check-threads:
	$(MAKE) examples/workers$(EXEEXT)
	$(MAKE) check-TESTS TESTS='$(thread_tests)'

# The tarball is built with the quick tests alone, and not optimized: other builds
# are.  A comparison of names shows whether it has all other files.  It is packed
# fast, since nobody downloads it.
dist_dirs = debian doc examples include lib m4 recipes tests tools
distcheck-quick:
	XZ_OPT=-0 $(MAKE) distcheck \
	    TESTS='tests/check-manifest tests/check-exports $(unit_tests)' \
	    DISTCHECK_CONFIGURE_FLAGS="$(DISTCHECK_CONFIGURE_FLAGS) CFLAGS=-O0"
	@cd $(srcdir) && find $(dist_dirs) -type f ! -name '.*' ! -name '*~' \
	    ! -path 'debian/*/*/*' ! -name '*debhelper*' ! -name '*.substvars' \
	    ! -path debian/files | \
	    sort >$(abs_builddir)/dist.wanted
	@tar -tf $(distdir).tar.xz | sed 's,^[^/]*/,,' | sort | \
	    comm -13 - dist.wanted >dist.missing
	@sed 's/$$/: not in the tarball/' dist.missing && test ! -s dist.missing
CLEANFILES += dist.wanted dist.missing

# All test programs in Valgrind.  Check's time-outs are stretched; our own know of
# Valgrind by themselves.
VALGRIND_FLAGS = --quiet --leak-check=full --error-exitcode=99 \
    --child-silent-after-fork=no
valgrind:
	@test '$(VALGRIND)' != no || { \
	    echo 'This needs Valgrind: apt-get install valgrind,' \
	    'then ./configure again.' >&2; exit 1; }
	CK_TIMEOUT_MULTIPLIER=10 $(MAKE) check \
	    TESTS='$(sim_tests) $(unit_tests) $(server_tests) $(thread_tests)' \
	    LOG_COMPILER='$(VALGRIND) $(VALGRIND_FLAGS)'

# The tests on real servers, with every answer held back for up to LATE
# milliseconds: so two sessions hear of one change in every order.
LATE = 50
late: tests/real/support/late.la
	EVZK_TEST_LATE=$(LATE) EVZK_TEST_SLOW=3 CK_TIMEOUT_MULTIPLIER=3 \
	    $(MAKE) check TESTS='$(server_tests)' LOG_COMPILER='env \
	    LD_PRELOAD=$(abs_builddir)/tests/real/support/.libs/late.so'

# The installed library must serve a program that knows only pkg-config.
installcheck-local:
	CC='$(CC)' CFLAGS='$(CFLAGS) $(SANITIZER_CFLAGS)' \
	    PKG_CONFIG='$(PKG_CONFIG)' EVZK_SRCDIR='$(abs_top_srcdir)' \
	    PKG_CONFIG_PATH="$(DESTDIR)$(pkgconfigdir):$$PKG_CONFIG_PATH" \
	    $(SHELL) $(top_srcdir)/tests/check-install
EXTRA_DIST += tests/check-install tests/check-projects

# What tests/check-abi compares with, at each release: doc/versions.md.
abi-baseline: libevzk.la
	@$(AM_TESTS_ENVIRONMENT) $(top_srcdir)/tests/check-abi --renew

# Debian's packages and the tarball on bare machines, as root: a quarter of an hour, or two.
check-packages: dist
	$(top_srcdir)/tools/try-packages $(distdir).tar.xz packages
EXTRA_DIST += tools/try-packages
