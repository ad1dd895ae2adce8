"""A table of columns as CSV, with all digits: the same columns that the table twin of a picture shows."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from app.languages.numbers import formatted

Table = Mapping[str, Sequence[Any] | np.ndarray]


def columns_csv(table: Table) -> str:
    """One line per row. What could be a formula for a spreadsheet gets a space before it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow([_plain(name) for name in table])
    writer.writerows([_plain(cell) for cell in row] for row in zip(*table.values(), strict=True))
    return buffer.getvalue()


def for_reading(table: Table) -> dict[str, list[Any]]:
    """The table as the page shows it: whole numbers have separators at the thousands."""
    return {
        name: [formatted(cell, ",") if isinstance(cell, int | np.integer) else cell for cell in column]
        for name, column in table.items()
    }


def _plain(cell: Any) -> str:
    """As text that no spreadsheet takes for a formula; None is an empty cell."""
    text = "" if cell is None else str(cell)
    is_number = isinstance(cell, int | float | np.number)
    return f" {text}" if not is_number and text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
