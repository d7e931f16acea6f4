"""Each positional scheme by its defining property, and all of them in every architecture."""

from __future__ import annotations

import math

import pytest
import torch

from model.config import Config
from model.errors import HeadlightError
from model.positions import SCHEMES, Alibi, Learned, Positions, Rotary, Sinusoidal
from model.recorder import recording
from model.transformer import Transformer

ARCHITECTURES = ("decoder", "encoder", "encoder-decoder")
WIDTHS = {
    "even": {"d_model": 16, "n_heads": 2},
    "odd": {"d_model": 17, "n_heads": 3, "d_k": 5},
    "d_k=1": {"d_model": 16, "n_heads": 3, "d_k": 1},
    "wide": {"d_model": 16, "n_heads": 1, "d_k": 64},
}


def positions(cls: type[Positions], **fields: object) -> Positions:
    return cls(Config(**{"d_model": 16, "n_heads": 4, "n_ctx": 64, **fields}))


def network(**fields: object) -> Transformer:
    return Transformer(Config(**{"n_layers": 2, "vocab_size": 20, "n_ctx": 16, **fields}), seed=3)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_scheme_runs_in_every_architecture(scheme: str, architecture: str, width: str):
    net = network(architecture=architecture, positions=scheme, **WIDTHS[width])
    ids = [torch.randint(20, (1, n), generator=torch.Generator().manual_seed(n)) for n in (7, 4)]
    with torch.no_grad():
        for given in (ids[: len(net.stacks)], [torch.tensor([[5]])] * len(net.stacks)):
            logits = net(*given)
            assert logits.shape == (1, given[-1].shape[1], 20) and logits.isfinite().all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_scheme_gives_what_it_says_in_the_shapes_it_says(scheme: str):
    made = positions(SCHEMES[scheme], d_model=17, d_k=5)
    added, bias = made.embed(9), made.bias(3, 4)
    assert added is None or added.shape == (9, 17)
    assert bias is None or bias.all().shape == (4, 3, 4)
    assert made.rotate(torch.ones(2, 9, 5)).shape == (2, 9, 5)


# What order a model can tell


def encoder_outputs(scheme: str, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        return network(architecture="encoder", positions=scheme, d_model=16)(torch.tensor([ids]))[0]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_without_positions_alone_an_encoder_sees_a_bag_of_words(scheme: str):
    """Shuffled tokens give shuffled outputs with "none", and other outputs with every scheme."""
    ids, order = [3, 1, 4, 15, 9, 2], [4, 0, 5, 2, 1, 3]
    shuffled = encoder_outputs(scheme, [ids[i] for i in order])
    difference = (shuffled - encoder_outputs(scheme, ids)[order]).abs().max()
    assert difference < 1e-5 if scheme == "none" else difference > 0.01


@pytest.mark.parametrize("n_layers", [1, 2])
def test_a_decoder_without_positions_tells_order_by_its_mask_from_the_second_layer_on(n_layers):
    """In layer 0 the last token mixes a bag; but what that bag holds depends on what each saw."""
    net = network(positions="none", n_layers=n_layers)
    with torch.no_grad():
        last, shuffled = (net(torch.tensor([ids]))[0, -1] for ids in ([3, 1, 4, 9], [4, 3, 1, 9]))
    difference = (last - shuffled).abs().max()
    assert difference < 1e-5 if n_layers == 1 else difference > 0.01


# Sinusoidal


def test_a_sinusoidal_shift_is_a_rotation():
    """The pair (sin, cos) of frequency ω at p + 5 is the pair at p, turned by 5 ω."""
    table = positions(Sinusoidal).embed(40)
    turn = torch.zeros(16, 16)
    for pair in range(8):
        angle = 5 * 10000 ** (-2 * pair / 16)
        cos, sin = math.cos(angle), math.sin(angle)
        turn[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = torch.tensor(
            [[cos, sin], [-sin, cos]]
        )
    torch.testing.assert_close(table[:-5] @ turn.T, table[5:], atol=2e-6, rtol=0)
    torch.testing.assert_close(turn @ turn.T, torch.eye(16), atol=1e-6, rtol=0)


def test_sinusoidal_wavelengths_run_from_2_pi_to_nearly_20000_pi():
    angles = torch.atan2(*positions(Sinusoidal).embed(2)[1].reshape(8, 2).T)
    torch.testing.assert_close(angles, 10000 ** (-torch.arange(8) / 8))


def test_sinusoidal_starts_from_zeros_and_ones():
    assert positions(Sinusoidal).embed(1)[0].tolist() == [0.0, 1.0] * 8


def how_far_a_shift_is_from_linear(table: torch.Tensor) -> float:
    """The share of PE(p + 1) that no matrix applied to PE(p) can give, fitted over all p."""
    before, after = table[:-1].double(), table[1:].double()
    shift = torch.linalg.lstsq(before, after, driver="gelsd").solution
    return ((before @ shift - after).norm() / after.norm()).item()


def test_a_learned_table_has_no_shift_that_holds_everywhere():
    """One matrix moves every sinusoidal position on by one; none does so for a free table."""
    learned = positions(Learned)
    with torch.no_grad():
        learned.table.normal_(generator=torch.Generator().manual_seed(0))
        assert how_far_a_shift_is_from_linear(positions(Sinusoidal).embed(64)) < 1e-5
        assert how_far_a_shift_is_from_linear(learned.embed(64)) > 0.5


def test_a_learned_table_ends_where_its_training_ended():
    with pytest.raises(HeadlightError, match=r"65 tokens .* n_ctx=64"):
        positions(Learned).embed(65)


# RoPE


@pytest.mark.parametrize("d_k", [2, 5, 8])
def test_rope_scores_depend_on_the_distance_alone(d_k: int):
    """The same query and key everywhere: the scores are constant along each diagonal."""
    rope = positions(Rotary, d_k=d_k)
    generator = torch.Generator().manual_seed(0)
    q, k = (torch.randn(d_k, generator=generator).expand(12, d_k) for _ in "qk")
    scores = rope.rotate(q) @ rope.rotate(k).T
    torch.testing.assert_close(scores[1:, 1:], scores[:-1, :-1], atol=1e-5, rtol=0)
    assert scores[0].std() > 0.1, "but they do depend on the distance"


def test_rope_turns_and_never_stretches():
    x = torch.randn(3, 10, 8, generator=torch.Generator().manual_seed(0))
    turned = positions(Rotary, d_k=8).rotate(x)
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1))
    assert torch.equal(turned[:, 0], x[:, 0]), "position 0 is not turned"


