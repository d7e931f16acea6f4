"""The card of a trained model: what it is, how it was made, what it can do and what that means.

Written by the program that trains, from the same numbers as heads.json, so the two cannot disagree.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING

from model.roles import (
    MIN_PAIRS_HELD,
    MIN_SCORE,
    MIN_TIMES_CHANCE,
    ROLES,
    best_head,
    from_json,
)
from model.transformer import Transformer, count_parameters

if TYPE_CHECKING:
    from model.config import Config

WIDTH = 100
BEST_TOLD = ("subject", "induction", "previous", "gloss")  # of another seed

ACCURACIES = {
    "agreement": "is or are, sleeps or sleep: p(right form) > p(other number), nouns in the way",
    "reflexive": "himself, herself, itself or themselves: p(right one) > p(its rival)",
    "induction": "random pieces said again: the likeliest next piece is right",
}

TEMPLATE = """\
# {t[name]}

A decoder-only Transformer (GPT-like): {c.n_layers} layers of {c.n_heads} heads,
d_model {c.d_model}, d_k {c.d_k}, d_ff {c.d_ff}, {c.positions} positions, {c.norm}-norm, a context
of {c.n_ctx} tokens, {c.vocab_size:,} pieces, {n_parameters:,} parameters in 16 bits.

`model/train.py` trained it to predict the next piece of texts that
`model/languages/{t[language]}.py` generates; there is no data set. {t[steps]:,} steps of
{t[batch_size]} texts of {c.n_ctx} tokens: {millions:.1f} million tokens. {t[repeats]:.0%} of the
texts are random pieces said again and again, which teach induction: {t[few]} different ones for the
first {t[few_steps]:,} steps, then all. {t[fallback]:.0%} of those pieces are letters, digits, signs
and bytes, and {t[strewn]:.0%} of the stories have such pieces strewn in, so that none is left
untrained. AdamW,
learning rate {t[learning_rate]:g} after {t[warm_up]} steps of warm-up, then a cosine
down to {t[final_rate]:.0%}; weight decay {t[weight_decay]:g}, gradients clipped at
{t[clip]:g}. Seed {t[seed]}. {t[cpu_minutes]:.0f} CPU-minutes on one thread.

## What it can do

Measured with the weights of the file, on text that the generator keeps for testing: no noun,
adjective and verb stand together in it that stood together in training.

{accuracies}

Loss, in nats a piece: {losses}.

A piece that training never showed becomes a sink, at which everything looks. Here a word draws
{sinks[words]:.3f} of the weight of a later row (2 to 20 tokens on, in the head where that is most),
a piece that spells out unknown words {sinks[fallback]:.3f}; of those `{sinks[worst_piece]}` draws
most, {sinks[worst]:.3f}, {sinks_ratio:.1f} times what a word does. Of the marks that its sentences
hold beside words, `{sinks[mark]}` draws most, {sinks[most_of_marks]:.3f}.

## What its heads do

A score is the mean weight that a head puts on the right token; chance is the score of a head that
spreads its weight evenly. A head is named by its best role if the score is at least {min_score}
and {min_times:.0f} × chance. Where who plays the part is a matter of meaning, the right candidate
must also get more weight than the wrong one in both members of at least {min_pairs:.0%} of the
minimal pairs: two texts that differ only in who plays it. Of subject, only nouns are cases: a
person's name is always singular, so nothing has to be found; who of those named acts is measured as
actor, which names no head, since no pairs test it. This is the best head of each role:

{roles}

and these are the names:

{names}

## Limits

- A name says where a head looks, not what the model makes of it. That a head finds the subject does
  not prove that the verb is chosen through this head; switching the head off may tell.
- A head can play several parts. It is named by the best; `heads.json` has all its scores. A head
  without a name is not idle: none of the roles tested here explains where it looks.
- The scores hold for text of the generated language. What the model knows is that program's grammar
  and its few hundred words, not English, and nothing about the world.
- Another seed gives other heads the same roles: find a head by its score, never by its number.

## Making it again

    python -m model.train {t[name]} --seed {t[seed]}

