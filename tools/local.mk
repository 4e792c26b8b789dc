EXTRA_DIST += tools/zk-ensemble tools/zk-private

noinst_PROGRAMS += tools/evzk-diagram
tools_evzk_diagram_SOURCES = tools/evzk-diagram.c
tools_evzk_diagram_LDADD = $(core) $(seam) $(deps)
