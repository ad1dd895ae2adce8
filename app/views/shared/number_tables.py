"""Tables that readers can sort by a column, with numbers as the visitor's language writes them.

Streamlit writes the numbers of a table in the English way. For another language it gets the numbers and, for each, a
text to show, so it still sorts by the numbers. This takes Streamlit 0.03 ms per cell and 3 ms per column, so a large
table has only the texts.
"""

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from app.figures.tables import Table
from app.languages.numbers import formatted, is_english, localised

Digits = Mapping[str, int]
USUAL = 4  # digits after the point; more for a number that would then have only zeros
MISSING = "–"
MOST_COLUMNS, MOST_CELLS = 24, 4000  # of a table that is sorted by its numbers


def readable(rows: Table | list[dict[str, Any]], digits: Digits | None = None) -> dict[str, Any]:
    """What `st.dataframe` takes for a table: its data, and how columns are shown.

    Args:
        digits: how many digits after the point the numbers of a column have; the others have as many as they need.
    """
    wanted = digits or {}
    if is_english():
        formats = {name: st.column_config.NumberColumn(format=f"%.{count}f") for name, count in wanted.items()}
        return {"data": rows, "column_config": formats or None}
    frame = pd.DataFrame(rows)
    texts: dict[str, Callable[[float], str]] = {
        name: partial(formatted, form=f".{wanted[name]}f") if name in wanted else _text
        for name in frame.select_dtypes("floating")
    }
    if len(frame.columns) <= MOST_COLUMNS and frame.size <= MOST_CELLS:
        shown = Styler(frame, uuid="numbers").format(texts, na_rep=MISSING)  # without uuid the name changes at each run
        return {"data": shown, "column_config": None}
    written = frame.assign(**{name: [text(each) for each in frame[name]] for name, text in texts.items()})
    return {"data": written, "column_config": dict.fromkeys(texts, st.column_config.TextColumn(alignment="right"))}


def _text(value: float) -> str:
    """A number with the digits that Streamlit shows: 0.1234, 2.5, 3, 0.00001."""
    if not math.isfinite(value):
        return ""
    digits = USUAL if value == 0 or abs(value) >= 10**-USUAL else -math.floor(math.log10(abs(value)))
    text = f"{value:.{digits}f}"  # at least one digit that is not 0 is kept
    return localised(text.rstrip("0").rstrip("."))
