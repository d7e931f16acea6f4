"""One head under two factors on q·k: both maps, their difference, and what each row loses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.figures.frame import SIZE, axis, bare, key, layout, note
from viz.theme import MONO, Palette, colorscale, columns, label

MOST_ROWS = 256  # a side; of a longer text the first tokens are drawn
_ALL_LABELS = 26
_LABEL_WIDTH = 12  # columns
_MAPS = ([0, 0.232], [0.25, 0.482], [0.5, 0.732])
_MEASURES = ([0.785, 0.88], [0.905, 1.0])


@dataclass(frozen=True)
class Scaled:
    """A head under one factor.

    title: what the factor is   weights: (n_query, n_key)   entropy, jacobian: (n_query,)
    """

    title: str
    weights: np.ndarray
    entropy: np.ndarray
    jacobian: np.ndarray


def two_scales(
    own: Scaled,
    other: Scaled,
    mask: np.ndarray,
    rows: Sequence[str],
    keys: Sequence[str],
    spoken_of: int,
    palette: Palette,
) -> dict[str, Any]:
    """Three maps and two dumbbells on the same rows; masked cells are not drawn.

    mask: (n_query, n_key), True = may attend   rows, keys: the tokens   spoken_of: the row whose
    label is bold
    """
    n = min(len(rows), MOST_ROWS)
    shown = [np.where(mask, of, np.nan)[:n, :MOST_ROWS] for of in (own.weights, other.weights)]
    spread = float(np.nanmax(np.abs(shown[1] - shown[0]), initial=1e-9))
    limit = max(spread, 0.1)
    unit, signed = colorscale(palette.weights), colorscale(palette.signed)
    keys_of_colours = [
        key(palette.weights, "0", "1", _MAPS[1][1], palette),
        key(palette.signed, f"−{limit:.1f}", f"{limit:.1f}", _MAPS[2][1], palette),
    ]
    return {
        "data": [
            _map(shown[0], "x", unit, (0, 1)),
            _map(shown[1], "x2", unit, (0, 1)),
            _map(shown[1] - shown[0], "x3", signed, (-limit, limit)),
            *_dumbbells(own.entropy[:n], other.entropy[:n], "x4", "bits", palette),
            *_dumbbells(own.jacobian[:n], other.jacobian[:n], "x5", "Jacobian norm", palette),
        ],
        "layout": layout(
            palette,
            left=round(_widest(rows[:n]) * 8.4) + 16,
            right=10,
            top=30,
            bottom=round(_widest(keys[:MOST_ROWS]) * 7.6) + 12,
            **_axes(rows[:n], keys[:MOST_ROWS], own, spoken_of, palette),
            shapes=[shape for shapes, _ in keys_of_colours for shape in shapes],
            annotations=_titles(own, other, palette)
            + [note for _, notes in keys_of_colours for note in notes],
        ),
    }


def _widest(labels: Sequence[str]) -> int:
    return max(min(columns(each), _LABEL_WIDTH) for each in labels)


def _map(
    values: np.ndarray, xaxis: str, colours: list, limits: tuple[float, float]
) -> dict[str, Any]:
    few = max(values.shape) <= 40
    return {
        "type": "heatmap",
        "z": values.astype(np.float32),
        "x0": 0,
        "dx": 1,
        "y0": 0,
        "dy": 1,
        "zmin": limits[0],
        "zmax": limits[1],
        "colorscale": colours,
        "showscale": False,
        "xgap": 1 if few else 0,
        "ygap": 1 if few else 0,
        "xaxis": xaxis,
        "yaxis": "y",
        "hoverongaps": False,
        "hovertemplate": "row %{y}, column %{x}: <b>%{z:.3f}</b><extra></extra>",
    }


def _dumbbells(
    own: np.ndarray, other: np.ndarray, xaxis: str, unit: str, palette: Palette
) -> list[dict[str, Any]]:
    """For each row two dots on a line: under its own factor, and under the other."""
    n = len(own)
    between = np.full((n, 3), np.nan)
    between[:, 0], between[:, 1] = own, other
    size = 9 if n <= _ALL_LABELS else 5
    shared = {"type": "scatter", "xaxis": xaxis, "yaxis": "y"}
    joined = {
        **shared,
        "mode": "lines",
        "x": between.ravel(),
        "y": np.repeat(np.arange(n), 3),
        "line": {"color": palette.muted, "width": 1.5},
        "hoverinfo": "skip",
    }
    dots = [
        {
            **shared,
            "mode": "markers",
            "x": values,
            "y": np.arange(n),
            "marker": {"size": size, "color": colour},
            "hovertemplate": f"row %{{y}}: %{{x:.3f}} {unit}<extra></extra>",
        }
        for values, colour in ((own, palette.scaled), (other, palette.unscaled))
    ]
    return [joined, *dots]


def _axes(
    rows: Sequence[str], keys: Sequence[str], own: Scaled, spoken_of: int, palette: Palette
) -> dict[str, Any]:
    n, n_keys = len(rows), len(keys)
    step, key_step = (-(-count // _ALL_LABELS) for count in (n, n_keys))
    names = [label(row, _LABEL_WIDTH) for row in rows]
    if spoken_of < n:
        names[spoken_of] = f"<b>{names[spoken_of]}</b>"
    mono = {"family": MONO, "size": SIZE - 2, "color": palette.ink}
    key_axis = {
        "range": [-0.5, n_keys - 0.5],
        "tickvals": list(range(0, n_keys, key_step)),
        "ticktext": [label(key, _LABEL_WIDTH) for key in keys[::key_step]],
        "tickfont": mono,
        "tickangle": -90,
        "showline": False,
        "ticks": "",
        "anchor": "y",
    }
    most = max(float(own.entropy.max(initial=0)), np.log2(max(n_keys, 2)))
    measure = {"anchor": "y", "nticks": 3}
    return {
        "xaxis": axis(palette, domain=_MAPS[0], **key_axis),
        "xaxis2": axis(palette, domain=_MAPS[1], **key_axis),
        "xaxis3": axis(palette, domain=_MAPS[2], **key_axis),
        "xaxis4": axis(palette, domain=_MEASURES[0], range=[-0.06 * most, most * 1.05], **measure),
        "xaxis5": axis(palette, domain=_MEASURES[1], range=[-0.03, 0.53], **measure),
        "yaxis": bare(
            palette,
            range=[n - 0.5, -0.5],
            showticklabels=True,
            tickvals=list(range(0, n, step)),
            ticktext=names[::step],
            tickfont={**mono, "size": SIZE - 1},
            ticklabelstandoff=6,
        ),
    }


def _titles(own: Scaled, other: Scaled, palette: Palette) -> list[dict[str, Any]]:
    above = {"valign": "bottom", "dy": 7}
    return [
        note(f"<b>{own.title}</b>", _MAPS[0][0], 1, palette.scaled, **above),
        note(f"<b>{other.title}</b>", _MAPS[1][0], 1, palette.unscaled, **above),
        note("difference", _MAPS[2][0], 1, palette.ink, **above),
        note("entropy, bits", _MEASURES[0][0], 1, palette.ink, **above),
        note("gradient", _MEASURES[1][0], 1, palette.ink, **above),
    ]
