"""The kinds of sentences that a story is made of: one function each, registered in one line.

To add a kind, write a function that tells one or two sentences through the narrator, and give it a
weight: how often it is chosen beside the others.
"""

from __future__ import annotations

from collections.abc import Callable

from model.languages import lexicon as lex
from model.languages.narrator import (
    OBJECT_PRONOUN,
    Narrator,
    Person,
    Phrase,
    Statement,
    Subject,
    Thing,
)

Kind = Callable[[Narrator], None]
KINDS: list[Kind] = []
WEIGHTS: list[float] = []  # cumulative, as random.choices takes them


def sentence(weight: float) -> Callable[[Kind], Kind]:
    """Registers a kind of sentence."""

    def register(kind: Kind) -> Kind:
        KINDS.append(kind)
        WEIGHTS.append(weight + (WEIGHTS[-1] if WEIGHTS else 0.0))
        return kind

    return register


# Parts that several kinds share


def modifiers(s: Narrator, phrase: Phrase, row: int, most: int = 2) -> list[int]:
    """Writes up to `most` modifiers of the noun in this row; returns the nouns that now stand
    between it and its verb."""
    between: list[int] = []
    for number in range(s.rng.choice((0, 1, 1, 1, 2)[: 2 * most + 1])):
        if number == 0 and s.odds(0.3) and relative(s, phrase, row, between):
            continue
        s.write(preposition(s, phrase.thing.noun.kind))
        between.append(s.noun(s.plan(s.new_thing())))
    return between


def preposition(s: Narrator, kind: str) -> str:
    """How something else may stand to a noun of this kind."""
    special = {"metal": "to", "paper": "about", "food": "from", "person": "with"}.get(kind)
    return special if special and s.odds(0.3) else s.rng.choice(lex.PREPOSITIONS)


def relative(s: Narrator, phrase: Phrase, row: int, between: list[int]) -> bool:
    """Writes "that sees the cats" or "that the cats see" after a noun, if the split allows it."""
    thing = phrase.thing
    living = thing.noun.kind in ("person", "animal")
    people = thing.noun.kind == "person"
    if living and s.odds(0.6):
        verbs = lex.DONE_BY_PEOPLE if people else lex.DONE_BY_ANIMALS
        verbs = [pair for pair in verbs if s.free(phrase, pair[0].base)]
        if not verbs:
            return False
        verb, kinds = s.rng.choice(verbs)
        s.write("who" if people else "that")
        verb_row = s.do(verb, Subject((row,), thing.plural), negative=0)
        s.record(phrase, verb.base)
        between.append(s.object(verb_row, verb, s.object_of(verb, kinds)))
        return True
    seen = [verb for verb, kinds in lex.DONE_BY_PEOPLE if thing.noun.kind in kinds]
    verb = s.rng.choice(seen)
    doer = Phrase(s.new_thing("person"), "the", None)
    if not s.free(doer, verb.base) or not s.free(phrase, verb.base):
        return False
    s.write("that")
    doer_row = s.noun(doer)
    s.do(verb, Subject((doer_row,), doer.thing.plural, (row,)), negative=0)
    s.record(doer, verb.base)
    s.record(phrase, verb.base)
    between.append(doer_row)
    return True


def somebody(s: Narrator, person: Person | None = None) -> tuple[Person, Subject]:
    """Writes a person of the cast as a subject: by name, or by a pronoun once the name is known."""
    person = person or s.rng.choice(s.cast)
    if person.rows and s.odds(0.5):
        return person, Subject(s.he_or_she(person), False)
    rows = s.name(person)
    other = s.other(person)
    if other and s.odds(0.15):
        return person, Subject(rows, False, who_knows(s, rows, other))
    return person, Subject(rows, False)


def who_knows(s: Narrator, rows: tuple[int, ...], other: Person) -> tuple[int, ...]:
    """Writes ", who knows John," after a name and returns the rows of the other name."""
    s.mark(",")
    s.write("who")
    verb_row = s.do(s.rng.choice(lex.HAVE_MET), Subject(rows, False), negative=0)
    rival = s.name(other)
    s.truth("object", rival[0], (verb_row,))
    s.mark(",")
    return rival


