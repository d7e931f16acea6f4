"""Minimal pairs: two passages with the same two candidates that differ in who plays the role."""

from __future__ import annotations

import random
from collections.abc import Callable

from model.errors import HeadlightError
from model.languages import lexicon as lex
from model.languages.narrator import SUBJECT_PRONOUN, Narrator, Person, Phrase, Subject, Thing
from model.languages.passage import Passage
from model.languages.sentences import and_self, thinks_self, who_self

Pair = tuple[Passage, Passage]


def _narrator(seed: int) -> Narrator:
    """A narrator of held-out text; two with one seed choose alike."""
    narrator = Narrator(random.Random(seed), "held_out")
    narrator.noise = ""
    return narrator


def _man_and_woman(rng: random.Random) -> tuple[Person, Person]:
    people = [
        Person(rng.choice(names), None, gender, lex.DOES["person"][0])
        for names, gender in ((lex.WOMEN, "f"), (lex.MEN, "m"))
    ]
    rng.shuffle(people)
    return people[0], people[1]


def _agreement(rng: random.Random) -> Pair | None:
    """The key near the cabinets is … / The keys near the cabinet are …, or
    The dog near the cats sleeps. / Near the dog the cats sleep."""
    first, second = rng.sample(lex.NOUNS, 2)
    plural, seed, preposition = rng.random() < 0.5, rng.getrandbits(32), rng.choice(_PREPOSITIONS)
    if rng.random() < 0.5:
        passages = [
            _noun_near_noun(seed, preposition, Thing(first, number, None), second)
            for number in (plural, not plural)
        ]
    else:
        passages = [
            _noun_near_noun(seed, preposition, Thing(first, plural, None), second),
            _near_noun_noun(seed, preposition, Thing(first, plural, None), second),
        ]
    return (passages[0], passages[1]) if all(passages) else None


_PREPOSITIONS = ("near", "behind", "beside", "under")


def _noun_near_noun(seed: int, preposition: str, thing: Thing, other: lex.Noun) -> Passage | None:
    s = _narrator(seed)
    s.past = False
    phrase = Phrase(thing, "the", None)
    statement = s.statement(phrase)
    if not statement:
        return None
    row = s.noun(phrase)
    s.write(preposition)
    rival = s.noun(Phrase(Thing(other, not thing.plural, None), "the", None))
    s.state(statement, Subject((row,), thing.plural, (rival,)), phrase)
    s.stop()
    return s.passage()


def _near_noun_noun(seed: int, preposition: str, thing: Thing, other: lex.Noun) -> Passage | None:
    s = _narrator(seed)
    s.past = False
    phrase = Phrase(Thing(other, not thing.plural, None), "the", None)
    statement = s.statement(phrase)
    if not statement:
        return None
    s.write(preposition)
    rival = s.noun(Phrase(thing, "the", None))
    row = s.noun(phrase)
    s.state(statement, Subject((row,), not thing.plural, (rival,)), phrase)
    s.stop()
    return s.passage()


def _pronoun(rng: random.Random) -> Pair:
    """Mary gave the book to John. She (Mary) … / Mary gave the book to John. He (John) …"""
    names = _man_and_woman(rng)
    seed, gives = rng.getrandbits(32), rng.random() < 0.7
    meets, smiles = rng.choice(lex.HAVE_MET), rng.choice(lex.DOES["person"])
    passages = []
    for who in (0, 1):
        s = _narrator(seed)
        s.cast = [Person(one.first, None, one.gender, one.favourite) for one in names]
        first, second = s.cast
        verb = lex.GIVE if gives else meets
        s.do(verb, Subject(s.name(first), False), negative=0)
        if gives:
            s.noun(s.object_of(lex.GIVE, ("food", "paper", "metal")))
            s.write("to")
        s.name(second)
        s.stop()
        person, rivals = s.cast[who], s.cast[1 - who].rows
        row = s.write(SUBJECT_PRONOUN[person.gender])
        s.truth("pronoun", row, person.rows, rivals)
        rows = (row, *s.gloss(person, list(rivals)))
        s.do(smiles, Subject(rows, False), negative=0)
        s.stop()
        passages.append(s.passage())
    return passages[0], passages[1]


def _reflexive(rng: random.Random) -> Pair:
    """Mary, who knows John, enjoys herself. / John, who knows Mary, enjoys himself."""
    names = _man_and_woman(rng)
    # The one that is meant comes first in half of the pairs and last in the other half.
    way = rng.choice((thinks_self, thinks_self, who_self, and_self))
    seed = rng.getrandbits(32)
    passages = []
    for who in (0, 1):
        s = _narrator(seed)
        s.cast = [Person(one.first, None, one.gender, one.favourite) for one in names]
        way(s, (s.cast[who], s.cast[1 - who]))
        s.stop()
        passages.append(s.passage())
    return passages[0], passages[1]


_MAKERS: dict[str, Callable[[random.Random], Pair | None]] = {
    "subject": _agreement,
    "verb": _agreement,
    "pronoun": _pronoun,
    "reflexive": _reflexive,
}


def minimal_pairs(role: str, rng: random.Random, n: int) -> list[Pair]:
    """n different pairs for a role of meaning: "subject", "verb", "pronoun" or "reflexive".

    Each passage has one truth of the role, with one right column and one wrong one. Nouns, adjectives
    and verbs meet only in ways that are kept from training.
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
