"""What every test shares."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.recipe import tokenizer_of
from model.tokenizer import Tokenizer

ROOT = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The quick tests first: a fault shows in seconds, before the browser has started."""
    items.sort(key=lambda item: "browser" in item.path.parts)


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return ROOT


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit's AppTest leaves its script as `__main__`, which a spawned process would run."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def english_tokenizer() -> Tokenizer:
    """The tokenizer of the generated English."""
    return tokenizer_of("english")
