"""The README tells the truth: its tables list what there is, and its program runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from model import zoo
from viz.pages import PAGES

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def section(title: str) -> str:
    """The text under one heading of the README."""
    return re.split(r"^## ", README.split(f"## {title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def table(title: str) -> list[list[str]]:
    """The rows of the first table under a heading, without its head."""
    rows = [line for line in section(title).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[2:]]


def test_the_pages_are_those_of_the_app():
    assert table("Pages") == [[page.title, page.question] for page in PAGES]


def test_the_models_are_those_that_load():
    assert [row[0] for row in table("Models")] == list(zoo.names())


def test_the_commands_are_those_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))
    listed = [row[0].strip("`").removeprefix("make ") for row in table("Start")]
    assert set(listed) == targets
    assert len(listed) == len(targets)


def test_every_command_says_what_it_does():
    phony = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[1].split()
    assert set(phony) == set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))


def test_the_program_runs():
    program = re.search(r"```python\n(.+?)```", section("From Python"), re.DOTALL)[1]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "keys" in done.stdout


@pytest.mark.parametrize(
    "link",
    re.findall(r"\]\((?!https?:)([^)#]+)\)|(?:src|srcset)=\"([^\"]+)\"", README),
    ids="".join,
)
def test_no_link_leads_nowhere(link: tuple[str, str]):
    assert (ROOT / "".join(link)).exists()
