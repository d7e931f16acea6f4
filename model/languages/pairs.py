"""Minimal pairs: two passages with the same two candidates that differ in who plays the role."""

from __future__ import annotations

import random
from collections.abc import Callable

from model.errors import HeadlightError
from model.languages import lexicon as lex
from model.languages.cast import Person, Phrase, Subject, Thing
from model.languages.narrator import Narrator, subject_of
from model.languages.passage import Passage
from model.languages.reflexives import and_self, thinks_self, who_self

Pair = tuple[Passage, Passage]
_AROUND = ("near", "behind", "beside")


def minimal_pairs(role: str, rng: random.Random, n: int) -> list[Pair]:
    """n different pairs for a role of meaning: "subject", "verb", "pronoun" or "reflexive".

    Each passage has one truth of the role, with one right column and one wrong one. Nouns and verbs
    meet only in ways that are kept from training.
    """
    if role not in _MAKERS:
        known = ", ".join(_MAKERS)
        raise HeadlightError(f"There are no minimal pairs for {role!r}; there are for {known}.")
    pairs: dict[Pair, None] = {}
    while len(pairs) < n:
        pair = _MAKERS[role](rng)
        if pair:
            pairs[pair] = None
    return list(pairs)


def _narrator(seed: int) -> Narrator:
    """A narrator of held-out text; two with one seed choose alike."""
    return Narrator(random.Random(seed), "held_out", plain=True)


def _agreement(rng: random.Random) -> Pair | None:
    """One noun keeps its place and changes its number, or keeps both and loses its part:

    The key near the cabinets is … / The keys near the cabinet are …
    The dog near the cats sleeps. / Near the dog the cats sleep.
    """
    one = rng.choice(lex.NOUNS)
    near = [kind for preposition, kind in lex.RELATIONS[one.kind] if preposition in _AROUND]
    if not near:
        return None
    other = rng.choice(lex.GROUPS[rng.choice(near)])
    plural, preposition, seed = rng.random() < 0.5, rng.choice(_AROUND), rng.getrandbits(32)
    if other == one:
        return None
    first = _near(seed, preposition, (one, plural), (other, not plural), fronted=False)
    if rng.random() < 0.5:
        second = _near(seed, preposition, (one, not plural), (other, plural), fronted=False)
    else:
        second = _near(seed, preposition, (other, not plural), (one, plural), fronted=True)
    return (first, second) if first and second else None


def _near(
    seed: int,
    preposition: str,
    subject: tuple[lex.Noun, bool],
    rival: tuple[lex.Noun, bool],
    fronted: bool,
) -> Passage | None:
    """The subject near the rival, or Near the rival the subject; None if nothing can be said."""
    s = _narrator(seed)
    s.past = False
    phrase, other = Phrase(Thing(*subject)), Phrase(Thing(*rival))
    statement = s.statement(phrase)
    if not statement or statement.place:  # a place would be a third candidate
        return None
    if fronted:
        s.write(preposition)
        rival_row = s.noun(other)
        row = s.noun(phrase)
    else:
        row = s.noun(phrase)
        s.write(preposition)
        rival_row = s.noun(other)
    s.state(statement, subject_of(phrase, row, (rival_row,)), phrase)
    s.stop()
    return s.passage()


def _pronoun(rng: random.Random) -> Pair:
    """Mary gave the book to John. She (Mary) … / Mary gave the book to John. He (John) …"""
    names, seed, gives = _man_and_woman(rng), rng.getrandbits(32), rng.random() < 0.7
    passages = []
    for who in (0, 1):
        s = _narrator(seed)
        s.cast = [Person(first, None, gender) for first, gender in names]
        first, second = s.cast
        if gives:
            gift = s.object_of(lex.Action(lex.GIVE, lex.GIFTS))
            s.object(s.do(lex.GIVE, Subject(s.name(first), False), 0), lex.GIVE, gift)
            s.write("to")
            s.name(second)
        else:
            verb = s.rng.choice(lex.MEETS)
            s.object_name(s.do(verb, Subject(s.name(first), False), 0), second)
        s.stop()
        rows = s.he_or_she(s.cast[who], gloss=1.0)
        s.do(s.rng.choice(lex.DOES["person"]), Subject(rows, False), negative=0)
        s.stop()
        passages.append(s.passage())
    return passages[0], passages[1]


def _reflexive(rng: random.Random) -> Pair:
    """Mary, who knows John, enjoys herself. / John, who knows Mary, enjoys himself."""
    names, seed = _man_and_woman(rng), rng.getrandbits(32)
    # The one that is meant comes first in half of the pairs and last in the other half.
    way = rng.choice((thinks_self, thinks_self, who_self, and_self))
    passages = []
    for order in (names, names[::-1]):
        s = _narrator(seed)
        s.cast = [Person(first, None, gender) for first, gender in order]
        way(s, (s.cast[0], s.cast[1]))
        s.stop()
        passages.append(s.passage())
    return passages[0], passages[1]


def _man_and_woman(rng: random.Random) -> list[tuple[str, str]]:
    people = [(rng.choice(lex.WOMEN), "f"), (rng.choice(lex.MEN), "m")]
    rng.shuffle(people)
    return people


_MAKERS: dict[str, Callable[[random.Random], Pair | None]] = {
    "subject": _agreement,
    "verb": _agreement,
    "pronoun": _pronoun,
    "reflexive": _reflexive,
}
