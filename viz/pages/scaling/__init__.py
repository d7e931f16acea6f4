"""Scaling: why attention divides by √d_k, from one row of numbers to the training of a model.

Each section is a file of its own; SECTIONS is the only list of them.
"""

from __future__ import annotations

from viz.pages import Page
from viz.pages.scaling import head, others, row, saturation, spread, training, whole
from viz.pages.sections import show_sections

SECTIONS = (
    row.SECTION,
    spread.SECTION,
    saturation.SECTION,
    head.SECTION,
    whole.SECTION,
    training.SECTION,
    others.SECTION,
)


def page(about: Page) -> None:
    """Draws the page."""
    show_sections(about, SECTIONS)
