"""The compact Transformer is the one that PyTorch has: same weights, same numbers to 1e-6."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from model import initialise, masks
from model.config import Config
from model.positions import Positions
from model.transformer import Block, MultiHeadAttention, Stack, Transformer, count_parameters
from tests.tiny import shake

N, N_SOURCE, D_MODEL, N_HEADS, D_FF, N_LAYERS = 6, 9, 16, 4, 24, 3
NORMS, ACTIVATIONS = ("pre", "post"), ("gelu", "relu")
CAUSAL = {"decoder": True, "encoder": False}


def config(**fields: object) -> Config:
    settings = {"d_model": D_MODEL, "n_heads": N_HEADS, "d_ff": D_FF, "n_layers": N_LAYERS}
    return Config(**{**settings, "vocab_size": 20, "n_ctx": 12, "positions": "none", **fields})


def made(architecture: str = "decoder", **fields: object) -> Transformer:
    """A network with no parameter at a special value."""
    net = Transformer(config(architecture=architecture, **fields), seed=1)
    shake(net)
    return net.eval()


def text(n: int = N, seed: int = 0) -> torch.Tensor:
    return torch.randn(2, n, D_MODEL, generator=torch.Generator().manual_seed(seed))


def assert_same(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-6)


def not_allowed(n: int, causal: bool) -> torch.Tensor | None:
    """PyTorch's mask: True = may not attend."""
    return ~masks.build(masks.causal, n, n) if causal else None


def copy(ours: nn.Module, theirs: nn.Module) -> None:
    theirs.load_state_dict(ours.state_dict())


def torch_attention(ours: MultiHeadAttention, theirs: nn.MultiheadAttention | None = None):
    theirs = theirs or nn.MultiheadAttention(D_MODEL, N_HEADS, batch_first=True)
    with torch.no_grad():
        inputs = (ours.w_q, ours.w_k, ours.w_v)
        theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in inputs]))
        theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in inputs]))
        copy(ours.w_o, theirs.out_proj)
    return theirs.eval()


def torch_block(ours: Block, norm: str, activation: str) -> nn.Module:
    """PyTorch's layer with our weights: the encoder's, or with cross-attention the decoder's."""
    cls = nn.TransformerEncoderLayer if ours.cross is None else nn.TransformerDecoderLayer
    theirs = cls(
        D_MODEL, N_HEADS, D_FF, 0.0, activation, batch_first=True, norm_first=norm == "pre"
    )
    norms = [ours.attention_norm, ours.cross_norm, ours.feed_forward_norm]
    for number, layer_norm in enumerate((n for n in norms if n is not None), start=1):
        copy(layer_norm, getattr(theirs, f"norm{number}"))
    torch_attention(ours.attention, theirs.self_attn)
    if ours.cross is not None:
        torch_attention(ours.cross, theirs.multihead_attn)
    copy(ours.feed_forward.w_in, theirs.linear1)
    copy(ours.feed_forward.w_out, theirs.linear2)
    return theirs.eval()


def no_positions() -> Positions:
    return Positions(config())


# Equal to PyTorch


@pytest.mark.parametrize("kind", CAUSAL)
def test_self_attention_is_pytorchs(kind: str):
    ours = made(kind).stacks[kind].blocks[1].attention
    x = text()
    with torch.no_grad():
        theirs, _ = torch_attention(ours)(x, x, x, attn_mask=not_allowed(N, CAUSAL[kind]))
        assert_same(ours(x, x, no_positions()), theirs)


def test_cross_attention_is_pytorchs():
    ours = made("encoder-decoder").stacks["decoder"].blocks[0].cross
    x, memory = text(), text(N_SOURCE, seed=1)
    with torch.no_grad():
        assert_same(ours(x, memory), torch_attention(ours)(x, memory, memory)[0])


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", CAUSAL)
def test_a_block_is_pytorchs_encoder_layer(kind: str, norm: str, activation: str):
    ours = made(kind, norm=norm, activation=activation).stacks[kind].blocks[0]
    x = text()
    with torch.no_grad():
        theirs = torch_block(ours, norm, activation)(x, src_mask=not_allowed(N, CAUSAL[kind]))
        assert_same(ours(x, no_positions()), theirs)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_a_block_with_cross_attention_is_pytorchs_decoder_layer(norm: str, activation: str):
    net = made("encoder-decoder", norm=norm, activation=activation)
    ours = net.stacks["decoder"].blocks[0]
    x, memory = text(), text(N_SOURCE, seed=1)
    with torch.no_grad():
        theirs = torch_block(ours, norm, activation)(x, memory, tgt_mask=not_allowed(N, True))
        assert_same(ours(x, no_positions(), memory), theirs)


def torch_stack(ours: Stack, norm: str) -> nn.Module:
    blocks = [torch_block(block, norm, "gelu") for block in ours.blocks]
    if ours.blocks[0].cross is None:
        theirs = nn.TransformerEncoder(blocks[0], len(blocks), enable_nested_tensor=False)
    else:
        theirs = nn.TransformerDecoder(blocks[0], len(blocks))
    theirs.layers = nn.ModuleList(blocks)
    theirs.norm = ours.final_norm if norm == "pre" else None
    return theirs.eval()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("architecture", ["decoder", "encoder"])
def test_a_whole_one_stack_model_is_pytorchs(architecture: str, norm: str):
    net = made(architecture, norm=norm)
    ids = torch.tensor([[3, 1, 4, 1, 5, 9]])
    with torch.no_grad():
        theirs = torch_stack(net.stacks[architecture], norm)
        out = theirs(net.embedding(ids), mask=not_allowed(N, CAUSAL[architecture]))
        torch.testing.assert_close(net(ids), net.unembedding(out), atol=3e-6, rtol=1e-6)


