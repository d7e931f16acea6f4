"""The sentence: a field to type in, and its tokens as chips under it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from viz.components import pack, register, weights_to_uint16, when

_HTML = """
<div class="sentence">
  <div class="field">
    <label class="unseen" for="text">Sentence</label>
    <div class="paper"><textarea id="text" rows="1" maxlength="100000" spellcheck="false"
      dir="auto" autocomplete="off" placeholder="Type a sentence"></textarea></div>
    <span class="hint" role="status"></span>
  </div>
  <div class="scroller"><div class="stage"><svg aria-hidden="true"></svg>
    <div class="chips" role="listbox" aria-orientation="horizontal"
      aria-label="Tokens: choose the one that looks"></div></div></div>
</div>
"""


def sentence(
    key: str,
    *,
    text: str,
    labels: Sequence[str],
    marks: Sequence[str],
    weights: np.ndarray | None,
    mask: np.ndarray | None,
    query: int,
    dark: bool,
    on_text: Callable[[str], None],
    on_query: Callable[[int], None],
    on_theme: Callable[[str], None] | None = None,
    unknown_hint: str = "",
    notice: str = "",
) -> None:
    """A text field that applies as one types, and one chip a token with the chosen row's weights.

    `labels` and `marks` ("", "special", "unknown", "continued") have one entry a token, `weights`
    and `mask` (True = may attend) are (n, n), rows are queries. No labels: the field alone.
    `text` must be what `on_text` was given last, or a text that replaces it, such as an example;
    anything else than the former is put into the field. `unknown_hint` stands beside the field
    when a token is marked as unknown, `notice` always. `on_theme` is told "light" or "dark" when
    the browser's theme is not the one that `dark` says: Streamlit itself does not rerun then.
    """
    none = np.zeros((0, 0))
    header = {
        "text": text,
        "revision": _revision(key, text),
        "labels": list(labels),
        "marks": list(marks),
        "query": int(query),
        "dark": bool(dark),
        "hint": " · ".join(filter(None, [notice, unknown_hint if "unknown" in marks else ""])),
    }

    def typed(new_text: str) -> None:
        st.session_state[_known(key)] = (new_text, st.session_state[_known(key)][1])
        on_text(new_text)

    register("sentence", _HTML)(
        key=key,
        data=pack(
            header,
            weights=weights_to_uint16(none if weights is None else weights),
            mask=(none if mask is None else mask).astype(np.uint8),
        ),
        on_text_change=when(key, "text", typed),
        on_query_change=when(key, "query", on_query),
        on_theme_change=when(key, "theme", on_theme or (lambda name: None)),
    )


def _revision(key: str, text: str) -> int:
    """Counts the texts that did not come from the field itself.

    The browser takes a text over only when this number changes, so that a slow rerun can never
    overwrite what is being typed with what was typed before.
    """
    known, revision = st.session_state.get(_known(key), (text, 0))
    revision += text != known
    st.session_state[_known(key)] = (text, revision)
    return revision


def _known(key: str) -> str:
    return f"{key}:known"
