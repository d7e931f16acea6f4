"""Lines: two columns of tokens, what looks and what is looked at, joined by a layer's weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from viz.components import pack, register, when
from viz.theme import visible

_HTML = """
<div class="lines">
  <div class="heads" role="group"></div>
  <div class="columns"><span>looks</span><span>is looked at</span></div>
  <div class="scroller">
    <svg class="headlight" role="figure"></svg>
  </div>
</div>
"""
_MASKED = 255  # a byte that no weight takes; weights are sent as 0 … 254


def lines(
    key: str,
    *,
    weights: np.ndarray,
    mask: np.ndarray,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    layer: int,
    head: int,
    query: int,
    on_query: Callable[[int], None],
    same_tokens: bool = True,
) -> None:
    """One layer's attention as curves from each token that looks to the tokens it looks at.

    weights: (n_heads, n_query, n_key), 0 … 1, for which steps of 1/254 are sent: finer than a
    width or an opacity can show.   mask: (n_query, n_key), True = may attend.   head: the one
    shown at first; the others of the layer are switched on in the picture.   query: the chosen
    row.   on_query: called with the row that a person chose.   same_tokens: False where keys are
    other tokens than queries (cross-attention), so that a key cannot be chosen as a row.
    """
    steps = np.round(np.clip(weights, 0, 1) * 254).astype(np.uint8)
    steps[:, ~np.asarray(mask, dtype=bool)] = _MASKED
    texts = {
        "queryLabels": [visible(label) for label in query_labels],
        "keyLabels": [visible(label) for label in key_labels],
        "layer": int(layer),
        "head": int(head),
        "query": int(query),
        "sameTokens": bool(same_tokens),
    }
    mount = register("lines", _HTML, "curves")
    mount(key=key, data=pack(texts, weights=steps), on_pick_change=when(key, "pick", on_query))
