"""The spread: the variance of random dot products, and where the argument fails."""

from __future__ import annotations

import math

import numpy as np
import streamlit as st

from model.scaling import D_KS, Entries, Sweep, sweep
from viz import show, state
from viz.cache import remembered
from viz.figures.spread import Scores, Variances, spread
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

SURE = 2  # standard deviations between a matching key and the others
PAIRS_PER_ROW = 12  # of the sweep's rows nothing is shown here

DERIVATION = (
    (
        "The entries of q and k are independent, have mean 0 and variance 1. "
        "So one product has mean 0, and its variance is the product of the variances:",
        r"\operatorname{E}[q_i k_i]=\operatorname{E}[q_i]\operatorname{E}[k_i]=0,\qquad "
        r"\operatorname{Var}(q_i k_i)=\operatorname{E}[q_i^2]\operatorname{E}[k_i^2]=1\cdot 1=1",
    ),
    (
        "The products of different dimensions are independent too, so their variances add up:",
        r"\operatorname{Var}(q\cdot k)=\operatorname{Var}\Big(\sum_{i=1}^{d_k} q_i k_i\Big)="
        r"\sum_{i=1}^{d_k}\operatorname{Var}(q_i k_i)=d_k",
    ),
    (
        "A factor comes out of a variance squared. To bring it back to 1, divide by the root:",
        r"\operatorname{Var}\Big(\frac{q\cdot k}{\sqrt{d_k}}\Big)="
        r"\frac{\operatorname{Var}(q\cdot k)}{d_k}=1",
    ),
    (
        "And for many dimensions the sum is nearly normal (the central limit theorem):",
        r"q\cdot k\;\approx\;\mathcal N(0,\,d_k)",
    ),
)

random_scores = remembered(sweep)


def draw(colours: Palette) -> Numbers:
    """Draws the section."""
    left, right = beside()
    with left:
        lead(
            "A sum of d_k independent products of variance 1 has variance "
            "d_k. Dividing by √d_k brings it back to 1."
        )
        d_k = controls.d_k()
        name = controls.entries()
        with st.container(horizontal=True):
            draw_again()
            _derivation()
        drawn = random_scores(name, PAIRS_PER_ROW, state.get("draw"))
        _formulas(drawn, d_k, colours)
    with right:
        picture(
            spread(*_scores(drawn, d_k), _variances(drawn), d_k, colours),
            alt="Histograms of scores, scaled and unscaled, with normal curves, "
            "and the variance of the score against d_k",
        )
        notice(what_to_notice(drawn, d_k))
    return Numbers(
        table=lambda: show.columns_table(_columns(drawn), [f"{d_k:,}" for d_k in D_KS], "d_k"),
        arrays=lambda: {"q_k": drawn.pairs, "d_k": np.array(D_KS), **_columns(drawn)},
        code=(sweep, Sweep, Entries),
    )


def _scores(drawn: Sweep, d_k: int) -> tuple[Scores, Scores]:
    """The scores of one d_k, scaled and unscaled, with what theory says of them."""
    of = drawn.entries
    q_k = drawn.pairs[D_KS.index(d_k)]
    mean, deviation, root = d_k * of.mean, math.sqrt(d_k * of.variance), math.sqrt(d_k)
    return (
        Scores("scaled", q_k / root, mean / root, deviation / root),
        Scores("unscaled", q_k, mean, deviation),
    )


def _variances(drawn: Sweep) -> Variances:
    return Variances(np.array(D_KS), drawn.variance, drawn.expected_variance, drawn.variance_error)


def _columns(drawn: Sweep) -> dict[str, np.ndarray]:
    d_ks = np.array(D_KS)
    return {
        "variance, unscaled": drawn.variance,
        "theory, unscaled": drawn.expected_variance,
        "standard error": drawn.variance_error,
        "variance, scaled": drawn.variance / d_ks,
        "mean, unscaled": drawn.pairs.mean(axis=-1),
    }


