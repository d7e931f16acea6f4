"""Text made for testing: random pieces said again, and minimal pairs."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from model.errors import HeadlightError
from model.languages import english
from model.tokenizer import BYTES, DIGITS, JOIN, LETTERS, PUNCTUATION, SPECIAL, WHITE
from tests.stories import N_PIECES, NOUN_OF, OF_MEANING, at, lower

# Repeats


def test_in_repeats_the_last_time_tells_what_comes_next():
    rng = random.Random(3)
    for _ in range(50):
        passage = english.repeats(rng, N_PIECES)
        assert len(passage.pieces) == N_PIECES
        inductions = [t for t in passage.truths if t.role == "induction"]
        duplicates = [t for t in passage.truths if t.role == "duplicate"]
        assert len(inductions) >= N_PIECES // 2 - 1
        for truth in inductions:
            assert at(passage, truth.row + 1) == truth.answer
            assert all(at(passage, column) == truth.answer for column in truth.right)
            assert all(at(passage, c - 1) == at(passage, truth.row) for c in truth.right)
        for truth in duplicates:
            assert truth.right == tuple(
                c for c in range(truth.row - 1, 0, -1) if at(passage, c) == at(passage, truth.row)
            )


def test_repeats_train_every_fallback_piece(english_tokenizer):
    rng = random.Random(4)
    seen = {piece for _ in range(1_000) for piece in english.repeats(rng, N_PIECES).pieces}
    assert {*BYTES, *LETTERS, *DIGITS, *PUNCTUATION, *WHITE, JOIN} <= seen
    assert seen == set(english_tokenizer.pieces) - set(SPECIAL)
    none = {p for _ in range(50) for p in english.repeats(rng, N_PIECES, fallback_share=0).pieces}
    assert none <= set(english.vocabulary())


# Minimal pairs


@pytest.mark.parametrize("role", OF_MEANING)
def test_minimal_pairs_differ_only_in_who_plays_the_role(role, english_tokenizer):
    pairs = english.minimal_pairs(role, random.Random(5), 200)
    assert len({(first.text, second.text) for first, second in pairs}) == 200
    first_is_nearer = 0
    for pair in pairs:
        truths = []
        for passage in pair:
            (truth,) = (t for t in passage.truths if t.role == role)
            assert len(truth.right) == len(truth.wrong) == 1
            assert english_tokenizer.encode(passage.text) == english_tokenizer.ids(passage.pieces)
            truths.append((at(passage, truth.right[0]), at(passage, truth.wrong[0])))
            first_is_nearer += truth.right < truth.wrong
        (right, wrong), (other_right, other_wrong) = truths
        assert {_stem(right), _stem(wrong)} == {_stem(other_right), _stem(other_wrong)}
        assert (right, wrong) != (other_right, other_wrong)
    # No place gives the role away: the one meant stands first in some pairs and last in others.
    assert 0.2 < first_is_nearer / 400 < 0.8


def _stem(piece: str) -> str:
    return NOUN_OF[lower(piece)].singular if lower(piece) in NOUN_OF else piece


def test_pronoun_pairs_have_every_order_and_differ_in_the_pronoun_alone():
    pairs = english.minimal_pairs("pronoun", random.Random(6), 200)
    orders = Counter()
    for first, second in pairs:
        end = first.pieces.index(".") + 1
        assert first.pieces[:end] == second.pieces[:end]
        assert {first.pieces[end], second.pieces[end]} == {"He", "She"}
        (truth,) = (t for t in first.truths if t.role == "pronoun")
        orders[(first.pieces[end], truth.right < truth.wrong)] += 1
    assert set(orders) == {("He", True), ("She", True)}


def test_unknown_roles_and_splits_are_refused():
    with pytest.raises(HeadlightError, match="subject, verb, pronoun, reflexive"):
        english.minimal_pairs("colour", random.Random(0), 1)
    with pytest.raises(HeadlightError, match="held_out"):
        english.story(random.Random(0), split="test")
