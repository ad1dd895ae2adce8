"""The numbers of each head: largest weight, entropy, distance, sinks, alignment; and the table that ranks heads."""

import numpy as np
import pytest

from app.figures.head_numbers import head_numbers, head_roles
from app.figures.head_sharpness import carries_no_word
from app.views.attention.head_ranking import COLUMNS, head_ranking, ranking_table
from tests.support.small_attention import PIECES, softmax


def test_the_alignment_of_a_head_is_the_share_of_tokens_that_are_the_strongest_of_a_row() -> None:
    keys = ("▁The", "▁cat", "▁sat", ".", "</s>")
    diagonal, stuck = np.eye(5)[:4], np.tile(np.eye(5)[1], (4, 1))  # (Q, K)
    found = head_numbers(np.stack([diagonal, stuck])[None], keys, itself=False)["aligned"]
    assert found[0].tolist() == pytest.approx([1, 1 / 3])
    assert np.isnan(head_numbers(np.ones((1, 1, 1, 1)), ("</s>",), itself=False)["aligned"]).all()
    assert np.isnan(head_numbers(np.ones((1, 1, 1, 1)), ("a",), itself=True)["aligned"]).all()


@pytest.mark.parametrize("itself", [True, False])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_numbers_of_heads_are_what_their_definitions_say(itself: bool, length: int) -> None:
    columns = length if itself else length + 3
    weights = softmax((2, 3, length, columns), seed=length)
    keys = tuple(["▁a", ".", "▁b", "</s>", "▁c", ",", "▁d", "<s>"][:columns])
    found = head_numbers(weights, keys, itself)
    for i, j in np.ndindex(2, 3):
        rows = weights[i, j].astype(float)
        direct: dict[str, list[float]] = {column.name: [] for column in COLUMNS}
        for q, row in enumerate(rows):
            direct["strongest"].append(max(row))
            direct["entropy"].append(-sum(w * np.log2(w) for w in row if w > 0))
            place = q if itself else q * (columns - 1) / max(length - 1, 1)
            direct["distance"].append(sum(w * abs(k - place) for k, w in enumerate(row)))
            direct["sinks"].append(sum(w for w, key in zip(row, keys, strict=True) if carries_no_word(key)))
            if not itself:
                real = [k for k, key in enumerate(keys) if not carries_no_word(key)]
                direct["aligned"].append(float(np.mean([k in rows.argmax(axis=-1) for k in real])))
            if itself:
                direct["itself"].append(row[q])
                direct["previous"] += [row[q - 1]] if q > 0 else []
                direct["next"] += [row[q + 1]] if q < length - 1 else []
        for name, values in direct.items():
            if values:
                assert found[name][i, j] == pytest.approx(np.mean(values)), name
            else:
                assert np.isnan(found[name][i, j]), name


def test_a_head_with_one_pattern_has_the_number_of_that_pattern() -> None:
    staying, back = np.eye(5), np.eye(5, k=-1)
    back[0, 0] = 1
    found = head_numbers(np.stack([np.stack([staying, back])]), ("a", "b", "c", "d", "</s>"), itself=True)
    assert found["itself"][0].tolist() == [1, 0.2]
    assert found["previous"][0].tolist() == [0, 1]
    assert found["distance"][0] == pytest.approx([0, 0.8])
    assert found["entropy"][0].tolist() == [0, 0]
    assert found["sinks"][0] == pytest.approx([0.2, 0])


def test_the_job_of_a_head_is_where_most_of_its_weight_is() -> None:
    before, spread = np.eye(4, k=-1) * 0.8 + 0.05, np.full((4, 4), 0.25)
    resting, one = np.tile([0.1, 0.0, 0.0, 0.9], (4, 1)), np.tile([0.2, 0.7, 0.0, 0.1], (4, 1))
    found = head_roles(np.stack([before, spread, resting, one])[None], ("a", "▁b", "c", "</s>"), itself=True)
    assert found == [
        [
            "64% of its weight is on the token before",  # the first row has none
            "the largest weight of a row is 25% on average",
            "90% of its weight is on special tokens and punctuation",
            "70% of its weight is on “b”",
        ]
    ]


def test_the_table_of_heads_leaves_out_columns_without_information_and_has_no_nan() -> None:
    data = head_ranking(head_numbers(softmax((2, 3, 4, 6)), PIECES[:6], itself=False), 1, 2, "x")
    assert [column["title"] for column in data["columns"]] == ["strongest", "entropy", "distance", "sinks", "aligned"]
    assert data["chosen"] == 5
    assert [(row["layer"], row["head"]) for row in data["rows"]] == [(i, j) for i in (1, 2) for j in (1, 2, 3)]
    assert all(np.isfinite(value) for row in data["rows"] for value in row["values"])


def test_the_table_of_numbers_has_a_row_for_each_head() -> None:
    numbers = head_numbers(softmax((2, 3, 4, 4)), PIECES[:4], itself=True)
    table = ranking_table(numbers)
    assert (table["layer"][4], table["head"][4], table["entropy"][4]) == (2, 2, numbers["entropy"][1, 1])
