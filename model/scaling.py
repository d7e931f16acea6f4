"""Why q·k is divided by √d_k: the scores of random vectors, and what the softmax makes of them.

    q·k = Σ_{i=1}^{d_k} q_i k_i      Var(q·k) = d_k Var(q_i k_i)

"To illustrate why the dot products get large, assume that the components of q and k are independent
random variables with mean 0 and variance 1. Then their dot product has mean 0 and variance d_k"
(Vaswani et al. 2017, footnote 4). `ENTRIES` holds that assumption and some that break it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from model import measures
from model.attention import attention_scores, attention_weights
from model.errors import HeadlightError

D_KS = tuple(2**power for power in range(11))  # 1 to 1,024
N_PAIRS = 1536  # of q and k for each d_k; a multiple of every number of keys in N_KEYS
N_KEYS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512)
MOST_ROWS = 384  # at most so many of the pairs' queries also meet the other keys of their group,
MOST_WEIGHTS = 49_152  # and fewer where the rows are long, but one of each group at least


@dataclass(frozen=True)
class Entries:
    """How the entries of q and k are drawn, and what follows for their products.

    draw: (shape, generator) → q, k   mean, variance, fourth_cumulant: of one product q_i k_i, so
    those of q·k are d_k times as large
    """

    title: str
    draw: Callable[[tuple[int, ...], Generator], tuple[Tensor, Tensor]]
    mean: float
    variance: float
    fourth_cumulant: float

    def variance_error(self, d_k: np.ndarray | int, n: int) -> np.ndarray:
        """The standard error of a variance of q·k measured on n independent pairs.

        SE² = (μ₄ - σ⁴ (n - 3) / (n - 1)) / n,   μ₄ = d_k κ₄ + 3 σ⁴,   σ² = d_k Var(q_i k_i)
        (Mood, Graybill & Boes 1974, section VI.2).
        """
        variance = np.asarray(d_k) * self.variance
        fourth = np.asarray(d_k) * self.fourth_cumulant + 3 * variance**2
        return np.sqrt((fourth - variance**2 * (n - 3) / (n - 1)) / n)


def _normal(shape: tuple[int, ...], generator: Generator) -> tuple[Tensor, Tensor]:
    q, k = torch.randn((2, *shape), generator=generator)
    return q, k


def _uniform(shape: tuple[int, ...], generator: Generator) -> tuple[Tensor, Tensor]:
    q, k = (torch.rand((2, *shape), generator=generator) * 2 - 1) * 3**0.5  # variance 1
    return q, k


def _wide(shape: tuple[int, ...], generator: Generator) -> tuple[Tensor, Tensor]:
    q, k = _normal(shape, generator)
    return WIDE * q, WIDE * k


def _correlated(shape: tuple[int, ...], generator: Generator) -> tuple[Tensor, Tensor]:
    q, noise = _normal(shape, generator)
    return q, RHO * q + (1 - RHO**2) ** 0.5 * noise


WIDE = 2.0  # standard deviation
RHO = 0.3

# The cumulants of a product of two normal numbers of correlation ρ: mean ρ, variance 1 + ρ², fourth
# 6 (1 + 6 ρ² + ρ⁴); of two uniform ones of variance 1: 0, 1 and (9/5)² - 3.
ENTRIES = {
    "normal": Entries("normal, variance 1", _normal, 0.0, 1.0, 6.0),
    "uniform": Entries("uniform, variance 1", _uniform, 0.0, 1.0, 1.8**2 - 3),
    "wide": Entries(f"normal, σ = {WIDE:g}", _wide, 0.0, WIDE**4, 6.0 * WIDE**8),
    "correlated": Entries(
        f"q and k correlated, {RHO:g}",
        _correlated,
        RHO,
        1 + RHO**2,
        6 * (1 + 6 * RHO**2 + RHO**4),
    ),
}


def row_of_scores(d_k: int, n_keys: int, seed: int) -> np.ndarray:
    """One random query's dot products with n_keys random keys, entries normal with variance 1.

    The vectors of a seed are always the same 1,024 dimensions wide; a smaller d_k takes the first
    of them, and more keys are added after those there are.
    Returns float64 (n_keys,): q·k, unscaled.
    """
    _check(d_k, n_keys)
    vectors = torch.randn(1 + n_keys, D_KS[-1], generator=_generator(seed))[:, :d_k].double()
    return (vectors[1:] @ vectors[0]).numpy()


@dataclass(frozen=True)
class Sweep:
    """Random scores for every d_k of D_KS, drawn independently for each.

    pairs: (len(D_KS), N_PAIRS), q·k of independent pairs   rows: (len(D_KS), n_rows, n_keys), q·k
    of whole rows, the pair's own key among them; the rows of a group share their keys, as in a head
    lengths: |q| |k| of the same rows
    """

    entries: Entries
    pairs: np.ndarray
    rows: np.ndarray
    lengths: np.ndarray

    @property
    def n_keys(self) -> int:
        """How many keys each row has."""
        return self.rows.shape[-1]

    @property
    def variance(self) -> np.ndarray:
        """The measured variance of q·k: (len(D_KS),)."""
        return self.pairs.var(axis=-1, ddof=1)

    @property
    def expected_variance(self) -> np.ndarray:
        """What theory says, d_k Var(q_i k_i): (len(D_KS),)."""
        return np.array(D_KS) * self.entries.variance

    @property
    def variance_error(self) -> np.ndarray:
        """The standard error of `variance`: (len(D_KS),)."""
        return self.entries.variance_error(np.array(D_KS), self.pairs.shape[-1])

    def weights(self, scaled: bool) -> np.ndarray:
        """The softmax of every row, with or without the division by √d_k; as `rows`."""
        divisor = np.sqrt(D_KS)[:, None, None] if scaled else 1.0
        return attention_weights(torch.from_numpy(self.rows / divisor)).numpy()


def sweep(entries: str = "normal", n_keys: int = 12, seed: int = 0) -> Sweep:
    """Draws N_PAIRS of q and k for every d_k, and lets queries meet all keys of their group."""
    _check(1, n_keys)
    if entries not in ENTRIES:
        raise HeadlightError(f"entries={entries!r} is not known: take one of {', '.join(ENTRIES)}")
    drawn = ENTRIES[entries]
    generator = _generator(seed)
    n_groups = N_PAIRS // n_keys
    n_rows = min(MOST_ROWS, MOST_WEIGHTS // n_keys)
    n_queries = max(1, min(n_keys, n_rows // n_groups))  # of a group
    pairs, rows, lengths = [], [], []
    for d_k in D_KS:
        q, k = drawn.draw((N_PAIRS, d_k), generator)
        pairs.append(torch.linalg.vecdot(q, k))  # (N_PAIRS,)
        q, k = (x.view(n_groups, n_keys, d_k) for x in (q, k))
        q = q[:, :n_queries]
        rows.append(attention_scores(q, k, scale=1.0).view(-1, n_keys))
        lengths.append((q.norm(dim=-1)[..., None] * k.norm(dim=-1)[:, None]).view(-1, n_keys))
    return Sweep(drawn, *(torch.stack(made).double().numpy() for made in (pairs, rows, lengths)))


@dataclass(frozen=True)
class Saturation:
    """What the softmax makes of the rows of a sweep, by d_k: means, and where 80 % of rows lie.

    Each: (3, len(D_KS)): mean, tenth and ninetieth percentile. largest: the largest weight, 1/n to
    1   entropy: bits, 0 to log2 n   jacobian: its Frobenius norm, 0 to 1/2
    saturated: (len(D_KS),), the share of rows whose norm lies below measures.SATURATED
    """

    n_keys: int
    largest: np.ndarray
    entropy: np.ndarray
    jacobian: np.ndarray
    saturated: np.ndarray


def saturation(drawn: Sweep, scaled: bool) -> Saturation:
    """Largest weight, entropy and Jacobian norm of a sweep's rows, scaled or unscaled."""
    weights = drawn.weights(scaled)
    norms = measures.jacobian_norm(weights)
    return Saturation(
        drawn.n_keys,
        _mean_and_band(measures.largest_weight(weights)),
        _mean_and_band(measures.entropy(weights)),
        _mean_and_band(norms),
        (norms < measures.SATURATED).mean(axis=-1),
    )


def uniform_jacobian_norm(n_keys: int) -> float:
    """The norm of the softmax's Jacobian where n_keys weights are equal: √(n - 1) / n."""
    return (n_keys - 1) ** 0.5 / n_keys


def _mean_and_band(values: np.ndarray) -> np.ndarray:
    low, high = np.quantile(values, (0.1, 0.9), axis=-1)
    return np.stack([values.mean(axis=-1), low, high])


def _generator(seed: int) -> Generator:
    return Generator().manual_seed(seed)


def _check(d_k: int, n_keys: int) -> None:
    if not 1 <= d_k <= D_KS[-1]:
        raise HeadlightError(f"d_k={d_k} must be from 1 to {D_KS[-1]}")
    if n_keys not in N_KEYS:
        raise HeadlightError(f"n_keys={n_keys} is not one of {', '.join(map(str, N_KEYS))}")
