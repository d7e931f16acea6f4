"""Make the pictures of the README from the app; with --all DIR, every view in every look.

python -m scripts.screenshots [--all DIR]
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from scripts.browser import LAUNCH_ARGS, require_chromium
from scripts.server import ROOT, Server
from tests.browser.person import Person
from viz.pages.scaling import SECTIONS
from viz.state import VIEWS

SCHEMES = ("light", "dark")
SIZES = ((1280, 720), (1920, 1080))
LONG = (
    "The teacher near the doctors sleeps. The dogs that see the cat are old, and Mary says that "
    "the keys to the cabinets are rusty. John Reed buys apples."
)

# What to show, by name: the path and the query of its address.
SHOTS: dict[str, tuple[str, dict[str, str]]] = {
    **{view.lower(): ("/", {"view": view}) for view in VIEWS},
    "long": ("/", {"text": LONG}),
    "unknown-word": ("/", {"text": "The old zyxgl sleeps."}),
    "empty": ("/", {"text": ""}),
    "blank": ("/", {"model": "blank"}),
    **{f"scaling-{each.name}": ("/scaling", {"section": each.name}) for each in SECTIONS},
    "scaling-revealed": ("/scaling", {"section": "saturation", "stage": "revealed"}),
    "scaling-all": ("/scaling", {"section": "saturation", "stage": "all"}),
    "scaling-typed": ("/scaling", {"section": "head", "qk": "typed in"}),
    "scaling-long": ("/scaling", {"section": "head", "text": LONG}),
}
README_SHOTS = {"heads": ("/", {}), "scaling": ("/scaling", {"section": "head"})}


def main() -> None:
    """Start the app, open a browser, and write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", type=Path, metavar="DIR", help="every view, size and theme")
    folder = parser.parse_args().all
    with (
        tempfile.TemporaryFile() as log,
        Server(log=log) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=require_chromium(), args=LAUNCH_ARGS)
        for path in (
            shoot_all(browser, server.url, folder) if folder else shoot(browser, server.url)
        ):
            print(path)
        browser.close()


def shoot(browser: Browser, url: str) -> Iterator[Path]:
    """The README's pictures: a view of each page, in the light and in the dark."""
    for (name, (path, query)), scheme in product(README_SHOTS.items(), SCHEMES):
        file = ROOT / "docs" / f"{name}-{scheme}.png"
        yield picture(browser, url + path, file, scheme, SIZES[0], query, 2)


def shoot_all(browser: Browser, url: str, folder: Path) -> Iterator[Path]:
    """Every view, in both themes, on a laptop's and on a projector's screen."""
    for (name, (path, query)), size, scheme in product(SHOTS.items(), SIZES, SCHEMES):
        file = folder / f"{name}-{scheme}-{size[0]}.png"
        yield picture(browser, url + path, file, scheme, size, query)


def picture(
    browser: Browser,
    url: str,
    file: Path,
    scheme: str,
    size: tuple[int, int],
    query: dict[str, str],
    density: int = 1,
) -> Path:
    """One picture of a page; `density` is the number of pixels to a CSS pixel."""
    context = browser.new_context(
        color_scheme=scheme,
        viewport={"width": size[0], "height": size[1]},
        device_scale_factor=density,
    )
    person = Person(context.new_page(), url).open(url, query)
    file.parent.mkdir(parents=True, exist_ok=True)
    person.page.screenshot(path=file, animations="disabled")
    context.close()
    return file


if __name__ == "__main__":
    main()
