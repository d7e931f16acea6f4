"""One query's scores and the weights they become, unscaled and scaled, on shared axes."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz.figures.frame import SIZE, THEORY, axis, bare, cells, faint, layout, line, note, upright
from viz.theme import Palette

_FEW = 24  # keys: up to here each has its number
_APART = 64  # keys: beyond, bars touch


def one_row(
    scores: dict[str, np.ndarray],
    weights: dict[str, np.ndarray],
    palette: Palette,
    *,
    score_title: str,
) -> dict[str, Any]:
    """Bars of the scores, bars of the weights, and the weights as the row of a map.

    scores, weights: {"unscaled": (n_keys,), "scaled": (n_keys,)}, the largest score first; the
    scores are what enters the softmax. Unscaled bars are wide and pale, scaled ones narrow and
    solid inside them, so that the two stay apart without colour.
    """
    n = len(scores["scaled"])
    return {
        "data": [
            *_bars(scores, palette, "x2", "y"),
            *_bars(weights, palette, "x2", "y2"),
            _strips(weights, palette),
        ],
        "layout": layout(
            palette,
            right=165,
            bottom=48,
            barmode="overlay",
            xaxis2=bare(palette, range=[0.4, n + 0.6], anchor="y"),
            xaxis3=_key_axis(n, palette),
            yaxis=upright(palette, domain=[0.58, 1], anchor="x2"),
            yaxis2=upright(
                palette, domain=[0.155, 0.5], range=[0, 1.03], tickvals=[0, 0.5, 1], anchor="x2"
            ),
            yaxis3=bare(palette, domain=[0, 0.115], range=[-0.52, 1.52], anchor="x3"),
            shapes=[
                line(0, 1, 0, 0, palette.muted, xref="paper"),
                {
                    **line(0, 1, 1 / n, 1 / n, palette.ink, xref="paper", yref="y2", **THEORY),
                    "layer": "above",
                },
            ],
            annotations=_notes(weights, n, palette, score_title),
        ),
    }


def _bars(
    values: dict[str, np.ndarray], palette: Palette, xaxis: str, yaxis: str
) -> list[dict[str, Any]]:
    n = len(values["scaled"])
    x = np.arange(1, n + 1)
    wide, narrow = (0.78, 0.34) if n <= _APART else (1, 0.6)
    outline = {"color": palette.unscaled, "width": 1.2 if n <= _APART else 0}
    pale = {"color": faint(palette.unscaled, 0.34 if palette.dark else 0.26), "line": outline}
    solid = {"color": palette.scaled, "line": {"width": 0}}
    return [
        {
            "type": "bar",
            "x": x,
            "y": values[name],
            "width": width,
            "marker": marker,
            "xaxis": xaxis,
            "yaxis": yaxis,
            "hovertemplate": f"key %{{x}}: %{{y:.3f}} {name}<extra></extra>",
        }
        for name, width, marker in (("unscaled", wide, pale), ("scaled", narrow, solid))
    ]


def _strips(weights: dict[str, np.ndarray], palette: Palette) -> dict[str, Any]:
    """The two rows as a head's map would show them."""
    n = len(weights["scaled"])
    return cells(
        np.stack([weights["unscaled"], weights["scaled"]]),
        palette.weights,
        x0=1,
        y0=1,
        dy=-1,
        xgap=1 if n <= _APART else 0,
        ygap=4,
        xaxis="x3",
        yaxis="y3",
        hovertemplate="key %{x}: %{z:.3f}<extra></extra>",
    )


def _key_axis(n: int, palette: Palette) -> dict[str, Any]:
    ticks = {"tickvals": list(range(1, n + 1))} if n <= _FEW else {"nticks": 9}
    return axis(
        palette,
        "keys, largest score first",
        range=[0.4, n + 0.6],
        anchor="y3",
        showline=False,
        ticks="",
        **ticks,
    )


def _notes(
    weights: dict[str, np.ndarray], n: int, palette: Palette, score_title: str
) -> list[dict[str, Any]]:
    largest = {name: float(row[0]) for name, row in weights.items()}
    ink, blue, orange = palette.ink, palette.scaled, palette.unscaled
    beside = {"valign": "top", "dx": 10}
    return [
        note(score_title, 0, 1, ink, valign="bottom", dy=6),
        note("weights, after the softmax", 0, 0.5, ink, valign="bottom", dy=5),
        note("<b>q·k</b>  unscaled", 1, 0.97, orange, **beside),
        note("<b>q·k ÷ √d<sub>k</sub></b>  scaled", 1, 0.97, blue, dy=-25, **beside),
        note(f"largest <b>{largest['unscaled']:.2f}</b>", 1, 0.5, orange, **beside),
        note(f"largest <b>{largest['scaled']:.2f}</b>", 1, 0.5, blue, dy=-23, **beside),
        # Where the line lies high it would strike through the words beside it.
        note(f"uniform, 1/{n}", 1, min(1 / n, 0.55), ink, yref="y2", dx=10, size=SIZE - 1),
        note("as a map, unscaled", 1, 1, orange, yref="y3", dx=10, size=SIZE - 1),
        note("scaled", 1, 0, blue, yref="y3", dx=10, size=SIZE - 1),
    ]
