"""Who and what a story is about, and the phrases it is told in.

The narrator writes noun phrases, names, pronouns and verbs, and records what is true of each. The
kinds of sentences (model.languages.sentences) are built from these phrases.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from model.languages import lexicon as lex
from model.languages.passage import Draft
from model.tokenizer import CLOSE_QUOTE, JOIN, OPEN_QUOTE

HELD_OUT_SHARE = 4  # one in four (noun, adjective, verb) triples is kept from training
SUBJECT_PRONOUN = {"f": "she", "m": "he"}
OBJECT_PRONOUN = {"f": "her", "m": "him"}
REFLEXIVE = {"f": "herself", "m": "himself"}
_KINDS = tuple(lex.PREDICATES)
_NOUNS_OF = {kind: [noun for noun in lex.NOUNS if noun.kind == kind] for kind in _KINDS}
_FAVOURITE = {
    name: lex.DOES["person"][index % len(lex.DOES["person"])]
    for names in (lex.WOMEN, lex.MEN)
    for index, name in enumerate(names)
}


@lru_cache(maxsize=None)
def held_out(noun: str, adjective: str, verb: str) -> bool:
    """Whether a clause is kept from training; the same on every machine, unlike hash()."""
    return zlib.crc32(f"{noun} {adjective} {verb}".encode()) % HELD_OUT_SHARE == 0


@dataclass(slots=True, eq=False)
class Person:
    """One of the cast. rows: where the name stands so far, surname and letters included."""

    first: str
    surname: str | None
    gender: str
    favourite: lex.Verb
    spelled: bool = False
    rows: list[int] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Thing:
    """An animal, object, place or nameless person, one or several. rows: where the noun stands."""

    noun: lex.Noun
    plural: bool
    adjective: str | None
    rows: list[int] = field(default_factory=list)


class Phrase(NamedTuple):
    """How a thing will be mentioned next, decided before it is written."""

    thing: Thing
    determiner: str
    adjective: str | None


class Subject(NamedTuple):
    """What a verb agrees with: its rows, and the rivals that stand nearer or before it."""

    rows: Sequence[int]
    plural: bool
    rivals: Sequence[int] = ()


class Statement(NamedTuple):
    """What is said of a subject: it does something, is some way, or is somewhere."""

    verb: lex.Verb | None = None
    predicate: str | None = None


class Narrator(Draft):
    """A draft with a cast, things, a tense, and the phrases to tell of them."""

    def __init__(self, rng: random.Random, split: str = "train"):
        super().__init__()
        self.rng = rng
        self.held_out = split == "held_out"
        self.past = rng.random() < 0.4
        self.noise = rng.choice(("lines", "spaced", "double", "tight")) if self.odds(0.03) else ""
        genders = rng.choice(("fm", "mf", "fm", "mf", "f", "m"))
        self.cast = [self.new_person(gender) for gender in genders]
        self.things = [self.new_thing() for _ in range(2)]

    def odds(self, share: float) -> bool:
        """True in this share of the cases."""
        return self.rng.random() < share

    # Cast and things

    def new_person(self, gender: str) -> Person:
        """A person with a name of this gender; now and then one that has to be spelled out."""
        rng = self.rng
        surname = rng.choice(lex.SURNAMES) if self.odds(0.4) else None
        if self.odds(0.05):
            return Person(
                new_name(rng), surname, gender, rng.choice(lex.DOES["person"]), spelled=True
            )
        first = rng.choice(lex.WOMEN if gender == "f" else lex.MEN)
        return Person(first, surname, gender, _FAVOURITE[first])

    def new_thing(self, *kinds: str) -> Thing:
        """Something of one of these kinds, or of any."""
        rng = self.rng
        noun = rng.choice(_NOUNS_OF[rng.choice(kinds)] if kinds else lex.NOUNS)
        adjective = rng.choice(lex.ADJECTIVES_OF[noun.kind]) if self.odds(0.5) else None
        return Thing(noun, self.odds(0.5), adjective)

    def other(self, person: Person) -> Person | None:
        """The other person of the cast, if there is one."""
        return next((one for one in self.cast if one is not person), None)

    def rivals_of(self, person: Person) -> list[int]:
        """Where the other people of the cast stand."""
        return [row for one in self.cast if one is not person for row in one.rows]

    # What may be said

    def free(self, phrase: Phrase, verb: str) -> bool:
        """Whether this split may say this of the phrase."""
        noun, adjective = phrase.thing.noun.singular, phrase.adjective or "-"
        return held_out(noun, adjective, verb) == self.held_out

    def plan(self, thing: Thing, determiner: str | None = None) -> Phrase:
        """Decides how to mention a thing: new things with their adjective, known ones as "the"."""
        known = bool(thing.rows)
        adjective = None if known and self.odds(0.6) else thing.adjective
        if determiner is None:
            plain = known or self.odds(0.75)
            determiner = "the" if plain else self._determiner(thing.plural)
        return Phrase(thing, determiner, adjective)

    def _determiner(self, plural: bool) -> str:
        if plural:
            return self.rng.choice(("some", "two", "three", "these", "many"))
        return self.rng.choice(("a", "a", "a", "this", "every"))

    def statement(self, phrase: Phrase, doing: float = 0.35) -> Statement | None:
        """Something that suits the phrase and the split, or None if all of it is taken."""
        kind = phrase.thing.noun.kind
        if self.odds(doing):
            verbs = [verb for verb in lex.DOES[kind] if self.free(phrase, verb.base)]
            if verbs:
                return Statement(verb=self.rng.choice(verbs))
        words = [word for word in lex.PREDICATES[kind] if self.free(phrase, word)]
        return Statement(predicate=self.rng.choice(words)) if words else None

    def topic(self, *kinds: str, determiner: str | None = None) -> tuple[Phrase, Statement]:
        """A phrase and what to say of it; a thing of the story or a new one."""
        while True:
            known = not kinds and self.odds(0.4)
            thing = self.rng.choice(self.things) if known else self.new_thing(*kinds)
            phrase = self.plan(thing, determiner)
            statement = self.statement(phrase)
            if statement:
                return phrase, statement

    def object_of(self, verb: lex.Verb, kinds: Sequence[str]) -> Phrase:
        """Something the verb can be done to."""
        fitting = [thing for thing in self.things if thing.noun.kind in kinds]
        while True:
            known = fitting and self.odds(0.5)
            thing = self.rng.choice(fitting) if known else self.new_thing(*kinds)
            phrase = self.plan(thing)
            if self.free(phrase, verb.base):
                return phrase
            fitting = []

    # Noun phrases and names

    def noun(self, phrase: Phrase) -> int:
        """Writes a noun phrase and returns the row of its noun."""
        thing, adjective = phrase.thing, phrase.adjective
        noun = thing.noun.form(thing.plural)
        if phrase.determiner == "a":
            self.write("an" if (adjective or noun)[0] in "aeiou" else "a")
        elif phrase.determiner:
            self.write(phrase.determiner)
        if adjective:
            adjective_row = self.write(adjective)
        row = self.write(noun)
        if adjective:
            self.truth("adjective", row, (adjective_row,))
        thing.rows.append(row)
        if thing not in self.things:
            self.things = [*self.things[-3:], thing]
        return row

    def name(self, person: Person, full: bool = True) -> tuple[int, ...]:
        """Writes a person's name (always with the surname, if there is one) and returns its rows."""
        if person.spelled:
            rows = self.spell(person.first)
        else:
            rows = (self.write(person.first),)
        if full and person.surname:
            rows = (*rows, self.write(person.surname))
        person.rows += rows
        return rows

    def he_or_she(self, person: Person) -> tuple[int, ...]:
        """Writes the subject pronoun, often with the name in brackets after it; returns the rows."""
        row = self.write(SUBJECT_PRONOUN[person.gender])
        rivals = self.rivals_of(person)
        self.truth("pronoun", row, person.rows, rivals)
        return (row, *self.gloss(person, rivals)) if self.odds(0.3) else (row,)

    def gloss(self, person: Person, rivals: Sequence[int]) -> tuple[int, ...]:
        """Writes (Mary Stone), and records that the opening bracket asks for her."""
        opening = self.mark("(")
        if not person.spelled:
            other = self.other(person)
            rival = other.first if other and not other.spelled and rivals else None
            self.truth("gloss", opening, person.rows, rivals, person.first, rival)
        rows = self.name(person)
        self.truth("bracket", self.mark(")"), (opening,))
        return rows

    def it_or_they(self, thing: Thing, rivals: Sequence[int]) -> int:
        """Writes the pronoun of a thing just mentioned and returns its row."""
        gender = None if thing.plural else thing.noun.gender
        singular = SUBJECT_PRONOUN[gender] if gender else "it"
        row = self.write("they" if thing.plural else singular)
        self.truth("pronoun", row, thing.rows, [r for r in rivals if r not in thing.rows])
        return row

    # Verbs

    def agree(self, form: str, rival: str | None, subject: Subject) -> int:
        """Writes a verb, records where its subject is if that is not plain, returns its row."""
        row = self.write(form)
        if subject.rivals or row - 1 not in subject.rows:
            self.truth("subject", row - 1, subject.rows, subject.rivals, form, rival)
            self.truth("verb", row, subject.rows, subject.rivals)
        return row

    def do(self, verb: lex.Verb, subject: Subject, negative: float = 0.06) -> int:
        """Writes what the subject does, now and then that it does not; returns the verb's row."""
        if self.odds(negative):
            if self.past:
                self.agree("did", None, subject)
            else:
                form, rival = lex.DO[subject.plural], lex.DO[not subject.plural]
                self.agree(form, rival, subject)
            return self.write("not", verb.base)
        form = verb.form(subject.plural, self.past)
        rival = None if self.past else verb.form(not subject.plural, False)
        return self.agree(form, rival, subject)

    def be(self, subject: Subject) -> int:
        """Writes is, are, was or were and returns its row."""
        forms = lex.BE_PAST if self.past else lex.BE
        return self.agree(forms[subject.plural], forms[not subject.plural], subject)

    def state(self, statement: Statement, subject: Subject, phrase: Phrase | None = None) -> None:
        """Writes a statement about the subject and records its triple if a phrase is given."""
        if statement.verb:
            self.do(statement.verb, subject)
        else:
            self.be(subject)
            if self.odds(0.15):
                self.write(self.rng.choice(("very", "not", "always")))
            self.write(statement.predicate or "")
        if phrase:
            self.record(phrase, statement.verb.base if statement.verb else statement.predicate)

    def record(self, phrase: Phrase, verb: str | None) -> None:
        """Remembers that this was said of the phrase."""
        self.triples.add((phrase.thing.noun.singular, phrase.adjective or "-", verb or "-"))

    def object(self, verb_row: int, verb: lex.Verb, phrase: Phrase) -> int:
        """Writes the object of a verb and returns the row of its noun."""
        row = self.noun(phrase)
        self.truth("object", row, (verb_row,))
        self.record(phrase, verb.base)
        return row

    def reflexive(self, subject: Subject, person: Person | None) -> None:
        """Writes himself, herself, itself or themselves after what is written already."""
        row = len(self.pieces)
        if person:
            answer = REFLEXIVE[person.gender]
            rival = REFLEXIVE["f" if person.gender == "m" else "m"]
            right = dict.fromkeys((*person.rows, *subject.rows))
            self.truth("reflexive", row, right, self.rivals_of(person), answer, rival)
        else:
            answer, rival = ("themselves", "itself") if subject.plural else ("itself", "themselves")
            self.truth("reflexive", row, subject.rows, subject.rivals, answer, rival)
        self.write(answer)

    # Punctuation

    def stop(self, mark: str = ".") -> None:
        """Ends a sentence, in a few passages with unusual white space around its end."""
        if self.noise == "spaced":
            self.mark(" ")
        self.mark(mark)
        if self.noise == "lines":
            self.mark("\n")
        elif self.noise == "double":
            self.mark(" ", " ")
        elif self.noise == "tight":
            self.mark(JOIN)
        self.begin()

    def open_quote(self) -> int:
        """Writes an opening quotation mark and returns its row."""
        if self.pieces and self.pieces[-1] == JOIN:
            self.pieces.pop()  # a mark that leans on the word before it would be a closing one
        self.begin()
        return self.mark(OPEN_QUOTE)

    def close_quote(self, opening: int) -> None:
        """Writes the closing quotation mark of the one in this row."""
        self.truth("quote", self.mark(CLOSE_QUOTE), (opening,))


def new_name(rng: random.Random) -> str:
    """A first name that is in no list: two or three syllables, now and then with an accent."""
    syllables = (
        rng.choice("bcdfghjklmnprstvwxzçñš") + rng.choice("aeiouyaeiouyéèöüäí") + rng.choice(_ENDS)
        for _ in range(rng.choice((2, 2, 3)))
    )
    name = "".join(syllables).capitalize()
    cut = (name[:length] for length in range(1, len(name) + 1))
    # Where a passage is cut inside the name, what is left must not be a known word.
    return new_name(rng) if any(part in _NAMES_OR_WORDS for part in cut) else name


_ENDS = ("", "", "", "n", "r", "k", "l", "s")
_NAMES_OR_WORDS = {*lex.WOMEN, *lex.MEN, *lex.SURNAMES, *map(str.capitalize, lex.STARTERS)}
