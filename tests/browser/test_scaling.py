"""The Scaling page in front of a person: sections, predictions, heads, training while one waits."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.person import Person
from viz.pages.scaling import SECTIONS

PICTURE = ".st-key-section-picture .headlight-plot"
DRAWN = f"() => document.querySelector('{PICTURE}').dataset.drawn"


def at(person: Person, section: str, **query: str) -> Person:
    return person.open("/scaling", {"section": section, **query})


def slider(person: Person, name: str) -> Locator:
    return person.page.get_by_role("slider", name=re.compile(name))


def said(person: Person) -> str:
    """What to notice, as it is read."""
    return person.page.locator(".hl-say").inner_text()


def words(person: Person) -> list[str]:
    """The words in the picture."""
    return person.page.locator(f"{PICTURE} .headlight-plot-notes div").all_inner_texts()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_section_has_faults_or_scrolls(arrive: Callable[..., Person], scheme: str):
    person = arrive(color_scheme=scheme)
    for section in SECTIONS:
        at(person, section.name)
        expect(person.page.get_by_role("radio", name=section.title)).to_be_checked()
        assert person.axe() == [], section.name
        main = "document.querySelector('[data-testid=stMain]')"
        overflow = person.page.evaluate(f"{main}.scrollHeight - {main}.clientHeight")
        assert overflow <= 0, f"{section.name} needs scrolling at 1280 × 720"


def test_a_step_of_a_slider_changes_the_picture_where_it_stands(arrive: Callable[..., Person]):
    person = at(arrive(), "row")
    person.page.evaluate(f"document.querySelector('{PICTURE}').kept = true")
    before, sentence = person.page.evaluate(DRAWN), said(person)
    slider(person, "dimensions per head").press("ArrowRight")
    person.page.wait_for_function(f"before => ({DRAWN})() !== before", arg=before)
    person.settle()
    assert person.in_address("dk") == "128"
    assert said(person) != sentence and "√128" in said(person)
    assert person.page.evaluate(f"document.querySelector('{PICTURE}').kept"), "drawn in place"
    slider(person, "dimensions per head").press("Home")
    person.settle()
    assert "nothing to divide" in said(person)
    bars = f"document.querySelector('{PICTURE}').data.filter(each => each.type === 'bar')"
    unscaled, scaled = person.page.evaluate(f"{bars}.slice(2).map(each => Array.from(each.y))")
    assert scaled == unscaled  # at d_k = 1 the weights are the same


def test_a_prediction_is_made_with_the_keyboard_and_compared_with_the_truth(
    arrive: Callable[..., Person],
):
    person = at(arrive(), "saturation")
    ring = slider(person, "^unscaled")
    ring.press("End")
    expect(ring).to_have_attribute("aria-valuenow", re.compile(r"^1(\.0*)?$"))
    person.page.wait_for_timeout(400)  # the guess is sent when the keys have rested
    person.settle()
    person.page.get_by_role("button", name="Reveal").click()
    expect(person.page.locator(".hl-say")).to_contain_text("Unscaled you were right")
    person.settle()
    expect(person.page.get_by_text("you said 1.00", exact=True)).to_be_visible()
    person.page.get_by_role("button", name="Entropy and gradient too").click()
    person.page.wait_for_selector(f"{PICTURE}[data-drawn]")
    assert "largest weight" in words(person)


def test_a_click_on_the_map_of_heads_shows_that_head(arrive: Callable[..., Person]):
    person = at(arrive(), "head")
    grid = person.page.locator(".st-key-saturation-map .nsewdrag")
    box = grid.bounding_box()
    person.page.mouse.click(box["x"] + box["width"] * 5 / 8, box["y"] + box["height"] * 3 / 8)
    expect(
        person.page.get_by_role("figure", name=re.compile("L1 H2"))
        .or_(person.page.get_by_role("img", name=re.compile("decoder L1 H2")))
        .first
    ).to_be_visible()
    person.settle()
    assert (person.in_address("layer"), person.in_address("head")) == ("1", "2")


def test_tokens_in_the_picture_are_read_as_they_were_typed(arrive: Callable[..., Person]):
    person = at(arrive(), "head", text="<b>x</b> &amp; $y$")
    typed = "".join(words(person))
    assert "<" in words(person) and "&" in words(person), typed
    assert person.page.locator(f"{PICTURE} .headlight-plot-notes b").count() <= 4  # titles, one row


def test_the_model_text_and_head_come_along_from_page_to_page(arrive: Callable[..., Person]):
    person = arrive().open(query={"text": "The dog sleeps.", "layer": "1", "head": "3"})
    person.page.get_by_role("link", name="Scaling").click()
    expect(person.page.get_by_role("radio", name="One row")).to_be_checked()
    person.settle()
    person.page.get_by_role("radio", name="A real head").click()
    expect(person.page.get_by_role("img", name=re.compile("L1 H3"))).to_be_visible()
    person.settle()
    assert person.in_address("text") == "The dog sleeps."
    person.page.get_by_role("link", name="Heads").click()
    expect(person.picture(1, 3)).to_be_visible()
    person.settle()
    assert person.sentence.input_value() == "The dog sleeps."


def test_back_leads_through_sections_and_pages(arrive: Callable[..., Person]):
    person = arrive().open(query={"text": "The dog sleeps."})
    person.page.get_by_role("link", name="Scaling").click()
    expect(person.page.get_by_role("radio", name="One row")).to_be_checked()
    person.settle()
    person.page.get_by_role("radio", name="The spread").click()
    expect(person.page.locator(".hl-say")).to_contain_text("measured variance")
    person.settle()
    person.page.go_back()
    expect(person.page.get_by_role("radio", name="One row")).to_be_checked()
    person.settle()
    person.page.go_back()  # the address that the navigation opened, without a view of its own
    person.settle()
    assert person.in_address("text") == "The dog sleeps."
    person.page.go_back()
    expect(person.sentence).to_have_value("The dog sleeps.")
    person.settle()


def test_a_switch_of_theme_reaches_the_words_of_the_picture(arrive: Callable[..., Person]):
    person = at(arrive(), "spread")
    word = person.page.locator(f"{PICTURE} .headlight-plot-notes div", has_text="theory").first
    light = word.evaluate("element => getComputedStyle(element).color")
    person.page.emulate_media(color_scheme="dark")
    person.page.wait_for_function(
        "before => [...document.querySelectorAll('.headlight-plot-notes div')]"
        ".every(each => getComputedStyle(each).color !== before)",
        arg=light,
    )
    person.settle()
    assert person.axe() == []


def test_an_exported_picture_has_its_words(arrive: Callable[..., Person]):
    person = at(arrive(), "row")
    person.open_popover("Export")
    with person.page.expect_download() as download:
        person.page.get_by_role("button", name="SVG").click()
    svg = download.value.path().read_text(encoding="utf-8")
    assert "weights, after the softmax" in svg and "uniform, 1/12" in svg


def test_the_table_is_that_of_the_picture_after_a_slider_has_moved(arrive: Callable[..., Person]):
    person = at(arrive(), "row")
    slider(person, "^keys").press("Home")
    person.settle()
    assert person.in_address("keys") == "2"
    body = person.open_popover("Table")
    expect(body.locator("[aria-label*='2 rows, 4 columns']").first).to_be_attached()


def test_pairs_train_while_one_watches_and_stop_when_told(arrive: Callable[..., Person]):
    person = at(arrive(), "training", steps="50")
    assert "before any training" in said(person)
    person.page.get_by_role("button", name="Train the pairs").click()
    progress = person.page.get_by_text(re.compile(r"^Step [1-9]\d* of 50"))
    expect(progress).to_be_visible()
    expect(person.page.locator(".hl-say")).to_contain_text(re.compile(r"After \d+ steps"))
    person.page.get_by_text("post", exact=True).click()  # another setting, which is not trained
    expect(progress).to_have_count(0)
    person.page.get_by_text("pre", exact=True).click()
    expect(progress).to_be_visible()
    person.page.get_by_role("button", name="Stop").click()
    expect(person.page.get_by_role("button", name="Train the pairs")).to_be_visible()
    person.settle()
    assert re.search(r"After [1-9]\d* steps the scaled models have a loss of", said(person))
