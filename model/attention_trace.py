"""One layer of a run: its queries, keys and values, and all that follows from them when asked.

Weights are not held: those of one head are computed when somebody looks, so that a trace takes the
memory of q, k and v however long the text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from model.attention import attention_scores, attention_weights
from model.errors import HeadlightError
from model.info import HeadRef
from model.positions import LinearBias

STRIP = 64  # queries whose weights are held at once, of all heads of a layer


@dataclass(frozen=True, eq=False)
class AttentionTrace:
    """One layer's attention on one text: what went into the formula, and the formula when asked.

    q: (n_heads, n_query, d_k)   k: (n_kv_heads, n_key, d_k)   v: (n_kv_heads, n_key, d_v), as they
    enter the dot product, in the model's dtype   mask: (n_query, n_key) bool, True = may attend
    scale, temperature: the factors applied, a number or (n_heads,) where an edit made heads differ
    query_scale: the factor that q already holds when it is recorded (OPT multiplies its queries)
    ablated: heads whose output was replaced, by ablate_to ("zero" or "mean")
    Raises HeadlightError when made if shapes disagree or a number is not finite.
    """

    kind: str
    layer: int
    q: Tensor
    k: Tensor
    v: Tensor
    scale: float | Tensor
    mask: Tensor
    softcap: float | None = None
    sinks: Tensor | None = None
    bias: LinearBias | None = None
    temperature: float | Tensor = 1.0
    ablated: tuple[int, ...] = ()
    ablate_to: str = "zero"
    query_scale: float = 1.0

    def __post_init__(self) -> None:
        expected = (self.q.shape[1], self.k.shape[1])
        if tuple(self.mask.shape) != expected or self.k.shape[:2] != self.v.shape[:2]:
            raise HeadlightError(
                f"{self.kind} layer {self.layer}: q {tuple(self.q.shape)}, k "
                f"{tuple(self.k.shape)}, v {tuple(self.v.shape)} and mask "
                f"{tuple(self.mask.shape)} do not fit together"
            )
        if self.q.shape[2] != self.k.shape[2] or self.n_heads % self.k.shape[0]:
            raise HeadlightError(
                f"{self.kind} layer {self.layer}: {self.n_heads} query heads of width {self.d_k} "
                f"cannot read {self.k.shape[0]} key heads of width {self.k.shape[2]}"
            )
        for name in "qkv":
            if not getattr(self, name).isfinite().all():
                raise HeadlightError(
                    f"{self.kind} layer {self.layer}: {name} holds numbers that are not finite; "
                    "load another copy of the model, or undo the edit that made them so large"
                )

    @property
    def n_heads(self) -> int:
        """How many query heads this layer has."""
        return self.q.shape[0]

    @property
    def d_k(self) -> int:
        """The width of a query and a key."""
        return self.q.shape[2]

    @cached_property
    def blind_queries(self) -> tuple[int, ...]:
        """The queries that may attend to nothing: their rows of weights are zeros."""
        return tuple((~self.mask.any(dim=1)).nonzero()[:, 0].tolist())

    def kv_head(self, head: int) -> int:
        """The key and value head that a query head reads (one for several under grouped keys)."""
        return head // (self.n_heads // self.k.shape[0])

    def position_bias(self, head: int) -> Tensor | None:
        """What positions add to the scores of one head, (n_query, n_key), or None."""
        self._one(head)
        return None if self.bias is None else self.bias.head(head)

    def raw_scores(self, head: int) -> Tensor:
        """q·k of one head, nothing applied yet: float32 (n_query, n_key)."""
        return (self.q[self._one(head)].float() @ self.k[self.kv_head(head)].float().T)[0]

    def scores(self, head: int) -> Tensor:
        """What enters the mask and the softmax: (cap(q·k · scale) + bias) / temperature.

        float32 (n_query, n_key)
        """
        return self._scores(self._one(head))[0]

    def weights(self, head: int) -> Tensor:
        """How each query shares its attention: softmax of the masked scores, (n_query, n_key).

        float32; a row sums to 1 (less a sink's share), or is zeros for a blind query.
        Raises HeadlightError if a row does not.
        """
        weights = self._weights(self._one(head))[0]
        self._check_weights(head, weights)
        return weights

    def all_weights(self) -> Tensor:
        """The weights of every head at once, unchecked: float32 (n_heads, n_query, n_key).

        For short texts: this is the array that a trace otherwise never holds.
        """
        return self._weights(slice(0, self.n_heads))

    def output(self, head: int) -> Tensor:
        """What the head hands to W_O: weights v, float32 (n_query, d_v), as replaced if ablated."""
        output = self.weights(head) @ self.v[self.kv_head(head)].float()
        if head not in self.ablated:
            return output
        mean = output.mean(dim=0, keepdim=True).expand_as(output)
        return mean if self.ablate_to == "mean" else torch.zeros_like(output)

    def rescaled(self, scale: float | Tensor) -> AttentionTrace:
        """The same queries and keys under another factor on q·k."""
        return replace(self, scale=scale)

    def block_maxima(self, bins: int) -> np.ndarray:
        """The largest weight in each block of cells, for every head of the layer.

        Block r of R holds rows ⌊r·n/R⌋ to ⌊(r+1)·n/R⌋ − 1, and columns alike; masked cells count 0.
        Returns float32 (n_heads, min(bins, n_query), min(bins, n_key)).
        Raises HeadlightError if a weight is not finite.
        """
        n_query, n_key = self.mask.shape
        tall = self._largest_on_keys(_blocks(n_query, bins))  # (n_heads, blocks of rows, n_key)
        for head, largest in enumerate(tall):
            if not largest.isfinite().all():
                raise self._not_a_distribution(head)
        return torch.stack([tall[..., c].amax(dim=-1) for c in _blocks(n_key, bins)], -1).numpy()

    def block_mask(self, bins: int) -> np.ndarray:
        """Which of the blocks of `block_maxima` hold a cell that the mask allows: bool, 2-D."""
        n_query, n_key = self.mask.shape
        tall = torch.stack([self.mask[rows].any(dim=0) for rows in _blocks(n_query, bins)])
        return torch.stack([tall[:, c].any(dim=1) for c in _blocks(n_key, bins)], -1).numpy()

    def _largest_on_keys(self, blocks: list[slice]) -> Tensor:
        """Each head's largest weight on each key, by block of queries: (n_heads, blocks, n_key).

        STRIP queries at a time, with the keys that they can see: no n_heads × n × n array exists.
        """
        n_query, n_key = self.mask.shape
        largest = torch.zeros(self.n_heads, len(blocks), n_key)
        for start in range(0, n_query, STRIP):
            stop = min(start + STRIP, n_query)
            seen = self.mask[start:stop].any(dim=0).nonzero()
            visible = int(seen[-1]) + 1 if len(seen) else 1
            weights = self._weights(slice(0, self.n_heads), slice(start, stop), visible)
            for number, block in enumerate(blocks):
                first, end = max(block.start, start), min(block.stop, stop)
                if first < end:
                    so_far = largest[:, number, :visible]
                    of_block = weights[:, first - start : end - start].amax(dim=1)
                    so_far.copy_(torch.maximum(so_far, of_block))
        return largest

    def _one(self, head: int) -> slice:
        """The slice of q that is this head; refuses a head that is not there."""
        if not 0 <= head < self.n_heads:
            raise HeadlightError(
                f"{self.kind} layer {self.layer} has heads 0 to {self.n_heads - 1}, not {head}"
            )
        return slice(head, head + 1)

    def _scores(
        self, heads: slice, rows: slice = slice(None), visible: int | None = None
    ) -> Tensor:
        """(heads, rows, visible keys), by the one formula of model.attention."""
        key_heads = slice(self.kv_head(heads.start), self.kv_head(heads.stop - 1) + 1)
        bias = None
        if self.bias is not None:
            each = range(heads.start, heads.stop)
            bias = torch.stack([self.bias.head(h, rows)[:, :visible] for h in each])
        return attention_scores(
            self.q[heads, rows].float(),
            self.k[key_heads, :visible].float(),
            scale=_of_heads(self.scale, heads),
            softcap=self.softcap,
            bias=bias,
            temperature=_of_heads(self.temperature, heads),
        )

    def _weights(
        self, heads: slice, rows: slice = slice(None), visible: int | None = None
    ) -> Tensor:
        scores = self._scores(heads, rows, visible)
        sinks = None
        if self.sinks is not None:  # a sink enters the softmax, so it feels the temperature too
            sinks = self.sinks[heads].float() / _of_heads(self.temperature, heads, flat=True)
        return attention_weights(scores, self.mask[rows, :visible], sinks)

    def _check_weights(self, head: int, weights: Tensor) -> None:
        expected = self.mask.any(dim=1).float()  # 1, or 0 for a blind query
        excess = weights.sum(dim=-1) - expected
        whole = (excess if self.sinks is not None else excess.abs()).max() <= 1e-5
        if not (weights.isfinite().all() and whole and (weights[~self.mask] == 0).all()):
            raise self._not_a_distribution(head)

    def _not_a_distribution(self, head: int) -> HeadlightError:
        return HeadlightError(
            f"{HeadRef(self.kind, self.layer, head)}: its weights are not a distribution over "
            "the keys it may see; the scores may overflow at this scale, try a smaller one"
        )


def _of_heads(value: float | Tensor, heads: slice, flat: bool = False) -> float | Tensor:
    """Some heads' part of a per-head factor, (heads, 1, 1) or flat; a number stays a number."""
    if not isinstance(value, Tensor):
        return value
    return value[heads] if flat else value[heads, None, None]


def _blocks(n: int, bins: int) -> list[slice]:
    """min(bins, n) runs that share n positions as evenly as whole numbers can."""
    if bins < 1:
        raise HeadlightError(f"bins={bins} must be at least 1")
    count = min(bins, n)
    return [slice(b * n // count, (b + 1) * n // count) for b in range(count)]
