man_pages = \
    doc/evzk.3 \
    doc/evzk_election.3 \
    doc/evzk_error.3 \
    doc/evzk_lock.3 \
    doc/evzk_lock_revoke.3 \
    doc/evzk_session.3 \
    doc/evzk_shards.3 \
    doc/evzk_version.3
dist_man_MANS = $(man_pages)

diagrams = election follow lock lock-query lock-revoke observer once \
    shards-planner
EXTRA_DIST += doc/architecture.md doc/election.md doc/lock.md doc/testing.md \
    doc/performance.md doc/performance.svg \
    doc/shard-server.png doc/shards.md doc/shards-demo.svg \
    $(diagrams:%=doc/%.dot) $(diagrams:%=doc/%.svg)

# Made from the tables, and kept in the tree so that a build needs no Graphviz.
.PHONY: diagrams
diagrams: tools/evzk-diagram
	@test '$(DOT)' != no || { \
	    echo 'This needs Graphviz: apt-get install graphviz,' \
	    'then ./configure again.' >&2; exit 1; }
	for d in $(diagrams); do \
	    tools/evzk-diagram $$d >$(srcdir)/doc/$$d.dot && \
	    $(DOT) -Tsvg $(srcdir)/doc/$$d.dot >$(srcdir)/doc/$$d.svg || \
	    exit 1; \
	done
