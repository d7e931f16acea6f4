"""Numbers that describe one head's attention, each with the range it can take.

Every function takes the arrays of a HeadView: `weights` (n_query, n_key), rows that sum to 1 (or
to 0 where a query may attend to nothing, or to less than 1 beside a learned sink), and `mask`
(n_query, n_key), True = may attend. Rows that sum to 1 are the rule; the others are renormalised,
since an entropy or a distance is a property of a distribution. Weights of exactly 0 are fine
everywhere.
"""

from __future__ import annotations

import numpy as np

from model.errors import HeadlightError

SATURATED = 0.01  # a row whose Jacobian norm lies below this passes hardly any gradient


def entropy(weights: np.ndarray) -> np.ndarray:
    """How undecided each row is: H = -sum_key w log2 w, with 0 log 0 = 0 (Shannon 1948).

    weights: (n_query, n_key). Returns float64 (n_query,) in bits: 0 (one key has everything) to
    `largest_entropy(mask)` (all visible keys alike); 0 for a row of zeros.
    """
    shares = _shares(weights)
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    # max() turns the -0.0 of a row with a single 1 into 0.0, which is what a page should print.
    return np.maximum(-(shares * logs).sum(axis=-1), 0.0)


def largest_entropy(mask: np.ndarray) -> np.ndarray:
    """The entropy that each row would have if it spread evenly: log2 of the number of visible keys.

    mask: (n_query, n_key) bool. Returns float64 (n_query,) in bits: 0 to log2(n_key); 0 for a row
    that sees one key or none.
    """
    return np.log2(np.maximum(np.asarray(mask, dtype=bool).sum(axis=-1), 1))


def effective_tokens(weights: np.ndarray) -> np.ndarray:
    """Among how many tokens each row chooses: 2^H, the number of equal shares with the same
    entropy.

    weights: (n_query, n_key). Returns float64 (n_query,), in tokens: 1 to the number of visible
    keys; 0 for a row of zeros.
    """
    return np.where(_totals(weights) > 0, np.exp2(entropy(weights)), 0.0)


def mean_distance(weights: np.ndarray) -> np.ndarray:
    """How far each row looks: sum_key w |query - key|. For self-attention, where both count alike.

    weights: (n, n). Returns float64 (n,), in tokens: 0 (itself) to n - 1; in a causal head row q
    reaches at most q; 0 for a row of zeros.
    Raises HeadlightError where there are not as many queries as keys.
    """
    shares = _shares(weights)
    n_query, n_key = shares.shape
    if n_query != n_key:
        raise HeadlightError(
            f"A distance needs one text on both sides, not {n_query} queries and {n_key} keys: "
            "take a self-attention head"
        )
    distance = np.abs(np.arange(n_query)[:, None] - np.arange(n_key))  # (n_query, n_key)
    return (shares * distance).sum(axis=-1)


def strongest_key(weights: np.ndarray) -> np.ndarray:
    """The key with the largest weight in each row; of equal ones the first.

    weights: (n_query, n_key). Returns int64 (n_query,): 0 to n_key - 1; -1 for a row of zeros.
    """
    strongest = np.argmax(weights, axis=-1)
    return np.where(_totals(weights) > 0, strongest, -1)


def rest(weights: np.ndarray, mask: np.ndarray) -> float:
    """The share of a head's weight that lies on the first token, where a head with nothing to do
    rests.

    Mean of weights[:, 0] over the rows that have a choice (two visible keys or more): a row that
    sees only the first token must give it everything, which says nothing of the head. Xiao et al.
    2023 (arXiv 2309.17453) describe these sinks.
    weights, mask: (n_query, n_key). Returns 0 to 1; 0 where no row has a choice.
    """
    mask = np.asarray(mask, dtype=bool)
    has_choice = mask[:, 0] & (mask.sum(axis=-1) > 1)
    return float(_shares(weights)[has_choice, 0].mean()) if has_choice.any() else 0.0


def largest_weight(weights: np.ndarray) -> np.ndarray:
    """The share of the key that each row looks at most.

    weights: (n_query, n_key). Returns float64 (n_query,): 1 / n_key (all alike) to 1 (one key has
    everything); 0 for a row of zeros.
    """
    return _shares(weights).max(axis=-1)


def jacobian_norm(weights: np.ndarray) -> np.ndarray:
    """How much each row's weights move when its scores do: the Frobenius norm of the softmax's
    Jacobian.

    J = diag(w) - w wᵀ      ‖J‖² = Σ_i w_i² (1 - w_i)² + Σ_{i≠j} w_i² w_j²
    √(n - 1) / n for n equal weights; 0 where one key has everything: then no gradient passes, and
    the row is called saturated below `SATURATED`.
    weights: (n_query, n_key). Returns float64 (n_query,): 0 to 1/2; 0 for a row of zeros.
    """
    shares = _shares(weights)
    squares = shares**2
    # Σ_{i≠j} as 2 Σ_{i<j}: taking Σ w⁴ from (Σ w²)² would leave noise of 1e-8 in one-hot rows.
    before = np.zeros_like(squares)  # the sum of the squares before each key
    np.cumsum(squares[..., :-1], axis=-1, out=before[..., 1:])
    return np.sqrt((squares * (1 - shares) ** 2 + 2 * squares * before).sum(axis=-1))


def _totals(weights: np.ndarray) -> np.ndarray:
    return np.asarray(weights, dtype=np.float64).sum(axis=-1)  # (n_query,)


def _shares(weights: np.ndarray) -> np.ndarray:
    """The rows in float64, each divided by its sum: float32 sums are off by 1e-7, which entropy
    shows."""
    weights = np.asarray(weights, dtype=np.float64)
    totals = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
