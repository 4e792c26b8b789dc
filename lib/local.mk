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
    lib/acl.c lib/acl.h \
    lib/arrival.c lib/arrival.h \
    lib/ask.c \
    lib/batch.c lib/batch.h \
    lib/client.c lib/client.h lib/client_own.h \
    lib/client_calls.c \
    lib/client_multi.c \
    lib/closing.c lib/closing.h \
    lib/connection.c lib/connection.h \
    lib/dir.c lib/dir.h \
    lib/error.c \
    lib/foreign.c lib/foreign.h \
    lib/greeting.c lib/greeting.h \
    lib/lease.c lib/lease.h \
    lib/loop.h lib/net.h lib/os.h \
    lib/machine.c lib/machine.h \
    lib/mem.c lib/mem.h \
    lib/name.c lib/name.h \
    lib/parents.c lib/parents.h \
    lib/part.c lib/part.h \
    lib/queue.c lib/queue.h \
    lib/event.c lib/log_stderr.c \
    lib/refuse.c lib/refuse.h \
    lib/request.c lib/request.h \
    lib/servers.c lib/servers.h \
    lib/session.c lib/session.h \
    lib/shunned.c lib/shunned.h \
    lib/stand.c lib/stand.h \
    lib/table.c \
    lib/tidy.c lib/tidy.h \
    lib/turn.c \
    lib/view.c lib/view.h

# The seams, where simulations take the real world's place.
libevzkseam_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libevzkseam_la_SOURCES = lib/loop.c lib/net.c lib/os.c

lib_LTLIBRARIES += libevzk.la
libevzk_la_SOURCES =
libevzk_la_LIBADD = $(core) $(seam) $(deps)
libevzk_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 -no-undefined \
    -export-symbols $(top_srcdir)/lib/evzk.sym
EXTRA_libevzk_la_DEPENDENCIES = lib/evzk.sym
EXTRA_DIST += lib/evzk.sym
