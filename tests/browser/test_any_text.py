"""Whatever is typed: a right picture or a clear sentence, and nothing of it is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.person import Person

# The pieces that each text must show, after the start token; None where only the text matters.
TEXTS = {
    "one word": ("cat", ["cat"]),
    "one letter": ("q", ["q"]),
    "markup": ("<s>", ["<", "s", ">"]),
    "a tag": ("<b>x</b>", ["<", "b", ">", "x", "<", "/", "b", ">"]),
    "an entity": ("&lt;", ["&", "l", "t", ";"]),
    "a formula": ("$x$", ["$", "x", "$"]),
    "emoji": ("The cat 💩 sleeps.", None),
    "a family, joined": ("👩‍👩‍👧", None),
    "right to left": ("שלום עולם", None),
    "Chinese": ("東京", None),
    "the same word again": ("the cat the cat", ["the", "cat", "the", "cat"]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_any_text_gives_a_picture_of_its_tokens(person: Person, name: str):
    text, pieces = TEXTS[name]
    person.type_sentence(text)
    expect(person.sentence).to_have_value(text)
    expect(person.tokens.first).to_contain_text("start")
    if pieces is not None:
        assert person.token_texts[1:] == pieces
    expect(person.picture()).to_be_visible()


@pytest.mark.parametrize("text", ["", "   "])
def test_no_text_gives_a_sentence(person: Person, text: str):
    person.type_sentence(text)
    expect(person.sentence).to_have_value(text)
    expect(person.page.get_by_text("type", exact=False).first).to_be_visible()


def test_a_text_that_is_too_long_is_cut_aloud_and_kept_in_the_field(person: Person):
    text = "the cat sees the dog. " * 4545 + "the cat sle"
    assert len(text) > 100_000 - 1
    text = text[:100_000]
    person.type_sentence(text)
    expect(person.sentence).to_have_value(text)
    expect(person.picture()).to_be_visible()
    expect(person.page.get_by_text("cut").first).to_be_visible()
    # Too long for an address, which then says nothing false about it.
    assert len(person.page.url) < 4_000
