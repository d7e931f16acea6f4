"""Training of the shipped models: `python -m model.train writer`.

The text is generated while training runs, by a process beside it, so no data is shipped. The same
seed gives the same text and, on one machine with one thread, the same weights, also when a run is
interrupted and taken up again (`--resume`).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from model import initialise, zoo
from model.card import card, summary_of
from model.errors import HeadlightError
from model.evaluate import evaluate, held_out
from model.positions import Positions
from model.recipe import RECIPES, Recipe, batches, recipe_of, tokenizer_of
from model.transformer import Transformer

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets" / "models"
LOOK = 0.1  # share of the test text on which a run is scored now and then


# ── Training ─────────────────────────────────────────────────────────────────────────────────────


@dataclass
class Run:
    """A training run under way: what a checkpoint holds."""

    recipe: Recipe
    seed: int
    net: Transformer
    optimizer: torch.optim.Optimizer
    step: int = 0
    cpu_seconds: float = 0.0
    losses: list[float] = field(default_factory=list)  # one a step, nats a piece


def start(recipe: Recipe, seed: int) -> Run:
    """A run at step 0, its weights drawn from the seed.

    GPT-2's 0.02 an entry is meant for 768 entries. In a narrow model embeddings so short are soon
    moved together by Adam further than they differ, and queries and keys so small that no head
    prefers anything for hundreds of steps; so here every vector starts with a length of about 1.
    """
    net = Transformer(recipe.config, seed)
    initialise.small_normal(net, seed, std=recipe.config.d_model**-0.5)
    for stack in net.stacks.values():
        _start_from_waves(stack.positions)
    optimizer = torch.optim.AdamW(
        net.parameters(),
        lr=recipe.learning_rate,
        betas=recipe.betas,
        weight_decay=recipe.weight_decay,
    )
    return Run(recipe, seed, net, optimizer)


def _start_from_waves(positions: Positions) -> None:
    """Starts a learned table from sines and cosines of its size, wavelengths 4 to 2 · n_ctx tokens.

    Then neighbours are alike from the start and "one back" is the same rotation for all of them; a
    head that looks at the previous token, which induction needs, comes sooner.
    """
    for table in positions.parameters():
        n_ctx, d_model = table.shape
        wavelengths = 4 * (n_ctx / 2) ** torch.linspace(0, 1, d_model // 2)
        angles = 2 * math.pi * torch.arange(n_ctx)[:, None] / wavelengths  # (n_ctx, d_model / 2)
        waves = torch.cat([angles.sin(), angles.cos()], dim=1)  # variance 1/2
        table.data.copy_(waves * table.std() * 2**0.5)


def rate_at(recipe: Recipe, step: int) -> float:
    """The learning rate of a step: a straight warm-up, then half a cosine down to final_rate."""
    warm = min(1.0, (step + 1) / recipe.warm_up)
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, step / recipe.steps)))
    return recipe.learning_rate * warm * (recipe.final_rate + (1 - recipe.final_rate) * cosine)


def train_step(run: Run, ids: Tensor) -> float:
    """One step of AdamW on the next-piece loss. ids: (batch, n_ctx + 1). Returns nats a piece."""
    for group in run.optimizer.param_groups:
        group["lr"] = rate_at(run.recipe, run.step)
    logits = run.net(ids[:, :-1])  # (batch, n_ctx, vocab_size)
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
    run.optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(run.net.parameters(), run.recipe.clip)
    run.optimizer.step()
    run.step += 1
    return loss.item()


def train(run: Run, after_step: Callable[[Run], None]) -> None:
    """Runs the steps that are left; `after_step` sees the run after each."""
    for ids in batches(run.recipe, run.seed, run.step):
        began = time.process_time()
        run.losses.append(train_step(run, torch.tensor(ids)))
        run.cpu_seconds += time.process_time() - began
        after_step(run)


def save_checkpoint(run: Run, path: Path) -> None:
    """Writes all that is needed to go on; an interruption while writing leaves the old file."""
    state = {
        "recipe": repr(run.recipe),
        "seed": run.seed,
        "step": run.step,
        "cpu_seconds": run.cpu_seconds,
        "losses": run.losses,
        "net": run.net.state_dict(),
        "optimizer": run.optimizer.state_dict(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def resume(run: Run, path: Path) -> None:
    """Brings a run at step 0 to where the checkpoint was written."""
    if not path.exists():
        raise HeadlightError(f"There is no checkpoint {path} to go on from: leave out --resume")
    state = torch.load(path, weights_only=True)
    if (state["recipe"], state["seed"]) != (repr(run.recipe), run.seed):
        raise HeadlightError(
            f"{path} is from another recipe or seed ({state['seed']}, not {run.seed}): "
            "leave out --resume to start afresh"
        )
    run.net.load_state_dict(state["net"])
    run.optimizer.load_state_dict(state["optimizer"])
    run.step, run.cpu_seconds, run.losses = state["step"], state["cpu_seconds"], state["losses"]


# ── Assets ───────────────────────────────────────────────────────────────────────────────────────


def write_model(run: Run, out: Path) -> None:
    """Writes what the zoo needs to run the model: config, weights and tokenizer."""
    out.mkdir(parents=True, exist_ok=True)
    weights = {name: w.half().contiguous() for name, w in run.net.state_dict().items()}
    if run.recipe.config.tied:
        del weights["unembedding.weight"]  # the embedding, under a second name
    save_file(weights, out / "weights.safetensors")
    tokenizer_of(run.recipe.language).save(out / "tokenizer.json")
    (out / "config.json").write_text(zoo.config_to_json(run.recipe.config), encoding="utf-8")


def write_scores(
    training: Mapping, out: Path, share: float = 1.0, another: Mapping | None = None
) -> None:
    """Scores the weights of a folder on unseen text and writes heads.json and the card.

    training: how the weights came about, as `facts` tells it. share: of the test text. another:
    what the same recipe gave from another seed, as `card.summary_of` tells it.
    """
    trained = zoo.load(f"{out}/")
    config = trained.net.config
    test = held_out(RECIPES[training["name"]].module, config.n_ctx, share=share)
    result = evaluate(trained.net, trained.tokenizer, test)
    heads = {"training": dict(training), **result.to_json()}
    if another:
        heads["another_seed"] = dict(another)
    (out / "heads.json").write_text(json.dumps(heads, indent=1) + "\n", encoding="utf-8")
    (out / "CARD.md").write_text(card(config, heads), encoding="utf-8")


def facts(run: Run) -> dict:
    """What a card tells of a run: its recipe (the shape stands in config.json), seed and cost."""
    recipe = asdict(run.recipe)
    del recipe["config"]
    cost = {"cpu_minutes": round(run.cpu_seconds / 60, 1), "torch": torch.__version__}
    return {**recipe, "seed": run.seed, **cost}


# ── The program ──────────────────────────────────────────────────────────────────────────────────


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains a model, with a progress bar, and writes its folder."""
    options = _options(arguments)
    torch.set_num_threads(options.threads)
    if options.score:
        _score_again(options)
        return
    recipe = recipe_of(options.model, options.steps)
    run = start(recipe, options.seed)
    if options.resume:
        resume(run, options.checkpoint)
    look = held_out(recipe.module, recipe.config.n_ctx, share=LOOK * options.share)
    tokenizer = tokenizer_of(recipe.language)
    _train_with_progress(run, options, lambda: evaluate(run.net, tokenizer, look).summary())
    write_model(run, options.out)
    write_scores(facts(run), options.out, options.share)
    (options.checkpoint).unlink(missing_ok=True)


