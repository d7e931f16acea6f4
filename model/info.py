"""What a model is and which of its heads is meant: plain facts, no numbers of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STACKS_OF_KIND = {  # (whose tokens look, whose tokens are looked at)
    "encoder": ("encoder", "encoder"),
    "decoder": ("decoder", "decoder"),
    "cross": ("decoder", "encoder"),
}


@dataclass(frozen=True, order=True)
class HeadRef:
    """Which head: its kind of attention, its layer and its number, counted from 0."""

    kind: str
    layer: int
    head: int

    def __str__(self) -> str:
        return f"{self.kind} L{self.layer} H{self.head}"


@dataclass(frozen=True, eq=False)
class ModelInfo:
    """What a model is: its shape, its task and where it comes from. Mappings are by kind."""

    name: str
    family: str
    kinds: tuple[str, ...]
    captured: str  # "qkv": scores can be shown; "weights": this family gives weights only
    n_layers: Mapping[str, int]
    n_heads: Mapping[str, int]
    n_kv_heads: int
    d_model: int
    d_k: int
    d_v: int
    d_ff: int
    n_ctx: int
    vocab_size: int
    n_parameters: int
    dtype: str
    objective: str | None  # "causal", "masked", "seq2seq" or None
    licence: str | None
