"""Twins: tiny decoders trained side by side with and without the division by √d_k.

The two of a pair start from the same weights and read the same texts, so whatever tells them apart
comes of the factor 1 / √d_k on q·k alone. Nothing else helps or hinders: Adam at a constant rate,
without warm-up, decay or clipping, so that a spike of the gradient is felt as well as seen.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from model import initialise, measures
from model.attention import attention_weights
from model.config import NORMS, Config
from model.errors import HeadlightError
from model.evaluate import ids_of
from model.recipe import Recipe, make_batch, tokenizer_of
from model.recorder import recording
from model.train import Run, train_step
from model.transformer import Transformer

D_KS = (16, 64, 128)
MOST_D_K = 512
MOST_STEPS = 2000
INITS = {"unit": initialise.unit_variance, "small": initialise.small_normal}
SHAPE = {"n_layers": 2, "n_heads": 2, "d_model": 128, "n_ctx": 48}
LANGUAGE = "english"
EARLY, EVERY = (0, 1, 2, 5), 10  # the steps that are measured, besides the last one
N_TEXTS = 16  # of held-out text on which the models are measured …
TEXT_SEED = 30_000  # … the same for every run


@dataclass(frozen=True)
class Setting:
    """What decides a race of twins: one pair for each d_k.

    init: of INITS, "unit" (entries of q and k have variance 1, as the theory assumes) or "small"
    (all weights 0.02, as in GPT-2)   norm: where LayerNorm stands, "pre" or "post"
    Raises HeadlightError that says what would do.
    """

    d_ks: tuple[int, ...] = D_KS
    init: str = "unit"
    norm: str = "pre"
    steps: int = 100
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.d_ks or len(set(self.d_ks)) < len(self.d_ks):
            raise HeadlightError(f"d_ks={self.d_ks} must be one number or more, each only once")
        for d_k in self.d_ks:
            _check_whole("d_k", d_k, 1, MOST_D_K)
        _check_whole("steps", self.steps, 1, MOST_STEPS)
        for name, value, known in (("init", self.init, INITS), ("norm", self.norm, NORMS)):
            if value not in known:
                raise HeadlightError(f"{name}={value!r} is not known: take {' or '.join(known)}")


class Twin(NamedTuple):
    """One of a pair; equal to the plain tuple (d_k, scaled)."""

    d_k: int
    scaled: bool


@dataclass(frozen=True)
class Look:
    """How a model does on held-out text, the same for all: means over all its heads.

    loss: nats a piece   score_std: the standard deviation of the scores that enter the softmax
    Of the rows that see two keys or more:
    entropy: as a share of the largest possible, 0 to 1   largest: the largest weight, 0 to 1
    saturated: the share whose softmax has a Jacobian norm below measures.SATURATED
    """

    loss: float
    entropy: float
    largest: float
    saturated: float
    score_std: float


@dataclass(frozen=True)
class Point(Look):
    """A model after `step` updates, and the gradient of the loss on the next batch there.

    gradient: the norm of the gradient of all W_q and W_k together   gradient_all: that of all
    parameters, the largest of the steps since the last point, this one included
    """

    step: int
    gradient: float
    gradient_all: float


class Round(NamedTuple):
    """One step of every model. points: None where nothing was measured at this step."""

    step: int
    points: Mapping[Twin, Point] | None


def train_twins(setting: Setting) -> Iterator[Round]:
    """Trains all models of a setting in lockstep, from step 0 (nothing updated yet) to the last.

    Yields after every step, so that whoever trains can stop at any; with the points of all models
    at the steps EARLY, every EVERY steps and at the last one.
    """
    runs = start_twins(setting)
    steepest = dict.fromkeys(runs, 0.0)  # since the last point
    for step in range(setting.steps + 1):
        ids = torch.tensor(batch_of(setting, step))
        measured = step in EARLY or step % EVERY == 0 or step == setting.steps
        points = {}
        for twin, run in runs.items():
            seen = look(run.net) if measured else None  # before the update, as the gradient is
            train_step(run, ids)
            steepest[twin] = max(steepest[twin], gradient_norm(run.net.parameters()))
            if seen is not None:
                of_scores = gradient_norm(query_and_key_weights(run.net))
                points[twin] = Point(
                    **asdict(seen), step=step, gradient=of_scores, gradient_all=steepest[twin]
                )
                steepest[twin] = 0.0
        yield Round(step, points or None)


def at_start(setting: Setting) -> Mapping[Twin, Point]:
    """The points of step 0, before any training."""
    return next(train_twins(setting)).points


def start_twins(setting: Setting) -> dict[Twin, Run]:
    """Every model of a setting before its first step, its weights drawn from the seed.

    The unscaled one takes the weights of the scaled one: drawn by itself it would differ from
    layer 1 on, since `initialise.unit_variance` looks at what the layer before gives.
    """
    runs = {}
    for d_k in setting.d_ks:
        scaled, unscaled = (_recipe(setting, d_k, scaled) for scaled in (True, False))
        net = Transformer(scaled.config, seed=None)
        INITS[setting.init](net, setting.seed)
        twin = Transformer(unscaled.config, seed=None)
        twin.load_state_dict(net.state_dict())
        runs[Twin(d_k, True)] = _run(scaled, setting.seed, net)
        runs[Twin(d_k, False)] = _run(unscaled, setting.seed, twin)
    return runs


def batch_of(setting: Setting, step: int) -> list[list[int]]:
    """What every model of a setting reads at a step: (batch_size, n_ctx + 1) ids."""
    return make_batch(_recipe(setting, setting.d_ks[0], True), setting.seed, step)


def query_and_key_weights(net: Transformer) -> list[nn.Parameter]:
    """W_q and W_k of every layer, without their biases."""
    attentions = [m for m in net.modules() if hasattr(m, "w_q")]
    return [linear.weight for a in attentions for linear in (a.w_q, a.w_k)]


def gradient_norm(parameters: Iterable[nn.Parameter]) -> float:
    """The length of the gradient of some parameters as one vector, left by the last step."""
    return torch.nn.utils.get_total_norm([p.grad for p in parameters]).item()


def look(net: Transformer) -> Look:
    """Measures a model on the held-out texts, one at a time, as the recorder asks."""
    losses, scores, rows = [], [], []
    for ids in held_out_ids():
        with torch.no_grad(), recording() as run:
            logits = net(ids[None, :-1])[0]  # (n_ctx, vocab_size)
            losses.append(nn.functional.cross_entropy(logits, ids[1:]).item())
        for layer in run.attentions.values():
            of_layer = torch.stack([layer.scores(head) for head in range(layer.n_heads)])
            scores.append(of_layer[:, layer.mask])
            rows.append(attention_weights(of_layer, layer.mask))
            mask = layer.mask.numpy()
    return Look(
        loss=float(np.mean(losses)),
        score_std=torch.stack(scores).std().item(),
        **_rows_in_numbers(torch.stack(rows).numpy(), mask),
    )


def _rows_in_numbers(weights: np.ndarray, mask: np.ndarray) -> dict[str, float]:
    """weights: (texts · layers, n_heads, n, n), mask: (n, n), of all of them."""
    choice = mask.sum(axis=-1) > 1  # a row that sees one key alone is no one's doing
    weights, most = weights[..., choice, :], measures.largest_entropy(mask[choice])
    return {
        "entropy": float((measures.entropy(weights) / most).mean()),
        "largest": float(measures.largest_weight(weights).mean()),
        "saturated": float((measures.jacobian_norm(weights) < measures.SATURATED).mean()),
    }


@lru_cache(maxsize=1)
def held_out_ids() -> Tensor:
    """The texts on which models are measured: (N_TEXTS, n_ctx + 1) ids, no clause in training."""
    rng, tokenizer = random.Random(TEXT_SEED), tokenizer_of(LANGUAGE)
    story = _recipe(Setting(), D_KS[0], True).module.story
    drawn = [story(rng, SHAPE["n_ctx"], "held_out") for _ in range(N_TEXTS)]
    return torch.tensor([ids_of(tokenizer, passage) for passage in drawn])


def _recipe(setting: Setting, d_k: int, scaled: bool) -> Recipe:
    return Recipe(
        "twins",
        LANGUAGE,
        Config(
            **SHAPE,
            d_k=d_k,
            norm=setting.norm,
            scaled=scaled,
            vocab_size=tokenizer_of(LANGUAGE).vocab_size,
        ),
        steps=setting.steps,
        batch_size=16,
        learning_rate=1e-3,
        warm_up=1,
        final_rate=1.0,
        betas=(0.9, 0.999),
        weight_decay=0.0,
        clip=math.inf,
        repeats=0.0,
        strewn=0.0,
    )


def _run(recipe: Recipe, seed: int, net: Transformer) -> Run:
    optimizer = torch.optim.AdamW(
        net.parameters(),
        lr=recipe.learning_rate,
        betas=recipe.betas,
        weight_decay=recipe.weight_decay,
    )
    return Run(recipe, seed, net, optimizer)


def _check_whole(name: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise HeadlightError(f"{name}={value!r} must be a whole number from {least} to {most}")
