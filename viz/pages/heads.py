"""Heads, the first page: every head at work on a sentence, one of them in full."""

from __future__ import annotations

from contextlib import nullcontext

import streamlit as st

from model import measures
from model.attention import attend, attention_scores, attention_weights
from model.config import NORMS
from model.errors import HeadlightError
from model.language_model import LanguageModel
from model.positions import SCHEMES
from model.roles import ROLES
from model.trace import HeadRef, HeadView, Trace
from model.zoo import names
from viz import cache, notice, show, state
from viz.choice import chosen, model_choice, run_text, use_example, view_of
from viz.components.grid import grid
from viz.components.sentence import sentence
from viz.examples import EXAMPLES
from viz.pages import Page
from viz.pages.head_views import VIEWS
from viz.theme import Palette, escape, page_css, palette

N_PREDICTIONS = 5
N_GUESSES = 3  # of an untrained model, whose predictions are all alike


def page(about: Page) -> None:
    """Draws the page: the sentence, the grid of heads, the chosen head, what to notice."""
    colours = palette(st.context.theme.type == "dark")
    st.html(f"<style>{page_css(colours)}</style>")
    state.open_link(about.name)
    choice = model_choice()
    try:
        with st.spinner("Building the model …") if choice.config else nullcontext():
            model = cache.model(choice)
    except HeadlightError as error:
        st.html(f"<p>{escape(str(error))}</p>")
        return
    with st.container(key="hero"):
        _top_row(about.question, choice, model)
        if choice.config is not None:
            _blank_controls()
    run = run_text(choice)
    ref, query = chosen(model, run.trace) if run is not None else (None, 0)
    view = view_of(run, ref) if run is not None else None
    _sentence(run.trace if view is not None else None, view, query, model, colours)
    link = state.publish()
    if view is None:
        return
    with st.container(key="main"):
        left, middle, right = st.columns([412, 530, 232], gap="medium")
        with left:
            _grid(run, model, ref)
        with middle:
            _picture(model, run, view, query, colours)
        with right:
            _what_to_notice(model, run, view, query)
            _tools(run, view, query, link)


# --- the parts of the page ----------------------------------------------------------------------


def _top_row(question: str, choice: cache.ModelChoice, model: LanguageModel) -> None:
    with st.container(key="top", horizontal=True, vertical_alignment="center"):
        st.html(f"<h1 class='hl-question'>{escape(question)}</h1>")
        with show.popover("Examples", "examples", ":material/format_quote:") as opened:
            if opened:
                _examples(model)
        (kind,) = model.info.kinds
        size = f"{model.info.n_layers[kind]} layers × {model.info.n_heads[kind]} heads"
        with show.popover(f"{choice.name} · {size}", "models", ":material/layers:") as opened:
            if opened:
                st.radio("Model", names(), captions=_model_captions(), **state.widget("model"))


def _examples(model: LanguageModel) -> None:
    for example in EXAMPLES:
        st.button(
            f"**{example.title}** · {example.text}",
            key=f"example-{example.title}",
            on_click=use_example,
            args=(example, model),
            type="tertiary",
        )


def _model_captions() -> list[str]:
    captions = {
        "writer": "decoder trained on a small English; its heads have measured names",
        "blank": "untrained, of any shape: turn layers, heads, d_model and d_k",
    }
    return [captions.get(name, "") for name in names()]


def _blank_controls() -> None:
    """The shape of the blank model, in a row above what it changes."""
    with st.container(key="blank", horizontal=True, vertical_alignment="bottom"):
        for name, title in (
            ("layers", "Layers"),
            ("heads", "Heads"),
            ("d_model", "d_model"),
            ("d_k", "d_k"),
        ):
            least, most = state.BLANK_RANGES[name]
            st.slider(title, least, most, **state.widget(name))
        st.selectbox("Positions", tuple(SCHEMES), **state.widget("positions"))
        st.selectbox("LayerNorm", NORMS, **state.widget("norm"))
        st.segmented_control("÷ √d_k", ("on", "off"), required=True, **state.widget("scale"))
        st.number_input("Seed", 0, 9999, **state.widget("seed"))


