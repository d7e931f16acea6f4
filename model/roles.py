"""What heads are for, measured: the roles, each head's score in each, and the name that it earns.

The generated language comes with its truths, so a role is a claim that can be checked: in these
rows a head that plays the role looks at those columns. A score is the mean weight on the right
columns over held-out cases; a name needs more than a score (see `name_of`), because a name
teaches.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from model.errors import HeadlightError
from model.info import HeadRef

if TYPE_CHECKING:
    from model.languages import Passage

SENTENCES = "unseen sentences"
RANDOM = "repeated random pieces"
BOTH = "unseen sentences and random pieces"


@dataclass(frozen=True)
class Role:
    """Something that a head can be for.

    finds: completes "Subject …" (name, what it does). cases: the texts on which it is scored.
    of_meaning: who plays the part is a matter of meaning, not of place, so the name must also hold
    on minimal pairs. special_case_of: a more general role that gets these rows right without
    knowing more. gives_name: False for what is measured but not tested well enough to name a head.
    """

    name: str
    finds: str
    cases: str = SENTENCES
    of_meaning: bool = False
    pairs_of: str | None = None
    special_case_of: str | None = None
    gives_name: bool = True

    @property
    def pairs(self) -> str | None:
        """The minimal pairs that test the name: the role's own, or those of `pairs_of`."""
        return (self.pairs_of or self.name) if self.of_meaning else None


# One line a role. "previous" and "self" follow from the row alone; the truths of all others come
# with the text (model.languages).
ROLES: Mapping[str, Role] = {
    role.name: role
    for role in (
        Role("previous", "looks at the token just before", BOTH),
        Role("self", "looks at the token itself", BOTH),
        Role("induction", "finds what came after the same token the last time", RANDOM),
        Role("duplicate", "finds the same token where it stood before", RANDOM),
        Role("subject", "finds the noun that the coming verb agrees with", of_meaning=True),
        # A name is always singular, so heads that find the number of a verb need not find it. There
        # are no minimal pairs for this yet, so it names no head.
        Role("actor", "finds the person named who acts next, past others", gives_name=False),
        Role(
            "verb", "looks from the verb back to its subject", of_meaning=True, pairs_of="subject"
        ),
        Role(
            "reflexive",
            "finds whom the coming himself or themselves means",
            of_meaning=True,
            special_case_of="verb",
        ),
        Role("pronoun", "finds whom a pronoun means", of_meaning=True),
        Role(
            "gloss",
            "finds whose name the bracket after a pronoun gives",
            of_meaning=True,
            pairs_of="pronoun",
        ),
        Role("adjective", "looks from a noun at its adjective", special_case_of="previous"),
        Role("object", "looks from an object at its verb"),
        Role("quote", "looks from a closing quotation mark at the opening one"),
        Role("bracket", "looks from a closing bracket at the opening one"),
    )
}

MIN_SCORE = 0.3
MIN_TIMES_CHANCE = 3.0
MIN_PAIRS_HELD = 0.8
TIE = 0.05

WeightsOf = Callable[["Passage"], Mapping[HeadRef, np.ndarray]]


@dataclass(frozen=True)
class RoleScore:
    """How one head does in one role.

    score: mean weight on the right columns, 0 to 1. chance: the same if each row were spread
    evenly. n_cases: rows counted. pairs_held: of the minimal pairs, the share in which the right
    candidate got more weight than the wrong one in both members, 0 to 1; None where the role needs
    none.
    """

    score: float
    chance: float
    n_cases: int
    pairs_held: float | None = None
    n_pairs: int = 0


@dataclass(frozen=True)
class HeadRole:
    """What a head is for: the name it earned, or None, and its score in every tested role."""

    name: str | None
    scores: Mapping[str, RoleScore]

    @property
    def best(self) -> RoleScore | None:
        """The score that earned the name; None for a head without one."""
        return None if self.name is None else self.scores[self.name]

    @property
    def score(self) -> float | None:
        """Its mean weight on the right tokens."""
        return None if self.best is None else self.best.score

    @property
    def chance(self) -> float | None:
        """What an even spread would score."""
        return None if self.best is None else self.best.chance


@dataclass(frozen=True)
class Case:
    """In this row, a head that plays the role looks at one of the right columns."""

    role: str
    row: int
    right: tuple[int, ...]


def score_heads(
    weights_of: WeightsOf,
    passages: Iterable[Passage],
    pairs: Mapping[str, Sequence[tuple[Passage, Passage]]],
) -> dict[HeadRef, dict[str, RoleScore]]:
    """Every head's score in every role that the passages have cases of.

    weights_of: a passage → each head's weights, (n, n), row 0 the start token.
    passages: held-out texts with their truths. pairs: minimal pairs by the name in `Role.pairs`.
    """
    tallies: dict[str, _Tally] = {}
    refs: list[HeadRef] = []
    for passage in passages:
        by_head = weights_of(passage)
        refs = list(by_head)
        weights = np.stack([by_head[ref] for ref in refs])  # (heads, n, n)
        for case in cases_of(passage):
            tallies.setdefault(case.role, _Tally()).add(weights, case)
    held: dict[str, dict[HeadRef, float]] = {}
    for name, some_pairs in pairs.items():
        held |= _pairs_held(weights_of, some_pairs, [r for r in ROLES if ROLES[r].pairs == name])
    return {
        ref: {
            role: RoleScore(
                score=float(tallies[role].right[head] / tallies[role].n),
                chance=tallies[role].chance / tallies[role].n,
                n_cases=tallies[role].n,
                pairs_held=held[role][ref] if role in held else None,
                n_pairs=len(pairs[ROLES[role].pairs]) if role in held else 0,
            )
            for role in ROLES
            if role in tallies
        }
        for head, ref in enumerate(refs)
    }


