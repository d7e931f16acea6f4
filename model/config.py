"""The shape of a compact Transformer: every number that its weights depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from model.errors import HeadlightError
from model.positions import SCHEMES

ARCHITECTURES = ("decoder", "encoder", "encoder-decoder")
NORMS = ("pre", "post")
ACTIVATIONS = ("gelu", "relu")


@dataclass(frozen=True)
class Config:
    """The configuration of a compact Transformer, validated when made and never changed.

    Counts are n_*, widths d_*; names and meanings are those of Vaswani et al. 2017, section 3.
    Left at None: n_kv_heads = n_heads, d_k = d_model / n_heads, d_v = d_k, d_ff = 4 · d_model.
    Raises HeadlightError that names the two numbers that disagree, and what would fit.
    """

    architecture: str = "decoder"
    n_layers: int = 4  # blocks in each stack
    n_heads: int = 4
    n_kv_heads: int | None = None  # fewer than n_heads: heads share keys and values
    d_model: int = 128
    d_k: int | None = None  # width of a head's queries and keys
    d_v: int | None = None  # width of a head's values
    d_ff: int | None = None  # width of the feed-forward layer
    n_ctx: int = 128  # most tokens in a text
    vocab_size: int = 256
    positions: str = "learned"  # a name in model.positions.SCHEMES
    norm: str = "pre"  # LayerNorm before each sublayer, or after it as in the paper
    activation: str = "gelu"
    scaled: bool = True  # divide q·k by √d_k; False leaves the dot products as they are
    tied: bool = False  # the unembedding is the embedding, transposed

    def __post_init__(self) -> None:
        for name in ("n_layers", "n_heads", "d_model", "n_ctx", "vocab_size"):
            _require_positive(name, getattr(self, name))
        self._fill("n_kv_heads", self.n_heads)
        if self.d_k is None and self.d_model % self.n_heads:
            raise HeadlightError(
                f"d_model={self.d_model} is not divisible by n_heads={self.n_heads}: "
                f"give d_k, or take {_fitting(self.d_model, self.n_heads)} heads"
            )
        self._fill("d_k", self.d_model // self.n_heads)
        self._fill("d_v", self.d_k)
        self._fill("d_ff", 4 * self.d_model)
        if self.n_heads % self.n_kv_heads:
            raise HeadlightError(
                f"n_kv_heads={self.n_kv_heads} does not divide n_heads={self.n_heads}: "
                f"take {_fitting(self.n_heads, self.n_kv_heads)} key heads"
            )
        for name in ("scaled", "tied"):
            if not isinstance(getattr(self, name), bool):
                raise HeadlightError(f"{name}={getattr(self, name)!r} must be True or False")
        _require_one_of("architecture", self.architecture, ARCHITECTURES)
        _require_one_of("norm", self.norm, NORMS)
        _require_one_of("activation", self.activation, ACTIVATIONS)
        _require_one_of("positions", self.positions, tuple(SCHEMES))

    @property
    def scale(self) -> float:
        """The factor on q·k: 1 / √d_k, or 1 for an unscaled model."""
        return self.d_k**-0.5 if self.scaled else 1.0

    @property
    def stacks(self) -> tuple[str, ...]:
        """The stacks of this architecture, in the order in which they run."""
        return ("encoder", "decoder") if "-" in self.architecture else (self.architecture,)

    def _fill(self, name: str, default: Any) -> None:
        """Gives a field that was left at None its default, then checks it."""
        if getattr(self, name) is None:
            object.__setattr__(self, name, default)
        _require_positive(name, getattr(self, name))


def _require_positive(name: str, value: Any) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise HeadlightError(f"{name}={value!r} must be a whole number of at least 1")


def _require_one_of(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise HeadlightError(f"{name}={value!r} is not known: take one of {', '.join(allowed)}")


def _fitting(total: int, wanted: int) -> str:
    """The divisors of a number that lie nearest to the one that was wanted: "4 or 8"."""
    divisors = [d for d in range(1, total + 1) if total % d == 0]
    below = [d for d in divisors if d < wanted][-1:]
    above = [d for d in divisors if d > wanted][:1]
    return " or ".join(str(d) for d in below + above)
