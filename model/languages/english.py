"""A small English: stories that a program tells, with the truth about each of them.

story           a story, cut to a number of pieces, with its truths
repeats         random pieces, said again and again
minimal_pairs   pairs of passages that differ only in who plays a role
vocabulary      every word that a story can hold
"""

from __future__ import annotations

import random

from model.errors import HeadlightError
from model.languages import people, reflexives, things  # noqa: F401  (they register sentences)
from model.languages.lexicon import vocabulary
from model.languages.narrator import Narrator
from model.languages.pairs import minimal_pairs
from model.languages.parts import KINDS, WEIGHTS
from model.languages.passage import Passage, Truth
from model.tokenizer import BYTES, DIGITS, JOIN, LETTERS, PUNCTUATION, QUOTES, WHITE

__all__ = ["minimal_pairs", "repeats", "story", "vocabulary"]

_FALLBACK = (*WHITE, JOIN, *QUOTES, *PUNCTUATION, *DIGITS, *LETTERS, *BYTES)
_WORDS = vocabulary()


def story(rng: random.Random, n_pieces: int = 127, split: str = "train") -> Passage:
    """A story about one or two people and some things, exactly n_pieces long.

    split: "train" or "held_out"; they share no (noun, adjective, verb) triple. Its pieces are those
    that a tokenizer with this vocabulary makes of its text.
    """
    if split not in ("train", "held_out"):
        raise HeadlightError(f'There is no split {split!r}; use "train" or "held_out".')
    narrator = Narrator(rng, split)
    while len(narrator.pieces) < n_pieces:
        rng.choices(KINDS, cum_weights=WEIGHTS)[0](narrator)
    return narrator.passage(n_pieces)


def repeats(rng: random.Random, n_pieces: int = 127, fallback_share: float = 0.2) -> Passage:
    """Random pieces, no two alike, said again and again: only the repetition can be foreseen.

    fallback_share: how many of them are letters, digits, marks, white space or bytes, so that these
    are trained too. Such pieces need not be what a tokenizer makes of their text.
    """
    period = rng.randint(min(8, n_pieces), max(8, n_pieces // 2))
    n_fallback = sum(rng.random() < fallback_share for _ in range(period))
    block = rng.sample(_FALLBACK, n_fallback) + rng.sample(_WORDS, period - n_fallback)
    rng.shuffle(block)
    pieces = tuple((block * (n_pieces // period + 1))[:n_pieces])
    truths: list[Truth] = []
    for row in range(period + 1, n_pieces + 1):
        earlier = tuple(range(row - period, 0, -period))
        truths.append(Truth("duplicate", row, earlier))
        if row < n_pieces:
            after = tuple(column + 1 for column in earlier)
            truths.append(Truth("induction", row, after, answer=pieces[row]))
    return Passage(pieces, tuple(truths))
