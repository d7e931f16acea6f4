"""A whole model under another factor on q·k: its loss against the factor, and its predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.figures.frame import SIZE, axis, bare, faint, layout, line, note, upright
from viz.theme import MONO, Palette, label

_CURVE, _BARS = [0, 0.5], [0.72, 1]
_LABEL_WIDTH = 14  # columns


@dataclass(frozen=True)
class Curve:
    """Loss against the multiple of the model's own factor: nats a token."""

    name: str
    losses: np.ndarray
    at_other: float  # under the factor that is looked at


@dataclass(frozen=True)
class Predictions:
    """The likeliest next pieces before or after, with the probability of each in both runs."""

    pieces: Sequence[str]
    own: np.ndarray
    other: np.ndarray


def whole_model(
    multiples: Sequence[float],
    curves: Sequence[Curve],
    other: float,
    unscaled: float,
    predictions: Predictions,
    palette: Palette,
) -> dict[str, Any]:
    """At the left the loss over the factor on q·k; its own, the unscaled and the chosen one marked.

    At the right the probabilities of the next piece, before (narrow, solid) and after (wide, pale).
    """
    values = np.concatenate([curve.losses for curve in curves])
    low, high = values.min(), values.max()
    room = max(0.12 * (high - low), 0.05)
    ends = [float(np.log10(multiples[0])) - 0.05, float(np.log10(multiples[-1])) + 0.05]
    return {
        "data": [*_lines(multiples, curves, other, palette), *_bars(predictions, palette)],
        "layout": layout(
            palette,
            left=52,
            right=64,
            barmode="overlay",
            xaxis=axis(
                palette,
                "factor on q·k, as a multiple of its own",
                type="log",
                domain=_CURVE,
                range=ends,
                anchor="y",
                **_octaves(multiples),
            ),
            yaxis=upright(
                palette, domain=[0, 1], range=[low - room, high + room], anchor="x", nticks=7
            ),
            xaxis2=axis(
                palette,
                "probability",
                domain=_BARS,
                range=[0, _round_up(max(predictions.own.max(), predictions.other.max()))],
                anchor="y2",
                nticks=4,
            ),
            yaxis2=_piece_axis(predictions, palette),
            shapes=_marks(other, unscaled, palette),
            annotations=_notes(multiples, curves, other, unscaled, palette),
        ),
    }


def _round_up(probability: float) -> float:
    """The next of 0.25, 0.5 and 1."""
    return next(end for end in (0.25, 0.5, 1.01) if probability <= end)


def _octaves(multiples: Sequence[float]) -> dict[str, Any]:
    named = [m for m in multiples if float(np.log2(m)).is_integer() and int(np.log2(m)) % 2 == 0]
    texts = [f"{m:g}" if m >= 1 else f"1/{1 / m:g}" for m in named]
    return {"tickvals": named, "ticktext": texts}


def _lines(
    multiples: Sequence[float], curves: Sequence[Curve], other: float, palette: Palette
) -> list[dict[str, Any]]:
    drawn = []
    for curve, dash in zip(curves, ("solid", "dot"), strict=False):
        shared = {"type": "scatter", "xaxis": "x", "yaxis": "y"}
        hover = "× %{x:.3g}: %{y:.3f} nats a token<extra></extra>"
        ring = {
            "size": 15,
            "color": "rgba(0,0,0,0)",
            "line": {"color": palette.unscaled, "width": 2},
        }
        drawn += [
            {
                **shared,
                "mode": "lines+markers",
                "x": list(multiples),
                "y": curve.losses,
                "line": {"color": palette.ink, "width": 2.4, "dash": dash},
                "marker": {"size": 6},
                "hovertemplate": hover,
            },
            {
                **shared,
                "mode": "markers",
                "x": [other],
                "y": [curve.at_other],
                "marker": ring,
                "hovertemplate": hover,
            },
        ]
    return drawn


def _bars(predictions: Predictions, palette: Palette) -> list[dict[str, Any]]:
    y = list(range(len(predictions.pieces)))
    pale = {
        "color": faint(palette.unscaled, 0.34 if palette.dark else 0.26),
        "line": {"color": palette.unscaled, "width": 1.2},
    }
    return [
        {
            "type": "bar",
            "orientation": "h",
            "y": y,
            "x": values,
            "width": width,
            "marker": marker,
            "xaxis": "x2",
            "yaxis": "y2",
            "hovertemplate": f"%{{x:.3f}} {name}<extra></extra>",
        }
        for name, values, width, marker in (
            ("with the other factor", predictions.other, 0.72, pale),
            ("with its own factor", predictions.own, 0.3, {"color": palette.scaled}),
        )
    ]


def _piece_axis(predictions: Predictions, palette: Palette) -> dict[str, Any]:
    n = len(predictions.pieces)
    return bare(
        palette,
        domain=[0, 1],
        range=[n - 0.5, -0.5],
        anchor="x2",
        showticklabels=True,
        tickvals=list(range(n)),
        ticktext=[label(piece, _LABEL_WIDTH) for piece in predictions.pieces],
        tickfont={"family": MONO, "size": SIZE - 1, "color": palette.ink},
        ticklabelstandoff=6,
    )


def _marks(other: float, unscaled: float, palette: Palette) -> list[dict[str, Any]]:
    upright_line = {"xref": "x", "yref": "y domain"}
    return [
        line(1, 1, 0, 1, palette.scaled, dash="dash", **upright_line),
        line(unscaled, unscaled, 0, 1, palette.unscaled, dash="dash", **upright_line),
        *(
            []
            if other in (1, unscaled)
            else [line(other, other, 0, 1, palette.muted, dash="dot", **upright_line)]
        ),
    ]


def _notes(
    multiples: Sequence[float],
    curves: Sequence[Curve],
    other: float,
    unscaled: float,
    palette: Palette,
) -> list[dict[str, Any]]:
    top = {"xref": "x", "valign": "bottom", "dy": 4, "anchor": "center", "size": SIZE - 1}
    marks = [note("its own", 0, 1, palette.scaled, **top)]
    if unscaled != 1:
        marks.append(note("unscaled", float(np.log10(unscaled)), 1, palette.unscaled, **top))
    ends = sorted(curves, key=lambda curve: curve.losses[-1])
    apart = [-9, 9] if len(ends) == 2 and _close(ends) else [0, 0]
    return [
        note("loss, nats a token", 0, 1, palette.ink, valign="bottom", dy=4, dx=-44),
        note("next piece", _BARS[0], 1, palette.ink, valign="bottom", dy=4),
        *marks,
        *(
            note(
                curve.name,
                float(np.log10(multiples[-1])),
                float(curve.losses[-1]),
                palette.ink,
                xref="x",
                yref="y",
                dx=12,
                dy=dy,
                size=SIZE - 1,
            )
            for curve, dy in zip(ends, apart, strict=False)
        ),
    ]


def _close(curves: Sequence[Curve]) -> bool:
    every = np.concatenate([curve.losses for curve in curves])
    return abs(curves[1].losses[-1] - curves[0].losses[-1]) < 0.06 * (np.ptp(every) or 1)
