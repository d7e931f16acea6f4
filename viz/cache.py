"""What is kept between runs, for all sessions together: models, traces, thumbnails.

Streamlit bounds a cache by the number of its entries, and one trace may be a thousand times
another, so these are bounded by their bytes: the least recently used leave first.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
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
RUN_BYTES = 512 * MEGABYTE
ENTRY_BYTES = 2**18  # what an entry takes besides its tensors: objects, labels, its key
THUMBNAIL_BINS = 32

# Sessions are threads that share the cores: one each is faster for all than many for one.
torch.set_num_threads(1)
_work = threading.Lock()


@dataclass(frozen=True)
class ModelChoice:
    """Which model: a name of the zoo, and for "blank" its shape and seed."""

    name: str
    config: Config | None = None
    seed: int = 0


@dataclass(frozen=True)
class Run:
    """A text run through a model: the trace, and by kind the thumbnails of every head.

    tiles: uint8 (n_layers, n_heads, rows, columns), 0 = no such cell.
    """

    trace: Trace
    tiles: Mapping[str, np.ndarray]


def _bytes_of(value: LanguageModel | Run) -> int:
    """The memory of an entry: its tensors, its text, and a share for everything else."""
    if isinstance(value, LanguageModel):
        tensors = list(value.net.parameters())
        rest = ENTRY_BYTES
    else:
        run = value.trace
        tensors = [t for held in run.attentions.values() for t in (held.q, held.k, held.v)]
        tensors += [*run.hidden.values(), run.logits]
        # The text stands in the key and what did not fit once more in the trace.
        rest = ENTRY_BYTES + 8 * sum(map(len, run.cut.values()))
        rest += sum(tiles.nbytes for tiles in value.tiles.values())
    return rest + sum(t.numel() * t.element_size() for t in tensors)


def _bounded(most: int) -> dict[str, Any]:
    """The settings of a cache of so many bytes; who asks for what is being made waits for it."""
    return {"cache": LRUCache(most, getsizeof=_bytes_of), "condition": threading.Condition()}


@cached(**_bounded(MODEL_BYTES))
def model(choice: ModelChoice) -> LanguageModel:
    """The model of a choice, loaded or built the first time. One at a time: they may be large."""
    with _work:
        if choice.config is not None:
            return zoo.blank(choice.config, choice.seed)
        return zoo.load(choice.name)


@cached(**_bounded(RUN_BYTES))
def run(choice: ModelChoice, text: str) -> Run:
    """A text run through a model. One forward at a time: they would only slow each other down."""
    loaded = model(choice)
    with _work:
        trace = loaded.trace(text)
        return Run(trace, {kind: _tiles(trace, kind) for kind in trace.kinds})


def _tiles(trace: Trace, kind: str) -> np.ndarray:
    visible = trace.attention(kind, 0).block_mask(THUMBNAIL_BINS)
    return weights_to_tiles(trace.overview(kind, THUMBNAIL_BINS), visible)
