"""What is on the screen stays right while one looks around: theme, zoom, keyboard, window size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from model import zoo
from model.trace import HeadRef
from tests.browser.person import Person
from viz.state import OPENING_TEXT

# The contrast between each text of a picture and the page behind it (WCAG 2, 1 : 1 to 21 : 1).
CONTRASTS = """picture => {
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const linear = part => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) =>
    .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
  const app = document.querySelector('[data-testid=stApp]');
  const page = luminance(numbers(getComputedStyle(app).backgroundColor));
  return [...picture.querySelectorAll('text')]
    .filter(text => text.textContent.trim() && text.getBoundingClientRect().width)
    .map(text => {
      const ink = luminance(numbers(getComputedStyle(text).fill));
      return [text.textContent, (Math.max(ink, page) + .05) / (Math.min(ink, page) + .05)];
    });
}"""


def plot(person: Person) -> Locator:
    return person.page.locator(".headlight-plot")


def x_range(person: Person) -> list[float]:
    return plot(person).evaluate("plot => [...plot._fullLayout.xaxis.range]")


def test_a_switch_of_theme_leaves_no_unreadable_picture(person: Person):
    for scheme in ("dark", "light"):
        person.page.emulate_media(color_scheme=scheme)
        person.settle()
        contrasts = plot(person).evaluate(CONTRASTS)
        assert contrasts, "the map has labels"
        assert [text for text, contrast in contrasts if contrast < 4.5] == [], scheme


def test_the_zoom_outlives_the_choice_of_another_head(arrive: Callable[..., Person]):
    person = arrive().open(query={"text": "The cat sees the dog. " * 8})  # too long to read whole
    whole = x_range(person)
    box = plot(person).locator(".nsewdrag").first.bounding_box()
    mouse = person.page.mouse
    mouse.move(box["x"] + 0.1 * box["width"], box["y"] + 0.3 * box["height"])
    mouse.down()
    mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.7 * box["height"], steps=5)
    mouse.up()
    zoomed = "width => { const [a, b] = document.querySelector('.headlight-plot')"
    zoomed += "._fullLayout.xaxis.range; return b - a < .8 * width; }"
    person.page.wait_for_function(zoomed, arg=whole[1] - whole[0])
    chosen = x_range(person)

    person.head(0, 1).click()
    expect(person.picture(0, 1)).to_be_visible()
    person.settle()
    assert x_range(person) == pytest.approx(chosen, abs=0.01)


def test_the_map_ends_with_the_exact_weights_of_the_head_that_was_chosen(person: Person):
    """What the thumbnails let it show at once, in steps of 1/254, is only a preview."""
    shown = "plot => plot._fullData.find(trace => trace.type === 'heatmap').z.map(row => [...row])"
    trace = zoo.load("writer").trace(OPENING_TEXT)
    for layer, head in ((0, 1), (3, 2)):
        person.head(layer, head).click()
        expect(person.picture(layer, head)).to_be_visible()
        person.settle()
        cells = np.array(plot(person).evaluate(shown), dtype=float)  # None, NaN: not drawn
        view = trace.head(HeadRef("decoder", layer, head))
        np.testing.assert_allclose(cells[view.mask], view.weights[view.mask], atol=1e-6)
        assert np.isnan(cells[~view.mask]).all()
    # Chosen again, or after another that was not waited for: the same exact map.
    for other in ((3, 2), (2, 0)):
        person.head(*other).click()
        person.head(3, 2).click()
        person.settle()
        expect(plot(person)).not_to_have_attribute("data-drawn", "preview")
        cells = np.array(plot(person).evaluate(shown), dtype=float)
        np.testing.assert_allclose(cells[view.mask], view.weights[view.mask], atol=1e-6)


def test_a_picture_that_cannot_be_written_is_said(person: Person):
    failing = "() => { Plotly.toImage = () => Promise.reject(new Error('no memory')); }"
    person.page.evaluate(failing)
    person.open_popover("Export")
    person.page.get_by_role("button", name="PNG").click()
    expect(person.page.get_by_text("could not write the picture (no memory)")).to_be_visible()


def test_back_and_forward_show_the_views_of_their_addresses(person: Person):
    opening = person.page.url
    for layer, head in ((0, 0), (1, 1)):
        person.head(layer, head).click()
        person.settle()
    last = person.page.url
    person.page.go_back()
    expect(person.head(0, 0)).to_have_attribute("aria-selected", "true")
    expect(person.picture(0, 0)).to_be_visible()
    person.settle()
    person.page.go_forward()
    expect(person.head(1, 1)).to_have_attribute("aria-selected", "true")
    assert person.settle().page.url == last
    person.page.go_back()
    person.settle()
    person.page.go_back()
    expect(person.page).to_have_url(opening)


def test_everything_is_reached_without_a_mouse(person: Person):
    press = person.page.keyboard.press
    person.heads.locator("[tabindex='0']").focus()
    press("Home")
    press("ArrowRight")
    press("Enter")
    person.settle()
    expect(person.head(0, 1)).to_have_attribute("aria-selected", "true")
    expect(person.head(0, 1)).to_be_focused()  # the choice did not throw the person out

    person.tokens.and_(person.page.locator("[tabindex='0']")).focus()
    press("Home")
    press("ArrowRight")
    press("Enter")
    person.settle()
    assert person.chosen_token == 1

    person.page.get_by_role("button", name="Table").focus()
    press("Enter")
    expect(person.page.get_by_test_id("stPopoverBody")).to_be_visible()
    press("Escape")
    expect(person.page.get_by_test_id("stPopoverBody")).to_have_count(0)


def test_tab_reaches_every_control(person: Person):
    """From the top of the page on: the field, a token, a head, the views and the popovers."""
    wanted = {"Sentence", "Table", "Export", "Code", "Link", "Examples", "option", "Map"}
    name = """() => {
      let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      return [at?.role ?? at?.getAttribute('role'), at?.labels?.[0]?.innerText, at?.innerText,
              at?.ariaLabel].filter(Boolean).join(' ');
    }"""
    seen = ""
    for _ in range(60):
        person.page.keyboard.press("Tab")
        seen += person.page.evaluate(name) + "\\n"
    assert {each for each in wanted if each not in seen} == set()


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_nothing_must_be_scrolled_to_on_a_projector(
    arrive: Callable[..., Person], width: int, height: int
):
    person = arrive(viewport={"width": width, "height": height}).open()
    for control in (person.sentence, person.heads, person.picture(), person.view("Stages")):
        box = control.bounding_box()
        assert box["y"] + box["height"] <= height and box["x"] + box["width"] <= width
    for name in ("Table", "Export", "Code", "Link"):
        box = person.page.get_by_role("button", name=name).bounding_box()
        assert box["y"] + box["height"] <= height, f"{name} is below the screen"
