"""A Config that cannot be says which numbers disagree, and what would fit."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from model.config import Config
from model.errors import HeadlightError

REFUSED = {
    "heads that do not divide the width": (
        {"d_model": 64, "n_heads": 5},
        ["d_model=64", "n_heads=5", "4 or 8", "d_k"],
    ),
    "more heads than width": ({"d_model": 4, "n_heads": 8}, ["d_model=4", "n_heads=8", "4 heads"]),
    "key heads that do not divide the heads": (
        {"n_heads": 8, "n_kv_heads": 3},
        ["n_kv_heads=3", "n_heads=8", "2 or 4"],
    ),
    "more key heads than heads": (
        {"n_heads": 4, "n_kv_heads": 8},
        ["n_kv_heads=8", "n_heads=4", "4 key heads"],
    ),
    "no layer": ({"n_layers": 0}, ["n_layers=0", "at least 1"]),
    "a width of nothing": ({"d_k": 0}, ["d_k=0", "at least 1"]),
    "half a head": ({"n_heads": 2.5}, ["n_heads=2.5", "whole number"]),
    "a number in words": ({"d_model": "128"}, ["d_model='128'", "whole number"]),
    "yes for a number": ({"n_layers": True}, ["n_layers=True", "whole number"]),
    "a word for a switch": ({"scaled": "false"}, ["scaled='false'", "True or False"]),
    "an unknown scheme": ({"positions": "rotary"}, ["positions='rotary'", "rope", "alibi", "none"]),
    "an unknown norm": ({"norm": "rms"}, ["norm='rms'", "pre", "post"]),
    "an unknown activation": ({"activation": "silu"}, ["activation='silu'", "gelu", "relu"]),
    "an unknown architecture": (
        {"architecture": "gpt"},
        ["architecture='gpt'", "decoder", "encoder-decoder"],
    ),
    "a list for a name": ({"norm": ["pre"]}, ["norm=['pre']", "pre", "post"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_config_says_what_is_wrong_and_what_would_fit(case: str):
    fields, words = REFUSED[case]
    with pytest.raises(HeadlightError) as refusal:
        Config(**fields)
    for word in words:
        assert word in str(refusal.value)


def test_what_is_left_open_follows_the_paper():
    config = Config(d_model=96, n_heads=6)
    assert (config.n_kv_heads, config.d_k, config.d_v, config.d_ff) == (6, 16, 16, 384)


def test_d_k_frees_the_heads_from_the_width():
    config = Config(d_model=17, n_heads=5, d_k=3)
    assert (config.d_k, config.d_v) == (3, 3)
    assert Config(d_model=16, n_heads=1, d_k=256, d_v=2).d_v == 2


def test_the_scale_is_one_over_the_root_of_d_k_or_1():
    assert Config(d_k=64).scale == 1 / 8
    assert Config(d_k=64, scaled=False).scale == 1


def test_a_config_is_a_value():
    config = Config()
    with pytest.raises(FrozenInstanceError):
        config.n_layers = 5
    assert config == Config() and hash(config) == hash(Config())
    assert Config(d_k=32) == Config(d_model=128, n_heads=4), "a default, said or not, is the same"


def test_stacks_run_in_their_order():
    assert Config(architecture="encoder").stacks == ("encoder",)
    assert Config(architecture="decoder").stacks == ("decoder",)
    assert Config(architecture="encoder-decoder").stacks == ("encoder", "decoder")
