"""The map of one head: each query's weights on each key, as a heatmap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import plotly.graph_objects as go

from viz.theme import LIGHT, MONO, SANS, Palette, colorscale, columns, label

if TYPE_CHECKING:  # figures need no torch, which model.trace brings along
    from model.trace import HeadView

MAX_CELLS = 512  # a side; more would take seconds to draw and show nothing more
_FEWEST = 5  # a side: the map of one token has cells as small as that of five
ALL_LABELS = 34  # a side; beyond, about 22 of the labels are written
_PAIRS = 128  # a side; beyond, only the plot component names both tokens of a cell in its hover
_ROW_WIDTH, _KEY_WIDTH = 18, 14  # labels longer than this many columns are cut
_SLANT = 45  # degrees, of the key labels where there is no free triangle


def head_map(
    view: HeadView,
    *,
    row_labels: Sequence[str] | None = None,
    palette: Palette = LIGHT,
) -> go.Figure:
    """The weights of a head, (n_query, n_key): rows are queries from the top, columns keys.

    Colours run from weight 0 to weight 1 whatever the head, so that heads can be compared.
    Masked cells are not drawn, which makes a causal map a staircase: its key labels stand along
    the steps. Any other map is a full block with the key labels slanted above it. Both axes
    count positions, so a token that comes twice has two rows. `row_labels` replaces the query
    labels beside the rows, not in the hover labels.

    Beyond MAX_CELLS a side, a cell is the largest weight of a block of cells, and says so.
    `layout.meta` tells the plot component how to size the labels (see `_label_fit`) and names
    every row, also where only some labels are written. The heatmap's `meta` holds the labels of
    its rows and columns, from which that component makes every cell's hover label: two labels a
    cell would be most of the figure.
    """
    return go.Figure(head_map_data(view, row_labels=row_labels, palette=palette))


def head_map_data(
    view: HeadView,
    *,
    row_labels: Sequence[str] | None = None,
    palette: Palette = LIGHT,
) -> dict[str, Any]:
    """`head_map` as plain data, for a page: `go.Figure` takes longer to check than this to make."""
    n_query, n_key = view.weights.shape
    block = max(1, -(-max(n_query, n_key) // MAX_CELLS))
    rows = list(view.query_tokens if row_labels is None else row_labels)
    staircase = _is_staircase(view.mask)
    drawing = {
        "data": [_heatmap(view, block, palette)],
        "layout": _layout(view.key_tokens, rows, staircase, palette),
    }
    if staircase:
        drawing["data"].append(_labels_on_steps(view.key_tokens, palette))
    if block > 1:
        drawing["layout"]["annotations"] = [_block_note(block, palette)]
        drawing["layout"]["margin"]["b"] = 24
    return drawing


def _is_staircase(mask: np.ndarray) -> bool:
    """Whether no query may attend to a later key: then the upper triangle is free."""
    n_query, n_key = mask.shape
    return n_query == n_key and not np.triu(mask, 1).any()


def _heatmap(view: HeadView, block: int, palette: Palette) -> dict[str, Any]:
    drawn = _largest_of_blocks(np.where(view.mask, view.weights, np.nan), block)
    rows = _block_names(view.query_tokens, block)
    keys = _block_names(view.key_tokens, block)
    note = f"<br>the largest of {block} × {block} cells" if block > 1 else ""
    # The marks on both sides of the arrow keep it pointing from query to key between tokens
    # that are written from right to left.
    tokens = "%{customdata[0]}\u200e → \u200e%{customdata[1]}"
    weight = f"<br><b>%{{z:.3f}}</b>{note}<extra></extra>"
    small = max(drawn.shape) <= _PAIRS
    return {
        "type": "heatmap",
        "z": drawn.astype(np.float32),
        "x0": (block - 1) / 2,
        "dx": block,
        "y0": (block - 1) / 2,
        "dy": block,
        "zmin": 0,
        "zmax": 1,
        "colorscale": colorscale(palette.weights),
        "showscale": False,
        "xgap": 1 if max(drawn.shape) <= 40 else 0,
        "ygap": 1 if max(drawn.shape) <= 40 else 0,
        "customdata": _pairs(rows, keys) if small else None,
        "hovertemplate": (tokens if small else "row %{y}, column %{x}") + weight,
        "hoverongaps": False,
        "meta": {"rows": rows, "columns": keys, "hovertemplate": tokens + weight},
    }


def _pairs(rows: Sequence[str], keys: Sequence[str]) -> np.ndarray:
    """The two labels of each cell: (n_rows, n_keys, 2)."""
    pairs = np.empty((len(rows), len(keys), 2), dtype=object)
    pairs[:, :, 0] = np.array(rows, dtype=object)[:, None]
    pairs[:, :, 1] = np.array(keys, dtype=object)[None, :]
    return pairs


def _largest_of_blocks(values: np.ndarray, block: int) -> np.ndarray:
    """The largest of each block × block cells; NaN where all of them are NaN."""
    if block == 1:
        return values
    n_query, n_key = values.shape
    # fmax takes the number where the other value is NaN, and warns of nothing.
    tall = np.fmax.reduceat(values, range(0, n_query, block), axis=0)
    return np.fmax.reduceat(tall, range(0, n_key, block), axis=1)


def _block_names(tokens: Sequence[str], block: int) -> list[str]:
    """One label a block: the token, or the first and the last of several."""
    starts = range(0, len(tokens), block)
    last = len(tokens) - 1
    return [
        label(tokens[at]) if block == 1 else
        f"{label(tokens[at])} … {label(tokens[min(at + block - 1, last)])}"
        for at in starts
    ]  # fmt: skip


def _labels_on_steps(key_tokens: Sequence[str], palette: Palette) -> dict[str, Any]:
    """Each key's label over its own column, where the row above ends."""
    at = _labelled(len(key_tokens))
    return {
        "type": "scatter",
        "mode": "text",
        "x": [key - 0.42 for key in at],
        "y": [key - 1 for key in at],
        "text": [label(key_tokens[key], _KEY_WIDTH) for key in at],
        "textposition": "middle right",
        "textfont": {"family": MONO, "size": _size(len(key_tokens)), "color": palette.muted},
        "hoverinfo": "skip",
        "showlegend": False,
        "cliponaxis": False,
    }


