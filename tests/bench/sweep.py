"""The sweep of the Scaling page: random scores for every d_k from 1 to 1,024, and their softmax.

To reach: 0.3 s for all of it. The yardstick of the same run is the drawing of its random numbers
alone, which no way to compute the rest can avoid.
"""

from __future__ import annotations

from functools import partial
from statistics import median

import torch

from model import scaling
from model.scaling import D_KS, ENTRIES, N_PAIRS
from tests.bench import print_table, ratio, seconds

TRIES = 9


def main() -> None:
    """Measure the sweep for few and for many keys, from every distribution."""
    torch.set_num_threads(1)  # as in the app
    rows = []
    for entries in ENTRIES:
        for n_keys in (2, 12, 512):
            whole = partial(sweep, entries, n_keys)
            took = median(seconds(whole) for _ in range(TRIES))
            rows.append([f"{entries}, {n_keys} keys", took * 1000, ratio(whole, draw)])
    print_table("The whole sweep", ["", "ms", "against its random numbers alone"], rows)


def sweep(entries: str, n_keys: int) -> None:
    """All that the section on saturation needs, with and without the scale."""
    drawn = scaling.sweep(entries, n_keys)
    for scaled in (True, False):
        scaling.saturation(drawn, scaled)


def draw() -> None:
    """As many normal numbers as the queries and keys of a sweep hold."""
    torch.randn(2 * N_PAIRS * sum(D_KS))


if __name__ == "__main__":
    main()
