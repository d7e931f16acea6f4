"""The Scaling page without a browser: every section opens and says what was computed."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import scaling
from model.scaling import D_KS, ENTRIES, N_KEYS
from model.twins import D_KS as TWIN_D_KS
from model.twins import Point, Setting, Twin
from tests.app import TIMEOUT, link_of, run_with_link
from viz import jobs
from viz.figures import spread as figures
from viz.pages.scaling import SECTIONS, head, others, row, saturation, spread, training, whole
from viz.pages.scaling.head import Scaled
from viz.pages.scaling.whole import Predictions, Seen
from viz.theme import LIGHT

SCRIPT = "from viz.pages import PAGES\nPAGES[1].render()"
MARKUP = re.compile(r"<[^>]+>")


def opened(**link: str) -> AppTest:
    """The Scaling page, opened by a link with these values."""
    return run_with_link(AppTest.from_string(SCRIPT, default_timeout=TIMEOUT), link)


def said_on(app: AppTest) -> str:
    """The sentence under the picture, as text."""
    return plain(" ".join(bodies_of(app, "hl-say")))


def notes_on(app: AppTest) -> str:
    return " ".join(bodies_of(app, "hl-notes"))


def bodies_of(app: AppTest, name: str) -> list[str]:
    """The HTML of the elements of one class."""
    bodies = [element.proto.body for element in app.get("html")]
    return [body for body in bodies if f"class='{name}'" in body]


def plain(html: str) -> str:
    return MARKUP.sub("", html)


# --- wiring ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.name)
def test_every_section_opens_from_a_link_and_says_something(section):
    app = opened(section=section.name)
    assert link_of(app).get("section", SECTIONS[0].name) == section.name
    assert len(said_on(app)) > 20


def test_a_bad_section_falls_back_with_a_note():
    app = opened(section="nonsense")
    assert "section" not in link_of(app)
    assert "nonsense" in notes_on(app)


@pytest.mark.parametrize(
    ("name", "value"), [("dk", "63"), ("keys", "x"), ("tau", "1e9"), ("draw", "-1"), ("times", "7")]
)
def test_a_bad_value_in_a_link_falls_back(name: str, value: str):
    app = opened(**{name: value})
    assert name not in link_of(app) and value in notes_on(app)


def test_drawing_again_changes_the_row_and_the_link():
    app = opened()
    before = said_on(app)
    app.button(key="draw-again").click().run()
    assert link_of(app)["draw"] == "8"
    assert said_on(app) != before


def test_a_link_brings_the_same_numbers_back():
    app = opened(section="spread", dk="16", entries="uniform", draw="3")
    assert said_on(app) == said_on(opened(**link_of(app)))


def test_the_answer_is_not_on_the_page_before_it_is_asked_for():
    app = opened(section="saturation")
    assert not [e for e in app.get("popover") if "Table" in str(e.proto)]
    app.button[0].click().run()
    assert link_of(app)["stage"] == "revealed"
    assert "Unscaled you were" in said_on(app)


@pytest.mark.parametrize("text", ["", "a", "💩", "<b>x</b> $x^2$", "word " * 400])
@pytest.mark.parametrize("section", ["head", "whole"])
def test_any_text_gives_a_picture_or_a_sentence(section: str, text: str):
    app = opened(section=section, text=text)
    assert said_on(app) or notes_on(app)


@pytest.mark.parametrize("typed", ["", "1 x", "1 2\n3", "nan", "1e99", "<b>", "9" * 700])
def test_a_matrix_that_is_none_gives_a_sentence(typed: str):
    app = opened(section="head", qk="typed in", typed_q=typed)
    assert notes_on(app) and not said_on(app)


def test_a_blank_model_without_the_scale_calls_its_own_factor_one():
    app = opened(section="head", model="blank", scale="off")
    bodies = " ".join(element.proto.body for element in app.get("html"))
    assert "does not divide" in bodies
    assert "Both maps are the same" in said_on(app)  # "unscaled" is what it does


def test_chosen_heads_stand_in_the_link_and_unknown_ones_do_not_matter():
    app = opened(section="whole", in_heads="L2 H1,L99 H0,<b>")
    assert app.multiselect[0].value == ["L2 H1"]
    assert said_on(app)


# --- what is said ---------------------------------------------------------------------------------


def test_the_row_says_how_far_the_best_key_leads():
    seen = row._row(64, 12, 1.0, 7)
    best, second = seen["scores"]["unscaled"][:2]
    said = plain(row.what_to_notice(seen, 64, 1.0))
    assert f"leads by {best - second:.1f}" in said
    assert f"{1 - seen['weights']['scaled'][0]:.0%}".replace("%", " %") in said


def test_at_d_k_1_there_is_nothing_to_divide():
    seen = row._row(1, 12, 1.0, 7)
    assert np.array_equal(seen["weights"]["scaled"], seen["weights"]["unscaled"])
    assert "nothing to divide" in row.what_to_notice(seen, 1, 1.0)


@pytest.mark.parametrize("d_k", D_KS)
@pytest.mark.parametrize("tau", row.TEMPERATURES)
@pytest.mark.parametrize("n_keys", [N_KEYS[0], N_KEYS[-1]])
def test_the_row_says_numbers_in_every_state(d_k: int, tau: float, n_keys: int):
    said = row.what_to_notice(row._row(d_k, n_keys, tau, 0), d_k, tau)
    assert not re.search(r"nan|inf|e\+", plain(said))


@pytest.mark.parametrize("entries", ENTRIES)
@pytest.mark.parametrize("d_k", [1, 64, 1024])
def test_the_spread_says_what_was_measured(entries: str, d_k: int):
    drawn = scaling.sweep(entries, 12, 3)
    at = D_KS.index(d_k)
    said = plain(spread.what_to_notice(drawn, d_k))
    measured = drawn.pairs[at].mean() if entries == "correlated" else drawn.variance[at]
    numbers = [float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*(?:\.\d+)?", said)]
    assert any(number == pytest.approx(float(measured), rel=5e-3) for number in numbers)
    assert "e+" not in said


def test_correlated_entries_make_a_head_sure_only_where_the_mean_is_far_out():
    drawn = scaling.sweep("correlated", 12, 3)
    assert "can be sure" not in spread.what_to_notice(drawn, 1)
    assert "after division" not in spread.what_to_notice(drawn, 1)
    assert "can be sure" in spread.what_to_notice(drawn, 1024)


@pytest.mark.parametrize("entries", ENTRIES)
def test_no_error_bar_of_the_spread_is_cut(entries: str):
    for draw in range(20):
        drawn = scaling.sweep(entries, 12, draw)
        v = spread._variances(drawn)
        drawing = figures.spread(*spread._scores(drawn, 1), v, 1, LIGHT)
        low, high = drawing["layout"]["yaxis4"]["range"]
        assert low < ((v.measured - 3 * v.error) / v.expected).min()
        assert high > ((v.measured + 3 * v.error) / v.expected).max()


def test_a_guess_is_called_right_only_where_it_is():
    found = {
        n: saturation._saturation("normal", 12, 7, n == "scaled") for n in ("scaled", "unscaled")
    }
    truth = {name: float(each.largest[0, -1]) for name, each in found.items()}
    assert plain(saturation.what_was_right(found, truth)).count("right") == 2
    off = {"scaled": truth["scaled"] + 0.3, "unscaled": truth["unscaled"] - 0.2}
    said = plain(saturation.what_was_right(found, off))
    assert "0.30 too high" in said and "0.20 too low" in said and "right" not in said


def head_under(title: str, weights: list[list[float]]) -> Scaled:
    made = np.array(weights)
    return Scaled(
        title,
        float(title.split(", ")[1]),
        made,
        head.measures.entropy(made),
        head.measures.jacobian_norm(made),
    )


def test_a_head_says_which_row_changes_most_and_how_many_saturate():
    own = head_under("its own, 0.5", [[0.5, 0.5], [0.6, 0.4]])
    other = head_under("unscaled, 1", [[0.7, 0.3], [1.0, 0.0]])
    mask = np.ones((2, 2), dtype=bool)
    said = plain(head.what_to_notice(own, other, mask, ["a", "<b>"], ["k", "l"]))
    assert "&lt;b&gt; gives k 1.00 of its weight instead of 0.60" in said
    assert "1 of 2 rows are" in said


def test_a_change_that_two_digits_do_not_show_is_not_called_one():
    own = head_under("its own, 0.5", [[1.0, 0.0], [0.9990, 0.0010]])
    other = head_under("unscaled, 1", [[1.0, 0.0], [0.9991, 0.0009]])
    mask = np.array([[True, False], [True, True]])
    said = plain(head.what_to_notice(own, other, mask, ["a", "b"], ["k", "l"]))
    assert "no weight changes by more than 0.001" in said
    assert "stays at 0.01" in said and "1 of 1 row is" in said


def test_maps_that_are_the_same_under_two_factors_are_not_called_one_factor():
    own = head_under("its own, 0.5", [[0.5, 0.5]])
    both, one = np.ones((1, 2), dtype=bool), np.array([[True, False]])
    other = head_under("unscaled, 1", [[0.5, 0.5]])
    said = plain(head.what_to_notice(own, other, both, ["a"], ["k", "l"]))
    assert "no weight changes at all" in said and "Both maps" not in said
    assert "Both maps" in head.what_to_notice(own, own, both, ["a"], ["k", "l"])
    assert "a single key" in head.what_to_notice(own, other, one, ["a"], ["k", "l"])


def test_a_mean_gradient_that_is_not_smaller_is_owned_up_to():
    for n_keys in (N_KEYS[0], N_KEYS[-1]):
        found = {
            n: saturation._saturation("normal", n_keys, 7, n == "scaled")
            for n in ("scaled", "unscaled")
        }
        unscaled, scaled = (found[n].jacobian[0, -1] for n in ("unscaled", "scaled"))
        said = plain(saturation.what_to_notice(found, n_keys))
        held_up = f"the mean norm is {unscaled:.2f} against {scaled:.2f}"
        assert (held_up in said) == (unscaled >= scaled)
    assert unscaled > scaled  # so it is with 512 keys: both cases are here


def seen(stories: list[float], own: float, other: float) -> Seen:
    curve = np.array(stories)
    predictions = Predictions(("are", "is"), np.array([0.8, 0.1]), np.array([0.2, 0.5]))
    return Seen(curve, curve, np.array([own, other]), np.array([own, other]), predictions)


def test_the_whole_model_says_where_its_loss_is_lowest():
    n, one = len(whole.CURVE), whole.CURVE.index(1.0)
    trained = [3.0] * n
    trained[one] = 1.9
    said = plain(whole.what_to_notice(seen(trained, 1.9, 2.6), 4.0, 5.66, "cabinet"))
    assert (
        "the model’s own factor" in said and "2.60" in said and "predicts is instead of are" in said
    )
    elsewhere = [3.0] * n
    elsewhere[one + 1] = 1.9
    said = plain(whole.what_to_notice(seen(elsewhere, 2.0, 2.6), 4.0, 5.66, "cabinet"))
    assert "times its own" in said and "own factor." in said
    flat = plain(whole.what_to_notice(seen([7.0] * n, 7.0, 7.0), 4.0, 5.66, "cabinet"))
    assert "hardly matters" in flat


def points(step: int, gap: float, saturated: float, gradient: float) -> dict[Twin, Point]:
    scaled = Point(4.0, 0.8, 0.2, 0.0, 1.0, step, 0.1, 2.0)
    unscaled = replace(scaled, loss=4.0 + gap, saturated=saturated, gradient=gradient)
    return {Twin(d, s): scaled if s else unscaled for d in TWIN_D_KS for s in (True, False)}


def test_training_says_that_gradients_do_not_vanish_only_where_they_do_not():
    start = {t: replace(p, loss=7.5) for t, p in points(0, 0, 0.3, 0.9).items()}
    said = plain(training.what_to_notice([start, points(50, 0.5, 0.4, 0.9)], Setting()))
    assert "do not vanish (0.9 against 0.1 at step 0)" in said
    assert "0.50 more" in said and "40 %" in said and "all learn" in said
    small = {t: replace(p, loss=7.5) for t, p in points(0, 0, 0.0, 0.05).items()}
    said = plain(training.what_to_notice([small, points(50, 0.01, 0.0, 0.05)], Setting()))
    assert "smaller without it" in said and "hardly mattered" in said and "nor is any row" in said


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (-0.2, "the unscaled ones of 0.20 less, though they all learn"),
        (0.5, "the unscaled ones of 0.50 more, though they all learn"),
        (3.45, "the unscaled ones of 3.45 more, and they do not all learn"),
    ],
)
def test_training_says_which_loss_is_larger_and_who_learns(gap: float, words: str):
    start = {t: replace(p, loss=7.5) for t, p in points(0, 0, 0.001, 0.9).items()}
    said = plain(training.what_to_notice([start, points(1, gap, 0.001, 0.9)], Setting()))
    assert words in said and "After 1 step the" in said
    assert "in &lt;1 % of the rows" in said


def test_gaps_of_both_signs_are_said_so():
    assert plain(training._gap([-0.03, 0.0, 0.2])) == "between 0.03 less and 0.20 more"
    assert plain(training._gap([-0.001, 0.2])) == "of 0.00 to 0.20 more"


def test_what_somebody_has_trained_is_shown_and_not_trained_again():
    setting = Setting(steps=50)
    found = [points(0, 0, 0.3, 0.9), points(50, 0.5, 0.4, 0.9)]
    jobs.start(repr(setting), lambda: (jobs.Progress(1.0, at) for at in found))
    app = opened(section="training", steps="50")
    assert "After 50 steps" in said_on(app)
    assert "Train the pairs" not in [button.label for button in app.button]


def test_a_public_server_trains_no_longer_than_it_may(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    app = opened(section="training", steps="400")
    assert max(map(int, app.button_group(key="steps").options)) == training.MOST_PUBLIC_STEPS
    assert link_of(app).get("steps", "100") == "100"


def test_the_steadiest_method_is_named():
    n = len(D_KS)
    curves = {name: np.linspace(0.1, 0.9, n) for name in others.METHODS}
    curves["mup"] = np.full(n, 0.2)
    both = {"scaled": np.full(n, 0.3), "unscaled": np.linspace(0.3, 1, n)}
    said = others.what_to_notice(curves, both, 12)
    assert said.endswith(
        f"{others._within(others.METHODS['mup'].title)} changes least with the width."
    )
