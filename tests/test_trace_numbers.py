"""The numbers of a trace are the model's own, by the formula and against PyTorch's attention."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from model.errors import HeadlightError
from model.trace import HeadRef, Trace
from tests.tiny import ARCHITECTURES, TEXT, TOKENIZER, attention, shake, tiny_model, traced

# The numbers are the model's own


def pytorchs_weights(model, trace: Trace, kind: str, layer: int) -> torch.Tensor:
    """The weights of every head by nn.MultiheadAttention, from what entered the block."""
    stack = model.net.stacks["decoder" if kind == "cross" else kind]
    block, states = stack.blocks[layer], trace.hidden[stack.kind][layer][None]
    n = states.shape[1]
    causal = ~torch.ones(n, n).tril().bool() if kind == "decoder" else None
    x = block.attention_norm(states)
    memory, ours = x, block.attention
    if kind == "cross":
        x = block.cross_norm(states + block.attention(x, x, stack.positions))
        memory, ours = (
            model.net.stacks["encoder"].final_norm(trace.hidden["encoder"][-1])[None],
            block.cross,
        )
    theirs = nn.MultiheadAttention(16, 2, batch_first=True)
    inputs = (ours.w_q, ours.w_k, ours.w_v)
    theirs.in_proj_weight.copy_(torch.cat([linear.weight for linear in inputs]))
    theirs.in_proj_bias.copy_(torch.cat([linear.bias for linear in inputs]))
    return theirs(x, memory, memory, attn_mask=causal, average_attn_weights=False)[1][0]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_weights_are_those_of_pytorchs_multi_head_attention(architecture: str):
    model = tiny_model(architecture)
    shake(model.net)
    trace = model.trace(TEXT)
    with torch.no_grad():
        for kind in trace.kinds:
            for layer in range(2):
                theirs = pytorchs_weights(model, trace, kind, layer)
                for head in range(2):
                    ours = trace.attention(kind, layer).weights(head)
                    torch.testing.assert_close(ours, theirs[head], atol=2e-6, rtol=0)


@pytest.mark.parametrize("positions", ["none", "sinusoidal", "learned", "rope", "alibi"])
def test_outputs_of_the_heads_give_back_what_the_block_left(positions: str):
    """x + concat(outputs) W_o, then the feed-forward: the hidden state that left the block."""
    model = tiny_model(positions=positions, n_kv_heads=1, d_k=5, d_v=7)
    shake(model.net)
    trace = model.trace(TEXT)
    for layer, block in enumerate(model.net.stacks["decoder"].blocks):
        heads = [trace.attention("decoder", layer).output(head) for head in range(2)]
        with torch.no_grad():
            x = trace.hidden["decoder"][layer] + block.attention.w_o(torch.cat(heads, dim=-1))
            x = x + block.feed_forward(block.feed_forward_norm(x))
        torch.testing.assert_close(trace.hidden["decoder"][layer + 1], x, atol=5e-6, rtol=1e-5)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_the_last_hidden_state_is_what_the_logits_are_made_of(norm: str):
    model = tiny_model(norm=norm)
    trace = model.trace(TEXT)
    with torch.no_grad():
        last = model.net.stacks["decoder"].final_norm(trace.hidden["decoder"][-1])
        torch.testing.assert_close(model.net.unembedding(last), trace.logits)
    assert trace.hidden["decoder"].shape == (3, 7, 16)


def test_scores_are_the_product_scaled_and_biased_and_weights_their_softmax():
    trace = traced(positions="alibi")
    layer = trace.attention("decoder", 1)
    view = trace.head(HeadRef("decoder", 1, 1))
    raw = layer.q[1] @ layer.k[1].T
    distance = (torch.arange(7)[:, None] - torch.arange(7)).abs()
    scores = raw * 8**-0.5 - distance * 2.0**-8
    weights = scores.masked_fill(~layer.mask, -torch.inf).softmax(dim=-1)
    np.testing.assert_allclose(view.raw_scores, raw, atol=1e-6)
    np.testing.assert_allclose(view.scores, scores, atol=1e-6)
    np.testing.assert_allclose(view.weights, weights, atol=1e-6)
    np.testing.assert_allclose(view.output, weights @ layer.v[1], atol=1e-6)
    np.testing.assert_allclose(layer.position_bias(1), -distance * 2.0**-8)
    assert traced().attention("decoder", 0).position_bias(0) is None


def test_a_view_is_numpy_float32_and_its_mask_cannot_be_written_to():
    view = traced().head(HeadRef("decoder", 0, 1))
    for name in ("raw_scores", "scores", "weights", "output"):
        assert getattr(view, name).dtype == np.float32 and getattr(view, name).ndim == 2
    assert view.mask.dtype == bool
    with pytest.raises(ValueError, match="read-only"):
        view.mask[0, 1] = True


def test_every_query_head_reads_its_own_key_head():
    grouped = attention()
    assert [grouped.kv_head(head) for head in range(4)] == [0, 0, 1, 1]
    full = replace(grouped, k=grouped.k[[0, 0, 1, 1]], v=grouped.v[[0, 0, 1, 1]])
    for head in range(4):
        torch.testing.assert_close(grouped.weights(head), full.weights(head))
        torch.testing.assert_close(grouped.output(head), full.output(head))


def test_scale_is_the_factor_that_was_applied():
    assert traced().attention("decoder", 0).scale == 8**-0.5
    assert traced(scaled=False).attention("decoder", 0).scale == 1.0


def test_rescaled_is_the_same_layer_under_another_scale():
    layer = attention(causal=True)
    again = layer.rescaled(1.0)
    torch.testing.assert_close(again.scores(2), layer.raw_scores(2))
    torch.testing.assert_close(again.rescaled(1.5).weights(2), layer.weights(2))
    spread = layer.rescaled(0.0).weights(2)
    torch.testing.assert_close(spread, torch.ones(5, 5).tril() / torch.arange(1, 6)[:, None])


def test_softcap_and_sinks_are_applied_as_in_the_formula():
    layer = attention(softcap=0.8, sinks=torch.tensor([0.0, 1.0, 2.0, 3.0]))
    capped = 0.8 * torch.tanh(layer.raw_scores(3) * 1.5 / 0.8)
    torch.testing.assert_close(layer.scores(3), capped)
    weights = capped.exp() / (capped.exp().sum(dim=-1, keepdim=True) + torch.tensor(3.0).exp())
    torch.testing.assert_close(layer.weights(3), weights)


def test_top_gives_labels_with_probabilities():
    trace = traced()
    pairs = trace.top(2, k=3)
    probabilities = trace.logits[2].softmax(dim=-1).sort(descending=True)
    assert [p for _, p in pairs] == probabilities.values[:3].tolist()
    assert pairs[0][0] == TOKENIZER.labels([int(probabilities.indices[0])])[0]
    assert len(trace.top(0, k=10**6)) == TOKENIZER.vocab_size
    assert abs(sum(p for _, p in trace.top(0, k=10**6)) - 1) < 1e-5


def test_without_room_for_all_logits_each_row_is_made_when_asked(monkeypatch: pytest.MonkeyPatch):
    whole = traced()
    monkeypatch.setattr("model.language_model.MAX_LOGITS_BYTES", whole.logits.numel() * 4 - 1)
    short = traced()
    assert short.logits is None
    assert whole.readout is None and short.readout.n_bytes == whole.logits.numel() * 4
    for row in range(len(whole.logits)):
        for (piece, p), (expected, q) in zip(short.top(row), whole.top(row), strict=True):
            assert piece == expected and p == pytest.approx(q, abs=1e-6)
    assert short.likeliest() == whole.likeliest()


def test_the_likeliest_piece_is_the_first_of_top():
    trace = traced()
    assert trace.likeliest() == tuple(trace.top(row, 1)[0][0] for row in range(len(trace.logits)))


# Overview


def largest_by_hand(weights: np.ndarray, bins: int) -> np.ndarray:
    """The definition, cell by cell: block r of R holds rows ⌊r·n/R⌋ to ⌊(r+1)·n/R⌋ − 1."""
    rows, columns = (min(bins, n) for n in weights.shape)
    cuts = [
        [b * n // count for b in range(count + 1)]
        for n, count in zip(weights.shape, (rows, columns), strict=True)
    ]
    return np.array(
        [
            [
                weights[cuts[0][r] : cuts[0][r + 1], cuts[1][c] : cuts[1][c + 1]].max()
                for c in range(columns)
            ]
            for r in range(rows)
        ]
    )


@pytest.mark.parametrize("shape", [(5, 5), (8, 8), (9, 9), (23, 23), (200, 200), (5, 23), (23, 5)])
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("bins", [1, 8])
def test_a_block_shows_its_largest_weight(shape: tuple[int, int], causal: bool, bins: int):
    layer = attention(*shape, causal=causal)
    maxima = layer.block_maxima(bins)
    assert maxima.dtype == np.float32
    for head in range(4):
        by_hand = largest_by_hand(layer.weights(head).numpy(), bins)
        np.testing.assert_allclose(maxima[head], by_hand, atol=1e-6)


def test_masked_blocks_are_zero_and_the_block_mask_says_which():
    layer = attention(20, 20, causal=True)
    allowed = layer.block_mask(4)
    assert allowed.tolist() == np.tril(np.ones((4, 4), bool)).tolist()
    assert (layer.block_maxima(4)[:, ~allowed] == 0).all()


def test_the_overview_is_every_layers_blocks():
    trace = traced()
    overview = trace.overview("decoder", bins=3)
    assert overview.shape == (2, 2, 3, 3) and overview.dtype == np.float32
    for layer in range(2):
        assert (overview[layer] == trace.attention("decoder", layer).block_maxima(3)).all()
    assert trace.overview("decoder").shape == (2, 2, 7, 7), "32 blocks at most, never more than n"


def test_a_layer_without_attention_keeps_its_number():
    trace = traced()
    lacking = replace(trace, attentions={**trace.attentions, ("decoder", 0): None})
    assert [lacking.n_heads("decoder", layer) for layer in range(2)] == [0, 2]
    overview = lacking.overview("decoder")
    assert np.isnan(overview[0]).all() and not np.isnan(overview[1]).any()
    with pytest.raises(HeadlightError, match="layer 0 has no attention"):
        lacking.attention("decoder", 0)
