"""The app, a real Chromium, and people who open windows on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from scripts.browser import LAUNCH_ARGS, require_chromium
from scripts.server import Server
from tests.browser.person import Person


@pytest.fixture(scope="session")
def app_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file that holds all the app has printed since its start."""
    return tmp_path_factory.mktemp("app") / "log.txt"


@pytest.fixture(scope="session")
def app(app_log: Path) -> Iterator[Server]:
    """The app as `streamlit run app.py` starts it, once for all tests."""
    # -X importtime logs each import: so the log also tells what was never imported.
    with (
        app_log.open("wb") as log,
        Server(log=log, python_options=["-X", "importtime"]) as server,
    ):
        yield server


# Of the package, not of the session: while Playwright is on, no other test could use asyncio.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=require_chromium(), args=LAUNCH_ARGS)
        yield browser
        browser.close()


@pytest.fixture
def arrive(app: Server, chromium: Browser) -> Iterator[Callable[..., Person]]:
    """Let people arrive, each with a browser of their own; when they leave, none may complain.

    The arguments are those of a Playwright context: color_scheme="dark", viewport=…, locale=…
    """
    people: list[Person] = []

    def arrive(**context: object) -> Person:
        options = {"viewport": {"width": 1280, "height": 720}, **context}
        people.append(Person(chromium.new_context(**options).new_page(), app.url))
        return people[-1]

    yield arrive
    try:
        for person in people:
            person.check()
    finally:
        for person in people:
            person.page.context.close()


@pytest.fixture
def person(arrive: Callable[..., Person]) -> Person:
    """One person, in front of the first page."""
    return arrive().open()
