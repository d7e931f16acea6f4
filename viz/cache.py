"""What is kept between runs, for all sessions together: models, traces, thumbnails.

Streamlit bounds a cache by the number of its entries, and one trace may be a thousand times
another, so these are bounded by their bytes: the least recently used leave first.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from functools import partial
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import numpy as np
import torch
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from model import scales, zoo
from model.config import Config
from model.language_model import LanguageModel
from model.trace import HeadRef, HeadView, Trace
from viz.components.grid import weights_to_tiles

P = ParamSpec("P")
T = TypeVar("T")

MEGABYTE = 2**20
MODEL_BYTES = 1024 * MEGABYTE
RUN_BYTES = 512 * MEGABYTE
VIEW_BYTES = 256 * MEGABYTE
ROW_BYTES = 64 * MEGABYTE
NUMBER_BYTES = 128 * MEGABYTE
ENTRY_BYTES = 2**18  # what an entry takes besides its numbers: objects, labels, its key
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
    """A text run through a model, and what follows from it, computed once for all sessions.

    tiles: by kind the thumbnails of every head, uint8 (n_layers, n_heads, rows, columns), 0 = no
    such cell. What the methods return is that of the trace. Every call of torch lets go of Python's
    lock, which takes milliseconds to come back where many sessions want it: so none is made twice.
    """

    choice: ModelChoice
    text: str
    trace: Trace
    tiles: Mapping[str, np.ndarray]

    def head(self, ref: HeadRef) -> HeadView:
        """One head as matrices. Raises HeadlightError if its numbers cannot be shown."""
        return _head(self, ref)

    def layer_weights(self, kind: str, layer: int) -> np.ndarray:
        """The weights of every head of a layer, (n_heads, n_query, n_key)."""
        return _layer_weights(self, kind, layer)

    def saturation(self, kind: str, factor: str) -> np.ndarray:
        """The share of saturated rows of every head under a factor of scales.NAMES."""
        return _saturation(self, kind, factor)

    def top(self, row: int, k: int) -> list[tuple[str, float]]:
        """The k likeliest pieces after a token."""
        return _top(self, row, k)

    def likeliest(self) -> tuple[str, ...]:
        """The likeliest piece after each token."""
        return _likeliest(self)


def _bytes_of(value: Any) -> int:
    """The memory of an entry: its numbers, its text, and a share for everything else."""
    return ENTRY_BYTES + sum(_numbers_of(value))


def _numbers_of(value: Any) -> Iterator[int]:
    if isinstance(value, LanguageModel):
        yield from map(_tensor_bytes, value.net.parameters())
    elif isinstance(value, Run):
        trace = value.trace
        kept = [*(trace.hidden or {}).values(), trace.logits]
        kept += [t for held in trace.attentions.values() if held for t in (held.q, held.k, held.v)]
        kept += [trace.readout.states, trace.readout.unembedding] if trace.readout else []
        yield from (_tensor_bytes(tensor) for tensor in kept if tensor is not None)
        # The text stands in the key and what did not fit once more in the trace.
        yield 8 * sum(map(len, trace.cut.values()))
        yield from (tiles.nbytes for tiles in value.tiles.values())
    elif isinstance(value, np.ndarray):
        yield value.nbytes
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_numbers_of, value.values()))
    elif is_dataclass(value):
        yield from chain.from_iterable(map(_numbers_of, vars(value).values()))


def _tensor_bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


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
        return Run(choice, text, trace, {kind: _tiles(trace, kind) for kind in trace.kinds})


_numbers = _bounded(NUMBER_BYTES)


def remembered(compute: Callable[P, T]) -> Callable[P, T]:
    """Keeps what a page computes from plain values: numbers, texts, frozen dataclasses.

    The results are arrays, or mappings or dataclasses of arrays, and nobody changes them: all
    sessions share them.
    """
    return cached(**_numbers, key=partial(hashkey, compute.__module__, compute.__qualname__))(
        compute
    )


def _of_run(made: Run, *rest: Any) -> tuple:
    """The key of what follows from a run: a run is what its model and its text make it."""
    return hashkey(made.choice, made.text, *rest)


@cached(**_bounded(VIEW_BYTES), key=_of_run)
def _head(made: Run, ref: HeadRef) -> HeadView:
    return made.trace.head(ref)


@cached(**_bounded(VIEW_BYTES), key=_of_run)
def _layer_weights(made: Run, kind: str, layer: int) -> np.ndarray:
    attention = made.trace.attention(kind, layer)
    return np.stack([attention.weights(head).numpy() for head in range(attention.n_heads)])


@cached(**_bounded(ROW_BYTES), key=_of_run)
def _saturation(made: Run, kind: str, factor: str) -> np.ndarray:
    return scales.saturation_map(made.trace, kind, factor)


@cached(**_bounded(ROW_BYTES), key=_of_run)
def _top(made: Run, row: int, k: int) -> list[tuple[str, float]]:
    return made.trace.top(row, k)


@cached(**_bounded(ROW_BYTES), key=_of_run)
def _likeliest(made: Run) -> tuple[str, ...]:
    return made.trace.likeliest()


def _tiles(trace: Trace, kind: str) -> np.ndarray:
    visible = trace.attention(kind, 0).block_mask(THUMBNAIL_BINS)
    return weights_to_tiles(trace.overview(kind, THUMBNAIL_BINS), visible)