def two_names(s: Narrator, first: Person, second: Person) -> tuple[int, ...]:
    """Writes "Mary and John" and returns the rows of both names."""
    rows = s.name(first)
    s.write("and")
    return (*rows, *s.name(second))


def favourite(s: Narrator, person: Person) -> lex.Verb:
    """What a person mostly does."""
    return person.favourite if s.odds(0.75) else s.rng.choice(lex.DOES["person"])


def does_something(s: Narrator, person: Person, subject: Subject) -> None:
    """Writes what a person does: the favourite thing, or something to something."""
    pronoun = len(subject.rows) == 1 and subject.rows[0] not in person.rows
    if s.odds(0.7 if pronoun else 0.35):
        s.do(favourite(s, person), subject)
        return
    verb, kinds = s.rng.choice(lex.DONE_BY_PEOPLE)
    phrase = s.object_of(verb, kinds)
    s.object(s.do(verb, subject), verb, phrase)


def somewhere(s: Narrator, share: float) -> None:
    """Writes "in the garden" now and then."""
    if s.odds(share):
        s.write(s.rng.choice(("in", "in", "near", "behind")), "the", s.rng.choice(lex.PLACES_IN))


def go_on(s: Narrator, thing: Thing, rivals: list[int], share: float = 0.4) -> None:
    """Follows a sentence about a thing with one that starts with its pronoun."""
    neutral = thing.noun.kind == "person" and not thing.plural and not thing.noun.gender
    if neutral or not s.odds(share):
        return
    row = s.it_or_they(thing, rivals)
    rows = [row]
    if s.odds(0.12):
        opening = s.mark("(")
        s.truth("gloss", opening, thing.rows, rivals, "the")
        s.write("the")
        rows.append(s.write(thing.noun.form(thing.plural)))
        thing.rows.append(rows[-1])
        s.truth("bracket", s.mark(")"), (opening,))
    kind = thing.noun.kind
    if s.odds(0.55):
        statement = Statement(verb=s.rng.choice(lex.DOES[kind]))
    else:
        statement = Statement(predicate=s.rng.choice(lex.PREDICATES[kind]))
    s.state(statement, Subject(rows, thing.plural))
    s.stop()


# Kinds


@sentence(5)
def describe(s: Narrator) -> None:
    """The keys to the old cabinet are rusty."""
    phrase, statement = s.topic()
    row = s.noun(phrase)
    rivals = modifiers(s, phrase, row)
    s.state(statement, Subject((row,), phrase.thing.plural, rivals), phrase)
    s.stop()
    go_on(s, phrase.thing, rivals)


@sentence(2.5)
def fronted(s: Narrator) -> None:
    """Near the house the dogs sleep."""
    s.write(s.rng.choice(("near", "behind", "beside", "under", "in")))
    rivals = [s.noun(s.plan(s.new_thing()))]
    if s.odds(0.15):
        person, subject = somebody(s)
        s.do(favourite(s, person), Subject(subject.rows, False, (*rivals, *subject.rivals)))
        return s.stop()
    phrase, statement = s.topic(determiner="the")
    row = s.noun(phrase)
    rivals += modifiers(s, phrase, row, most=1)
    s.state(statement, Subject((row,), phrase.thing.plural, rivals), phrase)
    s.stop()
    go_on(s, phrase.thing, rivals)
    return None


@sentence(1)
def bare(s: Narrator) -> None:
    """Cats near the river sleep."""
    while True:
        thing = s.new_thing(*lex.BARE_KINDS)
        thing.plural, thing.adjective = True, None
        phrase = Phrase(thing, "", None)
        statement = s.statement(phrase)
        if statement:
            break
    row = s.noun(phrase)
    rivals = modifiers(s, phrase, row, most=1)
    s.state(statement, Subject((row,), True, rivals), phrase)
    s.stop()
    go_on(s, thing, rivals, 0.25)


@sentence(4)
def act(s: Narrator) -> None:
    """Then Mary Stone opens the old box and John waits."""
    if s.odds(0.2):
        s.write(
            s.rng.choice(("then", "today", "later", "yesterday") if s.past else ("then", "today"))
        )
    person, subject = somebody(s)
    does_something(s, person, subject)
    somewhere(s, 0.25)
    other = s.other(person)
    if other and s.odds(0.3):
        s.write(s.rng.choice(("and", "but", "because", "when")))
        _, subject = somebody(s, other)
        if s.odds(0.6):
            s.do(favourite(s, other), subject)
        else:
            s.be(subject)
            s.write(s.rng.choice(lex.PREDICATES["person"]))
    s.stop()


