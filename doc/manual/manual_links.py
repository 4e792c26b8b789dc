"""Links of Markdown pages that lead to files of the sources.

A page that stands for a file has the file's name: so Sphinx finds most of them.
Here are the others: README.md is the front page, a folder is its list of files,
and a diagram is shown on the page of its recipe.
"""
import posixpath

from docutils import nodes
from sphinx import addnodes
from sphinx.util.nodes import make_refnode


def show_diagrams(app, doctree):
    """A link to a diagram would download it."""
    for node in list(doctree.findall(addnodes.download_reference)):
        label = posixpath.basename(node["reftarget"])
        if label.endswith((".svg", ".png")):
            link = addnodes.pending_xref(
                "", refdoc=node["refdoc"], reftarget=node["reftarget"],
                reftype="myst", refdomain=None, refexplicit=True, refwarn=True)
            link += node.children
            node.replace_self(link)


def target_of(env, docname, target):
    """The page and the anchor that a link means, or None."""
    path, _, anchor = target.partition("#")
    name = posixpath.normpath(posixpath.join(posixpath.dirname(docname), path))
    labels = env.get_domain("std").anonlabels
    if name.endswith(".svg"):
        return labels.get(posixpath.basename(name))
    if name == "README.md":
        return labels.get(f"index.md#{anchor}") if anchor else ("index", "")
    if name + "/index" in env.all_docs:
        return name + "/index", ""
    return None


def find(app, env, node, content):
    if node.get("refdomain") or node["reftype"] != "any":
        return None
    found = target_of(env, node["refdoc"], node["reftarget"])
    if not found:
        return None
    return make_refnode(app.builder, node["refdoc"], found[0], found[1], content)


def no_navigation(app, pagename, templatename, context, doctree):
    """Files of the sources need none; it would take half of the time."""
    if "orphan" in app.env.metadata.get(pagename, {}):
        context["toctree"] = lambda **options: ""


def setup(app):
    # Before Sphinx collects what is to be downloaded.
    app.connect("doctree-read", show_diagrams, priority=100)
    app.connect("missing-reference", find)
    # Before the theme asks for it.
    app.connect("html-page-context", no_navigation, priority=100)
    return {"version": "1", "parallel_read_safe": True}
