"""How a figure is sent to the browser."""

import base64
import json
from typing import Any

import numpy as np
import pytest

from app.components.chart import encode


def sent(value: object) -> Any:
    return json.loads(encode({"value": value}))["value"]


@pytest.mark.parametrize(
    ("value", "kind"), [(np.float32, "f4"), (np.float64, "f8"), (np.int16, "i2"), (np.int64, "f8"), (np.float16, "f4")]
)
def test_an_array_arrives_as_plotly_reads_it(value: type[np.generic], kind: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(value)
    spec = sent(array)
    assert (spec["dtype"], spec["shape"]) == (kind, "2, 3")
    assert np.frombuffer(base64.b64decode(spec["bdata"]), kind).reshape(2, 3).tolist() == array.tolist()
    assert "shape" not in sent(array[0])


def test_arrays_that_are_not_contiguous_keep_their_order() -> None:
    spec = sent(np.arange(6, dtype=np.float32).reshape(2, 3).T)
    assert np.frombuffer(base64.b64decode(spec["bdata"]), np.float32).tolist() == [0, 3, 1, 4, 2, 5]


def test_words_and_choices_arrive_as_lists() -> None:
    assert sent(np.array([["a", "</script>"]])) == [["a", "</script>"]]
    assert sent(np.array([True, False])) == [True, False]
    assert sent([np.float32(0.5), np.int64(3), None]) == [0.5, 3, None]


@pytest.mark.parametrize("gap", [np.nan, float("nan"), np.float32("inf"), -np.inf])
def test_a_value_that_is_not_finite_becomes_a_gap(gap: float) -> None:
    assert sent([1.0, gap]) == [1.0, None]
    assert sent({"a": (gap, np.array([1.0, gap], dtype=object))}) == {"a": [None, [1.0, None]]}
    spec = sent(np.array([1.0, gap], dtype=np.float32))  # an array can say it itself
    assert not np.isfinite(np.frombuffer(base64.b64decode(spec["bdata"]), np.float32)[1])


def test_anything_else_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="holds a set"):
        encode({"value": {1}})
