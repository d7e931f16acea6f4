"""Seeing a model at work. Models call `watched_attend` and `watch_hidden`; nothing is kept unless
somebody is recording, and then only q, k and v: weights are computed later, one head at a time.

The recorder is held by a ContextVar, since threads share one model: each sees its own recording.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import torch
from torch import Tensor

from model.attention import attend
from model.attention_trace import AttentionTrace
from model.edits import Edits
from model.positions import LinearBias


@dataclass
class Recording:
    """What one run has shown so far, and what is to be changed in it."""

    edits: Edits = field(default_factory=Edits)
    attentions: dict[tuple[str, int], AttentionTrace] = field(default_factory=dict)
    hidden: dict[str, list[Tensor]] = field(default_factory=dict)


_current: ContextVar[Recording | None] = ContextVar("recording", default=None)


@contextmanager
def recording(edits: Edits | None = None) -> Iterator[Recording]:
    """Records every attention layer that runs inside the `with` block, in this thread only."""
    run = Recording(edits or Edits())
    token = _current.set(run)
    try:
        yield run
    finally:
        _current.reset(token)


def watch_hidden(stack: str, x: Tensor) -> None:
    """Notes what a block is given or leaves: x (1, n, d_model)."""
    run = _current.get()
    if run is not None:
        run.hidden.setdefault(stack, []).append(x[0].detach())


def watched_attend(
    kind: str,
    layer: int,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float,
    mask: Tensor,
    bias: LinearBias | None = None,
) -> Tensor:
    """`attend`, seen and edited by whoever is recording; the plain `attend` when nobody is.

    q: (batch, n_heads, n_query, d_k), k: (batch, n_kv_heads, n_key, d_k), v: (batch, n_kv_heads,
    n_key, d_v), mask: (n_query, n_key) bool. A recorded run has a batch of one.
    Returns (batch, n_heads, n_query, d_v).
    """
    every_bias = None if bias is None else bias.all()
    run = _current.get()
    if run is None:
        return attend(q, k, v, scale=scale, mask=mask, bias=every_bias)
    n_heads = q.shape[1]
    scale = run.edits.scale_of(kind, layer, n_heads, scale)
    temperature = run.edits.temperature_of(kind, layer, n_heads)
    output = attend(
        q,
        k,
        v,
        scale=_per_head(scale),
        mask=mask,
        bias=every_bias,
        temperature=_per_head(temperature),
    )
    ablated = run.edits.ablated(kind, layer)
    output = _ablate(output, ablated, run.edits.ablate_to)
    run.attentions[kind, layer] = AttentionTrace(
        kind=kind,
        layer=layer,
        q=q[0].detach(),
        k=k[0].detach(),
        v=v[0].detach(),
        scale=scale,
        mask=mask,
        bias=bias,
        temperature=temperature,
        ablated=ablated,
        ablate_to=run.edits.ablate_to,
    )
    return output


def _per_head(value: float | Tensor) -> float | Tensor:
    """(n_heads,) → (n_heads, 1, 1), so that it multiplies a head's scores; a number stays one."""
    return value[:, None, None] if isinstance(value, Tensor) else value


def _ablate(output: Tensor, heads: tuple[int, ...], to: str) -> Tensor:
    if not heads:
        return output
    output = output.clone()
    chosen = output[:, list(heads)]  # (batch, heads, n_query, d_v)
    mean = chosen.mean(dim=-2, keepdim=True).expand_as(chosen)
    output[:, list(heads)] = mean if to == "mean" else torch.zeros_like(chosen)
    return output
