"""Interventions: what to change in a model's attention for one run, said without touching it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from numbers import Real

import torch
from torch import Tensor

from model.errors import HeadlightError
from model.info import HeadRef, ModelInfo

PerHead = float | Mapping[HeadRef, float] | tuple[tuple[HeadRef, float], ...]


@dataclass(frozen=True)
class Edits:
    """What to change in one run. A bare number holds for every head of every kind.

    ablate: heads whose output (before W_O) is replaced, by zeros or by its mean over the text's
    rows. scale: the factor on q·k. scale_by: multiplies that factor. temperature: divides what
    enters the softmax. Hashable; mappings are kept as sorted pairs.
    Raises HeadlightError for numbers that cannot be meant.
    """

    ablate: tuple[HeadRef, ...] = ()
    ablate_to: str = "zero"
    scale: PerHead | None = None
    scale_by: PerHead | None = None
    temperature: PerHead | None = None

    def __post_init__(self) -> None:
        _check_refs("ablate", self.ablate)
        object.__setattr__(self, "ablate", tuple(sorted(set(self.ablate))))
        if self.ablate_to not in ("zero", "mean"):
            raise HeadlightError(f'ablate_to={self.ablate_to!r} is not known: "zero" or "mean"')
        for name in ("scale", "scale_by", "temperature"):
            value = getattr(self, name)
            if isinstance(value, Mapping | tuple):
                pairs = value.items() if isinstance(value, Mapping) else value
                _check_refs(name, [pair[0] if isinstance(pair, tuple) else pair for pair in pairs])
                object.__setattr__(self, name, tuple(sorted(pairs)))
            _check_numbers(name, getattr(self, name))

    def check(self, info: ModelInfo) -> None:
        """Raises HeadlightError if a head is named that this model does not have."""
        for ref in self._refs():
            if ref.kind not in info.kinds:
                kinds = ", ".join(info.kinds)
                raise HeadlightError(f"{ref} does not exist: {info.name} has {kinds} attention")
            n_layers, n_heads = info.n_layers[ref.kind], info.n_heads[ref.kind]
            if not (0 <= ref.layer < n_layers and 0 <= ref.head < n_heads):
                raise HeadlightError(
                    f"{ref} does not exist: {info.name} has layers 0 to {n_layers - 1} "
                    f"and heads 0 to {n_heads - 1}"
                )

    def scale_of(self, kind: str, layer: int, n_heads: int, own: float | Tensor) -> float | Tensor:
        """The factor on q·k in this layer: a number, or (n_heads,) where heads differ."""
        scale = _spread(self.scale, kind, layer, n_heads, own)
        if self.scale_by is None:
            return scale
        return scale * _spread(self.scale_by, kind, layer, n_heads, 1.0)

    def temperature_of(self, kind: str, layer: int, n_heads: int) -> float | Tensor:
        """What divides the scores of this layer: a number, or (n_heads,) where heads differ."""
        return _spread(self.temperature, kind, layer, n_heads, 1.0)

    def ablated(self, kind: str, layer: int) -> tuple[int, ...]:
        """The heads of this layer whose output is replaced."""
        return tuple(ref.head for ref in self.ablate if (ref.kind, ref.layer) == (kind, layer))

    def _refs(self) -> Iterator[HeadRef]:
        yield from self.ablate
        for value in (self.scale, self.scale_by, self.temperature):
            if isinstance(value, tuple):
                yield from (ref for ref, _ in value)


def _check_refs(name: str, refs: Iterable[HeadRef]) -> None:
    if not isinstance(refs, Iterable) or not all(isinstance(ref, HeadRef) for ref in refs):
        raise HeadlightError(
            f'{name} takes heads such as HeadRef("decoder", layer=0, head=1), not {refs!r}'
        )


def _check_numbers(name: str, value: PerHead | None) -> None:
    numbers = [n for _, n in value] if isinstance(value, tuple) else [value]
    for number in numbers:
        if number is None:
            continue
        if not isinstance(number, Real) or not math.isfinite(number):
            raise HeadlightError(f"{name}={number!r} must be a finite number")
        if name == "temperature" and number <= 0:
            raise HeadlightError(f"temperature={number} must be above 0")


def _spread(
    value: PerHead | None, kind: str, layer: int, n_heads: int, otherwise: float | Tensor
) -> float | Tensor:
    """One layer's share of an edit: stays one number wherever one number says it."""
    if value is None:
        return otherwise
    if not isinstance(value, tuple):
        return float(value)
    here = {ref.head: number for ref, number in value if (ref.kind, ref.layer) == (kind, layer)}
    if not here:
        return otherwise
    if len(here) == n_heads and len(set(here.values())) == 1:
        return float(next(iter(here.values())))
    spread = torch.as_tensor(otherwise, dtype=torch.float32).expand(n_heads).clone()
    for head, number in here.items():
        spread[head] = number
    return spread
