"""When a head earns a name, and when it does not, on heads whose pattern is planted."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from model import roles
from model.config import Config
from model.errors import HeadlightError
from model.evaluate import held_out, weights_of
from model.info import HeadRef
from model.languages import Passage, Truth, english
from model.roles import ROLES, RoleScore
from model.tokenizer import Tokenizer
from model.transformer import Transformer

HEAD = HeadRef("decoder", 0, 0)
PLAYED = sorted(name for name in set(ROLES) - {"previous", "self"} if ROLES[name].gives_name)
OF_MEANING = sorted(role.name for role in ROLES.values() if role.of_meaning)


@pytest.fixture(scope="module")
def test_text():
    return held_out(english, 128, share=0.2)


def planted(look: Callable[[Passage], dict[int, tuple[int, ...]]], share: float = 0.9):
    """A head that spends `share` of a row on the columns that `look` tells for it, and rests on the
    start token with all else."""

    def weights(passage: Passage) -> dict[HeadRef, np.ndarray]:
        n = len(passage.pieces) + 1
        matrix = np.zeros((n, n), dtype=np.float32)
        for row, columns in look(passage).items():
            matrix[row, list(columns)] = share / len(columns)
        matrix[:, 0] += 1 - matrix.sum(axis=1)
        return {HEAD: matrix}

    return weights


def plays(role: str) -> Callable[[Passage], dict[int, tuple[int, ...]]]:
    return lambda passage: {t.row: t.right for t in passage.truths if t.role == role}


def looks_back(distance: int) -> Callable[[Passage], dict[int, tuple[int, ...]]]:
    return lambda passage: {
        row: (row - distance,) for row in range(max(1, distance), len(passage.pieces) + 1)
    }


def name_of(look, text) -> str | None:
    scores = roles.score_heads(planted(look), [*text.stories, *text.repeats], text.pairs)
    return roles.name_heads(scores)[HEAD].name


@pytest.mark.parametrize("role", PLAYED)
def test_a_head_that_plays_a_role_gets_its_name(role, test_text):
    assert name_of(plays(role), test_text) == role


def test_a_head_that_looks_one_back_is_called_previous_though_it_finds_adjectives_too(test_text):
    scores = roles.score_heads(planted(looks_back(1)), test_text.stories, test_text.pairs)
    assert scores[HEAD]["adjective"].score >= 0.3
    assert roles.name_heads(scores)[HEAD].name == "previous"


def test_a_head_that_looks_at_the_token_itself_is_called_self_and_finds_no_subject(test_text):
    assert name_of(looks_back(0), test_text) == "self"


def test_a_head_that_rests_on_the_start_token_has_no_name(test_text):
    assert name_of(lambda passage: {}, test_text) is None


@pytest.mark.parametrize("role", OF_MEANING)
@pytest.mark.parametrize("pick", [min, max], ids=["the first", "the last"])
def test_a_head_that_takes_a_candidate_by_its_place_earns_no_name_of_meaning(role, pick, test_text):
    """Such a head always looks at the giver, say, whoever is meant: often right, and no pronoun
    head."""

    def look(passage: Passage) -> dict[int, tuple[int, ...]]:
        return {t.row: (pick((*t.right, *t.wrong)),) for t in passage.truths if t.role == role}

    scores = roles.score_heads(planted(look), test_text.stories, test_text.pairs)
    assert scores[HEAD][role].pairs_held < roles.MIN_PAIRS_HELD
    assert roles.name_heads(scores)[HEAD].name != role


def test_an_untrained_model_has_no_named_head(test_text):
    tokenizer = Tokenizer(english.vocabulary())
    net = Transformer(Config(vocab_size=tokenizer.vocab_size, n_layers=2), seed=1)
    scores = roles.score_heads(
        weights_of(net, tokenizer), [*test_text.stories[:20], *test_text.repeats], {}
    )
    assert {head.name for head in roles.name_heads(scores).values()} == {None}


# ── By hand ──────────────────────────────────────────────────────────────────────────────────────

KEYS = Passage(
    pieces=("The", "keys", "near", "the", "cabinet", "are"),
    truths=(Truth("subject", 5, right=(2,), wrong=(5,)),),
)


def test_a_score_is_the_mean_weight_on_the_right_columns_and_chance_that_of_an_even_row():
    weights = np.tri(7, dtype=np.float32) / np.arange(1, 8)[:, None]
    weights[5] = [0.1, 0, 0.6, 0, 0, 0.3, 0]
    (scores,) = roles.score_heads(lambda passage: {HEAD: weights}, [KEYS], {}).values()
    assert scores["subject"].score == pytest.approx(0.6)
    assert scores["subject"].chance == pytest.approx(1 / 6)
    assert scores["subject"].n_cases == 1
    assert scores["previous"].n_cases == 5  # rows 2 to 6: the start token is never right
    assert scores["previous"].chance == pytest.approx(np.mean([1 / 3, 1 / 4, 1 / 5, 1 / 6, 1 / 7]))


def test_a_role_of_meaning_needs_a_rival_and_a_look_away_from_the_row():
    alone = Truth("subject", 2, right=(2,))
    at_home = Truth("subject", 5, right=(5,), wrong=(2,))
    passage = Passage(KEYS.pieces, (alone, at_home))
    assert "subject" not in {case.role for case in roles.cases_of(passage)}


def test_what_is_only_measured_names_no_head():
    assert not roles.ROLES["actor"].gives_name
    assert roles.name_of({"actor": score(0.9)}) is None
    assert roles.name_of({"actor": score(0.9), "induction": score(0.5)}) == "induction"


def test_the_start_token_is_never_an_answer():
    with pytest.raises(HeadlightError, match="start token"):
        list(roles.cases_of(Passage(KEYS.pieces, (Truth("object", 5, right=(0,)),))))


def score(value: float, pairs_held: float | None = None, chance: float = 0.05) -> RoleScore:
    return RoleScore(value, chance, 300, pairs_held, 0 if pairs_held is None else 100)


def test_a_name_needs_a_third_of_the_weight_and_three_times_chance():
    assert roles.name_of({"induction": score(0.3)}) == "induction"
    assert roles.name_of({"induction": score(0.29)}) is None
    assert roles.name_of({"induction": score(0.5, chance=0.2)}) is None


def test_a_name_of_meaning_needs_four_pairs_of_five():
    assert roles.name_of({"subject": score(0.9, 0.8)}) == "subject"
    assert roles.name_of({"subject": score(0.9, 0.79)}) is None
    assert roles.name_of({"subject": score(0.9)}) is None


def test_a_role_that_fails_its_test_gives_way_to_the_next_best():
    assert roles.name_of({"pronoun": score(0.9, 0.5), "object": score(0.4)}) == "object"


def test_a_special_case_has_its_own_name_only_if_the_general_role_does_worse():
    assert roles.name_of({"previous": score(0.90), "adjective": score(0.94)}) == "previous"
    assert roles.name_of({"previous": score(0.50), "adjective": score(0.94)}) == "adjective"
    assert roles.name_of({"previous": score(0.20), "adjective": score(0.24)}) is None


def test_roles_survive_their_file(tmp_path):
    named = roles.name_heads({HEAD: {"subject": score(0.95, 0.99), "induction": score(0.1)}})
    path = tmp_path / "heads.json"
    path.write_text(json.dumps({"heads": roles.to_json(named)}), encoding="utf-8")
    assert roles.read_roles(path) == named
    assert roles.read_roles(path)[HEAD].score == 0.95


def test_a_model_without_roles_has_none_and_a_broken_file_is_refused(tmp_path):
    assert roles.read_roles(tmp_path / "heads.json") == {}
    (tmp_path / "heads.json").write_text("{}", encoding="utf-8")
    with pytest.raises(HeadlightError, match=r"model\.train"):
        roles.read_roles(tmp_path / "heads.json")
