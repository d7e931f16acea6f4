"""Models by name: what is there loads, and what is broken is refused in one sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from model import zoo
from model.config import Config
from model.errors import HeadlightError
from tests.tiny import TOKENIZER, tiny_model

TEXT = "the cat sat"


def save(folder: Path, **fields: object) -> Path:
    """A small model in the shipped form."""
    model = tiny_model(**fields)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(zoo.config_to_json(model.net.config), encoding="utf-8")
    save_weights(folder, model.net.state_dict())
    TOKENIZER.save(folder / "tokenizer.json")
    return folder


def save_weights(folder: Path, state: dict[str, torch.Tensor]) -> None:
    save_file({k: v.clone() for k, v in state.items()}, folder / "weights.safetensors")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save(tmp_path / "models" / "mine")


def sentence(folder: Path | str) -> str:
    """The refusal, which has to be one line that a person can read."""
    with pytest.raises(HeadlightError) as refusal:
        zoo.load(str(folder))
    text = str(refusal.value)
    assert "\n" not in text and len(text) < 400, text
    return text


# What loads


def test_every_name_loads():
    assert zoo.names()[-1] == "blank"
    for name in zoo.names():
        assert zoo.load(name).info.name == name


def test_a_shipped_model_is_a_folder_that_the_zoo_finds(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(zoo, "SHIPPED", tmp_path)
    save(tmp_path / "first")
    save(tmp_path / "second")
    assert zoo.names() == ("first", "second", "blank")
    assert zoo.load("second").info.name == "second"


def test_a_path_is_a_folder_and_gives_the_model_that_was_saved(folder: Path):
    model, saved = zoo.load(str(folder)), tiny_model()
    assert model.info.name == "mine"
    assert torch.equal(model.trace(TEXT).logits, saved.trace(TEXT).logits)


def test_loading_twice_gives_two_models(folder: Path):
    assert zoo.load(str(folder)).net is not zoo.load(str(folder)).net


def test_half_precision_weights_are_read_as_float32(folder: Path):
    save_weights(folder, {k: v.half() for k, v in tiny_model().net.state_dict().items()})
    model = zoo.load(str(folder))
    assert model.info.dtype == "float32"
    torch.testing.assert_close(
        model.trace(TEXT).logits, tiny_model().trace(TEXT).logits, atol=0.05, rtol=0.05
    )


def test_tied_weights_are_stored_once_and_used_twice(tmp_path: Path):
    folder = save(tmp_path / "tied", tied=True)
    state = load_file(folder / "weights.safetensors")
    del state["unembedding.weight"]
    save_weights(folder, state)
    net = zoo.load(str(folder)).net
    assert net.unembedding.weight is net.embedding.weight
    assert torch.equal(net.embedding.weight, state["embedding.weight"])


@pytest.mark.parametrize("config", [Config(), Config(architecture="encoder", scaled=False, d_k=3)])
def test_a_configuration_comes_back_from_its_file(config: Config):
    assert zoo.config_from_json(zoo.config_to_json(config)) == config


# What does not


@pytest.mark.parametrize(
    "name",
    ["nobody", "", "no/such/folder", "../nobody", "a\0/b", "é/" * 3000, "gpt2", "WRITER ", "."],
)
def test_a_name_that_is_no_models_is_told_which_are(name: str):
    with pytest.raises(HeadlightError, match="blank"):
        zoo.load(name)


@pytest.mark.parametrize("missing", ["config.json", "weights.safetensors", "tokenizer.json"])
def test_a_folder_that_lacks_a_file_is_refused(folder: Path, missing: str):
    (folder / missing).unlink()
    assert missing in sentence(folder)


CONFIGS = {
    "not JSON": ("{", "not readable JSON"),
    "empty": ("", "not readable JSON"),
    "a list": ("[]", "must hold an object"),
    "a mixed list": ('[1, "a", null]', "must hold an object"),
    "a number": ("3", "must hold an object"),
    "null": ("null", "must hold an object"),
    "an unknown field": ('{"n_layers": 2, "dropout": 0.1}', "dropout"),
    "a wrong type": ('{"n_layers": "2"}', "n_layers='2'"),
    "a null": ('{"n_layers": null}', "n_layers=None"),
    "an infinity": ('{"n_layers": Infinity}', "n_layers=inf"),
    "a disagreement": ('{"n_heads": 3, "d_model": 16}', "n_heads=3"),
    "an object for a name": ('{"positions": {}}', "positions={}"),
    "defaults that are not this model's": ("{}", "do not fit"),
}


@pytest.mark.parametrize("case", CONFIGS)
def test_a_broken_config_is_refused(folder: Path, case: str):
    text, words = CONFIGS[case]
    (folder / "config.json").write_text(text, encoding="utf-8")
    assert words in sentence(folder)


def test_a_config_that_is_not_text_is_refused(folder: Path):
    (folder / "config.json").write_bytes(b"\xff\xfe\x00")
    assert "not whole" in sentence(folder)


def test_truncated_weights_are_refused(folder: Path):
    path = folder / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    assert "not whole" in sentence(folder)


def test_weights_that_are_something_else_are_refused(folder: Path):
    (folder / "weights.safetensors").write_bytes(b"\x80\x04 a pickle, say")
    assert "not whole" in sentence(folder)


WEIGHTS = {
    "one is missing": (lambda s: s.pop("embedding.weight"), "embedding.weight is missing"),
    "one too many": (lambda s: s.update(more=torch.ones(2)), "more is (2,) and should be absent"),
    "another shape": (
        lambda s: s.update({"embedding.weight": torch.ones(3, 16)}),
        "embedding.weight is (3, 16) and should be",
    ),
    "not a number": (lambda s: s["unembedding.weight"].fill_(torch.nan), "not finite"),
    "an infinity": (lambda s: s["embedding.weight"][0].fill_(torch.inf), "not finite"),
}


@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_that_are_not_this_models_are_refused(folder: Path, case: str):
    change, words = WEIGHTS[case]
    state = tiny_model().net.state_dict()
    change(state)
    save_weights(folder, state)
    assert words in sentence(folder)


def test_tied_weights_that_are_missing_are_refused(tmp_path: Path):
    folder = save(tmp_path / "tied", tied=True)
    save_weights(folder, {"something": torch.ones(1)})
    assert "missing" in sentence(folder)


def test_another_models_tokenizer_is_refused(folder: Path):
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["pieces"].append("more")
    path.write_text(json.dumps(content), encoding="utf-8")
    assert f"vocab_size={TOKENIZER.vocab_size}" in sentence(folder)


def test_heads_json_that_cannot_be_read_is_refused(folder: Path):
    (folder / "heads.json").write_text('{"heads": [{}]}', encoding="utf-8")
    assert "heads.json" in sentence(folder)
