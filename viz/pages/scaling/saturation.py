"""Saturation: a prediction first, then what the softmax does to wider and wider heads."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from model import measures, scaling
from model.scaling import D_KS, Saturation
from viz import show, state
from viz.cache import remembered
from viz.components.predict import Curve, predict
from viz.figures.saturation import Measure
from viz.figures.saturation import saturation as figure
from viz.pages.scaling import controls
from viz.pages.scaling.spread import random_scores
from viz.pages.sections import (
    PICTURE,
    PICTURE_HEIGHT,
    Numbers,
    Section,
    beside,
    draw_again,
    formula,
    lead,
    notice,
    number,
    picture,
    scaled,
    unscaled,
)
from viz.theme import Palette

STAGES = ("predict", "revealed", "all")
KNOWN = D_KS.index(4)  # up to here the curves are drawn before anything is predicted
RINGS = {"unscaled": 0.62, "scaled": 0.38}  # neither the answer nor "no change"
RIGHT = 0.04  # a guess as near as this is right
FLAT = 0.03  # a curve that stays within this of its end no longer changes


def draw(colours: Palette) -> Numbers | None:
    """Draws the section."""
    stage = state.get("stage")
    left, right = beside()
    with left:
        n_keys = controls.n_keys()
        entries = controls.entries() if stage == "all" else "normal"
        found = {
            name: _saturation(entries, n_keys, state.get("draw"), name == "scaled")
            for name in RINGS
        }
        _what_to_do(stage, n_keys)
        if stage == "all":
            _formulas(n_keys)
    with right:
        if stage == "all":
            _three_measures(found, n_keys, colours)
        else:
            _predict(found, n_keys, stage)
    if stage == "predict":
        return None  # its table would give the answer away
    return Numbers(
        table=lambda: show.columns_table(_columns(found), [f"{d_k:,}" for d_k in D_KS], "d_k"),
        arrays=lambda: {"d_k": np.array(D_KS), **_columns(found)},
        code=(scaling.saturation, measures.jacobian_norm, measures.entropy),
    )


@remembered
def _saturation(entries: str, n_keys: int, seed: int, divided: bool) -> Saturation:
    return scaling.saturation(random_scores(entries, n_keys, seed), divided)


def _guesses() -> dict[str, float]:
    return st.session_state.setdefault("guesses", dict(RINGS))


def _keep_guesses(guesses: dict[str, float]) -> None:
    st.session_state["guesses"] = guesses


def _what_to_do(stage: str, n_keys: int) -> None:
    if stage == "predict":
        lead(
            f"<b>Predict first.</b> Up to d_k = {D_KS[KNOWN]} the curves are drawn. The largest of "
            f"{n_keys} weights at d_k = {D_KS[-1]:,}: how large with the division by √d_k, how "
            "large without? Drag both rings."
        )
        st.button("Reveal", type="primary", on_click=state.put, kwargs={"stage": "revealed"})
    else:
        if stage == "revealed":
            lead("The rings are your prediction; the curves are means over random rows.")
            st.button(
                "Entropy and gradient too",
                type="primary",
                on_click=state.put,
                kwargs={"stage": "all"},
            )
        draw_again()
        st.button("Predict again", type="tertiary", on_click=state.put, kwargs={"stage": "predict"})


def _predict(found: dict[str, Saturation], n_keys: int, stage: str) -> None:
    revealed = stage == "revealed"
    predict(
        PICTURE,
        x=D_KS,
        x_labels=[f"{d_k:,}" if at % 2 == 0 else "" for at, d_k in enumerate(D_KS)],
        x_title="dimensions per head, d_k (logarithmic)",
        y_title=f"largest of {n_keys} weights",
        y_range=(0.0, 1.0),
        curves=[Curve(name, name, name, each.largest[0].tolist()) for name, each in found.items()],
        known=KNOWN,
        guesses=_guesses(),
        revealed=revealed,
        alt=f"The largest of {n_keys} weights against d_k, scaled and unscaled",
        height_css=PICTURE_HEIGHT,
        on_guess=_keep_guesses,
    )
    if revealed:
        notice(what_was_right(found, _guesses()))
    else:
        notice("No penalty for being wrong: what you expected is the interesting part.")


def what_was_right(found: dict[str, Saturation], guesses: dict[str, float]) -> str:
    """How far off each guess was, and what the curves do."""
    ends = {name: float(each.largest[0, -1]) for name, each in found.items()}
    flat_from = _flat_from(found["scaled"].largest[0])
    flat = (
        f"it hardly changes from d_k = {flat_from} on, at {ends['scaled']:.2f}"
        if flat_from < D_KS[-1]
        else f"it ends at {ends['scaled']:.2f}"
    )
    return (
        f"Unscaled you were {_verdict(guesses['unscaled'], ends['unscaled'], 'unscaled')}: one key "
        f"ends with {ends['unscaled']:.2f} of the weight. Scaled you were "
        f"{_verdict(guesses['scaled'], ends['scaled'], 'scaled')}: {flat}, however wide the head."
    )


def _verdict(guess: float, truth: float, name: str) -> str:
    off = guess - truth
    words = "right" if abs(off) <= RIGHT else f"{abs(off):.2f} too {'high' if off > 0 else 'low'}"
    return f"<b class='{name}'>{words}</b>"


def _flat_from(curve: np.ndarray) -> int:
    """The first d_k from which a curve stays within FLAT of its end."""
    changes = np.abs(curve - curve[-1]) > FLAT
    return D_KS[int(np.flatnonzero(changes)[-1]) + 1] if changes.any() else D_KS[0]


def _three_measures(found: dict[str, Saturation], n_keys: int, colours: Palette) -> None:
    most = math.log2(n_keys)
    even = scaling.uniform_jacobian_norm(n_keys)
    of = found["scaled"], found["unscaled"]
    picture(
        figure(
            D_KS,
            [
                Measure(
                    "largest weight",
                    *(each.largest for each in of),
                    [(1 / n_keys, f"all alike: 1/{n_keys}")],
                    1.0,
                ),
                Measure(
                    "entropy, bits",
                    *(each.entropy for each in of),
                    [(most, f"all alike: log₂ {n_keys} = {most:.2f}")],
                    most,
                ),
                Measure(
                    "gradient",
                    *(each.jacobian for each in of),
                    [
                        (even, f"all alike: √{n_keys - 1}/{n_keys} = {even:.2f}"),
                        (0.0, "one-hot: 0"),
                    ],
                    0.5,
                ),
            ],
            colours,
        ),
        alt=f"Largest weight, entropy and Jacobian norm of rows of {n_keys} keys against d_k",
    )
    notice(what_to_notice(found, n_keys))


def what_to_notice(found: dict[str, Saturation], n_keys: int) -> str:
    """What is left of the entropy and of the gradient in the widest heads."""
    narrow, wide = found["scaled"], found["unscaled"]
    most = math.log2(n_keys)
    shares = [float(each.entropy[0, -1]) / most for each in (wide, narrow)]
    return (
        f"At d_k = {D_KS[-1]:,}, unscaled, {unscaled(wide.saturated[-1], '%')} of the rows are "
        f"saturated: the norm of the softmax’s Jacobian is below {measures.SATURATED:g}, so hardly "
        f"any gradient passes; scaled, {scaled(narrow.saturated[-1], '%')}. The entropy is "
        f"{unscaled(shares[0], '%')} of the largest possible, log₂ {n_keys}, against "
        f"{scaled(shares[1], '%')}."
        f"{_yet_the_mean(*(float(each.jacobian[0, -1]) for each in (wide, narrow)))}"
    )


def _yet_the_mean(unscaled_norm: float, scaled_norm: float) -> str:
    """With many keys the rows that are not saturated can hold the mean up: said where it is so."""
    if number(unscaled_norm, ".2f") == number(scaled_norm, ".2f"):
        norms = f"{scaled(scaled_norm, '.2f')} in both cases"
    elif unscaled_norm > scaled_norm:
        norms = f"{unscaled(unscaled_norm, '.2f')} against {scaled(scaled_norm, '.2f')}"
    else:
        return ""
    return f" Yet the mean norm is {norms}: the other rows hold it up."


def _formulas(n_keys: int) -> None:
    formula(r"J=\operatorname{diag}(w)-w\,w^{\mathsf T},\qquad \lVert J\rVert\le\tfrac12")
    formula(
        r"\lVert J\rVert_{\text{all alike}}="
        rf"\frac{{\sqrt{{n-1}}}}{{n}}={scaling.uniform_jacobian_norm(n_keys):.3f}",
        rf"H\le\log_2 n=\log_2 {n_keys}={math.log2(n_keys):.2f}\text{{ bits}}",
    )


def _columns(found: dict[str, Saturation]) -> dict[str, np.ndarray]:
    names = {"largest": "largest weight", "entropy": "entropy, bits", "jacobian": "Jacobian norm"}
    means = {
        f"{title}, {name}": getattr(each, measure)[0]
        for measure, title in names.items()
        for name, each in found.items()
    }
    most = math.log2(found["scaled"].n_keys)
    means |= {f"entropy, share of log₂ n, {n}": each.entropy[0] / most for n, each in found.items()}
    return means | {f"saturated rows, {name}": each.saturated for name, each in found.items()}


SECTION = Section(
    "saturation",
    "Saturation",
    "What happens to the softmax as heads get wider?",
    draw,
    {
        **controls.KEYS,
        **controls.DRAW,
        **controls.DRAWN_FROM,
        "stage": state.Field("predict", state.one_of(STAGES)),
    },
)
