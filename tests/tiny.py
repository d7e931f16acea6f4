"""Hand-sized models for the tests of the core: a few words, a few heads, drawn in milliseconds."""

from __future__ import annotations

import torch
from torch import nn

from model.config import Config
from model.language_model import LanguageModel
from model.tokenizer import Tokenizer
from model.transformer import Transformer

WORDS = ("the", "cat", "dog", "sat", "on", "mat", "and", "saw", "old", "key")
TOKENIZER = Tokenizer(WORDS)
SIZE = {"n_layers": 2, "n_heads": 2, "d_model": 16, "n_ctx": 32}


def tiny_model(architecture: str = "decoder", seed: int = 0, **fields: object) -> LanguageModel:
    """A model small enough to be checked by hand; `fields` are those of Config."""
    settings = {**SIZE, "vocab_size": TOKENIZER.vocab_size, "architecture": architecture, **fields}
    return LanguageModel("tiny", Transformer(Config(**settings), seed), TOKENIZER)


def shake(module: nn.Module, seed: int = 0) -> None:
    """Moves every parameter off its start, biases and norms too, so that none can be forgotten."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
