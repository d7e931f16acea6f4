"""Stages: how q·k becomes a row of weights, in four small maps, a formula and numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from viz.components import pack, register, when
from viz.theme import visible

_HTML = """
<div class="stages">
  <div class="formula" role="math"></div>
  <svg class="headlight" role="img"></svg>
  <div class="numbers"></div>
</div>
"""


@dataclass(frozen=True)
class ScaleWords:
    """What the second stage does, said truly: in the formula, as its name and below it.

    kind: "root" if it divides by √d_k, "factor" for any other number, "none" for 1.
    """

    kind: str
    factor: str
    caption: str
    spoken: str  # the whole formula for a screen reader


def scale_words(scale: float, d_k: int, *, biased: bool) -> ScaleWords:
    """Words for a factor on q·k: the factor that was applied, never the one that d_k suggests."""
    root = math.sqrt(d_k)
    tail = " + position bias" if biased else ""
    if math.isclose(scale * root, 1, rel_tol=1e-5):
        caption = f"÷ √{d_k}, + position bias" if biased else f"÷ √{d_k} = ÷ {_short(root)}"
        spoken = f"q · k over the square root of d k{tail}"
        kind = "root"
    elif math.isclose(scale, 1, rel_tol=1e-5):
        caption = "not divided: this model is unscaled" + (f",{tail}" if biased else "")
        spoken = f"q · k{tail}"
        kind = "none"
    else:
        caption = f"× {_short(scale)} (not 1/√{d_k})" + (f",{tail}" if biased else "")
        spoken = f"q · k times {_short(scale)}{tail}"
        kind = "factor"
    formula = f"weights = softmax of the masked value of {spoken}"
    return ScaleWords(kind, _short(scale), caption, formula)


def mask_words(mask: np.ndarray) -> str:
    """What a mask of shape (n_query, n_key) takes away, as the caption of the third stage."""
    mask = np.asarray(mask, dtype=bool)
    if mask.all():
        return "nothing is masked"
    if mask.shape[0] == mask.shape[1] and np.array_equal(mask, np.tri(len(mask), dtype=bool)):
        return "later tokens removed"
    return f"{np.count_nonzero(~mask):,} of {mask.size:,} cells removed"


def stages(
    key: str,
    *,
    raw_scores: np.ndarray,
    scores: np.ndarray,
    mask: np.ndarray,
    weights: np.ndarray,
    query_labels: Sequence[str],
    key_labels: Sequence[str],
    query: int,
    d_k: int,
    scale: float,
    on_query: Callable[[int], None],
    layer: int | None = None,
    head: int | None = None,
) -> None:
    """The four steps of one head: q·k → scale (and position bias) → mask → softmax.

    raw_scores: q·k, scores: what enters the softmax before the mask, mask: True = may attend,
    weights: the softmax, each (n_query, n_key).   query: the chosen row.   scale: the factor that
    was applied to q·k.   on_query: called with the row that a person chose.   layer, head: where
    the numbers come from, for the picture's name in a screen reader.
    The three maps of scores share one colour scale, so that scaling is seen as paling.
    """
    raw, scores = np.asarray(raw_scores, np.float32), np.asarray(scores, np.float32)
    mask = np.asarray(mask, dtype=bool)
    plain = raw * np.float32(scale)
    biased = not np.allclose(plain, scores, rtol=1e-4, atol=1e-4)
    texts = {
        "queryLabels": [visible(label) for label in query_labels],
        "keyLabels": [visible(label) for label in key_labels],
        "query": int(query),
        "of": "" if head is None else f" of layer {layer}, head {head}",
        "scale": float(scale),
        "biased": biased,
        "limit": _largest(raw, scores[mask]),
        "words": asdict(scale_words(scale, d_k, biased=biased)),
        "maskWords": mask_words(mask),
    }
    arrays = {"raw": raw, "weights": np.asarray(weights, np.float32)}
    if biased:  # otherwise the browser multiplies, and half of the numbers need not travel
        arrays["scores"] = scores
    if not mask.all():
        arrays["mask"] = mask.astype(np.uint8)
    mount = register("stages", _HTML, "numbers")
    mount(key=key, data=pack(texts, **arrays), on_pick_change=when(key, "pick", on_query))


def _short(value: float) -> str:
    """Three significant digits, without zeros that say nothing, and a real minus sign."""
    return f"{value:.3g}".replace("-", "−")


def _largest(*arrays: np.ndarray) -> float:
    """The largest distance from 0, at least a little, so that it can divide."""
    return max(1e-9, *(float(np.abs(array).max(initial=0)) for array in arrays))
