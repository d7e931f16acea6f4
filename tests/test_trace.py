"""A trace shows what the model computed, in the fixed names, and refuses to show anything else."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from model.attention_trace import AttentionTrace
from model.errors import HeadlightError
from model.recorder import recording
from model.trace import HeadRef, Trace
from tests.tiny import TOKENIZER, shake, tiny_model

TEXT = "the cat sat on the mat"
ARCHITECTURES = {
    "decoder": ("decoder",),
    "encoder": ("encoder",),
    "encoder-decoder": ("encoder", "decoder", "cross"),
}


def traced(architecture: str = "decoder", text: str = TEXT, **fields: object) -> Trace:
    return tiny_model(architecture, **fields).trace(text)


def attention(n_query: int = 5, n_key: int = 5, causal: bool = False, **parts: object):
    """A layer of four heads on random numbers."""
    generator = torch.Generator().manual_seed(n_query)
    mask = torch.ones(n_query, n_key).bool()
    made = {
        "kind": "decoder" if causal else "encoder",
        "layer": 0,
        "q": torch.randn(4, n_query, 8, generator=generator),
        "k": torch.randn(2, n_key, 8, generator=generator),
        "v": torch.randn(2, n_key, 3, generator=generator),
        "scale": 1.5,
        "mask": mask.tril() if causal else mask,
    }
    return AttentionTrace(**{**made, **parts})


# Names, tokens and labels


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_kinds_and_counts(architecture: str):
    trace = traced(architecture)
    assert trace.kinds == trace.info.kinds == ARCHITECTURES[architecture]
    for kind in trace.kinds:
        assert trace.n_layers(kind) == 2
        assert [trace.n_heads(kind, layer) for layer in range(3)] == [2, 2, 0]
    assert str(HeadRef("decoder", 2, 5)) == "decoder L2 H5"


def test_the_model_says_what_it_is():
    info = tiny_model("encoder", d_k=3, d_v=5, n_kv_heads=1).info
    shown = (info.n_layers, info.n_heads, info.n_kv_heads, info.d_model, info.d_k, info.d_v)
    assert shown == ({"encoder": 2}, {"encoder": 2}, 1, 16, 3, 5)
    assert (info.d_ff, info.n_ctx, info.vocab_size) == (64, 32, TOKENIZER.vocab_size)
    assert (info.captured, info.dtype, info.objective) == ("qkv", "float32", "masked")


def test_a_decoder_starts_with_its_start_token_and_an_encoder_does_not():
    decoder, encoder = traced("decoder"), traced("encoder")
    assert decoder.labels["decoder"] == ("start", *TEXT.split())
    assert encoder.labels["encoder"] == tuple(TEXT.split())
    assert decoder.marks["decoder"] == ("special", *[""] * 6)


def test_tokens_are_the_pieces_of_exactly_the_ids_that_ran():
    model = tiny_model()
    trace = model.trace("the <start> 東")
    ids = [TOKENIZER.start_id, *TOKENIZER.encode("the <start> 東")]
    assert trace.tokens["decoder"] == tuple(TOKENIZER.pieces[i] for i in ids)
    assert trace.tokens["decoder"].count("<start>") == 1, "what is typed is plain text"
    assert "東 1/3" in trace.labels["decoder"]
    with torch.no_grad():
        assert torch.equal(trace.logits, model.net(torch.tensor([ids]))[0])


def test_no_text_is_the_start_token_alone_and_a_map_of_one():
    trace = traced("decoder", "")
    assert trace.head(HeadRef("decoder", 1, 1)).weights.tolist() == [[1.0]]
    assert (
        trace.overview("decoder").shape == (2, 2, 1, 1) and (trace.overview("decoder") == 1).all()
    )


@pytest.mark.parametrize("architecture", ["encoder", "encoder-decoder"])
def test_no_token_at_all_is_refused(architecture: str):
    with pytest.raises(HeadlightError, match="no token"):
        traced(architecture, "")


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_what_does_not_fit_is_cut_and_kept(architecture: str):
    text = " ".join(["the cat sat"] * 20)
    trace = traced(architecture, text)
    stack = "decoder" if architecture == "decoder" else "encoder"
    assert len(trace.tokens[stack]) == trace.info.n_ctx == 32
    kept = 31 if stack == "decoder" else 32
    assert trace.cut[stack] == text.removeprefix(" ".join(text.split()[:kept]))
    assert traced(architecture).cut[stack] == ""


# Encoder-decoder


def test_cross_attention_has_the_targets_rows_and_the_sources_columns():
    source, target = "the old cat and the dog sat on the mat and saw", "the dog sat on the mat"
    trace = tiny_model("encoder-decoder").trace(source, target)
    view = trace.head(HeadRef("cross", 1, 0))
    assert view.weights.shape == view.scores.shape == view.mask.shape == (7, 12)
    assert view.query_tokens == ("start", *target.split())
    assert view.key_tokens == tuple(source.split())
    assert view.mask.all() and trace.overview("cross").shape == (2, 2, 7, 12)


def test_without_a_target_the_model_says_its_own_greedy_output():
    model = tiny_model("encoder-decoder")
    source = TOKENIZER.encode(TEXT)
    output = [TOKENIZER.ids([token])[0] for token in model.trace(TEXT).tokens["decoder"]]
    assert output[0] == TOKENIZER.start_id and TOKENIZER.end_id not in output
    with torch.no_grad():
        likeliest = model.net(torch.tensor([source]), torch.tensor([output]))[0].argmax(dim=-1)
    assert output[1:] == likeliest[:-1].tolist(), "row i predicts piece i + 1"


@pytest.mark.parametrize(("n_ctx", "longest"), [(64, 2 * 6 + 16), (20, 20)])
def test_greedy_output_has_an_end(n_ctx: int, longest: int):
    model = tiny_model("encoder-decoder", n_ctx=n_ctx)
    with torch.no_grad():  # a model that says "cat" for ever
        model.net.unembedding.weight.zero_()
        model.net.unembedding.weight[TOKENIZER.ids(["cat"])[0]] = 1.0
        for norm in (model.net.stacks["decoder"].final_norm,):
            norm.weight.zero_(), norm.bias.fill_(1.0)
    assert model.trace(TEXT).labels["decoder"] == ("start", *["cat"] * (longest - 1))


def test_greedy_output_stops_before_the_end_token():
    model = tiny_model("encoder-decoder")
    with torch.no_grad():
        model.net.unembedding.weight.zero_()
        model.net.unembedding.weight[TOKENIZER.end_id] = 1.0
        norm = model.net.stacks["decoder"].final_norm
        norm.weight.zero_(), norm.bias.fill_(1.0)
    assert model.trace(TEXT).labels["decoder"] == ("start",)


@pytest.mark.parametrize("architecture", ["decoder", "encoder"])
def test_a_model_of_one_stack_takes_no_target(architecture: str):
    with pytest.raises(HeadlightError, match="one stack"):
        tiny_model(architecture).trace(TEXT, "the dog")


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


# What it holds


def test_a_trace_holds_the_bytes_of_q_k_v_and_nothing_that_grows_with_n_squared_per_head():
    model = tiny_model(n_ctx=300, n_heads=4)
    trace = model.trace(" ".join(["the cat sat"] * 99))
    n = len(trace.tokens["decoder"])
    assert n == 298
    held = {}
    for layer in trace.attentions.values():
        layer.weights(0), layer.block_maxima(32)  # looking leaves nothing behind
        for name, value in vars(layer).items():
            if isinstance(value, torch.Tensor):
                held[name, value.untyped_storage().data_ptr()] = value.untyped_storage().nbytes()
    masks = [size for (name, _), size in held.items() if name == "mask"]
    assert masks == [n * n], "one byte a cell, one mask for all layers and heads"
    assert sum(held.values()) - n * n == 2 * 3 * n * 16 * 4, "layers · (q, k, v) · n · d_model · 4"


def test_all_of_it_is_detached_on_the_cpu_and_may_take_part_in_a_gradient():
    trace = traced()
    layer = trace.attention("decoder", 0)
    for tensor in (layer.q, layer.k, layer.v, layer.mask, trace.logits, trace.hidden["decoder"]):
        assert not tensor.requires_grad and tensor.device.type == "cpu"
    scale = torch.tensor(1.0, requires_grad=True)
    (layer.q[0] @ layer.k[0].T * scale).softmax(dim=-1)[2, 1].backward()
    assert scale.grad.isfinite()


def test_two_threads_that_record_over_one_model_see_their_own_text_alone():
    model = tiny_model()
    texts = {"the cat sat": None, "the dog saw the old key": None}
    alone = {text: model.trace(text) for text in texts}
    ready, faults = threading.Barrier(2), []

    def work(text: str) -> None:
        ready.wait()
        for _ in range(30):
            trace = model.trace(text)
            same = torch.equal(trace.logits, alone[text].logits) and len(trace.attentions) == 2
            if not same or len(trace.hidden["decoder"]) != 3:
                faults.append(text)

    threads = [threading.Thread(target=work, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_nothing_is_recorded_outside_the_block_or_in_another_thread():
    net = tiny_model().net
    ids = torch.tensor([[1, 2, 3]])
    with torch.no_grad(), recording() as run:
        thread = threading.Thread(target=net, args=(ids,))
        thread.start()
        thread.join()
        assert not run.attentions and not run.hidden
        net(ids)
    with torch.no_grad():
        net(torch.tensor([[1, 2, 3, 4]]))
    assert [layer.q.shape[1] for layer in run.attentions.values()] == [3, 3]


# Invariants, each broken on purpose


def broken(tensor: torch.Tensor, value: float) -> torch.Tensor:
    tensor = tensor.clone()
    tensor[-1, -1, -1] = value
    return tensor


@pytest.mark.parametrize("name", ["q", "k", "v"])
@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_numbers_that_are_not_finite_are_refused(name: str, value: float):
    with pytest.raises(HeadlightError, match=f"{name} holds numbers that are not finite"):
        replace(attention(), **{name: broken(getattr(attention(), name), value)})


@pytest.mark.parametrize(
    "parts",
    [
        {"mask": torch.ones(4, 5).bool()},
        {"v": torch.ones(2, 4, 3)},
        {"v": torch.ones(1, 5, 3)},
        {"k": torch.ones(2, 5, 7)},
        {"k": torch.ones(3, 5, 8), "v": torch.ones(3, 5, 3)},
    ],
)
def test_shapes_that_disagree_are_refused(parts: dict):
    with pytest.raises(HeadlightError, match=r"do not fit|cannot read"):
        attention(**parts)


def test_a_blind_query_is_named_and_has_a_row_of_zeros():
    mask = torch.ones(5, 5).bool()
    mask[[1, 3]] = False
    layer = attention(mask=mask)
    assert layer.blind_queries == (1, 3)
    assert attention(causal=True).blind_queries == ()
    sums = layer.weights(0).sum(dim=-1)
    torch.testing.assert_close(sums, torch.tensor([1.0, 0, 1, 0, 1]))
    assert (layer.output(0)[[1, 3]] == 0).all() and (layer.block_maxima(5)[:, [1, 3]] == 0).all()


@pytest.mark.parametrize("look", ["weights", "output", "block_maxima"])
def test_scores_that_overflow_are_an_error_and_never_a_picture(look: str):
    layer = attention(scale=3e38)
    with pytest.raises(HeadlightError, match=r"encoder L0 H2: .* smaller"):
        getattr(replace(layer, q=layer.q * torch.tensor([0, 0, 1, 1])[:, None, None]), look)(2)


def test_weights_that_are_no_distribution_are_refused(monkeypatch: pytest.MonkeyPatch):
    layer = attention(causal=True)
    good = layer.weights(0)
    for bad in (good * 1.001, good.flip(-1), broken(good[None], torch.nan)[0]):
        monkeypatch.setattr(AttentionTrace, "_weights", lambda *_, bad=bad: bad[None])
        with pytest.raises(HeadlightError, match="decoder L0 H0"):
            layer.weights(0)


BREAKS = {
    "decoder labels": lambda t: {"labels": {"decoder": t.labels["decoder"][:-1]}},
    "decoder marks": lambda t: {"marks": {"decoder": ("",)}},
    "decoder hidden": lambda t: {"hidden": {"decoder": t.hidden["decoder"][:-1]}},
    "decoder layers": lambda t: {"attentions": {("decoder", 0): t.attention("decoder", 0)}},
    "decoder layer 1": lambda t: {
        "attentions": {**t.attentions, ("decoder", 1): attention(6, 6, causal=True)}
    },
    "logits: ": lambda t: {"logits": t.logits[:, 1:]},
    "logits hold": lambda t: {"logits": torch.full_like(t.logits, torch.nan)},
}


@pytest.mark.parametrize("what", BREAKS)
def test_a_trace_whose_parts_do_not_belong_together_is_refused(what: str):
    trace = traced()
    with pytest.raises(HeadlightError, match=what):
        replace(trace, **BREAKS[what](trace))


# What is not there is refused in a sentence

ABSENT = {
    "an unknown kind": (lambda t: t.attention("cross", 0), "decoder, no 'cross'"),
    "a layer too many": (lambda t: t.attention("decoder", 2), "0 to 1"),
    "a layer from behind": (lambda t: t.attention("decoder", -1), "0 to 1"),
    "a head too many": (lambda t: t.head(HeadRef("decoder", 0, 2)), "heads 0 to 1, not 2"),
    "a head from behind": (lambda t: t.head(HeadRef("decoder", 0, -1)), "heads 0 to 1, not -1"),
    "a row too many": (lambda t: t.top(7), "0 to 6"),
    "no blocks": (lambda t: t.overview("decoder", bins=0), "at least 1"),
    "no predictions": (lambda t: replace(t, logits=None).top(0), "no head that predicts"),
}


@pytest.mark.parametrize("case", ABSENT)
def test_what_is_not_there_is_refused_with_what_is(case: str):
    ask, words = ABSENT[case]
    with pytest.raises(HeadlightError, match=words):
        ask(traced())


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        ({"decoder": []}, "0 decoder tokens .* 1 to 32"),
        ({"decoder": [1] * 33}, "33 decoder tokens .* 1 to 32"),
        ({"decoder": [-1]}, "ids must be 0 to"),
        ({"decoder": [10**6]}, "ids must be 0 to"),
        ({"encoder": [1]}, "ids of decoder, not of .*encoder"),
        ({}, "ids of decoder"),
    ],
)
def test_ids_that_cannot_be_run_are_refused(ids: dict, words: str):
    with pytest.raises(HeadlightError, match=words):
        tiny_model().trace_ids(ids)
