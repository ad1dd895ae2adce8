"""A trace as a table: every number with the positions and the tokens that it belongs to."""

from typing import Any

import numpy as np
import pytest

from tests.support.small_decoding import small_translator
from transformer.analysis.trace import Trace
from transformer.config import DecodingConfig
from transformer.errors import TraceError

LAYER = "decoder.layers.0"


@pytest.fixture(scope="module")
def traced() -> Trace:
    found = small_translator(DecodingConfig(method="greedy", max_extra_length=4)).trace("The cat, the cat.")
    assert len(set(found.source_tokens)) < len(found.source_tokens) != len(found.target_tokens)
    return found


@pytest.mark.parametrize("name", ["cross_attention.weights", "self_attention.mask"])
def test_a_number_of_attention_stands_beside_its_head_query_and_key(traced: Trace, name: str) -> None:
    table = traced.to_frame(f"{LAYER}.{name}")
    assert list(table) == ["site", "head", "query", "query_token", "predicts", "key", "key_token", "value"]
    keys = traced.source_tokens if name.startswith("cross") else traced.target_tokens
    assert len(table) == traced[f"{LAYER}.{name}"].size
    rows: Any = table.to_dict("records")
    for row in rows:
        assert row["value"] == traced[f"{LAYER}.{name}"][row["head"], row["query"], row["key"]]
        assert (row["query_token"], row["predicts"]) == (
            traced.target_tokens[row["query"]],
            traced.predicts[row["query"]],
        )
        assert row["key_token"] == keys[row["key"]]


@pytest.mark.parametrize(
    ("site", "columns"),
    [
        ("encoder.layers.0.feed_forward.hidden", ["site", "position", "token", "dimension", "value"]),
        (f"{LAYER}.cross_attention.key", ["site", "head", "position", "token", "dimension", "value"]),
        (f"{LAYER}.cross_attention.query", ["site", "head", "position", "token", "predicts", "dimension", "value"]),
        (f"{LAYER}.cross_attention.output", ["site", "position", "token", "predicts", "dimension", "value"]),
        ("logits", ["site", "position", "token", "predicts", "id", "value"]),
    ],
)
def test_other_numbers_stand_beside_their_token(traced: Trace, site: str, columns: list[str]) -> None:
    table = traced.to_frame(site)
    assert list(table) == columns
    np.testing.assert_array_equal(table["value"].to_numpy().reshape(traced[site].shape), traced[site])
    tokens = traced.target_tokens if "predicts" in columns else traced.source_tokens
    assert list(table["token"]) == [tokens[position] for position in table["position"]]


def test_the_rows_of_every_site_fit_its_tokens(traced: Trace) -> None:
    for site, array in traced.arrays.items():
        assert len(traced.to_frame(site)) == array.size


def test_sites_alike_are_one_table_and_others_are_refused(traced: Trace) -> None:
    table = traced.to_frame("*.cross_attention.[vk]*")
    assert set(table["site"]) == {f"{LAYER}.cross_attention.key", f"{LAYER}.cross_attention.value"}
    with pytest.raises(TraceError, match="different axes"):
        traced.to_frame("*_attention.weights")
    with pytest.raises(TraceError, match=r"'logit' was not recorded"):
        traced.to_frame("logit")
