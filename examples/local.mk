noinst_PROGRAMS += \
    examples/evzk-demo \
    examples/lock \
    examples/readme \
    examples/who

examples_evzk_demo_SOURCES = \
    examples/demo.h \
    examples/demo-cut.c \
    examples/demo-meter.c \
    examples/demo-ui.c \
    examples/demo-worker.c \
    examples/evzk-demo.c

examples = libevzk.la $(LIBEVENT_LIBS)
examples_evzk_demo_LDADD = $(examples)
examples_lock_LDADD = $(examples)
examples_readme_LDADD = $(examples)
examples_who_LDADD = $(examples)
