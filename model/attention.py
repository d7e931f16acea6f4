"""Scaled dot-product attention: the formula, once.

    attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V          Vaswani et al. 2017, section 3.2.1

`attention_scores` and `attention_weights` are the formula in two steps, for whoever wants to see
them. `attend` is what the models call: the same result, by PyTorch's fused kernel wherever that can
express it, so that looking at attention costs nothing until somebody looks.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def attention_scores(
    q: Tensor,
    k: Tensor,
    *,
    scale: float | Tensor,
    softcap: float | None = None,
    bias: Tensor | None = None,
    temperature: float | Tensor = 1.0,
) -> Tensor:
    """How well each key answers each query, before the mask and the softmax.

    scores = (cap(q kᵀ · scale) + bias) / temperature,   cap(s) = softcap · tanh(s / softcap)

    q: (n_heads, n_query, d_k)   k: (n_heads or n_kv_heads, n_key, d_k)   bias: (n_heads, n_query,
    n_key)   scale, temperature: a number, or one per head as (n_heads, 1, 1)
    Leading axes before the heads are allowed. Returns (n_heads, n_query, n_key).
    Source of the cap: Gemma 2 (Gemma Team 2024, section 2).
    """
    scores = q @ _per_query_head(k, q).transpose(-2, -1) * scale  # (n_heads, n_query, n_key)
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    if bias is not None:
        scores = scores + bias
    return scores / temperature


def attention_weights(
    scores: Tensor, mask: Tensor | None = None, sinks: Tensor | None = None
) -> Tensor:
    """How each query shares its attention among the keys: the softmax of its row of scores.

    weights = exp(s) / Σ exp(s) over the keys that the mask allows

    scores: (n_heads, n_query, n_key)   mask: (n_query, n_key), True = may attend
    sinks: (n_heads,), a score that takes part in the softmax and belongs to no key, so that a row
    sums to less than 1 (gpt-oss, OpenAI 2025); divide it by the temperature as the scores were.
    Returns (n_heads, n_query, n_key). A query that may attend to nothing gets a row of zeros, where
    the formula would be 0 / 0.
    """
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    if sinks is not None:
        column = sinks.reshape(-1, 1, 1).expand(*scores.shape[:-1], 1).to(scores.dtype)
        return torch.cat([scores, column], dim=-1).softmax(dim=-1)[..., :-1]
    weights = scores.softmax(dim=-1)
    return weights if mask is None else weights.masked_fill(~mask.any(-1, keepdim=True), 0.0)


def attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    scale: float | Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
    sinks: Tensor | None = None,
    temperature: float | Tensor = 1.0,
) -> Tensor:
    """What every query reads: the values, mixed by its weights. softmax(scores) v.

    q: (n_heads, n_query, d_k)   k: (n_kv_heads, n_key, d_k)   v: (n_kv_heads, n_key, d_v), with any
    leading batch axes; n_kv_heads divides n_heads, and query head h reads key head
    h // (n_heads // n_kv_heads) (grouped-query attention, Ainslie et al. 2023).
    The other arguments are those of `attention_scores` and `attention_weights`.
    Returns (n_heads, n_query, d_v).
    """
    if softcap is not None or sinks is not None:  # the fused kernel knows neither
        scores = attention_scores(
            q, k, scale=scale, softcap=softcap, bias=bias, temperature=temperature
        )
        if sinks is not None:
            sinks = (sinks[:, None, None] / temperature).flatten()
        return attention_weights(scores, mask, sinks) @ _per_query_head(v, q)
    if isinstance(temperature, Tensor) or temperature != 1.0:
        scale = scale / temperature
        bias = None if bias is None else bias / temperature
    if isinstance(scale, Tensor):  # the kernel takes one number: give each head its own through q
        q, scale = q * scale, 1.0
    if q.dim() == 3:  # the kernel's grouped keys want a batch axis
        arguments = (q[None], k[None], v[None])
        return _fused(*arguments, mask=mask, bias=bias, scale=scale)[0]
    return _fused(q, k, v, mask=mask, bias=bias, scale=scale)


def _fused(
    q: Tensor, k: Tensor, v: Tensor, *, mask: Tensor | None, bias: Tensor | None, scale: float
) -> Tensor:
    if bias is not None:  # bias and mask travel as one: what is added to the scores
        mask = bias if mask is None else bias.masked_fill(~mask, float("-inf"))
    grouped = q.shape[-3] != k.shape[-3]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, scale=scale, enable_gqa=grouped)


def _per_query_head(x: Tensor, q: Tensor) -> Tensor:
    """Repeats each key (or value) head for the query heads that share it."""
    return x.repeat_interleave(q.shape[-3] // x.shape[-3], dim=-3)
