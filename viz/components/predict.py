"""Predict first: curves that stop early, and a ring at the end of each for one's own guess."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import pairwise
from typing import Any

from viz.components import pack, register, when
from viz.theme import Palette

_HTML = """
<div class="predict">
  <svg class="headlight"></svg>
  <p class="unseen"></p>
</div>
"""
_COLOURS = {field.name for field in fields(Palette) if field.type == "str"} - {"name"}


@dataclass(frozen=True)
class Curve:
    """One series: `name` is its key among the guesses, `colour` a single colour of `Palette`."""

    name: str
    label: str
    colour: str
    values: Sequence[float]


def predict(
    key: str,
    *,
    x: Sequence[float],
    x_labels: Sequence[str],
    x_title: str,
    y_title: str,
    y_range: tuple[float, float],
    curves: Sequence[Curve],
    known: int,
    guesses: Mapping[str, float],
    revealed: bool,
    alt: str,
    height_css: str,
    on_guess: Callable[[dict[str, float]], None],
) -> None:
    """Curves over a logarithmic axis, drawn up to `x[known]` until they are `revealed`.

    Until then each has a ring at the last x, where a person says how the curve ends: `on_guess`
    gets all guesses, with two decimals, when a ring is let go of. `guesses` is what the page
    holds, one number for each curve. `x_labels` are the ticks' texts ("" for none); in both
    titles `_k` sets a lowered k. `alt` says what the picture shows, and `height_css` is any CSS
    length.
    What is not drawn is not sent either: nobody finds it by looking at the page's traffic.
    """
    _check(x, x_labels, y_range, curves, known)
    held = {curve.name: _within(guesses[curve.name], y_range) for curve in curves}
    shown = len(x) if revealed else known + 1

    def accept(*sent: Any) -> None:
        guessed = read_guesses(sent[0] if len(sent) == 1 else None, held, y_range)
        if guessed and not revealed:  # a guess that comes later is none
            on_guess({**held, **guessed})

    texts = {
        "x": [float(each) for each in x],
        "xLabels": list(x_labels),
        "xTitle": x_title,
        "yTitle": y_title,
        "yRange": [float(limit) for limit in y_range],
        "curves": [
            {**asdict(curve), "values": [float(value) for value in curve.values[:shown]]}
            for curve in curves
        ],
        "known": int(known),
        "guesses": held,
        "revealed": bool(revealed),
        "end": x_labels[-1] or f"{x[-1]:,g}",
        "alt": alt,
        "words": _sentence(x, x_labels, f"{y_title} by {x_title}", curves, shown, held),
        "height": height_css,
    }
    mount = register("predict", _HTML)
    mount(key=key, data=pack(texts), on_guess_change=when(key, "guess", accept))


def read_guesses(
    sent: Any, names: Mapping[str, Any] | Sequence[str], y_range: tuple[float, float]
) -> dict[str, float]:
    """The guesses in what a browser sent: finite numbers under known names, within the range."""
    if not isinstance(sent, dict):
        return {}
    return {name: _within(sent[name], y_range) for name in names if _is_number(sent.get(name))}


def _sentence(
    x: Sequence[float],
    x_labels: Sequence[str],
    title: str,
    curves: Sequence[Curve],
    shown: int,
    guesses: Mapping[str, float],
) -> str:
    """The picture's numbers for those who do not see it: of what is drawn, and the guesses."""
    places = [label or f"{value:,g}" for value, label in zip(x, x_labels, strict=True)]
    say = "said" if shown == len(x) else "say"
    parts = []
    for curve in curves:
        drawn = ", ".join(f"{_short(curve.values[at])} at {places[at]}" for at in range(shown))
        guess = f"you {say} {_short(guesses[curve.name])} at {places[-1]}"
        parts.append(f"{curve.label}: {drawn}; {guess}.")
    return f"{title.replace('_', ' ')}. {' '.join(parts)}"


def _short(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _is_number(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)


def _within(value: float, y_range: tuple[float, float]) -> float:
    low, high = y_range
    return float(min(max(value, low), high))


def _check(
    x: Sequence[float],
    x_labels: Sequence[str],
    y_range: tuple[float, float],
    curves: Sequence[Curve],
    known: int,
) -> None:
    if not all(0 < before < after for before, after in pairwise(x)):
        raise ValueError("x must be positive and rise: its axis is logarithmic")
    if not 0 <= known < len(x) - 1:
        raise ValueError(f"known is {known}, but something must be known and something hidden")
    if len(x_labels) != len(x):
        raise ValueError(f"{len(x_labels)} labels for {len(x)} positions")
    if not y_range[0] < y_range[1]:
        raise ValueError(f"{y_range} is no range")
    if len({curve.name for curve in curves}) != len(curves):
        raise ValueError("two curves have the same name")
    for curve in curves:
        if curve.colour not in _COLOURS:
            raise ValueError(f"{curve.colour} is not a colour of the palettes")
        if len(curve.values) != len(x):
            raise ValueError(f"{curve.name} has {len(curve.values)} values for {len(x)} positions")
        if not all(math.isfinite(value) for value in curve.values):
            raise ValueError(f"{curve.name} has values that are not finite")
