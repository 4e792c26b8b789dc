#!/usr/bin/python3
"""Looks at the manual in Chromium.

look.py FOLDER               no page may scroll sideways on a phone
look.py FOLDER PICTURES      writes screenshots: PAGE-WIDTH.png
"""
import glob
import os
import sys
import tempfile

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

PHONE, DESK = (390, 844), (1280, 900)
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync
    --hide-scrollbars"""
PICTURES = (("index.html", PHONE), ("recipes/election.html", DESK),
            ("doc/evzk_lock.3.html", PHONE))
# How far the page can be scrolled; what is wider has to scroll by itself.
WIDTH = """return [document.documentElement.scrollWidth,
    document.body.innerText.length]"""


class Browser:
    """Chromium with a window of a size and a profile of its own."""

    def __init__(self, size, profile):
        options = Options()
        for flag in FLAGS.split():
            options.add_argument(flag)
        options.add_argument(f"--user-data-dir={profile}")
        options.add_argument("--window-size=%d,%d" % size)
        if size == PHONE:
            options.add_experimental_option("mobileEmulation", {"deviceMetrics": {
                "width": size[0], "height": size[1], "pixelRatio": 1.0}})
        driver = os.environ.get("CHROMEDRIVER", "/usr/bin/chromedriver")
        self.driver = webdriver.Chrome(service=Service(driver), options=options)

    def __enter__(self):
        return self.driver

    def __exit__(self, *_):
        self.driver.quit()


def address(path):
    return "file://" + os.path.abspath(path)


def too_wide(driver, path):
    driver.get(address(path))
    wide, text = driver.execute_script(WIDTH)
    if not text:
        return "is empty"
    return f"is {wide} wide" if wide > PHONE[0] else None


def finds_defects(driver, folder):
    """Does the check find a page that is too wide?"""
    path = os.path.join(folder, "wide.html")
    with open(path, "w", encoding="utf-8") as page:
        page.write('<meta name="viewport" content="width=device-width">'
                   '<p style="width: 500px">wide')
    return too_wide(driver, path)


def check(folder, scratch):
    pages = sorted(glob.glob(folder + "/**/*.html", recursive=True))
    with Browser(PHONE, scratch + "/profile") as driver:
        if not finds_defects(driver, scratch):
            sys.exit("look: a page that is too wide is not found")
        wrong = [(p, what) for p in pages
                 if (what := too_wide(driver, p)) is not None]
    for path, what in wrong:
        print(f"{os.path.relpath(path, folder)}: {what}")
    print(f"{len(pages)} pages at {PHONE[0]} pixels in Chromium, "
          f"{len(wrong)} scroll sideways")
    return bool(wrong) or not pages


def photograph(folder, pictures, scratch):
    for number, (page, size) in enumerate(PICTURES):
        name = os.path.basename(page).replace(".html", "").replace(".", "-")
        with Browser(size, f"{scratch}/profile{number}") as driver:
            driver.get(address(os.path.join(folder, page)))
            driver.save_screenshot(f"{pictures}/manual-{name}-{size[0]}.png")


def main():
    with tempfile.TemporaryDirectory(prefix="evzk-look-") as scratch:
        if len(sys.argv) > 2:
            photograph(sys.argv[1], sys.argv[2], scratch)
        else:
            sys.exit(check(sys.argv[1], scratch))


main()