@dataclass
class _Tally:
    """Sums over the cases of one role."""

    right: np.ndarray | float = 0.0  # the weight on the right columns: (heads,)
    chance: float = 0.0
    n: int = 0

    def add(self, weights: np.ndarray, case: Case) -> None:
        """weights: (heads, n, n)."""
        self.right = self.right + weights[:, case.row, list(case.right)].sum(axis=-1)
        self.chance += len(case.right) / (case.row + 1)  # a decoder's row r sees columns 0 to r
        self.n += 1


def cases_of(passage: Passage) -> Iterator[Case]:
    """What a passage tests: its own truths, and for every row the token before it and itself.

    In a role of meaning only rows with a rival count, since a head that looks at any noun would be
    right about a lone one; and only rows that are not themselves the answer, since those need no
    look. The start token is never right: heads with nothing to do rest on it.
    Raises HeadlightError for a truth that says otherwise.
    """
    for row in range(2, len(passage.pieces) + 1):
        yield Case("previous", row, (row - 1,))
        yield Case("self", row, (row,))
    for truth in passage.truths:
        if truth.role not in ROLES or not truth.right:
            continue
        if 0 in truth.right:
            raise HeadlightError(f"{truth.role}: row {truth.row} has the start token as its answer")
        matters = ROLES[truth.role].of_meaning or truth.role == "actor"
        if matters and (not truth.wrong or truth.row in truth.right):
            continue
        yield Case(truth.role, truth.row, tuple(truth.right))


def _pairs_held(
    weights_of: WeightsOf, pairs: Sequence[tuple[Passage, Passage]], tested: Sequence[str]
) -> dict[str, dict[HeadRef, float]]:
    """For each role tested, the share of pairs in which each head prefers what is right twice."""
    held: dict[str, Counter[HeadRef]] = {role: Counter() for role in tested}
    for pair in pairs:
        weights = [weights_of(passage) for passage in pair]
        for role in tested:
            one, other = map(_prefers_right, weights, pair, (role, role))
            held[role].update({ref: int(one[ref] and other[ref]) for ref in one})
    return {role: {ref: n / len(pairs) for ref, n in held[role].items()} for role in tested}


def _prefers_right(
    weights: Mapping[HeadRef, np.ndarray], passage: Passage, role: str
) -> dict[HeadRef, bool]:
    (truth,) = (t for t in passage.truths if t.role == role)
    right, wrong = list(truth.right), list(truth.wrong)
    return {
        ref: bool(w[truth.row, right].sum() > w[truth.row, wrong].sum())
        for ref, w in weights.items()
    }


def name_heads(scores: Mapping[HeadRef, Mapping[str, RoleScore]]) -> dict[HeadRef, HeadRole]:
    """Gives each head its name, or none (`name_of`)."""
    return {ref: HeadRole(name_of(by_role), dict(by_role)) for ref, by_role in scores.items()}


def name_of(scores: Mapping[str, RoleScore]) -> str | None:
    """The role with the largest score among those that the head has earned; None if it has none.

    A special case gives way to the general role that it is a case of ("adjective" to "previous")
    if the head has earned that too and does hardly better in the special case (by at most TIE):
    the general name explains more rows.
    """
    earned = {role: s for role, s in scores.items() if is_earned(role, s)}
    if not earned:
        return None
    best = max(earned, key=lambda role: earned[role].score)
    general = ROLES[best].special_case_of
    if general in earned and earned[best].score - earned[general].score <= TIE:
        return general
    return best


def best_head(heads: Mapping[HeadRef, HeadRole], role: str) -> HeadRef | None:
    """The head that plays a role best, whatever it is named; None if the role was not tested."""
    tested = [ref for ref in heads if role in heads[ref].scores]
    return max(tested, key=lambda ref: heads[ref].scores[role].score, default=None)


def is_earned(role: str, score: RoleScore) -> bool:
    """Whether a score is enough for the name: at least 0.3 and 3 × chance, and for a role of
    meaning the right candidate preferred in both members of at least 80 % of its minimal pairs."""
    enough = score.score >= max(MIN_SCORE, MIN_TIMES_CHANCE * score.chance)
    if not (enough and ROLES[role].gives_name):
        return False
    return not ROLES[role].of_meaning or (score.pairs_held or 0.0) >= MIN_PAIRS_HELD


def to_json(heads: Mapping[HeadRef, HeadRole]) -> list[dict]:
    """The heads as plain data for heads.json, in the order of layers; scores with four decimals."""
    return [
        {
            "kind": ref.kind,
            "layer": ref.layer,
            "head": ref.head,
            "name": heads[ref].name,
            "scores": {role: rounded(asdict(s)) for role, s in heads[ref].scores.items()},
        }
        for ref in sorted(heads)
    ]


def from_json(heads: Sequence[Mapping]) -> dict[HeadRef, HeadRole]:
    """The inverse of `to_json`."""
    return {
        HeadRef(h["kind"], h["layer"], h["head"]): HeadRole(
            h["name"], {role: RoleScore(**s) for role, s in h["scores"].items()}
        )
        for h in heads
    }


def read_roles(path: Path) -> dict[HeadRef, HeadRole]:
    """The roles in a model's heads.json; none if there is no such file, as beside an untrained
    model.

    Raises HeadlightError if the file is there and cannot be read.
    """
    if not Path(path).exists():
        return {}
    try:
        return from_json(json.loads(Path(path).read_text(encoding="utf-8"))["heads"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise HeadlightError(
            f"{path} does not hold head roles ({error}): make it again with python -m model.train"
        ) from error


def rounded(score: dict) -> dict:
    """The same with numbers to four decimals: more would be noise, and a change in them a diff."""
    return {key: round(v, 4) if isinstance(v, float) else v for key, v in score.items()}
