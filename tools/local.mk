EXTRA_DIST += tools/zk-ensemble tools/zk-private

noinst_PROGRAMS += tools/evzk-diagram
tools_evzk_diagram_SOURCES = tools/diagram.h tools/diagram-arrows.c \
    tools/diagram-blocks.c tools/diagram-notes.c tools/diagram-words.c tools/evzk-diagram.c
tools_evzk_diagram_LDADD = $(core) $(seam) $(deps)

# The command evzk: tools/command/command.h says how a subcommand is added.
if HAVE_COMMAND
bin_PROGRAMS = tools/evzk
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = tools/completion/evzk
endif
tools_evzk_SOURCES = $(command_sources)
tools_evzk_CPPFLAGS = $(AM_CPPFLAGS) $(JSON_C_CFLAGS) $(SMARTCOLS_CFLAGS)
tools_evzk_LDADD = libevzk.la $(LIBEVENT_LIBS) $(JSON_C_LIBS) $(SMARTCOLS_LIBS) -lm
EXTRA_DIST += tools/completion/evzk
