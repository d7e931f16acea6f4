"""What to notice: sentences computed from the head and the row that are on the screen.

Pure functions from numbers to HTML. Every token passes through `theme.escape`; nothing else that
comes from a text or a model reaches the markup.
"""

from __future__ import annotations

from collections.abc import Sequence

from model import measures
from model.roles import ROLES, HeadRole, is_earned
from model.trace import HeadView
from viz.theme import escape

RESTING = 0.6  # a head with more of its weight than this on the first token does nothing here
DECIDED = 0.15  # bits: below this a row looks at one token alone
ROUNDS_TO_ALL = 0.995  # shares that would be rounded up to 100 %


def token(text: str) -> str:
    """A token within a sentence."""
    return f"<code>{escape(text)}</code>"


def percent(share: float) -> str:
    """A share as people read it: never 0 % for what is not 0, never 100 % for what is not 1."""
    if 0 < share < 0.005:
        return "&lt;1 %"
    if ROUNDS_TO_ALL <= share < 1:
        return "over 99 %"
    return f"{share * 100:.0f} %"


def tokens_back(distance: int) -> str:
    """How far a key lies from its query: "4 tokens back", "1 token ahead"."""
    count = f"{abs(distance)} token{'' if abs(distance) == 1 else 's'}"
    return f"{count} {'back' if distance > 0 else 'ahead'}"


def where_it_looks(view: HeadView, query: int) -> str:
    """The strongest key of a row, its share and how far away it is."""
    row = view.weights[query]
    looks = token(view.query_tokens[query])
    if not view.mask[query].any():
        return f"{looks} may look at nothing."
    key = int(measures.strongest_key(view.weights)[query])
    distance = query - key
    if view.mask[query].sum() == 1:
        return f"{looks} sees only {'itself' if distance == 0 else token(view.key_tokens[key])}."
    whom = "itself" if distance == 0 else f"{token(view.key_tokens[key])}, {tokens_back(distance)}"
    return f"{looks} puts {percent(float(row[key]))} of its weight on {whom}."


def how_decided(view: HeadView, query: int) -> str:
    """A row's entropy in bits, what it means in tokens, and its mean distance."""
    visible = int(view.mask[query].sum())
    if visible < 2:
        return ""
    bits = float(measures.entropy(view.weights)[query])
    most = float(measures.largest_entropy(view.mask)[query])
    if bits < DECIDED:
        meaning = "it looks at one token alone"
    else:
        among = float(measures.effective_tokens(view.weights)[query])
        meaning = f"as if it chose among {among:.1f} of {visible} tokens"
    distance = float(measures.mean_distance(view.weights)[query])
    return (
        f"Entropy {bits:.1f} of at most {most:.1f} bits: {meaning}. "
        f"On average it looks {distance:.1f} token{'' if f'{distance:.1f}' == '1.0' else 's'} away."
    )


def what_it_is_for(role: HeadRole | None, trained: bool) -> str:
    """The head's measured role with its score, or that it has none."""
    if not trained:
        return "This model is untrained: what its heads look at is chance, and they have no names."
    if role is None or role.name is None:
        return "No measured role: nothing we test for explains where it looks."
    meaning = ROLES[role.name]
    others = [
        f"<b>{escape(name)}</b> {scored.score:.2f}"
        for name, scored in role.scores.items()
        if name != role.name and is_earned(name, scored)
    ]
    also = f" It is also good at {' and '.join(others)}." if others else ""
    return (
        f"<b>{meaning.name.capitalize()}</b> {escape(meaning.finds)}: {role.score:.2f} of its "
        f"weight on {escape(meaning.cases)} ({role.chance:.2f} if spread evenly)." + also
    )


def where_it_rests(view: HeadView) -> str:
    """Says so when most of a head's weight lies on the first token of this text."""
    share = measures.rest(view.weights, view.mask)
    if share <= RESTING:
        return ""
    return f"Here it rests: {percent(share)} of all its weight lies on {token(view.key_tokens[0])}."


def notice(view: HeadView, query: int, role: HeadRole | None, trained: bool) -> str:
    """The sentences about one head and one row, as paragraphs of HTML."""
    sentences = (
        where_it_looks(view, query),
        how_decided(view, query),
        what_it_is_for(role, trained),
        where_it_rests(view),
    )
    return "".join(f"<p>{sentence}</p>" for sentence in sentences if sentence)


def predictions(top: Sequence[tuple[str, float]]) -> str:
    """The likeliest pieces as bars on a fixed track from 0 to 100 %."""
    rows = (
        f"<span class='token'>{escape(piece)}</span>"
        "<span class='track'>"
        f"<span class='bar' style='width:{probability * 100:.1f}%'></span></span>"
        f"<span class='share'>{percent(probability)}</span>"
        for piece, probability in top
    )
    return f"<div class='hl-predictions'>{''.join(rows)}</div>"