@pytest.mark.parametrize("norm", NORMS)
def test_a_whole_encoder_decoder_is_pytorchs(norm: str):
    net = made("encoder-decoder", norm=norm)
    source, target = torch.tensor([[3, 1, 4, 1, 5, 9]]), torch.tensor([[2, 7, 1, 8]])
    with torch.no_grad():
        encoder, decoder = (torch_stack(stack, norm) for stack in net.stacks.values())
        memory = encoder(net.embedding(source))
        out = decoder(net.embedding(target), memory, tgt_mask=not_allowed(4, True))
        logits = net(source, target)
        torch.testing.assert_close(logits, net.unembedding(out), atol=3e-6, rtol=1e-6)


# What PyTorch's does not have


def test_grouped_keys_are_full_attention_whose_heads_share_their_keys_and_values():
    grouped = made(n_kv_heads=2, d_k=3, d_v=5).stacks["decoder"].blocks[0].attention
    full = made(d_k=3, d_v=5).stacks["decoder"].blocks[0].attention
    with torch.no_grad():
        for ours, theirs in ((grouped.w_q, full.w_q), (grouped.w_o, full.w_o)):
            copy(ours, theirs)
        for ours, theirs, width in ((grouped.w_k, full.w_k, 3), (grouped.w_v, full.w_v, 5)):
            for of, to in ((ours.weight, theirs.weight), (ours.bias, theirs.bias)):
                to.copy_(of.unflatten(0, (2, width)).repeat_interleave(2, dim=0).flatten(0, 1))
        x = text()
        assert_same(grouped(x, x, no_positions()), full(x, x, no_positions()))


def test_heads_have_the_widths_that_they_are_given():
    attention = made(d_k=5, d_v=7, n_kv_heads=1).stacks["decoder"].blocks[0].attention
    shapes = [tuple(w.weight.shape) for w in (attention.w_q, attention.w_k, attention.w_v)]
    assert shapes == [(4 * 5, D_MODEL), (5, D_MODEL), (7, D_MODEL)]
    assert tuple(attention.w_o.weight.shape) == (D_MODEL, 4 * 7)


def test_the_scale_could_as_well_be_in_the_queries():
    """An unscaled model whose W_q is divided by √d_k = 2 is the scaled model."""
    scaled, unscaled = made(scaled=True), made(scaled=False)
    unscaled.load_state_dict(scaled.state_dict())
    ids = torch.tensor([[3, 1, 4, 1, 5]])
    with torch.no_grad():
        assert not torch.allclose(scaled(ids), unscaled(ids), atol=1e-3)
        for block in unscaled.stacks["decoder"].blocks:
            block.attention.w_q.weight.div_(2)
            block.attention.w_q.bias.div_(2)
        torch.testing.assert_close(scaled(ids), unscaled(ids), atol=1e-5, rtol=1e-5)


# What must follow from the masks


def test_a_later_token_changes_nothing_before_it_in_a_decoder_and_everything_in_an_encoder():
    ids, changed = torch.tensor([[3, 1, 4, 1, 5]]), torch.tensor([[3, 1, 4, 1, 9]])
    with torch.no_grad():
        decoder, encoder = made("decoder"), made("encoder")
        assert torch.equal(decoder(ids)[:, :4], decoder(changed)[:, :4])
        difference = (encoder(ids) - encoder(changed)).abs().amax(dim=-1)
    assert (difference > 1e-3).all()


def test_every_target_token_sees_the_whole_source():
    net = made("encoder-decoder")
    target = torch.tensor([[2, 7, 1]])
    with torch.no_grad():
        one, other = (net(torch.tensor([[3, 1, last]]), target) for last in (4, 5))
    assert ((one - other).abs().amax(dim=-1) > 1e-3).all()


def test_texts_in_a_batch_do_not_see_each_other():
    net = made()
    batch = torch.tensor([[3, 1, 4], [1, 5, 9]])
    with torch.no_grad():
        torch.testing.assert_close(net(batch)[1:], net(batch[1:]), atol=1e-6, rtol=1e-6)


# Parameters


def test_a_tied_unembedding_is_the_embedding_and_counts_once():
    tied, untied = made(tied=True), made(tied=False)
    assert tied.unembedding.weight is tied.embedding.weight
    assert count_parameters(untied) - count_parameters(tied) == 20 * D_MODEL


def test_the_parameters_are_those_of_the_paper():
    """Per block: 4 d² + 4 d of attention, 2 d d_ff + d_ff + d of feed-forward, 2 · 2 d of norms."""
    d, block = D_MODEL, 4 * D_MODEL**2 + 4 * D_MODEL + 2 * D_MODEL * D_FF + D_FF + 5 * D_MODEL
    assert count_parameters(made()) == N_LAYERS * block + 2 * d + 2 * 20 * d


def test_small_normal_is_gpt_2s_recipe():
    net = Transformer(config(d_model=64, n_heads=4, positions="learned"))
    initialise.small_normal(net, seed=5)
    stack = net.stacks["decoder"]
    drawn = [net.embedding.weight, stack.positions.table, stack.blocks[0].attention.w_q.weight]
    for weight in drawn:
        assert abs(weight.std().item() / 0.02 - 1) < 0.1
    for linear in stack.blocks[1].into_residual():
        assert abs(linear.weight.std().item() * (2 * N_LAYERS) ** 0.5 / 0.02 - 1) < 0.1
        assert (linear.bias == 0).all()
