"""Other ways to keep scores small: each does what its source says of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from model import scaling
from model.alternatives import METHODS, largest_weights
from model.scaling import D_KS, ENTRIES

D_K = np.array(D_KS, dtype=float)[:, None, None]


def scores(method: str, entries: str = "normal", setting: float = 1.0) -> np.ndarray:
    drawn = scaling.sweep(entries, n_keys=12, seed=0)
    return METHODS[method].scores(drawn.rows, drawn.lengths, D_K, setting)


def test_lengths_are_those_of_the_vectors():
    drawn = scaling.sweep("normal", n_keys=2, seed=3)
    generator = torch.Generator().manual_seed(3)
    q, k = ENTRIES["normal"].draw((scaling.N_PAIRS, 1), generator)
    by_hand = q[:2].abs() @ k[:2].abs().T  # d_k = 1: a length is an absolute value
    n_queries = drawn.rows.shape[1] // (scaling.N_PAIRS // 2)
    np.testing.assert_allclose(drawn.lengths[0, :n_queries], by_hand[:n_queries], rtol=1e-5)


@pytest.mark.parametrize("entries", ENTRIES)
def test_with_qk_norm_no_score_passes_its_gain(entries: str):
    assert np.abs(scores("qk_norm", entries, 4.0)).max() <= 4.0 + 1e-5


def test_qk_norm_does_not_see_how_long_the_vectors_are():
    """Entries twice as large leave every score as it is."""
    np.testing.assert_allclose(
        scores("qk_norm", "wide", 4.0), scores("qk_norm", "normal", 4.0), atol=1e-4
    )


def test_a_learned_temperature_of_one_is_the_papers_scale():
    drawn = scaling.sweep(n_keys=12, seed=0)
    scaled = drawn.weights(scaled=True).max(axis=-1).mean(axis=-1)
    np.testing.assert_allclose(largest_weights(drawn, "temperature", 1.0), scaled)


def test_one_over_d_k_keeps_the_score_of_a_key_that_is_like_its_query():
    """The mean score of correlated q and k is ρ for every width, and grows as √d_k by the root."""
    drawn = scaling.sweep("correlated", n_keys=2, seed=0)
    means = (drawn.pairs / np.array(D_KS)[:, None]).mean(axis=-1)
    assert means == pytest.approx([scaling.RHO] * len(D_KS), abs=0.06)


def test_a_soft_cap_bounds_the_score_and_leaves_small_ones_alone():
    scaled = scores("temperature", "wide")
    for cap in (2.0, 50.0):
        capped = scores("softcap", "wide", cap)
        assert np.abs(capped).max() <= cap
        small = np.abs(scaled) < 0.05 * cap
        np.testing.assert_allclose(capped[small], scaled[small], rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_weights_at_what_it_starts_from(method: str):
    drawn = scaling.sweep(n_keys=12, seed=0)
    start = METHODS[method].start
    largest = largest_weights(drawn, method, start(12) if start else 0.0)
    assert ((largest >= 1 / 12) & (largest <= 1)).all()
