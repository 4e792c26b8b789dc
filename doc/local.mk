man_pages = \
    doc/evzk.3 \
    doc/evzk_election.3 \
    doc/evzk_error.3 \
    doc/evzk_lease.3 \
    doc/evzk_lock.3 \
    doc/evzk_lock_revoke.3 \
    doc/evzk_session.3 \
    doc/evzk_shards.3 \
    doc/evzk_version.3
dist_man_MANS = $(man_pages)

diagrams = election follow lock lock-query lock-revoke observer once \
    shards-planner
nobase_dist_doc_DATA += \
    doc/architecture.md \
    doc/client-facts.md \
    doc/election.md doc/election.svg \
    doc/explorer.md \
    doc/follow.svg \
    doc/lease.md \
    doc/lock.md doc/lock.svg doc/lock-query.svg doc/lock-revoke.svg \
    doc/lock-states.md doc/lock-traces.md \
    doc/observer.svg \
    doc/once.svg \
    doc/performance.md doc/performance.svg \
    doc/shard-server.png doc/shards.md doc/shards-demo.svg \
    doc/shards-internals.md doc/shards-planner.svg \
    doc/testing.md \
    doc/transactions.md \
    doc/watches.md
EXTRA_DIST += doc/link-less doc/man-links $(diagrams:%=doc/%.dot)

# What is installed has no link to what is not.  For each function there is a
# page that leads to its own, so that man(1) finds it.
install-data-hook:
	$(SHELL) $(srcdir)/doc/link-less '$(DESTDIR)$(docdir)'
	$(SHELL) $(srcdir)/doc/man-links $(man_pages:%=$(srcdir)/%) | \
	    while read name page; do \
	        echo ".so man3/$$page" >'$(DESTDIR)$(man3dir)'/$$name.3 || exit 1; \
	    done
uninstall-hook:
	$(SHELL) $(srcdir)/doc/man-links $(man_pages:%=$(srcdir)/%) | \
	    while read name page; do rm -f '$(DESTDIR)$(man3dir)'/$$name.3; done

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
