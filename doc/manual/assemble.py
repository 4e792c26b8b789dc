#!/usr/bin/python3
"""Assembles the manual's pages for Sphinx: assemble.py SOURCES FOLDER.  It says
"changed" when any of them is another one than before.

What is written by hand is copied: README.md, which becomes the front page,
doc/*.md and their pictures.  The rest is made: a page for each recipe of
recipes/manifest, each manual page, each header, each example, and each other
file to which a page leads.  So whatever joins the tree joins the manual.

A page of doc/ belongs to a group of the navigation.  doc/manual/groups has the
groups; a page with the name of a recipe needs no line there.
"""
import glob
import html
import os
import re
import subprocess
import sys

LANGUAGES = {
    ".c": "c", ".h": "c", ".py": "python", ".js": "javascript", ".css": "css",
    ".java": "java", ".mk": "make", ".patch": "diff", ".sym": "none",
    "": "none",
}


class Tree:
    """The sources, and the folder for the pages."""

    def __init__(self, sources, folder):
        self.sources = sources
        self.folder = folder
        self.made = set()
        self.changed = False

    def path(self, name):
        return os.path.join(self.sources, name)

    def names(self, pattern):
        found = glob.glob(self.path(pattern), recursive=True)
        return sorted(os.path.relpath(f, self.sources) for f in found)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as lines:
            return lines.read()

    def write(self, name, text):
        """Writes a page, unless it is there already."""
        if isinstance(text, str):
            text = text.encode("utf-8")
        path = os.path.join(self.folder, name)
        self.made.add(os.path.normpath(path))
        if os.path.exists(path):
            with open(path, "rb") as old:
                if old.read() == text:
                    return
        self.changed = True
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as new:
            new.write(text)

    def has(self, name):
        return os.path.normpath(os.path.join(self.folder, name)) in self.made

    def copy(self, name, to=None):
        with open(self.path(name), "rb") as old:
            self.write(to or name, old.read())

    def remove_others(self):
        """Pages of an earlier run, whose sources have gone."""
        for folder, _, files in os.walk(self.folder):
            for name in files:
                path = os.path.normpath(os.path.join(folder, name))
                if path not in self.made:
                    self.changed = True
                    os.remove(path)


def heading(text, mark="="):
    return f"{text}\n{mark * len(text)}\n\n"


def toctree(names, *options):
    return (".. toctree::\n" + "".join(f"   {o}\n" for o in options) + "\n" +
            "".join(f"   /{n}\n" for n in names) + "\n")


def doc(name, text=None):
    return f":doc:`{text} </{name}>`" if text else f":doc:`/{name}`"


def raw(text):
    if not text.strip():
        return ""
    lines = text.strip("\n").split("\n")
    return ".. raw:: html\n\n" + "".join(
        f"   {line}\n" if line else "\n" for line in lines) + "\n"


# ------------------------------------------------------------ manual pages

def man_title(name):
    page, section = os.path.basename(name).rsplit(".", 1)
    return f"{page}({section})"


def man_says(text):
    """What a manual page is about: its .Nd."""
    return re.search(r"^\.Nd (.*)", text, re.M).group(1).replace("\\-", "-")


