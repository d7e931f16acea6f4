"""A small English: stories that a program tells, with the truth about each of them.

story           a story, cut to a number of pieces, with its truths
repeats         random pieces, said again and again
some_pieces     a few of all pieces
minimal_pairs   pairs of passages that differ only in who plays a role
MARKS           what stands beside the words
SIGNS           those of them that a sentence is made of
vocabulary      every word that a story can hold
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from model.errors import HeadlightError
from model.languages import people, reflexives, things  # noqa: F401  (they register sentences)
from model.languages.lexicon import vocabulary
from model.languages.narrator import Narrator
from model.languages.pairs import minimal_pairs
from model.languages.parts import KINDS, WEIGHTS
from model.languages.passage import Passage, Truth
from model.tokenizer import FALLBACK, JOIN, QUOTES, SPECIAL, WHITE

__all__ = ["MARKS", "SIGNS", "minimal_pairs", "repeats", "some_pieces", "story", "vocabulary"]

# What stories write beside words, and in a few places letters (names that are in no list).
SIGNS = (*QUOTES, *".,:?!()")
MARKS = (*WHITE, JOIN, *SIGNS)
_FALLBACK = tuple(piece for piece in FALLBACK if piece not in SPECIAL)
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


def some_pieces(n: int, fallback_share: float = 0.2) -> list[str]:
    """n pieces, always the same, of which this share spells out unknown words."""
    return _draw(random.Random(n), n, round(n * fallback_share))


def repeats(
    rng: random.Random,
    n_pieces: int = 127,
    fallback_share: float = 0.2,
    among: Sequence[str] | None = None,
) -> Passage:
    """Random pieces, no two alike, said again and again: only the repetition can be foreseen.

    fallback_share: how many of them are letters, digits, marks, white space or bytes, so that these
    are trained too. Such pieces need not be what a tokenizer makes of their text. among: the only
    pieces to draw from, half of n_pieces or more.
    """
    period = rng.randint(min(8, n_pieces), max(8, n_pieces // 2))
    if among is not None:
        block = rng.sample(among, period)
    else:
        block = _draw(rng, period, sum(rng.random() < fallback_share for _ in range(period)))
    pieces = tuple((block * (n_pieces // period + 1))[:n_pieces])
    truths: list[Truth] = []
    for row in range(period + 1, n_pieces + 1):
        earlier = tuple(range(row - period, 0, -period))
        truths.append(Truth("duplicate", row, earlier))
        if row < n_pieces:
            after = tuple(column + 1 for column in earlier)
            truths.append(Truth("induction", row, after, answer=pieces[row]))
    return Passage(pieces, tuple(truths))


def _draw(rng: random.Random, n: int, n_fallback: int) -> list[str]:
    block = rng.sample(_FALLBACK, n_fallback) + rng.sample(_WORDS, n - n_fallback)
    rng.shuffle(block)
    return block
