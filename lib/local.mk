evzkincludedir = $(includedir)/evzk
evzkinclude_HEADERS = include/evzk/evzk.h $(public_headers)

noinst_LTLIBRARIES += libevzkcore.la libevzkseam.la

# All of lib/ and recipes/ but the seams.
libevzkcore_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
libevzkcore_la_SOURCES = $(core_sources)
EXTRA_libevzkcore_la_DEPENDENCIES = stamp-lists
CLEANFILES += stamp-lists

# ar never removes a member from an archive.  Where two files have the same name,
# libtool renames one, by its position in the list.  So the archive is deleted
# when the list changes.
stamp-lists: lists.mk
	$(AM_V_GEN)rm -f .libs/libevzkcore.a libevzkcore.la && echo >$@

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
