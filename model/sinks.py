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
    """How much weight pieces draw that spell out unknown words, against words (see `sinks`).

    Weights, 0 to 1. What words draw differs from word to word: "When" opens a sentence and draws
    four times the mean. So the piece that draws most is held against the upper end of the words,
    the one in twenty that draws most, and the mean against the mean.
    """

    words: float  # the mean over the words of the language
    high_words: float  # their 95th percentile
    fallback: float  # the mean over letters, digits, signs, white space and bytes
    worst: float  # the largest of those
    worst_piece: str

    @property
    def ratio(self) -> float:
        """The worst piece against the upper end of the words: a sink has more than 2."""
        return self.worst / self.high_words


def measure_sinks(
    head_weights: Callable[[Sequence[int]], Mapping[HeadRef, np.ndarray]],
    tokenizer: Tokenizer,
    n_ctx: int,
    rounds: int,
    seed: int = 20_001,
) -> Sinks:
    """What every word and every fallback piece draws in texts of random pieces.

    That is the mean weight put on it by the rows 2 to 20 after it, over `rounds` places where it
    stands, in the head where this mean is largest. head_weights: the weights of every head, (n, n),
    on a text of ids.
    """
    candidates = [i for i, piece in enumerate(tokenizer.pieces) if piece not in SPECIAL]
    places: dict[int, list[np.ndarray]] = {i: [] for i in candidates}
    for ids in _shuffled(candidates, rounds, n_ctx, random.Random(seed)):
        weights = np.stack(list(head_weights([tokenizer.start_id, *ids]).values()))
        for row in range(FIRST_ROW, n_ctx - WATCHED):
            later = weights[:, row + 2 : row + WATCHED + 1, row]  # (heads, rows)
            places[ids[row - 1]].append(later.mean(axis=-1))
    drawn = {i: float(np.mean(means, axis=0).max()) for i, means in places.items()}
    of_words = [w for i, w in drawn.items() if tokenizer.pieces[i] not in FALLBACK]
    of_others = {
        tokenizer.pieces[i]: w for i, w in drawn.items() if tokenizer.pieces[i] in FALLBACK
    }
    worst = max(of_others, key=of_others.__getitem__)
    return Sinks(
        words=float(np.mean(of_words)),
        high_words=float(np.quantile(of_words, 0.95)),
        fallback=float(np.mean(list(of_others.values()))),
        worst=of_others[worst],
        worst_piece=worst,
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
