"""An edit changes what it says, in the run and in what is shown of it, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from model.edits import Edits
from model.errors import HeadlightError
from model.language_model import LanguageModel
from model.trace import HeadRef, Trace
from tests.tiny import TOKENIZER, shake, tiny_model

TEXT = "the cat sat on the mat"
H = HeadRef("decoder", 0, 1)
ALL = tuple(HeadRef("decoder", layer, head) for layer in range(2) for head in range(2))


def shaken(architecture: str = "decoder", **fields: object) -> LanguageModel:
    model = tiny_model(architecture, **fields)
    shake(model.net)
    return model


def plain(model: LanguageModel) -> torch.Tensor:
    with torch.no_grad():
        return model.net(torch.tensor([[TOKENIZER.start_id, *TOKENIZER.encode(TEXT)]]))[0]


@contextmanager
def into_w_o(model: LanguageModel, layer: int, change) -> Iterator[None]:
    """Changes what enters one layer's W_o, as a plain PyTorch hook: the reference for ablation."""
    w_o = model.net.stacks["decoder"].blocks[layer].attention.w_o
    handle = w_o.register_forward_pre_hook(lambda _, inputs: (change(inputs[0].clone()),))
    yield
    handle.remove()


def assert_close(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours, theirs, atol=5e-6, rtol=1e-5)


# Nothing


@pytest.mark.parametrize("positions", ["learned", "rope", "alibi"])
@pytest.mark.parametrize("edits", [None, Edits()])
def test_no_edit_is_the_plain_model_to_the_last_bit(positions: str, edits: Edits | None):
    model = shaken(positions=positions)
    assert torch.equal(model.trace(TEXT, edits=edits).logits, plain(model))


@pytest.mark.parametrize("own", [{"scale": 8**-0.5}, {"scale_by": 1.0}, {"temperature": 1.0}])
def test_saying_what_is_so_already_changes_nothing_to_the_last_bit(own: dict):
    model = shaken()
    assert torch.equal(model.trace(TEXT, edits=Edits(**own)).logits, plain(model))


def test_an_edit_leaves_the_model_as_it_was():
    model = shaken()
    before = plain(model)
    model.trace(TEXT, edits=Edits(ablate=ALL, scale=3.0))
    assert torch.equal(plain(model), before)


# Ablation


def test_ablating_one_head_changes_the_logits_and_all_heads_more():
    model = shaken()
    one = (model.trace(TEXT, edits=Edits(ablate=(H,))).logits - plain(model)).abs().max()
    every = (model.trace(TEXT, edits=Edits(ablate=ALL)).logits - plain(model)).abs().max()
    assert 1e-3 < one < every


def test_an_ablated_head_is_one_whose_share_of_w_o_gets_zeros():
    model = shaken()

    def without_head_1(x: torch.Tensor) -> torch.Tensor:
        x[..., 8:] = 0
        return x

    with into_w_o(model, 0, without_head_1):
        reference = plain(model)
    assert_close(model.trace(TEXT, edits=Edits(ablate=(H,))).logits, reference)


def test_without_any_head_a_layer_adds_its_bias_alone():
    model = shaken()
    with into_w_o(model, 0, torch.zeros_like), into_w_o(model, 1, torch.zeros_like):
        reference = plain(model)
    assert_close(model.trace(TEXT, edits=Edits(ablate=ALL)).logits, reference)


def test_mean_ablation_gives_every_row_the_mean_of_the_rows():
    model = shaken()

    def mean_of_head_1(x: torch.Tensor) -> torch.Tensor:
        x[..., 8:] = x[..., 8:].mean(dim=1, keepdim=True)
        return x

    with into_w_o(model, 0, mean_of_head_1):
        reference = plain(model)
    edits = Edits(ablate=(H,), ablate_to="mean")
    assert_close(model.trace(TEXT, edits=edits).logits, reference)


@pytest.mark.parametrize("to", ["zero", "mean"])
def test_the_output_shown_is_the_one_that_replaced_it_and_the_weights_stay(to: str):
    model = shaken()
    own = model.trace(TEXT).head(H)
    view = model.trace(TEXT, edits=Edits(ablate=(H,), ablate_to=to)).head(H)
    expected = own.output.mean(axis=0) if to == "mean" else np.zeros(8)
    np.testing.assert_allclose(view.output, np.broadcast_to(expected, (7, 8)), atol=1e-6)
    np.testing.assert_array_equal(view.weights, own.weights)


