"""A real head: its weights under its own factor on q·k and under another one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from model import measures, scales
from model.attention_trace import AttentionTrace
from model.errors import HeadlightError
from model.trace import HeadRef
from viz import choice, show, state
from viz.components.plot import plot
from viz.figures.layer_head_map import layer_head_map
from viz.figures.two_scales import Scaled, two_scales
from viz.notice import token
from viz.pages.scaling.subject import TIMES, Subject, other_factor, subject
from viz.pages.sections import (
    Numbers,
    Section,
    beside,
    formula,
    lead,
    notice,
    picture,
    scaled,
    unscaled,
)
from viz.theme import Palette, escape

SOURCES = ("of a model", "typed in")
MOST_CHARACTERS = 600  # of a typed matrix: it travels in the address
TYPED_Q = "2 0 1 0\n0 2 0 1\n1 1 1 1"
TYPED_K = "2 0 1 0\n0 2 0 1\n1 1 0 0\n0 0 2 2"


@dataclass(frozen=True)
class Head:
    """What is looked at: one head's queries and keys, with the names of its rows and columns."""

    name: str
    attention: AttentionTrace
    head: int
    rows: Sequence[str]
    keys: Sequence[str]


def draw(colours: Palette) -> Numbers | None:
    """Draws the section."""
    left, right = beside()
    with left:
        st.segmented_control(
            "q and k",
            SOURCES,
            label_visibility="collapsed",
            required=True,
            **state.widget("qk"),
        )
        of = subject() if state.get("qk") == SOURCES[0] else None
        head = _of_model(of) if state.get("qk") == SOURCES[0] else _typed()
        if head is None:
            return None
        own = (head.attention.scale, head.attention.d_k, head.attention.query_scale)
        lead(escape(scales.in_words(*own)))
        name = other_factor(*own)
        _formulas(own[0], scales.factor(name, *own), colours)
        if of is not None:
            _where_heads_saturate(of, name, colours)
    with right:
        return _picture(head, name, colours)


def _picture(head: Head, name: str, colours: Palette) -> Numbers | None:
    try:
        own, other = (_under(head, each) for each in (scales.OWN, name))
    except HeadlightError as error:  # scores so large that no softmax is left
        state.note(str(error))
        return None
    mask = head.attention.mask.numpy()
    row = _most_changed(own, other)
    picture(
        two_scales(own, other, mask, head.rows, head.keys, row, colours),
        alt=f"Two maps of {head.name}: with its own factor and with {other.title}, their "
        "difference, and for each row its entropy and the norm of its Jacobian",
    )
    notice(what_to_notice(own, other, mask, head.rows, head.keys))
    table = {
        f"{what}, {each.title}": getattr(each, what)
        for what in ("entropy", "jacobian")
        for each in (own, other)
    }
    return Numbers(
        table=lambda: show.columns_table(table, show.positions(head.rows), "query"),
        arrays=lambda: {
            "weights": own.weights,
            "weights_other": other.weights,
            "mask": mask,
            "query_tokens": head.rows,
            "key_tokens": head.keys,
            **table,
        },
        code=(AttentionTrace.rescaled, measures.entropy, measures.jacobian_norm, scales.factor),
    )


# --- which head ----------------------------------------------------------------------------------


def _of_model(of: Subject | None) -> Head | None:
    if of is None:
        return None
    ref, _ = choice.chosen(of.model, of.run.trace)
    refs = _refs(of)
    roles = of.model.roles
    names = {
        each: f"L{each.layer} H{each.head}"
        + (f" · {roles[each].name}" if each in roles and roles[each].name else "")
        for each in refs
    }
    st.session_state["scaled head"] = ref
    st.selectbox(
        "head", refs, format_func=names.get, key="scaled head", on_change=_take_head, width=220
    )
    view = choice.view_of(of.run, ref)
    if view is None:
        return None
    attention = of.run.trace.attention(ref.kind, ref.layer)
    return Head(str(ref), attention, ref.head, view.query_tokens, view.key_tokens)


def _refs(of: Subject) -> list[HeadRef]:
    trace = of.run.trace
    return [
        HeadRef(of.kind, layer, head)
        for layer in range(trace.n_layers(of.kind))
        for head in range(trace.n_heads(of.kind, layer))
    ]


def _take_head() -> None:
    ref = st.session_state["scaled head"]
    state.put(layer=ref.layer, head=ref.head)


