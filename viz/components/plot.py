"""A Plotly figure that is updated in place: zoom, hover and clicks survive every rerun."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from plotly.utils import PlotlyJSONEncoder

from viz.components import pack, register, when

_HTML = '<div class="headlight-plot"></div>'


def plot(
    key: str,
    *,
    figure: go.Figure | Mapping[str, Any],
    alt: str,
    height_css: str = "450px",
    on_click: Callable[[int, int], None] | None = None,
    row_frame: Mapping[str, Any] | None = None,
    shows: Sequence[int] = (),
    eager: bool = False,
    dark: bool | None = None,
    on_theme: Callable[[str], None] | None = None,
) -> None:
    """Show a figure with Plotly.react, so that the picture is never mounted anew.

    `figure` is a Plotly figure or the same as plain data, `alt` what it shows, in words.
    `height_css` is any CSS length. `on_click` gets (row, column) of a clicked heatmap cell.
    `row_frame` = {"query": row, "causal": bool} draws a frame around a row of a heatmap, up to
    the diagonal if causal; it follows the pointer here and in the other components. `shows` is the
    (layer, head) of a map that is previewed when another one is chosen among the thumbnails.
    `eager`: a changed figure is drawn at once, not after what else has changed on the page.
    `on_theme` is told "light" or "dark" when the browser's theme is not the one that `dark` says:
    Streamlit itself does not rerun then.

    `st.plotly_chart` mounts a changed figure anew, which loses the zoom, and reports no clicks on
    heatmaps. This component drives the same Plotly, which Streamlit defines as `window.Plotly`
    once a chart of its own has loaded: hence the hidden empty one. That is not documented, so
    where no Plotly appears within twenty seconds, Streamlit's own chart takes over. Plotly keeps
    the browser busy for a second or two, so it is loaded only when the component asks for it, when
    what stands above the figure has been on the screen for a frame.
    """
    asked = st.session_state.get(f"{key}:asked", False)
    if asked:
        with st.container(key=f"{key}-loader"):
            _load_plotly()
    if st.session_state.get(f"{key}:stock"):
        st.plotly_chart(figure, key=f"{key}-stock", theme=None, alt=alt, config=_QUIET)
        return

    def load(_: bool) -> None:
        st.session_state[f"{key}:asked"] = True

    def fall_back(_: bool) -> None:
        st.session_state[f"{key}:stock"] = True

    spec = _spec(figure)
    header = {
        "key": key,
        "alt": alt,
        "height": height_css,
        "clickable": on_click is not None,
        "frame": None if row_frame is None else dict(row_frame),
        "signature": zlib.crc32(spec),
        "loading": asked,
        "shows": list(shows),
        "dark": dark,
        "eager": eager,
    }
    register("plot", _HTML, "notes", isolated=False)(
        key=key,
        data=pack(header, spec=np.frombuffer(spec, np.uint8)),
        on_cell_change=when(key, "cell", on_click or (lambda row, column: None)),
        on_load_change=when(key, "load", load),
        on_theme_change=when(key, "theme", on_theme or (lambda name: None)),
        on_stock_change=when(key, "stock", fall_back),
    )


_QUIET = {"displayModeBar": False}


@st.cache_data(show_spinner=False)
def _load_plotly() -> None:
    """An empty chart. Cached: checking a figure takes Streamlit longer than our own pictures do."""
    hidden = {"visible": False}
    layout = {"xaxis": hidden, "yaxis": hidden, "margin": dict.fromkeys("lrtb", 0)}
    nothing = go.Figure({"data": [{"type": "scatter"}], "layout": layout})
    st.plotly_chart(nothing, width=10, height=10, config=_QUIET)


def _typed(values: np.ndarray) -> dict[str, str]:
    """A matrix in the form that Plotly reads without going through text."""
    return {
        "dtype": values.dtype.str.lstrip("<|"),
        "bdata": b64encode(np.ascontiguousarray(values).tobytes()).decode(),
        "shape": ", ".join(map(str, values.shape)),
    }


def _spec(figure: go.Figure | Mapping[str, Any]) -> bytes:
    """The figure as JSON, less what the browser makes from a heatmap's `meta` by itself."""
    plain = figure.to_dict() if isinstance(figure, go.Figure) else figure
    traces = [dict(trace) for trace in plain["data"]]
    for trace in traces:
        if "rows" in (trace.get("meta") or {}):
            trace.pop("customdata", None)
        if isinstance(trace.get("z"), np.ndarray):
            trace["z"] = _typed(trace["z"])
    text = json.dumps({"data": traces, "layout": plain["layout"]}, cls=PlotlyJSONEncoder)
    return text.encode()