# Scale and temperature

FACTORS = {  # what is asked for: (factor on q·k, what divides the scores) of each head of layer 0
    "scale": (Edits(scale=0.9), [(0.9, 1), (0.9, 1)]),
    "scale 0": (Edits(scale=0.0), [(0, 1), (0, 1)]),
    "scale of one head": (Edits(scale={H: 0.9}), [(8**-0.5, 1), (0.9, 1)]),
    "scale_by": (Edits(scale_by=3.0), [(3 * 8**-0.5, 1)] * 2),
    "scale_by of one head": (Edits(scale_by={H: 3.0}), [(8**-0.5, 1), (3 * 8**-0.5, 1)]),
    "scale and scale_by": (Edits(scale=0.9, scale_by={H: 2.0}), [(0.9, 1), (1.8, 1)]),
    "temperature": (Edits(temperature=2.0), [(8**-0.5, 2)] * 2),
    "temperature of one head": (Edits(temperature={H: 2.0}), [(8**-0.5, 1), (8**-0.5, 2)]),
    "all of them": (
        Edits(scale=0.9, scale_by=2.0, temperature={H: 0.5}),
        [(1.8, 1), (1.8, 0.5)],
    ),
}


@pytest.mark.parametrize("asked", FACTORS)
@pytest.mark.parametrize("positions", ["rope", "alibi"])
def test_scores_feel_the_factor_and_the_temperature_that_were_asked_for(asked, positions):
    """With ALiBi, the temperature divides the bias as well, and the scale does not touch it."""
    edits, factors = FACTORS[asked]
    trace = shaken(positions=positions).trace(TEXT, edits=edits)
    layer = trace.attention("decoder", 0)
    for head, (scale, temperature) in enumerate(factors):
        bias = layer.position_bias(head)
        scores = layer.q[head] @ layer.k[head].T * scale + (0 if bias is None else bias)
        torch.testing.assert_close(layer.scores(head), scores / temperature)
        weights = (scores / temperature).masked_fill(~layer.mask, -torch.inf).softmax(dim=-1)
        torch.testing.assert_close(layer.weights(head), weights)


def block_rebuilt(model: LanguageModel, trace: Trace, layer: int) -> torch.Tensor:
    """What a block leaves, made from the outputs of its heads as the trace shows them."""
    block = model.net.stacks["decoder"].blocks[layer]
    heads = [trace.attention("decoder", layer).output(head) for head in range(2)]
    with torch.no_grad():
        x = trace.hidden["decoder"][layer] + block.attention.w_o(torch.cat(heads, dim=-1))
        return x + block.feed_forward(block.feed_forward_norm(x))


@pytest.mark.parametrize("asked", FACTORS)
@pytest.mark.parametrize("positions", ["rope", "alibi"])
@pytest.mark.parametrize("ablate_to", ["zero", "mean"])
def test_the_weights_shown_are_those_that_the_run_used(asked, positions, ablate_to):
    factors = {name: getattr(FACTORS[asked][0], name) for name in ("scale", "scale_by")}
    edits = Edits(
        **factors,
        temperature=FACTORS[asked][0].temperature,
        ablate=(HeadRef("decoder", 1, 0),),
        ablate_to=ablate_to,
    )
    model = shaken(positions=positions)
    trace = model.trace(TEXT, edits=edits)
    for layer in range(2):
        assert_close(block_rebuilt(model, trace, layer), trace.hidden["decoder"][layer + 1])


def test_a_bare_number_is_for_every_head_of_every_kind():
    model = shaken("encoder-decoder")
    trace = model.trace(TEXT, "the dog", edits=Edits(scale=0.25))
    assert {trace.attention(kind, 1).scale for kind in trace.kinds} == {0.25}


