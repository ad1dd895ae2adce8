"""Tables with numbers in the language of the visitor."""

import numpy as np
import pandas as pd
import pytest
from pandas.io.formats.style import Styler

from app.figures.tables import Table
from app.languages import speaking
from app.views.shared.number_tables import MOST_COLUMNS, readable

TABLE: Table = {
    "token": ["a", "b"],
    "p": np.array([0.5, 0.000012], np.float32),
    "rank": [1, 12345],
    "BLEU": [22.04, None],
}


def texts(shown: Styler) -> list[list[str]]:
    """What a reader sees in each row."""
    body = shown._translate(False, False)["body"]
    return [[str(cell["display_value"]) for cell in row[1:]] for row in body]


def test_an_english_table_is_left_to_streamlit() -> None:
    found = readable(TABLE)
    assert found["data"] is TABLE
    assert found["column_config"] is None
    assert set(readable(TABLE, {"BLEU": 1})["column_config"]) == {"BLEU"}


def test_a_german_table_shows_german_numbers_and_has_the_numbers_to_sort_by() -> None:
    with speaking("de"):
        found = readable(TABLE, {"BLEU": 1})["data"]
        assert texts(found) == [["a", "0,5", "1", "22,0"], ["b", "0,00001", "12345", "–"]]
    assert found.data["p"].dtype == np.float32


@pytest.mark.parametrize("rows", [1, 3])
def test_the_numbers_of_a_large_german_table_are_texts(rows: int) -> None:
    columns = {f"dimension {i}": np.full(rows, -0.25, np.float32) for i in range(MOST_COLUMNS + 1)}
    with speaking("de"):
        found = readable(columns)
    assert isinstance(found["data"], pd.DataFrame)
    assert set(found["data"].to_numpy().ravel()) == {"-0,25"}
    assert set(found["column_config"]) == set(columns)
