"""Benchmarks: programs, not tests, because a time depends on the machine.

`make bench` runs all, `python -m tests.bench.trace` one. Each compares two things within one run
and prints ratios, which a slow or busy machine changes least; nothing is written anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median, quantiles
from time import perf_counter


def seconds(action: Callable[[], object]) -> float:
    """How long an action takes, in seconds."""
    start = perf_counter()
    action()
    return perf_counter() - start


def ratio(action: Callable[[], object], reference: Callable[[], object], pairs: int = 7) -> float:
    """How many times as long as the reference an action takes: the median over pairs in turn.

    One after the other, and not all of one kind first, so that other work on the machine strikes
    both alike; the first pair only warms up.
    """
    ratios = [seconds(action) / seconds(reference) for _ in range(pairs + 1)]
    return median(ratios[1:])


def p50_p95(values: Sequence[float]) -> tuple[float, float]:
    """The median and the value that 95 % do not exceed."""
    return median(values), quantiles(values, n=20, method="inclusive")[-1]


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A table on the terminal, numbers with three digits."""
    cells = [[*columns], *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)))


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
