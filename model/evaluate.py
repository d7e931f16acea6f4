"""How good a writer is: its heads' roles, its accuracies and its sinks, on text it has never seen.

The program that trains a model, its card and the test that checks the card all call `evaluate`, so
a number means the same everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from types import ModuleType

import numpy as np
import torch
from torch import Tensor

from model import roles
from model.info import HeadRef
from model.languages import Passage, Truth
from model.recorder import recording
from model.roles import HeadRole, rounded
from model.sinks import Sinks, measure_sinks
from model.tokenizer import Tokenizer
from model.transformer import Transformer

BATCH = 16
# The test text; sink_rounds is how often each piece stands in the sink test.
SIZES = {"stories": 640, "repeats": 60, "pairs": 120, "sink_rounds": 120}


@dataclass(frozen=True)
class HeldOut:
    """Text for testing, none of it seen in training."""

    stories: tuple[Passage, ...]
    repeats: tuple[Passage, ...]  # random pieces, said twice
    pairs: Mapping[str, tuple[tuple[Passage, Passage], ...]]  # minimal pairs by name (Role.pairs)
    sink_rounds: int
    marks: tuple[str, ...]  # what the sentences of the language hold beside words


@dataclass(frozen=True)
class Accuracy:
    """How often the model's prediction is right. value, chance: 0 to 1."""

    value: float
    chance: float
    n_cases: int


@dataclass(frozen=True)
class Evaluation:
    """All that a card tells. Losses are nats a piece, over held-out text."""

    heads: Mapping[HeadRef, HeadRole]
    accuracies: Mapping[str, Accuracy]
    losses: Mapping[str, float]
    sinks: Sinks

    def to_json(self) -> dict:
        """As it stands in heads.json; numbers with four decimals."""
        return {
            "accuracies": {name: rounded(asdict(a)) for name, a in self.accuracies.items()},
            "losses": rounded(dict(self.losses)),
            "sinks": rounded(asdict(self.sinks)),
            "heads": roles.to_json(self.heads),
        }

    def summary(self) -> str:
        """One line for a person who watches a run: accuracies, losses, the best head of each
        role."""
        parts = [f"{name} {a.value:.3f}" for name, a in self.accuracies.items()]
        parts += [f"loss on {name} {nats:.3f}" for name, nats in self.losses.items()]
        for role in roles.ROLES:
            best = roles.best_head(self.heads, role)
            if best is not None:
                score = self.heads[best].scores[role]
                held = "" if score.pairs_held is None else f" pairs {score.pairs_held:.2f}"
                parts.append(f"{role} L{best.layer} H{best.head} {score.score:.2f}{held}")
        return " · ".join([*parts, f"sinks {self.sinks.ratio:.2f} ({self.sinks.worst_piece})"])


def held_out(
    language: ModuleType, n_ctx: int, *, share: float = 1.0, seed: int = 20_000
) -> HeldOut:
    """Draws the test text. The language keeps its clauses apart from those of training.

    share: how much of it, 0 to 1; all of it gives every role 300 cases or more.
    """
    rng = random.Random(seed)
    some = {name: max(1, round(n * share)) for name, n in SIZES.items()}
    return HeldOut(
        stories=tuple(language.story(rng, n_ctx - 1, "held_out") for _ in range(some["stories"])),
        repeats=tuple(language.repeats(rng, n_ctx - 1) for _ in range(some["repeats"])),
        pairs={
            name: tuple(language.minimal_pairs(name, rng, some["pairs"]))
            for name in dict.fromkeys(role.pairs for role in roles.ROLES.values() if role.pairs)
        },
        sink_rounds=some["sink_rounds"],
        marks=language.SIGNS,
    )


def evaluate(net: Transformer, tokenizer: Tokenizer, test: HeldOut) -> Evaluation:
    """Everything that a card tells, for a decoder."""
    read = weights_of(net, tokenizer)
    scores = roles.score_heads(read, [*test.stories, *test.repeats], test.pairs)
    accuracies, losses = _predict(net, tokenizer, test)
    n_ctx = net.config.n_ctx
    sinks = measure_sinks(
        partial(head_weights, net), tokenizer, n_ctx, test.sink_rounds, test.marks
    )
    return Evaluation(roles.name_heads(scores), accuracies, losses, sinks)


