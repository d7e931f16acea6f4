"""The truths of sentences small enough to count by hand."""

from __future__ import annotations

import random

from model.languages import Truth
from model.languages import lexicon as lex
from model.languages.cast import Person, Phrase, Statement, Subject, Thing
from model.languages.narrator import Narrator, subject_of
from model.languages.reflexives import and_self, thinks_self, who_self


def narrator(past: bool = False) -> Narrator:
    s = Narrator(random.Random(0), plain=True)
    s.past = past
    s.cast = [Person("Mary", None, "f"), Person("John", None, "m")]
    s.odds = lambda share: False  # nothing that is left to chance
    return s


def noun(singular: str) -> lex.Noun:
    return next(noun for noun in lex.NOUNS if noun.singular == singular)


# Truths of sentences small enough to count by hand


def test_the_keys_near_the_old_cabinet():
    s = narrator()
    keys, cabinet = Thing(noun("key"), True), Thing(noun("cabinet"), False, "old")
    row = s.noun(Phrase(keys))
    s.write("near")
    rival = s.noun(Phrase(cabinet, "the", "old"))
    s.state(Statement(predicate="rusty"), Subject((row,), True, (rival,)), Phrase(keys))
    s.stop()
    s.write("they")
    passage = s.passage()
    #                      1   2    3    4   5   6       7   8    9 10
    assert passage.text == "The keys near the old cabinet are rusty. They"
    assert passage.truths == (
        Truth("adjective", 6, (5,)),
        Truth("subject", 6, (2,), (6,), "are", "is"),
        Truth("verb", 7, (2,), (6,)),
    )
    assert passage.triples == {("key", "-", "rusty")}


def test_she_is_mary_wherever_she_stands():
    s = narrator(past=True)
    mary, john = s.cast
    s.do(lex.GIVE, Subject(s.name(mary), False))
    s.write("the", "book", "to")
    s.name(john)
    s.stop()
    s.he_or_she(mary, gloss=1)  # 9
    assert s.passage().text == "Mary gave the book to John. She"
    s.odds = lambda share: share == 1
    s.begin()
    s.he_or_she(john, gloss=1)
    passage = s.passage()
    assert passage.text == "Mary gave the book to John. She He (John)"
    assert passage.truths == (
        Truth("pronoun", 8, (1,), (6,)),
        Truth("pronoun", 9, (6,), (1,)),
        Truth("gloss", 10, (6,), (1,), "John", "Mary"),
        Truth("bracket", 12, (10,)),
    )


def test_herself_is_the_one_who_acts():
    s = narrator()
    mary, john = s.cast
    thinks_self(s, (mary, john))
    (truth,) = (t for t in s.truths if t.role == "reflexive")
    assert s.pieces[:4] == ["John", s.pieces[1], "that", "Mary"]
    assert (truth.right, truth.wrong, truth.answer, truth.rival) == (
        ((4,), (1,), "herself", "himself")
    )

    s = narrator()
    and_self(s, (s.cast[1], s.cast[0]))
    (truth,) = (t for t in s.truths if t.role == "reflexive")
    assert s.pieces[0] == "John" and s.pieces[2] == "Mary"
    assert (truth.right, truth.wrong, truth.answer) == ((1,), (3,), "himself")


def test_a_name_acts_and_a_noun_is_agreed_with():
    """Names are always singular: finding one before a verb is another task, with its own role."""
    s = narrator()
    who_self(s, (s.cast[1], s.cast[0]))
    assert s.pieces[:3] == ["John", ",", "who"] and s.pieces[4:6] == ["Mary", ","]
    truths = [t for t in s.truths if t.role in ("subject", "actor") and t.wrong]
    assert [(t.role, t.row, t.right, t.wrong) for t in truths] == [("actor", 6, (1,), (5,))]


def test_the_subject_of_a_relative_clause_is_its_own():
    s = narrator()
    dog, farmers = Thing(noun("dog")), Thing(noun("farmer"), True)
    dog_row = s.noun(Phrase(dog))
    s.write("that")
    farmers_row = s.noun(Phrase(farmers))
    s.do(lex.MEETS[0], subject_of(Phrase(farmers), farmers_row, (dog_row,)))
    s.do(lex.SIT, subject_of(Phrase(dog), dog_row, (farmers_row,)))
    assert s.passage().text == "The dog that the farmers know sits"
    assert [t for t in s.truths if t.role == "subject"] == [
        Truth("subject", 5, (5,), (2,), "know", "knows"),
        Truth("subject", 6, (2,), (5,), "sits", "sit"),
    ]
