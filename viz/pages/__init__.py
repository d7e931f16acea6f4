"""The pages, in the order of the navigation. `PAGES` is the only list of them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from types import ModuleType


@dataclass(frozen=True)
class Page:
    """One page: `viz/pages/<name>.py` with a function `page()` that draws it.

    name: file and address   title: in the navigation   question: what the page answers
    """

    name: str
    title: str
    question: str

    def load(self) -> ModuleType:
        """The page's module, imported only when it is asked for: no page pays for another."""
        return import_module(f"viz.pages.{self.name}")

    def render(self) -> None:
        """Draws the page."""
        self.load().page(self)


PAGES = (
    Page("heads", "Heads", "What does each head look at, and what for?"),
    Page("scaling", "Scaling", "Why divide by √d_k?"),
)
