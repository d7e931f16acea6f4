"""The ways to see one head: Map, Lines, Stages. A new one is a function or two and a line in VIEWS.

`state.VIEWS` holds the names alone, in their order, because a link is read before anything is
drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from model.trace import HeadView
from viz import show, state
from viz.cache import Run
from viz.components.lines import lines
from viz.components.plot import plot
from viz.components.stages import stages
from viz.figures.head_map import head_map_data
from viz.theme import Palette

if TYPE_CHECKING:  # imported only when a table is opened
    import pandas as pd

# What is left below the sentence, whose lower edge the sentence component publishes.
_PICTURE_HEIGHT = "max(340px, calc(100dvh - var(--hl-y) - var(--hl-gap) - 34px - 18px))"


@dataclass(frozen=True)
class View:
    """One way to see a head.

    draw: (run, head, query, palette) → the picture on the page
    table: (head, query) → its numbers, for the eye
    csv: (run, head) → all of its numbers, for a file
    """

    draw: Callable[[Run, HeadView, int, Palette], None]
    table: Callable[[HeadView, int], pd.DataFrame]
    csv: Callable[[Run, HeadView], pd.DataFrame]


def _choose_row(row: int, *_column: int) -> None:
    state.put(query=row)


# --- Map ----------------------------------------------------------------------------------------


def _draw_map(run: Run, view: HeadView, query: int, colours: Palette) -> None:
    predicted = state.get("rows") == "token predicted"
    plot(
        "map",
        figure=head_map_data(
            view,
            row_labels=_predicted_labels(run) if predicted else view.query_tokens,
            palette=colours,
        ),
        alt=_alt(run, view),
        height_css=_PICTURE_HEIGHT,
        on_click=_choose_row,
        row_frame={"query": query, "causal": not np.triu(view.mask, 1).any()},
        shows=(view.ref.layer, view.ref.head),
    )
    with st.container(key="legend"):
        st.segmented_control(
            "Rows",
            state.ROW_NAMES,
            label_visibility="collapsed",
            required=True,
            **state.widget("rows"),
        )
        st.html(_legend(predicted))


def _predicted_labels(run: Run) -> list[str]:
    """What each row predicts: a decoder's head works in the row that predicts, not at the word."""
    return [f"→ {piece}" for piece in run.likeliest()]


def _legend(predicted: bool) -> str:
    row = "row: what is predicted after it" if predicted else "row: the token that looks"
    return (
        "<div class='hl-legend'>weight 0<span class='ramp'></span>1</div>"
        f"<div class='hl-legend'><span class='words'>{row}<br>column: the token looked at<br>"
        "no cell: comes later, out of sight</span></div>"
    )


def _alt(run: Run, view: HeadView) -> str:
    n = len(view.query_tokens)
    return (
        f"Attention map of {run.trace.info.name}, layer {view.ref.layer} head {view.ref.head}, "
        f"on {n} tokens; the numbers are under Table"
    )


def _weights_table(view: HeadView, *_: object) -> pd.DataFrame:
    return show.matrix_table(view.weights, view.query_tokens, view.key_tokens, mask=view.mask)


# --- Lines --------------------------------------------------------------------------------------


def _draw_lines(run: Run, view: HeadView, query: int, colours: Palette) -> None:
    lines(
        "lines",
        weights=run.layer_weights(view.ref.kind, view.ref.layer),
        mask=view.mask,
        query_labels=view.query_tokens,
        key_labels=view.key_tokens,
        layer=view.ref.layer,
        head=view.ref.head,
        query=query,
        on_query=_choose_row,
    )


def _lines_csv(run: Run, view: HeadView) -> pd.DataFrame:
    """The weights of every head of the layer: all of them are in the picture."""
    weights = run.layer_weights(view.ref.kind, view.ref.layer)
    by_head = {f"head {head}": of_head for head, of_head in enumerate(weights)}
    return show.pairs_table(by_head, view.query_tokens, view.key_tokens, view.mask)


# --- Stages -------------------------------------------------------------------------------------


def _draw_stages(run: Run, view: HeadView, query: int, colours: Palette) -> None:
    attention = run.trace.attention(view.ref.kind, view.ref.layer)
    stages(
        "stages",
        raw_scores=view.raw_scores,
        scores=view.scores,
        mask=view.mask,
        weights=view.weights,
        query_labels=view.query_tokens,
        key_labels=view.key_tokens,
        query=query,
        layer=view.ref.layer,
        head=view.ref.head,
        d_k=attention.d_k,
        scale=attention.scale,
        on_query=_choose_row,
    )


def _stage_matrices(view: HeadView) -> dict[str, np.ndarray]:
    return {"q·k": view.raw_scores, "score": view.scores, "weight": view.weights}


def _stages_table(view: HeadView, query: int) -> pd.DataFrame:
    """One row of the head, key by key: a key out of sight has no weight."""
    row = {name: matrix[query].astype(np.float64) for name, matrix in _stage_matrices(view).items()}
    row["weight"] = np.where(view.mask[query], row["weight"], np.nan)
    asks = show.positions(view.query_tokens)[query]
    return show.columns_table(row, show.positions(view.key_tokens), f"key, as seen from {asks}")


def _stages_csv(run: Run, view: HeadView) -> pd.DataFrame:
    """Every pair, also those that the mask keeps apart: they have scores, and no weight."""
    stages = _stage_matrices(view) | {"weight": np.where(view.mask, view.weights, np.nan)}
    every = np.ones_like(view.mask)
    return show.pairs_table(stages, view.query_tokens, view.key_tokens, every)


VIEWS = {
    "Map": View(_draw_map, _weights_table, lambda run, view: _weights_table(view)),
    "Lines": View(_draw_lines, _weights_table, _lines_csv),
    "Stages": View(_draw_stages, _stages_table, _stages_csv),
}
