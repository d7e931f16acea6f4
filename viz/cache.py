"""What is kept between runs, for all sessions together: models, traces, thumbnails.

Streamlit bounds a cache by the number of its entries, and one trace may be a thousand times
another, so these are bounded by their bytes: the least recently used leave first.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from cachetools import LRUCache, cached

from model import zoo
from model.config import Config
from model.language_model import LanguageModel
from model.trace import Trace
from viz.components.grid import weights_to_tiles

MEGABYTE = 2**20
MODEL_BYTES = 1024 * MEGABYTE
TRACE_BYTES = 512 * MEGABYTE
TILE_BYTES = 32 * MEGABYTE
THUMBNAIL_BINS = 32

# Sessions are threads that share the cores: one each is faster for all than many for one.
torch.set_num_threads(1)
_forward = threading.Lock()


@dataclass(frozen=True)
class ModelChoice:
    """Which model: a name of the zoo, and for "blank" its shape and seed."""

    name: str
    config: Config | None = None
    seed: int = 0


def _bytes_of(value: LanguageModel | Trace | np.ndarray) -> int:
    """The memory of what is cached, counting the tensors that it alone holds."""
    if isinstance(value, LanguageModel):
        tensors = list(value.net.parameters())
    elif isinstance(value, Trace):
        tensors = [t for held in value.attentions.values() for t in (held.q, held.k, held.v)]
        tensors += [*value.hidden.values(), value.logits]
    else:
        return value.nbytes
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)


def _bounded(most: int) -> dict[str, Any]:
    """The settings of a cache of so many bytes, safe to share between threads."""
    return {"cache": LRUCache(most, getsizeof=_bytes_of), "lock": threading.RLock()}


@cached(**_bounded(MODEL_BYTES))
def model(choice: ModelChoice) -> LanguageModel:
    """The model of a choice, loaded or built the first time."""
    if choice.config is not None:
        return zoo.blank(choice.config, choice.seed)
    return zoo.load(choice.name)


@cached(**_bounded(TRACE_BYTES))
def trace(choice: ModelChoice, text: str) -> Trace:
    """The trace of a text. One forward at a time: they would only slow each other down."""
    loaded = model(choice)
    with _forward:
        return loaded.trace(text)


@cached(**_bounded(TILE_BYTES))
def tiles(choice: ModelChoice, text: str, kind: str) -> np.ndarray:
    """The thumbnails of every head: uint8 (n_layers, n_heads, rows, columns), 0 = no such cell."""
    run = trace(choice, text)
    overview = run.overview(kind, THUMBNAIL_BINS)
    visible = run.attention(kind, 0).block_mask(THUMBNAIL_BINS)
    return weights_to_tiles(overview, visible)
