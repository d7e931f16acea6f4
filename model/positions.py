"""How a model is told the order of its tokens: one class per scheme.

A scheme may act in three places, and each class overrides the one it uses:
`embed` is added to the embeddings, `rotate` turns queries and keys, `bias` is added to the scores.
A new scheme is one class here with `@scheme(name)`; Config, the models and the tests find it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from model.errors import HeadlightError

if TYPE_CHECKING:
    from model.config import Config

SCHEMES: dict[str, type[Positions]] = {}


def scheme(name: str) -> Callable[[type[Positions]], type[Positions]]:
    """Registers a class as the positional scheme of that name."""

    def register(cls: type[Positions]) -> type[Positions]:
        SCHEMES[name] = cls
        return cls

    return register


@dataclass(frozen=True, eq=False)
class LinearBias:
    """A position bias that falls off with distance, made when asked from one slope a head.

    bias[head, query, key] = −slope[head] · |query − key|          slopes: (n_heads,)
    """

    slopes: Tensor
    n_query: int
    n_key: int

    def head(self, head: int, rows: slice = slice(None)) -> Tensor:
        """The bias of one head for some of the queries, (rows, n_key)."""
        return -self.slopes[head] * self._distance(rows)

    def all(self) -> Tensor:
        """The bias of every head, (n_heads, n_query, n_key)."""
        return -self.slopes[:, None, None] * self._distance()

    def _distance(self, rows: slice = slice(None)) -> Tensor:
        return (torch.arange(self.n_query)[rows, None] - torch.arange(self.n_key)[None, :]).abs()


@scheme("none")
class Positions(nn.Module):
    """No positions at all: what order a model can still tell comes from its mask alone."""

    variance = 0.0  # of what `embed` adds, at the unit-variance initialisation

    def __init__(self, config: Config) -> None:
        super().__init__()

    def embed(self, n: int) -> Tensor | None:
        """What is added to the embeddings of n tokens: (n, d_model), or None."""
        return None

    def rotate(self, x: Tensor) -> Tensor:
        """Queries or keys (…, n, d_k) as they enter the dot product."""
        return x

    def bias(self, n_query: int, n_key: int) -> LinearBias | None:
        """What is added to the scores, or None."""
        return None


@scheme("sinusoidal")
class Sinusoidal(Positions):
    """Sines and cosines of geometrically falling frequency (Vaswani et al. 2017, section 3.5).

    PE[pos, 2i] = sin(pos / 10000^(2i/d_model))      PE[pos, 2i+1] = cos(the same angle)
    """

    variance = 0.5

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.d_model = config.d_model

    def embed(self, n: int) -> Tensor:
        angles = _angles(n, self.d_model)  # (n, ⌈d_model / 2⌉)
        table = torch.stack([angles.sin(), angles.cos()], dim=-1)  # (n, ⌈d_model / 2⌉, 2)
        return table.flatten(1)[:, : self.d_model]


@scheme("learned")
class Learned(Positions):
    """One trained vector for each position up to n_ctx (Gehring et al. 2017; BERT, GPT-2)."""

    variance = 0.5

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.table = nn.Parameter(torch.zeros(config.n_ctx, config.d_model))

    def embed(self, n: int) -> Tensor:
        if n > len(self.table):
            raise HeadlightError(
                f"{n} tokens do not fit a learned table of n_ctx={len(self.table)} positions: "
                "shorten the text, or take a scheme that computes its positions"
            )
        return self.table[:n]


@scheme("rope")
class Rotary(Positions):
    """Queries and keys turned by an angle that grows with position (RoPE; Su et al. 2021, 3.2.2).

    Dimension i of the first half and dimension i of the second form a pair, which position p turns
    by p / 10000^(2i/d_k). Two turned vectors have a dot product that depends on their distance
    alone. With an odd d_k the last dimension has no partner and is not turned.
    """

    def rotate(self, x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        angles = _angles(x.shape[-2], 2 * half)  # (n, half)
        first, second, rest = x[..., :half], x[..., half : 2 * half], x[..., 2 * half :]
        turned_first = first * angles.cos() - second * angles.sin()
        turned_second = first * angles.sin() + second * angles.cos()
        return torch.cat([turned_first, turned_second, rest], dim=-1)


@scheme("alibi")
class Alibi(Positions):
    """Far tokens cost more: a penalty on the score, linear in distance (Press et al. 2022, sec. 3).

    slope[head] = 2^(−8 (head + 1) / n_heads): a geometric series, one slope a head.
    """

    def __init__(self, config: Config) -> None:
        super().__init__(config)
        exponents = -8.0 * torch.arange(1, config.n_heads + 1) / config.n_heads
        self.register_buffer("slopes", 2.0**exponents, persistent=False)

    def bias(self, n_query: int, n_key: int) -> LinearBias:
        return LinearBias(self.slopes, n_query, n_key)


def _angles(n: int, width: int) -> Tensor:
    """pos / 10000^(2i/width) for n positions and each pair i of dimensions: (n, ⌈width / 2⌉)."""
    pairs = torch.arange(0, width, 2, dtype=torch.float32)
    frequencies = 10000.0 ** (-pairs / max(width, 1))
    return torch.arange(n, dtype=torch.float32)[:, None] * frequencies
