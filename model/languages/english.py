"""A small English: stories that a program tells, with the truth about each of them.

story(rng, n_pieces, split)    a story, cut to n_pieces, with its truths
repeats(rng, n_pieces)         random pieces, said again and again
minimal_pairs(role, rng, n)    pairs of passages that differ only in who plays the role
vocabulary()                   every word that a story can hold
"""

from __future__ import annotations

import random
from functools import lru_cache

from model.languages import lexicon as lex
from model.languages.narrator import Narrator
from model.languages.pairs import minimal_pairs
from model.languages.passage import Passage, Truth
from model.languages.sentences import KINDS, WEIGHTS
from model.tokenizer import BYTES, DIGITS, JOIN, LETTERS, PUNCTUATION, QUOTES, WHITE

__all__ = ["minimal_pairs", "repeats", "story", "vocabulary"]

_FALLBACK = (*WHITE, JOIN, *QUOTES, *PUNCTUATION, *DIGITS, *LETTERS, *BYTES)


def story(rng: random.Random, n_pieces: int = 127, split: str = "train") -> Passage:
    """A story about one or two people and some things, exactly n_pieces long.

    split: "train" or "held_out"; they share no (noun, adjective, verb) triple.
    """
    narrator = Narrator(rng, split)
    while len(narrator.pieces) < n_pieces:
        rng.choices(KINDS, cum_weights=WEIGHTS)[0](narrator)
    return narrator.passage(n_pieces)


def repeats(rng: random.Random, n_pieces: int = 127, fallback_share: float = 0.2) -> Passage:
    """Random pieces, no two alike, said again and again: only the repetition can be foreseen.

    fallback_share: how many of them are letters, digits, marks or bytes, so that those are trained
    too. Such pieces need not be what encode gives for their text.
    """
    period = rng.randint(8, max(8, n_pieces // 2))
    n_fallback = sum(rng.random() < fallback_share for _ in range(period))
    block = rng.sample(_FALLBACK, n_fallback) + rng.sample(vocabulary(), period - n_fallback)
    rng.shuffle(block)
    pieces = tuple(block[index % period] for index in range(n_pieces))
    truths: list[Truth] = []
    for row in range(period + 1, n_pieces + 1):
        earlier = tuple(range(row - period, 0, -period))
        truths.append(Truth("duplicate", row, earlier))
        if row < n_pieces:
            after = tuple(column + 1 for column in earlier)
            truths.append(Truth("induction", row, after, answer=pieces[row]))
    return Passage(pieces, tuple(truths))


@lru_cache(maxsize=1)
def _vocabulary() -> tuple[str, ...]:
    words = [*lex.WOMEN, *lex.MEN, *lex.SURNAMES, "'s"]
    words += [form for noun in lex.NOUNS for form in (noun.singular, noun.plural)]
    words += [word for group in lex.PREDICATES.values() for word in group]
    words += lex.ADJECTIVES
    verbs = [verb for group in lex.DOES.values() for verb in group]
    verbs += [verb for verb, _ in lex.DONE_BY_PEOPLE + lex.DONE_BY_ANIMALS + lex.REFLEXIVES]
    verbs += [*lex.HAVE_MET, lex.SAY, lex.THINK, lex.GIVE, lex.SIT, lex.GO, lex.ASK, lex.ANSWER]
    words += [form for verb in verbs for form in verb]
    words += [word for profession in lex.PROFESSIONS for word in profession]
    words += [*lex.STARTERS, *lex.OTHERS]
    words += [word.capitalize() for word in lex.STARTERS]
    words += [noun.plural.capitalize() for noun in lex.NOUNS if noun.kind in lex.BARE_KINDS]
    return tuple(dict.fromkeys(words))


def vocabulary() -> list[str]:
    """Every word that a story can hold, in a fixed order."""
    return list(_vocabulary())
