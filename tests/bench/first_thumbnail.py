"""How long a person waits: from the first health answer to the first thumbnail.

To reach: ≤ 5 s on an idle machine, in a fresh browser. The time counts the start of the browser
itself, as `make run` opens it when the health check answers. (That transformers is not imported on
the way is a test: tests/browser/test_start.py.)
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from statistics import median
from time import perf_counter

from playwright.sync_api import BrowserType, sync_playwright

from scripts.browser import LAUNCH_ARGS, require_chromium
from scripts.server import Server
from tests.bench import print_table
from tests.browser.person import Person

TRIES = 3

# Whether something is painted on the first thumbnail: not all of its pixels are alike.
PAINTED = """heads => {
  const canvas = heads.querySelector('canvas');
  if (!canvas?.width) return false;
  const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(pixels.buffer)).size > 1;
}"""


def main() -> None:
    """Start the app and a browser anew, a few times."""
    tries = [first_thumbnail() for _ in range(TRIES)]
    rows = [[f"try {number}", *times] for number, times in enumerate(tries, start=1)]
    rows.append(["median", *(median(column) for column in zip(*tries, strict=True))])
    print_table(
        "Seconds from the first health answer",
        ["", "browser open", "page loaded", "first thumbnail"],
        rows,
    )


def first_thumbnail() -> list[float]:
    """Seconds from the first health answer until the browser is open, shows a page, a thumbnail."""
    with tempfile.TemporaryFile() as log:
        server = Server(log=log)
        try:
            start = server.wait_until_healthy()
            with sync_playwright() as playwright:
                return list(watch(playwright.chromium, server.url, start))
        finally:
            server.stop()


def watch(chromium: BrowserType, url: str, start: float) -> Iterator[float]:
    """The seconds since `start` at each step of a person who opens a browser on `url`."""
    browser = chromium.launch(executable_path=require_chromium(), args=LAUNCH_ARGS)
    yield perf_counter() - start
    person = Person(browser.new_page(viewport={"width": 1280, "height": 720}), url)
    person.page.goto(url)
    yield perf_counter() - start
    person.page.wait_for_function(PAINTED, arg=person.heads.element_handle())
    yield perf_counter() - start
    browser.close()


if __name__ == "__main__":
    main()
