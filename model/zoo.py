"""The models by name: those that ship with Headlight, and blank ones of any shape.

from model import zoo
trace = zoo.load("writer").trace("The keys to the old cabinet are rusty.")
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from functools import cache
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from model.config import Config
from model.errors import HeadlightError
from model.language_model import LanguageModel
from model.roles import read_roles
from model.tokenizer import Tokenizer
from model.transformer import Transformer

SHIPPED = Path(__file__).resolve().parent.parent / "assets" / "models"
DEFAULT = "writer"  # also lends "blank" its tokenizer
WEIGHTS = "weights.safetensors"


def names() -> tuple[str, ...]:
    """The models that load now, without a network: the writer, other shipped ones, then "blank"."""
    shipped = {weights.parent.name for weights in SHIPPED.glob(f"*/{WEIGHTS}")}
    return (*sorted(shipped, key=lambda name: (name != DEFAULT, name)), "blank")


def load(name: str) -> LanguageModel:
    """Loads a model anew: a name of `names()`, or the path of a folder in the shipped form.

    Raises HeadlightError if there is no such model or its files are not whole.
    """
    if name == "blank":
        return blank()
    if name in names():
        return _load_folder(SHIPPED / name, name)
    folder = Path(name)
    if ("/" in name or "\\" in name) and os.path.isdir(name):  # False for any name, however odd
        return _load_folder(folder, folder.name)
    raise HeadlightError(f"There is no model {name!r}: take one of {', '.join(names())}")


def blank(config: Config | None = None, seed: int = 0) -> LanguageModel:
    """An untrained compact Transformer of any shape, its queries and keys of unit variance.

    It reads text with the writer's tokenizer, whose size replaces the configuration's vocab_size.
    """
    tokenizer = _shared_tokenizer()
    config = replace(config or Config(), vocab_size=tokenizer.vocab_size)
    return LanguageModel("blank", Transformer(config, seed), tokenizer)


@cache
def _shared_tokenizer() -> Tokenizer:
    """Read once: a blank model is made anew at every step of a slider."""
    return Tokenizer.load(SHIPPED / DEFAULT / "tokenizer.json")


def config_to_json(config: Config) -> str:
    """A configuration as it stands in a model's config.json."""
    return json.dumps(asdict(config), indent=2) + "\n"


def config_from_json(text: str) -> Config:
    """Reads config.json; a field left out has its default.

    Raises HeadlightError for a field that is unknown or wrong.
    """
    try:
        values = json.loads(text)
    except ValueError as error:
        raise HeadlightError(f"config.json is not readable JSON: {error}") from error
    if not isinstance(values, dict):
        raise HeadlightError("config.json must hold an object with the fields of a Config")
    unknown = set(values) - {field.name for field in fields(Config)}
    if unknown:
        raise HeadlightError(f"config.json has fields that no Config has: {sorted(unknown)}")
    return Config(**values)


def _load_folder(folder: Path, name: str) -> LanguageModel:
    try:
        config = config_from_json((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / WEIGHTS)
    except (OSError, UnicodeDecodeError, SafetensorError) as error:
        raise HeadlightError(
            f"The model folder {folder.name!r} is not whole ({error}): it needs config.json, "
            "weights.safetensors and tokenizer.json"
        ) from error
    if config.tied and "embedding.weight" in weights:  # stored once, used twice
        weights["unembedding.weight"] = weights["embedding.weight"]
    _check_weights(folder.name, config, weights)
    net = Transformer(config, seed=None)
    net.load_state_dict({key: value.float() for key, value in weights.items()})
    tokenizer = Tokenizer.load(folder / "tokenizer.json")
    return LanguageModel(name, net, tokenizer, read_roles(folder / "heads.json"))


def _check_weights(name: str, config: Config, weights: Mapping[str, Tensor]) -> None:
    """Compares names and shapes before memory is taken: a configuration may ask for too much."""
    if config.n_layers > len(weights):
        raise HeadlightError(
            f"The weights of {name!r} do not fit its config.json: of {config.n_layers} layers most "
            f"are missing, there are {len(weights)} tensors"
        )
    try:
        with torch.device("meta"):
            shapes = Transformer(config, seed=None).state_dict()
    except RuntimeError as error:  # widths whose product no machine can hold
        raise HeadlightError(f"config.json of {name!r} asks for too much: {error}") from error
    expected = {key: tuple(value.shape) for key, value in shapes.items()}
    found = {key: tuple(value.shape) for key, value in weights.items()}
    for key in sorted(expected.keys() | found.keys()):
        if found.get(key) != expected.get(key):
            raise HeadlightError(
                f"The weights of {name!r} do not fit its config.json: {key} is "
                f"{found.get(key, 'missing')} and should be {expected.get(key, 'absent')}"
            )
        if not weights[key].isfinite().all():
            raise HeadlightError(
                f"The weights of {name!r} are damaged: {key} holds numbers that are not finite; "
                "load another copy"
            )
