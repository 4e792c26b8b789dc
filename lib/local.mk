evzkincludedir = $(includedir)/evzk
evzkinclude_HEADERS = \
    include/evzk/error.h \
    include/evzk/evzk.h \
    include/evzk/election.h \
    include/evzk/lease.h \
    include/evzk/lock.h \
    include/evzk/session.h \
    include/evzk/shards.h \
    include/evzk/version.h

noinst_LTLIBRARIES += libevzkcore.la libevzkseam.la

# All but the seams; recipes/local.mk adds the recipes.
libevzkcore_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libevzkcore_la_SOURCES = \
    lib/base/acl.c lib/base/acl.h \
    lib/base/error.c \
    lib/base/foreign.c lib/base/foreign.h \
    lib/base/greeting.c lib/base/greeting.h \
    lib/base/lease.c lib/base/lease.h \
    lib/base/log_stderr.c \
    lib/base/loop.h \
    lib/base/mem.c lib/base/mem.h \
    lib/base/name.c lib/base/name.h \
    lib/base/net.h \
    lib/base/order.c lib/base/order.h \
    lib/base/os.h \
    lib/base/view.c lib/base/view.h \
    lib/client/calls.c \
    lib/client/client.h \
    lib/client/handle.c lib/client/handle.h \
    lib/client/multi.c \
    lib/request/core.c \
    lib/request/create_order.c lib/request/create_order.h \
    lib/request/dir.c lib/request/dir.h \
    lib/request/idle_dirs.c lib/request/idle_dirs.h \
    lib/request/own_queue.c lib/request/own_queue.h \
    lib/request/parents.c lib/request/parents.h \
    lib/request/part.c lib/request/part.h \
    lib/request/request.c lib/request/request.h \
    lib/request/send.c \
    lib/request/transaction.c lib/request/transaction.h \
    lib/request/watch.c lib/request/watch.h \
    lib/machine/ask.c \
    lib/machine/hosted.c \
    lib/machine/machine.c lib/machine/machine.h \
    lib/machine/refuse.c lib/machine/refuse.h \
    lib/machine/table.c \
    lib/session/closing.c lib/session/closing.h \
    lib/session/connection.c lib/session/connection.h \
    lib/session/event.c \
    lib/session/servers.c lib/session/servers.h \
    lib/session/session.c lib/session/session.h \
    lib/session/shunned.c lib/session/shunned.h \
    lib/session/state.c \
    lib/session/turn.c

# The seams, where simulations take the real world's place.
libevzkseam_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libevzkseam_la_SOURCES = lib/base/loop.c lib/base/net.c lib/base/os.c

lib_LTLIBRARIES += libevzk.la
libevzk_la_SOURCES =
libevzk_la_LIBADD = $(core) $(seam) $(deps)
libevzk_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
    -export-symbols $(top_srcdir)/lib/evzk.sym
EXTRA_libevzk_la_DEPENDENCIES = lib/evzk.sym
EXTRA_DIST += lib/evzk.sym
