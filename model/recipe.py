"""How each shipped model is trained: its shape, its language, its numbers, its text step by step.

Batch number s of seed k is always the same text, in whatever process it is made.
"""

from __future__ import annotations

import multiprocessing
import random
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from types import ModuleType

from model.config import Config
from model.tokenizer import Tokenizer

BATCHES_AHEAD = 8


@dataclass(frozen=True)
class Recipe:
    """All that decides a training run, apart from the seed."""

    name: str
    language: str  # a module of model.languages
    config: Config  # vocab_size is filled in from the language
    steps: int = 4500
    batch_size: int = 16  # texts of n_ctx tokens: 2,048 tokens a step
    learning_rate: float = 3e-3
    warm_up: int = 200
    final_rate: float = 0.1  # the cosine ends at this share of learning_rate
    betas: tuple[float, float] = (0.9, 0.98)
    weight_decay: float = 0.01
    clip: float = 1.0
    repeats: float = 0.4  # share of texts that are random pieces said again: they teach induction
    fallback: float = 0.2  # share of letters and bytes in those: unseen ones would become sinks

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
    language, tokenizer = recipe.module, tokenizer_of(recipe.language)
    rng = random.Random(f"{recipe.name} {seed} {step}")  # strings seed alike in every process
    n_pieces = recipe.config.n_ctx
    texts = [
        _repeats(recipe, rng, n_pieces)
        if rng.random() < recipe.repeats
        else language.story(rng, n_pieces, "train").pieces
        for _ in range(recipe.batch_size)
    ]
    return [[tokenizer.start_id, *tokenizer.ids(pieces)] for pieces in texts]


def _repeats(recipe: Recipe, rng: random.Random, n_pieces: int) -> list[str]:
    """Random pieces said again and again until the context is full, most often only a few.

    Few pieces make it plain that they come back; a model that has found that out learns from longer
    ones in which order.
    """
    n_first = n_pieces // rng.choice((1, 2, 4, 8))  # at least 16, which hold 8 pieces twice
    pieces = recipe.module.repeats(rng, n_first, recipe.fallback).pieces
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
