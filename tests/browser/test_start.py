"""How the app starts: quietly, offline, and without what it does not need."""

from __future__ import annotations

import re
from pathlib import Path

from tests.browser.person import Person


def test_the_log_is_clean(person: Person, app_log: Path):
    """One address and nothing else: no warning, no traceback, nothing about torch's insides."""
    printed = [
        line
        for line in app_log.read_text().splitlines()
        if line.strip() and not line.startswith("import time:")
    ]
    # A poll of a training that crosses the run which ends it: Streamlit says so and does nothing.
    crossed = r"The fragment with id \w+ does not exist anymore"
    known = re.compile(
        rf"Uvicorn server started|You can now view|URL: http://localhost:\d+$|{crossed}"
    )
    assert [line for line in printed if not known.search(line)] == []


def test_transformers_is_not_imported_for_the_first_page(person: Person, app_log: Path):
    imported = re.findall(r"^import time:.*\| +(\S+)$", app_log.read_text(), re.MULTILINE)
    assert "streamlit" in imported  # the log does hold the imports
    assert "transformers" not in imported


def test_the_page_says_what_it_is(person: Person):
    assert "Headlight" in person.page.title()
    assert person.page.get_by_role("heading", level=1).count() == 1
    assert person.page.evaluate("document.documentElement.lang") != ""
