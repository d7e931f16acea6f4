"""What others do instead: QK-norm, a learned temperature, 1/d_k, soft-capping."""

from __future__ import annotations

import numpy as np
import streamlit as st

from model.alternatives import METHODS, Method, largest_weights
from model.scaling import D_KS, Sweep
from viz import show, state
from viz.cache import remembered
from viz.figures.alternatives import Panel, alternatives
from viz.pages.scaling import controls
from viz.pages.scaling.spread import random_scores
from viz.pages.sections import (
    Numbers,
    Section,
    beside,
    draw_again,
    lead,
    notice,
    picture,
    scaled,
    unscaled,
)
from viz.theme import Palette

ADJUSTABLE = {name: method for name, method in METHODS.items() if method.choices}
START = 0.0  # of a setting: what the method starts from


def draw(colours: Palette) -> Numbers:
    """Draws the section."""
    left, right = beside()
    with left:
        lead("The same random rows, by four other rules. The curve: the largest weight of a row.")
        n_keys = controls.n_keys()
        entries = controls.entries()
        settings = {name: _setting(name, method, n_keys) for name, method in METHODS.items()}
        draw_again()
        chosen = (entries, n_keys, state.get("draw"))
        curves = {name: _curve(*chosen, name, settings[name]) for name in METHODS}
        both = {name: _reference(*chosen, name == "scaled") for name in ("scaled", "unscaled")}
    with right:
        picture(
            alternatives(
                D_KS,
                [
                    Panel(m.title, m.formula, m.idea, m.source, curves[name])
                    for name, m in METHODS.items()
                ],
                both["scaled"],
                both["unscaled"],
                colours,
            ),
            alt="The largest weight of a row against d_k by four methods, each beside the "
            "scaled and the unscaled one",
        )
        notice(what_to_notice(curves, both, n_keys))
    columns = {**{METHODS[name].title: curve for name, curve in curves.items()}, **both}
    return Numbers(
        table=lambda: show.columns_table(columns, [f"{d_k:,}" for d_k in D_KS], "d_k"),
        arrays=lambda: {"d_k": np.array(D_KS), **columns},
        code=(*(method.scores for method in METHODS.values()), largest_weights),
    )


def _setting(name: str, method: Method, n_keys: int) -> float:
    """The control of a method's number; without one, where it starts."""
    if not method.choices:
        return START
    start = method.start(n_keys)
    shown = {START: f"{start:.3g}, {method.start_is}"} | {c: f"{c:g}" for c in method.choices}
    st.select_slider(
        f"{method.title}, ${method.setting}$",
        (START, *(choice for choice in method.choices if choice != start)),
        format_func=shown.get,
        **state.widget(name),
    )
    return state.get(name) or start


@remembered
def _curve(entries: str, n_keys: int, seed: int, method: str, setting: float) -> np.ndarray:
    return largest_weights(random_scores(entries, n_keys, seed), method, setting)


@remembered
def _reference(entries: str, n_keys: int, seed: int, divided: bool) -> np.ndarray:
    drawn: Sweep = random_scores(entries, n_keys, seed)
    return drawn.weights(divided).max(axis=-1).mean(axis=-1)


def what_to_notice(curves: dict[str, np.ndarray], both: dict[str, np.ndarray], n_keys: int) -> str:
    """Where each method ends at the widest head, and which one stays nearest to where it began."""
    ends = {name: float(curve[-1]) for name, curve in curves.items()}
    steadiest = min(curves, key=lambda name: float(np.ptp(curves[name])))
    listed = ", ".join(f"{ends[name]:.2f} by {_within(METHODS[name].title)}" for name in curves)
    return (
        f"At d_k = {D_KS[-1]:,} the largest of {n_keys} weights is {listed}; "
        f"{scaled(float(both['scaled'][-1]), '.2f')} by √d_k, "
        f"{unscaled(float(both['unscaled'][-1]), '.2f')} unscaled. "
        f"Of the {len(curves)} other rules, {_within(METHODS[steadiest].title)} "
        "changes least with the width."
    )


def _within(title: str) -> str:
    """A title within a sentence: small at its start, unless it is an abbreviation."""
    return title if title[:2].isupper() else title[0].lower() + title[1:]


SECTION = Section(
    "others",
    "What others do",
    "Is √d_k the only way?",
    draw,
    {
        **controls.KEYS,
        **controls.DRAW,
        **controls.DRAWN_FROM,
        **{
            name: state.Field(START, state.one_of_numbers((START, *method.choices)))
            for name, method in ADJUSTABLE.items()
        },
    },
)
