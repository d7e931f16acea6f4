"""Training of the shipped models: `python -m model.train writer`.

The text is generated while training runs, by a process beside it, so no data is shipped. The same
seed gives the same text and, on one machine with one thread, the same weights, also when a run is
interrupted and taken up again (`--resume`).
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from model import initialise
from model.card import card
from model.errors import HeadlightError
from model.evaluate import Evaluation, evaluate, held_out
from model.recipe import RECIPES, Recipe, batches, recipe_of, tokenizer_of
from model.transformer import Transformer, count_parameters
from model.zoo import config_to_json

ASSETS = Path(__file__).parent.parent / "assets" / "models"
CHECKPOINT = "checkpoint.pt"


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
    """A run at step 0, with small weights drawn from the seed (initialise.small_normal)."""
    net = Transformer(recipe.config, seed)
    initialise.small_normal(net, seed)
    optimizer = torch.optim.AdamW(
        net.parameters(),
        lr=recipe.learning_rate,
        betas=recipe.betas,
        weight_decay=recipe.weight_decay,
    )
    return Run(recipe, seed, net, optimizer)


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
        raise HeadlightError(f"there is no checkpoint {path} to go on from: leave out --resume")
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


def halve(net: Transformer) -> None:
    """Rounds the weights to 16 bits, as the file will hold them: scores are those of the file."""
    net.half().float()


def write_assets(run: Run, result: Evaluation, out: Path) -> None:
    """Writes the model's folder: config, weights, tokenizer, heads and card."""
    out.mkdir(parents=True, exist_ok=True)
    weights = {name: w.half().contiguous() for name, w in run.net.state_dict().items()}
    if run.recipe.config.tied:
        del weights["unembedding.weight"]  # the embedding, under a second name
    save_file(weights, out / "weights.safetensors")
    tokenizer_of(run.recipe.language).save(out / "tokenizer.json")
    (out / "config.json").write_text(config_to_json(run.recipe.config), encoding="utf-8")
    training = {
        "seed": run.seed,
        "steps": run.recipe.steps,
        "n_parameters": count_parameters(run.net),
        "cpu_minutes": round(run.cpu_seconds / 60, 1),
    }
    heads = {"training": training, **result.to_json()}
    (out / "heads.json").write_text(json.dumps(heads, indent=1) + "\n", encoding="utf-8")
    (out / "CARD.md").write_text(card(run.recipe, heads), encoding="utf-8")


# ── The program ──────────────────────────────────────────────────────────────────────────────────


def main(arguments: Sequence[str] | None = None) -> None:
    """Trains a model, with a progress bar, and writes its folder."""
    options = _options(arguments)
    torch.set_num_threads(options.threads)
    recipe = recipe_of(options.model, options.steps)
    config, tokenizer = recipe.config, tokenizer_of(recipe.language)
    run = start(recipe, options.seed)
    if options.resume:
        resume(run, options.out / CHECKPOINT)
    look = held_out(recipe.module, config.n_ctx, n_stories=40, n_repeats=10, n_pairs=40)
    _train_with_progress(run, options, lambda: evaluate(run.net, tokenizer, look).summary())
    test = held_out(recipe.module, config.n_ctx, n_stories=options.stories)
    halve(run.net)
    write_assets(run, evaluate(run.net, tokenizer, test), options.out)
    (options.out / CHECKPOINT).unlink(missing_ok=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m model.train", description=__doc__)
    parser.add_argument("model", choices=sorted(RECIPES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steps", type=int, help="default: the recipe's")
    parser.add_argument("--out", type=Path, help="default: assets/models/<model>")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("--threads", type=int, default=1, help="1 repeats a run to the last bit")
    parser.add_argument("--every", type=int, default=500, help="steps between checkpoints")
    parser.add_argument("--stories", type=int, default=400, help="held-out stories to score on")
    options = parser.parse_args(arguments)
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
                save_checkpoint(run, options.out / CHECKPOINT)
                progress.console.print(f"step {run.step}, {look()}")

        train(run, after_step)


if __name__ == "__main__":
    main()
