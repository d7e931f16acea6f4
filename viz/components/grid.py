"""The grid of all heads: one thumbnail a head, layers down, heads across."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from viz.components import pack, register, when

_HTML = '<div class="grid" role="listbox" aria-label="Heads"></div>'


def grid(
    key: str,
    *,
    tiles: np.ndarray,
    names: Sequence[Sequence[tuple[str | None, float]]],
    layer: int,
    head: int,
    on_head: Callable[[int, int], None],
) -> None:
    """All heads as thumbnails with their names; a click or the arrow keys choose one.

    `tiles` is uint8 (n_layers, n_heads, rows, columns): 0 is a cell that does not exist (masked),
    1 to 255 are weights from 0 to 1 (`weights_to_tiles`). Any number of rows and columns is
    drawn; about 32 is enough. `names[layer][head]` is (role or None, score from 0 to 1).
    `on_head` gets (layer, head).
    """
    register("grid", _HTML)(
        key=key,
        data=pack(
            {
                "names": [[[name, float(score)] for name, score in row] for row in names],
                "layer": int(layer),
                "head": int(head),
            },
            tiles=tiles,
        ),
        on_head_change=when(key, "head", on_head),
    )


def weights_to_tiles(weights: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Weights from 0 to 1 as the `tiles` of `grid`: 1 + 254 · weight, and 0 where not `visible`.

    `visible` is boolean and broadcast against `weights`. A NaN weight (a head that does not
    exist) is a cell that does not exist.
    """
    shown = np.isfinite(weights) & visible
    levels = 1 + np.round(254 * np.clip(np.where(shown, weights, 0), 0, 1))
    return np.where(shown, levels, 0).astype(np.uint8)
