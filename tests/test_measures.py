"""What the measures say of rows small enough to check by hand."""

from __future__ import annotations

import numpy as np
import pytest

from model import measures
from model.errors import HeadlightError

CAUSAL = np.tri(4, dtype=bool)
EVEN = CAUSAL / CAUSAL.sum(axis=1, keepdims=True)
ITSELF = np.eye(4)
FIRST = np.eye(4)[[0, 0, 0, 0]]


def test_a_row_that_looks_at_one_token_alone_has_no_entropy():
    assert np.array_equal(measures.entropy(ITSELF), np.zeros(4))
    assert not np.signbit(measures.entropy(ITSELF)).any()  # never printed as -0.0
    assert np.array_equal(measures.effective_tokens(ITSELF), np.ones(4))


def test_an_even_row_has_the_largest_entropy_that_its_mask_allows():
    assert np.allclose(measures.entropy(EVEN), np.log2([1, 2, 3, 4]), atol=1e-12)
    assert np.allclose(measures.largest_entropy(CAUSAL), np.log2([1, 2, 3, 4]), atol=1e-12)
    assert np.allclose(measures.effective_tokens(EVEN), [1, 2, 3, 4], atol=1e-12)


def test_half_and_two_quarters_are_one_and_a_half_bits():
    assert measures.entropy(np.array([[0.5, 0.25, 0.25, 0.0]])) == pytest.approx([1.5])


def test_measures_stay_within_their_ranges_on_random_rows():
    generator = np.random.default_rng(0)
    weights = np.where(np.tri(50, dtype=bool), generator.random((50, 50)) ** 8, 0)
    weights = (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    mask = np.tri(50, dtype=bool)
    most = measures.largest_entropy(mask)
    assert (measures.entropy(weights) >= 0).all()
    assert (measures.entropy(weights) <= most + 1e-9).all()
    assert (measures.mean_distance(weights) <= np.arange(50) + 1e-9).all()
    assert 0 <= measures.rest(weights, mask) <= 1


def test_distance_counts_tokens_between_the_one_who_looks_and_the_one_looked_at():
    assert np.array_equal(measures.mean_distance(ITSELF), np.zeros(4))
    assert np.array_equal(measures.mean_distance(FIRST), [0, 1, 2, 3])
    assert measures.mean_distance(EVEN) == pytest.approx([0, 0.5, 1, 1.5])


def test_distance_is_refused_between_two_texts():
    with pytest.raises(HeadlightError, match="2 queries and 3 keys"):
        measures.mean_distance(np.full((2, 3), 1 / 3))


def test_the_strongest_key_of_a_tie_is_the_first():
    weights = np.array([[0.4, 0.4, 0.2], [0.0, 0.1, 0.9]])
    assert np.array_equal(measures.strongest_key(weights), [0, 2])


def test_a_head_that_always_looks_at_the_first_token_rests_there_fully():
    assert measures.rest(FIRST, CAUSAL) == 1.0


def test_the_first_row_of_a_causal_head_is_no_rest_because_it_has_no_choice():
    assert measures.rest(ITSELF, CAUSAL) == 0.0
    assert measures.rest(np.ones((1, 1)), np.ones((1, 1), dtype=bool)) == 0.0


def test_a_query_that_may_attend_to_nothing_is_counted_as_nothing():
    weights, mask = np.array([[0.0, 0.0], [0.5, 0.5]]), np.array([[False, False], [True, True]])
    assert measures.entropy(weights) == pytest.approx([0, 1])
    assert measures.effective_tokens(weights) == pytest.approx([0, 2])
    assert np.array_equal(measures.strongest_key(weights), [-1, 0])
    assert measures.largest_entropy(mask) == pytest.approx([0, 1])
    assert measures.rest(weights, mask) == pytest.approx(0.5)


def test_a_row_beside_a_learned_sink_is_measured_by_its_shares():
    full, half = np.array([[0.5, 0.5]]), np.array([[0.25, 0.25]])
    assert measures.entropy(half) == measures.entropy(full)
