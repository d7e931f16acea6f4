"""Pairs trained with and without the division by √d_k: their loss, and a measure below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from viz.figures.frame import SIZE, axis, dumbbells, layout, note, upright
from viz.theme import Palette, typeset

_GAP = 0.075  # between two panels, of the picture's width
_TOP, _BOTTOM = [0.5, 1], [0.0, 0.33]

Key = tuple[int, bool]  # d_k, scaled


@dataclass(frozen=True)
class Lines:
    """A measure of every model over the steps.

    title: what it is   steps: (n,)   values: by (d_k, scaled), (n,)   end: the last step of all
    """

    title: str
    steps: np.ndarray
    values: Mapping[Key, np.ndarray]
    end: int


@dataclass(frozen=True)
class AtStart:
    """A measure before any training: a number for each model."""

    title: str
    values: Mapping[Key, float]
    form: str = ".2f"


def twins(
    d_ks: Sequence[int], loss: Lines, below: Lines | Sequence[AtStart], palette: Palette
) -> dict[str, Any]:
    """A panel for each d_k with the loss of both models on one scale, and a second row.

    below: another measure over the steps, or numbers from before training as dumbbells
    """
    data, axes, notes = [], {}, []
    for at, d_k in enumerate(d_ks):
        place = _place(at, axes)
        data += _curves(loss, d_k, place, palette)
        axes |= _step_axes(loss, at, len(d_ks), _TOP, place, palette)
        notes += _loss_notes(loss, d_k, at, len(d_ks), place, palette)
    panels = len(d_ks) if isinstance(below, Lines) else len(below)
    for at in range(panels):
        place = _place(len(d_ks) + at, axes)
        across = _across(at, panels)
        if isinstance(below, Lines):
            data += _curves(below, d_ks[at], place, palette)
            axes |= _step_axes(below, at, panels, _BOTTOM, place, palette)
            title = below.title if at == 0 else ""
        else:
            ends = ([below[at].values[d_k, scaled] for d_k in d_ks] for scaled in (True, False))
            hover = f"%{{x:{below[at].form}}} %{{text}}"
            data.append(dumbbells(*map(np.array, ends), palette, hover, size=11, **place))
            axes |= _dumbbell_axes(below[at], d_ks, across, place, palette)
            title = below[at].title
        notes.append(
            note(typeset(title), across[0], _BOTTOM[1], palette.ink, valign="bottom", dy=8)
        )
    return {
        "data": data,
        "layout": layout(palette, left=44, right=52, top=30, bottom=34, annotations=notes, **axes),
    }


def _place(at: int, axes: Mapping[str, Any]) -> dict[str, str]:
    number = "" if at == 0 else str(at + 1)
    return {"xaxis": f"x{number}", "yaxis": f"y{number}"}


def _across(at: int, panels: int) -> list[float]:
    width = (1 - _GAP * (panels - 1)) / panels
    return [at * (width + _GAP), at * (width + _GAP) + width]


def _curves(
    lines: Lines, d_k: int, place: Mapping[str, str], palette: Palette
) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "x": lines.steps,
            "y": lines.values[d_k, scaled],
            "line": {"color": colour, "width": 2.6},
            "marker": {"size": 5},
            "hovertemplate": f"step %{{x}}: %{{y:.3f}} {name}<extra></extra>",
            **place,
        }
        for scaled, name, colour in _pair(palette)
    ]


def _pair(palette: Palette) -> tuple[tuple[bool, str, str], ...]:
    return ((False, "unscaled", palette.unscaled), (True, "scaled", palette.scaled))


def _range(lines: Lines) -> list[float]:
    """One scale for all panels, so that they can be compared."""
    every = np.concatenate([np.ravel(values) for values in lines.values.values()])
    if len(lines.steps) < 2:
        return [0, float(every.max()) * 1.1]
    low, high = float(every.min()), float(every.max())
    room = max((high - low) * 0.08, 0.02)
    return [low - room, high + room]


def _step_axes(
    lines: Lines,
    at: int,
    panels: int,
    down: list[float],
    place: Mapping[str, str],
    palette: Palette,
) -> dict[str, Any]:
    x, y = (place[name].replace(name[0], name, 1) for name in ("xaxis", "yaxis"))
    return {
        x: axis(
            palette,
            domain=_across(at, panels),
            range=[-0.02 * lines.end, lines.end * 1.02],
            anchor=place["yaxis"],
            nticks=5,
        ),
        y: upright(palette, domain=down, range=_range(lines), anchor=place["xaxis"], nticks=5),
    }


def _loss_notes(
    loss: Lines, d_k: int, at: int, panels: int, place: Mapping[str, str], palette: Palette
) -> list[dict[str, Any]]:
    across = _across(at, panels)
    more = "  loss, nats a piece, over the steps" if at == 0 and panels < 3 else ""
    more = more or ("  loss over the steps" if at == 0 else "")
    title = note(
        f"<b>{typeset(f'd_k = {d_k}')}</b>{more}", across[0], 1, palette.ink, dy=9, valign="bottom"
    )
    if len(loss.steps) < 2:
        waiting = note("not trained yet", np.mean(across), 0.75, palette.muted, anchor="center")
        return [title, waiting]
    ends = {scaled: float(loss.values[d_k, scaled][-1]) for scaled in (True, False)}
    low, high = _range(loss)
    apart = 11 if abs(ends[False] - ends[True]) < 0.09 * (high - low) else 0
    above = ends[False] >= ends[True]
    place_at = {"xref": place["xaxis"], "yref": place["yaxis"], "dx": 7, "size": SIZE - 1}
    step = float(loss.steps[-1])
    return [
        title,
        note(
            f"gap {ends[False] - ends[True]:.2f}".replace("-", "−"),
            across[1],
            0.96,
            palette.ink,
            anchor="right",
        ),
        *(
            note(
                f"{ends[scaled]:.2f}",
                step,
                ends[scaled],
                colour,
                dy=apart if (scaled is not above) else -apart,
                **place_at,
            )
            for scaled, _, colour in _pair(palette)
        ),
        *(_names(across, palette) if at == 0 else []),
    ]


def _names(across: list[float], palette: Palette) -> list[dict[str, Any]]:
    """Which colour is which, once."""
    return [
        note(f"<b>{name}</b>", across[1], 0.9 - 0.06 * at, colour, anchor="right")
        for at, (_, name, colour) in enumerate(_pair(palette))
    ]


def _dumbbell_axes(
    measure: AtStart,
    d_ks: Sequence[int],
    across: list[float],
    place: Mapping[str, str],
    palette: Palette,
) -> dict[str, Any]:
    x, y = (place[name].replace(name[0], name, 1) for name in ("xaxis", "yaxis"))
    most = max(*measure.values.values(), 0.05)
    return {
        x: axis(
            palette,
            domain=across,
            range=[-0.06 * most, 1.08 * most],
            anchor=place["yaxis"],
            nticks=4,
            tickformat=measure.form.replace(".2f", "~g"),
        ),
        y: upright(
            palette,
            domain=_BOTTOM,
            range=[len(d_ks) - 0.5, -0.5],
            showgrid=False,
            tickvals=list(range(len(d_ks))),
            ticktext=[str(d_k) for d_k in d_ks],
            anchor=place["xaxis"],
        ),
    }
