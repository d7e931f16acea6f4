"""What the figures of the teaching pages have in common: paper, axes, notes.

Figures are plain data, {"data": […], "layout": {…}}: checking a go.Figure takes longer than making
one. Sizes are those of a laptop; the plot component enlarges them on a large screen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from viz.theme import SANS, Palette, colorscale

SIZE = 15  # px: titles, labels; ticks are one less
THEORY = {"dash": "dash", "width": 1.5}


def layout(
    palette: Palette,
    *,
    left: int = 62,
    right: int = 16,
    top: int = 34,
    bottom: int = 50,
    **parts: Any,
) -> dict[str, Any]:
    """A layout without a frame or a legend; `parts` are further entries, such as axes."""
    return {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": SANS, "size": SIZE, "color": palette.ink},
        "margin": {"l": left, "r": right, "t": top, "b": bottom},
        "showlegend": False,
        "hovermode": "closest",
        "dragmode": False,
        "bargap": 0,
        "uirevision": "keep",
        "hoverlabel": {
            "bgcolor": palette.background,
            "bordercolor": palette.rule,
            "font": {"family": SANS, "size": SIZE, "color": palette.ink},
        },
        "meta": {"grows": True},
        **parts,
    }


def axis(palette: Palette, title: str = "", **parts: Any) -> dict[str, Any]:
    """A horizontal axis: a line, ticks and their labels, nothing across the picture."""
    return {
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": palette.muted,
        "linewidth": 1,
        "ticks": "outside",
        "ticklen": 5,
        "tickcolor": palette.muted,
        "tickfont": {"color": palette.muted, "size": SIZE - 1},
        "title": {"text": title, "font": {"color": palette.ink, "size": SIZE}, "standoff": 8},
        "fixedrange": True,
        **parts,
    }


def upright(palette: Palette, title: str = "", **parts: Any) -> dict[str, Any]:
    """A vertical axis: hair lines across the picture instead of a line with ticks."""
    quiet = {"showgrid": True, "gridcolor": palette.rule, "showline": False, "ticks": ""}
    return axis(palette, title, **{**quiet, **parts})


def bare(palette: Palette, **parts: Any) -> dict[str, Any]:
    """An axis that is not drawn: the one beside or below it stands for it."""
    nothing = {"showticklabels": False, "ticks": "", "showline": False, "showgrid": False}
    return axis(palette, **{**nothing, **parts})


def powers_of_two(values: Any, every: int = 2) -> dict[str, Any]:
    """The settings of a logarithmic axis that names every second of some values."""
    named = list(values)[::every]
    return {"type": "log", "tickvals": named, "ticktext": [f"{value:,}" for value in named]}


def note(
    text: str,
    x: float,
    y: float,
    colour: str,
    *,
    xref: str = "paper",
    yref: str = "paper",
    anchor: str = "left",
    valign: str = "middle",
    size: int = SIZE,
    dx: float = 0,
    dy: float = 0,
    family: str = SANS,
    angle: int = 0,
) -> dict[str, Any]:
    """Words in the picture. (dx, dy): px to the right and up   angle: 0, or -90 to read upwards."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": xref,
        "yref": yref,
        "xanchor": anchor,
        "yanchor": valign,
        "xshift": dx,
        "yshift": dy,
        "showarrow": False,
        "align": "left",
        "textangle": angle,
        "font": {"family": family, "size": size, "color": colour},
    }


def line(
    x0: float,
    x1: float,
    y0: float,
    y1: float,
    colour: str,
    *,
    xref: str = "x",
    yref: str = "y",
    **style: Any,
) -> dict[str, Any]:
    """A straight line of the layout."""
    ends = {"x0": x0, "x1": x1, "y0": y0, "y1": y1, "xref": xref, "yref": yref}
    return {
        "type": "line",
        **ends,
        "line": {"color": colour, "width": 1, **style},
        "layer": "below",
    }


def cells(
    values: np.ndarray, stops: Sequence[str], limits: tuple[float, float] = (0, 1), **parts: Any
) -> dict[str, Any]:
    """A matrix as a heatmap, its rows from the top; NaN is not drawn. Few cells have gaps between.

    stops: evenly spaced colours from the lower to the upper limit
    """
    gap = 1 if max(values.shape) <= 40 else 0
    return {
        "type": "heatmap",
        "z": values.astype(np.float32),
        "x0": 0,
        "dx": 1,
        "y0": 0,
        "dy": 1,
        "zmin": limits[0],
        "zmax": limits[1],
        "colorscale": colorscale(stops),
        "showscale": False,
        "xgap": gap,
        "ygap": gap,
        "hoverongaps": False,
        **parts,
    }


def dumbbells(
    scaled: np.ndarray,
    unscaled: np.ndarray,
    palette: Palette,
    hover: str,
    *,
    size: int,
    names: tuple[str, str] = ("scaled", "unscaled"),
    **place: str,
) -> dict[str, Any]:
    """Two dots on a line in each row; one trace for all, since each costs the browser some ms.

    scaled, unscaled: (n_rows,)   names: of both kinds   hover: the template of a dot; its
    %{text} is the name
    """
    n = len(scaled)
    x = np.stack([scaled, unscaled, np.full(n, np.nan)], axis=1)  # a gap ends each row's line
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": x.ravel(),
        "y": np.repeat(np.arange(n), 3),
        "line": {"color": palette.muted, "width": 1.5},
        "marker": {
            "size": size,
            "color": [palette.scaled, palette.unscaled, palette.muted] * n,
            "opacity": 1,
        },
        "text": [*names, ""] * n,
        "hovertemplate": f"{hover}<extra></extra>",
        **place,
    }


def key(
    stops: Sequence[str], low: str, high: str, right: float, palette: Palette, width: float = 0.05
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A small key of colours above the picture, ending at `right`: its shapes and its notes."""
    step = width / len(stops)
    right -= 0.02
    # A shape's y in px from the upper edge, so that the key keeps its height.
    place = {"type": "rect", "xref": "paper", "yref": "paper", "yanchor": 1, "ysizemode": "pixel"}
    shapes = [
        {
            **place,
            "x0": right - width + at * step,
            "x1": right - width + (at + 1) * step,
            "y0": 12,
            "y1": 20,
            "fillcolor": colour,
            "line": {"width": 0},
        }
        for at, colour in enumerate(stops)
    ]
    small = {"size": SIZE - 2, "valign": "bottom", "dy": 6}
    notes = [
        note(low, right - width, 1, palette.muted, anchor="right", dx=-4, **small),
        note(high, right, 1, palette.muted, dx=4, **small),
    ]
    return shapes, notes


def faint(colour: str, opacity: float) -> str:
    """A colour "#RRGGBB" that lets what is behind it through."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
