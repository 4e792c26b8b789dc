# A program of one file needs no line here: lists.mk has it.
noinst_PROGRAMS += $(example_programs) \
    examples/evzk-demo \
    examples/herd \
    examples/primary/primary \
    examples/queue-demo/queue-demo \
    examples/shards-demo/shards-demo \
    examples/transfer/transfer
examples = libevzk.la $(LIBEVENT_LIBS)

examples_evzk_demo_SOURCES = \
    examples/demo.h \
    examples/demo-cut.c \
    examples/demo-meter.c \
    examples/demo-ui.c \
    examples/demo-worker.c \
    examples/evzk-demo.c

examples_primary_primary_SOURCES = \
    examples/primary/main.c \
    examples/primary/primary.h \
    examples/primary/run.c \
    examples/primary/serve.c
examples_primary_primary_LDADD = $(examples)

examples_queue_demo_queue_demo_SOURCES = \
    examples/queue-demo/demo.h \
    examples/queue-demo/main.c \
    examples/queue-demo/process.c
examples_queue_demo_queue_demo_LDADD = $(examples)

examples_transfer_transfer_SOURCES = \
    examples/transfer/account.c examples/transfer/account.h \
    examples/transfer/audit.c \
    examples/transfer/coordinator.c \
    examples/transfer/demo.h \
    examples/transfer/main.c \
    examples/transfer/process.c \
    examples/transfer/site.c
examples_transfer_transfer_LDADD = $(examples)

# The steps of doc/tutorial.md, each a whole program.
tutorial_programs = \
    examples/tutorial/step1 examples/tutorial/step2 \
    examples/tutorial/step3 examples/tutorial/step4 \
    examples/tutorial/step5 examples/tutorial/step6 \
    examples/tutorial/step7 examples/tutorial/step8
noinst_PROGRAMS += $(tutorial_programs)
tutorial_web = examples/tutorial/web.c examples/tutorial/web.h
examples_tutorial_step1_SOURCES = examples/tutorial/step1.c
examples_tutorial_step1_LDADD = $(LIBEVENT_LIBS)
examples_tutorial_step2_SOURCES = examples/tutorial/step2.c
examples_tutorial_step2_LDADD = $(examples)
examples_tutorial_step3_SOURCES = examples/tutorial/step3.c
examples_tutorial_step3_LDADD = $(examples)
examples_tutorial_step4_SOURCES = examples/tutorial/step4.c
examples_tutorial_step4_LDADD = $(examples)
examples_tutorial_step5_SOURCES = examples/tutorial/step5.c $(tutorial_web)
examples_tutorial_step5_LDADD = $(examples)
examples_tutorial_step6_SOURCES = examples/tutorial/step6.c $(tutorial_web)
examples_tutorial_step6_LDADD = $(examples)
examples_tutorial_step7_SOURCES = examples/tutorial/step7.c $(tutorial_web)
examples_tutorial_step7_LDADD = $(examples)
examples_tutorial_step8_SOURCES = examples/tutorial/step8.c $(tutorial_web)
examples_tutorial_step8_LDADD = $(examples)

# Needs libevent's threads.
if HAVE_EVTHREAD
noinst_PROGRAMS += examples/workers
endif
examples_workers_SOURCES = examples/workers.c
examples_workers_LDADD = $(examples) $(LIBEVENT_PTHREADS_LIBS)

# Needs json-c.
if HAVE_JSON_C
noinst_PROGRAMS += examples/shard-server/shard-server
endif
examples_shard_server_shard_server_SOURCES = \
    examples/shard-server/server.h \
    examples/shard-server/answer.c \
    examples/shard-server/gate.c \
    examples/shard-server/lead.c \
    examples/shard-server/main.c \
    examples/shard-server/metrics.c \
    examples/shard-server/page.c \
    examples/shard-server/status.c
examples_shard_server_shard_server_CPPFLAGS = $(AM_CPPFLAGS) \
    -iquote examples/shard-server $(JSON_C_CFLAGS)
examples_shard_server_shard_server_LDADD = libevzk.la $(LIBEVENT_LIBS) \
    $(JSON_C_LIBS) -lm

# The page's style and script become strings of C.
CLEANFILES += examples/shard-server/page.css.inc examples/shard-server/page.js.inc
examples/shard-server/page.css.inc: examples/shard-server/page.css
examples/shard-server/page.js.inc: examples/shard-server/page.js
examples/shard-server/page.css.inc examples/shard-server/page.js.inc:
	@$(MKDIR_P) examples/shard-server
	$(AM_V_GEN)sed 's/[\\"]/\\&/g; s/^/"/; s/$$/\\n"/' $< >$@
examples/shard-server/shard_server-page.$(OBJEXT): \
    examples/shard-server/page.css.inc examples/shard-server/page.js.inc

examples_shards_demo_shards_demo_SOURCES = \
    examples/shards-demo/count.c \
    examples/shards-demo/demo.h \
    examples/shards-demo/judge.c examples/shards-demo/judge.h \
    examples/shards-demo/main.c \
    examples/shards-demo/process.c \
    examples/shards-demo/run.c examples/shards-demo/run.h \
    examples/shards-demo/show.c \
    examples/shards-demo/svg.c \
    examples/shards-demo/worker.c
examples_shards_demo_shards_demo_LDADD = $(examples) -lm

examples_herd_SOURCES = \
    examples/herd.c examples/herd.h \
    examples/herd-client.c \
    examples/herd-evzk.c \
    examples/herd-naive.c

# Installed with the documents, whose links lead to them.
nobase_dist_doc_DATA += \
    $(examples_evzk_demo_SOURCES) \
    $(examples_herd_SOURCES) \
    $(examples_primary_primary_SOURCES) \
    $(examples_queue_demo_queue_demo_SOURCES) \
    $(examples_shard_server_shard_server_SOURCES) \
    $(examples_shards_demo_shards_demo_SOURCES) \
    $(examples_transfer_transfer_SOURCES) \
    $(tutorial_web) \
    examples/tutorial/step1.c examples/tutorial/step2.c \
    examples/tutorial/step3.c examples/tutorial/step4.c \
    examples/tutorial/step5.c examples/tutorial/step6.c \
    examples/tutorial/step7.c examples/tutorial/step8.c \
    $(example_sources) \
    $(examples_workers_SOURCES) \
    examples/shard-server/page.css examples/shard-server/page.js \
    $(example_projects)

# Projects of their own, for people to copy: tests/check-projects builds them.
example_projects = \
    examples/projects/README.md \
    examples/projects/cmake/CMakeLists.txt \
    examples/projects/job.c \
    examples/projects/make/Makefile \
    examples/projects/meson/meson.build

examples_evzk_demo_LDADD = $(examples)
# The naive lock is written with the C client.
examples_herd_LDADD = libevzk.la $(deps)
