"""A text with what is true of it, and the draft in which both are written together.

Rows count as in a trace: row 0 is the start token, row r is the r-th piece, and row r predicts
piece r + 1. Every truth is recorded at the moment its words are written, never found by parsing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from model.tokenizer import JOIN, text_of

Triple = tuple[str, str, str]


class Truth(NamedTuple):
    """What a head with a role looks at in one row.

    role: a name from model.roles. row: where a decoder's head works. right: the columns that are
    right. wrong: those of the rival candidates (attractors, the other person). answer: the piece
    that comes next where this truth decides it, rival: the piece that would come if it were
    otherwise ("are" and "is"); None where there is none.
    """

    role: str
    row: int
    right: tuple[int, ...]
    wrong: tuple[int, ...] = ()
    answer: str | None = None
    rival: str | None = None


@dataclass(frozen=True)
class Passage:
    """Pieces without the start token, the truths about them, and the facts they state.

    triples: (noun, adjective or "-", verb or predicate) of every clause about a noun; training and
    held-out text share none.
    """

    pieces: tuple[str, ...]
    truths: tuple[Truth, ...]
    triples: frozenset[Triple] = frozenset()

    @property
    def text(self) -> str:
        """The passage as a person would type it."""
        return text_of(self.pieces)


class Draft:
    """A passage in the making: writes pieces and returns their rows, so that truths can be told."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.truths: list[Truth] = []
        self.triples: set[Triple] = set()
        self._starts = True  # the next word begins a sentence

    def write(self, *words: str) -> int:
        """Writes words (the first of a sentence with a capital) and returns the last one's row."""
        for word in words:
            if self._starts:
                word = word[0].upper() + word[1:]
                self._starts = False
            self.pieces.append(word)
        return len(self.pieces)

    def spell(self, name: str) -> tuple[int, ...]:
        """Writes a name outside the vocabulary letter by letter and returns the rows."""
        self._starts = False
        first = len(self.pieces) + 1
        self.pieces += [f"##{letter}" for letter in name]
        return tuple(range(first, len(self.pieces) + 1))

    def mark(self, *pieces: str) -> int:
        """Writes punctuation or white space, which never takes a capital; returns the last row."""
        self.pieces += pieces
        return len(self.pieces)

    def begin(self) -> None:
        """The next word begins a sentence."""
        self._starts = True

    def truth(
        self,
        role: str,
        row: int,
        right: Iterable[int],
        wrong: Iterable[int] = (),
        answer: str | None = None,
        rival: str | None = None,
    ) -> None:
        """Records what is true in a row that is written already."""
        self.truths.append(Truth(role, row, tuple(right), tuple(wrong), answer, rival))

    def passage(self, n_pieces: int | None = None) -> Passage:
        """What is written, cut after n_pieces; a truth whose answer is cut off goes with it."""
        n_pieces = len(self.pieces) if n_pieces is None else n_pieces
        pieces = self.pieces[:n_pieces]
        if pieces and pieces[-1] == JOIN:
            pieces[-1] = "\n"  # nothing stands after the cut that it could join
        truths = (t for t in self.truths if t.row + (t.answer is not None) <= n_pieces)
        return Passage(tuple(pieces), tuple(truths), frozenset(self.triples))
