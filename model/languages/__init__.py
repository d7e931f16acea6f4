"""Small languages that a program speaks, so that what is true of each text is known."""

from model.languages.passage import Passage, Truth

__all__ = ["Passage", "Truth"]
