"""What stands under every picture: its numbers, its files, the code behind it, its address.

A page draws a picture and calls `tools` once, below it. Nothing here costs anything before a
person opens a popover: the contents run only while it is open, and a file is made on the click.
"""

from __future__ import annotations

import inspect
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from viz import state
from viz.components.export import picture_buttons
from viz.theme import visible

if TYPE_CHECKING:  # half a second that no page needs before a table is opened
    import pandas as pd

# A spreadsheet runs a cell that begins with one of these. The apostrophe is here too, so that
# taking one away again is never a guess.
_FORMULA_STARTS = tuple("=+-@'\t\r＝＋－＠")  # noqa: RUF001 - Excel also runs the wide forms
_ROOT = Path(__file__).resolve().parent.parent


def tools(
    key: str,
    *,
    picture: str,
    filename: str,
    table: Callable[[], pd.DataFrame],
    arrays: Callable[[], Mapping[str, np.ndarray | Sequence[str]]],
    csv: Callable[[], pd.DataFrame] | None = None,
    code: Sequence[Callable | type] = (),
    link: str | None = None,
    text_travels: bool = True,
) -> None:
    """The row of popovers that belongs to one picture: Table, Export, Code and Link.

    key: prefix of the popovers' keys.   picture: the `key=` of the component, chart or container
    that PNG and SVG are taken from.   filename: without an ending; other characters than letters,
    digits, "." and "-" become "-".   table: the numbers of the picture, rows and columns named
    uniquely (`matrix_table`).   arrays: what goes into the NPZ, by name.   csv: the frame of the
    CSV where it is more than the table.   code: the functions that computed the picture.
    link: the address of the view; no Link popover without one.   text_travels: False if the text
    was too long for the link (`state.text_fits_link`).
    """
    name = re.sub(r"[^A-Za-z0-9.-]+", "-", filename).strip("-.") or "headlight"
    with st.container(key=f"{key}-tools", horizontal=True, gap="xsmall", width="content"):
        with popover("Table", f"{key}-table") as opened:
            if opened:
                _show_table(table())
        with popover("Export", f"{key}-export") as opened:
            if opened:
                _show_export(key, picture, name, csv or table, arrays)
        if code:
            with popover("Code", f"{key}-code") as opened:
                if opened:
                    _show_code(code)
        if link is not None:
            with popover("Link", f"{key}-link") as opened:
                if opened:
                    _show_link(key, link, text_travels)


@contextmanager
def popover(label: str, key: str, icon: str | None = None) -> Iterator[bool]:
    """`st.popover` that says whether it is open, so that a closed one costs nothing."""
    box = st.popover(label, type="tertiary", icon=icon, key=key, on_change=state.touch)
    with box:
        yield bool(box.open)


def positions(labels: Sequence[str]) -> list[str]:
    """Labels with their positions, "3 cabinet": unique, although tokens repeat."""
    return [f"{position} {visible(label)}" for position, label in enumerate(labels)]


def matrix_table(
    values: np.ndarray,
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    corner: str = "query",
) -> pd.DataFrame:
    """A picture's matrix as a table, rows are queries and columns keys, named by `positions`.

    values: (n_query, n_key)   mask: (n_query, n_key), True = may attend; other cells are empty,
    because a weight that cannot be is not a weight of 0.
    """
    cells = np.asarray(values, dtype=np.float64)
    if mask is not None:
        cells = np.where(mask, cells, np.nan)
    columns = dict(zip(positions(column_labels), cells.T, strict=True))
    return columns_table(columns, positions(row_labels), corner)


def pairs_table(
    matrices: Mapping[str, np.ndarray],
    row_labels: Sequence[str],
    column_labels: Sequence[str],
    mask: np.ndarray,
) -> pd.DataFrame:
    """Several matrices as one table, a line for each query and key that the mask lets meet.

    matrices: by the name of their column, (n_query, n_key) each   mask: (n_query, n_key), True =
    may attend.   Token columns hold positions as `positions` writes them.
    """
    queries, keys = np.nonzero(mask)
    lines = np.array(positions(row_labels), object)[queries]
    columns = {"key": np.array(positions(column_labels), object)[keys]}
    columns |= {name: matrix[queries, keys] for name, matrix in matrices.items()}
    return columns_table(columns, lines, "query")