@sentence(3)
def give(s: Narrator) -> None:
    """Mary gives the book to John. He (John) smiles."""
    if len(s.cast) < 2:
        return act(s)
    giver, receiver = s.rng.sample(s.cast, 2)
    gift = s.object_of(lex.GIVE, ("food", "paper", "metal", "furniture"))
    giver_rows = s.name(giver)
    s.object(s.do(lex.GIVE, Subject(giver_rows, False), negative=0), lex.GIVE, gift)
    s.write("to")
    s.name(receiver)
    s.stop()
    # Giver and receiver alike: else "the last one named" would be as good as reading the pronoun.
    person = s.rng.choice((giver, receiver))
    subject = Subject(s.he_or_she(person), False)
    s.do(favourite(s, person), subject)
    s.stop()
    return None


@sentence(1.5)
def quote(s: Narrator) -> None:
    """Mary says: "The key is rusty." """
    if s.odds(0.35):
        return quote_first(s)
    _, subject = somebody(s)
    s.do(s.rng.choice((lex.SAY, lex.SAY, lex.ANSWER)), subject, negative=0)
    s.mark(":")
    opening = s.open_quote()
    exclaim(s)
    s.stop(s.rng.choice("..!"))
    s.close_quote(opening)
    return None


def quote_first(s: Narrator) -> None:
    """ "Where is the key?" asks John."""
    opening = s.open_quote()
    if s.odds(0.4):
        asked = s.plan(s.rng.choice(s.things), "the")
        s.write("where")
        forms = lex.BE_PAST if s.past else lex.BE
        s.write(forms[asked.thing.plural])
        s.noun(asked)
        s.mark("?")
        verb = lex.ASK
    else:
        exclaim(s)
        s.mark(",")
        verb = lex.SAY
    s.close_quote(opening)
    s.write(verb.form(False, s.past))
    s.name(s.rng.choice(s.cast))
    s.stop()


def exclaim(s: Narrator) -> None:
    phrase, statement = s.topic(determiner="the")
    row = s.noun(phrase)
    rivals = modifiers(s, phrase, row, most=1)
    s.state(statement, Subject((row,), phrase.thing.plural, rivals), phrase)


@sentence(1)
def shopping(s: Narrator) -> None:
    """John buys apples, pears and plums."""
    buy = next(verb for verb, _ in lex.DONE_BY_PEOPLE if verb.base == "buy")
    kind = s.rng.choice(("food", "food", "metal", "paper"))
    nouns = [noun for noun in lex.NOUNS if noun.kind == kind]
    bought = [Thing(noun, True, None) for noun in s.rng.sample(nouns, s.rng.choice((2, 3, 3, 4)))]
    bought = [t for t in bought if s.free(Phrase(t, "", None), buy.base)]
    if len(bought) < 2:
        return act(s)
    _, subject = somebody(s)
    verb_row = s.do(buy, subject)
    for number, thing in enumerate(bought):
        if number == len(bought) - 1:
            s.write("and")
        elif number:
            s.mark(",")
        s.object(verb_row, buy, Phrase(thing, "", None))
    s.stop()
    return None


@sentence(3)
def turns_back(s: Narrator) -> None:
    """Mary, who knows John, looks at herself."""
    way = s.rng.choice(SELF_WAYS if len(s.cast) > 1 else (with_self,))
    way(s)
    s.stop()


def to_self(s: Narrator, subject: Subject, person: Person | None) -> None:
    """Writes "looks at herself" or "hurts herself" after a subject."""
    verb, link = s.rng.choice(lex.REFLEXIVES)
    s.do(verb, subject)
    if link:
        s.write(link)
    s.reflexive(subject, person)


