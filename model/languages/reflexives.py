"""Sentences that turn back on the one who acts: himself, herself, itself, themselves.

Who is meant stands first in some of them and last in others, so that no place gives it away.
"""

from __future__ import annotations

from model.languages import lexicon as lex
from model.languages.cast import Person, Subject, Thing
from model.languages.narrator import Narrator, subject_of
from model.languages.parts import modifiers, sentence, somebody, two_names, who_knows

Pair = tuple[Person, Person]


@sentence(4.5)
def turns_back(s: Narrator) -> None:
    """Mary enjoys herself."""
    if s.odds(0.2):
        animal_itself(s)
    elif len(s.cast) < 2 or s.odds(0.2):
        person, subject = somebody(s)
        to_self(s, subject, person)
    elif s.odds(0.1):
        to_self(s, two_names(s, *s.rng.sample(s.cast, 2)), None)
    else:
        first, second = s.rng.sample(s.cast, 2)
        s.rng.choice((thinks_self, thinks_self, who_self, and_self))(s, (first, second))
    s.stop()


def to_self(s: Narrator, subject: Subject, who: Person | Thing | None) -> None:
    """Writes "hurts herself" or "looks at herself"."""
    habitual = isinstance(who, Person) and not s.plain and s.odds(0.75)
    verb, link = who.habit if habitual else s.rng.choice(lex.REFLEXIVES)
    s.do(verb, subject)
    if link:
        s.write(link)
    s.reflexive(subject, who)


def animal_itself(s: Narrator) -> None:
    """The cat near the dogs washes itself."""
    phrase = None
    while not phrase or not s.free(phrase, lex.WASH.base):
        phrase = s.plan(s.thing("animal", "animal", "person"), "the")
        noun = phrase.thing.noun
        if noun.kind == "person" and not (noun.gender or phrase.thing.plural):
            phrase = None  # himself or herself?
    row = s.noun(phrase)
    subject = subject_of(phrase, row, modifiers(s, phrase, row, most=1))
    s.record(phrase, lex.WASH.base)
    s.do(lex.WASH, subject, negative=0)
    s.reflexive(subject, phrase.thing)


def who_self(s: Narrator, pair: Pair) -> None:
    """Mary, who knows John, enjoys herself."""
    person, other = pair
    rows = s.name(person)
    to_self(s, Subject(rows, False, who_knows(s, rows, other)), person)


def and_self(s: Narrator, pair: Pair) -> None:
    """Mary helps John and enjoys herself."""
    person, other = pair
    subject = Subject(s.name(person), False)
    rivals = s.object_name(s.do(s.rng.choice(lex.MEETS), subject, negative=0), other)
    s.write("and")
    to_self(s, subject._replace(rivals=rivals), person)


def thinks_self(s: Narrator, pair: Pair) -> None:
    """John thinks that Mary enjoys herself."""
    person, other = pair
    rivals = s.name(other)
    s.do(s.rng.choice((lex.SAY, lex.THINK)), Subject(rivals, False), negative=0)
    s.write("that")
    to_self(s, Subject(s.name(person), False, rivals), person)
