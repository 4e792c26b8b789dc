dist_man_MANS = $(man_pages)
nobase_dist_doc_DATA += $(doc_pages)
EXTRA_DIST += doc/link-less doc/man-links $(doc_dots)

# Installed pages have no links to files that are not installed.  man(1) finds
# each function: a short page leads from its name to the page that describes it.
install-data-hook:
	$(SHELL) $(srcdir)/doc/link-less '$(DESTDIR)$(docdir)'
	$(SHELL) $(srcdir)/doc/man-links $(patsubst %,$(srcdir)/%,$(filter %.3,$(man_pages))) | \
	    while read name page; do \
	        echo ".so man3/$$page" >'$(DESTDIR)$(man3dir)'/$$name.3 || exit 1; \
	    done
uninstall-hook:
	$(SHELL) $(srcdir)/doc/man-links $(patsubst %,$(srcdir)/%,$(filter %.3,$(man_pages))) | \
	    while read name page; do rm -f '$(DESTDIR)$(man3dir)'/$$name.3; done
	for folder in '$(DESTDIR)$(docdir)' '$(DESTDIR)$(evzkincludedir)'; do \
	    test ! -d "$$folder" || find "$$folder" -depth -type d -empty -delete; \
	done

# Draws the diagrams from the tables.  They are committed, so that a build needs
# no Graphviz.
.PHONY: diagrams
diagrams: tools/evzk-diagram
	@test '$(DOT)' != no || { \
	    echo 'This needs Graphviz: apt-get install graphviz,' \
	    'then ./configure again.' >&2; exit 1; }
	for d in $$(tools/evzk-diagram); do \
	    tools/evzk-diagram $$d >$(srcdir)/doc/$$d.dot && \
	    $(DOT) -Tsvg $(srcdir)/doc/$$d.dot >$(srcdir)/doc/$$d.svg || \
	    exit 1; \
	done
