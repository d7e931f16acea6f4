"""The factor on q·k of a real head: in words, and what another one would make of its weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from model import measures
from model.attention_trace import AttentionTrace
from model.edits import Edits
from model.errors import HeadlightError
from model.trace import HeadRef, Trace

if TYPE_CHECKING:
    from model.language_model import LanguageModel

OWN, UNSCALED, BY_ROOT = "1", "unscaled", "1/√d_k"
MULTIPLES = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 2, 4, 8, 16, 32, 64)
NAMES = (OWN, UNSCALED, BY_ROOT, *(f"{multiple:g}" for multiple in MULTIPLES))
MOST_TYPED = 64  # rows of a typed matrix, and columns


def in_words(scale: float, d_k: int, query_scale: float = 1.0) -> str:
    """What a head multiplies q·k by, in a sentence.

    query_scale: the factor that the queries already hold when they enter the dot product.
    """
    root = f"1/√d_k = 1/√{d_k} = {d_k**-0.5:.3g}"
    if query_scale != 1:
        held = root if _same(query_scale, d_k**-0.5) else f"{query_scale:.3g}"
        return f"Its queries arrive multiplied by {held}, so q·k is multiplied by {scale:.3g} here."
    if _same(scale, d_k**-0.5):
        return f"It multiplies q·k by {root}."
    if _same(scale, 1):
        return f"It does not divide: its factor is 1, where the paper has {root}."
    if _same(scale, 1 / d_k):
        return f"It multiplies q·k by 1/d_k = 1/{d_k} = {scale:.3g}, where the paper has {root}."
    return f"It multiplies q·k by a constant of its own, {_as_fraction(scale)}, instead of {root}."


def factors(scale: float, d_k: int, query_scale: float = 1.0) -> dict[str, float]:
    """The factors on q·k that are worth a look, by name, smallest first.

    Multiples of a head's own ("1" is its own), "unscaled" (1, or what undoes the factor that the
    queries already hold), and "1/√d_k". Of two that are equal the first of these is kept.
    """
    kept: dict[str, float] = {}
    for name in NAMES:
        value = factor(name, scale, d_k, query_scale)
        if not any(_same(value, other) for other in kept.values()):
            kept[name] = value
    return dict(sorted(kept.items(), key=lambda item: item[1]))


def factor(name: str, scale: float, d_k: int, query_scale: float = 1.0) -> float:
    """The factor on q·k that a name of NAMES means for a head with this scale."""
    if name == UNSCALED:
        return 1 / query_scale
    if name == BY_ROOT:
        return d_k**-0.5 / query_scale
    return scale * float(name)


def shown_name(name: str, scale: float, d_k: int, query_scale: float = 1.0) -> str:
    """The name under which `factors` keeps a factor: of a head that does not divide, "unscaled" is
    "1", its own."""
    value = factor(name, scale, d_k, query_scale)
    kept = factors(scale, d_k, query_scale)
    return next(each for each, other in kept.items() if _same(value, other))


def saturated_share(weights: np.ndarray, mask: np.ndarray) -> float:
    """The share of a head's rows whose softmax hardly lets a gradient pass.

    A row counts if its Jacobian norm lies below measures.SATURATED; one that sees a single key has
    no choice and is left out.
    weights, mask: (n_query, n_key). Returns 0 to 1; NaN where no row has a choice.
    """
    has_choice = np.asarray(mask).sum(axis=-1) > 1
    if not has_choice.any():
        return math.nan
    return float((measures.jacobian_norm(weights[has_choice]) < measures.SATURATED).mean())


def saturation_map(trace: Trace, kind: str, name: str) -> np.ndarray:
    """Where the heads of a model would saturate under another factor, by its name in NAMES.

    Returns float64 (n_layers, n_heads): `saturated_share` of each head; NaN for a head that does
    not exist. One head's weights at a time.
    """
    n_layers = trace.n_layers(kind)
    n_heads = [trace.n_heads(kind, layer) for layer in range(n_layers)]
    shares = np.full((n_layers, max(n_heads)), math.nan)
    for layer, count in enumerate(n_heads):
        if not count:
            continue
        attention = under(trace.attention(kind, layer), name)
        for head in range(count):
            weights = attention.weights(head).numpy()
            shares[layer, head] = saturated_share(weights, attention.mask.numpy())
    return shares


def under(attention: AttentionTrace, name: str) -> AttentionTrace:
    """The same layer with another factor on q·k, by its name in NAMES."""
    return attention.rescaled(factor(name, attention.scale, attention.d_k, attention.query_scale))


# --- q and k typed by hand ------------------------------------------------------------------------


def typed_attention(q_text: str, k_text: str) -> AttentionTrace:
    """A head of its own from typed queries and keys: every query sees every key.

    One vector a line, its numbers set apart by spaces or commas. The factor is 1/√d_k.
    Raises HeadlightError that says what is missing where.
    """
    q, k = _vectors("q", q_text), _vectors("k", k_text)
    if q.shape[1] != k.shape[1]:
        raise HeadlightError(
            f"A query has {q.shape[1]} numbers and a key {k.shape[1]}: give both the same width"
        )
    return AttentionTrace(
        kind="cross",
        layer=0,
        q=q[None],
        k=k[None],
        v=k[None],
        scale=q.shape[1] ** -0.5,
        mask=torch.ones(len(q), len(k), dtype=torch.bool),
    )


def _vectors(name: str, text: str) -> Tensor:
    """(n, width) float32, a line each."""
    lines = [line.replace(",", " ").split() for line in text.splitlines() if line.strip()]
    if not lines:
        raise HeadlightError(f"{name} is empty: type one vector a line, such as 1 0 2")
    if len(lines) > MOST_TYPED or max(map(len, lines)) > MOST_TYPED:
        raise HeadlightError(f"{name} may have {MOST_TYPED} lines of {MOST_TYPED} numbers at most")
    rows = [[_number(name, at, word) for word in line] for at, line in enumerate(lines, 1)]
    for at, row in enumerate(rows, 1):
        if len(row) != len(rows[0]):
            raise HeadlightError(
                f"Line {at} of {name} has {len(row)} numbers and line 1 has {len(rows[0])}: "
                "give every line as many"
            )
    return torch.tensor(rows)


def _number(name: str, at: int, word: str) -> float:
    try:
        value = float(word.replace("−", "-"))
    except ValueError:
        raise HeadlightError(
            f"Line {at} of {name} holds “{word[:20]}”: write numbers, with spaces between"
        ) from None
    if not abs(value) <= 1e6:
        raise HeadlightError(f"Line {at} of {name} holds {word[:20]}: stay within ± 1,000,000")
    return value


def _same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-6)


def _as_fraction(scale: float) -> str:
    """0.0625 as "1/16 = 0.0625", 1/12 as "1/12", 0.0884 as "1/√128 = 0.0884"."""
    for written, value in (("1/", 1 / scale), ("1/√", scale**-2)) if scale > 0 else ():
        if value > 1.5 and math.isclose(value, round(value), rel_tol=1e-4):
            return f"{written}{round(value)} = {scale:.3g}"
    return f"{scale:.3g}"


def names_of(factor_values: Mapping[str, float]) -> dict[str, str]:
    """How each factor of `factors` is written beside its control: "0.177 · its own"."""
    words = {OWN: " · its own", UNSCALED: " · unscaled", BY_ROOT: " · 1/√d_k"}
    return {name: f"{value:.3g}{words.get(name, '')}" for name, value in factor_values.items()}


# --- the whole model ------------------------------------------------------------------------------

CURVE = tuple(2.0**power for power in (-4, -3, -2, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4, 5, 6))


def multiplied(multiple: float, heads: Sequence[HeadRef] = ()) -> Edits:
    """The edit that multiplies the factor on q·k, in all heads or in some."""
    if multiple == 1:
        return Edits()
    return Edits(scale_by=dict.fromkeys(heads, multiple) if heads else multiple)


def loss_curve(
    model: LanguageModel, texts: Sequence[Sequence[int]], heads: Sequence[HeadRef] = ()
) -> np.ndarray:
    """A decoder's mean loss under each multiple of CURVE of its own factor on q·k.

    texts: the ids that it reads, a list for each text   heads: where, all heads if none is named
    Returns float64 (len(CURVE),), nats a token.
    """
    return np.array([mean_loss(model, texts, multiplied(each, heads)) for each in CURVE])


def mean_loss(model: LanguageModel, texts: Sequence[Sequence[int]], edits: Edits) -> float:
    """The mean over all next tokens of some texts, in nats a token."""
    return float(np.concatenate([model.losses_of_ids(list(t), edits=edits) for t in texts]).mean())
