"""What a run of a model on a text shows, in the names that everything else is built on.

Everything in a trace is detached, on the CPU and safe to share between threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from model.attention_trace import AttentionTrace
from model.errors import HeadlightError
from model.info import STACKS_OF_KIND, HeadRef, ModelInfo

__all__ = ["AttentionTrace", "HeadRef", "HeadView", "ModelInfo", "Trace"]


@dataclass(frozen=True, eq=False)
class HeadView:
    """One head on one text as NumPy float32 matrices, rows = queries, columns = keys.

    raw_scores: q·k   scores: after scale, cap, bias and temperature, before the mask
    mask: bool, True = may attend   weights: after the softmax   output: (n_query, d_v), before W_O
    """

    ref: HeadRef
    query_tokens: tuple[str, ...]
    key_tokens: tuple[str, ...]
    raw_scores: np.ndarray | None
    scores: np.ndarray | None
    mask: np.ndarray
    weights: np.ndarray
    output: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run of a model on one text. No batch axis, no model and no tokenizer in it.

    tokens, labels, marks, cut: by stack ("encoder", "decoder"). tokens are the tokenizer's pieces
    of exactly the ids that were run; labels the same as people read them; marks say what is special
    ("special"), unknown and spelled out ("unknown", then "continued"), or ordinary ("");
    cut is the end of the text that did not fit.
    attentions: by (kind, layer)   hidden: by stack, (n_layers + 1, n, d_model), what enters block 0
    and what leaves each block   logits: (n, vocab_size) of the last stack, row i about token i + 1
    vocabulary: the label of every id.
    """

    info: ModelInfo
    tokens: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, tuple[str, ...]]
    marks: Mapping[str, tuple[str, ...]]
    cut: Mapping[str, str]
    attentions: Mapping[tuple[str, int], AttentionTrace]
    hidden: Mapping[str, Tensor]
    logits: Tensor | None
    vocabulary: Sequence[str]

    def __post_init__(self) -> None:
        for kind in self.kinds:
            look, looked_at = (len(self.tokens[stack]) for stack in STACKS_OF_KIND[kind])
            for layer in range(self.n_layers(kind)):
                shape = tuple(self.attention(kind, layer).mask.shape)
                if shape != (look, looked_at):
                    raise HeadlightError(
                        f"{kind} layer {layer} is {shape[0]} × {shape[1]} for {look} × {looked_at} "
                        "tokens: the trace does not belong to this text"
                    )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention there are, in the order encoder, decoder, cross."""
        return self.info.kinds

    def n_layers(self, kind: str) -> int:
        """How many blocks the stack of this kind has."""
        return self.info.n_layers[self._known(kind)]

    def n_heads(self, kind: str, layer: int) -> int:
        """How many heads a layer has; 0 where a block has no attention."""
        held = self.attentions.get((self._known(kind), layer))
        return held.n_heads if held is not None else 0

    def attention(self, kind: str, layer: int) -> AttentionTrace:
        """One layer's attention. Raises HeadlightError if there is none."""
        held = self.attentions.get((self._known(kind), layer))
        if held is None:
            last = self.n_layers(kind) - 1
            raise HeadlightError(f"there is no {kind} layer {layer}: take one from 0 to {last}")
        return held

    def head(self, ref: HeadRef) -> HeadView:
        """One head as matrices, the argument of nearly every figure."""
        attention = self.attention(ref.kind, ref.layer)
        look, looked_at = STACKS_OF_KIND[ref.kind]
        return HeadView(
            ref=ref,
            query_tokens=self.labels[look],
            key_tokens=self.labels[looked_at],
            raw_scores=attention.raw_scores(ref.head).numpy(),
            scores=attention.scores(ref.head).numpy(),
            mask=attention.mask.numpy(),
            weights=attention.weights(ref.head).numpy(),
            output=attention.output(ref.head).numpy(),
        )

    def overview(self, kind: str, bins: int = 32) -> np.ndarray:
        """Every head of a kind at a glance: the largest weight in each block of cells.

        Returns float32 (n_layers, n_heads, min(bins, n_query), min(bins, n_key)); masked cells are
        0, heads that do not exist NaN. The blocks are those of `AttentionTrace.block_maxima`.
        """
        layers = range(self.n_layers(kind))
        most = max(self.n_heads(kind, layer) for layer in layers)
        n_query, n_key = (len(self.tokens[stack]) for stack in STACKS_OF_KIND[kind])
        shape = (len(layers), most, min(bins, n_query), min(bins, n_key))
        overview = np.full(shape, np.nan, dtype=np.float32)
        for layer in layers:
            if self.n_heads(kind, layer):
                maxima = self.attention(kind, layer).block_maxima(bins)
                overview[layer, : len(maxima)] = maxima
        return overview

    def top(self, row: int, k: int = 10) -> list[tuple[str, float]]:
        """The k likeliest pieces after token `row` (or in its place, for a masked model).

        Returns (label, probability) pairs, the likeliest first.
        Raises HeadlightError where the model predicts nothing or the row does not exist.
        """
        if self.logits is None:
            raise HeadlightError(f"{self.info.name} has no head that predicts tokens")
        if not 0 <= row < len(self.logits):
            raise HeadlightError(f"row {row} does not exist: take 0 to {len(self.logits) - 1}")
        best = self.logits[row].float().softmax(dim=-1).topk(min(k, self.logits.shape[1]))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [(self.vocabulary[i], probability) for i, probability in pairs]

    def _known(self, kind: str) -> str:
        if kind not in self.kinds:
            raise HeadlightError(f"{self.info.name} has {', '.join(self.kinds)}, no {kind!r}")
        return kind