def with_self(s: Narrator) -> None:
    """She enjoys herself. / The cat near the dogs washes itself."""
    if s.odds(0.6):
        person, subject = somebody(s)
        return to_self(s, subject, person)
    wash = next(verb for verb, _ in lex.REFLEXIVES if verb.base == "wash")
    while True:
        phrase = s.plan(s.new_thing("animal"), "the")
        if s.free(phrase, wash.base):
            break
    row = s.noun(phrase)
    subject = Subject((row,), phrase.thing.plural, modifiers(s, phrase, row, most=1))
    s.do(wash, subject, negative=0)
    s.record(phrase, wash.base)
    return s.reflexive(subject, None)


def who_self(s: Narrator, pair: tuple[Person, Person] | None = None) -> None:
    """Mary, who knows John, enjoys herself."""
    person, other = pair or s.rng.sample(s.cast, 2)
    rows = s.name(person)
    to_self(s, Subject(rows, False, who_knows(s, rows, other)), person)


def thinks_self(s: Narrator, pair: tuple[Person, Person] | None = None) -> None:
    """John thinks that Mary enjoys herself."""
    person, other = pair or s.rng.sample(s.cast, 2)
    rivals = s.name(other)
    s.do(s.rng.choice((lex.SAY, lex.THINK)), Subject(rivals, False), negative=0)
    s.write("that")
    to_self(s, Subject(s.name(person), False, rivals), person)


def and_self(s: Narrator, pair: tuple[Person, Person] | None = None) -> None:
    """Mary helps John and enjoys herself."""
    person, other = pair or s.rng.sample(s.cast, 2)
    rows = s.name(person)
    verb_row = s.do(s.rng.choice(lex.HAVE_MET), Subject(rows, False), negative=0)
    rivals = s.name(other)
    s.truth("object", rivals[0], (verb_row,))
    s.write("and")
    to_self(s, Subject(rows, False, rivals), person)


SELF_WAYS = (with_self, with_self, who_self, thinks_self, thinks_self, and_self)


@sentence(1)
def reason(s: Narrator) -> None:
    """The animal did not cross the street because it was too tired."""
    s.rng.choice((did_not_cross, sat_on, does_not_fit))(s)
    s.stop()


def because(s: Narrator, candidates: tuple[Thing, Thing], words: tuple[str, str]) -> None:
    """Writes "because it is too wide": only the last word tells which of the two is meant."""
    s.write("because")
    which = s.rng.choice((0, 1))
    row = s.write("it")
    s.be(Subject((row,), False))
    if s.odds(0.7):
        s.write("too")
    s.write(words[which])


def did_not_cross(s: Narrator) -> None:
    """The animal did not cross the street because it was too wide."""
    animal = Phrase(s.new_thing("animal"), "the", None)
    places = [noun for noun in lex.NOUNS if noun.singular in ("street", "river", "bridge")]
    place = Thing(s.rng.choice(places), False, None)
    animal.thing.plural = False
    rows = (s.noun(animal),)
    if s.past:
        s.agree("did", None, Subject(rows, False))
    else:
        s.agree("does", "do", Subject(rows, False))
    verb_row = s.write("not", "cross")
    s.truth("object", s.noun(Phrase(place, "the", None)), (verb_row,))
    words = s.rng.choice(lex.PREDICATES["animal"]), s.rng.choice(lex.PREDICATES["place"])
    because(s, (animal.thing, place), words)


def sat_on(s: Narrator) -> None:
    """The cat sat on the mat because it was tired."""
    animal = Phrase(s.new_thing("animal"), "the", None)
    animal.thing.plural = False
    seats = [n for n in lex.NOUNS if n.singular in ("mat", "bed", "chair", "table", "box")]
    seat = Thing(s.rng.choice(seats), False, None)
    s.do(lex.SIT, Subject((s.noun(animal),), False), negative=0)
    s.write("on")
    s.noun(Phrase(seat, "the", None))
    words = s.rng.choice(lex.PREDICATES["animal"]), s.rng.choice(("soft", "warm", "clean"))
    because(s, (animal.thing, seat), words)


def does_not_fit(s: Narrator) -> None:
    """The trophy does not fit in the suitcase because it is too big."""
    inside = s.new_thing("metal", "paper")
    outside = Thing(
        s.rng.choice([n for n in lex.NOUNS if n.singular in ("suitcase", "box", "bag", "drawer")]),
        False,
        None,
    )
    inside.plural = False
    rows = (s.noun(Phrase(inside, "the", None)),)
    if s.past:
        s.agree("did", None, Subject(rows, False))
    else:
        s.agree("does", "do", Subject(rows, False))
    s.write("not", "fit", "in")
    s.noun(Phrase(outside, "the", None))
    because(s, (inside, outside), ("big", "small"))


