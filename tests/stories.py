"""What the tests of the generated English share: sizes, word lists, and how to read a passage."""

from __future__ import annotations

from model.languages import Passage
from model.languages import lexicon as lex

N_PIECES = 127
OF_MEANING = ("subject", "verb", "pronoun", "reflexive")
NOUN_OF = {form: noun for noun in lex.NOUNS for form in (noun.singular, noun.plural)}
SINGULAR = {noun.singular for noun in lex.NOUNS}
GENDER_OF = dict.fromkeys(lex.WOMEN, "f") | dict.fromkeys(lex.MEN, "m")


def at(passage: Passage, row: int) -> str:
    """The piece in a row; row 0 is the start token."""
    return passage.pieces[row - 1]


def lower(piece: str) -> str:
    return piece[0].lower() + piece[1:]
