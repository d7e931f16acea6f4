"""The controls that several sections of the Scaling page share, and their fields."""

from __future__ import annotations

import streamlit as st

from model.scaling import D_KS, ENTRIES, N_KEYS
from viz import state

DK = {"dk": state.Field(64, state.one_of_numbers(D_KS))}
KEYS = {"keys": state.Field(12, state.one_of_numbers(N_KEYS))}
DRAW = {"draw": state.Field(7, state.whole(0, 9999))}
DRAWN_FROM = {"entries": state.Field("normal", state.one_of(ENTRIES))}


def d_k() -> int:
    """The control of d_k, on a logarithmic scale."""
    st.select_slider(
        "dimensions per head, $d_k$", D_KS, format_func="{:,}".format, **state.widget("dk")
    )
    return state.get("dk")


def n_keys() -> int:
    """The control of the number of keys."""
    st.select_slider("keys, $n$", N_KEYS, **state.widget("keys"))
    return state.get("keys")


def entries() -> str:
    """The control of what the entries of q and k are drawn from."""
    st.selectbox(
        "entries of q and k",
        list(ENTRIES),
        format_func=lambda name: ENTRIES[name].title,
        **state.widget("entries"),
    )
    return state.get("entries")
