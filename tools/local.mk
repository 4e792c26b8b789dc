EXTRA_DIST += tools/zk-ensemble tools/zk-private

noinst_PROGRAMS += tools/evzk-diagram
tools_evzk_diagram_SOURCES = tools/diagram.h tools/diagram-arrows.c \
    tools/diagram-blocks.c tools/diagram-notes.c tools/diagram-words.c tools/evzk-diagram.c
tools_evzk_diagram_LDADD = $(core) $(seam) $(deps)