def columns_table(
    columns: Mapping[str, np.ndarray], index: Sequence[str], corner: str
) -> pd.DataFrame:
    """Columns by name, their lines named by `index`, which is headed `corner`."""
    import pandas as pd

    return pd.DataFrame(columns, index=pd.Index(index, name=corner))


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV (RFC 4180), numbers with seven digits, safe to open in a spreadsheet.

    A text that begins with = + - @ or an apostrophe is preceded by one apostrophe, because a
    spreadsheet would run it as a formula; labels with their position in front never need it.
    """
    import pandas as pd

    guarded = frame.rename(columns=_guard, index=_guard)
    guarded.index.name = _guard(frame.index.name)
    # map, not astype: a column may hold texts and numbers side by side.
    texts = [at for at, kind in enumerate(frame.dtypes) if not pd.api.types.is_numeric_dtype(kind)]
    for at in texts:
        guarded.isetitem(at, guarded.iloc[:, at].map(_guard))
    return guarded.to_csv(float_format="%.7g", lineterminator="\r\n")


def npz_bytes(arrays: Mapping[str, np.ndarray | Sequence[str]]) -> bytes:
    """Arrays as a compressed NPZ that loads without pickles: texts are stored as `<U` arrays."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **{name: _plain_array(value) for name, value in arrays.items()})
    return buffer.getvalue()


def source_of(what: Callable | type) -> tuple[str, str]:
    """Where a function or class stands ("model/attention.py, line 12") and its source text."""
    target = inspect.unwrap(what)
    source, line = inspect.getsourcelines(target)
    path = Path(inspect.getsourcefile(target) or "").resolve()
    place = path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else path.name
    return f"{place}, line {line}", dedent("".join(source))


# --- the contents of the popovers ---------------------------------------------------------------


def _show_table(frame: pd.DataFrame) -> None:
    import pandas as pd

    numbers = [name for name, kind in frame.dtypes.items() if pd.api.types.is_float_dtype(kind)]
    three_decimals = st.column_config.NumberColumn(format="%.3f", width=72)
    st.dataframe(
        frame,
        width=640,
        height=min(420, 36 * (len(frame) + 1)),
        column_config=dict.fromkeys(numbers, three_decimals),
        placeholder="",  # a masked cell is empty, as in the picture
        alt=f"The numbers of the picture: {len(frame)} rows, {len(frame.columns)} columns",
    )


def _show_export(
    key: str,
    picture: str,
    name: str,
    csv: Callable[[], pd.DataFrame],
    arrays: Callable[[], Mapping[str, np.ndarray | Sequence[str]]],
) -> None:
    def csv_file() -> bytes:
        # The byte order mark tells Excel that this is UTF-8.
        return csv_text(csv()).encode("utf-8-sig")

    def npz_file() -> bytes:
        return npz_bytes(arrays())

    st.text("Numbers")
    with st.container(horizontal=True, gap="small"):
        for kind, make, mime in (
            ("CSV", csv_file, "text/csv"),
            ("NPZ", npz_file, "application/octet-stream"),
        ):
            st.download_button(
                kind,
                make,
                file_name=f"{name}.{kind.lower()}",
                mime=mime,
                key=f"{key}-{kind.lower()}",
                on_click="ignore",
            )
    st.text("Picture, as it stands on the screen")
    picture_buttons(f"{key}-picture", picture=picture, filename=name)
    st.text(
        "In the CSV, a text that begins with = + - @ has an apostrophe before it, "
        "so that no spreadsheet runs it."
    )


def _show_code(code: Sequence[Callable | type]) -> None:
    for what in code:
        place, source = source_of(what)
        st.text(place)
        # Without colours: Streamlit's are too faint for its own background in both themes.
        st.code(source, language=None, wrap_lines=True, width=640)


def _show_link(key: str, link: str, text_travels: bool) -> None:
    field = f"{key}-address"
    # Set on each run: the address is shown, not kept, whatever a person typed over it.
    st.session_state[field] = link
    st.text_input("The address of this view", key=field, width=520)
    if not text_travels:
        st.text(
            f"The text is longer than {state.MAX_LINK_TEXT:,} characters of an address, so it does "
            "not travel: the link opens this view with the example text."
        )


def _guard(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return "'" + value
    return value


def _plain_array(value: np.ndarray | Sequence[str]) -> np.ndarray:
    array = np.asarray(value)
    return array.astype(np.str_) if array.dtype == object else array
