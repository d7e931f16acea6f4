"""axe-core finds no fault, whatever is open, in the light and in the dark."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from tests.browser.person import Person

VIEWS = ("Map", "Lines", "Stages")
MODEL = re.compile("^(writer|model)", re.IGNORECASE)
POPOVERS = ("Examples", MODEL, "All role scores", "Table", "Export", "Code", "Link")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_no_faults(arrive: Callable[..., Person], view: str, scheme: str):
    reader = arrive(color_scheme=scheme).open().choose_view(view)
    assert reader.axe() == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_no_popover_has_faults(arrive: Callable[..., Person], view: str, scheme: str):
    reader = arrive(color_scheme=scheme).open().choose_view(view)
    for name in POPOVERS:
        reader.open_popover(name)
        assert reader.axe() == [], f"with {name} open"
        reader.close_popover()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_controls_of_a_blank_model_have_no_faults(arrive: Callable[..., Person], scheme: str):
    reader = arrive(color_scheme=scheme).open(query={"model": "blank"})
    assert reader.axe() == []


def test_an_unknown_word_and_an_empty_sentence_have_no_faults(person: Person):
    for text in ("The zyxgl sleeps.", ""):
        person.type_sentence(text)
        assert person.axe() == [], f"with the sentence {text!r}"
