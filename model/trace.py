"""What a run of a model on a text shows, in the names that everything else is built on.

Everything in a trace is detached, on the CPU and safe to share between threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from model.attention_trace import AttentionTrace
from model.errors import HeadlightError
from model.info import STACKS_OF_KIND, HeadRef, ModelInfo

MAX_LOGITS_BYTES = 256 * 2**20
ROWS_AT_ONCE = 64  # of logits, where all of them may be too many

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
class Readout:
    """How the last states become logits: (n, d_model) times unembedding (vocab_size, d_model).

    The logits of a long text over a large vocabulary are the largest tensor of a run by far, so
    above MAX_LOGITS_BYTES a trace holds only this and makes the rows that are asked for.
    """

    states: Tensor
    unembedding: Tensor

    @property
    def n_bytes(self) -> int:
        """What all logits would take."""
        return len(self.states) * len(self.unembedding) * self.states.element_size()

    def logits(self, rows: slice = slice(None)) -> Tensor:
        """(rows, vocab_size)"""
        return nn.functional.linear(self.states[rows], self.unembedding)


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run of a model on one text. No batch axis, no model and no tokenizer in it.

    tokens, labels, marks, cut: by stack ("encoder", "decoder"). tokens are the tokenizer's pieces
    of exactly the ids that were run; labels the same as people read them; marks say what is special
    ("special"), unknown and spelled out ("unknown", then "continued"), or ordinary ("");
    cut is the end of the text that did not fit.
    attentions: by (kind, layer), None for a block without attention
    hidden: by stack, (n_layers + 1, n, d_model), what enters block 0 and what leaves each block
    logits: (n, vocab_size) of the last stack, row i about token i + 1; None if the model predicts
    nothing or if they would take more than MAX_LOGITS_BYTES
    readout: only in that case, what `top` makes the logits of a row from
    vocabulary: the label of every id
    Raises HeadlightError when made if counts or shapes disagree or a logit is not finite.
    """

    info: ModelInfo
    tokens: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, tuple[str, ...]]
    marks: Mapping[str, tuple[str, ...]]
    cut: Mapping[str, str]
    attentions: Mapping[tuple[str, int], AttentionTrace | None]
    hidden: Mapping[str, Tensor] | None
    logits: Tensor | None
    readout: Readout | None
    vocabulary: Sequence[str]

    def __post_init__(self) -> None:
        for what, found, expected in self._counts():
            if found != expected:
                raise HeadlightError(
                    f"{what}: {found}, where the tokens ask for {expected}; "
                    "the trace does not belong to this text"
                )
        if self.logits is not None and not self.logits.isfinite().all():
            raise HeadlightError(
                "the logits hold numbers that are not finite; load another copy of the model, "
                "or undo the edit that made them so large"
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
            if 0 <= layer <= last:
                raise HeadlightError(f"{kind} layer {layer} has no attention: take another layer")
            raise HeadlightError(f"there is no {kind} layer {layer}: take one from 0 to {last}")
        return held

    def head(self, ref: HeadRef) -> HeadView:
        """One head as matrices, the argument of nearly every figure."""
        attention = self.attention(ref.kind, ref.layer)
        look, looked_at = STACKS_OF_KIND[ref.kind]
        mask = attention.mask.numpy()
        mask.flags.writeable = False  # this memory is the model's own mask, shared by all traces
        return HeadView(
            ref=ref,
            query_tokens=self.labels[look],
            key_tokens=self.labels[looked_at],
            raw_scores=attention.raw_scores(ref.head).numpy(),
            scores=attention.scores(ref.head).numpy(),
            mask=mask,
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
        last = self._n_predictions() - 1
        if not 0 <= row <= last:
            raise HeadlightError(f"row {row} does not exist: take 0 to {last}")
        logits = self._logits(slice(row, row + 1))[0]
        best = logits.float().softmax(dim=-1).topk(min(k, len(logits)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [(self.vocabulary[i], probability) for i, probability in pairs]

    def likeliest(self) -> tuple[str, ...]:
        """The likeliest piece after each token, as `top` finds it, for all rows.

        Raises HeadlightError where the model predicts nothing.
        """
        starts = range(0, self._n_predictions(), ROWS_AT_ONCE)
        best = (self._logits(slice(at, at + ROWS_AT_ONCE)).argmax(dim=-1) for at in starts)
        return tuple(self.vocabulary[i] for ids in best for i in ids.tolist())

    def _n_predictions(self) -> int:
        if self.logits is not None:
            return len(self.logits)
        if self.readout is None:
            raise HeadlightError(f"{self.info.name} has no head that predicts tokens")
        return len(self.readout.states)

    def _logits(self, rows: slice) -> Tensor:
        return self.logits[rows] if self.logits is not None else self.readout.logits(rows)

    def _counts(self) -> Iterator[tuple[str, object, object]]:
        """What must agree: (its name, the count or shape that is there, the one that should be)."""
        for stack, tokens in self.tokens.items():
            yield f"{stack} labels", len(self.labels[stack]), len(tokens)
            yield f"{stack} marks", len(self.marks[stack]), len(tokens)
            if self.hidden is not None:
                shape = (self.n_layers(stack) + 1, len(tokens), self.info.d_model)
                yield f"{stack} hidden states", tuple(self.hidden[stack].shape), shape
        for kind in self.kinds:
            layers = [layer for held, layer in self.attentions if held == kind]
            yield f"{kind} layers", sorted(layers), list(range(self.n_layers(kind)))
            shape = tuple(len(self.tokens[stack]) for stack in STACKS_OF_KIND[kind])
            for layer in layers:
                attention = self.attentions[kind, layer]
                if attention is not None:
                    yield f"{kind} layer {layer}", tuple(attention.mask.shape), shape
        last = "decoder" if "decoder" in self.tokens else "encoder"
        n, vocab_size = len(self.tokens[last]), len(self.vocabulary)
        if self.logits is not None:
            yield "logits", tuple(self.logits.shape), (n, vocab_size)
        if self.readout is not None:
            found = (len(self.readout.states), len(self.readout.unembedding))
            yield "readout", found, (n, vocab_size)

    def _known(self, kind: str) -> str:
        if kind not in self.kinds:
            raise HeadlightError(f"{self.info.name} has {', '.join(self.kinds)}, no {kind!r}")
        return kind