class Manuals:
    """The manual pages, and the names that lead to them."""

    def __init__(self, tree):
        self.tree = tree
        self.pages = tree.names("doc/*.[13]")
        self.page_of = {os.path.basename(p): os.path.basename(p)
                        for p in self.pages}
        links = subprocess.run(
            ["sh", tree.path("doc/man-links")] +
            [tree.path(p) for p in self.pages if p.endswith(".3")],
            check=True, capture_output=True, text=True).stdout
        for line in links.splitlines():
            name, page = line.split()
            self.page_of[name + ".3"] = page
        self.text = {p: self.html(p) for p in self.pages}
        self.homes = {}
        for page, text in self.text.items():
            for anchor in re.findall(r' id="([^"]*)"', text):
                self.homes.setdefault(anchor, []).append(os.path.basename(page))

    def link(self, found):
        """A reference: to a page of ours, or the bare name of another's."""
        page = self.page_of.get(found.group(1))
        if page:
            return f'<a class="Xr" href="{page}.html">{found.group(2)}</a>'
        return f'<span class="Xr">{found.group(2)}</span>'

    def inside(self, page):
        """Names of sections lead to the page that has such a section."""
        def link(found):
            homes = self.homes.get(found.group(2), [])
            if os.path.basename(page) in homes:
                return found.group(0)
            if len(homes) == 1:
                return f'{found.group(1)}"{homes[0]}.html#{found.group(2)}"'
            return '<a class="Sx"'

        return re.sub(r'(<a class="Sx" href=)"#([^"]*)"', link, self.text[page])

    def html(self, page):
        text = subprocess.run(
            [os.environ.get("MANDOC", "mandoc"), "-T", "html", "-O",
             "fragment,man=%N.%S,includes=../include/%I.html",
             self.tree.path(page)],
            check=True, capture_output=True, text=True).stdout
        text = re.sub(r'<a class="Xr" href="([^"]*)"[^>]*>(.*?)</a>',
                      self.link, text, flags=re.S)
        # Headers of others are no pages here.
        text = re.sub(r'<a class="In"( href="\.\./include/(?!evzk/)[^"]*")?>'
                      r'(.*?)</a>', r"\2", text, flags=re.S)
        text = re.sub(r"</?section[^>]*>\n?", "", text)
        body = re.search(r'<div class="manual-text">(.*)</div>\s*'
                         r'<table class="foot">', text, re.S)
        return body.group(1)

    def sections(self, page):
        """The page as reStructuredText, so that Sphinx knows its headings."""
        parts = re.split(
            r'<h([12]) class="S[hs]" id="([^"]*)">(.*?)</h\1>',
            self.inside(page), flags=re.S)
        text = raw(parts[0])
        for level, anchor, title, body in zip(*[iter(parts[1:])] * 4):
            title = html.unescape(re.sub(r"<[^>]*>", "", title))
            title = " ".join(title.split())
            if level == "1":
                title = title.capitalize()
            text += heading(title.replace("*", "\\*").replace("_", "\\_"),
                            "-" if level == "1" else "~")
            # The anchor to which the page's own references lead.
            text += raw(f'<span id="{anchor}"></span>\n'
                        f'<div class="manual-text">{body}</div>')
        return text

    def write(self, recipes):
        more = {f"doc/{page}.3": recipe
                for recipe in recipes for page in recipe.pages}
        for page in self.pages:
            text = heading(man_title(page)) + self.sections(page)
            if page in more:
                link = doc(f"recipes/{more[page].folder}", "its page")
                text += (heading("In this manual", "-") + "Guide, examples and "
                         f"diagrams of the recipe are on {link}.\n")
            self.tree.write(page + ".rst", text)

    def index(self, name, title, text, pattern):
        pages = [p for p in self.pages if re.search(pattern, p)]
        rows = "".join(
            f"* {doc(p, man_title(p))}: {man_says(self.tree.read(p))}\n"
            for p in pages)
        self.tree.write(name + ".rst", heading(title) + text + "\n\n" + rows +
                        "\n" + toctree(pages, ":hidden:"))


# ------------------------------------------------------------- the sources

def language(name):
    return LANGUAGES.get(os.path.splitext(name)[1], "none")


def first_words(text):
    """The first paragraph of the comment with which a file begins."""
    found = re.match(r"/\*+\s*(.*?)(\n[ *]*\n|\*/)", text, re.S)
    if not found:
        return ""
    words = " ".join(re.sub(r"(^|\n) *\*", "\n", found.group(1)).split())
    return re.sub(r":$", ".", re.sub(r"^@file \S+ ", "", words))


