# The readers of what comes from servers, and libFuzzer, where the compiler has it.
# Their objects are made by one rule, since no other program has such ones.  The
# rest comes from the library as it is.
fuzzed = \
    lib/base/foreign \
    lib/base/greeting \
    lib/base/mem \
    lib/base/name \
    lib/base/order \
    recipes/chubby/names \
    recipes/double_barrier/round \
    recipes/election/leader \
    recipes/lock/dialect \
    recipes/names/endpoint \
    recipes/parts/dialect \
    recipes/parts/queue_foreign \
    recipes/parts/queue_layout \
    recipes/shards/plan \
    recipes/shards/plan_text \
    recipes/two_phase/names \
    recipes/two_phase/text \
    recipes/value/number \
    tests/fuzz/fuzz \
    tests/fuzz/readers
EXTRA_DIST += $(fuzz_sources) tests/fuzz/seeds
dist_check_SCRIPTS += tests/fuzz/check-fuzz

fuzz_flags = -g1 -O1 -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=all -fno-omit-frame-pointer
if HAVE_FUZZER
fuzz_tests = tests/fuzz/check-fuzz
endif

tests/fuzz/fuzz$(EXEEXT): $(fuzz_sources) $(reader_sources) $(core_sources) \
    $(core) $(seam)
	$(AM_V_CC)rm -rf tests/fuzz/objects && mkdir -p tests/fuzz/objects && \
	for file in $(fuzzed:=.c); do \
	    $(CC) $(DEFS) -I. $(CPPFLAGS) $(AM_CPPFLAGS) -I$(top_srcdir) \
	        $(WARN_CFLAGS) $(fuzz_flags) -c $(top_srcdir)/$$file \
	        -o tests/fuzz/objects/`echo $$file | tr / _`.o || exit 1; \
	done
	$(AM_V_CCLD)$(LIBTOOL) $(AM_V_lt) --tag=CC --mode=link $(CC) \
	    $(fuzz_flags) $(LDFLAGS) -o $@ tests/fuzz/objects/*.o $(core) \
	    $(seam) $(deps)
mostlyclean-local:
	rm -rf tests/fuzz/objects tests/fuzz/fuzz$(EXEEXT)

# As long as you like: make check-fuzz FUZZ_SECONDS=3600 FUZZ_READERS=tx
FUZZ_SECONDS = 10
FUZZ_READERS =
.PHONY: check-fuzz
check-fuzz: tests/fuzz/fuzz$(EXEEXT)
	EVZK_FUZZ_SECONDS='$(FUZZ_SECONDS)' EVZK_FUZZ_READERS='$(FUZZ_READERS)' \
	    EVZK_SRCDIR='$(abs_top_srcdir)' EVZK_BUILDDIR='$(abs_top_builddir)' \
	    $(top_srcdir)/tests/fuzz/check-fuzz
