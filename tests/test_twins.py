"""Twins differ in the factor alone, are trained plainly, and are measured as they say."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import Tensor

from model import twins
from model.errors import HeadlightError
from model.train import rate_at
from model.transformer import Transformer
from model.twins import Look, Point, Round, Setting, Twin

STEPS = 4
SETTING = Setting(d_ks=(1, 8), steps=STEPS)
SMALL = {"n_layers": 2, "n_heads": 2, "d_model": 64, "n_ctx": 16}


@pytest.fixture(scope="module", autouse=True)
def small_twins() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(twins, "SHAPE", SMALL)
        yield


@pytest.fixture(scope="module")
def rounds() -> list[Round]:
    return list(twins.train_twins(SETTING))


def points(rounds: list[Round], d_k: int, scaled: bool) -> dict[int, Point]:
    return {r.step: r.points[d_k, scaled] for r in rounds if r.points}


@pytest.mark.parametrize(("init", "norm"), [*product(twins.INITS, ("pre", "post"))])
def test_twins_start_from_equal_weights_and_differ_in_the_factor_alone(init: str, norm: str):
    nets = twins.start_twins(Setting(d_ks=(16,), init=init, norm=norm))
    scaled, unscaled = nets[16, True], nets[16, False]
    assert (scaled.config.scale, unscaled.config.scale) == (0.25, 1.0)
    assert replace(scaled.config, scaled=False) == unscaled.config
    assert scaled.config.norm == norm
    for mine, yours in zip(scaled.parameters(), unscaled.parameters(), strict=True):
        assert torch.equal(mine, yours)
        assert mine.data_ptr() != yours.data_ptr()


def test_at_d_k_1_the_factor_is_1_and_twins_never_part(rounds: list[Round]):
    assert points(rounds, 1, True) == points(rounds, 1, False)


def test_at_d_k_8_they_part(rounds: list[Round]):
    scaled, unscaled = (points(rounds, 8, s)[STEPS] for s in (True, False))
    assert scaled.loss != unscaled.loss
    assert scaled.entropy > unscaled.entropy


def test_training_lowers_the_loss_on_held_out_text(rounds: list[Round]):
    for twin in rounds[0].points:
        assert rounds[-1].points[twin].loss < rounds[0].points[twin].loss - 0.3


def test_every_round_is_told_and_the_early_and_the_last_are_measured(rounds: list[Round]):
    assert [r.step for r in rounds] == [0, 1, 2, 3, 4]
    assert [r.step for r in rounds if r.points] == [0, 1, 2, 4]
    assert all(list(r.points) == list(rounds[0].points) for r in rounds if r.points)


def test_a_seed_repeats_its_points_and_another_gives_others(rounds: list[Round]):
    setting = Setting(d_ks=(8,), steps=2)
    for again in twins.train_twins(setting):
        for twin, point in again.points.items():
            assert point == rounds[again.step].points[twin]
    other = twins.at_start(replace(setting, seed=1))
    assert other[8, True].loss != rounds[0].points[8, True].loss


def plain_adam(net: Transformer) -> Iterator[tuple[float, float]]:
    """What twins should do, written anew: the norm of the gradient of W_q and W_k, and of all."""
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    of_scores = [
        p for name, p in net.named_parameters() if name.endswith(("w_q.weight", "w_k.weight"))
    ]
    assert len(of_scores) == 4
    for step in range(STEPS + 1):
        ids = twins.batch_of(SETTING, step)
        log_p = net(ids[:, :-1]).log_softmax(dim=-1)
        loss = -log_p.gather(2, ids[:, 1:, None]).mean()
        yield tuple(
            _norm(torch.autograd.grad(loss, p, retain_graph=True))
            for p in (of_scores, list(net.parameters()))
        )
        adam.zero_grad()
        loss.backward()
        adam.step()


def _norm(gradients: tuple[Tensor, ...]) -> float:
    return math.sqrt(sum(g.double().square().sum().item() for g in gradients))


def test_gradients_are_those_of_plain_adam_and_no_spike_between_points_is_lost(
    rounds: list[Round],
):
    of_scores, of_all = zip(*plain_adam(twins.start_twins(SETTING)[8, False]), strict=True)
    told = points(rounds, 8, False)
    for step, since in {0: 0, 1: 0, 2: 1, 4: 2}.items():
        assert told[step].gradient == pytest.approx(of_scores[step], rel=1e-3)
        assert told[step].gradient_all == pytest.approx(max(of_all[since : step + 1]), rel=1e-3)


def test_the_learning_rate_is_constant_and_nothing_is_clipped():
    recipe = twins.recipe_for(Setting(steps=100), Twin(16, True))
    assert {rate_at(recipe, step) for step in range(101)} == {1e-3}
    assert recipe.clip == math.inf


def test_unscaled_scores_spread_the_square_root_of_d_k_as_wide():
    start = twins.at_start(Setting(d_ks=(64,)))
    scaled, unscaled = start[64, True], start[64, False]
    assert scaled.score_std == pytest.approx(1.0, rel=0.1)
    assert unscaled.score_std == pytest.approx(8 * scaled.score_std, rel=0.05)
    assert unscaled.saturated > 0.1 > 0.01 > scaled.saturated
    assert unscaled.gradient > scaled.gradient  # the factor is missing from it, too


def net_with_queries_times(factor: float) -> Transformer:
    net = twins.start_twins(Setting(d_ks=(8,)))[8, True]
    with torch.no_grad():
        for block in net.stacks["decoder"].blocks:
            block.attention.w_q.weight *= factor
    return net


def test_a_head_without_a_preference_has_all_of_the_entropy():
    n_ctx = SMALL["n_ctx"]
    seen = twins.look(net_with_queries_times(0.0))
    assert (seen.score_std, seen.saturated) == (0.0, 0.0)
    assert seen.entropy == pytest.approx(1.0)
    # The first row sees itself alone and is left out.
    even = sum(1 / n for n in range(2, n_ctx + 1)) / (n_ctx - 1)
    assert seen.largest == pytest.approx(even, rel=1e-5)


def test_a_head_of_hard_preferences_is_saturated():
    seen = twins.look(net_with_queries_times(1e4))
    assert isinstance(seen, Look)
    assert seen.saturated > 0.99
    assert seen.largest > 0.99
    assert seen.entropy < 0.01


def test_measuring_touches_neither_the_seed_nor_the_threads_of_the_process():
    before = torch.get_rng_state(), torch.get_num_threads()
    twins.at_start(Setting(d_ks=(1,)))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert torch.get_num_threads() == before[1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"d_ks": ()}, "one number or more"),
        ({"d_ks": (16, 16)}, "each only once"),
        ({"d_ks": (0,)}, "d_k=0 must be a whole number from 1 to 512"),
        ({"steps": 0}, "steps=0 must be a whole number from 1"),
        ({"steps": 2.5}, "steps=2.5 must be a whole number"),
        ({"seed": -1}, "seed=-1 must be a whole number from 0"),
        ({"init": "large"}, "init='large' is not known: take unit or small"),
        ({"norm": "none"}, "norm='none' is not known: take pre or post"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(fields: dict, message: str):
    with pytest.raises(HeadlightError, match=message):
        Setting(**fields)
