"""What to notice: each sentence says what the numbers on the screen say, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from model.roles import HeadRole, RoleScore
from model.trace import HeadRef, HeadView
from viz import notice


def head(weights: list[list[float]], tokens: str = "start The keys are") -> HeadView:
    """A causal head made by hand."""
    array = np.array(weights, dtype=np.float32)
    labels = tuple(tokens.split()[: len(array)])
    mask = np.tril(np.ones(array.shape, dtype=bool))
    return HeadView(HeadRef("decoder", 0, 0), labels, labels, None, None, mask, array, None)


THREE = head([[1, 0, 0], [0.25, 0.75, 0], [0.2, 0.7, 0.1]])


def test_the_strongest_key_is_named_with_its_share_and_distance():
    assert notice.where_it_looks(THREE, 2) == (
        "<code>keys</code> puts 70 % of its weight on <code>The</code>, 1 token back."
    )


def test_a_token_that_looks_at_itself_is_told_so():
    assert notice.where_it_looks(THREE, 1).endswith("puts 75 % of its weight on itself.")


def test_the_first_token_of_a_decoder_has_no_choice():
    assert notice.where_it_looks(THREE, 0) == "<code>start</code> sees only itself."
    assert notice.how_decided(THREE, 0) == ""


def test_entropy_is_told_in_bits_and_in_tokens():
    even = head([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0.5, 0.25, 0.25, 0], [0.25] * 4])
    assert notice.how_decided(even, 3) == (
        "Entropy 2.0 of at most 2.0 bits: as if it chose among 4.0 of 4 tokens. "
        "On average it looks 1.5 tokens away."
    )


def test_a_row_with_one_strong_key_looks_at_one_token_alone():
    sure = head([[1, 0, 0], [1, 0, 0], [0.999, 0.0005, 0.0005]])
    assert "it looks at one token alone" in notice.how_decided(sure, 2)


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (0.001, "&lt;1 %"), (0.5, "50 %"), (0.996, "over 99 %"), (1, "100 %")],
)
def test_a_share_is_never_rounded_to_what_it_is_not(share: float, words: str):
    assert notice.percent(share) == words


def test_a_named_head_is_told_with_score_and_chance():
    role = HeadRole("previous", {"previous": RoleScore(0.91, 0.05, 400)})
    told = notice.what_it_is_for(role, trained=True)
    assert told.startswith("<b>Previous</b> looks at the token just before: 0.91 of its weight")
    assert "(0.05 if spread evenly)" in told


def test_a_head_without_a_role_and_a_model_without_training_get_no_name():
    assert "No measured role" in notice.what_it_is_for(HeadRole(None, {}), trained=True)
    assert "untrained" in notice.what_it_is_for(None, trained=False)


def test_a_head_at_rest_on_the_first_token_is_told_only_where_it_is_so():
    resting = head([[1, 0, 0], [0.9, 0.1, 0], [0.8, 0.1, 0.1]])
    assert notice.where_it_rests(resting) == (
        "Here it rests: 85 % of all its weight lies on <code>start</code>."
    )
    assert notice.where_it_rests(THREE) == ""


def test_token_text_never_becomes_markup():
    hostile = head([[1, 0], [0.4, 0.6]], "<script>alert(1)</script> <b>")
    everything = notice.notice(hostile, 1, None, trained=False) + notice.predictions(
        [("<img src=x onerror=alert(1)>", 0.5)]
    )
    assert "<script" not in everything
    assert "<img" not in everything
    assert "&lt;b&gt;" in everything


def test_a_prediction_bar_is_as_wide_as_its_probability():
    assert "width:26.0%" in notice.predictions([("are", 0.26)])
    assert "26 %" in notice.predictions([("are", 0.26)])