def ids_of(tokenizer: Tokenizer, passage: Passage) -> list[int]:
    """The ids that a decoder reads for a passage: the start token, then its pieces."""
    return [tokenizer.start_id, *tokenizer.ids(passage.pieces)]


def weights_of(net: Transformer, tokenizer: Tokenizer) -> roles.WeightsOf:
    """A function from a passage to the weights of every head of a decoder, (n, n) each."""

    def read(passage: Passage) -> dict[HeadRef, np.ndarray]:
        return head_weights(net, ids_of(tokenizer, passage))

    return read


def head_weights(net: Transformer, ids: Sequence[int]) -> dict[HeadRef, np.ndarray]:
    """Every head's weights on one text: (n_query, n_key) each.

    A layer at a time: a trace would check every head, which thousands of texts need not pay for.
    """
    with torch.inference_mode(), recording() as run:
        net(torch.tensor([list(ids)]))
        by_layer = {place: layer.all_weights() for place, layer in run.attentions.items()}
    return {
        HeadRef(kind, layer, head): weights
        for (kind, layer), heads in by_layer.items()
        for head, weights in enumerate(heads.numpy())
    }


def _predict(
    net: Transformer, tokenizer: Tokenizer, test: HeldOut
) -> tuple[dict[str, Accuracy], dict[str, float]]:
    """The accuracies and losses: what the model says comes next, where the truth is known."""
    ids = {piece: i for i, piece in enumerate(tokenizer.pieces)}
    hits: dict[str, list[bool]] = {"agreement": [], "reflexive": [], "induction": []}
    nats: dict[str, list[float]] = {"sentences": [], "random, first time": [], "random, again": []}
    for passage, row_ids, log_p in _log_probabilities(net, tokenizer, test.stories):
        nats["sentences"] += _losses(row_ids, log_p)
        for truth in passage.truths:
            name = {"subject": "agreement", "reflexive": "reflexive"}.get(truth.role)
            in_the_way = truth.wrong and max(truth.wrong) > max(truth.right)
            if name and (in_the_way or name == "reflexive") and truth.answer and truth.rival:
                hits[name].append(_prefers_answer(truth, log_p, ids))
    for passage, row_ids, log_p in _log_probabilities(net, tokenizer, test.repeats):
        again = {t.row for t in passage.truths if t.role == "induction"}
        for row, loss in enumerate(_losses(row_ids, log_p)):
            nats["random, again" if row in again else "random, first time"].append(loss)
        hits["induction"] += [
            int(log_p[row].argmax()) == row_ids[row + 1] for row in again if row + 1 < len(row_ids)
        ]
    chance = {"agreement": 0.5, "reflexive": 0.5, "induction": 1 / tokenizer.vocab_size}
    accuracies = {k: Accuracy(float(np.mean(v)), chance[k], len(v)) for k, v in hits.items() if v}
    return accuracies, {k: float(np.mean(v)) for k, v in nats.items()}


def _prefers_answer(truth: Truth, log_p: Tensor, ids: Mapping[str, int]) -> bool:
    row = log_p[truth.row]
    return bool(row[ids[truth.answer]] > row[ids[truth.rival]])


def _log_probabilities(
    net: Transformer, tokenizer: Tokenizer, passages: Sequence[Passage]
) -> Iterator[tuple[Passage, list[int], Tensor]]:
    """Each passage with its ids and the log-probabilities after every row, (n, vocab_size)."""
    for start in range(0, len(passages), BATCH):
        batch = passages[start : start + BATCH]
        ids = [ids_of(tokenizer, passage) for passage in batch]
        with torch.no_grad():
            log_p = net(torch.tensor(ids)).log_softmax(dim=-1)  # (batch, n, vocab_size)
        yield from zip(batch, ids, log_p, strict=True)


def _losses(ids: Sequence[int], log_p: Tensor) -> list[float]:
    """-log p of each piece after the start token: entry r belongs to row r, which predicts r +
    1."""
    return (-log_p[:-1].gather(1, torch.tensor(ids[1:])[:, None])[:, 0]).tolist()