def _layout(
    key_tokens: Sequence[str], rows: Sequence[str], staircase: bool, palette: Palette
) -> dict[str, Any]:
    n_query, n_key = len(rows), len(key_tokens)
    at = _labelled(n_query)
    size = _size(max(n_query, n_key))
    row_width = max(min(columns(row), _ROW_WIDTH) for row in rows)
    key_width = max(min(columns(token), _KEY_WIDTH) for token in key_tokens)
    slanted = 0 if staircase else round(key_width * 0.6 * size * np.sin(np.radians(_SLANT))) + 12
    font = {"family": MONO, "size": size}
    return {
        "template": "none",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": SANS, "color": palette.ink},
        "margin": {
            "l": round(row_width * 0.605 * size) + 16,
            "r": 4 + (0 if staircase else max(0, slanted - 12)),
            "t": 2 + slanted,
            "b": 2,
        },
        "xaxis": _key_axis(key_tokens, staircase, font, palette),
        "yaxis": {
            "range": [max(n_query, _FEWEST) - 0.5, -1.55 if staircase else -0.5],
            "scaleanchor": "x",
            "constrain": "domain",
            "constraintoward": "top",
            "showgrid": False,
            "zeroline": False,
            "ticks": "",
            "ticklabelstandoff": 8,
            "tickvals": at,
            "ticktext": [label(rows[row], _ROW_WIDTH) for row in at],
            "tickfont": {**font, "color": palette.ink if len(at) == n_query else palette.muted},
        },
        "hoverlabel": {
            "bgcolor": palette.ink,
            "bordercolor": palette.ink,
            "font": {"family": MONO, "size": 14, "color": palette.background},
        },
        # With all labels in sight there is nothing to zoom for, and a click stays a click.
        "dragmode": False if max(n_query, n_key) <= ALL_LABELS else "zoom",
        "uirevision": "keep",
        "showlegend": False,
        "meta": {
            "fit": _label_fit(row_width, 0 if staircase else key_width),
            "rows": [label(row, _ROW_WIDTH) for row in rows],
        },
    }


def _key_axis(
    key_tokens: Sequence[str], staircase: bool, font: dict[str, Any], palette: Palette
) -> dict[str, Any]:
    """The axis of the keys: without labels of its own where they stand on the steps."""
    n_key = len(key_tokens)
    axis = {
        "range": [-0.5, max(n_key, _FEWEST) - 0.5],
        "constrain": "domain",
        "constraintoward": "left",
        "showgrid": False,
        "zeroline": False,
    }
    if staircase:
        return {**axis, "visible": False, "range": [-0.5, _right_end(key_tokens)]}
    at = _labelled(n_key)
    return {
        **axis,
        "side": "top",
        "ticks": "",
        "ticklabelstandoff": 2,
        "tickangle": -_SLANT,
        "tickvals": at,
        "ticktext": [label(key_tokens[key], _KEY_WIDTH) for key in at],
        "tickfont": {**font, "color": palette.muted},
    }


def _right_end(key_tokens: Sequence[str]) -> float:
    """Where the x axis ends so that the labels on the steps fit, in a picture 420 px high."""
    n = max(len(key_tokens), _FEWEST)
    cell, size = 420 / (n + 1), _size(n)
    widths = (
        (key, min(columns(key_tokens[key]), _KEY_WIDTH)) for key in _labelled(len(key_tokens))
    )
    ends = (key - 0.42 + (0.6 * size * width + 6) / cell for key, width in widths)
    return max(n - 0.5, *ends)


def _label_fit(row_width: int, key_width: int) -> dict[str, int]:
    """What the plot component needs to size labels by cells: their widest, in columns."""
    return {"row_width": row_width, "key_width": key_width}


def _block_note(block: int, palette: Palette) -> dict[str, Any]:
    return {
        "text": f"each cell: the largest weight of {block} × {block}",
        "xref": "x domain",
        "yref": "y domain",
        "x": 0,
        "y": 0,
        "xanchor": "left",
        "yanchor": "top",
        "showarrow": False,
        "font": {"family": SANS, "size": 13, "color": palette.muted},
    }


def _labelled(n: int) -> list[int]:
    """The positions whose labels are written: all, or about 22 evenly spaced ones."""
    return list(range(0, n, 1 if n <= ALL_LABELS else -(-n // 22)))


def _size(n: int) -> int:
    """Label size in px before the picture's own size is known."""
    return 15 if n <= 18 else 13 if n <= 30 else 12
