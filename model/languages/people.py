"""Kinds of sentences about the people of a story, who have names."""

from __future__ import annotations

from collections.abc import Callable

from model.languages import lexicon as lex
from model.languages.cast import Person, Phrase, Subject, Thing
from model.languages.narrator import OBJECT_PRONOUN, Narrator, subject_of
from model.languages.parts import (
    a_place,
    clause,
    does_something,
    favourite,
    feels,
    modifiers,
    sentence,
    somebody,
    somewhere,
    two_names,
)

Pair = tuple[Person, Person]


def needs_two(kind: Callable[[Narrator, Pair], None]) -> Callable[[Narrator], None]:
    """Hands the kind the two people of the cast in random order; alone, somebody just acts."""

    def tell(s: Narrator) -> None:
        if len(s.cast) < 2:
            act(s)
        else:
            first, second = s.rng.sample(s.cast, 2)
            kind(s, (first, second))

    return tell


@sentence(4)
def act(s: Narrator) -> None:
    """Then Mary Stone opens the old box and John waits."""
    day = "yesterday" if s.past else "today"
    dated = s.odds(0.15)
    if dated:
        s.write(s.rng.choice(("then", day)))
    person, subject = somebody(s)
    if s.odds(0.1):
        s.do(lex.GO, subject)
        s.write("to")
        s.noun(Phrase(a_place(s)))
    else:
        does_something(s, person, subject)
        somewhere(s, 0.25)
    other = s.other(person)
    if other and s.odds(0.25):
        s.write(s.rng.choice(("and", "but", "because", "when", "while")))
        _, subject = somebody(s, other)
        if s.odds(0.6):
            s.do(favourite(s, other), subject)
        else:
            feels(s, subject)
    elif not dated and s.odds(0.1):
        s.write(day)
    elif s.odds(0.06):
        s.write("and", "then")
        s.do(favourite(s, person), subject)
    s.stop()


@sentence(3)
@needs_two
def give(s: Narrator, pair: Pair) -> None:
    """Mary gives the book to John. He (John) smiles."""
    giver, receiver = pair
    gift = s.object_of(lex.Action(lex.GIVE, lex.GIFTS))
    s.object(s.do(lex.GIVE, Subject(s.name(giver), False)), lex.GIVE, gift)
    s.write("to")
    s.name(receiver)
    s.stop()
    # Giver and receiver alike: else "the last one named" would be as good as reading the pronoun.
    person = s.rng.choice(pair)
    does_something(s, person, Subject(s.he_or_she(person), False))
    s.stop()


@sentence(2)
@needs_two
def meet(s: Narrator, pair: Pair) -> None:
    """John helps Mary in the garden. She (Mary) sings."""
    one, other = pair
    s.object_name(s.do(s.rng.choice(lex.MEETS), Subject(s.name(one), False)), other)
    somewhere(s, 0.4)
    s.stop()
    person = s.rng.choice(pair)
    does_something(s, person, Subject(s.he_or_she(person), False))
    s.stop()


@sentence(2)
def quote(s: Narrator) -> None:
    """Mary says: "The key is rusty." """
    if len(s.cast) == 2 and s.odds(0.2):
        subject = two_names(s, *s.cast)
    else:
        _, subject = somebody(s)
    s.do(s.rng.choice((lex.SAY, lex.SAY, lex.ANSWER, lex.THINK)), subject, negative=0)
    s.mark(":")
    opening = s.open_quote()
    clause(s, determiner="the", most=1)
    s.mark(s.rng.choice("..!"))
    s.close_quote(opening)
    s.begin()


@sentence(1)
def question(s: Narrator) -> None:
    """ "Where is the key?" asks John. "Who sees the cat?" asks Mary."""
    opening = s.open_quote()
    if s.odds(0.5):
        s.write("where")
        asked = s.plan(s.rng.choice(s.things), "the")
        s.write((lex.BE_PAST if s.past else lex.BE)[asked.thing.plural])
        s.noun(asked)
    else:
        row = s.write("who")
        action = s.rng.choice(lex.DONE_BY["person"])
        s.object(
            s.do(action.verb, Subject((row,), False), negative=0), action.verb, s.object_of(action)
        )
    s.mark("?")
    s.close_quote(opening)
    plural = len(s.cast) == 2 and s.odds(0.15)
    s.write(lex.ASK.form(plural, s.past))
    if plural:
        two_names(s, *s.cast)
    else:
        s.name(s.rng.choice(s.cast))
    s.stop()


