"""What the decoding loop is given: the tokens read so far, their weights, and the sizes of the key-value cache."""

import numpy as np
import pytest

from app.figures.axes import TokenAxis
from app.views.decoding.loop_data import (
    DecodingStep,
    Sizes,
    bytes_text,
    cache_table,
    cached_numbers,
    loop_picture,
    weights_table,
)
from tests.support.decoding_figures import HOSTILE, writer

SIZES = Sizes(encoder_layers=2, layers=3, heads=4, d_model=32, d_k=8, vocabulary=100)


def test_the_cache_grows_by_one_row_a_step_in_every_layer_and_head() -> None:
    assert cached_numbers(SIZES, 1) == 2 * 3 * 4 * 8
    assert [cached_numbers(SIZES, t + 1) - cached_numbers(SIZES, t) for t in range(4)] == [192] * 4
    table = cache_table(writer("▁x", "▁y", "</s>"), 5, SIZES)
    assert list(table["bytes"]) == [768, 1536, 2304]
    assert list(table["bytes, once"]) == [4 * 192 * 5] * 3
    assert list(table["K and V of the output, each"])[1] == "3 × 4 × 2 × 8"


def test_the_loop_shows_what_was_read_and_not_what_is_to_come() -> None:
    source = TokenAxis("English", "encoder", ("▁e", "</s>"))
    step = DecodingStep(1, np.array([0.75, 0.25]), np.array([0.4, 0.6]), layer=0, head=1, probability=(0.5, 0.6))
    data = loop_picture(source, writer("▁x", "▁y", "</s>"), step, SIZES)
    assert data["output"]["tokens"] == ["<s>", "x"]
    assert data["output"]["weights"] == [0.4, 0.6]
    assert data["source"]["weights"] == [0.75, 0.25]
    assert "Layer 1, head 2 attends most to e of the source, with 0.75." in data["alt"]
    assert (data["own"]["filled"], data["own"]["room"], data["own"]["newest"]) == (2, 3, 1)
    assert (data["cross"]["filled"], data["cross"]["room"]) == (2, 2)
    assert (data["chosen"], data["probability"]) == ("y", "50.0%")
    assert not data["last"]


def test_the_weights_under_the_tokens_are_a_table_too() -> None:
    source = TokenAxis("English", "encoder", (HOSTILE, "</s>"))
    table = weights_table(source, writer("▁x", "▁y", "</s>"), np.array([0.75, 0.25]), np.array([0.4, 0.6]))
    assert list(table["token"]) == [HOSTILE, "</s>", "<s>", "▁x"]
    assert list(table["number"]) == [1, 2, 1, 2]
    assert list(table["weight"]) == [0.75, 0.25, 0.4, 0.6]
    assert [text[:7] for text in table["attention"]] == ["encoder", "encoder", "decoder", "decoder"]


@pytest.mark.parametrize(
    ("count", "text"),
    [(384, "384 B"), (98_304, "98.3 kB"), (999_499, "999 kB"), (999_500, "1 MB"), (1_572_864, "1.57 MB")],
)
def test_sizes_are_written_with_units(count: int, text: str) -> None:
    assert bytes_text(count) == text
