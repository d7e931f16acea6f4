"""The register of the kinds of sentences, and the parts that several kinds share.

To add a kind, write a function that tells one or two sentences through the narrator and register
it with @sentence(weight): how often it is chosen beside the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from model.languages import lexicon as lex
from model.languages.cast import Person, Phrase, Statement, Subject, Thing, actions
from model.languages.narrator import Narrator, subject_of

Kind = Callable[[Narrator], None]
KINDS: list[Kind] = []
WEIGHTS: list[float] = []  # running sums, as random.choices takes them


def sentence(weight: float) -> Callable[[Kind], Kind]:
    """Registers a kind of sentence."""

    def register(kind: Kind) -> Kind:
        KINDS.append(kind)
        WEIGHTS.append(weight + (WEIGHTS[-1] if WEIGHTS else 0.0))
        return kind

    return register


# Nouns


def modifiers(s: Narrator, phrase: Phrase, row: int, most: int = 2) -> list[int]:
    """Writes up to `most` modifiers of the noun in this row; returns the nouns that are in them."""
    between: list[int] = []
    number = s.rng.choice((0, 1, 1, 1, 2) if most > 1 else (0, 1))
    if number and s.odds(0.3) and relative(s, phrase, row, between):
        number -= 1
    thing = phrase.thing
    for _ in range(number):
        preposition, group = s.rng.choice(lex.RELATIONS[thing.noun.kind])
        s.write(preposition)
        thing = s.thing(group, unlike=phrase.thing.noun)
        between.append(s.noun(s.plan(thing)))
    return between


def relative(s: Narrator, phrase: Phrase, row: int, between: list[int]) -> bool:
    """Writes "that sees the cats" or "that the boys see" after a noun, if the split allows it."""
    possible = actions(phrase.thing.noun, phrase.adjective, s.held_out)
    if possible and s.odds(0.6):
        action = s.rng.choice(possible)
        s.write("who" if phrase.thing.noun.kind == "person" else "that")
        verb_row = s.do(action.verb, subject_of(phrase, row), negative=0)
        s.record(phrase, action.verb.base)
        between.append(s.object(verb_row, action.verb, s.object_of(action, phrase.thing)))
        return True
    doer = Phrase(s.thing("person", unlike=phrase.thing.noun))
    possible = [
        action
        for action in actions(doer.thing.noun, None, s.held_out)
        if phrase.thing.noun.kind in action.kinds and s.free(phrase, action.verb.base)
    ]
    if not possible:
        return False
    verb = s.rng.choice(possible).verb
    s.write("that")
    doer_row = s.noun(doer)
    s.do(verb, subject_of(doer, doer_row, (row,)), negative=0)
    s.record(doer, verb.base)
    s.record(phrase, verb.base)
    between.append(doer_row)
    return True


def clause(s: Narrator, *groups: str, determiner: str | None = None, most: int = 2) -> Thing:
    """Writes a clause about a thing: noun phrase, modifiers, statement; returns the thing."""
    phrase, statement = s.topic(*groups, determiner=determiner)
    row = s.noun(phrase)
    s.state(statement, subject_of(phrase, row, modifiers(s, phrase, row, most)), phrase)
    return phrase.thing


def go_on(s: Narrator, thing: Thing, rivals: Iterable[int], share: float = 0.4) -> None:
    """Often follows a sentence about a thing with one that starts with its pronoun."""
    nameless = thing.noun.kind == "person" and not thing.plural and not thing.noun.gender
    if nameless or not s.odds(share):
        return
    rows = [s.it_or_they(thing, rivals)]
    if s.odds(0.12):
        opening = s.mark("(")
        rows.append(s.noun(Phrase(thing)))
        s.close_bracket(opening)
    # Verbs and predicates of its kind: the next word depends on what the pronoun means.
    if s.odds(0.55):
        statement = Statement(verb=s.rng.choice(lex.DOES[thing.noun.kind]))
    else:
        statement = Statement(predicate=s.rng.choice(lex.PREDICATES[thing.noun.kind]))
    s.state(statement, Subject(rows, thing.plural))
    s.stop()


# People


def somebody(s: Narrator, person: Person | None = None) -> tuple[Person, Subject]:
    """Writes a person of the cast as a subject: by name, or by a pronoun if that is clear."""
    person = person or s.rng.choice(s.cast)
    if s.is_clear(person) and s.odds(0.6):
        return person, Subject(s.he_or_she(person), False)
    rows = s.name(person)
    other = s.other(person)
    rivals = who_knows(s, rows, other) if other and s.odds(0.2) else ()
    return person, Subject(rows, False, rivals)


def who_knows(s: Narrator, rows: Sequence[int], other: Person) -> tuple[int, ...]:
    """Writes ", who knows John," after a name and returns the rows of the other name."""
    s.mark(",")
    s.write("who")
    rivals = s.object_name(s.do(s.rng.choice(lex.MEETS), Subject(rows, False), negative=0), other)
    s.mark(",")
    return rivals


def two_names(s: Narrator, first: Person, second: Person) -> Subject:
    """Writes "Mary and John"."""
    rows = s.name(first)
    s.write("and")
    return Subject((*rows, *s.name(second)), True)


def favourite(s: Narrator, person: Person) -> lex.Verb:
    """What a person does: mostly the favourite thing."""
    return person.favourite if s.odds(0.75) else s.rng.choice(lex.DOES["person"])


def does_something(s: Narrator, person: Person, subject: Subject) -> None:
    """Writes what a person does, alone or to something."""
    by_pronoun = subject.rows[0] not in person.rows
    if s.odds(0.7 if by_pronoun or subject.rivals else 0.35):
        s.do(favourite(s, person), subject)
        return
    action = s.rng.choice(lex.DONE_BY["person"])
    phrase = s.object_of(action)
    s.object(s.do(action.verb, subject), action.verb, phrase)


def feels(s: Narrator, subject: Subject) -> None:
    """Writes "is tired" after a person."""
    s.be(subject)
    s.write(s.rng.choice(lex.PREDICATES["person"]))


def a_place(s: Narrator) -> Thing:
    """A place to be in or to go to: mostly where the story is set."""
    noun = s.scene if s.odds(0.7) else s.rng.choice(lex.GROUPS["inside"])
    return s.same(Thing(noun))


def somewhere(s: Narrator, share: float) -> None:
    """Writes "in the garden" or "there" now and then."""
    if not s.odds(share):
        return
    if s.same(Thing(s.scene)).rows and s.odds(0.25):
        s.write("there")
        return
    s.write(s.rng.choice(("in", "in", "in", "near", "behind")))
    s.noun(Phrase(a_place(s)))
