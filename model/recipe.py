"""How each shipped model is trained: its shape, its language, its numbers, its text step by step.

Batch number s of seed k is always the same text, in whatever process it is made.
"""

from __future__ import annotations

import multiprocessing
import random
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from model.config import Config
from model.tokenizer import FALLBACK, SPECIAL, Tokenizer

BATCHES_AHEAD = 8
STREWN_GAPS = 0.06  # share of the gaps between words that hold something, in a strewn story


@dataclass(frozen=True)
class Recipe:
    """All that decides a training run, apart from the seed."""

    name: str
    language: str  # a module of model.languages
    config: Config  # vocab_size is filled in from the language
    steps: int = 5000
    batch_size: int = 16  # texts of n_ctx tokens: 2,048 tokens a step
    learning_rate: float = 2e-3
    warm_up: int = 200
    final_rate: float = 0.1  # the cosine ends at this share of learning_rate
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    clip: float = 1.0
    repeats: float = 0.4  # share of texts that are random pieces said again: they teach induction
    fallback: float = 0.3  # share of letters and bytes in those: unseen ones would become sinks
    strewn: float = 0.3  # share of stories with letters, signs and bytes among their words
    few: int = 64  # at first, the random pieces are only so many different ones …
    few_steps: int = 1000  # … for so many steps (see `_repeats`)

    @property
    def module(self) -> ModuleType:
        return import_module(f"model.languages.{self.language}")


RECIPES = {
    "writer": Recipe("writer", "english", Config(n_layers=4, n_heads=4, d_model=128, tied=True)),
}


def recipe_of(name: str, steps: int | None = None) -> Recipe:
    """A recipe by name, its vocabulary counted, with another number of steps if one is given."""
    recipe = RECIPES[name]
    config = replace(recipe.config, vocab_size=tokenizer_of(recipe.language).vocab_size)
    return replace(recipe, config=config, steps=steps or recipe.steps)


@lru_cache(maxsize=4)
def tokenizer_of(language: str) -> Tokenizer:
    """The tokenizer of a language: its words, and the fallback pieces of all."""
    return Tokenizer(import_module(f"model.languages.{language}").vocabulary())


def make_batch(recipe: Recipe, seed: int, step: int) -> list[list[int]]:
    """The texts of one step, (batch_size, n_ctx + 1) ids: what is read, and one more to predict.

    A text fills the context, so that every learned position is trained.
    """
    tokenizer = tokenizer_of(recipe.language)
    rng = random.Random(f"{recipe.name} {seed} {step}")  # strings seed alike in every process
    n_pieces = recipe.config.n_ctx
    texts = [
        _repeats(recipe, rng, n_pieces, few=step < recipe.few_steps)
        if rng.random() < recipe.repeats
        else _story(recipe, rng, n_pieces)
        for _ in range(recipe.batch_size)
    ]
    return [[tokenizer.start_id, *tokenizer.ids(pieces)] for pieces in texts]


def _story(recipe: Recipe, rng: random.Random, n_pieces: int) -> Sequence[str]:
    """A story; some with pieces strewn in that spell nothing, as unknown words do in typed text.

    What the random pieces teach ends in the layer of the induction heads. The heads above it learn
    from stories alone where to look, and also where not to: never shown a piece there, they gave
    some up to four times the weight of a word.
    """
    pieces = recipe.module.story(rng, n_pieces, "train").pieces
    if rng.random() >= recipe.strewn:
        return pieces
    strangers = [p for p in FALLBACK if p not in SPECIAL and p not in recipe.module.MARKS]
    strewn: list[str] = []
    for piece in pieces:
        if rng.random() < STREWN_GAPS:
            strewn += rng.choices(strangers, k=rng.randint(1, 4))
        strewn.append(piece)
    return strewn[:n_pieces]


def _repeats(recipe: Recipe, rng: random.Random, n_pieces: int, few: bool) -> list[str]:
    """Random pieces said again and again until the context is full.

    few: of a small set alone. Induction needs two heads that are of no use without each other, one
    that tells each place what stood before it and one that looks for that, and each piece must be
    learned in both: with all 1,300 from the start the best induction head has a score of 0.05 after
    1,000 steps, and some seeds find nothing in 3,000; 64 pieces are learned in 600 steps, and the
    others then follow in 300.
    """
    # At least 16, which hold 8 pieces twice: few pieces make it plain that they come back, and many
    # in which order.
    n_first = n_pieces // (2 if few else rng.choice((1, 2, 4, 8)))
    among = recipe.module.some_pieces(recipe.few, recipe.fallback) if few else None
    pieces = recipe.module.repeats(rng, n_first, recipe.fallback, among).pieces
    period = pieces.index(pieces[0], 1)
    return [pieces[i % period] for i in range(n_pieces)]


def batches(recipe: Recipe, seed: int, first: int) -> Iterator[list[list[int]]]:
    """The batches of steps first, first + 1, …, made by a process that works a few steps ahead."""
    fresh = multiprocessing.get_context("spawn")  # a fork would copy torch's threads half-alive
    with ProcessPoolExecutor(1, mp_context=fresh) as pool:
        steps = range(first, recipe.steps)
        ahead = deque(pool.submit(make_batch, recipe, seed, s) for s in steps[:BATCHES_AHEAD])
        for step in steps:
            if step + BATCHES_AHEAD < recipe.steps:
                ahead.append(pool.submit(make_batch, recipe, seed, step + BATCHES_AHEAD))
            yield ahead.popleft().result()
