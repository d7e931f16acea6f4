"""A trace that is not whole is an error, never a picture; what is not there is refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from model.attention_trace import AttentionTrace
from model.errors import HeadlightError
from model.trace import HeadRef
from tests.tiny import attention, tiny_model, traced

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
