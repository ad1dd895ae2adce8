"""What the picture of the search tree is given: every candidate with its numbers, kept ones above pruned ones."""

import math

import numpy as np
import pytest

from app.figures.axes import TokenAxis
from app.figures.theme import score_text
from app.views.decoding.tree_data import attended_tokens, tree_picture, tree_rows, tree_table
from tests.support.decoding_figures import HOSTILE, TREE


def test_kept_candidates_are_above_the_others_in_a_column() -> None:
    assert tree_rows(TREE) == {0: 0, 1: 0, 2: 1, 3: 0, 4: 1}


def test_the_tree_draws_every_candidate_with_its_numbers() -> None:
    probabilities = [math.exp(node.log_probability) for node in TREE]
    data = tree_picture(TREE, {0, 1, 3}, 4, probabilities, title="t")
    assert [node["id"] for node in data["nodes"]] == [0, 1, 2, 3, 4]
    assert [node["best"] for node in data["nodes"]] == [True, True, False, True, False]
    assert data["nodes"][4]["numbers"] == "Σ −2.50 · −2.30"
    assert data["nodes"][4]["probability"] == "14%"
    assert data["nodes"][2]["sign"] == "✕"
    table = tree_table(TREE, probabilities, {0, 1, 3})
    assert list(table["sum"]) == [node.sum for node in TREE]
    assert list(table["why"])[1] == "Because."
    assert list(table["token"])[4] == HOSTILE


def test_the_pruned_can_be_left_out_but_never_the_chosen_one() -> None:
    data = tree_picture(TREE, {0, 1, 3}, 4, [1.0] * 5, title="t", pruned=False)
    assert [node["id"] for node in data["nodes"]] == [0, 1, 3, 4]


@pytest.mark.parametrize("score", [-0.0, -1e-9, -0.004])
def test_no_score_is_minus_zero(score: float) -> None:
    assert score_text(score) == "0.00"


def test_the_bars_under_the_source_are_the_attention_weights_of_the_node() -> None:
    source = TokenAxis("English", "encoder", ("▁e", HOSTILE))
    chips = attended_tokens(source, np.array([0.125, 0.875]), "l")["chips"]
    assert [chip["share"] for chip in chips] == [0.125, 0.875]
