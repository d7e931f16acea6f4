"""What the softmax makes of random rows as heads get wider: largest weight, entropy, gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.figures.frame import SIZE, THEORY, axis, faint, layout, line, note, powers_of_two, upright
from viz.theme import Palette

_GAP = 0.11


@dataclass(frozen=True)
class Measure:
    """One measure over d_k for scaled and unscaled rows.

    scaled, unscaled: (3, len(d_ks)), mean and the band that holds 80 % of the rows
    bounds: values with a closed form, and what they are   top: the upper end of the axis
    """

    title: str
    scaled: np.ndarray
    unscaled: np.ndarray
    bounds: Sequence[tuple[float, str]]
    top: float


def saturation(
    d_ks: Sequence[int], measures: Sequence[Measure], palette: Palette
) -> dict[str, Any]:
    """A panel for each measure, the mean as a line in its band; closed forms dashed."""
    width = (1 - _GAP * (len(measures) - 1)) / len(measures)
    data, axes, shapes, notes = [], {}, [], []
    for at, measure in enumerate(measures):
        number = "" if at == 0 else str(at + 1)
        left = at * (width + _GAP)
        axes[f"xaxis{number}"] = axis(
            palette,
            "d<sub>k</sub>",
            domain=[left, left + width],
            range=[-0.06, 3.07],
            anchor=f"y{number}",
            **powers_of_two(d_ks),
        )
        axes[f"yaxis{number}"] = upright(
            palette, range=[-0.08 * measure.top, measure.top * 1.06], anchor=f"x{number}", nticks=6
        )
        for name, values, colour in (
            ("unscaled", measure.unscaled, palette.unscaled),
            ("scaled", measure.scaled, palette.scaled),
        ):
            data += _band(d_ks, values, name, colour, number)
        for value, words in measure.bounds:
            shapes.append(_bound(value, number, palette))
            notes.append(_named_bound(value, words, number, palette))
        notes.append(note(f"<b>{measure.title}</b>", left, 1, palette.ink, valign="bottom", dy=10))
    return {
        "data": data,
        "layout": layout(
            palette,
            left=40,
            right=24,
            top=36,
            annotations=notes + _names(measures[0], palette),
            shapes=shapes,
            **axes,
        ),
    }


def _band(
    d_ks: Sequence[int], values: np.ndarray, name: str, colour: str, number: str
) -> list[dict[str, Any]]:
    place = {"type": "scatter", "xaxis": f"x{number}", "yaxis": f"y{number}"}
    mean, low, high = values
    return [
        {
            **place,
            "mode": "lines",
            "x": [*d_ks, *reversed(d_ks)],
            "y": np.concatenate([high, low[::-1]]),
            "fill": "toself",
            "fillcolor": faint(colour, 0.16),
            "line": {"width": 0},
            "hoverinfo": "skip",
        },
        {
            **place,
            "mode": "lines+markers",
            "x": list(d_ks),
            "y": mean,
            "line": {"color": colour, "width": 2.6},
            "marker": {"size": 6},
            "hovertemplate": f"d_k %{{x}}: %{{y:.3f}} {name}<extra></extra>",
        },
    ]


def _bound(value: float, number: str, palette: Palette) -> dict[str, Any]:
    place = {"xref": f"x{number} domain", "yref": f"y{number}"}
    return {**line(0, 1, value, value, palette.ink, **place, **THEORY), "layer": "above"}


def _named_bound(value: float, words: str, number: str, palette: Palette) -> dict[str, Any]:
    """Below its line: the curves are above the lower bounds, and the title above the upper ones."""
    place = {"xref": f"x{number} domain", "yref": f"y{number}", "size": SIZE - 1}
    return note(words, 0.02, value, palette.ink, valign="top", dy=-2, **place)


def _names(measure: Measure, palette: Palette) -> list[dict[str, Any]]:
    """Which curve is which, once, where they are far apart: below it, or above at the bottom."""
    middle = measure.scaled.shape[-1] * 2 // 3
    d_k = 2.0**middle
    low = 0.12 * measure.top
    return [
        note(
            f"<b>{name}</b>",
            float(np.log10(d_k)),
            float(values[0, middle]),
            colour,
            xref="x",
            yref="y",
            valign="bottom" if values[0, middle] < low else "top",
            dy=6 if values[0, middle] < low else -8,
        )
        for name, values, colour in (
            ("unscaled", measure.unscaled, palette.unscaled),
            ("scaled", measure.scaled, palette.scaled),
        )
    ]
