"""The formula: by hand, against PyTorch, and by what follows from it."""

from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F

from model.attention import attend, attention_scores, attention_weights

N_HEADS, N_QUERY, N_KEY, D_K, D_V = 4, 5, 5, 8, 3


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def qkv(n_kv_heads: int = N_HEADS, n_query: int = N_QUERY) -> tuple[torch.Tensor, ...]:
    return (
        normal(N_HEADS, n_query, D_K, seed=1),
        normal(n_kv_heads, N_KEY, D_K, seed=2),
        normal(n_kv_heads, N_KEY, D_V, seed=3),
    )


def test_two_tokens_by_hand():
    """The second query scores ln 3 more with the second key: three times the weight."""
    q = torch.eye(2)[None]
    k = torch.tensor([[[1.0, 0.0], [1.0, math.log(3)]]])
    v = torch.tensor([[[4.0], [8.0]]])
    scores = attention_scores(q, k, scale=1.0)
    torch.testing.assert_close(scores, torch.tensor([[[1.0, 1.0], [0.0, math.log(3)]]]))
    weights = attention_weights(scores)
    torch.testing.assert_close(weights, torch.tensor([[[0.5, 0.5], [0.25, 0.75]]]))
    torch.testing.assert_close(attend(q, k, v, scale=1.0), torch.tensor([[[6.0], [7.0]]]))


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("causal", [False, True])
def test_attend_is_pytorchs_scaled_dot_product_attention(n_kv_heads: int, causal: bool):
    q, k, v = qkv(n_kv_heads)
    mask = torch.ones(N_QUERY, N_KEY).tril().bool() if causal else None
    theirs = F.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=causal, enable_gqa=True
    )[0]
    torch.testing.assert_close(
        attend(q, k, v, scale=D_K**-0.5, mask=mask), theirs, atol=1e-6, rtol=0
    )


PER_HEAD = torch.tensor([0.1, 0.5, 1.0, 2.0])
CASES = {
    "plain": {},
    "mask": {"mask": normal(N_QUERY, N_KEY, seed=4) > -0.5},
    "bias": {"bias": normal(N_HEADS, N_QUERY, N_KEY, seed=5)},
    "temperature": {"temperature": 2.5},
    "a scale for each head": {"scale": PER_HEAD[:, None, None]},
    "a temperature for each head": {"temperature": PER_HEAD[:, None, None]},
    "softcap": {"softcap": 0.7},
    "sinks": {"sinks": normal(N_HEADS, seed=6)},
}


def both_ways(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **how: object) -> tuple:
    """`attend`, and the formula in two steps that it stands for."""
    how = {"scale": D_K**-0.5, **how}
    of_weights = {name: how[name] for name in ("mask", "sinks") if name in how}
    of_scores = {name: value for name, value in how.items() if name not in of_weights}
    if "sinks" in of_weights and "temperature" in how:
        of_weights["sinks"] = (of_weights["sinks"][:, None, None] / how["temperature"]).flatten()
    weights = attention_weights(attention_scores(q, k, **of_scores), **of_weights)
    return attend(q, k, v, **how), weights @ v.repeat_interleave(len(q) // len(v), dim=0)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("other", CASES)
@pytest.mark.parametrize("n_kv_heads", [2, 4])
def test_attend_is_the_two_steps_whatever_is_asked_of_it(name: str, other: str, n_kv_heads: int):
    fused, two_steps = both_ways(*qkv(n_kv_heads), **{**CASES[other], **CASES[name]})
    torch.testing.assert_close(fused, two_steps, atol=2e-6, rtol=1e-5)


def test_a_batch_is_each_text_alone():
    q, k, v = qkv(n_kv_heads=2)
    batch = [torch.stack([x, 2 * x]) for x in (q, k, v)]
    torch.testing.assert_close(attend(*batch, scale=0.5)[1], attend(2 * q, 2 * k, 2 * v, scale=0.5))


def test_queries_and_keys_may_differ_in_number():
    q, k, v = qkv(n_query=2)
    assert attend(q, k, v, scale=1.0).shape == (N_HEADS, 2, D_V)
    fused, two_steps = both_ways(q, k, v)
    torch.testing.assert_close(fused, two_steps, atol=1e-6, rtol=0)


@pytest.mark.parametrize("also", [{}, {"bias": torch.zeros(N_HEADS, 5, 5)}, {"softcap": 5.0}])
def test_a_query_that_may_attend_to_nothing_reads_nothing(also: dict):
    mask = torch.ones(N_QUERY, N_KEY).bool()
    mask[2] = False
    fused, two_steps = both_ways(*qkv(), mask=mask, **also)
    assert (fused[:, 2] == 0).all() and (two_steps[:, 2] == 0).all()
    torch.testing.assert_close(fused, two_steps, atol=1e-6, rtol=0)


def test_a_sink_takes_its_share_and_gives_nothing():
    """A sink of ln 2 beside two scores of 0 takes 2 / (1 + 1 + 2) of the weight."""
    weights = attention_weights(torch.zeros(1, 1, 2), sinks=torch.tensor([math.log(2)]))
    torch.testing.assert_close(weights, torch.tensor([[[0.25, 0.25]]]))


def test_a_softcap_bounds_the_scores_and_leaves_small_ones():
    scores = attention_scores(torch.tensor([[[1.0]]]), torch.tensor([[[1e4], [0.01]]]), scale=1.0)
    capped = attention_scores(
        torch.tensor([[[1.0]]]), torch.tensor([[[1e4], [0.01]]]), scale=1.0, softcap=50.0
    )
    torch.testing.assert_close(capped[0, 0, 0], torch.tensor(50.0))
    torch.testing.assert_close(capped[0, 0, 1], scores[0, 0, 1], atol=1e-6, rtol=0)


def test_scale_0_is_the_plain_mean_of_the_values():
    q, k, v = qkv()
    mean = v.mean(dim=1, keepdim=True).expand(-1, N_QUERY, -1)
    torch.testing.assert_close(attend(q, k, v, scale=0.0), mean)


def test_temperature_divides_and_scale_multiplies():
    q, k, v = qkv()
    hot = attend(q, k, v, scale=1.0, temperature=4.0)
    torch.testing.assert_close(hot, attend(q, k, v, scale=0.25))


@pytest.mark.parametrize("d_k", [1, 4, 64, 256])
def test_the_variance_of_an_unscaled_score_is_d_k_and_of_a_scaled_one_1(d_k: int):
    """Var(q·k) = d_k for entries of variance 1 (Vaswani et al. 2017, footnote 4).

    A sample variance of N scores has the standard error σ² √((2 + 6 / d_k) / N), since a product of
    two normals has an excess kurtosis of 6.
    """
    n = 10_000
    q, k = normal(n, 1, d_k, seed=1), normal(n, 1, d_k, seed=2)
    unscaled = attention_scores(q, k, scale=1.0).var().item()
    scaled = attention_scores(q, k, scale=d_k**-0.5).var().item()
    standard_error = math.sqrt((2 + 6 / d_k) / n)
    assert abs(unscaled / d_k - 1) < 4 * standard_error
    assert abs(scaled - 1) < 4 * standard_error


def test_without_the_scale_a_wide_head_decides_for_one_key():
    """Among 32 random keys: a largest weight near 1 unscaled, and far from it scaled."""
    q, k = normal(200, 1, 256, seed=1), normal(200, 32, 256, seed=2)
    unscaled, scaled = (
        attention_weights(attention_scores(q, k, scale=scale)).amax(dim=-1).mean().item()
        for scale in (1.0, 256**-0.5)
    )
    assert unscaled > 0.9 and scaled < 0.3
