# The manual to browse: every page of the sources as HTML, with search.
EXTRA_DIST += doc/manual/Doxyfile.in doc/manual/assemble.py \
    doc/manual/check-html doc/manual/check_html.py doc/manual/conf.py \
    doc/manual/groups doc/manual/look.py doc/manual/make-html \
    doc/manual/manual.css doc/manual/manual_links.py $(screenshots)
manual_tools = DOXYGEN='$(DOXYGEN)' MANDOC='$(MANDOC)' \
    SPHINX_BUILD='$(SPHINX_BUILD)' CHROMEDRIVER='$(CHROMEDRIVER)'

html-local:
	@$(manual_tools) $(SHELL) $(srcdir)/doc/manual/make-html \
	    '$(abs_srcdir)' manual
install-html-local: html-local
	$(MKDIR_P) '$(DESTDIR)$(htmldir)'
	cp -R manual/html/. '$(DESTDIR)$(htmldir)'
clean-local:
	rm -rf manual

.PHONY: check-html screenshots
check-html: html-local
	@$(manual_tools) $(SHELL) $(srcdir)/doc/manual/check-html manual/html

# How the manual looks on a phone, and on a desk.
screenshots = doc/manual/manual-index-390.png \
    doc/manual/manual-election-1280.png doc/manual/manual-evzk_lock-3-390.png
screenshots: html-local
	$(manual_tools) $(SHELL) $(srcdir)/doc/manual/check-html \
	    manual/html '$(srcdir)/doc/manual'
	for png in $(screenshots); do \
	    pngquant --force --ext .png --strip 64 $(srcdir)/$$png && \
	    optipng -quiet $(srcdir)/$$png || exit 1; \
	done
