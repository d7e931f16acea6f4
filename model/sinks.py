"""Sinks: pieces at which everything looks for no reason, as happens to those never trained.

Their vectors are still the random ones they began with, and some of those happen to please a head;
in a model trained without them they drew a third of every later row's weight, words a twentieth.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from model.info import HeadRef
from model.tokenizer import FALLBACK, SPECIAL, Tokenizer

FIRST_ROW = 10  # nearer the start there is little else to look at
WATCHED = 20  # how many later rows are watched


@dataclass(frozen=True)
class Sinks:
    """How much weight pieces draw that spell out unknown words, against words (`measure_sinks`).

    Weights, 0 to 1. The marks that sentences of the language hold beside words are told apart: a
    head that looks for the start of a quotation is right to look at its opening mark.
    """

    words: float  # the mean over the words of the language
    fallback: float  # the mean over letters, digits, bytes and the signs that it does not write
    worst: float  # the largest of those
    worst_piece: str
    most_of_marks: float  # the largest over the marks of the language
    mark: str

    @property
    def ratio(self) -> float:
        """The piece that draws most, against the mean word: a sink has more than 2."""
        return self.worst / self.words


def measure_sinks(
    head_weights: Callable[[Sequence[int]], Mapping[HeadRef, np.ndarray]],
    tokenizer: Tokenizer,
    n_ctx: int,
    rounds: int,
    marks: Sequence[str] = (),
    seed: int = 20_001,
) -> Sinks:
    """What every word and every fallback piece draws in texts of random pieces.

    That is the mean weight put on it by the rows 2 to 20 after it, over `rounds` places where it
    stands, in the head where this mean is largest. Few places would show how much single rows
    differ rather than pieces. head_weights: the weights of every head, (n, n), on a text of ids.
    marks: fallback pieces that are part of the language.
    """
    candidates = [i for i, piece in enumerate(tokenizer.pieces) if piece not in SPECIAL]
    places: dict[int, list[np.ndarray]] = {i: [] for i in candidates}
    for ids in _shuffled(candidates, rounds, n_ctx, random.Random(seed)):
        weights = np.stack(list(head_weights([tokenizer.start_id, *ids]).values()))
        for row in range(FIRST_ROW, n_ctx - WATCHED):
            later = weights[:, row + 2 : row + WATCHED + 1, row]  # (heads, rows)
            places[ids[row - 1]].append(later.mean(axis=-1))
    drawn = {i: float(np.mean(means, axis=0).max()) for i, means in places.items()}
    by_piece = {tokenizer.pieces[i]: weight for i, weight in drawn.items()}
    of_words = [weight for piece, weight in by_piece.items() if piece not in FALLBACK]
    spelling = set(FALLBACK) - set(marks)
    of_others = {piece: weight for piece, weight in by_piece.items() if piece in spelling}
    of_marks = {piece: by_piece[piece] for piece in marks}
    worst = max(of_others, key=of_others.__getitem__)
    mark = max(of_marks, key=of_marks.__getitem__, default="")
    return Sinks(
        words=float(np.mean(of_words)),
        fallback=float(np.mean(list(of_others.values()))),
        worst=of_others[worst],
        worst_piece=worst,
        most_of_marks=of_marks.get(mark, 0.0),
        mark=mark,
    )


def _shuffled(
    candidates: Sequence[int], rounds: int, n_ctx: int, rng: random.Random
) -> Iterator[list[int]]:
    """Texts of n_ctx - 1 ids whose watched rows hold every candidate `rounds` times, shuffled.

    The rows before and after are random: the first have little to look back at, the last too few
    rows behind them to watch.
    """
    probes = list(candidates) * rounds
    rng.shuffle(probes)
    n_probes = n_ctx - WATCHED - FIRST_ROW
    probes += rng.choices(candidates, k=-len(probes) % n_probes)
    for start in range(0, len(probes), n_probes):
        before = rng.choices(candidates, k=FIRST_ROW - 1)
        after = rng.choices(candidates, k=WATCHED)
        yield [*before, *probes[start : start + n_probes], *after]
