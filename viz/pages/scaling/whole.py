"""The whole model: its loss and its predictions with another factor on q·k."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache as once

import numpy as np
import streamlit as st

from model import scales
from model.edits import Edits
from model.errors import HeadlightError
from model.language_model import LanguageModel
from model.scales import CURVE
from model.trace import HeadRef
from viz import cache, choice, show, state
from viz.cache import ModelChoice, remembered
from viz.figures.whole_model import Curve, Predictions, whole_model
from viz.notice import token
from viz.pages.scaling.subject import TIMES, Subject, other_factor, subject
from viz.pages.sections import Numbers, Section, beside, notice, picture, scaled, unscaled
from viz.theme import Palette

N_PREDICTIONS = 8
N_STORIES = 4
FLAT = 0.1  # nats: a curve that varies by less has no minimum to speak of


def draw(colours: Palette) -> Numbers | None:
    """Draws the section."""
    left, right = beside()
    with left:
        of = subject()
        if of is None:
            return None
        attention = of.run.trace.attention(of.kind, 0)
        own = (attention.scale, attention.d_k, attention.query_scale)
        name = other_factor(*own)
        heads = _heads(of)
        row = _row(of)
    other = scales.factor(name, *own) / own[0]
    unscaled_at = scales.factor(scales.UNSCALED, *own) / own[0]
    with right:
        try:
            seen = _seen(of.run.choice, of.run.text, heads, other, row)
        except HeadlightError as error:
            state.note(str(error))
            return None
        picture(
            whole_model(CURVE, seen.curves(), other, unscaled_at, seen.predictions, colours),
            alt="The loss of the model against the factor on q·k, "
            f"and the likeliest pieces after token {row} under both factors",
        )
        notice(what_to_notice(seen, other, unscaled_at, of.run.trace.labels[of.kind][row]))
    return Numbers(
        table=lambda: show.columns_table(
            {curve.name: curve.losses for curve in seen.curves()},
            [f"{multiple:.3g}" for multiple in CURVE],
            "multiple of its own factor",
        ),
        arrays=lambda: {
            "multiples": np.array(CURVE),
            "pieces": seen.predictions.pieces,
            "own": seen.predictions.own,
            "other": seen.predictions.other,
            **{f"loss, {curve.name}": curve.losses for curve in seen.curves()},
        },
        code=(Edits, scales.multiplied, scales.loss_curve, LanguageModel.losses),
    )


# --- controls ------------------------------------------------------------------------------------


def _heads(of: Subject) -> tuple[HeadRef, ...]:
    """The heads that get the other factor; none named: all."""
    trace = of.run.trace
    names = {
        f"L{layer} H{head}": HeadRef(of.kind, layer, head)
        for layer in range(trace.n_layers(of.kind))
        for head in range(trace.n_heads(of.kind, layer))
    }
    wanted = [name for name in state.get("in_heads").split(",") if name in names]
    st.session_state["in heads"] = wanted
    st.multiselect(
        "in which heads",
        list(names),
        key="in heads",
        placeholder="in all of them",
        format_func=lambda name: name + _role(of, names[name]),
        on_change=lambda: state.put(in_heads=",".join(st.session_state["in heads"])),
    )
    return tuple(names[name] for name in wanted)


def _role(of: Subject, ref: HeadRef) -> str:
    role = of.model.roles.get(ref)
    return f" · {role.name}" if role is not None and role.name else ""


def _row(of: Subject) -> int:
    """The token whose next piece is predicted."""
    _, query = choice.chosen(of.model, of.run.trace)
    labels = show.positions(of.run.trace.labels[of.kind])
    st.session_state["predicts"] = query
    st.selectbox(
        "next piece after token",
        range(len(labels)),
        format_func=labels.__getitem__,
        key="predicts",
        on_change=lambda: state.put(query=st.session_state["predicts"]),
    )
    return query


# --- numbers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """A model under both factors: losses in nats a token, and what comes next.

    text, stories: the curve over CURVE   text_at, stories_at: the losses (own, other)
    """

    text: np.ndarray
    stories: np.ndarray
    text_at: np.ndarray
    stories_at: np.ndarray
    predictions: Predictions

    def curves(self) -> list[Curve]:
        """The two curves: of the typed text, and of stories that the model has never seen."""
        return [
            Curve("stories", self.stories, float(self.stories_at[1])),
            Curve("this text", self.text, float(self.text_at[1])),
        ]


def _seen(
    chosen: ModelChoice, text: str, heads: tuple[HeadRef, ...], other: float, row: int
) -> Seen:
    with st.spinner("Running the model under each factor …", show_time=False):
        stories = _curve(chosen, None, heads)
        of_text = _curve(chosen, text, heads)
    text_at, stories_at = (_both(chosen, each, heads, other) for each in (text, None))
    return Seen(
        of_text, stories, text_at, stories_at, _predictions(chosen, text, heads, other, row)
    )


@remembered
def _curve(chosen: ModelChoice, text: str | None, heads: tuple[HeadRef, ...]) -> np.ndarray:
    model = cache.model(chosen)
    return scales.loss_curve(model, _texts(model, text), heads)


@remembered
def _both(
    chosen: ModelChoice, text: str | None, heads: tuple[HeadRef, ...], other: float
) -> np.ndarray:
    model = cache.model(chosen)
    ids = _texts(model, text)
    return np.array(
        [scales.mean_loss(model, ids, scales.multiplied(each, heads)) for each in (1.0, other)]
    )


@remembered
def _predictions(
    chosen: ModelChoice, text: str, heads: tuple[HeadRef, ...], other: float, row: int
) -> Predictions:
    """The likeliest pieces of both runs, most likely under its own factor first."""
    model = cache.model(chosen)
    own, changed = (
        model.trace(text, edits=scales.multiplied(each, heads)).logits[row].double().softmax(-1)
        for each in (1.0, other)
    )
    best = [*own.topk(N_PREDICTIONS // 2).indices.tolist()]
    for at in changed.topk(N_PREDICTIONS).indices.tolist():
        if at not in best and len(best) < N_PREDICTIONS:
            best.append(at)
    best.sort(key=lambda at: -float(own[at]))
    pieces = tuple(model.tokenizer.vocabulary[at] for at in best)
    return Predictions(pieces, own[best].numpy(), changed[best].numpy())


def _texts(model: LanguageModel, text: str | None) -> list[list[int]]:
    """The ids of the typed text, or those of the stories."""
    return [model.ids(text)] if text is not None else _stories(model)


def _stories(model: LanguageModel) -> list[list[int]]:
    from model.evaluate import ids_of

    return [ids_of(model.tokenizer, story) for story in _held_out(model.info.n_ctx - 1)]


@once
def _held_out(n_pieces: int) -> tuple:
    from model.languages import english

    rng = random.Random("scaling")
    return tuple(english.story(rng, n_pieces, "held_out") for _ in range(N_STORIES))


def what_to_notice(seen: Seen, other: float, unscaled_at: float, word: str) -> str:
    """Where the curve is lowest, what the other factor costs, and what it predicts."""
    predictions = seen.predictions
    before, after = (
        predictions.pieces[int(values.argmax())] for values in (predictions.own, predictions.other)
    )
    lowest = _where_lowest(seen.stories)
    if other == 1:
        return f"{lowest} After {token(word)} it predicts {token(before)}."
    factor = "unscaled" if other == unscaled_at else f"at {other:.3g} times its own"
    instead = (
        f"still predicts {token(before)}"
        if before == after
        else f"predicts {token(after)} instead of {token(before)}"
    )
    (own, changed), (own_here, changed_here) = seen.stories_at, seen.text_at
    return (
        f"{lowest} With its own it is {scaled(float(own), '.2f')} nats a token "
        f"({own_here:.2f} on this text), {factor} {unscaled(float(changed), '.2f')} "
        f"({changed_here:.2f}); after {token(word)} the model then {instead}."
    )


def _where_lowest(losses: np.ndarray) -> str:
    """The factor of the smallest loss on stories, if the factor matters at all."""
    if np.ptp(losses) < FLAT:
        return (
            "The factor hardly matters here: from 1/16 to 64 times its own, the loss on stories "
            f"changes by {np.ptp(losses):.2f} nats."
        )
    best = CURVE[int(losses.argmin())]
    if best == 1:
        return "The loss on unseen stories is lowest at the model’s own factor."
    return f"The loss on unseen stories is lowest at {best:.3g} times its own factor."


SECTION = Section(
    "whole",
    "The whole model",
    "Can a trained model do without it?",
    draw,
    {**TIMES, "in_heads": state.Field("", str)},
)
