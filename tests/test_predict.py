"""Predict first: what the browser is told before the reveal, and what is believed of its answer."""

from __future__ import annotations

import json
import math

import pytest

from viz.components import predict as module
from viz.components.predict import Curve, predict, read_guesses

X = [1, 2, 4, 8, 16]
RISING = [0.11, 0.22, 0.33, 0.7654321, 0.9876543]
FLAT = [0.25, 0.26, 0.27, 0.2846802, 0.2913579]
HIDDEN = (*RISING[3:], *FLAT[3:])


class Browser:
    """Stands in for the browser: keeps what the component was sent, and can answer."""

    def register(self, name, html):
        return self.mount

    def mount(self, *, key, data, on_guess_change):
        self.sent = data
        self.answer = on_guess_change
        start = 4 + int.from_bytes(data[:4], "little")
        header = json.loads(data[4:start])
        assert header["arrays"] == []
        self.data = header["json"]


@pytest.fixture
def browser(monkeypatch):
    browser = Browser()
    monkeypatch.setattr(module, "register", browser.register)
    monkeypatch.setattr(module, "when", lambda key, event, handler: handler)
    return browser


def show(**changes):
    heard = []
    arguments = {
        "x": X,
        "x_labels": ["1", "", "4", "", "16"],
        "x_title": "dimensions, d_k",
        "y_title": "largest weight",
        "y_range": (0.0, 1.0),
        "curves": [
            Curve("raw", "unscaled", "unscaled", RISING),
            Curve("divided", "scaled", "scaled", FLAT),
        ],
        "known": 2,
        "guesses": {"raw": 0.62, "divided": 0.38},
        "revealed": False,
        "alt": "Two curves",
        "height_css": "300px",
        "on_guess": heard.append,
        **changes,
    }
    predict("key", **arguments)
    return heard


def values(browser):
    return {curve["name"]: curve["values"] for curve in browser.data["curves"]}


# ── What is sent ─────────────────────────────────────────────────────────────────────────────────


def test_before_the_reveal_no_hidden_value_is_sent_in_any_form(browser):
    show()
    assert values(browser) == {"raw": RISING[:3], "divided": FLAT[:3]}
    for value in HIDDEN:
        for written in (str(value), f"{value:.2f}", f"{value:.3f}"):
            assert written.encode() not in browser.sent


def test_after_the_reveal_every_value_is_sent(browser):
    show(revealed=True)
    assert values(browser) == {"raw": RISING, "divided": FLAT}


def test_the_hidden_sentence_says_the_drawn_numbers_and_the_guesses(browser):
    show()
    assert browser.data["words"] == (
        "largest weight by dimensions, d k. "
        "unscaled: 0.11 at 1, 0.22 at 2, 0.33 at 4; you say 0.62 at 16. "
        "scaled: 0.25 at 1, 0.26 at 2, 0.27 at 4; you say 0.38 at 16."
    )
    show(revealed=True)
    assert "0.77 at 8, 0.99 at 16; you said 0.62 at 16." in browser.data["words"]


def test_a_guess_that_the_page_holds_stays_within_the_picture(browser):
    show(guesses={"raw": 7, "divided": -7})
    assert browser.data["guesses"] == {"raw": 1.0, "divided": 0.0}


# ── What comes back ──────────────────────────────────────────────────────────────────────────────


def test_the_page_hears_all_guesses_also_where_one_came(browser):
    heard = show()
    browser.answer({"raw": 0.9})
    assert heard == [{"raw": 0.9, "divided": 0.38}]


@pytest.mark.parametrize(
    "sent",
    [None, 3, "0.5", True, {}, {"other": 0.5}, {"raw": "0.5"}, {"raw": None}, {"raw": [0.5]}],
)
def test_what_is_no_guess_is_not_heard(browser, sent):
    heard = show()
    browser.answer(sent)
    assert heard == []


def test_a_list_which_arrives_as_several_arguments_is_not_heard(browser):
    heard = show()
    browser.answer()
    browser.answer({"raw": 0.9}, {"divided": 0.9})
    assert heard == []


def test_a_guess_after_the_reveal_is_not_heard(browser):
    heard = show(revealed=True)
    browser.answer({"raw": 0.96})
    assert heard == []


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, "1", None, [], {}])
def test_only_finite_numbers_are_guesses(value):
    assert read_guesses({"raw": value, "divided": 0.5}, ["raw", "divided"], (0, 1)) == {
        "divided": 0.5
    }


@pytest.mark.parametrize(
    ("value", "kept"), [(-0.1, 0.0), (1.1, 1.0), (10**400, 1.0), (-(10**400), 0.0), (1, 1.0)]
)
def test_a_guess_is_clipped_to_the_range(value, kept):
    guesses = read_guesses({"raw": value}, ["raw"], (0, 1))
    assert guesses == {"raw": kept}
    assert type(guesses["raw"]) is float


# ── What a page may ask for ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"x": [0, 2, 4, 8, 16]}, "positive"),
        ({"x": [1, 2, 2, 8, 16]}, "rise"),
        ({"known": 4}, "something hidden"),
        ({"known": -1}, "something must be known"),
        ({"x_labels": ["1"]}, "1 labels for 5"),
        ({"y_range": (1, 1)}, "no range"),
        ({"curves": [Curve("raw", "", "scaled", RISING)] * 2}, "same name"),
        ({"curves": [Curve("raw", "", "crimson", RISING)]}, "not a colour"),
        ({"curves": [Curve("raw", "", "weights", RISING)]}, "not a colour"),
        ({"curves": [Curve("raw", "", "scaled", RISING[:3])]}, "3 values for 5"),
        ({"curves": [Curve("raw", "", "scaled", [*RISING[:4], math.nan])]}, "not finite"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused(browser, changes, complaint):
    with pytest.raises(ValueError, match=complaint):
        show(**changes)
