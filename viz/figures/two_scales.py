"""One head under two factors on q·k: both maps, their difference, and what each row loses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.figures.frame import SIZE, axis, bare, cells, dumbbells, key, layout, note
from viz.theme import MONO, Palette, columns, label

MOST_ROWS = 256  # a side; of a longer text the first tokens are drawn
_ALL_LABELS = 26
_LABEL_WIDTH = 12  # columns
_HOVER = "%{customdata[0]}\u200e → \u200e%{customdata[1]}<br><b>%{z:.3f}</b><extra></extra>"
_MAPS = ([0, 0.232], [0.25, 0.482], [0.5, 0.732])
_MEASURES = ([0.785, 0.88], [0.905, 1.0])


@dataclass(frozen=True)
class Scaled:
    """A head under one factor.

    title: the factor in words   weights: (n_query, n_key)   entropy, jacobian: (n_query,)
    """

    title: str
    factor: float
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
    limit = math.ceil(max(spread, 0.1) * 10) / 10  # what the key says with one digit
    dot = 9 if n <= _ALL_LABELS else 5
    names = {"rows": list(map(label, rows[:n])), "columns": list(map(label, keys[:MOST_ROWS]))}
    hover = {
        "yaxis": "y",
        "hovertemplate": "row %{y}, column %{x}: <b>%{z:.3f}</b><extra></extra>",
        # From these the plot component names both tokens of a cell.
        "meta": {**names, "hovertemplate": _HOVER},
    }
    keys_of_colours = [
        key(palette.weights, "0", "1", _MAPS[1][1], palette),
        key(palette.signed, f"−{limit:.1f}", f"{limit:.1f}", _MAPS[2][1], palette),
    ]
    return {
        "data": [
            cells(shown[0], palette.weights, xaxis="x", **hover),
            cells(shown[1], palette.weights, xaxis="x2", **hover),
            cells(shown[1] - shown[0], palette.signed, (-limit, limit), xaxis="x3", **hover),
            *(
                dumbbells(
                    of[0][:n],
                    of[1][:n],
                    palette,
                    f"{hover} %{{text}}",
                    names=(own.title, other.title),
                    size=dot,
                    xaxis=xaxis,
                    yaxis="y",
                )
                for of, xaxis, hover in (
                    ((own.entropy, other.entropy), "x4", "row %{y}: %{x:.3f} bits,"),
                    ((own.jacobian, other.jacobian), "x5", "row %{y}: Jacobian norm %{x:.3f},"),
                )
            ),
        ],
        "layout": layout(
            palette,
            left=round(_widest(rows[:n]) * 8.4) + 16,
            right=10,
            top=30,
            bottom=round(_widest(keys[:MOST_ROWS]) * 7.6) + 12,
            **_axes(n, min(len(keys), MOST_ROWS), own, palette),
            shapes=[shape for shapes, _ in keys_of_colours for shape in shapes],
            annotations=_titles(own, other, palette)
            + _tokens(rows[:n], keys[:MOST_ROWS], spoken_of, palette)
            + [note for _, notes in keys_of_colours for note in notes],
        ),
    }


def _widest(labels: Sequence[str]) -> int:
    return max(min(columns(each), _LABEL_WIDTH) for each in labels)


def _axes(n: int, n_keys: int, own: Scaled, palette: Palette) -> dict[str, Any]:
    keys = {"range": [-0.5, n_keys - 0.5], "anchor": "y"}
    most = max(float(own.entropy.max(initial=0)), np.log2(max(n_keys, 2)))
    measure = {"anchor": "y", "nticks": 3}
    return {
        "xaxis": bare(palette, domain=_MAPS[0], **keys),
        "xaxis2": bare(palette, domain=_MAPS[1], **keys),
        "xaxis3": bare(palette, domain=_MAPS[2], **keys),
        "xaxis4": axis(palette, domain=_MEASURES[0], range=[-0.06 * most, most * 1.05], **measure),
        "xaxis5": axis(palette, domain=_MEASURES[1], range=[-0.03, 0.53], **measure),
        "yaxis": bare(palette, range=[n - 0.5, -0.5]),
    }


def _tokens(
    rows: Sequence[str], keys: Sequence[str], spoken_of: int, palette: Palette
) -> list[dict[str, Any]]:
    """The tokens as notes: as ticks, turned ones above all, they would be half of the drawing."""
    step, key_step = (-(-len(of) // _ALL_LABELS) for of in (rows, keys))
    mono = {"family": MONO, "colour": palette.ink}
    beside = [
        note(
            f"<b>{label(rows[row], _LABEL_WIDTH)}</b>"
            if row == spoken_of
            else label(rows[row], _LABEL_WIDTH),
            0,
            row,
            yref="y",
            anchor="right",
            size=SIZE - 1,
            dx=-8,
            **mono,
        )
        for row in range(len(rows))
        if row % step == 0 or row == spoken_of
    ]
    below = [
        note(
            label(keys[key], _LABEL_WIDTH),
            key,
            0,
            xref=xref,
            anchor="center",
            valign="top",
            size=SIZE - 2,
            dy=-6,
            angle=-90,
            **mono,
        )
        for xref in ("x", "x2", "x3")
        for key in range(0, len(keys), key_step)
    ]
    return beside + below


def _titles(own: Scaled, other: Scaled, palette: Palette) -> list[dict[str, Any]]:
    above = {"valign": "bottom", "dy": 7}
    return [
        note(f"<b>{own.title}</b>", _MAPS[0][0], 1, palette.scaled, **above),
        note(f"<b>{other.title}</b>", _MAPS[1][0], 1, palette.unscaled, **above),
        note("difference", _MAPS[2][0], 1, palette.ink, **above),
        note("entropy, bits", _MEASURES[0][0], 1, palette.ink, **above),
        note("gradient", _MEASURES[1][0], 1, palette.ink, **above),
    ]
