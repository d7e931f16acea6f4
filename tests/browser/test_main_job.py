"""The main job, as a person does it: type a sentence, pick a head, read it, hand the view on."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Locator, expect

from tests.browser.person import Person

SENTENCE = "The cat near the dogs sleeps."


def drawn(picture: Locator) -> Locator:
    """What is painted inside: a canvas, an image, a drawing of our own or Plotly's."""
    return picture.locator("canvas, img, svg.headlight, svg.main-svg").first


def copied_link(person: Person) -> str:
    """The address in the Link popover's field, which a person selects and copies."""
    return person.open_popover("Link").get_by_role("textbox").input_value()


def test_a_sentence_a_head_a_map_and_a_link_that_brings_it_all_back(
    arrive: Callable[..., Person],
):
    teacher = arrive().open()
    teacher.type_sentence(SENTENCE)
    expect(teacher.tokens.filter(has_text="dogs")).to_have_count(1)

    teacher.head(3, 1).click()
    expect(teacher.head(3, 1)).to_have_attribute("aria-selected", "true")
    teacher.tokens.filter(has_text="cat").click()
    teacher.settle()
    expect(teacher.picture(3, 1)).to_be_visible()
    expect(drawn(teacher.picture(3, 1))).to_be_visible()
    chosen = teacher.chosen_token

    link = copied_link(teacher)
    student = arrive().open(link)
    assert urlsplit(link).netloc == urlsplit(teacher.page.url).netloc
    expect(student.sentence).to_have_value(SENTENCE)
    expect(student.head(3, 1)).to_have_attribute("aria-selected", "true")
    expect(student.picture(3, 1)).to_be_visible()
    assert student.chosen_token == chosen
