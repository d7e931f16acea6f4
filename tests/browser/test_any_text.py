"""Whatever is typed: a right picture or a clear sentence, and nothing of it is lost."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from model.tokenizer import Tokenizer
from model.zoo import SHIPPED
from tests.browser.person import Person

TEXTS = (
    "cat",
    "q",
    "the cat the cat",
    "two  spaces and\ta tab",
    "<s>",
    "<b>x</b>",
    "&lt;",
    "$x$",
    "The cat 💩 sleeps.",
    "👩‍👩‍👧",
    "שלום עולם",
    "東京",
)


def test_any_text_gives_a_picture_of_its_tokens(person: Person):
    tokenizer = Tokenizer.load(SHIPPED / "writer" / "tokenizer.json")
    for text in TEXTS:
        person.type_sentence(text)
        expect(person.sentence).to_have_value(text)
        # As the tokenizer reads it, letter for letter, and nothing taken for markup.
        assert person.token_texts == ["start", *tokenizer.labels(tokenizer.encode(text))]
        expect(person.picture()).to_be_visible()
        person.check()


@pytest.mark.parametrize("text", ["", "   "])
def test_no_text_gives_a_sentence(person: Person, text: str):
    person.type_sentence(text)
    expect(person.sentence).to_have_value(text)
    expect(person.page.get_by_text("Type a sentence").first).to_be_visible()


def test_a_text_that_is_too_long_is_cut_aloud_and_kept_in_the_field(person: Person):
    text = ("the cat sees the dog. " * 5000)[:100_000]
    person.type_sentence(text)
    expect(person.sentence).to_have_value(text)
    expect(person.picture()).to_be_visible()
    expect(person.page.get_by_text("Left out at the end").first).to_be_visible()
    # Too long for an address, which then says nothing false about it.
    assert len(person.page.url) < 4_000
