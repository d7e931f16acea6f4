"""Who and what a story is about, and which clauses are kept from training."""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from model.languages import lexicon as lex

HELD_OUT = 4  # one in four (noun, adjective, verb) triples is kept from training
NONE = "-"  # stands for the adjective in the triple of a noun without one
_NEW_NAMES = 0.05  # share of people with a name in no list, spelled in letters


@dataclass(slots=True, eq=False)
class Person:
    """One of the cast. rows: where the name stands so far, surname and letters included."""

    first: str
    surname: str | None
    gender: str
    spelled: bool = False
    rows: list[int] = field(default_factory=list)

    @property
    def favourite(self) -> lex.Verb:
        """What this person mostly does; it goes with the name, so that a pronoun foretells it."""
        return FAVOURITE.get(self.first, lex.WORK)

    @property
    def habit(self) -> tuple[lex.Verb, str | None]:
        """What this person mostly does to himself or herself."""
        return HABIT.get(self.first, lex.REFLEXIVES[0])


@dataclass(slots=True, eq=False)
class Thing:
    """An animal, object, place or nameless person, one or several. rows: where the noun stands."""

    noun: lex.Noun
    plural: bool = False
    adjective: str | None = None
    rows: list[int] = field(default_factory=list)


class Phrase(NamedTuple):
    """How a thing will be mentioned next, decided before it is written."""

    thing: Thing
    determiner: str = "the"
    adjective: str | None = None


class Subject(NamedTuple):
    """What a verb agrees with, and the rival nouns or names that stand before the verb too."""

    rows: Sequence[int]
    plural: bool
    rivals: Sequence[int] = ()


class Statement(NamedTuple):
    """What is said of a subject: it does something, is some way, or is by something else."""

    verb: lex.Verb | None = None
    predicate: str | None = None
    place: tuple[str, str] | None = None  # preposition, group

    @property
    def word(self) -> str:
        """The word that stands for the statement in a triple."""
        if self.verb:
            return self.verb.base
        return self.predicate or (self.place[0] if self.place else NONE)


FAVOURITE = {
    name: lex.DOES["person"][index % len(lex.DOES["person"])]
    for names in (lex.WOMEN, lex.MEN)
    for index, name in enumerate(names)
}
HABIT = {
    name: lex.REFLEXIVES[index % len(lex.REFLEXIVES)]
    for names in (lex.WOMEN, lex.MEN)
    for index, name in enumerate(names)
}


@cache
def is_held_out(noun: str, adjective: str | None, verb: str) -> bool:
    """Whether a clause is kept from training; the same on every machine, unlike hash()."""
    return zlib.crc32(f"{noun} {adjective or NONE} {verb}".encode()) % HELD_OUT == 0


@cache
def statements(noun: lex.Noun, adjective: str | None, held_out: bool) -> tuple[list, list, list]:
    """All that a split may say of a noun phrase: what it does, how it is, where it is."""
    made = (
        [Statement(verb=verb) for verb in lex.DOES[noun.kind]],
        [Statement(predicate=word) for word in lex.PREDICATES[noun.kind]],
        [Statement(place=place) for place in lex.RELATIONS[noun.kind] if place[0] in lex.FRONTED],
    )
    does, is_some_way, is_somewhere = (
        [one for one in group if is_held_out(noun.singular, adjective, one.word) == held_out]
        for group in made
    )
    return does, is_some_way, is_somewhere


@cache
def actions(noun: lex.Noun, adjective: str | None, held_out: bool) -> list[lex.Action]:
    """What a person or an animal may do to something, in this split."""
    return [
        action
        for action in lex.DONE_BY.get(noun.kind, ())
        if is_held_out(noun.singular, adjective, action.verb.base) == held_out
    ]


def new_person(rng: random.Random, gender: str) -> Person:
    """Someone with a name of this gender; now and then one that has to be spelled out."""
    surname = rng.choice(lex.SURNAMES) if rng.random() < 0.4 else None
    if rng.random() < _NEW_NAMES:
        return Person(new_name(rng), surname, gender, spelled=True)
    return Person(rng.choice(lex.WOMEN if gender == "f" else lex.MEN), surname, gender)


def new_thing(rng: random.Random, *groups: str) -> Thing:
    """Something of one of these kinds or groups, or of any."""
    # Of any kind: now and then the kind is drawn first, so that small kinds are not rare.
    groups = groups or (tuple(lex.PREDICATES) if rng.random() < 0.3 else ())
    noun = rng.choice(lex.GROUPS[rng.choice(groups)] if groups else lex.NOUNS)
    adjective = rng.choice(lex.ADJECTIVES[noun.kind]) if rng.random() < 0.45 else None
    return Thing(noun, rng.random() < 0.5, adjective)


def new_name(rng: random.Random) -> str:
    """A first name that is in no list: two or three syllables, now and then with an accent."""
    name = "".join(
        rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)
        for _ in range(rng.choice((2, 2, 3)))
    ).capitalize()
    # Where a passage is cut inside the name, what is left must not be a known word.
    parts = (name[:length] for length in range(1, len(name) + 1))
    return new_name(rng) if any(part in _known_words() for part in parts) else name


_ONSETS = "bcdfghjklmnprstvwxzçñš"
_VOWELS = "aeiouyaeiouyéèöüäí"
_CODAS = ("", "", "", "n", "r", "k", "l", "s")


@cache
def _known_words() -> frozenset[str]:
    return frozenset(lex.vocabulary())
