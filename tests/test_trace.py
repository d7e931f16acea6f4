"""A trace shows what the model computed, in the fixed names."""

from __future__ import annotations

import threading

import pytest
import torch

from model.errors import HeadlightError
from model.recorder import recording
from model.trace import HeadRef
from tests.tiny import ARCHITECTURES, TEXT, TOKENIZER, tiny_model, traced

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