def plain(text):
    """Text in which no character is a mark of reStructuredText."""
    return re.sub(r"([*`_|\\])", r"\\\1", text)


def source_page(tree, name):
    up = "../" * name.count("/")
    tree.copy(name, "files/" + name + ".txt")
    tree.write(name + ".rst", ":orphan:\n\n" + heading(name) +
               f".. literalinclude:: {up}files/{name}.txt\n"
               f"   :language: {language(name)}\n")


def folder_page(tree, name):
    """A folder to which a page leads: its files."""
    files = [f for f in tree.names(name + "/*") if os.path.isfile(tree.path(f))]
    for f in files:
        if not tree.has(f + ".rst"):
            source_page(tree, f)
    tree.write(name + "/index.rst", ":orphan:\n\n" + heading(name) +
               "".join(f"* {doc(f, os.path.basename(f))}: "
                       f"{plain(first_words(tree.read(f)))}\n".replace(
                           ": \n", "\n") for f in files))


def examples(tree):
    files = tree.names("examples/**/*.[ch]")
    for name in files:
        source_page(tree, name)
    folders = sorted({os.path.dirname(f) for f in files} - {"examples"})
    for folder in folders:
        folder_page(tree, folder)
    tree.write("examples/index.rst", heading("Examples") +
               "Each is a program that the build makes and the tests compile.\n\n" +
               "".join(f"* {doc(f, f[9:])}: {plain(first_words(tree.read(f)))}\n"
                       for f in tree.names("examples/*.c")) +
               "".join(f"* {doc(f + '/index', f[9:] + '/')}\n" for f in folders))


def headers(tree):
    names = tree.names("include/evzk/*.h")
    rows = ""
    for name in names:
        base = os.path.basename(name)
        says = plain(first_words(tree.read(name)))
        tree.copy(name, "files/" + name + ".txt")
        tree.write(name + ".rst", heading("evzk/" + base) +
                   f".. doxygenfile:: {base}\n")
        rows += f"* {doc(name, 'evzk/' + base)}: {says}\n"
    tree.write("include/evzk/index.rst", heading("Headers") +
               "The comments of the headers are the reference.\n\n" + rows +
               "\n" + toctree(names, ":hidden:"))


def linked_files(tree, pages):
    """Files and folders of the tree to which a page leads."""
    for page in pages:
        for target in re.findall(r"\]\(([^()# ][^() ]*)\)", tree.read(page)):
            name = os.path.normpath(os.path.join(
                os.path.dirname(page), target.split("#")[0]))
            if ":" in target or tree.has(name) or tree.has(name + ".rst"):
                continue
            if os.path.isdir(tree.path(name)):
                if not tree.has(name + "/index.rst"):
                    folder_page(tree, name)
            elif os.path.isfile(tree.path(name)) and name != "README.md":
                source_page(tree, name)


# ------------------------------------------------------------- the recipes

class Recipe:
    """A line of recipes/manifest."""

    def __init__(self, line):
        words = line.split()
        lists = [[w for w in word.split(",") if w != "-"] for word in words]
        self.folder, self.header = words[0], words[1]
        self.kinds, self.pages, self.examples = lists[2:5]
        self.name = self.folder.replace("_", " ")

    def guide(self, tree):
        name = f"doc/{self.folder.replace('_', '-')}"
        return name if os.path.exists(tree.path(name + ".md")) else None

    def diagrams(self, tree):
        for kind in self.kinds:
            for name in (kind, f"{self.folder}-{kind}"):
                name = f"doc/{name.replace('_', '-')}.svg"
                if os.path.exists(tree.path(name)):
                    yield name


def example_link(tree, name):
    if os.path.isdir(tree.path("examples/" + name)):
        return doc(f"examples/{name}/index", name)
    return doc(f"examples/{name}.c", name)


def drawing(name):
    return (f".. _{os.path.basename(name)}:\n\n"
            f".. figure:: /{name}\n   :target: ../_images/{os.path.basename(name)}\n"
            f"   :alt: States and moves\n   :class: diagram\n\n"
            f"   {os.path.basename(name)[:-4]}\n\n")