@sentence(1)
def shopping(s: Narrator) -> None:
    """John buys apples, pears and plums."""
    group = s.rng.choice(("food", "food", "metal", "paper"))
    phrases = [Phrase(s.same(Thing(noun, plural=True)), "") for noun in lex.GROUPS[group]]
    phrases = [phrase for phrase in phrases if s.free(phrase, lex.BUY.verb.base)]
    bought = s.rng.sample(phrases, min(len(phrases), s.rng.choice((2, 3, 3, 4))))
    if len(bought) < 2:
        act(s)
        return
    _, subject = somebody(s)
    verb_row = s.do(lex.BUY.verb, subject)
    for number, phrase in enumerate(bought):
        if number == len(bought) - 1:
            s.write("and")
        elif number:
            s.mark(",")
        s.object(verb_row, lex.BUY.verb, phrase)
    s.stop()


@sentence(1)
@needs_two
def together(s: Narrator, pair: Pair) -> None:
    """When Mary and John went to the shop, John gave a drink to Mary."""
    s.write("when")
    s.do(lex.GO, two_names(s, *pair), negative=0)
    s.write("to")
    s.noun(Phrase(a_place(s)))
    s.mark(",")
    giver, receiver = s.rng.sample(pair, 2)
    gift = s.object_of(lex.Action(lex.GIVE, lex.GIFTS))
    s.object(s.do(lex.GIVE, Subject(s.name(giver), False)), lex.GIVE, gift)
    s.write("to")
    s.name(receiver)
    s.stop()


@sentence(1)
def works(s: Narrator) -> None:
    """Mary Stone is a doctor. She works in the hospital."""
    person = s.rng.choice(s.cast)
    profession, place = s.rng.choice(tuple(lex.PROFESSIONS.items()))
    s.be(Subject(s.name(person), False))
    s.write("a", profession)
    s.stop()
    s.do(lex.WORK, Subject(s.he_or_she(person), False), negative=0)
    s.write("in", "the", place)
    s.stop()


@sentence(0.8)
def tired(s: Narrator) -> None:
    """Because Mary was tired, she slept."""
    person = s.rng.choice(s.cast)
    s.write(s.rng.choice(("because", "when")))
    feels(s, Subject(s.name(person), False))
    s.mark(",")
    does_something(s, person, Subject(s.he_or_she(person), False))
    s.stop()


@sentence(1)
def belongs(s: Narrator) -> None:
    """Mary's old cat sleeps."""
    owner = s.name(s.rng.choice(s.cast))
    s.write("'s")
    phrase, statement = s.topic("animal", *lex.GIFTS, determiner="")
    row = s.noun(phrase)
    rivals = (*owner, *modifiers(s, phrase, row, most=1))
    s.state(statement, subject_of(phrase, row, rivals), phrase)
    s.stop()


@sentence(1)
@needs_two
def both(s: Narrator, pair: Pair) -> None:
    """Mary and John laugh. They are happy."""
    subject = two_names(s, *pair)
    s.do(s.rng.choice(lex.DOES["person"]), subject)
    somewhere(s, 0.3)
    s.stop()
    if s.odds(0.5):
        row = s.write("they")
        s.truth("pronoun", row, [column for person in pair for column in person.rows])
        feels(s, Subject((row,), True))
        s.stop()


@sentence(0.8)
@needs_two
def fetch(s: Narrator, pair: Pair) -> None:
    """John finds the key and brings it to Mary."""
    person, other = pair
    found = s.object_of(lex.Action(lex.FIND.verb, lex.GIFTS))
    _, subject = somebody(s, person)
    s.object(s.do(lex.FIND.verb, subject, negative=0), lex.FIND.verb, found)
    s.write("and")
    s.write(lex.BRING.verb.form(False, s.past))
    s.write("them" if found.thing.plural else "it", "to")
    if s.is_clear(other) and s.odds(0.5):
        s.write(OBJECT_PRONOUN[other.gender])
    else:
        s.name(other)
    s.stop()
