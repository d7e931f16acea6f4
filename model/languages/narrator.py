"""The narrator: writes noun phrases, names, pronouns and verbs, and records what is true of each.

The kinds of sentences (things, people, reflexives) are built from these phrases.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from model.languages import lexicon as lex
from model.languages.cast import (
    NONE,
    Person,
    Phrase,
    Statement,
    Subject,
    Thing,
    is_held_out,
    new_person,
    new_thing,
    statements,
)
from model.languages.passage import Draft
from model.tokenizer import CLOSE_QUOTE, JOIN, OPEN_QUOTE

SUBJECT_PRONOUN = {"f": "she", "m": "he"}
OBJECT_PRONOUN = {"f": "her", "m": "him"}
REFLEXIVE = {"f": "herself", "m": "himself"}
_DETERMINERS = (("a", "a", "a", "this"), ("some", "two", "three", "these", "many"))
_OTHER = {"f": "m", "m": "f"}
# In a few passages the white space around the end of a sentence is unusual: before, after.
_UNUSUAL = (((" ",), ()), ((), ("\n",)), ((), ("\n", "\t")), ((), (" ", " ")), ((), (JOIN,)))
_UNUSUAL_SHARE = 0.03


class Narrator(Draft):
    """A draft with a cast, some things, a tense, and the phrases to tell of them.

    plain: nothing unusual in the white space, and no verb that gives away who acts.
    """

    def __init__(self, rng: random.Random, split: str = "train", plain: bool = False):
        super().__init__()
        self.rng = rng
        self.held_out = split == "held_out"
        self.plain = plain
        self.past = rng.random() < 0.4
        unusual = not plain and self.odds(_UNUSUAL_SHARE)
        self.before_stop, self.after_stop = rng.choice(_UNUSUAL) if unusual else ((), ())
        # One man and one woman at most, so that he and she always mean somebody.
        genders = rng.choice(("fm", "mf", "fm", "mf", "fm", "mf", "f", "m"))
        self.cast = [new_person(rng, gender) for gender in genders]
        self.things = [new_thing(rng), new_thing(rng, "animal", "person", "container", "metal")]
        self.scene = rng.choice(lex.GROUPS["inside"])
        self._met: dict[tuple[str, bool], Thing] = {}
        self._last: dict[str, Person | Thing] = {}  # whom "she" and "he" would mean now

    def odds(self, share: float) -> bool:
        """True in this share of the cases."""
        return self.rng.random() < share

    def other(self, person: Person) -> Person | None:
        """The other person of the cast, if there is one."""
        return next((one for one in self.cast if one is not person), None)

    def rivals_of(self, person: Person) -> list[int]:
        """Where the names of the others stand."""
        return [row for one in self.cast if one is not person for row in one.rows]

    def thing(self, *groups: str, unlike: lex.Noun | None = None) -> Thing:
        """Something of one of these kinds or groups, or of any: new, or met in the story before."""
        while True:
            thing = new_thing(self.rng, *groups)
            if thing.noun is not unlike:
                return self.same(thing)

    def same(self, thing: Thing) -> Thing:
        """The thing of the story with this noun and number ("the foxes" stay the same foxes)."""
        return self._met.get((thing.noun.singular, thing.plural), thing)

    # What may be said in this split

    def free(self, phrase: Phrase, verb: str) -> bool:
        """Whether this split may say this of the phrase, or do this to it."""
        noun, adjective = phrase.thing.noun.singular, phrase.adjective
        return is_held_out(noun, adjective, verb) == self.held_out

    def plan(self, thing: Thing, determiner: str | None = None) -> Phrase:
        """Decides how to mention a thing: known ones as "the", mostly without their adjective."""
        known = bool(thing.rows)
        adjective = None if known and self.odds(0.6) else thing.adjective
        if determiner is None:
            plain = known or self.odds(0.75)
            determiner = "the" if plain else self.rng.choice(_DETERMINERS[thing.plural])
        return Phrase(thing, determiner, adjective)

    def statement(self, phrase: Phrase) -> Statement | None:
        """Something that suits the phrase and the split, or None if nothing is left."""
        does, is_so, is_there = statements(phrase.thing.noun, phrase.adjective, self.held_out)
        draw = self.rng.random()
        options = does if draw < 0.35 else is_there if draw < 0.45 else is_so
        options = options or is_so or does
        return self.rng.choice(options) if options else None

    def topic(self, *groups: str, determiner: str | None = None) -> tuple[Phrase, Statement]:
        """A phrase and what to say of it: of a thing of the story, or of a new one."""
        while True:
            known = not groups and self.odds(0.5)
            thing = self.rng.choice(self.things) if known else self.thing(*groups)
            every = determiner is None and not thing.plural and self.odds(0.04)
            phrase = self.plan(thing, "every" if every else determiner)
            statement = self.statement(phrase)
            if statement:
                return phrase, statement

    def object_of(self, action: lex.Action, doer: Thing | None = None) -> Phrase:
        """Something that the doer can do it to: of the story, if something fits."""
        fitting = [t for t in self.things if t.noun.kind in action.kinds and t is not doer]
        while True:
            known = fitting and self.odds(0.6)
            thing = self.rng.choice(fitting) if known else self.thing(*action.kinds)
            phrase = self.plan(thing)
            alike = doer and doer.noun is thing.noun
            if not alike and self.free(phrase, action.verb.base):
                return phrase
            fitting = []

    # Noun phrases, names and pronouns

    def noun(self, phrase: Phrase) -> int:
        """Writes a noun phrase and returns the row of its noun."""
        thing, adjective = phrase.thing, phrase.adjective
        noun = thing.noun.form(thing.plural)
        if phrase.determiner == "a":
            self.write("an" if (adjective or noun)[0] in "aeiou" else "a")
        elif phrase.determiner:
            self.write(phrase.determiner)
        adjective_row = self.write(adjective) if adjective else 0
        row = self.write(noun)
        if adjective:
            self.truth("adjective", row, (adjective_row,))
        thing.rows.append(row)
        self._met.setdefault((thing.noun.singular, thing.plural), thing)
        if thing not in self.things:
            self.things = [*self.things[-3:], thing]
        if thing.noun.kind == "person" and not thing.plural:
            # "The teacher" may be either, so neither pronoun is clear after it.
            self._last |= dict.fromkeys(thing.noun.gender or "fm", thing)
        return row

    def name(self, person: Person) -> tuple[int, ...]:
        """Writes a person's name, with the surname if there is one, and returns its rows."""
        rows = self.spell(person.first) if person.spelled else (self.write(person.first),)
        if person.surname:
            rows = (*rows, self.write(person.surname))
        person.rows += rows
        self._last[person.gender] = person
        return rows

    def is_clear(self, person: Person) -> bool:
        """Whether "she" or "he" would mean this person here."""
        return bool(person.rows) and self._last.get(person.gender) is person

    def he_or_she(self, person: Person, gloss: float = 0.3) -> tuple[int, ...]:
        """Writes the subject pronoun, often followed by the name in brackets; returns the rows."""
        row = self.write(SUBJECT_PRONOUN[person.gender])
        rivals = self.rivals_of(person)
        self.truth("pronoun", row, person.rows, rivals)
        if not self.odds(gloss):
            return (row,)
        opening = self.mark("(")
        if not person.spelled:
            other = self.other(person)
            rival = other.first if other and rivals and not other.spelled else None
            self.truth("gloss", opening, person.rows, rivals, person.first, rival)
        rows = self.name(person)
        self.close_bracket(opening)
        return (row, *rows)

    def it_or_they(self, thing: Thing, rivals: Iterable[int]) -> int:
        """Writes the pronoun of the thing that the last sentence was about; returns its row."""
        gender = thing.noun.gender
        row = self.write("they" if thing.plural else SUBJECT_PRONOUN[gender] if gender else "it")
        self.truth("pronoun", row, thing.rows, [r for r in rivals if r not in thing.rows])
        return row

    def reflexive(self, subject: Subject, who: Person | Thing | None) -> None:
        """Writes himself, herself, itself, or themselves for things and (None) for two people."""
        row = len(self.pieces)
        if isinstance(who, Person):
            answer, rival = REFLEXIVE[who.gender], REFLEXIVE[_OTHER[who.gender]]
            right, wrong = dict.fromkeys((*who.rows, *subject.rows)), self.rivals_of(who)
        elif who is None:
            answer, rival, right, wrong = "themselves", None, subject.rows, subject.rivals
        else:
            gender = who.noun.gender
            one, several = REFLEXIVE[gender] if gender else "itself", "themselves"
            answer, rival = (several, one) if who.plural else (one, several)
            right, wrong = dict.fromkeys(subject.rows), list(subject.rivals)
        self.truth("reflexive", row, right, wrong, answer, rival)
        self.write(answer)

    # Verbs

    def agree(self, form: str, rival: str | None, subject: Subject) -> int:
        """Writes a verb form, records where its subject is unless that is plain; returns the row.

        Before the verb a noun is found for its number ("subject"), a name, which is always
        singular, only for what its person likes to do ("actor").

        rival: the form for the other number; None in the past of most verbs.
        """
        row = self.write(form)
        if subject.rivals or row - 1 not in subject.rows:
            named = any(row in person.rows for person in self.cast for row in subject.rows)
            role = "actor" if named else "subject"
            self.truth(role, row - 1, subject.rows, subject.rivals, form, rival)
            self.truth("verb", row, subject.rows, subject.rivals)
        return row

    def do(self, verb: lex.Verb, subject: Subject, negative: float = 0.06) -> int:
        """Writes what the subject does, or now and then does not; returns the row of the verb."""
        if self.odds(negative):
            return self.do_not(verb.base, subject)
        rival = None if self.past else verb.form(not subject.plural, False)
        return self.agree(verb.form(subject.plural, self.past), rival, subject)

    def do_not(self, base: str, subject: Subject) -> int:
        """Writes "does not sleep", "do not sleep" or "did not sleep"; returns the last row."""
        if self.past:
            self.agree("did", None, subject)
        else:
            self.agree(lex.DO[subject.plural], lex.DO[not subject.plural], subject)
        self.write("not")
        return self.write(base)

    def be(self, subject: Subject) -> int:
        """Writes is, are, was or were and returns its row."""
        forms = lex.BE_PAST if self.past else lex.BE
        return self.agree(forms[subject.plural], forms[not subject.plural], subject)

    def state(self, statement: Statement, subject: Subject, phrase: Phrase | None = None) -> None:
        """Writes a statement about the subject; of a phrase, its triple is recorded."""
        if phrase:
            self.record(phrase, statement.word)
        if statement.verb:
            self.do(statement.verb, subject)
            return
        self.be(subject)
        if statement.place:
            preposition, group = statement.place
            self.write(preposition)
            unlike = phrase.thing.noun if phrase else None
            self.noun(self.plan(self.thing(group, unlike=unlike), "the"))
        else:
            if self.odds(0.15):
                self.write(self.rng.choice(("very", "not", "always", "too")))
            self.write(statement.predicate or NONE)

    def object(self, verb_row: int, verb: lex.Verb, phrase: Phrase) -> int:
        """Writes the object of the verb in verb_row and returns the row of its noun."""
        self.record(phrase, verb.base)
        row = self.noun(phrase)
        self.truth("object", row, (verb_row,))
        return row

    def object_name(self, verb_row: int, person: Person) -> tuple[int, ...]:
        """Writes a name as the object of the verb in verb_row and returns its rows."""
        rows = self.name(person)
        self.truth("object", rows[0], (verb_row,))
        return rows

    def record(self, phrase: Phrase, verb: str) -> None:
        """Remembers that the clause says this of the phrase."""
        self.triples.add((phrase.thing.noun.singular, phrase.adjective or NONE, verb))

    # Punctuation

    def stop(self, mark: str = ".") -> None:
        """Ends a sentence."""
        self.mark(*self.before_stop, mark, *self.after_stop)
        self.begin()

    def open_quote(self) -> int:
        """Writes an opening quotation mark and returns its row."""
        if self.pieces and self.pieces[-1] == JOIN:
            self.pieces.pop()  # a mark that leans on the word before it would be a closing one
        self.begin()
        return self.mark(OPEN_QUOTE)

    def close_quote(self, opening: int) -> None:
        """Writes the closing mark for the opening one in this row."""
        self.truth("quote", self.mark(CLOSE_QUOTE), (opening,))

    def close_bracket(self, opening: int) -> None:
        """Writes the closing bracket for the opening one in this row."""
        self.truth("bracket", self.mark(")"), (opening,))


def subject_of(phrase: Phrase, row: int, rivals: Sequence[int] = ()) -> Subject:
    """The subject that a noun phrase makes."""
    return Subject((row,), phrase.thing.plural, rivals)
