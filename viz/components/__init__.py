"""The few browser components, each a Python function beside its JavaScript and CSS.

A component is a Streamlit Components v2 module `NAME.js` (with `NAME.css`), registered once by
`register` and called by the one public function of `NAME.py`. `common.js` and `common.css` stand
in front of each, and so do both palettes: a component follows a change of theme by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from viz import state
from viz.theme import DARK, LIGHT

_HERE = Path(__file__).parent
_DTYPES = {"uint8", "uint16", "float32"}


@cache
def register(name: str, html: str, *before: str, isolated: bool = True) -> Callable[..., Any]:
    """Register the component `NAME.js` + `NAME.css` and return the function that mounts it.

    before: names of further JavaScript files, where one would be too long; they stand in front.
    A component that is not `isolated` lives in the page instead of a shadow root of its own, and
    gets no `common.css`, whose rules would reach everything.
    """
    palettes = json.dumps({"light": asdict(LIGHT), "dark": asdict(DARK)})
    scripts = [_read(f"{part}.js") for part in ("common", *before, name)]
    return st.components.v2.component(
        f"headlight_{name}",
        html=html,
        css=(_read("common.css") if isolated else "") + _read(f"{name}.css"),
        js="\n".join([f"const PALETTES = {palettes};", *scripts]),
        isolate_styles=isolated,
    )


def pack(values: Mapping[str, Any], **arrays: np.ndarray) -> bytes:
    """JSON values and arrays as one block of bytes, which `unpack` in common.js takes apart.

    Streamlit sends bytes as they are only if they are all of a component's data; anything else
    is written as JSON text, several times the size. Layout: the header's length (4 bytes, little
    endian); the header (JSON: the values, and the arrays' names, types, shapes and offsets); the
    arrays in C order. The arrays start at the first multiple of 8 after the header, offsets count
    from there, and each is a multiple of 8. Types: uint8, uint16, float32.
    """
    layout, blocks, offset = [], [], 0
    for name, array in arrays.items():
        if array.dtype.name not in _DTYPES:
            raise TypeError(f"{name} is {array.dtype.name}, but only {sorted(_DTYPES)} can be sent")
        block = np.ascontiguousarray(array).tobytes()
        blocks.append(block + bytes(-len(block) % 8))
        layout.append([name, array.dtype.name, list(array.shape), offset])
        offset += len(blocks[-1])
    header = json.dumps({"json": values, "arrays": layout}).encode()
    header += b" " * (-(4 + len(header)) % 8)
    return b"".join([len(header).to_bytes(4, "little"), header, *blocks])


def weights_to_uint16(weights: np.ndarray) -> np.ndarray:
    """Weights from 0 to 1 in steps of 1/65,535: two decimals stay right, at half of float32."""
    return np.round(np.clip(weights, 0, 1) * 65535).astype(np.uint16)


def when(key: str, event: str, handler: Callable[..., None] | None) -> Callable[[], None] | None:
    """A Streamlit callback that hands the value of a component's trigger to `handler`.

    None for no handler. A list is spread over the handler's parameters.
    """
    if handler is None:
        return None

    def fire() -> None:
        # A trigger may arrive after the component has left the page, and its state with it.
        value = st.session_state.get(key, {}).get(event)
        if value is not None:
            state.touch()
            handler(*value) if isinstance(value, list) else handler(value)

    return fire


def _read(name: str) -> str:
    return (_HERE / name).read_text("utf-8")
