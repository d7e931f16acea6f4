"""What stands under a picture: its numbers, its files and its code, made only when asked for."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

from viz import show, state
from viz.components.stages import mask_words, scale_words

HOSTILE = ["=1+1", "+1", "-1", "@x", "'", "\t", "<s>", "$x^2$", "&amp;", "a,b", 'say "a"', ""]


def read_csv(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


# --- tables -------------------------------------------------------------------------------------


def test_tokens_that_repeat_still_name_each_row_and_column_once():
    table = show.matrix_table(np.eye(3), ["the", "cat", "the"], ["the", "cat", "the"])
    assert list(table.index) == ["0 the", "1 cat", "2 the"]
    assert table.columns.is_unique


def test_a_masked_cell_is_empty_and_a_weight_of_zero_is_not():
    weights = np.array([[1.0, 0.0], [1.0, 0.0]])
    table = show.matrix_table(weights, "ab", "ab", mask=np.tri(2, dtype=bool))
    assert np.isnan(table.iloc[0, 1])
    assert table.iloc[1, 1] == 0


def test_pairs_are_those_that_the_mask_lets_meet_with_every_number():
    raw, weights = np.arange(4.0).reshape(2, 2), np.array([[1, 0], [0.25, 0.75]])
    pairs = show.pairs_table({"q·k": raw, "weight": weights}, "ab", "ab", np.tri(2, dtype=bool))
    assert list(pairs.index) == ["0 a", "1 b", "1 b"]
    assert list(pairs["key"]) == ["0 a", "0 a", "1 b"]
    assert list(pairs["q·k"]) == [0, 2, 3]
    assert list(pairs["weight"]) == [1, 0.25, 0.75]


def test_rows_are_queries_and_columns_keys_also_when_their_numbers_differ():
    table = show.matrix_table(np.zeros((2, 3)), ["un", "chat"], ["one", "black", "cat"])
    assert table.shape == (2, 3)
    assert list(table.columns) == ["0 one", "1 black", "2 cat"]


# --- files --------------------------------------------------------------------------------------


def test_a_csv_reads_back_as_the_same_numbers_and_labels():
    weights = np.random.default_rng(0).random((len(HOSTILE), len(HOSTILE))).astype(np.float32)
    table = show.matrix_table(weights, HOSTILE, HOSTILE)
    rows = read_csv(show.csv_text(table))
    assert rows[0] == ["query", *table.columns]
    assert [row[0] for row in rows[1:]] == list(table.index)
    numbers = np.array([row[1:] for row in rows[1:]], dtype=np.float64)
    np.testing.assert_allclose(numbers, weights, rtol=1e-6)


def test_no_text_of_a_csv_can_run_as_a_formula_in_a_spreadsheet():
    table = pd.DataFrame({"=cmd()": HOSTILE, "score": np.arange(len(HOSTILE)) - 2.5}, index=HOSTILE)
    for row in read_csv(show.csv_text(table)):
        for cell in (row[0], row[1]):
            assert not cell.startswith(("=", "+", "-", "@", "\t"))


def test_taking_one_apostrophe_away_gives_the_text_back():
    table = pd.DataFrame({"token": HOSTILE})
    cells = [row[1] for row in read_csv(show.csv_text(table))[1:]]
    assert [cell.removeprefix("'") for cell in cells] == HOSTILE


def test_negative_numbers_stay_numbers_in_a_csv():
    text = show.csv_text(pd.DataFrame({"score": [-1.5, 2.0]}))
    assert [row[1] for row in read_csv(text)] == ["score", "-1.5", "2"]


def test_columns_that_mix_texts_and_numbers_are_guarded_cell_by_cell():
    text = show.csv_text(pd.DataFrame({"mixed": [-3, "-3"]}))
    assert [row[1] for row in read_csv(text)] == ["mixed", "-3", "'-3"]


def test_an_npz_opens_without_pickles_and_holds_the_arrays_exactly():
    weights = np.random.default_rng(1).random((3, 3)).astype(np.float32)
    data = show.npz_bytes({"weights": weights, "labels": ["start", "東京", "<s>"]})
    with np.load(io.BytesIO(data), allow_pickle=False) as opened:
        np.testing.assert_array_equal(opened["weights"], weights)
        assert opened["weights"].dtype == np.float32
        assert list(opened["labels"]) == ["start", "東京", "<s>"]


def test_a_link_carries_two_thousand_characters_and_no_more():
    assert state.text_fits_link("a" * 2_000)
    assert not state.text_fits_link("a" * 2_001)


# --- code ---------------------------------------------------------------------------------------


def test_the_code_shown_is_the_code_that_runs():
    place, source = show.source_of(show.matrix_table)
    assert place.startswith("viz/show.py, line ")
    namespace: dict = {"np": np} | {f.__name__: f for f in (show.positions, show.columns_table)}
    exec("from __future__ import annotations\n" + source, namespace)
    table = namespace["matrix_table"](np.eye(2), "ab", "ab")
    pd.testing.assert_frame_equal(table, show.matrix_table(np.eye(2), "ab", "ab"))


def test_the_code_of_a_method_starts_at_the_margin():
    _, source = show.source_of(_Example.method)
    assert source.startswith("def method")


class _Example:
    def method(self) -> None:
        """A method, for the test above."""


# --- the popovers -------------------------------------------------------------------------------


def _page() -> None:
    import numpy as np
    import streamlit as st

    from viz import show

    def table():
        st.session_state.tables = st.session_state.get("tables", 0) + 1
        return show.matrix_table(np.eye(2), "ab", "ab")

    def arrays():
        raise AssertionError("a file is made on the click, not before")

    show.tools(
        "map", picture="picture", filename="writer L2 H1", table=table, arrays=arrays,
        code=[show.positions], link="http://host/?layer=2", text_travels=False,
    )  # fmt: skip


def test_a_closed_popover_computes_nothing():
    page = AppTest.from_function(_page).run()
    assert not page.exception
    assert "tables" not in page.session_state
    assert not page.dataframe and not page.code and not page.text_input


def test_an_open_table_is_built_and_shown():
    page = _opened("map-table")
    assert page.session_state.tables == 1
    assert list(page.dataframe[0].value.index) == ["0 a", "1 b"]


def test_opening_the_export_makes_no_file_yet():
    page = _opened("map-export")
    assert "tables" not in page.session_state


def test_open_code_shows_the_source_and_where_it_stands():
    page = _opened("map-code")
    assert page.code[0].value.startswith("def positions")
    assert page.text[0].value.startswith("viz/show.py")


def test_an_open_link_shows_the_address_and_says_what_it_leaves_out():
    page = _opened("map-link")
    assert page.text_input[0].value == "http://host/?layer=2"
    assert "does not travel" in page.text[0].value


def _opened(popover: str) -> AppTest:
    page = AppTest.from_function(_page)
    page.session_state[popover] = True
    page.run()
    assert not page.exception
    return page


# --- what the second and third stage say --------------------------------------------------------


def test_a_standard_scale_is_said_as_the_root_of_d_k():
    words = scale_words(32**-0.5, 32, biased=False)
    assert words.kind == "root"
    assert words.caption == "÷ √32 = ÷ 5.66"


def test_another_scale_is_never_said_to_be_the_root():
    words = scale_words(0.125, 32, biased=False)
    assert words.kind == "factor"
    assert words.caption == "× 0.125 (not 1/√32)"


def test_an_unscaled_model_is_said_to_be_unscaled():
    words = scale_words(1.0, 32, biased=False)
    assert words.kind == "none"
    assert words.caption == "not divided: this model is unscaled"


def test_with_d_k_of_one_dividing_by_the_root_changes_nothing_but_is_true():
    assert scale_words(1.0, 1, biased=False).caption == "÷ √1 = ÷ 1"


def test_a_position_bias_is_named():
    for scale in (32**-0.5, 1.0, 0.3):
        words = scale_words(scale, 32, biased=True)
        assert words.caption.endswith("+ position bias")
        assert words.spoken.endswith("+ position bias")


def test_a_mask_is_described_by_what_it_takes_away():
    causal = np.tri(4, dtype=bool)
    assert mask_words(causal) == "later tokens removed"
    assert mask_words(np.ones((3, 5), dtype=bool)) == "nothing is masked"
    assert mask_words(np.ones((1, 1), dtype=bool)) == "nothing is masked"
    assert mask_words(causal & (np.arange(4) > 0)) == "10 of 16 cells removed"