def _score_again(options: argparse.Namespace) -> None:
    """For a new role or measure: scores the weights that are there, without training."""
    path = options.out / "heads.json"
    if not path.exists():
        raise HeadlightError(f"There is no {path}, so nothing to score: leave out --score")
    heads = json.loads(path.read_text(encoding="utf-8"))
    another = heads.get("another_seed")
    if options.another:
        other = json.loads(options.another.read_text(encoding="utf-8"))
        if (
            _recipe_of(other) != _recipe_of(heads)
            or other["training"]["seed"] == heads["training"]["seed"]
        ):
            raise HeadlightError(f"{options.another} is not the same recipe from another seed")
        another = summary_of(other)
    write_scores(heads["training"], options.out, options.share, another)


def _recipe_of(heads: Mapping) -> dict:
    """What stands in heads.json of the recipe alone."""
    of_the_run = ("seed", "cpu_minutes", "torch")
    return {name: v for name, v in heads["training"].items() if name not in of_the_run}


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m model.train", description=__doc__)
    parser.add_argument("model", choices=sorted(RECIPES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="default: the recipe's")
    parser.add_argument("--out", type=Path, help="default: assets/models/<model>")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--score", action="store_true", help="score the weights in --out again")
    parser.add_argument(
        "--another", type=Path, help="with --score: heads.json of another seed, for the card"
    )
    parser.add_argument("--threads", type=int, default=1, help="1 repeats a run to the last bit")
    parser.add_argument("--every", type=int, default=500, help="steps between checkpoints")
    parser.add_argument("--share", type=float, default=1.0, help="of the test text to score on")
    options = parser.parse_args(arguments)
    file = f"{options.model}-seed{options.seed}.pt"
    options.checkpoint = (options.out or ROOT / "runs") / file
    options.out = options.out or ASSETS / options.model
    return options


def _train_with_progress(run: Run, options: argparse.Namespace, look: Callable[[], str]) -> None:
    """A bar with the loss and the time left; every so often a checkpoint and a line of scores."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(f"{run.recipe.name}, seed {run.seed}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]:.3f}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns) as progress:
        bar = progress.add_task("", total=run.recipe.steps, completed=run.step, loss=math.nan)

        def after_step(run: Run) -> None:
            recent = run.losses[-50:]
            progress.update(bar, completed=run.step, loss=sum(recent) / len(recent))
            if run.step % options.every == 0 or run.step == run.recipe.steps:
                save_checkpoint(run, options.checkpoint)
                progress.console.print(f"step {run.step}, {look()}")

        train(run, after_step)


if __name__ == "__main__":
    try:
        main()
    except HeadlightError as refusal:
        sys.exit(str(refusal))
