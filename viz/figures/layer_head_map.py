"""One number for every head of a model, as a map of layers and heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from viz.figures.frame import SIZE, axis, cells, layout, upright
from viz.theme import Palette

_FEW_LAYERS, _FEW_HEADS = 8, 12  # up to here each has its number


def layer_head_map(
    values: np.ndarray, what: str, chosen: tuple[int, int] | None, palette: Palette
) -> dict[str, Any]:
    """Shares from 0 to 1, (n_layers, n_heads); NaN where there is no head. `chosen` is outlined.

    what: what a value says, in the hover label, after the number
    """
    n_layers, n_heads = values.shape
    outlined = [] if chosen is None else [_outline(*chosen, palette)]
    quiet = {"showline": False, "showgrid": False, "ticks": "", "tickfont": _small(palette)}
    return {
        "data": [
            cells(
                values,
                palette.weights,
                xgap=2,
                ygap=2,
                hovertemplate="layer %{y}, head %{x}<br><b>%{z:.0%}</b> "
                f"{what}<extra></extra>",
            )
        ],
        "layout": layout(
            palette,
            left=44,
            right=4,
            top=4,
            bottom=38,
            xaxis=axis(
                palette, "head", range=[-0.5, n_heads - 0.5], **quiet, **_ticks(n_heads, _FEW_HEADS)
            ),
            yaxis=upright(
                palette,
                "layer",
                range=[n_layers - 0.5, -0.5],
                **quiet,
                **_ticks(n_layers, _FEW_LAYERS),
            ),
            shapes=outlined,
        ),
    }


def _ticks(count: int, few: int) -> dict[str, Any]:
    return {"tickvals": list(range(0, count, -(-count // few)))}


def _small(palette: Palette) -> dict[str, Any]:
    return {"color": palette.muted, "size": SIZE - 2}


def _outline(layer: int, head: int, palette: Palette) -> dict[str, Any]:
    ends = {"x0": head - 0.5, "x1": head + 0.5, "y0": layer - 0.5, "y1": layer + 0.5}
    return {"type": "rect", **ends, "line": {"color": palette.accent, "width": 2}}
