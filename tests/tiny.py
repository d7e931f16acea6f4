"""Hand-sized models for the tests of the core: a few words, a few heads, drawn in milliseconds."""

from __future__ import annotations

import torch
from torch import nn

from model.attention_trace import AttentionTrace
from model.config import Config
from model.language_model import LanguageModel
from model.tokenizer import Tokenizer
from model.trace import Trace
from model.transformer import Transformer

WORDS = ("the", "cat", "dog", "sat", "on", "mat", "and", "saw", "old", "key")
TOKENIZER = Tokenizer(WORDS)
TEXT = "the cat sat on the mat"
ARCHITECTURES = {
    "decoder": ("decoder",),
    "encoder": ("encoder",),
    "encoder-decoder": ("encoder", "decoder", "cross"),
}
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


def traced(architecture: str = "decoder", text: str = TEXT, **fields: object) -> Trace:
    """A tiny model's run on a text."""
    return tiny_model(architecture, **fields).trace(text)


def attention(n_query: int = 5, n_key: int = 5, causal: bool = False, **parts: object):
    """A layer of four heads on random numbers."""
    generator = torch.Generator().manual_seed(n_query)
    mask = torch.ones(n_query, n_key).bool()
    made = {
        "kind": "decoder" if causal else "encoder",
        "layer": 0,
        "q": torch.randn(4, n_query, 8, generator=generator),
        "k": torch.randn(2, n_key, 8, generator=generator),
        "v": torch.randn(2, n_key, 3, generator=generator),
        "scale": 1.5,
        "mask": mask.tril() if causal else mask,
    }
    return AttentionTrace(**{**made, **parts})
