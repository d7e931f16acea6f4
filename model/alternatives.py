"""What others do instead of dividing by √d_k, on the random rows of model.scaling.

Each method turns q·k into the scores that enter the softmax; METHODS is the only list of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from model import measures
from model.attention import attention_weights
from model.scaling import D_KS, Sweep


@dataclass(frozen=True)
class Method:
    """Another way to keep scores apart from the width of a head.

    scores: (q_k, lengths, d_k, setting) → scores, all of them (…, n_rows, n_keys) but d_k, which is
    (…, 1, 1); lengths are |q| |k|   setting: the one number that it has; what it is called, what it
    is at first (from the number of keys) and why, and what to choose from; nothing if it has none
    """

    title: str
    formula: str
    idea: str
    source: str
    scores: Callable[[np.ndarray, np.ndarray, np.ndarray, float], np.ndarray]
    setting: str = ""
    start: Callable[[int], float] | None = None
    start_is: str = ""
    choices: tuple[float, ...] = ()


def _unit_length(q_k: np.ndarray, lengths: np.ndarray, d_k: np.ndarray, gain: float) -> np.ndarray:
    return gain * q_k / lengths


def _temperature(q_k: np.ndarray, lengths: np.ndarray, d_k: np.ndarray, t: float) -> np.ndarray:
    return q_k / (t * np.sqrt(d_k))


def _by_width(q_k: np.ndarray, lengths: np.ndarray, d_k: np.ndarray, _: float) -> np.ndarray:
    return q_k / d_k


def _capped(q_k: np.ndarray, lengths: np.ndarray, d_k: np.ndarray, cap: float) -> np.ndarray:
    return cap * np.tanh(q_k / np.sqrt(d_k) / cap)


METHODS = {
    "qk_norm": Method(
        "QK-norm",
        "g q·k / (|q| |k|)",
        "only angles count; g is learned and bounds every score",
        "Henry et al. 2020, arXiv 2010.04245",
        _unit_length,
        "g",
        lambda n_keys: math.log2(n_keys**2 - n_keys),
        "before it learns",
        (2.0, 4.0, 8.0, 16.0, 32.0),
    ),
    "temperature": Method(
        "Learned temperature",
        "q·k / (t √d_k)",
        "each model finds how sharp its heads should be",
        "Lee et al. 2021, arXiv 2112.13492",
        _temperature,
        "t",
        lambda n_keys: 1.0,
        "before it learns",
        (0.25, 0.5, 1.0, 2.0, 4.0),
    ),
    "mup": Method(
        "1/d_k, as in μP",
        "q·k / d_k",
        "for the end of training: q and k are alike then",
        "Yang et al. 2022, arXiv 2203.03466",
        _by_width,
    ),
    "softcap": Method(
        "Soft-capping",
        "c tanh(q·k / (√d_k c))",
        "scaled as ever, and no score ever passes ± c",
        "Gemma 2, 2024, arXiv 2408.00118",
        _capped,
        "c",
        lambda n_keys: 50.0,
        "as in Gemma 2",
        (2.0, 5.0, 10.0, 20.0, 50.0),
    ),
}


def largest_weights(drawn: Sweep, method: str, setting: float) -> np.ndarray:
    """The mean largest weight of a sweep's rows under a method, for each d_k of D_KS.

    Returns float64 (len(D_KS),), 1 / n_keys to 1.
    """
    d_ks = np.array(D_KS, dtype=float)[:, None, None]
    scores = METHODS[method].scores(drawn.rows, drawn.lengths, d_ks, setting)
    weights = attention_weights(torch.from_numpy(scores)).numpy()
    return measures.largest_weight(weights).mean(axis=-1)
