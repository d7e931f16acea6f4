"""Twins: tiny decoders trained side by side with and without the division by √d_k.

The two of a pair start from the same weights and read the same texts, so whatever tells them apart
comes of the factor 1 / √d_k on q·k alone. Nothing is there that would help one of them more: Adam
at a constant rate, without warm-up, decay of weights or clipping of gradients.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from model import initialise, measures
from model.attention import attention_weights
from model.attention_trace import AttentionTrace
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
MOST_SEED = 2**31 - 1
INITS = {"unit": initialise.unit_variance, "small": initialise.small_normal}
SHAPE = {"n_layers": 2, "n_heads": 2, "d_model": 128, "d_v": 64, "n_ctx": 48}
LANGUAGE = "english"
EARLY, EVERY = (0, 1, 2, 5), 10  # the steps that are measured, besides the last one
N_TEXTS = 16  # of held-out text, the same for every run, give the loss …
N_WATCHED = 4  # … and so many of them the numbers of attention, which cost more
TEXT_SEED = 30_000


@dataclass(frozen=True)
class Setting:
    """What decides a race of twins: one pair for each d_k.

    init: of INITS, "unit" (entries of q and k have variance 1, as the theory assumes) or "small"
    (every weight has a standard deviation of 0.02 or less, as in GPT-2)
    norm: where LayerNorm stands, "pre" or "post"
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
        _check_whole("seed", self.seed, 0, MOST_SEED)
        for name, value, known in (("init", self.init, INITS), ("norm", self.norm, NORMS)):
            if value not in known:
                raise HeadlightError(f"{name}={value!r} is not known: take {' or '.join(known)}")


class Twin(NamedTuple):
    """One of a pair; equal to the plain tuple (d_k, scaled)."""

    d_k: int
    scaled: bool


ANY = Twin(D_KS[0], True)  # where all models agree: what they read


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
    """A model after `step` updates, with the gradient of its loss on the batch that comes next.

    gradient: the norm of the gradient of all W_q and W_k together   gradient_all: that of all
    parameters, the largest from the last point to this one
    """

    step: int
    gradient: float
    gradient_all: float


class Round(NamedTuple):
    """One step of every model. points: None where nothing was measured at this step."""

    step: int
    points: Mapping[Twin, Point] | None


def train_twins(setting: Setting) -> Iterator[Round]:
    """Trains all models of a setting in lockstep, one update of each a round.

    Yields step 0, when nothing is updated yet, and then after every round, so that whoever trains
    can stop at any; with the points of all models at the steps EARLY, every EVERY steps and at the
    last one.
    """
    nets = start_twins(setting)
    yield Round(0, _points(nets, setting, 0, dict.fromkeys(nets, 0.0)))
    # Only now: the first optimizer of a process takes PyTorch seconds, which the start can spare.
    runs = {twin: _run(recipe_for(setting, twin), setting.seed, net) for twin, net in nets.items()}
    steepest = dict.fromkeys(nets, 0.0)  # since the last point
    for step in range(1, setting.steps + 1):
        ids = batch_of(setting, step - 1)
        for twin, run in runs.items():
            train_step(run, ids)
            steepest[twin] = max(steepest[twin], gradient_norm(run.net.parameters()))
        measured = step in EARLY or step % EVERY == 0 or step == setting.steps
        yield Round(step, _points(nets, setting, step, steepest) if measured else None)
        if measured:
            steepest = dict.fromkeys(nets, 0.0)


def at_start(setting: Setting) -> Mapping[Twin, Point]:
    """The points of step 0, before any training."""
    return next(train_twins(setting)).points


def start_twins(setting: Setting) -> dict[Twin, Transformer]:
    """Every model of a setting before its first step, its weights drawn from the seed.

    The unscaled one takes the weights of the scaled one: drawn by itself it would differ from
    layer 1 on, since `initialise.unit_variance` looks at what the layer before gives.
    """
    nets = {}
    for d_k in setting.d_ks:
        pair = [Twin(d_k, True), Twin(d_k, False)]
        scaled, unscaled = (Transformer(recipe_for(setting, t).config, seed=None) for t in pair)
        INITS[setting.init](scaled, setting.seed)
        unscaled.load_state_dict(scaled.state_dict())
        nets |= zip(pair, (scaled, unscaled), strict=True)
    return nets


