#!/usr/bin/python3
"""Checks the links of the manual: check_html.py FOLDER.

Each link, picture, style and script leads to a file of the folder, and each
anchor to an element of that file.  Nothing but a link may lead to the network.
Debian's LinkChecker reads a page again for each of its anchors, which takes minutes,
and says nothing of anchors that are missing.
"""
import os
import re
import sys
import tempfile
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and what it refers to: (tag, address)."""

    def __init__(self, path):
        super().__init__()
        self.anchors = set()
        self.links = []
        with open(path, encoding="utf-8") as lines:
            self.feed(lines.read())

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src", "data", "action", "poster") and value:
                self.links.append((tag, value))
            elif name == "style" and value:
                self.links += [("style", u) for u in addresses(value)]


def addresses(style):
    """What a style sheet loads."""
    return re.findall(r"""(?:url\(|@import\s+["'])\s*["']?([^"')]+)""", style)


def files(folder, end):
    return sorted(os.path.join(f, name) for f, _, names in os.walk(folder)
                  for name in names if name.endswith(end))


class Check:
    """The pages of a folder, the count of their links, and what is wrong."""

    def __init__(self, folder):
        self.folder = folder
        self.pages = {os.path.normpath(p): Page(p)
                      for p in files(folder, ".html")}
        self.inside = self.anchors = self.outside = 0
        self.wrong = []
        for path, page in self.pages.items():
            for tag, link in page.links:
                self.follow(path, tag, link)
        for path in files(folder, ".css"):
            with open(path, encoding="utf-8") as lines:
                for link in addresses(lines.read()):
                    self.follow(path, "style", link)

    def say(self, path, what):
        self.wrong.append(f"{os.path.relpath(path, self.folder)}: {what}")

    def follow(self, path, tag, link):
        if link.startswith("data:"):
            return
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            self.outside += 1
            if tag != "a":
                self.say(path, f"<{tag}> needs the network: {link}")
            return
        self.inside += 1
        name, anchor = urldefrag(link)
        name = unquote(name.split("?")[0])
        target = os.path.normpath(
            os.path.join(os.path.dirname(path), name)) if name else path
        if not os.path.isfile(target):
            self.say(path, f"no file {link}")
        elif anchor and target in self.pages:
            self.anchors += 1
            if unquote(anchor) not in self.pages[target].anchors:
                self.say(path, f"no anchor {link}")


def finds_defects():
    """Does the check find what is wrong?"""
    page = """<a href="none.html">1</a> <a href="#none">2</a>
        <img src="none.png"> <script src="https://example.org/x.js"></script>
        <p style="background: url(//example.org/x.png)">
        <a href="https://example.org/">fine</a> <a href="#here" id="here">fine</a>"""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "page.html"), "w", encoding="utf-8") as f:
            f.write(page)
        found = Check(folder).wrong
    return len(found) == 5


def main():
    if not finds_defects():
        sys.exit("check_html: the defects that were planted are not found")
    check = Check(sys.argv[1])
    for line in check.wrong[:50]:
        print(line)
    print(f"{len(check.pages)} pages, {check.inside} links to files of the manual, "
          f"{check.anchors} of them to anchors, {check.outside} to other places "
          f"(not followed), {len(check.wrong)} wrong")
    sys.exit(bool(check.wrong) or check.inside == 0)


main()
