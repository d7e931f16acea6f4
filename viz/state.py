"""What is being looked at: kept in one place, read from the address once, and written back to it.

A view is a handful of named values, its page's fields: `FIELDS` are those of the Heads page, and
pages share fields by sharing names, so that a model or a text is still there on the next page. They
are kept under keys of their own rather than under those of widgets, because Streamlit forgets a
widget's value on the first page without it; `widget` ties a widget to a field. Clicks in pictures
call `put`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import streamlit as st

from model import zoo
from model.config import NORMS
from model.positions import SCHEMES

# What a browser and a mail program carry without cutting; longer text stays out of the link.
MAX_LINK_TEXT = 2_000
OPENING_TEXT = "The keys to the old cabinet are rusty."
VIEWS = ("Map", "Lines", "Stages")
ROW_NAMES = ("token read", "token predicted")
_NOT_CHOSEN = None  # the page decides, by what the model's heads were measured to do


@dataclass(frozen=True)
class Field:
    """One value of a view. `read` turns the address's text into it, or raises ValueError."""

    default: Any
    read: Callable[[str], Any]


def one_of(options: Collection[str] | Callable[[], Collection[str]]) -> Callable[[str], str]:
    """A reader that takes only the given words."""

    def read(text: str) -> str:
        allowed = options() if callable(options) else options
        if text not in allowed:
            raise ValueError(f"is not one of {', '.join(allowed)}")
        return text

    return read


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers within bounds."""

    def read(text: str) -> int:
        limit = f"from {least} to {most}" if most is not None else f"of {least} or more"
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise ValueError(f"is not a whole number {limit}")
        number = int(text)
        if number < least or (most is not None and number > most):
            raise ValueError(f"is not a number {limit}")
        return number

    return read


def one_of_numbers(options: Collection[float]) -> Callable[[str], float]:
    """A reader that takes only the given numbers, however they are written."""

    def read(text: str) -> float:
        with suppress(ValueError):
            number = float(text) if len(text) < 20 else math.nan
            for option in options:
                if option == number:
                    return option
        raise ValueError(f"is not one of {', '.join(f'{option:g}' for option in options)}")

    return read


BLANK_RANGES = {"layers": (1, 12), "heads": (1, 16), "d_model": (16, 512), "d_k": (1, 256)}

FIELDS: Mapping[str, Field] = {
    "model": Field("writer", one_of(zoo.names)),
    "text": Field(OPENING_TEXT, str),
    "layer": Field(_NOT_CHOSEN, whole(0)),
    "head": Field(_NOT_CHOSEN, whole(0)),
    "query": Field(_NOT_CHOSEN, whole(0)),
    "view": Field("Map", one_of(VIEWS)),
    "rows": Field("token read", one_of(ROW_NAMES)),
    # The shape of the blank model.
    "layers": Field(4, whole(*BLANK_RANGES["layers"])),
    "heads": Field(4, whole(*BLANK_RANGES["heads"])),
    "d_model": Field(128, whole(*BLANK_RANGES["d_model"])),
    "d_k": Field(32, whole(*BLANK_RANGES["d_k"])),
    "positions": Field("learned", one_of(SCHEMES)),
    "norm": Field("pre", one_of(NORMS)),
    "scale": Field("on", one_of(("on", "off"))),
    "seed": Field(0, whole(0, 9999)),
}
_ALWAYS_IN_LINK = ("model", "text", "layer", "head", "query")
# Beside the fields, a session keeps these:
_ADDRESS = "address"  # what the address bar shows, as far as is known here
_PAGE = "page"  # whose fields that address holds
_CAME_WITH = "came with"  # the fields with which the last page without an address was come to
_TOUCHED = "touched"  # whether a person's act is what the coming run answers
_UNTOLD = "untold text"  # the last text that was too long for its address, after that address


def get(name: str) -> Any:
    """The present value of a field."""
    return st.session_state[f"view.{name}"]


def put(**values: Any) -> None:
    """Sets fields in a callback, in answer to what a person did."""
    touch()
    fill(**values)


def fill(**values: Any) -> None:
    """Sets fields during a run, before the widgets that show them are drawn."""
    for name, value in values.items():
        st.session_state[f"view.{name}"] = value


def touch() -> None:
    """Says that this run answers something a person did on the page (see `open_link`)."""
    st.session_state[_TOUCHED] = True


def widget(name: str) -> dict[str, Any]:
    """The key and callback that tie a widget to a field: `st.slider(…, **state.widget("d_k"))`."""
    st.session_state[name] = get(name)
    return {"key": name, "on_change": _take_from_widget, "args": (name,)}


def open_link(page: str, fields: Mapping[str, Field] = FIELDS) -> None:
    """Takes the view from the address: at first, and when Back or Forward has changed it.

    What cannot be meant falls back to the default and becomes a note. A run that follows a click
    may still carry the address from before the last one, so it never counts as Back. A page that is
    come to by the navigation finds the address empty, and all fields as they were left; that is
    also what Back to such an address shows.
    """
    touched = st.session_state.pop(_TOUCHED, False)
    fill(**{n: field.default for n, field in fields.items() if f"view.{n}" not in st.session_state})
    given = st.query_params.to_dict()
    arrived = st.session_state.get(_PAGE) != page
    st.session_state[_PAGE] = page
    if arrived and not given:
        st.session_state[_CAME_WITH] = {name: get(name) for name in fields}
    elif arrived or not (touched or given == st.session_state.get(_ADDRESS)):
        _read(given, fields)


def _read(given: Mapping[str, str], fields: Mapping[str, Field]) -> None:
    came_with = {} if given else st.session_state.get(_CAME_WITH, {})
    fill(**{name: came_with.get(name, field.default) for name, field in fields.items()})
    address, text = st.session_state.get(_UNTOLD, (None, ""))
    if given == address:
        fill(text=text)
    for name in fields.keys() & given.keys():
        try:
            fill(**{name: fields[name].read(given[name])})
        except ValueError as error:
            note(f"In the link, {name} “{given[name][:40]}” {error}.")


def note(sentence: str) -> None:
    """Leaves a sentence to be shown, quietly and once, where the page shows its notes."""
    st.session_state.setdefault("notes", []).append(sentence)


def take_notes() -> list[str]:
    """The sentences left since last time."""
    return st.session_state.pop("notes", [])


def text_fits_link(encoded_text: str) -> bool:
    """Whether a text, percent-encoded, is short enough to travel in a link."""
    return len(encoded_text) <= MAX_LINK_TEXT


def text_travels() -> bool:
    """Whether the text is short enough to stand in the address, and can be written there at all."""
    try:
        return text_fits_link(quote(get("text")))
    except UnicodeEncodeError:  # half a character
        return False


def publish(fields: Mapping[str, Field] = FIELDS) -> str:
    """Writes the view into the browser's address bar and returns it as a link.

    In a run that answers Back, Streamlit replaces the address where it stands. Ends a run as far as
    fields go: what a person touched has been answered, also where a fragment alone ran again.
    """
    st.session_state.pop(_TOUCHED, None)
    values = {
        name: str(get(name))
        for name, field in fields.items()
        if get(name) is not None and (name in _ALWAYS_IN_LINK or get(name) != field.default)
    }
    if not text_travels():
        text = values.pop("text")
        st.session_state[_UNTOLD] = (values, text)
    if st.query_params.to_dict() != values:
        st.query_params.from_dict(values)
    st.session_state[_ADDRESS] = values
    return f"{(st.context.url or '').split('?')[0]}?{urlencode(values, quote_via=quote)}"


def _take_from_widget(name: str) -> None:
    put(**{name: st.session_state[name]})
