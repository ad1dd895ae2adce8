"""The sentence that says whether a query may attend to a key, and which part of the mask forbids it."""

from typing import Any

import pytest

from app.figures.mask_reasons import MaskReasons, combined_mask, forbidden_by, row_name
from tests.support.head_by_hand import axis
from transformer.analysis.batch_masks import mask_parts
from transformer.config import ModelConfig

CONFIG = ModelConfig(vocab_size=20, d_model=8, heads=2, attention_window=2)


@pytest.mark.parametrize(
    ("kind", "query", "key", "parts", "reason"),
    [
        ("decoder", 2, 1, [], "already been written. It is 1 position away, and the attention window"),
        ("decoder", 1, 0, [], "where every translation starts"),
        ("decoder", 2, 2, [], "the same position"),
        ("encoder", 0, 2, [], "before the encoder begins. It is 2 positions away, and the attention window"),
        ("decoder", 0, 2, ["causal"], "has not been written yet"),
        ("decoder", 4, 1, ["padding", "window"][1:], "3 positions away"),
        ("decoder", 2, 5, ["padding", "causal", "window"], "padding"),
        ("encoder", 5, 5, ["padding"], "padding, put there"),
        ("encoder", 0, 3, ["padding", "window"], "r = 2"),
        ("cross", 0, 2, [], "before the first token of the translation is written."),
        ("cross", 5, 3, ["padding"], "padding itself"),
    ],
)
def test_a_sentence_says_who_may_attend_to_whom_and_why_not(
    kind: Any, query: int, key: int, parts: list[str], reason: str
) -> None:
    source, target = (5, 6, 3, 0, 0, 0), (2, 5, 6, 7, 8, 0)
    found = mask_parts(CONFIG, source, target, kind)
    assert forbidden_by(found, query, key) == parts
    rows, columns = (source if kind == "encoder" else target), (target if kind == "decoder" else source)
    real = sum(id != 0 for id in rows)
    queries, keys = axis(len(rows), "encoder" if kind == "encoder" else "decoder"), axis(len(columns))
    text = MaskReasons(combined_mask(found), found, queries, keys, 2, real).of_cell(query, key)
    assert text.startswith(row_name(queries, query) + " may ")
    assert reason in text
    assert ("may not attend" in text) == bool(parts)
    assert ("padding itself" in text) == (query >= real)


def test_a_cell_that_an_edit_allows_or_forbids_is_not_explained_by_the_mask_of_the_paper() -> None:
    parts = mask_parts(CONFIG, (5, 6, 3), (2, 5, 6), "decoder")
    mask = combined_mask(parts).copy()
    mask[0, 2], mask[1, 0], mask[2] = True, False, False
    reasons = MaskReasons(mask, parts, axis(3, "decoder"), axis(3), window=2)
    assert reasons.of_cell(0, 2).endswith("An edit allows it.")
    assert "may attend" in reasons.of_cell(0, 2)
    assert "may not attend" in reasons.of_cell(1, 0)
    assert reasons.of_cell(1, 0).endswith("An edit forbids it.")
    assert "is fully masked" in reasons.of_cell(2, 2)


def test_a_fully_masked_row_is_named() -> None:
    parts = mask_parts(CONFIG, (5, 6, 3, 0, 0, 0), (2,), "encoder")
    reasons = MaskReasons(combined_mask(parts), parts, axis(6), axis(6), window=2)
    assert "is fully masked" in reasons.of_cell(5, 0)
    assert "is fully masked" not in reasons.of_cell(4, 0)