def recipe_for(setting: Setting, twin: Twin) -> Recipe:
    """How one model is trained: its shape, and plain Adam on stories alone."""
    config = Config(
        **SHAPE,
        d_k=twin.d_k,
        scaled=twin.scaled,
        norm=setting.norm,
        vocab_size=tokenizer_of(LANGUAGE).vocab_size,
    )
    return Recipe(
        "twins",
        LANGUAGE,
        config,
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


def batch_of(setting: Setting, step: int) -> Tensor:
    """What every model of a setting reads for one update: (batch_size, n_ctx + 1) ids."""
    return torch.tensor(make_batch(recipe_for(setting, ANY), setting.seed, step))


def loss_of(net: Transformer, ids: Tensor) -> Tensor:
    """The mean next-piece loss, nats a piece. ids: (batch, n_ctx + 1)."""
    logits = net(ids[:, :-1])  # (batch, n_ctx, vocab_size)
    return nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())


def query_and_key_weights(net: Transformer) -> list[nn.Parameter]:
    """W_q and W_k of every layer, without their biases."""
    attentions = [m for m in net.modules() if hasattr(m, "w_q")]
    return [linear.weight for a in attentions for linear in (a.w_q, a.w_k)]


def gradient_norm(parameters: Iterable[nn.Parameter]) -> float:
    """The length of the gradient of some parameters as one vector, as the last backward left it."""
    return torch.nn.utils.get_total_norm([p.grad for p in parameters]).item()


def look(net: Transformer) -> Look:
    """Measures a model on held-out text: its loss on all of it, its attention on a part."""
    ids = held_out_ids(net.config.n_ctx)
    with torch.no_grad():
        loss = loss_of(net, ids).item()
        layers = [layer for text in ids[:N_WATCHED, :-1] for layer in _attentions(net, text)]
        mask = layers[0].mask  # (n_ctx, n_ctx), the same in every layer
        scores = torch.stack([layer.scores(h) for layer in layers for h in range(layer.n_heads)])
        weights = attention_weights(scores, mask)  # (texts · layers · heads, n_ctx, n_ctx)
    return Look(
        loss=loss,
        score_std=scores[:, mask].std().item(),
        **_rows_in_numbers(weights.numpy(), mask.numpy()),
    )


def _attentions(net: Transformer, ids: Tensor) -> list[AttentionTrace]:
    """The layers of a model at work on one text, (n_ctx,); a recorder sees only one at a time."""
    with recording() as run:
        net.states(ids[None])
    return list(run.attentions.values())


def _rows_in_numbers(weights: np.ndarray, mask: np.ndarray) -> dict[str, float]:
    """Means over the rows of all heads. weights: (heads, n, n), mask: (n, n)."""
    choice = mask.sum(axis=-1) > 1  # a row that sees one key alone is no one's doing
    weights, most = weights[..., choice, :], measures.largest_entropy(mask[choice])
    return {
        "entropy": float((measures.entropy(weights) / most).mean()),
        "largest": float(measures.largest_weight(weights).mean()),
        "saturated": float((measures.jacobian_norm(weights) < measures.SATURATED).mean()),
    }


@lru_cache(maxsize=2)
def held_out_ids(n_ctx: int) -> Tensor:
    """The texts on which models are measured: (N_TEXTS, n_ctx + 1) ids, no clause in training."""
    rng, tokenizer = random.Random(TEXT_SEED), tokenizer_of(LANGUAGE)
    story = recipe_for(Setting(), ANY).module.story
    drawn = [story(rng, n_ctx, "held_out") for _ in range(N_TEXTS)]
    return torch.tensor([ids_of(tokenizer, passage) for passage in drawn])


def _points(
    nets: Mapping[Twin, Transformer], setting: Setting, step: int, steepest: Mapping[Twin, float]
) -> dict[Twin, Point]:
    ids = batch_of(setting, step)  # the next to be trained on
    points = {}
    for twin, net in nets.items():
        net.zero_grad()
        loss_of(net, ids).backward()
        of_all = gradient_norm(net.parameters())
        points[twin] = Point(
            **asdict(look(net)),
            step=step,
            gradient=gradient_norm(query_and_key_weights(net)),
            gradient_all=max(of_all, steepest[twin]),
        )
    return points


def _run(recipe: Recipe, seed: int, net: Transformer) -> Run:
    optimizer = torch.optim.AdamW(
        net.parameters(),
        lr=recipe.learning_rate,
        betas=recipe.betas,
        weight_decay=recipe.weight_decay,
        fused=True,  # four times as fast
    )
    return Run(recipe, seed, net, optimizer)


def _check_whole(name: str, value: int, least: int, most: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise HeadlightError(f"{name}={value!r} must be a whole number from {least} to {most}")
