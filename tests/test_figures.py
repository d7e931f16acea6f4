"""Pictures say what the numbers say: what is drawn, what is not, and under which name."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from model.trace import HeadRef, HeadView
from viz.components import pack
from viz.components.grid import weights_to_tiles
from viz.figures.head_map import MAX_CELLS, head_map
from viz.theme import DARK, LIGHT, colorscale, columns, escape, label, page_css, visible


def view_of(
    weights: np.ndarray, mask: np.ndarray, queries: list[str], keys: list[str] | None = None
) -> HeadView:
    return HeadView(
        ref=HeadRef("decoder", 0, 0),
        query_tokens=tuple(queries),
        key_tokens=tuple(queries if keys is None else keys),
        raw_scores=None,
        scores=None,
        mask=mask,
        weights=weights.astype(np.float32),
        output=None,
    )


def causal_view(tokens: list[str]) -> HeadView:
    """Each query spreads its weight evenly over itself and everything before it."""
    n = len(tokens)
    mask = np.tril(np.ones((n, n), dtype=bool))
    return view_of(mask / mask.sum(1, keepdims=True), mask, tokens)


# --- the head map -----------------------------------------------------------------------------


def test_a_masked_cell_is_not_drawn_and_a_weight_of_zero_is():
    weights = np.array([[1, 0], [0, 1]])
    mask = np.array([[True, False], [True, True]])
    cells = head_map(view_of(weights, mask, ["a", "b"])).data[0].z
    assert np.isnan(cells[0, 1])
    assert cells[1, 0] == 0


def test_rows_are_queries_from_the_top_down():
    figure = head_map(causal_view(["a", "b", "c"]))
    first, last = figure.layout.yaxis.range
    assert first > last  # the axis points down
    assert figure.layout.yaxis.ticktext == ("a", "b", "c")
    assert np.allclose(figure.data[0].z[2], 1 / 3)


def test_a_token_that_comes_twice_has_two_rows_and_two_columns():
    figure = head_map(causal_view(["the", "cat", "sat", "on", "the", "mat"]))
    assert figure.data[0].z.shape == (6, 6)
    assert figure.layout.yaxis.tickvals == (0, 1, 2, 3, 4, 5)
    assert figure.data[1].text == ("the", "cat", "sat", "on", "the", "mat")


def test_in_a_causal_map_each_key_is_named_over_its_column_where_nothing_is_drawn():
    names = head_map(causal_view(["a", "b", "c"])).data[1]
    for key, (x, y) in enumerate(zip(names.x, names.y, strict=True)):
        assert key - 0.5 <= x <= key + 0.5  # over its column
        assert y == key - 1  # one row above the first query that sees it


def test_a_map_that_is_not_causal_has_no_steps_and_names_its_keys_above():
    weights = np.full((2, 3), 1 / 3)
    cross = view_of(weights, np.ones((2, 3), dtype=bool), ["le", "chat"], ["the", "cat", "."])
    figure = head_map(cross)
    assert [trace.type for trace in figure.data] == ["heatmap"]
    assert figure.layout.xaxis.ticktext == ("the", "cat", ".")
    assert figure.layout.xaxis.side == "top"
    assert figure.layout.yaxis.ticktext == ("le", "chat")


def test_one_token_is_a_map_of_one_cell():
    figure = head_map(causal_view(["a"]))
    assert figure.data[0].z.tolist() == [[1.0]]


def test_the_hover_label_names_both_tokens_whatever_the_rows_are_called():
    figure = head_map(causal_view(["a", "b"]), row_labels=["→ b", "→ c"])
    assert figure.layout.yaxis.ticktext == ("→ b", "→ c")
    assert figure.data[0].customdata[1, 0].tolist() == ["b", "a"]  # query, key


def test_colours_mean_the_same_in_every_head():
    faint = head_map(view_of(np.full((1, 1), 0.01), np.ones((1, 1), dtype=bool), ["a"]))
    assert (faint.data[0].zmin, faint.data[0].zmax) == (0, 1)


def test_many_tokens_are_all_drawn_but_not_all_named():
    figure = head_map(causal_view([f"t{at}" for at in range(100)]))
    assert figure.data[0].z.shape == (100, 100)
    assert len(figure.layout.yaxis.tickvals) <= 25


def test_beyond_the_limit_a_cell_is_the_largest_weight_of_its_block_and_says_so():
    n = 2 * MAX_CELLS - 1  # blocks of 2 × 2, the last of them cut
    mask = np.tril(np.ones((n, n), dtype=bool))
    weights = np.zeros((n, n))
    weights[101, 7] = 0.75
    weights[n - 1, n - 1] = 0.5
    figure = head_map(view_of(weights, mask, [f"t{at}" for at in range(n)]))
    heatmap = figure.data[0]
    assert heatmap.z.shape == (MAX_CELLS, MAX_CELLS)
    assert heatmap.z[50, 3] == 0.75
    assert heatmap.z[-1, -1] == 0.5
    assert np.isnan(heatmap.z[0, 1])  # wholly masked
    assert heatmap.z[0, 0] == 0  # partly masked: what can be seen counts
    assert heatmap.y0 + 50 * heatmap.dy == 100.5  # between rows 100 and 101
    assert "2 × 2" in figure.layout.annotations[0].text


@pytest.mark.parametrize("n", [1, 16, 40, 128])
def test_the_size_of_what_is_sent_follows_the_weights_and_not_the_names(n: int):
    from viz.components.plot import _spec

    short = len(_spec(head_map(causal_view(["a"] * n))))
    long = len(_spec(head_map(causal_view(["a" * 12] * n))))
    assert long - short < 100 * n + 100


# --- thumbnails and what travels to the browser -----------------------------------------------


def test_a_tile_tells_a_weight_of_zero_from_a_cell_that_does_not_exist():
    weights = np.array([[0.0, 1.0], [np.nan, 0.5]])
    visible_cells = np.array([[True, False], [True, True]])
    assert weights_to_tiles(weights, visible_cells).tolist() == [[1, 0], [0, 128]]


def test_packed_arrays_start_at_multiples_of_eight_so_that_any_type_can_be_read_there():
    first, second = np.arange(3, dtype=np.uint8), np.array([[0.5, 1.5]], dtype=np.float32)
    block = pack({"label": "→ é"}, first=first, second=second)
    length = int.from_bytes(block[:4], "little")
    header = json.loads(block[4 : 4 + length])
    assert header["json"] == {"label": "→ é"}
    for (name, kind, shape, offset), array in zip(header["arrays"], (first, second), strict=True):
        start = 4 + length + offset
        assert start % 8 == 0
        read = np.frombuffer(block, kind, count=array.size, offset=start).reshape(shape)
        assert np.array_equal(read, array), name


def test_an_array_type_that_browsers_lack_is_refused():
    with pytest.raises(TypeError, match="float16"):
        pack({}, weights=np.zeros(1, np.float16))


# --- token text -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<s>", "&lt;s&gt;"),
        ("<b>x</b>", "&lt;b&gt;x&lt;/b&gt;"),
        ("&amp;", "&amp;amp;"),
        ("$x$", "&#36;x&#36;"),
    ],
)
def test_what_plotly_would_read_as_markup_is_written_as_entities(text: str, shown: str):
    assert label(text) == shown


def test_html_is_escaped_within_attributes_too():
    assert escape("\"<'&") == "&quot;&lt;&#x27;&amp;"


@pytest.mark.parametrize("text", ["", " ", "  ", "\n", "\t", "\r", "\u200b", "\u00a0", "\u202e"])
def test_no_text_is_invisible(text: str):
    assert visible(text).strip()
    assert visible(text).isprintable()


def test_spaces_are_marked_at_the_ends_only():
    assert visible(" a b ") == "␣a b␣"


@pytest.mark.parametrize("text", ["cabinet", "naïve", "שלום", "東京", "👩\u200d👧", "🇫🇷"])
def test_what_can_be_seen_stays_as_it_is(text: str):
    assert visible(text) == text
    assert label(text) == text


def test_a_long_label_is_cut_to_its_width():
    assert label("x" * 200, 10) == "x" * 9 + "…"
    assert label("x" * 10, 10) == "x" * 10


def test_a_cut_never_splits_a_character_that_a_reader_sees():
    family = "👩\u200d👩\u200d👧"
    assert label(family * 6, 6) == family * 2 + "…"  # two columns each
    accent = "e\u0301"
    assert label(accent * 9, 5) == accent * 4 + "…"


def test_wide_characters_count_twice():
    assert (columns("ab"), columns("東京"), columns("🇫🇷"), columns("e\u0301")) == (2, 4, 2, 1)


# --- colours ----------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Relative luminance, 0 to 1 (WCAG 2)."""
    channels = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """From 1 (the same) to 21 (black on white), as WCAG 2 defines it."""
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read_on_everything_it_stands_on(palette):
    for text in (palette.ink, palette.muted):
        for ground in (palette.background, palette.tile, palette.wash):
            assert contrast(text, ground) >= 4.5
    for line in (palette.scaled, palette.unscaled, palette.primary):
        assert contrast(line, palette.background) >= 4.5
    assert contrast(palette.accent, palette.background) >= 3


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_more_weight_is_more_contrast_and_no_weight_is_not_the_background(palette):
    steps = [contrast(colour, palette.background) for colour in palette.weights]
    assert steps == sorted(steps)
    assert palette.weights[0] == palette.tile != palette.background


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_a_score_of_zero_is_the_tile_and_both_signs_grow_away_from_it(palette):
    middle = len(palette.signed) // 2
    assert palette.signed[middle] == palette.tile
    steps = [contrast(colour, palette.tile) for colour in palette.signed]
    assert steps[: middle + 1] == sorted(steps[: middle + 1], reverse=True)
    assert steps[middle:] == sorted(steps[middle:])


def test_a_colour_scale_runs_from_zero_to_one():
    assert colorscale(["#000000", "#888888", "#FFFFFF"]) == [
        [0, "#000000"], [0.5, "#888888"], [1, "#FFFFFF"],
    ]  # fmt: skip


def test_streamlit_is_set_to_the_same_colours(root: Path):
    theme = tomllib.loads((root / ".streamlit/config.toml").read_text("utf-8"))["theme"]
    for palette in (LIGHT, DARK):
        assert theme[palette.name] == {
            "primaryColor": palette.primary,
            "linkColor": palette.primary,
            "backgroundColor": palette.background,
            "secondaryBackgroundColor": palette.tile,
            "textColor": palette.ink,
            "borderColor": palette.rule,
        }


def test_a_style_sheet_holds_no_tag_which_would_make_the_browser_drop_all_of_it():
    # What stands in st.html is sanitised: a style element with a tag in it vanishes whole.
    assert "<" not in page_css(LIGHT)
