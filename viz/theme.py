"""Colours, type and the two escapes: everything that decides how Headlight looks.

No other file names a colour. Python reads a `Palette`, the page's style sheet reads the same
values as CSS variables (`page_css`), and the browser components get both palettes once, when
they are registered.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

# The families that ship with Streamlit: nothing is fetched and nothing is added.
SANS = '"Source Sans", sans-serif'
SERIF = '"Source Serif", serif'
MONO = '"Source Code Pro", monospace'

# Okabe and Ito (2008), "Color universal design": seven hues that stay apart for colour-blind
# readers. Yellow comes last because it is weak on paper.
OKABE_ITO = ("#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#D55E00", "#F0E442")


@dataclass(frozen=True)
class Palette:
    """The colours of one theme, as "#RRGGBB".

    `weights` runs from weight 0 to weight 1 in ten steps that look equal (OKLab). It starts at
    `tile`, not at `background`: a weight of 0 is a cell that can be seen, whereas a masked cell
    is not drawn. `signed` runs from the most negative score through `tile` (0) to the most
    positive, in eleven steps. `scaled` and `unscaled` are the same two hues for lines and text.
    """

    name: str
    background: str
    tile: str
    rule: str
    ink: str
    muted: str
    accent: str  # outlines of what is chosen, nothing else
    wash: str  # behind the chosen token
    primary: str  # widgets, prediction bars
    mark: str  # the mark beside the name of the app
    scaled: str
    unscaled: str
    weights: tuple[str, ...]
    signed: tuple[str, ...]
    heads: tuple[str, ...] = OKABE_ITO

    @property
    def dark(self) -> bool:
        return self.name == "dark"


LIGHT = Palette(
    name="light",
    background="#FBFAF7",
    tile="#EFECE4",
    rule="#DEDAD0",
    ink="#1B1F2A",
    muted="#5C6170",
    accent="#C97600",
    wash="#FFF1D6",
    primary="#1E2A78",
    mark="#1B1F2A",
    scaled="#1D63B8",
    unscaled="#B4530A",
    weights=(
        "#EFECE4", "#DDDCDF", "#CBCCDA", "#B9BCD5", "#A8ADCF",
        "#8F97C3", "#707CB1", "#52619E", "#37468B", "#1E2A78",
    ),
    signed=(
        "#2B6CBC", "#5586C6", "#7BA0CF", "#A1B9D7", "#C8D3DE", "#EFECE4",
        "#E7D1BF", "#DEB69A", "#D49A75", "#C97F4F", "#BD6320",
    ),
)  # fmt: skip

DARK = Palette(
    name="dark",
    background="#12141C",
    tile="#1E212D",
    rule="#2B2F3D",
    ink="#ECEAE3",
    muted="#A3A8B8",
    accent="#FFFFFF",
    wash="#2A2E3D",
    primary="#FFD27A",
    mark="#FFD27A",
    scaled="#6CA8FF",
    unscaled="#FF9A4D",
    weights=(
        "#1E212D", "#363131", "#4F4032", "#6A5032", "#86612E",
        "#9F7433", "#B78B44", "#CEA256", "#E6BA68", "#FFD27A",
    ),
    signed=(
        "#4E87DB", "#4571B5", "#3B5C90", "#32476D", "#28344C", "#1E212D",
        "#3F3333", "#624438", "#87563A", "#AE6838", "#D67A33",
    ),
)  # fmt: skip


def palette(dark: bool) -> Palette:
    """The palette of the dark or of the light theme."""
    return DARK if dark else LIGHT


def colorscale(stops: Sequence[str]) -> list[list[float | str]]:
    """Evenly spaced colours as a Plotly colour scale: [[0, first], …, [1, last]]."""
    return [[step / (len(stops) - 1), colour] for step, colour in enumerate(stops)]


# --- token text -------------------------------------------------------------------------------

_SIGNS = {"\n": "⏎", "\t": "⇥", "\r": "␍"}
_UNSEEN = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs"}  # control, format, surrogate, space, …
_JOINERS = {"\u200c", "\u200d"}  # part of a word or of an emoji, as long as they join something


def visible(text: str) -> str:
    """The text with each character that cannot be seen replaced by a sign that can.

    Line ends and tabs become ⏎ ␍ ⇥, spaces at either end ␣, any other white space, control or
    direction mark its code point, such as [U+200B]. A text of nothing is ∅.
    """
    if not text:
        return "∅"
    core = text.strip(" ")
    lead = len(text) - len(text.lstrip(" "))
    trail = len(text) - lead - len(core)
    signs = []
    for at, character in enumerate(core):
        inside = 0 < at < len(core) - 1
        if character in _SIGNS:
            signs.append(_SIGNS[character])
        elif character == " " or (character in _JOINERS and inside):
            signs.append(character)
        elif unicodedata.category(character) in _UNSEEN:
            signs.append(f"[U+{ord(character):04X}]")
        elif at == 0 and _extends(character):
            signs.append("◌" + character)  # a mark alone would sit on its neighbour
        else:
            signs.append(character)
    return "␣" * lead + "".join(signs) + "␣" * trail


_SUBSCRIPT = re.compile(r"\b([dW])_(k|q|v|model)\b")


@lru_cache(4096)
def label(text: str, width: int = 24) -> str:
    """A token as the text of a Plotly figure, literally: the one escape for Plotly.

    Plotly reads tags and entities in ticks, hover labels and annotations, and `$…$` is typeset
    where MathJax is present; all of these are made inert. Cut to `width` columns, never within
    a character that is written with several code points.
    """
    kept = _cut(visible(text), width)
    kept = kept.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return kept.replace("$", "&#36;")


def escape(text: str) -> str:
    """A token as HTML, literally: the one escape for `st.html`."""
    return html.escape(visible(text), quote=True)


def typeset(text: str) -> str:
    """Our own words with d_k, W_q and their like as people write them, in HTML or for Plotly."""
    return _SUBSCRIPT.sub(r"<i>\1</i><sub>\2</sub>", text)


@lru_cache(4096)
def columns(text: str) -> int:
    """The width of `visible(text)` in columns of a monospaced font; CJK and emoji take two."""
    return sum(_cluster_columns(cluster) for cluster in _clusters(visible(text)))


def _cut(text: str, width: int) -> str:
    kept, used = [], 0
    for cluster in _clusters(text):
        used += _cluster_columns(cluster)
        kept.append((cluster, used))
        if used > width:
            return "".join(part for part, end in kept if end <= width - 1) + "…"
    return text


def _clusters(text: str) -> Iterator[str]:
    """Code points grouped into what a reader sees as one character (close to UAX #29)."""
    cluster = ""
    for character in text:
        joined = cluster.endswith("\u200d")
        flag = len(cluster) == 1 and _regional(cluster) and _regional(character)
        if cluster and not (joined or flag or _extends(character)):
            yield cluster
            cluster = ""
        cluster += character
    if cluster:
        yield cluster


def _cluster_columns(cluster: str) -> int:
    wide = unicodedata.east_asian_width(cluster[0]) in "WF" or _regional(cluster[0])
    return 2 if wide else 1


def _extends(character: str) -> bool:
    """Whether a code point belongs to the one before it: marks, joiners, skin tones."""
    skin_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    return skin_tone or character in _JOINERS or unicodedata.category(character).startswith("M")


def _regional(character: str) -> bool:
    """Whether a code point is one of the letters that make flags in pairs."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


# --- the page ---------------------------------------------------------------------------------


@cache
def page_css(colours: Palette) -> str:
    """The style sheet of a page: the palette as `--hl-*` variables, then page.css.

    Streamlit's own `--st-*` variables exist only inside components, so the page needs these.
    """
    tokens = {
        "sans": SANS,
        "serif": SERIF,
        "mono": MONO,
        "background": colours.background,
        "tile": colours.tile,
        "rule": colours.rule,
        "ink": colours.ink,
        "muted": colours.muted,
        "accent": colours.accent,
        "wash": colours.wash,
        "primary": colours.primary,
        "mark": colours.mark,
        "scaled": colours.scaled,
        "unscaled": colours.unscaled,
        "weights": f"linear-gradient(90deg, {', '.join(colours.weights)})",
    }
    variables = "".join(f"--hl-{name}:{value};" for name, value in tokens.items())
    return f":root{{{variables}}}\n" + Path(__file__).with_name("page.css").read_text("utf-8")