@sentence(1)
def together(s: Narrator) -> None:
    """When Mary and John went to the shop, John gave a drink to Mary."""
    if len(s.cast) < 2:
        return act(s)
    first, second = s.rng.sample(s.cast, 2)
    s.write("when")
    s.do(lex.GO, Subject(two_names(s, first, second), True), negative=0)
    s.write("to", "the", s.rng.choice(lex.PLACES_IN))
    s.mark(",")
    giver, receiver = s.rng.sample((first, second), 2)
    gift = s.object_of(lex.GIVE, ("food", "drink", "paper", "metal"))
    s.object(s.do(lex.GIVE, Subject(s.name(giver), False), negative=0), lex.GIVE, gift)
    s.write("to")
    s.name(receiver)
    return s.stop()


@sentence(1)
def works(s: Narrator) -> None:
    """Mary Stone is a doctor. She works in the hospital."""
    person = s.rng.choice(s.cast)
    profession = s.rng.choice(lex.PROFESSIONS)
    s.be(Subject(s.name(person), False))
    s.write("an" if profession.noun[0] in "aeiou" else "a", profession.noun)
    s.stop()
    subject = Subject(s.he_or_she(person), False)
    work = next(verb for verb in lex.DOES["person"] if verb.base == "work")
    s.do(work, subject, negative=0)
    s.write("in", "the", profession.place)
    s.stop()


@sentence(0.8)
def there_is(s: Narrator) -> None:
    """There are two keys on the table."""
    thing = s.new_thing()
    s.write("there")
    s.write((lex.BE_PAST if s.past else lex.BE)[thing.plural])
    s.noun(s.plan(thing, s.rng.choice(("some", "two", "three", "many")) if thing.plural else "a"))
    s.write(s.rng.choice(lex.PREPOSITIONS))
    rival = s.noun(s.plan(s.new_thing(), "the"))
    s.stop()
    go_on(s, thing, [rival], 0.6)


@sentence(1)
def belongs(s: Narrator) -> None:
    """Mary's old cat sleeps."""
    owner = s.rng.choice(s.cast)
    rows = s.name(owner)
    s.write("'s")
    phrase, statement = s.topic("animal", "food", "metal", "paper", "furniture", determiner="")
    row = s.noun(phrase)
    rivals = [*rows, *modifiers(s, phrase, row, most=1)]
    s.state(statement, Subject((row,), phrase.thing.plural, rivals), phrase)
    s.stop()


@sentence(1)
def both(s: Narrator) -> None:
    """Mary and John laugh. They are happy."""
    if len(s.cast) < 2:
        return act(s)
    rows = two_names(s, *s.cast)
    verb = s.rng.choice(lex.DOES["person"])
    s.do(verb, Subject(rows, True))
    somewhere(s, 0.4)
    s.stop()
    if s.odds(0.5):
        row = s.write("they")
        s.truth("pronoun", row, [r for person in s.cast for r in person.rows])
        s.be(Subject((row,), True))
        s.write(s.rng.choice(lex.PREDICATES["person"]))
        s.stop()
    return None


@sentence(0.8)
def fetches(s: Narrator) -> None:
    """John finds the key and brings it to Mary."""
    if len(s.cast) < 2:
        return act(s)
    person, other = s.rng.sample(s.cast, 2)
    _, subject = somebody(s, person)
    find, kinds = next(pair for pair in lex.DONE_BY_PEOPLE if pair[0].base == "find")
    bring, kinds = next(pair for pair in lex.DONE_BY_PEOPLE if pair[0].base == "bring")
    found = s.object_of(find, kinds)
    s.object(s.do(find, subject, negative=0), find, found)
    s.write("and", bring.form(False, s.past), "them" if found.thing.plural else "it", "to")
    if other.rows and s.odds(0.5):
        s.write(OBJECT_PRONOUN[other.gender])
    else:
        s.name(other)
    return s.stop()
