"""What the sections on a real model look at: which model, which text, which factor on q·k."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from model import scales
from model.language_model import LanguageModel
from model.scales import NAMES, UNSCALED
from model.zoo import names
from viz import cache, show, state
from viz.choice import model_choice, run_text
from viz.examples import EXAMPLES
from viz.theme import visible

TIMES = {"times": state.Field(UNSCALED, state.one_of(NAMES))}
_SHOWN = 30  # characters of the text on its button


@dataclass(frozen=True)
class Subject:
    """A model with a text that it has read."""

    model: LanguageModel
    run: cache.Run

    @property
    def kind(self) -> str:
        """The kind of attention that is looked at: the first that the model has."""
        return self.run.trace.kinds[0]


def subject() -> Subject | None:
    """The chosen model and text, with the control that changes them; None if nothing can be run."""
    text = visible(state.get("text"))
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    escaped = "".join("\\" + c if c in "\\`*_{}[]()<>#+-.!|$:~&" else c for c in shown)
    with show.popover(f"{state.get('model')}: “{escaped}”", "subject", ":material/edit:") as opened:
        if opened:
            st.radio("Model", names(), horizontal=True, **state.widget("model"))
            st.text_area("Text", height=110, width=420, **state.widget("text"))
            for example in EXAMPLES:
                st.button(
                    example.text,
                    key=f"take-{example.title}",
                    type="tertiary",
                    on_click=lambda text=example.text: state.put(text=text, query=None),
                )
    choice = model_choice()
    run = run_text(choice)
    return None if run is None else Subject(cache.model(choice), run)


def other_factor(scale: float, d_k: int, query_scale: float = 1.0) -> str:
    """The control of the other factor on q·k; returns its name, one of scales.NAMES."""
    own = (scale, d_k, query_scale)
    values = scales.factors(*own)
    written = scales.names_of(values)
    state.fill(times=scales.shown_name(state.get("times"), *own))
    st.select_slider(
        "another factor on $q\\cdot k$",
        list(values),
        format_func=written.get,
        **state.widget("times"),
    )
    return state.get("times")
