"""The buttons that save a picture as PNG or SVG, made in the browser."""

from __future__ import annotations

from viz.components import register

_HTML = """
<div class="buttons">
  <button type="button" data-format="png">PNG</button>
  <button type="button" data-format="svg">SVG</button>
</div>
<p class="status" role="status"></p>
"""


def picture_buttons(key: str, *, picture: str, filename: str) -> None:
    """Two buttons that save the picture of the element with the key `picture`.

    An `<svg class="headlight">` in it, shadow roots included, is written as it stands on the
    screen, at twice its size as PNG. For a Plotly figure (`.headlight-plot`) the buttons send the
    window event "hl-export" with `{key, format, filename, scale}`, key being the figure's own.
    """
    mount = register("export", html=_HTML)
    mount(key=key, data={"key": picture, "filename": filename})