def test_a_head_of_one_kind_is_not_its_namesake_of_another():
    model = shaken("encoder-decoder")
    own = model.trace(TEXT, "the dog")
    trace = model.trace(TEXT, "the dog", edits=Edits(ablate=(HeadRef("cross", 0, 1),)))
    assert (trace.head(HeadRef("cross", 0, 1)).output == 0).all()
    assert torch.equal(trace.hidden["encoder"], own.hidden["encoder"])
    weights = [t.head(HeadRef("decoder", 0, 1)).weights for t in (own, trace)]
    np.testing.assert_array_equal(*weights)


def test_a_model_run_unscaled_is_the_model_configured_so():
    scaled, unscaled = shaken(), shaken(scaled=False)
    unscaled.net.load_state_dict(scaled.net.state_dict())
    assert torch.equal(scaled.trace(TEXT, edits=Edits(scale=1.0)).logits, plain(unscaled))


def test_edits_reach_the_greedy_output_of_an_encoder_decoder():
    model = shaken("encoder-decoder")
    every = tuple(HeadRef("cross", layer, head) for layer in range(2) for head in range(2))
    deaf = Edits(ablate=every)
    with_one, with_other = (model.trace(t, edits=deaf) for t in ("the cat sat", "dog on key"))
    assert with_one.tokens["decoder"] == with_other.tokens["decoder"], "it cannot see its source"
    assert model.trace("the cat sat").tokens["decoder"] != with_one.tokens["decoder"]


# Edits are values


def test_edits_are_hashable_and_equal_however_they_are_said():
    one, other = HeadRef("decoder", 0, 0), HeadRef("decoder", 1, 1)
    first = Edits(ablate=(one, other), scale={one: 1.0, other: 2.0})
    second = Edits(ablate=[other, one, one], scale=((other, 2.0), (one, 1.0)))
    assert first == second and hash(first) == hash(second)
    assert first != Edits(ablate=(one,)) and {Edits(): 1}[Edits()] == 1
    assert Edits(scale=np.float32(0.5)) == Edits(scale=0.5)


REFUSED = {
    "a layer too many": ({"ablate": (HeadRef("decoder", 2, 0),)}, "L2 H0 .* layers 0 to 1"),
    "a head too many": ({"ablate": (HeadRef("decoder", 0, 2),)}, "L0 H2 .* heads 0 to 1"),
    "a head from behind": ({"scale": {HeadRef("decoder", 0, -1): 1.0}}, "H-1 does not exist"),
    "another kind": ({"temperature": {HeadRef("cross", 0, 0): 2.0}}, "cross .* has decoder"),
    "no kind": ({"scale_by": {HeadRef("rows", 0, 0): 2.0}}, "rows L0 H0 does not exist"),
    "an unknown value": ({"ablate_to": "one"}, '\'one\'.*"zero" or "mean"'),
    "no temperature": ({"temperature": 0.0}, r"temperature=0.0 must be above 0"),
    "a cold head": ({"temperature": {H: -1.0}}, r"temperature=-1.0 must be above 0"),
    "no number": ({"scale": "big"}, "scale='big' must be a finite number"),
    "not a number": ({"scale_by": float("nan")}, "scale_by=nan must be a finite number"),
    "a bare head": ({"ablate": H}, "takes heads such as HeadRef"),
    "a head in words": ({"ablate": ("decoder L0 H0",)}, "takes heads such as HeadRef"),
    "numbers without heads": ({"scale": (1.0, 2.0)}, "takes heads such as HeadRef"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_in_a_sentence(case: str):
    fields, words = REFUSED[case]
    with pytest.raises(HeadlightError, match=words):
        tiny_model().trace(TEXT, edits=Edits(**fields))


def test_an_absent_head_is_refused_before_anything_is_said():
    with pytest.raises(HeadlightError, match="does not exist"):
        tiny_model("encoder-decoder").trace(TEXT, edits=Edits(ablate=(HeadRef("cross", 0, 9),)))


def test_a_huge_scale_is_one_key_for_each_query():
    weights = tiny_model().trace(TEXT, edits=Edits(scale=1e30)).head(H).weights
    assert set(np.unique(weights)) == {0.0, 1.0}


@pytest.mark.parametrize("scale", [3e38, 1e39, 1e300])
def test_a_scale_that_overflows_is_refused_and_says_so(scale: float):
    with pytest.raises(HeadlightError, match=r"undo the edit|smaller"):
        tiny_model().trace(TEXT, edits=Edits(scale=scale)).overview("decoder")