def _typed() -> Head | None:
    for name in ("q", "k"):
        st.text_area(
            f"{name}, one vector a line",
            height=104,
            max_chars=MOST_CHARACTERS,
            **state.widget(f"typed_{name}"),
        )
    try:
        attention = scales.typed_attention(state.get("typed_q"), state.get("typed_k"))
    except HeadlightError as error:
        state.note(str(error))
        return None
    n_query, n_key = attention.mask.shape
    rows, keys = ([f"{name}{i}" for i in range(n)] for name, n in (("q", n_query), ("k", n_key)))
    return Head("the typed q and k", attention, 0, rows, keys)


def _where_heads_saturate(of: Subject, name: str, colours: Palette) -> None:
    """Every head's share of saturated rows under the other factor; a click chooses a head."""
    shares = of.run.saturation(of.kind, name)
    st.html("<p class='hl-label'>rows saturated under it, by layer and head</p>")
    plot(
        "saturation-map",
        figure=layer_head_map(
            shares, "of its rows saturated", (state.get("layer"), state.get("head")), colours
        ),
        alt="The share of saturated rows of every head, by layer and head",
        height_css="clamp(110px, calc(100dvh - 560px), 300px)",
        on_click=lambda layer, head: state.put(layer=layer, head=head),
    )


# --- numbers -------------------------------------------------------------------------------------


def _under(head: Head, name: str) -> Scaled:
    attention = head.attention
    own = (attention.scale, attention.d_k, attention.query_scale)
    weights = scales.under(attention, name).weights(head.head).numpy()
    value = scales.factor(name, *own)
    title = {scales.OWN: f"its own, {value:.3g}", scales.UNSCALED: f"unscaled, {value:.3g}"}
    return Scaled(
        title.get(name, f"factor {value:.3g}"),
        value,
        weights,
        measures.entropy(weights),
        measures.jacobian_norm(weights),
    )


def _most_changed(own: Scaled, other: Scaled) -> int:
    return int(np.abs(other.weights - own.weights).max(axis=-1).argmax())


def what_to_notice(
    own: Scaled, other: Scaled, mask: np.ndarray, rows: Sequence[str], keys: Sequence[str]
) -> str:
    """The row that changes most, the mean entropy, and how many rows saturate."""
    if math.isclose(own.factor, other.factor, rel_tol=1e-6):
        return "Both maps are the same: this is the factor that the head itself applies."
    has_choice = mask.sum(axis=-1) > 1
    if not has_choice.any():
        return "Every row sees a single key, which gets all of the weight under any factor."
    row = _most_changed(own, other)
    key = int(np.abs(other.weights[row] - own.weights[row]).argmax())
    entropies = [float(each.entropy[has_choice].mean()) for each in (own, other)]
    still = [int((each.jacobian[has_choice] < measures.SATURATED).sum()) for each in (own, other)]
    n_rows = int(has_choice.sum())
    before, after = float(own.weights[row, key]), float(other.weights[row, key])
    return (
        f"{escape(other.title.capitalize())}: {_change(before, after, rows[row], keys[key])} "
        f"The mean entropy {_moves(*entropies)} bits, and "
        f"{unscaled(still[1])} of {n_rows} {'row is' if n_rows == 1 else 'rows are'} saturated "
        f"(the norm of the softmax’s Jacobian, below {measures.SATURATED:g}), against "
        f"{scaled(still[0])}."
    )


def _moves(before: float, after: float) -> str:
    if f"{before:.2f}" == f"{after:.2f}":
        return f"stays at {scaled(before, '.2f')}"
    verb = "falls" if after < before else "rises"
    return f"{verb} from {scaled(before, '.2f')} to {unscaled(after, '.2f')}"


def _change(before: float, after: float, query: str, key: str) -> str:
    """The largest change of a weight, if it can be seen in two digits."""
    if after == before:
        return "no weight changes at all."
    if abs(after - before) < 0.01:
        return f"no weight changes by more than {math.ceil(abs(after - before) * 1000) / 1000:g}."
    return (
        f"{token(query)} gives {token(key)} {unscaled(after, '.2f')} of its weight instead of "
        f"{scaled(before, '.2f')}."
    )


def _formulas(own: float, other: float, colours: Palette) -> None:
    # Each in braces, so that a narrow column breaks the line between them.
    own_one, other_one = (
        rf"{{\operatorname{{softmax}}(\textcolor{{{colour}}}{{{factor:.3g}}}\;q\cdot k)}}"
        for colour, factor in ((colours.scaled, own), (colours.unscaled, other))
    )
    formula(rf"{own_one}\quad {other_one}")


SECTION = Section(
    "head",
    "A real head",
    "And in a real head?",
    draw,
    {
        **TIMES,
        "qk": state.Field(SOURCES[0], state.one_of(SOURCES)),
        "typed_q": state.Field(TYPED_Q, str),
        "typed_k": state.Field(TYPED_K, str),
    },
)
