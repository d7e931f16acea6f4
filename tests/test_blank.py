"""Untrained models: queries and keys of unit variance in any shape, from their seed alone."""

from __future__ import annotations

import pytest
import torch

from model import zoo
from model.config import Config
from model.positions import SCHEMES
from model.recorder import recording
from model.transformer import Transformer

SEEDS = 20
SHAPES = {
    "usual": {"n_heads": 4, "d_model": 24},
    "narrowest": {"n_heads": 1, "d_k": 1, "d_model": 16},
}


def queries_and_keys(config: Config, seed: int) -> dict[tuple, torch.Tensor]:
    """All entries of q and of k in each layer, on a text that the model has not been fitted to."""
    generator = torch.Generator().manual_seed(1000 + seed)
    net = Transformer(config, seed)
    ids = [torch.randint(config.vocab_size, (1, n), generator=generator) for n in (128, 100)]
    with torch.no_grad(), recording() as run:
        net(*ids[: len(net.stacks)])
    parts = ((where, name, a) for where, a in run.attentions.items() for name in "qk")
    return {(*where, name): getattr(a, name).flatten() for where, name, a in parts}


def assert_unit_variance(config: Config) -> None:
    drawn = [queries_and_keys(config, seed) for seed in range(SEEDS)]
    for where in drawn[0]:
        entries = torch.stack([one[where] for one in drawn])  # (seed, entry)
        for variance in (entries.var(), entries.var(dim=1).mean(), entries.square().mean()):
            assert abs(variance.item() - 1) < 0.1, (where, variance.item())


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_queries_and_keys_have_variance_1_in_every_layer(shape: str, norm: str, scheme: str):
    """Pooled over 20 seeds, on average within a model, and about 0: all within 10 %."""
    fields = {"n_layers": 2, "vocab_size": 300, **SHAPES[shape]}
    assert_unit_variance(Config(norm=norm, positions=scheme, **fields))


def test_a_head_much_wider_than_the_model_has_it_too():
    fields = {"n_layers": 2, "n_heads": 1, "d_k": 256, "d_model": 16, "vocab_size": 300}
    assert_unit_variance(Config(norm="post", positions="rope", **fields))


def test_the_last_of_twelve_layers_has_it_too():
    """Deep stacks are where untrained tokens grow alike, and their mean is all that is left."""
    fields = {"n_layers": 12, "n_heads": 1, "d_k": 1, "d_model": 16, "vocab_size": 300}
    assert_unit_variance(Config(norm="post", positions="sinusoidal", **fields))


def test_cross_attention_has_it_too():
    fields = {"n_layers": 2, "n_heads": 2, "n_kv_heads": 1, "d_model": 32, "vocab_size": 300}
    assert_unit_variance(Config(architecture="encoder-decoder", norm="post", **fields))


@pytest.mark.parametrize("d_k", [1, 32, 256])
def test_so_the_scores_have_variance_d_k_and_1_once_scaled(d_k: int):
    variances = []
    for seed in range(SEEDS):
        net = Transformer(Config(n_layers=1, n_heads=1, d_model=32, d_k=d_k), seed)
        ids = torch.randint(256, (1, 128), generator=torch.Generator().manual_seed(seed))
        with torch.no_grad(), recording() as run:
            net(ids)
        variances.append(run.attentions["decoder", 0].raw_scores(0).square().mean() / d_k)
    assert abs(torch.stack(variances).mean().item() - 1) < 0.25


@pytest.mark.parametrize("n_layers", [1, 2, 7, 12])
def test_any_depth_builds_and_runs(n_layers: int):
    net = Transformer(Config(n_layers=n_layers, n_heads=16, d_k=2, d_model=16))
    assert net(torch.tensor([[1, 2, 3]])).isfinite().all()


@pytest.mark.parametrize("fields", [{"n_ctx": 1}, {"n_ctx": 2, "vocab_size": 1}, {"d_model": 1}])
def test_shapes_on_the_edge_still_give_numbers(fields: dict):
    net = Transformer(Config(**{"n_layers": 2, "n_heads": 1, "d_k": 1, "d_model": 16, **fields}))
    assert net(torch.tensor([[0]])).isfinite().all()


def test_a_seed_is_a_model():
    config = Config(n_layers=2, d_model=16)
    one, again, other = (Transformer(config, seed) for seed in (7, 7, 8))
    for name, weight in one.state_dict().items():
        assert torch.equal(weight, again.state_dict()[name])
        if weight.std() > 0 and "norm" not in name:
            assert not torch.equal(weight, other.state_dict()[name]), name


def test_drawing_a_model_leaves_pytorchs_own_random_numbers_alone():
    before = torch.get_rng_state()
    Transformer(Config(n_layers=2, d_model=16), seed=3)
    assert torch.equal(torch.get_rng_state(), before)


def test_no_parameter_is_left_as_memory_happened_to_hold_it():
    for scheme in SCHEMES:
        net = Transformer(Config(architecture="encoder-decoder", n_layers=1, positions=scheme))
        for name, weight in net.named_parameters():
            assert weight.isfinite().all() and weight.abs().max() < 100, name


def test_blank_reads_any_text_with_the_writers_tokenizer():
    model = zoo.load("blank")
    config = model.net.config
    assert config == Config(vocab_size=model.tokenizer.vocab_size), "the default configuration"
    trace = model.trace("The cat sat. 東")
    assert trace.overview("decoder").shape[:2] == (config.n_layers, config.n_heads)
    assert not model.roles and model.info.name == "blank"


def test_a_blank_of_any_configuration_has_the_tokenizers_vocabulary_and_its_seed():
    config = Config(architecture="encoder", n_layers=1, n_heads=3, d_k=7, positions="alibi")
    models = [zoo.blank(config, seed) for seed in (0, 1)]
    assert models[0].net.config.d_k == 7 and models[0].info.kinds == ("encoder",)
    weights = [model.net.embedding.weight for model in models]
    assert not torch.equal(*weights)
