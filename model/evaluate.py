"""How good a writer is: its heads' roles, its accuracies and its sinks, on text it has never seen.

The program that trains a model, its card and the test that checks the card all call `evaluate`, so
a number means the same everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import ModuleType

import numpy as np
import torch
from torch import Tensor

from model import roles
from model.attention import attention_scores, attention_weights
from model.attention_trace import AttentionTrace
from model.info import HeadRef
from model.languages import Passage, Truth
from model.recorder import recording
from model.roles import HeadRole, rounded
from model.tokenizer import FALLBACK, SPECIAL, Tokenizer
from model.transformer import Transformer

BATCH = 16
SINK_ROUNDS = 5  # how often each piece stands in the sink test
SINK_FROM, SINK_ROWS = 10, 20  # the first row of a probe, and how many later rows are watched


@dataclass(frozen=True)
class HeldOut:
    """Text for testing, none of it seen in training."""

    stories: tuple[Passage, ...]
    repeats: tuple[Passage, ...]  # random pieces, said twice
    pairs: Mapping[str, tuple[tuple[Passage, Passage], ...]]  # role of meaning → minimal pairs


@dataclass(frozen=True)
class Accuracy:
    """How often the model's prediction is right. value, chance: 0 to 1."""

    value: float
    chance: float
    n_cases: int


@dataclass(frozen=True)
class Sinks:
    """How much weight unseen-looking pieces draw, against words (`sinks`). Weights, 0 to 1."""

    words: float  # the mean over the words of the language
    fallback: float  # the mean over letters, digits, signs and bytes
    worst: float  # the largest of those
    worst_piece: str

    @property
    def ratio(self) -> float:
        """The worst piece against the mean word: at most 2 is asked for."""
        return self.worst / self.words


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
            best = best_head(self.heads, role)
            if best is not None:
                score = self.heads[best].scores[role]
                held = "" if score.pairs_held is None else f" pairs {score.pairs_held:.2f}"
                parts.append(f"{role} L{best.layer} H{best.head} {score.score:.2f}{held}")
        return " · ".join([*parts, f"sinks {self.sinks.ratio:.2f} ({self.sinks.worst_piece})"])


def best_head(heads: Mapping[HeadRef, HeadRole], role: str) -> HeadRef | None:
    """The head that plays a role best, whatever it is named; None if the role was not tested."""
    tested = [ref for ref in heads if role in heads[ref].scores]
    return max(tested, key=lambda ref: heads[ref].scores[role].score, default=None)


def held_out(
    language: ModuleType,
    n_ctx: int,
    *,
    seed: int = 20_000,
    n_stories: int = 400,
    n_repeats: int = 60,
    n_pairs: int = 120,
) -> HeldOut:
    """Draws the test text. The language keeps its clauses apart from those of training."""
    rng = random.Random(seed)
    return HeldOut(
        stories=tuple(language.story(rng, n_ctx - 1, "held_out") for _ in range(n_stories)),
        repeats=tuple(language.repeats(rng, n_ctx - 1) for _ in range(n_repeats)),
        pairs={
            role.name: tuple(language.minimal_pairs(role.pairs, rng, n_pairs))
            for role in roles.ROLES.values()
            if role.pairs
        },
    )


def evaluate(net: Transformer, tokenizer: Tokenizer, test: HeldOut) -> Evaluation:
    """Everything that a card tells, for a decoder."""
    read = weights_of(net, tokenizer)
    scores = roles.score_heads(read, [*test.stories, *test.repeats], test.pairs)
    accuracies, losses = _predict(net, tokenizer, test)
    return Evaluation(roles.name_heads(scores), accuracies, losses, sinks(net, tokenizer))


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

    By the formula, a layer at a time: a trace would check every head, which thousands of texts need
    not pay for.
    """
    with torch.inference_mode(), recording() as run:
        net(torch.tensor([list(ids)]))
        by_layer = {place: _layer_weights(layer) for place, layer in run.attentions.items()}
    return {
        HeadRef(kind, layer, head): weights
        for (kind, layer), heads in by_layer.items()
        for head, weights in enumerate(heads)
    }


def _layer_weights(layer: AttentionTrace) -> np.ndarray:
    bias = None
    if layer.bias is not None:
        bias = torch.stack([layer.position_bias(head) for head in range(layer.n_heads)])
    scores = attention_scores(layer.q, layer.k, scale=layer.scale, bias=bias)
    return attention_weights(scores, layer.mask).numpy()  # (n_heads, n_query, n_key)


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


def sinks(net: Transformer, tokenizer: Tokenizer, seed: int = 20_001) -> Sinks:
    """Whether a piece draws attention for no reason, as pieces that training never showed do.

    Every word and every fallback piece is shuffled into texts of random pieces, SINK_ROUNDS times
    each. What a piece draws is the mean weight that the rows 2 to 20 after it put on it, in the
    head where that is largest. Compared are the mean over words and the largest over fallback
    pieces.
    """
    candidates = [i for i, piece in enumerate(tokenizer.pieces) if piece not in SPECIAL]
    drawn: dict[int, list[np.ndarray]] = {i: [] for i in candidates}
    for ids in _decks(candidates, net.config.n_ctx, random.Random(seed)):
        weights = np.stack(list(head_weights(net, [tokenizer.start_id, *ids]).values()))
        for row in range(SINK_FROM, net.config.n_ctx - 1 - SINK_ROWS):
            pull = weights[:, row + 2 : row + 1 + SINK_ROWS, row].mean(axis=-1)  # (heads,)
            drawn[ids[row - 1]].append(pull)
    pull = {i: float(np.mean(v, axis=0).max()) for i, v in drawn.items() if v}
    of_words = [p for i, p in pull.items() if tokenizer.pieces[i] not in FALLBACK]
    of_others = {i: p for i, p in pull.items() if tokenizer.pieces[i] in FALLBACK}
    worst = max(of_others, key=of_others.__getitem__)
    return Sinks(
        words=float(np.mean(of_words)),
        fallback=float(np.mean(list(of_others.values()))),
        worst=of_others[worst],
        worst_piece=tokenizer.pieces[worst],
    )


def _decks(candidates: Sequence[int], n_ctx: int, rng: random.Random) -> Iterator[list[int]]:
    """Texts of n_ctx - 1 pieces in which every candidate is a probe SINK_ROUNDS times.

    Only the middle of a text is a probe (not the first rows, nor the last, which too few rows
    follow); around it stand random pieces.
    """
    probes = [i for i in candidates for _ in range(SINK_ROUNDS)]
    rng.shuffle(probes)
    lead = SINK_FROM - 1
    n_probes = n_ctx - 1 - SINK_ROWS - SINK_FROM
    for start in range(0, len(probes), n_probes):
        middle = probes[start : start + n_probes]
        middle += rng.choices(candidates, k=n_probes - len(middle))
        rest = n_ctx - 1 - lead - n_probes
        yield [*rng.choices(candidates, k=lead), *middle, *rng.choices(candidates, k=rest)]
