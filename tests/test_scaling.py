"""Why q·k is divided by √d_k: what is measured agrees with what can be proved."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from model import measures, scaling
from model.errors import HeadlightError
from model.scaling import D_KS, ENTRIES, N_KEYS, N_PAIRS

SEEDS = range(20)


# --- one row ------------------------------------------------------------------------------------


def test_a_score_is_the_sum_of_the_products():
    generator = torch.Generator().manual_seed(3)
    vectors = torch.randn(5, D_KS[-1], generator=generator).double()
    q, keys = vectors[0, :8], vectors[1:, :8]
    by_hand = [sum(float(q[i] * k[i]) for i in range(8)) for k in keys]
    assert scaling.row_of_scores(8, 4, seed=3) == pytest.approx(by_hand)


def test_more_keys_leave_those_there_are():
    few, many = scaling.row_of_scores(16, 4, seed=1), scaling.row_of_scores(16, 64, seed=1)
    assert np.allclose(few, many[:4])


def test_another_seed_draws_another_row():
    assert not np.allclose(scaling.row_of_scores(16, 4, 1), scaling.row_of_scores(16, 4, 2))


@pytest.mark.parametrize(("d_k", "n_keys"), [(0, 4), (2048, 4), (16, 5)])
def test_what_cannot_be_drawn_is_refused(d_k: int, n_keys: int):
    with pytest.raises(HeadlightError):
        scaling.row_of_scores(d_k, n_keys, seed=0)


# --- the variance -------------------------------------------------------------------------------


@pytest.mark.parametrize("entries", ENTRIES)
def test_the_variance_grows_as_theory_says(entries: str):
    """Independent draws for each d_k, standard errors from the fourth moment, 20 seeds: at most 1 %
    of the points lie outside three standard errors."""
    outside = [
        np.abs(drawn.variance - drawn.expected_variance) > 3 * drawn.variance_error
        for drawn in (scaling.sweep(entries, 2, seed) for seed in SEEDS)
    ]
    assert np.mean(outside) <= 0.01


@pytest.mark.parametrize("entries", ENTRIES)
def test_the_moments_of_one_product_are_those_of_the_formulas(entries: str):
    generator = torch.Generator().manual_seed(0)
    q, k = ENTRIES[entries].draw((4_000_000,), generator)
    product = (q * k).double()
    centred = product - product.mean()
    variance = float(centred.square().mean())
    fourth = float(centred.pow(4).mean()) - 3 * variance**2
    assert float(product.mean()) == pytest.approx(ENTRIES[entries].mean, abs=0.01)
    assert variance == pytest.approx(ENTRIES[entries].variance, rel=0.01)
    assert fourth == pytest.approx(ENTRIES[entries].fourth_cumulant, rel=0.1, abs=0.01)


def test_the_standard_error_is_what_variances_scatter_by():
    error = ENTRIES["normal"].variance_error(4, n=200)
    generator = torch.Generator().manual_seed(0)
    q, k = ENTRIES["normal"].draw((2_000, 200, 4), generator)
    scatter = float((q * k).sum(-1).var(dim=-1).std())
    assert scatter == pytest.approx(float(error), rel=0.05)


def test_each_d_k_has_draws_of_its_own():
    pairs = scaling.sweep(seed=0).pairs
    between = np.corrcoef(pairs)[np.triu_indices(len(D_KS), 1)]
    assert np.abs(between).max() < 5 / math.sqrt(N_PAIRS)


# --- the softmax --------------------------------------------------------------------------------


def test_at_d_k_1_scaled_is_unscaled():
    drawn = scaling.sweep(n_keys=12, seed=0)
    at = D_KS.index(1)
    assert np.array_equal(drawn.weights(scaled=True)[at], drawn.weights(scaled=False)[at])


def test_every_row_holds_its_own_pair():
    """Row r of a group asks with query r, so its own key is the r-th of the group."""
    drawn = scaling.sweep("wide", n_keys=48, seed=5)
    n_queries = drawn.rows.shape[1] // (N_PAIRS // 48)
    rows = drawn.rows.reshape(len(D_KS), -1, n_queries, 48)
    own = np.stack([rows[:, :, r, r] for r in range(n_queries)], axis=-1)
    pairs = drawn.pairs.reshape(len(D_KS), -1, 48)[..., :n_queries]
    np.testing.assert_allclose(own, pairs, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("n_keys", N_KEYS)
def test_measures_stay_between_their_closed_forms(n_keys: int):
    drawn = scaling.sweep(n_keys=n_keys, seed=0)
    for divided in (True, False):
        found = scaling.saturation(drawn, divided)
        assert (found.largest >= 1 / n_keys).all() and (found.largest <= 1).all()
        assert (found.entropy >= 0).all() and (found.entropy <= math.log2(n_keys) + 1e-9).all()
        assert (found.jacobian >= 0).all() and (found.jacobian <= 0.5 + 1e-9).all()


def test_without_the_scale_wide_heads_saturate_and_with_it_none_do():
    drawn = scaling.sweep(n_keys=12, seed=0)
    scaled, unscaled = scaling.saturation(drawn, True), scaling.saturation(drawn, False)
    assert unscaled.largest[0, -1] > 0.9 > 0.4 > scaled.largest[0, -1]
    assert unscaled.saturated[-1] > 0.5 and scaled.saturated[-1] == 0


# --- the Jacobian of the softmax ----------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.0, 1.0, 8.0, 30.0, 300.0])
@pytest.mark.parametrize("n_keys", [2, 7, 64])
def test_jacobian_norms_equal_autograds(n_keys: int, factor: float):
    scores = factor * torch.randn(n_keys, generator=torch.Generator().manual_seed(n_keys)).double()
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    norm = measures.jacobian_norm(scores.softmax(-1).numpy()[None])[0]
    assert norm == pytest.approx(float(torch.linalg.matrix_norm(jacobian)), abs=1e-6)


@pytest.mark.parametrize("n", [2, 3, 12, 512])
def test_the_jacobian_of_equal_weights_has_its_closed_form(n: int):
    equal = np.full((1, n), 1 / n)
    assert measures.jacobian_norm(equal)[0] == pytest.approx(scaling.uniform_jacobian_norm(n))
    assert scaling.uniform_jacobian_norm(n) == pytest.approx(math.sqrt(n - 1) / n)


def test_the_jacobian_of_a_one_hot_row_is_exactly_zero():
    assert measures.jacobian_norm(np.eye(5)).max() == 0


def test_a_nearly_one_hot_row_has_a_small_norm_and_no_noise():
    rest = 1e-9
    row = np.array([[1 - rest, rest]])
    # J = p (1 - p) [[1, -1], [-1, 1]], whose norm is 2 p (1 - p).
    assert measures.jacobian_norm(row)[0] == pytest.approx(2 * rest * (1 - rest), rel=1e-6)
