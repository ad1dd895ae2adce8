"""Which source token the pages follow at first."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from app.stage import followed


@pytest.mark.parametrize(
    ("weights", "expected"),
    [
        ({"▁cat": 0.6, "▁garden": 0.5, "▁violets": 0.4}, "▁garden"),  # the longest of those with 0.5
        ({"▁cat": 0.4, "▁garden": 0.3}, "▁cat"),  # none has 0.5: the largest
        ({".": 0.9, "▁cat": 0.2, "▁garden": 0.3}, "▁garden"),  # a full stop is no word
        ({"▁1984": 0.9, "▁cat": 0.2}, "▁1984"),  # a number has no letters, but it gets most
        ({"▁cat": 0.0, ".": 0.9, "</s>": 0.1}, "▁cat"),
        ({"</s>": 0.4, ".": 0.9}, "."),  # nothing else
    ],
)
def test_pages_open_with_a_clear_word_or_with_the_token_that_gets_most(
    weights: dict[str, float], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = tuple(weights)
    scene: Any = SimpleNamespace(source=SimpleNamespace(tokens=tokens))
    monkeypatch.setattr(followed, "_weights", lambda scene: np.array([[*weights.values()], [0.0] * len(tokens)]))
    assert tokens[followed.opening_token(scene)] == expected