def _sentence(
    run: Trace | None, view: HeadView | None, query: int, model: LanguageModel, colours: Palette
) -> None:
    (kind,) = model.info.kinds
    notes = state.take_notes()
    if run is not None and run.cut[kind]:
        notes.append(_what_was_cut(run, kind))
    sentence(
        "sentence",
        text=state.get("text"),
        labels=run.labels[kind] if run is not None else (),
        marks=run.marks[kind] if run is not None else (),
        weights=view.weights if view is not None else None,
        mask=view.mask if view is not None else None,
        query=query,
        dark=colours.dark,
        on_text=lambda text: state.put(text=text, query=None),  # the row follows what is typed
        on_query=lambda row: state.put(query=row),
        on_theme=lambda name: state.touch(),  # a rerun is all that is needed
        unknown_hint="Underlined: not in this model's small English, so read letter by letter.",
        notice=" ".join(notes),
    )


def _what_was_cut(run: Trace, kind: str) -> str:
    rest = run.cut[kind]
    shown = rest.strip()[:24]
    ellipsis = "…" if len(rest.strip()) > 24 else ""
    return (
        f"{run.info.name} reads {run.info.n_ctx} tokens. Left out at the end: {len(rest):,} "
        f"characters, from “{shown}{ellipsis}”."
    )


def _grid(run: cache.Run, model: LanguageModel, ref: HeadRef) -> None:
    grid(
        "grid",
        tiles=run.tiles[ref.kind],
        names=[
            [
                _name_and_score(model, HeadRef(ref.kind, layer, head))
                for head in range(run.trace.n_heads(ref.kind, layer))
            ]
            for layer in range(run.trace.n_layers(ref.kind))
        ],
        layer=ref.layer,
        head=ref.head,
        on_head=lambda layer, head: state.put(layer=layer, head=head),
    )


def _name_and_score(model: LanguageModel, ref: HeadRef) -> tuple[str | None, float]:
    role = model.roles.get(ref)
    return (role.name, role.score) if role is not None and role.name else (None, 0.0)


def _picture(
    model: LanguageModel, run: cache.Run, view: HeadView, query: int, colours: Palette
) -> None:
    with st.container(
        key="title", horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"
    ):
        name, _ = _name_and_score(model, view.ref)
        where = f"Layer {view.ref.layer}, head {view.ref.head}"
        title = (name or "unnamed") if model.roles else where
        st.html(
            f"<h2 class='hl-title'><b>{escape(title)}</b>"
            f"<span>{where if title != where else ''}</span></h2>"
        )
        st.segmented_control(
            "View", state.VIEWS, label_visibility="collapsed", required=True, **state.widget("view")
        )
    with st.container(key="picture"):
        VIEWS[state.get("view")].draw(run, view, query, colours)


def _what_to_notice(model: LanguageModel, run: cache.Run, view: HeadView, query: int) -> None:
    trained = bool(model.roles)
    sentences = notice.notice(view, query, model.roles.get(view.ref), trained)
    st.html(f"<h2 class='hl-section'>What to notice</h2><div class='hl-notice'>{sentences}</div>")
    if trained:
        _role_scores(model, view.ref)
    after = notice.token(view.query_tokens[query])
    st.html(
        f"<h2 class='hl-section'>Next token after {after}</h2>"
        f"{notice.predictions(run.top(query, N_PREDICTIONS if trained else N_GUESSES))}"
    )


def _tools(run: cache.Run, view: HeadView, query: int, link: str) -> None:
    drawn = VIEWS[state.get("view")]
    show.tools(
        "tools",
        picture="picture",
        filename=f"headlight-{run.trace.info.name}-L{view.ref.layer}-H{view.ref.head}-{state.get('view').lower()}",
        table=lambda: drawn.table(view, query),
        csv=lambda: drawn.csv(run, view),
        arrays=lambda: {
            "weights": view.weights,
            "scores": view.scores,
            "raw_scores": view.raw_scores,
            "mask": view.mask,
            "output": view.output,
            "query_tokens": view.query_tokens,
            "key_tokens": view.key_tokens,
        },
        code=(attention_scores, attention_weights, attend, measures.entropy),
        link=link,
        text_travels=state.text_travels(),
    )


def _role_scores(model: LanguageModel, ref: HeadRef) -> None:
    """Every role that this head was tested for, what it means, and how the head did."""
    with show.popover("All role scores", "roles") as opened:
        if not opened:
            return
        scores = model.roles[ref].scores
        st.dataframe(
            {
                "role": list(scores),
                "what it means": [ROLES[role].finds for role in scores],
                "score": [scored.score for scored in scores.values()],
                "if spread evenly": [scored.chance for scored in scores.values()],
                "cases": [scored.n_cases for scored in scores.values()],
            },
            hide_index=True,
            width=640,
            alt=f"Scores of {ref} in every role",
        )
