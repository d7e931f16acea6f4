"""The texts that the Heads page offers, each with the role and the token that it shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A text worth looking at: which role's head to choose, and the token whose row to show.

    The token is its last occurrence in the text.
    """

    title: str
    text: str
    role: str
    token: str


EXAMPLES = (
    Example("Agreement", "The keys to the old cabinet are rusty.", "subject", "cabinet"),
    Example(
        "Repetition",
        "Mary Stone sees the cat. John Reed buys apples. Mary Stone sees the",
        "induction",
        "Mary",
    ),
    Example("Pronoun", "Mary gave the book to John. She (Mary) thanked him.", "pronoun", "She"),
    Example("Adjectives", "The small dogs near the old house are hungry.", "adjective", "house"),
)
