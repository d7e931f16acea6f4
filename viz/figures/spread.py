"""How far random scores lie apart: their histograms, and their variance for every d_k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.figures.frame import (
    SIZE,
    THEORY,
    axis,
    bare,
    faint,
    layout,
    line,
    note,
    powers_of_two,
    upright,
)
from viz.theme import Palette

_BINS = 41
_LEFT, _RIGHT = [0, 0.47], [0.575, 1]  # the two halves of the picture
_BESIDE = 0.13  # right of what was measured, left of the middle


@dataclass(frozen=True)
class Scores:
    """The scores of one d_k, and what theory says of them."""

    name: str  # "scaled" or "unscaled"
    values: np.ndarray  # (n_pairs,)
    mean: float
    deviation: float


@dataclass(frozen=True)
class Variances:
    """The variance of q·k for each d_k: measured, expected, and its standard error."""

    d_ks: np.ndarray
    measured: np.ndarray
    expected: np.ndarray
    error: np.ndarray


def spread(
    scaled: Scores, unscaled: Scores, variances: Variances, d_k: int, palette: Palette
) -> dict[str, Any]:
    """Two histograms on one axis, each with its normal curve; the variance over d_k with theory
    dashed; and measured ÷ theory, since error bars cannot be seen on a logarithmic axis.
    """
    reach = max(abs(unscaled.mean) + 3.6 * unscaled.deviation, 3.6 * scaled.deviation)
    histograms = [
        *_histogram(scaled, palette.scaled, "x2", "y", palette),
        *_histogram(unscaled, palette.unscaled, "x", "y2", palette),
    ]
    top = max(1.3, *(1.05 * trace["y"].max() for trace in histograms))
    return {
        "data": [
            *histograms,
            *_variance_points(variances, d_k, palette),
            _ratios(variances, palette),
        ],
        "layout": layout(
            palette,
            left=14,
            right=80,
            bottom=50,
            **_axes(reach, top, variances, palette),
            shapes=[
                line(0, 1, 1, 1, palette.ink, xref="x3 domain", yref="y4", **THEORY),
                line(d_k, d_k, 0, 1, palette.muted, xref="x3", yref="paper", dash="dot"),
            ],
            annotations=[
                *_histogram_notes(scaled, palette.scaled, "y domain", palette),
                *_histogram_notes(unscaled, palette.unscaled, "y2 domain", palette),
                *_variance_notes(variances, palette),
            ],
        ),
    }


def _axes(reach: float, top: float, variances: Variances, palette: Palette) -> dict[str, Any]:
    off = np.abs(variances.measured - variances.expected) + 3 * variances.error
    ratios = max(0.26, 1.03 * float((off / variances.expected).max()))  # no error bar is cut
    ends = np.log10([variances.expected.max(), (variances.expected / variances.d_ks).min()])
    return {
        "xaxis": axis(palette, "score", domain=_LEFT, range=[-reach, reach], anchor="y2", nticks=7),
        "xaxis2": bare(palette, domain=_LEFT, range=[-reach, reach], anchor="y", showline=True),
        "xaxis3": axis(
            palette,
            "d<sub>k</sub>",
            domain=_RIGHT,
            range=[-0.12, 3.13],
            anchor="y4",
            **powers_of_two(variances.d_ks),
        ),
        "xaxis4": bare(palette, type="log", domain=_RIGHT, range=[-0.12, 3.13], anchor="y3"),
        "yaxis": bare(palette, domain=[0.53, 1], range=[0, top], anchor="x2"),
        "yaxis2": bare(palette, domain=[0, 0.47], range=[0, top], anchor="x"),
        "yaxis3": upright(
            palette,
            domain=[0.30, 1],
            type="log",
            range=[min(ends[1] - 0.5, -0.5), ends[0] + 0.25],
            tickvals=[1, 10, 100, 1000, 10_000],
            ticktext=["1", "10", "100", "1,000", "10,000"],
            anchor="x4",
        ),
        "yaxis4": upright(
            palette,
            domain=[0, 0.19],
            range=[1 - ratios, 1 + ratios],
            tickvals=[0.8, 1, 1.2],
            anchor="x3",
        ),
    }


def _histogram(
    scores: Scores, colour: str, xaxis: str, yaxis: str, palette: Palette
) -> list[dict[str, Any]]:
    """Bars as high as the share of scores, in units of the normal curve's peak: a scaled histogram
    on the unscaled one's axis would else be a needle.
    """
    middle, spread_of = scores.values.mean(), scores.values.std()
    edges = np.linspace(middle - 4 * spread_of, middle + 4 * spread_of, _BINS + 1)
    density, _ = np.histogram(scores.values, edges, density=True)
    grid = np.linspace(-4, 4, 121)
    curve = {"color": palette.ink, **THEORY}
    return [
        {
            "type": "bar",
            "x": (edges[1:] + edges[:-1]) / 2,
            "y": density * scores.deviation * np.sqrt(2 * np.pi),
            "width": np.diff(edges),
            "marker": {"color": faint(colour, 0.38), "line": {"width": 0}},
            "xaxis": xaxis,
            "yaxis": yaxis,
            "hovertemplate": "around %{x:.2f}<extra></extra>",
        },
        {
            "type": "scatter",
            "mode": "lines",
            "x": scores.mean + grid * scores.deviation,
            "y": np.exp(-(grid**2) / 2),
            "line": curve,
            "xaxis": xaxis,
            "yaxis": yaxis,
            "hoverinfo": "skip",
        },
    ]


def _histogram_notes(
    scores: Scores, colour: str, yref: str, palette: Palette
) -> list[dict[str, Any]]:
    place = {"yref": yref, "valign": "top"}
    far_right = scores.mean > 2.5 * scores.deviation  # the curve stands where theory's words would
    theory = {**place, "anchor": "left" if far_right else "right"}
    at = _BESIDE if far_right else _LEFT[1]
    notes = [
        note(f"<b>{scores.name}</b>", 0.01, 0.95, colour, **place),
        note(f"σ = {scores.values.std(ddof=1):.3g}", 0.01, 0.95, colour, dy=-23, **place),
        note("theory", at, 0.95, palette.ink, **theory),
        note(f"σ = {scores.deviation:.3g}", at, 0.95, palette.ink, dy=-23, **theory),
    ]
    if scores.mean:
        measured, mean = f"{scores.values.mean():.3g}", f"{scores.mean:.3g}"
        notes.append(note(f"mean {measured}", 0.01, 0.95, colour, dy=-46, **place))
        notes.append(note(f"mean {mean}", at, 0.95, palette.ink, dy=-46, **theory))
    return notes


def _variance_points(v: Variances, d_k: int, palette: Palette) -> list[dict[str, Any]]:
    """Theory as one trace and all points as another, each with a gap between its two curves."""
    at = int(np.flatnonzero(v.d_ks == d_k)[0])
    n = len(v.d_ks)
    gap = [np.nan]
    x = np.concatenate([v.d_ks, gap, v.d_ks])
    colours = [palette.unscaled] * (n + 1) + [palette.scaled] * n
    axes = {"type": "scatter", "xaxis": "x4", "yaxis": "y3"}
    measured = np.concatenate([v.measured, gap, v.measured / v.d_ks])
    return [
        {
            **axes,
            "mode": "lines",
            "x": x,
            "y": np.concatenate([v.expected, gap, v.expected / v.d_ks]),
            "line": {"color": palette.ink, **THEORY},
            "hoverinfo": "skip",
        },
        {
            **axes,
            "mode": "markers",
            "x": x,
            "y": measured,
            "marker": {"size": 9, "color": colours},
            "text": ["unscaled"] * (n + 1) + ["scaled"] * n,
            "hovertemplate": "d_k %{x}: %{y:.3f} %{text}<extra></extra>",
        },
        {
            **axes,
            "mode": "markers",
            "x": [d_k, d_k],
            "y": [measured[at], measured[n + 1 + at]],
            "marker": {
                "size": 17,
                "color": "rgba(0,0,0,0)",
                "line": {"color": [palette.unscaled, palette.scaled], "width": 2},
            },
            "hoverinfo": "skip",
        },
    ]


def _ratios(v: Variances, palette: Palette) -> dict[str, Any]:
    bars = {"type": "data", "array": 3 * v.error / v.expected, "thickness": 1.6, "width": 0}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": v.d_ks,
        "y": v.measured / v.expected,
        "marker": {"size": 7, "color": palette.unscaled},
        "error_y": {**bars, "color": palette.unscaled},
        "xaxis": "x3",
        "yaxis": "y4",
        "hovertemplate": "d_k %{x}: %{y:.3f} of what theory says<extra></extra>",
    }


def _variance_notes(v: Variances, palette: Palette) -> list[dict[str, Any]]:
    title = {"valign": "bottom", "dx": -40}
    end = {"dx": 8}
    per_product = v.expected[0]
    theory = "d<sub>k</sub>" if per_product == 1 else f"{per_product:.3g} d<sub>k</sub>"
    small = {"size": SIZE - 1, "xref": "x4", "yref": "y3", "anchor": "center"}
    return [
        note("scores of random pairs", 0, 1, palette.ink, valign="bottom", dy=8),
        note("variance of the score", _RIGHT[0], 1, palette.ink, dy=8, **title),
        note(
            "measured ÷ theory, ± 3 standard errors", _RIGHT[0], 0.195, palette.ink, dy=3, **title
        ),
        note("<b>unscaled</b>", 1, np.log10(v.measured[-1]), palette.unscaled, yref="y3", **end),
        note(
            "<b>scaled</b>",
            1,
            np.log10(v.measured[-1] / v.d_ks[-1]),
            palette.scaled,
            yref="y3",
            **end,
        ),
        note(
            f"theory: {theory}", 0.6, np.log10(per_product * 4), palette.ink, dx=-22, dy=24, **small
        ),
        note(
            f"theory: {per_product:.3g}", 0.6, np.log10(per_product), palette.ink, dy=-18, **small
        ),
    ]
