"""Masks, printed as one would draw them: rows are queries, columns are keys."""

from __future__ import annotations

from model import masks


def drawn(mask: object) -> list[str]:
    return ["".join("■" if allowed else "·" for allowed in row) for row in mask.tolist()]


def test_the_causal_mask_is_a_triangle():
    assert drawn(masks.build(masks.causal, 4, 4)) == [
        "■···",
        "■■··",
        "■■■·",
        "■■■■",
    ]


def test_the_full_mask_is_a_rectangle_of_the_queries_and_the_keys():
    assert drawn(masks.build(masks.full, 2, 3)) == [
        "■■■",
        "■■■",
    ]


def test_one_token_sees_itself():
    assert drawn(masks.build(masks.causal, 1, 1)) == ["■"]


def test_equal_masks_are_held_once():
    assert masks.build(masks.causal, 4, 4) is masks.build(masks.causal, 4, 4)


def test_a_new_mask_is_one_predicate_of_positions():
    def window(query, key):
        return masks.causal(query, key) & (query - key < 2)

    assert drawn(masks.build(window, 4, 4)) == [
        "■···",
        "■■··",
        "·■■·",
        "··■■",
    ]
