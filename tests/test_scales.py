"""The factor on q·k of a real head: said in words, replaced, and what a whole model makes of it."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from model import measures, scales, zoo
from model.edits import Edits
from model.errors import HeadlightError
from model.evaluate import ids_of
from model.languages import english
from model.trace import HeadRef
from tests.tiny import TEXT, attention, tiny_model, traced

SENTENCE = "The keys to the old cabinet are rusty."


@pytest.fixture(scope="module")
def writer():
    return zoo.load("writer")


# --- in words -------------------------------------------------------------------------------------


def test_the_papers_factor_is_said_as_the_root_that_it_is():
    assert "1/√d_k = 1/√64 = 0.125" in scales.in_words(64**-0.5, 64)


def test_a_model_that_does_not_divide_says_so():
    """T5 has no factor at all."""
    words = scales.in_words(1.0, 64)
    assert "does not divide" in words and "1/√64" in words


def test_a_constant_of_its_own_is_written_as_what_it_is():
    """Gemma 2 27B divides by √144 where d_k is 128; Granite has a multiplier of its own."""
    assert "1/12 = 0.0833" in scales.in_words(144**-0.5, 128)
    assert "1/√224 = 0.0668" in scales.in_words(224**-0.5, 128)
    assert "1/128 = 0.00781" in scales.in_words(1 / 128, 64)
    assert "0.3," in scales.in_words(0.3, 64)


def test_one_over_d_k_is_named():
    assert "1/d_k = 1/64" in scales.in_words(1 / 64, 64)


def test_queries_that_arrive_multiplied_are_no_unscaled_ones():
    """OPT multiplies its queries by 1/√d_k and q·k by 1."""
    words = scales.in_words(1.0, 64, query_scale=64**-0.5)
    assert "arrive multiplied by 1/√d_k = 1/√64" in words
    assert scales.factor(scales.UNSCALED, 1.0, 64, 64**-0.5) == pytest.approx(8)


# --- factors --------------------------------------------------------------------------------------


def test_the_factors_are_in_order_and_none_comes_twice():
    for own in ((32**-0.5, 32, 1.0), (1.0, 64, 1.0), (1.0, 64, 0.125), (0.3, 16, 1.0)):
        values = list(scales.factors(*own).values())
        assert values == sorted(values)
        assert all(after > before * 1.000001 for before, after in pairwise(values))


def test_a_head_that_does_not_divide_has_its_own_factor_for_unscaled():
    own = (1.0, 64)
    assert scales.UNSCALED not in scales.factors(*own)
    assert scales.shown_name(scales.UNSCALED, *own) == scales.OWN
    root = scales.shown_name(scales.BY_ROOT, *own)
    assert scales.factors(*own)[root] == pytest.approx(1 / 8)


@pytest.mark.parametrize("name", scales.NAMES)
def test_another_factor_is_the_formula_with_another_factor(name: str):
    layer = attention(causal=True, scale=8**-0.5)
    changed = scales.under(layer, name)
    by_hand = layer.q[1] @ layer.k[0].T * scales.factor(name, 8**-0.5, 8)
    by_hand = by_hand.masked_fill(~layer.mask, float("-inf")).softmax(-1)
    torch.testing.assert_close(changed.weights(1), by_hand)


def test_its_own_factor_changes_nothing():
    layer = attention(causal=True)
    assert torch.equal(scales.under(layer, scales.OWN).weights(2), layer.weights(2))


# --- saturation -----------------------------------------------------------------------------------


def test_a_row_with_one_key_is_not_called_saturated():
    mask = np.tri(3, dtype=bool)
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]])
    assert scales.saturated_share(weights, mask) == 0.5  # of two rows that have a choice
    assert math.isnan(scales.saturated_share(weights[:1], mask[:1]))


def test_the_map_holds_every_head_and_grows_with_the_factor():
    trace = traced(text=TEXT)
    maps = [scales.saturation_map(trace, "decoder", name) for name in ("0.0625", "1", "64")]
    assert maps[0].shape == (2, 2)
    weights = trace.attention("decoder", 1).weights(1).numpy()
    mask = trace.attention("decoder", 1).mask.numpy()
    norms = measures.jacobian_norm(weights[1:])
    assert maps[1][1, 1] == (norms < measures.SATURATED).mean()
    assert mask[1:].sum(axis=1).min() > 1
    assert (maps[0] <= maps[2]).all() and maps[0].sum() < maps[2].sum()


# --- typed in -------------------------------------------------------------------------------------


def test_typed_vectors_become_a_head():
    head = scales.typed_attention("1 0\n0, 2", "3 4\n−1 0\n0 0")
    assert head.raw_scores(0).tolist() == [[3, -1, 0], [8, 0, 0]]
    assert head.scale == pytest.approx(2**-0.5)
    expected = F.scaled_dot_product_attention(head.q, head.k, torch.eye(3)[None])[0]
    torch.testing.assert_close(head.weights(0), expected)


@pytest.mark.parametrize(
    ("q", "k", "says"),
    [
        ("", "1 2", "q is empty"),
        ("1 2", "   \n", "k is empty"),
        ("1 x", "1 2", "Line 1 of q holds “x”"),
        ("1 2\n3", "1 2", "Line 2 of q has 1 numbers"),
        ("1 2", "1 2 3", "2 numbers and a key 3"),
        ("nan 1", "1 2", "nan"),
        ("1e300 1", "1 2", "1,000,000"),
        ("1 " * 65, "1", "at most"),
        ("1\n" * 65, "1", "at most"),
    ],
)
def test_what_is_no_matrix_is_refused_in_a_sentence(q: str, k: str, says: str):
    with pytest.raises(HeadlightError, match=says):
        scales.typed_attention(q, k)


# --- the whole model ------------------------------------------------------------------------------


def test_the_losses_are_those_of_the_logits():
    model = tiny_model()
    logits, ids = model.trace(TEXT).logits, model.ids(TEXT)
    expected = F.cross_entropy(logits[:-1].double(), torch.tensor(ids[1:]), reduction="none")
    np.testing.assert_allclose(model.losses(TEXT), expected.numpy(), rtol=1e-5)


def test_only_a_decoder_has_losses():
    with pytest.raises(HeadlightError, match="does not predict"):
        tiny_model("encoder").losses(TEXT)
    with pytest.raises(HeadlightError, match="no next token"):
        tiny_model().losses("")


def test_its_own_scale_set_explicitly_is_the_untouched_run(writer):
    own = writer.net.config.scale
    every = {HeadRef("decoder", layer, head): own for layer in range(4) for head in range(4)}
    untouched = writer.trace(SENTENCE)
    for edits in (Edits(scale=own), Edits(scale=every), Edits(scale_by=1.0)):
        again = writer.trace(SENTENCE, edits=edits)
        assert torch.equal(again.logits, untouched.logits)
        assert np.array_equal(writer.losses(SENTENCE, edits=edits), writer.losses(SENTENCE))


def test_another_scale_in_one_head_leaves_the_layers_below_alone(writer):
    edits = scales.multiplied(4.0, [HeadRef("decoder", 2, 1)])
    changed, untouched = writer.trace(SENTENCE, edits=edits), writer.trace(SENTENCE)
    same = [
        torch.equal(changed.attention("decoder", at).q, untouched.attention("decoder", at).q)
        for at in range(4)
    ]
    assert same == [True, True, True, False]
    assert not torch.allclose(changed.logits, untouched.logits)


def test_the_loss_is_lowest_near_the_scale_that_the_model_was_trained_with(writer):
    story = english.story(random.Random(5), 127, "held_out")
    curve = scales.loss_curve(writer, [ids_of(writer.tokenizer, story)])
    assert 0.7 < scales.CURVE[int(curve.argmin())] < 1.5
    assert curve[0] > curve.min() + 0.5 and curve[-1] > curve.min() + 0.5
    at_one = scales.CURVE.index(1.0)
    assert curve[at_one] == pytest.approx(
        writer.losses_of_ids(ids_of(writer.tokenizer, story)).mean()
    )
