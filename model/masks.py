"""Who may attend to whom. A mask is one predicate of positions; `build` makes it a matrix."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import Tensor

Predicate = Callable[[Tensor, Tensor], Tensor]  # (query position, key position) -> may attend


def causal(query: Tensor, key: Tensor) -> Tensor:
    """A token sees itself and what came before it: the decoder's mask."""
    return key <= query


def full(query: Tensor, key: Tensor) -> Tensor:
    """Every token sees every token: the encoder's mask, and that of cross-attention."""
    return (key >= 0) & (query >= 0)


@lru_cache(maxsize=16)  # n² bytes each
def build(predicate: Predicate, n_query: int, n_key: int) -> Tensor:
    """The mask of a predicate, shared by everything that has this predicate and these lengths.

    Returns (n_query, n_key) bool, True = may attend. Do not write to it: it is held once.
    """
    return predicate(torch.arange(n_query)[:, None], torch.arange(n_key)[None, :])
