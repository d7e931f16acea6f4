"""What teaching pages have in common: sections as tabs, each a question, controls, one picture, and
a sentence computed from what is on the screen.

A page is a tuple of `Section`s and one call of `show_sections`. Only the chosen section runs, and
it runs as a fragment: a control moved in it does not draw the rest of the page again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from viz import show, state
from viz.components.plot import plot
from viz.notice import percent
from viz.pages import Page
from viz.theme import Palette, escape, page_css, palette, typeset

if TYPE_CHECKING:  # imported only when a table is opened
    import pandas as pd

PICTURE = "section-picture"
PICTURE_HEIGHT = "calc(100dvh - var(--hl-around-picture))"


@dataclass(frozen=True)
class Numbers:
    """What stands behind the picture of a section: for its Table, Export and Code."""

    table: Callable[[], pd.DataFrame]
    arrays: Callable[[], Mapping[str, np.ndarray | Sequence[str]]]
    code: Sequence[Callable | type] = ()


@dataclass(frozen=True)
class Section:
    """One question of a page, under a tab.

    name: in the address   title: on the tab   draw: draws controls, picture and notice, and returns
    the numbers behind them; None where there is no picture   fields: of the view, by name, beside
    those of the Heads page
    """

    name: str
    title: str
    question: str
    draw: Callable[[Palette], Numbers | None]
    fields: Mapping[str, state.Field] = field(default_factory=dict)


def show_sections(about: Page, sections: Sequence[Section]) -> None:
    """Draws a page of sections: the tabs, the chosen section, its tools."""
    colours = palette(st.context.theme.type == "dark")
    st.html(f"<style>{page_css(colours)}</style>")
    fields = fields_of(sections)
    state.open_link(about.name, fields)
    titles = {section.name: section.title for section in sections}
    with st.container(key="tabs", horizontal=True, horizontal_alignment="distribute"):
        st.segmented_control(
            "Section",
            list(titles),
            format_func=titles.get,
            label_visibility="collapsed",
            required=True,
            **state.widget("section"),
        )
        beside_the_tabs = st.container(key="tab-tools", width="content")
    chosen = next(section for section in sections if section.name == state.get("section"))
    told: list[tuple[Numbers | None, str]] = []
    _section(chosen, fields, told)
    for numbers, link in told:
        if numbers is not None:
            with beside_the_tabs:
                _tools(about, chosen, numbers, link)


def fields_of(sections: Sequence[Section]) -> dict[str, state.Field]:
    """All fields of a page: those of its sections and which of these is open."""
    names = [section.name for section in sections]
    fields = {**state.FIELDS, "section": state.Field(names[0], state.one_of(names))}
    for section in sections:
        fields |= section.fields
    return fields


@st.fragment
def _section(
    section: Section, fields: Mapping[str, state.Field], told: list[tuple[Numbers | None, str]]
) -> None:
    """The chosen section. `told` gets its numbers and the link: in a run of the whole page they go
    to the tools, which stand outside; when a control in here moves, the tools are left as they are,
    and opening one runs the whole page.
    """
    if st.session_state.pop("theme changed", False):
        st.rerun(scope="app")  # the colours of the page lie outside this fragment
    colours = palette(st.context.theme.type == "dark")
    with st.container(key="lesson"):
        st.html(f"<h1 class='hl-section-question'>{typeset(escape(section.question))}</h1>")
        numbers = section.draw(colours)
    notes = state.take_notes()
    if notes:
        st.html(f"<p class='hl-notes' role='status'>{' '.join(map(escape, notes))}</p>")
    told.append((numbers, state.publish(fields)))


def _tools(about: Page, section: Section, numbers: Numbers, link: str) -> None:
    show.tools(
        "tools",
        picture=PICTURE,
        filename=f"headlight-{about.name}-{section.name}",
        table=numbers.table,
        arrays=numbers.arrays,
        code=numbers.code,
        link=link,
        text_travels=state.text_travels(),
    )


# --- the parts of a section -----------------------------------------------------------------------


def beside(share: float = 0.26) -> Sequence[st.delta_generator.DeltaGenerator]:
    """Two columns: controls at the left, the picture and what to notice at the right."""
    return st.columns([share, 1 - share], gap="medium")


def lead(html: str) -> None:
    """One or two sentences above the controls. Only our own words: `html` is markup."""
    st.html(f"<p class='hl-lead'>{typeset(html)}</p>")


def formula(*lines: str) -> None:
    """Formulas in KaTeX, one below the other, at the left.

    Those that change with a control are best a call of their own: to typeset one formula takes the
    browser as long as to draw a quarter of a figure.
    """
    st.markdown("\n\n".join(rf"$\displaystyle {line}$" for line in lines))


def picture(figure: Mapping, alt: str, **options: object) -> None:
    """The one picture of a section."""
    plot(
        PICTURE,
        figure=figure,
        alt=alt,
        height_css=PICTURE_HEIGHT,
        eager=True,
        dark=st.context.theme.type == "dark",
        on_theme=lambda name: _new_theme(),
        **options,
    )


def notice(*sentences: str) -> None:
    """What to notice, below the picture. Markup: whatever comes from a text is escaped by then."""
    text = " ".join(sentence for sentence in sentences if sentence)
    st.html(f"<p class='hl-say' aria-live='polite'>{typeset(text)}</p>")


def scaled(value: float, form: str = "", unit: str = "") -> str:
    """A number of the scaled case in its colour, as `number` writes it, with a unit."""
    return f"<b class='scaled'>{number(value, form)}{unit}</b>"


def unscaled(value: float, form: str = "", unit: str = "") -> str:
    """A number of the unscaled case in its colour, as `number` writes it, with a unit."""
    return f"<b class='unscaled'>{number(value, form)}{unit}</b>"


def number(value: float, form: str = "") -> str:
    """A number within a sentence, its minus as long as its plus; a share in per cent for "%"."""
    return percent(value) if form == "%" else format(value, form).replace("-", "−")


def draw_again(name: str = "draw") -> None:
    """The button that draws other random numbers; which ones stands in the address."""
    st.button(
        "Draw again",
        key=f"{name}-again",
        icon=":material/casino:",
        type="tertiary",
        on_click=lambda: state.put(**{name: (state.get(name) + 1) % 10_000}),
    )


def _new_theme() -> None:
    st.session_state["theme changed"] = True
    state.touch()
