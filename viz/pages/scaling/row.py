"""One row: a query's scores become weights, divided by √d_k and not."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from model.attention import attention_weights
from model.scaling import row_of_scores
from viz import show, state
from viz.cache import remembered
from viz.figures.one_row import one_row
from viz.pages.scaling import controls
from viz.pages.sections import (
    Numbers,
    Section,
    beside,
    draw_again,
    formula,
    lead,
    notice,
    picture,
    scaled,
    unscaled,
)
from viz.theme import Palette

TEMPERATURES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
LONGEST_FACTOR = 1e6  # beyond, a factor is written as a power of ten


def draw(colours: Palette) -> Numbers:
    """Draws the section."""
    left, right = beside()
    with left:
        lead("One query meets <i>n</i> keys. Each score is a sum of d_k random products.")
        d_k = controls.d_k()
        n_keys = controls.n_keys()
        st.select_slider(
            "temperature, $\\tau$",
            TEMPERATURES,
            format_func="{:g}".format,
            **state.widget("tau"),
        )
        tau = state.get("tau")
        draw_again()
        row = _row(d_k, n_keys, tau, state.get("draw"))
        _formulas(row, d_k, n_keys, tau, colours)
    with right:
        title = "scores" if tau == 1 else "scores ÷ τ"
        picture(
            one_row(row["scores"], row["weights"], colours, score_title=title),
            alt=f"Bars of {n_keys} scores and of the weights they become, unscaled and scaled",
        )
        notice(what_to_notice(row, d_k, tau))
    return Numbers(
        table=lambda: show.columns_table(_columns(row), _key_names(n_keys), "key"),
        arrays=lambda: _columns(row),
        code=(row_of_scores, attention_weights),
    )


Row = dict[str, dict[str, np.ndarray]]


@remembered
def _row(d_k: int, n_keys: int, tau: float, seed: int) -> Row:
    """Scores (as they enter the softmax) and weights, the largest score first."""
    import torch

    q_k = np.sort(row_of_scores(d_k, n_keys, seed))[::-1]
    scores = {"unscaled": q_k / tau, "scaled": q_k / math.sqrt(d_k) / tau}
    weights = {
        name: attention_weights(torch.from_numpy(row.copy())).numpy()
        for name, row in scores.items()
    }
    return {"scores": scores, "weights": weights}


def _formulas(row: Row, d_k: int, n_keys: int, tau: float, colours: Palette) -> None:
    """The paper's formula, its symbols' present values, and the first key's numbers in it."""
    first = row["scores"]["unscaled"][0] * tau
    result = row["scores"]["scaled"][0]
    tau_too, value_too = ("", "") if tau == 1 else (r"\;\tau", rf"\cdot {tau:g}")
    raw = rf"\textcolor{{{colours.unscaled}}}{{{first:.2f}}}"
    formula(
        r"\operatorname{Attention}(Q,K,V)=\operatorname{softmax}"
        r"\Big(\frac{QK^{\mathsf T}}{\sqrt{d_k}}\Big)V",
    )
    formula(
        rf"d_k={d_k},\quad n={n_keys},\quad \tau={tau:g}",
        rf"\frac{{q\cdot k_1}}{{\sqrt{{d_k}}{tau_too}}}=\frac{{{raw}}}{{\sqrt{{{d_k}}}{value_too}}}"
        rf"=\textcolor{{{colours.scaled}}}{{{result:.2f}}}",
    )


def what_to_notice(row: Row, d_k: int, tau: float) -> str:
    """How far the best key leads, and what that makes of the weights."""
    largest = float(row["weights"]["scaled"][0])
    if d_k == 1:
        return (
            "At d_k = 1 the two are the same: √1 = 1, there is nothing to divide. "
            f"The largest weight is {scaled(largest, '.2f')} with and without it."
        )
    ahead, ahead_scaled = (
        float(row["scores"][name][0] - row["scores"][name][1]) for name in ("unscaled", "scaled")
    )
    return (
        f"Unscaled, the best score leads by {unscaled(ahead, '.1f')}, so its weight is "
        f"e<sup>{ahead:.1f}</sup> ≈ <b class='unscaled'>{_factor(ahead)} times</b> the next one’s. "
        f"Divided by √{d_k:,} = {math.sqrt(d_k):.3g}, the lead is {ahead_scaled:.2f}, the factor "
        f"{_factor(ahead_scaled)}, and {scaled(1 - largest, '%')} of the weight stays with the "
        "other keys."
    )


def _factor(ahead: float) -> str:
    """e to the lead, with two digits; a large one as a power of ten."""
    factor = math.exp(min(ahead, 700))
    if factor > LONGEST_FACTOR:
        return f"10<sup>{ahead / math.log(10):.0f}</sup>"
    return f"{float(f'{factor:.2g}'):,.0f}" if factor >= 10 else f"{factor:.1f}"


def _columns(row: Row) -> dict[str, np.ndarray]:
    return {f"{what}, {name}": of[name] for what, of in row.items() for name in of}


def _key_names(n_keys: int) -> list[str]:
    return [str(key) for key in range(1, n_keys + 1)]


SECTION = Section(
    "row",
    "One row",
    "Why does one key take all the weight?",
    draw,
    {
        **controls.DK,
        **controls.KEYS,
        **controls.DRAW,
        "tau": state.Field(1.0, state.one_of_numbers(TEMPERATURES)),
    },
)