def test_rope_turns_pairs_of_dimensions_half_a_head_apart():
    turned = positions(Rotary, d_k=4).rotate(torch.tensor([[1.0, 0, 0, 0]]).expand(3, 4))
    expected = [[math.cos(p), 0, math.sin(p), 0] for p in range(3)]
    torch.testing.assert_close(turned, torch.tensor(expected))


def test_rope_cannot_turn_a_dimension_without_a_partner():
    x = torch.randn(6, 1)
    assert torch.equal(positions(Rotary, d_k=1).rotate(x), x)


def test_a_rope_model_sees_the_same_wherever_a_text_stands():
    """Among the same three tokens, first or last in the text, a head gives the same scores."""
    net = network(positions="rope", d_model=16, architecture="encoder", n_layers=1)
    scores = []
    for ids in ([3, 1, 4, 7, 7, 7], [7, 7, 7, 3, 1, 4]):
        with torch.no_grad(), recording() as run:
            net(torch.tensor([ids]))
        start = ids.index(3)
        scores.append(run.attentions["encoder", 0].scores(1)[start : start + 3, start : start + 3])
    torch.testing.assert_close(*scores, atol=1e-5, rtol=0)


# ALiBi


@pytest.mark.parametrize("n_heads", [1, 4, 6, 8, 16])
def test_alibi_slopes_are_a_geometric_series(n_heads: int):
    slopes = positions(Alibi, n_heads=n_heads, d_k=4).slopes
    ratio = 2 ** (-8 / n_heads)
    expected = torch.tensor([ratio ** (head + 1) for head in range(n_heads)])
    torch.testing.assert_close(slopes, expected)


def test_alibi_takes_away_slope_times_distance():
    bias = positions(Alibi, n_heads=8, d_k=2).bias(3, 3)
    distance = torch.tensor([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    torch.testing.assert_close(bias.head(0), -distance / 2)
    torch.testing.assert_close(bias.head(7), -distance / 256)


def test_the_bias_of_one_head_is_its_part_of_all():
    bias = positions(Alibi).bias(5, 7)
    for head in range(4):
        assert torch.equal(bias.head(head), bias.all()[head])
        assert torch.equal(bias.head(head, slice(2, 4)), bias.all()[head, 2:4])
