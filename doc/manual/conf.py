"""How Sphinx makes the manual.  assemble.py has made the folder of its pages."""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))


def version_of(header):
    with open(header, encoding="utf-8") as lines:
        return re.search(r'#define EVZK_VERSION "(.*)"', lines.read()).group(1)


sources = os.environ["EVZK_SRCDIR"]
project = "evzk"
version = release = version_of(os.path.join(sources, "include/evzk/version.h"))
extensions = ["myst_parser", "breathe", "manual_links"]
root_doc = "index"

# Headings have the anchors that GitHub gives them.
myst_heading_anchors = 3

breathe_projects = {"evzk": os.environ["EVZK_DOXYGEN_XML"]}
breathe_default_project = "evzk"
breathe_domain_by_extension = {"h": "c"}
primary_domain = "c"
highlight_language = "none"
smartquotes = False

html_theme = "furo"
html_title = "evzk " + version
html_static_path = [os.path.join(os.path.dirname(__file__), "manual.css")]
html_css_files = ["manual.css"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
html_domain_indices = False
# No font, script or image comes from the network.
html_theme_options = {"footer_icons": []}
