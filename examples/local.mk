noinst_PROGRAMS += \
    examples/evzk-demo \
    examples/herd \
    examples/lock \
    examples/priority \
    examples/readme \
    examples/revoke \
    examples/shared \
    examples/who

examples_evzk_demo_SOURCES = \
    examples/demo.h \
    examples/demo-cut.c \
    examples/demo-meter.c \
    examples/demo-ui.c \
    examples/demo-worker.c \
    examples/evzk-demo.c

examples_herd_SOURCES = \
    examples/herd.c examples/herd.h \
    examples/herd-client.c \
    examples/herd-evzk.c \
    examples/herd-naive.c

examples = libevzk.la $(LIBEVENT_LIBS)
examples_evzk_demo_LDADD = $(examples)
# The naive lock is written with the C client.
examples_herd_LDADD = libevzk.la $(deps)
examples_lock_LDADD = $(examples)
examples_priority_LDADD = $(examples)
examples_readme_LDADD = $(examples)
examples_revoke_LDADD = $(examples)
examples_shared_LDADD = $(examples)
examples_who_LDADD = $(examples)