def recipe_page(tree, recipe):
    text = heading(recipe.name.capitalize())
    if recipe.pages:
        says = man_says(tree.read(f"doc/{recipe.pages[0]}.3"))
        text += f"{says[0].upper()}{says[1:]}.\n\n"
    else:
        text += "What several recipes are made of.\n\n"
    rows = []
    if recipe.guide(tree):
        rows.append(("Guide", doc(recipe.guide(tree))))
    if recipe.pages:
        rows.append(("Manual", ", ".join(
            doc(f"doc/{p}.3", f"{p}(3)") for p in recipe.pages)))
    if recipe.header != "-":
        rows.append(("Header", doc(f"include/evzk/{recipe.header}.h")))
    if recipe.examples:
        rows.append(("Examples", ", ".join(
            example_link(tree, e) for e in recipe.examples)))
    text += "".join(f":{name}: {links}\n" for name, links in rows) + "\n"
    diagrams = list(recipe.diagrams(tree))
    if diagrams:
        text += heading("States", "-")
        text += ("Each picture is drawn from the table that runs. Select one to "
                 "see it large.\n\n")
        text += "".join(drawing(d) for d in diagrams)
    tree.write(f"recipes/{recipe.folder}.rst", text)


def manifest(tree):
    lines = [line.split("#")[0] for line in
             tree.read("recipes/manifest").splitlines()]
    found = [Recipe(line) for line in lines if line.strip()]
    return sorted(found, key=lambda recipe: recipe.header == "-")


def recipe_pages(tree, found):
    for recipe in found:
        recipe_page(tree, recipe)
    tree.write("recipes/index.rst", heading("Every recipe") +
               "Page, header, example and diagrams of each.\n\n" +
               toctree([f"recipes/{r.folder}" for r in found], ":maxdepth: 1"))


# ---------------------------------------------------------- the navigation

def groups(tree, guides):
    """The groups of doc/manual/groups: name, and pages in their order."""
    listed, found = [], []
    for line in tree.read("doc/manual/groups").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        group, names = line.split(":")
        names = [n if "/" in n else f"doc/{n}" for n in names.split()]
        listed += names
        found.append((group, names))
    for name in listed:
        if not tree.has(name + ".rst") and not tree.has(name + ".md"):
            sys.exit(f"doc/manual/groups: there is no page {name}")
    rest = [d for d in tree.names("doc/*.md") if d[:-3] not in listed]
    for name in rest:
        if name[:-3] not in guides:
            sys.exit(f"{name}: is in no group of doc/manual/groups")
        for group, names in found:
            if group == "Use":
                names.append(name[:-3])
    return found


def front(tree, found):
    text = tree.read("README.md")
    for group, names in found:
        text += (f"\n```{{toctree}}\n:hidden:\n:caption: {group}\n\n" +
                 "".join(f"/{n}\n" for n in names) + "```\n")
    tree.write("index.md", text)


def main():
    tree = Tree(*sys.argv[1:])
    pages = tree.names("doc/*.md")
    for name in pages + tree.names("doc/*.svg") + tree.names("doc/*.png"):
        tree.copy(name)
    recipes = manifest(tree)
    manuals = Manuals(tree)
    manuals.write(recipes)
    manuals.index("doc/functions", "Pages of man, section 3",
                  "The functions. In a shell: ``man evzk_lock``.",
                  r"\.3$")
    manuals.index("doc/commands", "Pages of man, section 1",
                  "The command evzk. In a shell: ``man evzk``.",
                  r"\.1$")
    headers(tree)
    examples(tree)
    recipe_pages(tree, recipes)
    linked_files(tree, pages + ["README.md"])
    front(tree, groups(tree, [r.guide(tree) for r in recipes]))
    tree.remove_others()
    if tree.changed:
        print("changed")


main()
