"""Kinds of sentences about animals, objects, places and nameless people."""

from __future__ import annotations

from model.languages import lexicon as lex
from model.languages.cast import Phrase, Subject, Thing, actions
from model.languages.narrator import Narrator, subject_of
from model.languages.parts import (
    a_place,
    clause,
    favourite,
    go_on,
    modifiers,
    sentence,
    somebody,
)


@sentence(5)
def describe(s: Narrator) -> None:
    """The keys to the old cabinet are rusty."""
    phrase, statement = s.topic()
    row = s.noun(phrase)
    rivals = modifiers(s, phrase, row)
    s.state(statement, subject_of(phrase, row, rivals), phrase)
    s.stop()
    go_on(s, phrase.thing, rivals)


@sentence(2.5)
def fronted(s: Narrator) -> None:
    """Near the house the dogs sleep."""
    if s.odds(0.2):
        s.write("in")
        rivals = [s.noun(Phrase(a_place(s)))]
        person, subject = somebody(s)
        s.do(favourite(s, person), subject._replace(rivals=(*rivals, *subject.rivals)))
        s.stop()
        return
    statement = None
    while not statement or statement.place:  # it stands somewhere already
        phrase, statement = s.topic(determiner="the")
    around = [place for place in lex.RELATIONS[phrase.thing.noun.kind] if place[0] in lex.FRONTED]
    preposition, group = s.rng.choice(around)
    s.write(preposition)
    rivals = [s.noun(s.plan(s.thing(group, unlike=phrase.thing.noun)))]
    row = s.noun(phrase)
    rivals += modifiers(s, phrase, row, most=1)
    s.state(statement, subject_of(phrase, row, rivals), phrase)
    s.stop()
    go_on(s, phrase.thing, rivals)


@sentence(1.6)
def bare(s: Narrator) -> None:
    """Cats near the river sleep."""
    statement = None
    while not statement:
        phrase = Phrase(s.same(Thing(s.rng.choice(lex.BARE), plural=True)), determiner="")
        statement = s.statement(phrase)
    row = s.noun(phrase)
    rivals = modifiers(s, phrase, row, most=1)
    s.state(statement, subject_of(phrase, row, rivals), phrase)
    s.stop()
    go_on(s, phrase.thing, rivals, 0.25)


@sentence(2)
def encounter(s: Narrator) -> None:
    """The dogs near the house chase the cat."""
    possible = None
    while not possible:
        phrase = s.plan(s.thing("animal", "person"))
        possible = actions(phrase.thing.noun, phrase.adjective, s.held_out)
    row = s.noun(phrase)
    rivals = modifiers(s, phrase, row)
    action = s.rng.choice(possible)
    s.record(phrase, action.verb.base)
    verb_row = s.do(action.verb, subject_of(phrase, row, rivals))
    s.object(verb_row, action.verb, s.object_of(action, phrase.thing))
    s.stop()


@sentence(0.8)
def there_is(s: Narrator) -> None:
    """There are two keys on the table."""
    thing = s.thing()
    preposition, group = s.rng.choice(
        [place for place in lex.RELATIONS[thing.noun.kind] if place[0] in lex.FRONTED]
    )
    s.write("there")
    s.write((lex.BE_PAST if s.past else lex.BE)[thing.plural])
    many = ("some", "two", "three", "many")
    s.noun(s.plan(thing, s.rng.choice(many) if thing.plural else "a"))
    s.write(preposition)
    rival = s.noun(s.plan(s.thing(group, unlike=thing.noun), "the"))
    s.stop()
    go_on(s, thing, [rival], 0.6)


@sentence(1)
def meanwhile(s: Narrator) -> None:
    """When the boys near the river laugh, the cat hides."""
    s.write(s.rng.choice(("when", "while", "because")))
    clause(s, "animal", "person", most=1)
    s.mark(",")
    clause(s, "animal", "person", "vehicle", most=1)
    s.stop()


@sentence(0.6)
def jumps(s: Narrator) -> None:
    """The brown fox jumps over the lazy dog."""
    jump = next(verb for verb in lex.DOES["animal"] if verb.base == "jump")
    phrase = None
    while not phrase or not s.free(phrase, jump.base):
        phrase = s.plan(s.thing("animal"))
    s.record(phrase, jump.base)
    s.do(jump, subject_of(phrase, s.noun(phrase)))
    s.write("over")
    s.noun(s.plan(s.thing("animal", "container", "plant", unlike=phrase.thing.noun)))
    s.stop()


@sentence(2)
def because(s: Narrator) -> None:
    """The animal did not cross the street because it was too wide."""
    tell = s.rng.choice((did_not_cross, sat_on, does_not_fit))
    one, other, words = tell(s)
    s.write("because")
    which, rival = s.rng.choice(((0, other), (1, one)))
    thing = (one, other)[which]
    # If both are one or both are many, only the last word of the sentence tells which is meant.
    if one.plural == other.plural:
        row = s.write("they" if thing.plural else "it")
    else:
        row = s.it_or_they(thing, rival.rows)
    s.be(Subject((row,), thing.plural))
    if s.odds(0.6):
        s.write("too")
    s.write(words[which])
    s.stop()


def did_not_cross(s: Narrator) -> tuple[Thing, Thing, tuple[str, str]]:
    """The animals do not cross the street."""
    animal, place = _free_pair(s, "animal", "crossing", "cross")
    subject = subject_of(animal, s.noun(animal))
    s.record(animal, "cross")
    s.record(place, "cross")
    verb_row = s.do_not("cross", subject)
    s.truth("object", s.noun(place), (verb_row,))
    return animal.thing, place.thing, _words(s, "animal", "place")


def sat_on(s: Narrator) -> tuple[Thing, Thing, tuple[str, str]]:
    """The cat sat on the mat."""
    animal, seat = _free_pair(s, "animal", "seat", "sit")
    s.record(animal, "sit")
    s.do(lex.SIT, subject_of(animal, s.noun(animal)))
    s.write("on")
    s.noun(seat)
    word = s.rng.choice(("soft", "warm", "clean"))
    return animal.thing, seat.thing, (_words(s, "animal", "place")[0], word)


def does_not_fit(s: Narrator) -> tuple[Thing, Thing, tuple[str, str]]:
    """The trophy does not fit in the suitcase."""
    inside, outside = _free_pair(s, s.rng.choice(("metal", "paper")), "case", "fit")
    s.record(inside, "fit")
    s.do_not("fit", subject_of(inside, s.noun(inside)))
    s.write("in")
    s.noun(outside)
    return inside.thing, outside.thing, ("big", "small")


def _free_pair(s: Narrator, group: str, other_group: str, verb: str) -> tuple[Phrase, Phrase]:
    """Two phrases without adjectives of which this split may use the verb."""
    first, second = (
        s.rng.choice([noun for noun in lex.GROUPS[of] if s.free(Phrase(Thing(noun)), verb)])
        for of in (group, other_group)
    )
    # One of each, mostly: the rivalry of "it" is what these sentences are about.
    one, other = Thing(first, s.odds(0.25)), Thing(second, s.odds(0.25))
    return Phrase(s.same(one)), Phrase(s.same(other))


def _words(s: Narrator, *kinds: str) -> tuple[str, ...]:
    return tuple(s.rng.choice(lex.PREDICATES[kind]) for kind in kinds)
