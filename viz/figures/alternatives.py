"""What others do instead of √d_k: one panel and one curve each, beside scaled and unscaled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.figures.frame import SIZE, axis, layout, note, powers_of_two, upright
from viz.theme import Palette, typeset

_ACROSS, _DOWN = ([0, 0.44], [0.56, 1]), ([0.56, 0.84], [0.0, 0.28])


@dataclass(frozen=True)
class Panel:
    """A method: its title, formula, idea and source as they stand, and its curve over d_k."""

    title: str
    formula: str
    idea: str
    source: str
    curve: np.ndarray


def alternatives(
    d_ks: Sequence[int],
    panels: Sequence[Panel],
    scaled: np.ndarray,
    unscaled: np.ndarray,
    palette: Palette,
) -> dict[str, Any]:
    """Four panels, two by two, on one scale: the largest weight of a row against d_k."""
    axes, data, notes = {}, [], []
    for at, panel in enumerate(panels):
        number = "" if at == 0 else str(at + 1)
        across, down = _ACROSS[at % 2], _DOWN[at // 2]
        axes[f"xaxis{number}"] = axis(
            palette,
            "d<sub>k</sub>" if at > 1 else "",
            domain=across,
            range=[-0.05, 3.06],
            anchor=f"y{number}",
            **powers_of_two(d_ks),
        )
        axes[f"yaxis{number}"] = upright(
            palette, domain=down, range=[0, 1.04], tickvals=[0, 0.5, 1], anchor=f"x{number}"
        )
        place = {"xaxis": f"x{number}", "yaxis": f"y{number}"}
        data += _curves(d_ks, panel, scaled, unscaled, palette, place)
        notes += _words(panel, across[0], down[1], palette)
        if at == 0:
            notes += _names(scaled, unscaled, palette)
    return {
        "data": data,
        "layout": layout(palette, left=36, right=70, top=6, bottom=48, annotations=notes, **axes),
    }


def _curves(
    d_ks: Sequence[int],
    panel: Panel,
    scaled: np.ndarray,
    unscaled: np.ndarray,
    palette: Palette,
    place: dict[str, str],
) -> list[dict[str, Any]]:
    styles = (  # the dashed ones on top: they may lie on the method's own
        (panel.title, panel.curve, {"color": palette.ink, "width": 3}),
        ("unscaled", unscaled, {"color": palette.unscaled, "width": 1.8, "dash": "dot"}),
        ("÷ √d_k", scaled, {"color": palette.scaled, "width": 1.8, "dash": "dash"}),
    )
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "x": list(d_ks),
            "y": values,
            "line": style,
            "hovertemplate": f"d_k %{{x}}: %{{y:.2f}} {name}<extra></extra>",
            **place,
        }
        for name, values, style in styles
    ]


def _words(panel: Panel, left: float, top: float, palette: Palette) -> list[dict[str, Any]]:
    above = {"valign": "bottom"}
    return [
        note(
            f"<b>{typeset(panel.title)}</b>   {typeset(panel.formula)}",
            left,
            top,
            palette.ink,
            dy=44,
            **above,
        ),
        note(panel.idea, left, top, palette.ink, dy=25, size=SIZE - 1, **above),
        note(panel.source, left, top, palette.muted, dy=7, size=SIZE - 1, **above),
    ]


def _names(scaled: np.ndarray, unscaled: np.ndarray, palette: Palette) -> list[dict[str, Any]]:
    """The two curves that every panel has, named once."""
    beside = {"xref": "x domain", "yref": "y", "dx": 6, "size": SIZE - 1}
    low, high = float(scaled[-1]), float(unscaled[-1])
    if high - low < 0.2:
        low, high = (low + high) / 2 - 0.1, (low + high) / 2 + 0.1
    return [
        note("unscaled", 1, high, palette.unscaled, **beside),
        note("÷ √d<sub>k</sub>", 1, low, palette.scaled, **beside),
    ]