{another}

That program writes this card, from `heads.json`; `tests/test_writer.py` computes the scores again.
"""


def card(config: Config, heads: Mapping) -> str:
    """CARD.md as text. heads: what stands in heads.json."""
    training = heads["training"]
    sinks = heads["sinks"]
    text = TEMPLATE.format(
        c=config,
        n_parameters=count_parameters(Transformer(config)),
        t=training,
        millions=training["steps"] * training["batch_size"] * config.n_ctx / 1e6,
        accuracies=_accuracy_table(heads["accuracies"]),
        losses=", ".join(f"{nats:.3f} on {name}" for name, nats in heads["losses"].items()),
        sinks=sinks,
        sinks_ratio=sinks["worst"] / sinks["words"],
        another=_another_seed(heads.get("another_seed")),
        min_score=MIN_SCORE,
        min_times=MIN_TIMES_CHANCE,
        min_pairs=MIN_PAIRS_HELD,
        roles=_role_table(heads["heads"]),
        names=_name_table(heads["heads"]),
    )
    return "\n\n".join(_filled(block) for block in text.split("\n\n") if block)


def _filled(block: str) -> str:
    """A paragraph with its lines filled again; headings, lists, tables and code as they are."""
    is_prose = block[0].isalpha() or block[0] == "`"
    return textwrap.fill(block, WIDTH, break_on_hyphens=False) if is_prose else block


def _accuracy_table(accuracies: Mapping) -> str:
    rows = [
        (name, ACCURACIES[name], f"{a['value']:.4f}", f"{a['chance']:.4f}", f"{a['n_cases']:,}")
        for name, a in accuracies.items()
    ]
    return _table(("", "what is counted", "accuracy", "chance", "cases"), rows)


def _role_table(heads: list) -> str:
    """The best head of every role."""
    scored = from_json(heads)
    rows = []
    for role in ROLES.values():
        best = best_head(scored, role.name)
        if best is None:
            continue
        s = scored[best].scores[role.name]
        pairs = "" if s.pairs_held is None else f"{s.pairs_held:.0%} of {s.n_pairs}"
        numbers = (f"{s.score:.4f}", f"{s.chance:.4f}", f"{s.n_cases:,}", pairs)
        rows.append((role.name, role.finds, f"L{best.layer} H{best.head}", *numbers))
    return _table(("role", "a head with it", "best", "score", "chance", "cases", "pairs"), rows)


def _name_table(heads: list) -> str:
    """Every head's name, a row a layer."""
    layers: dict[int, list[str]] = {}
    for h in heads:
        name = h["name"]
        text = f"{name} {h['scores'][name]['score']:.2f}" if name else "unnamed"
        layers.setdefault(h["layer"], []).append(text)
    n_heads = max(map(len, layers.values()))
    rows = [(f"L{layer}", *names) for layer, names in layers.items()]
    return _table(("", *(f"H{head}" for head in range(n_heads))), rows)


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _another_seed(scores: Mapping | None) -> str:
    """What the same recipe gave from another seed (`summary_of`)."""
    if scores is None:
        return ""
    best = ", ".join(f"{role} {score:.4f}" for role, score in scores["best"].items())
    accuracies = ", ".join(f"{name} {value:.4f}" for name, value in scores["accuracies"].items())
    return (
        f"From seed {scores['seed']} the same recipe gave these accuracies: {accuracies}; "
        f"these best heads: {best}; "
        f"and no piece that draws more than {scores['sinks_ratio']:.1f} times what a word does."
    )


def summary_of(heads: Mapping) -> dict:
    """What `card` tells of a run from another seed. heads: what stands in its heads.json."""
    scored = from_json(heads["heads"])
    best = {role: scored[best_head(scored, role)].scores[role].score for role in BEST_TOLD}
    return {
        "seed": heads["training"]["seed"],
        "accuracies": {name: a["value"] for name, a in heads["accuracies"].items()},
        "best": best,
        "sinks_ratio": round(heads["sinks"]["worst"] / heads["sinks"]["words"], 4),
    }
