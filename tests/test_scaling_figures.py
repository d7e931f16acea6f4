"""The Scaling page's pictures hold the numbers they are given, and Plotly takes each of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from viz.figures import alternatives, frame, twins
from viz.figures.layer_head_map import layer_head_map
from viz.figures.one_row import one_row
from viz.figures.saturation import Measure, saturation
from viz.figures.spread import Scores, Variances, spread
from viz.figures.two_scales import Scaled, two_scales
from viz.figures.whole_model import Curve, Predictions, whole_model
from viz.theme import DARK, LIGHT, Palette

D_KS = (1, 2, 4, 8)
HAZARDS = ["<b>x</b>", "</s>", "&lt;", "the", "the"]


def a_row(palette: Palette = LIGHT, n: int = 3) -> dict[str, Any]:
    scores = {"unscaled": np.linspace(8, -4, n), "scaled": np.linspace(2, -1, n)}
    weights = {name: np.exp(row) / np.exp(row).sum() for name, row in scores.items()}
    return one_row(scores, weights, palette, score_title="scores")


def a_spread(palette: Palette = LIGHT) -> dict[str, Any]:
    values = np.random.default_rng(0).normal(size=200)
    d_ks = np.array(D_KS)
    variances = Variances(d_ks, d_ks * 1.1, d_ks * 1.0, d_ks * 0.05)
    scaled, unscaled = Scores("scaled", values, 0, 1), Scores("unscaled", values * 2, 0.5, 2)
    return spread(scaled, unscaled, variances, 4, palette)


def a_saturation(palette: Palette = LIGHT) -> dict[str, Any]:
    band = np.array([[0.3, 0.4, 0.5, 0.6], [0.2, 0.3, 0.4, 0.5], [0.4, 0.5, 0.6, 0.7]])
    return saturation(
        D_KS, [Measure("largest", band, band + 0.1, [(0.1, "all alike")], 1)], palette
    )


def under(title: str, n: int, sharp: float) -> Scaled:
    scores = sharp * np.eye(n)
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return Scaled(title, sharp, weights, np.linspace(0, 1, n), np.linspace(0, 0.5, n))


def two_maps(palette: Palette = LIGHT, tokens: list[str] = HAZARDS) -> dict[str, Any]:
    n = len(tokens)
    mask = np.tri(n, dtype=bool)
    pair = under("its own", n, 1.0), under("unscaled", n, 4.0)
    return two_scales(*pair, mask, tokens, tokens, 1, palette)


def a_whole_model(palette: Palette = LIGHT) -> dict[str, Any]:
    curves = [Curve("stories", np.array([3.0, 2, 3]), 2.5), Curve("text", np.array([2.0, 1, 2]), 2)]
    predictions = Predictions(("<b>", "are"), np.array([0.7, 0.2]), np.array([0.1, 0.3]))
    return whole_model((0.5, 1, 2), curves, 2.0, 5.66, predictions, palette)


def some_twins(palette: Palette = LIGHT, n_steps: int = 3) -> dict[str, Any]:
    steps = np.arange(n_steps) * 10
    values = {(d, s): 5 - steps / 10 - s * 0.3 for d in (16, 64, 128) for s in (True, False)}
    loss = twins.Lines("loss", steps, values, 100)
    starts = [
        twins.AtStart("largest", {key: 0.1 * len(values) for key in values}) for _ in range(3)
    ]
    return twins.twins((16, 64, 128), loss, starts, palette)


def others(palette: Palette = LIGHT) -> dict[str, Any]:
    rising = np.array([0.2, 0.4, 0.6, 0.8])
    panel = alternatives.Panel("QK-norm", "g q·k", "angles", "Henry", rising / 2)
    return alternatives.alternatives(D_KS, [panel] * 4, rising * 0 + 0.2, rising, palette)


def a_map(palette: Palette = LIGHT) -> dict[str, Any]:
    return layer_head_map(np.array([[0.1, np.nan], [0.5, 1.0]]), "saturated", (1, 0), palette)


FIGURES = [
    a_row, a_spread, a_saturation, two_maps, a_whole_model, some_twins, others, a_map
]  # fmt: skip


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("make", FIGURES)
def test_plotly_takes_the_figure_as_it_is(make, palette: Palette):
    drawing = make(palette)
    figure = go.Figure(drawing)  # refuses what it does not know
    assert len(figure.data) == len(drawing["data"])
    assert drawing["layout"]["meta"]["grows"]


@pytest.mark.parametrize("make", FIGURES)
def test_no_letter_is_smaller_than_thirteen_pixels(make):
    def sizes(value: Any):
        if isinstance(value, dict):
            font = value.get("font", value.get("tickfont"))
            if isinstance(font, dict) and "size" in font:
                yield font["size"]
            for each in value.values():
                yield from sizes(each)
        elif isinstance(value, list):
            for each in value:
                yield from sizes(each)

    assert min(sizes(make()["layout"])) >= 13


def test_scaled_and_unscaled_bars_share_their_axes():
    bars = [trace for trace in a_row()["data"] if trace["type"] == "bar"]
    axes = [(trace["xaxis"], trace["yaxis"]) for trace in bars]
    assert axes == [("x2", "y"), ("x2", "y"), ("x2", "y2"), ("x2", "y2")]
    assert bars[0]["width"] > bars[1]["width"]  # they stay apart without colour


def test_error_bars_are_three_standard_errors():
    ratios = a_spread()["data"][-1]
    np.testing.assert_allclose(ratios["error_y"]["array"], 3 * 0.05)
    np.testing.assert_allclose(ratios["y"], 1.1)


def test_a_histogram_is_as_high_as_its_normal_curve():
    """Both are in units of the curve's peak, whatever the spread: the bars' area is that of the
    curve, σ √(2π)."""
    bars = [trace for trace in a_spread()["data"] if trace["type"] == "bar"]
    for trace, deviation in zip(bars, (1, 2), strict=True):
        area = (trace["y"] * trace["width"]).sum()
        assert area == pytest.approx(deviation * np.sqrt(2 * np.pi), rel=0.02)


def test_tokens_are_written_as_they_are_and_each_has_its_own_row():
    drawing = two_maps()
    beside = [n for n in drawing["layout"]["annotations"] if n["yref"] == "y" and n["x"] == 0]
    assert [note["y"] for note in beside] == [0, 1, 2, 3, 4]
    assert beside[0]["text"] == "&lt;b&gt;x&lt;/b&gt;"
    assert beside[1]["text"] == "<b>&lt;/s&gt;</b>"  # the row that is spoken of
    assert beside[2]["text"] == "&amp;lt;"


def test_the_difference_is_the_other_less_its_own_and_masked_cells_stay_empty():
    first, second, difference = (trace["z"] for trace in two_maps()["data"][:3])
    assert np.isnan(first[0, 1]) and not np.isnan(first[1, 0])
    np.testing.assert_allclose(difference, second - first, atol=1e-6)


def test_a_long_text_is_drawn_in_part():
    drawing = two_maps(tokens=["a"] * 300)
    assert drawing["data"][0]["z"].shape == (256, 256)
    assert len(drawing["layout"]["annotations"]) < 150


def test_dumbbells_join_the_two_numbers_of_a_row():
    ends = np.array([1.0, 2]), np.array([3.0, 4])
    drawn = frame.dumbbells(*ends, LIGHT, "%{x} %{text}", size=9)
    assert drawn["x"][:2].tolist() == [1, 3] and np.isnan(drawn["x"][2])
    assert drawn["y"].tolist() == [0, 0, 0, 1, 1, 1]
    assert drawn["marker"]["color"][:2] == [LIGHT.scaled, LIGHT.unscaled]
    assert drawn["text"][:2] == ["scaled", "unscaled"]
    named = frame.dumbbells(*ends, LIGHT, "%{x} %{text}", size=9, names=("0.2", "0.4"))
    assert named["text"][:2] == ["0.2", "0.4"]


def test_twins_share_one_scale_and_say_their_gap():
    layout = some_twins()["layout"]
    assert layout["yaxis"]["range"] == layout["yaxis2"]["range"] == layout["yaxis3"]["range"]
    assert sum("gap 0.30" in note["text"] for note in layout["annotations"]) == 3


def test_before_training_the_empty_panels_say_so():
    texts = [note["text"] for note in some_twins(n_steps=1)["layout"]["annotations"]]
    assert texts.count("not trained yet") == 3