def _formulas(drawn: Sweep, d_k: int, colours: Palette) -> None:
    at = D_KS.index(d_k)
    per_product = drawn.entries.variance
    factor = "d_k" if per_product == 1 else rf"{per_product:.3g}\,d_k"
    measured, expected = map(_in_tex, (drawn.variance[at], d_k * per_product))
    raw = rf"\textcolor{{{colours.unscaled}}}{{{measured}}}"
    divided = rf"\textcolor{{{colours.scaled}}}{{{drawn.variance[at] / d_k:.4g}}}"
    formula(
        r"\operatorname{Var}(q\cdot k)=\sum_{i=1}^{d_k}\operatorname{Var}(q_i k_i)=" + factor,
    )
    formula(
        rf"d_k={_in_tex(d_k)},\quad \operatorname{{Var}}(q_i k_i)={per_product:.3g}",
        rf"{raw}\;\approx\;{expected}\qquad{divided}\;\approx\;{per_product:.3g}",
    )


def _digits(value: float) -> str:
    """Four digits, or all before the point: a large number is not written as a power of ten."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def _in_tex(value: float) -> str:
    return _digits(value).replace(",", "{,}")


def _derivation() -> None:
    """Why the variance is d_k, step by step."""
    with show.popover("Why d_k?", "derivation", ":material/function:") as opened:
        if not opened:
            return
        for words, step in DERIVATION:
            st.markdown(f"{words}\n\n$\\displaystyle {step}$", width=520)
        st.caption("Vaswani et al. 2017, section 3.2.1, footnote 4")


def what_to_notice(drawn: Sweep, d_k: int) -> str:
    """How well theory and measurement agree, or which assumption of the argument fails."""
    of, at = drawn.entries, D_KS.index(d_k)
    variance, expected = drawn.variance[at], drawn.expected_variance[at]
    if of.mean:
        return _when_correlated(drawn, d_k)
    if of.variance != 1:
        return (
            f"The argument assumes entries of variance 1. Here each product has variance "
            f"{of.variance:.3g}: the score’s is <b class='unscaled'>{_digits(variance)}</b> ≈ "
            f"{of.variance:.3g} × {d_k:,}, and division by √d_k leaves "
            f"{scaled(variance / d_k, '.1f')}, not 1."
        )
    away = np.abs(drawn.variance - drawn.expected_variance) / drawn.variance_error
    ratio = drawn.variance / drawn.expected_variance
    return (
        f"At d_k = {d_k:,} the measured variance is "
        f"<b class='unscaled'>{_digits(variance)}</b>, "
        f"{away[at]:.1f} standard errors from {_digits(expected)}. Over the whole sweep no "
        f"point is more than {math.ceil(away.max() * 10) / 10:.1f} away. Divided by √d_k it is "
        f"{scaled(variance / d_k, '.3f')} here, and between {ratio.min():.3f} and "
        f"{ratio.max():.3f} everywhere."
    )


def _when_correlated(drawn: Sweep, d_k: int) -> str:
    of = drawn.entries
    mean = float(drawn.pairs[D_KS.index(d_k)].mean())
    divided = f", and still {scaled(mean / math.sqrt(d_k), '.3g')} after division by √d_k"
    # Dividing leaves the ratio of mean and spread as it is, and this ratio is what makes sure.
    deviations = d_k * of.mean / math.sqrt(d_k * of.variance)
    sure = ": a head that has learned to match q and k can be sure"
    return (
        f"The argument assumes independent q and k. With a correlation of {of.mean:g} the "
        f"<i>mean</i> score grows too, by {of.mean:g} for each dimension: it is "
        f"{unscaled(mean, ',.3g')} here{divided if d_k > 1 else ''}, {deviations:.1f} times the "
        f"spread of the scores{sure if deviations > SURE else ''}."
    )


SECTION = Section(
    "spread",
    "The spread",
    "How far apart do the scores drift?",
    draw,
    {**controls.DK, **controls.DRAW, **controls.DRAWN_FROM},
)
