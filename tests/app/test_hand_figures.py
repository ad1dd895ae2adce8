"""One head by hand: every intermediate is that of the tensors, and the pictures and the shapes are theirs."""

from typing import Any

import numpy as np
import pytest

from app.figures.attention_stages import short, stages_alt, stages_figure, stages_table
from app.views.hand.arithmetic import LARGEST_EXPONENT, ByHand, differences
from app.views.hand.hand_figures import row_stages, terms_figure, terms_table, values_figure
from app.views.hand.latex import Writing
from app.views.hand.matrix_products import matrix_products, products_table
from tests.support.drawn import checked
from tests.support.head_by_hand import NAMES, axis, case


@pytest.mark.parametrize("seed", range(4))
def test_every_intermediate_by_hand_is_the_tensors(seed: int) -> None:
    hand, (tensors, row) = case(seed=seed)
    for name in NAMES:
        np.testing.assert_allclose(getattr(hand, name), tensors[name][row], rtol=2e-5, atol=1e-6, err_msg=name)
    np.testing.assert_allclose(hand.context, tensors["context"][row], rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(hand.with_sum[:-1].sum(axis=0), hand.with_sum[-1], rtol=0, atol=1e-12)
    assert (hand.weights[~hand.mask] == 0).all()
    rows = differences(hand, tensors, row)
    assert [found["site"] for found in rows] == [*NAMES, "context"]
    assert all(float(found["largest difference in the row"]) < 1e-5 for found in rows)


def test_a_difference_shows_where_there_is_one() -> None:
    hand, (tensors, row) = case()
    wrong = tensors | {"weights": tensors["weights"] + np.float32(0.01)}
    found = {r["site"]: r["largest difference in the row"] for r in differences(hand, wrong, row)}
    assert float(found["weights"]) == pytest.approx(0.01, rel=1e-3)


def test_scores_too_large_for_an_exponential_give_the_tensors_weights() -> None:
    hand, (tensors, row) = case(scale=20.0)
    assert np.abs(hand.masked_scores[hand.mask]).max() > LARGEST_EXPONENT
    assert hand.subtracted
    np.testing.assert_allclose(hand.weights, tensors["weights"][row], rtol=1e-3, atol=1e-6)
    assert "- " in Writing(hand, 0).softmax()
    positive, negative = (np.full((6, len(hand.query)), size / np.abs(hand.query).sum()) for size in (1000, -1000))
    for keys, sign in ((positive, "- "), (negative, "+ ")):
        written = Writing(ByHand(np.abs(hand.query), keys, hand.values, hand.mask, 1), 0)
        assert f" {sign}" in written.softmax()
        assert "- -" not in written.softmax() + written.summary()
    assert row_stages(hand)[3].name == "e^(score − largest)"


def test_where_cells_are_narrow_their_numbers_are_short() -> None:
    values = (0.00022834, -16.13, 0.998, 1.2e-7, 9461.3, True, False, -np.inf, 0.0)
    texts = [short(value) for value in values]
    assert texts == ["0.0002", "−16", "0.998", "1×10⁻⁷", "9,461", "yes", "no", "−∞", "0"]
    assert max(map(len, texts)) <= 6
    hand, _ = case()
    figure = stages_figure(row_stages(hand), axis(len(hand.weights)), hand.mask, title="t")
    for trace in (each for each in figure.data if each.get("mode") == "text"):
        assert len(trace["meta"]["short"]) == len(trace["text"])
        assert trace["meta"]["columns"] == len(row_stages(hand))


@pytest.mark.parametrize(("queries", "keys", "d_k"), [(4, 6, 8), (1, 1, 1), (3, 60, 64)])
def test_the_pictures_draw_the_numbers(queries: int, keys: int, d_k: int) -> None:
    hand, _ = case(queries, keys, d_k)
    columns = axis(keys)
    terms = checked(terms_figure(hand, title="t"))
    assert np.array_equal(np.asarray(terms.data[2].y), hand.terms[hand.order].astype(np.float32))
    assert np.asarray(terms.data[3].y)[-1] == pytest.approx(hand.products[hand.chosen], rel=1e-5)
    assert np.array_equal(terms_table(hand)["dimension"], hand.order)
    values = checked(values_figure(hand, columns, title="t"))
    assert np.array_equal(np.asarray(values.data[0].z), hand.with_sum.astype(np.float32))
    assert len(values.layout.yaxis.ticktext) == len(columns) + 1
    stages = row_stages(hand)
    figure = checked(stages_figure(stages, columns, hand.mask, title="t", chosen=0))
    drawn = np.asarray(figure.data[0].z)[:, -1]
    assert np.array_equal(drawn[hand.mask], hand.weights[hand.mask].astype(np.float32))
    assert np.isnan(drawn[~hand.mask]).all()
    assert np.array_equal(~np.isnan(np.asarray(figure.data[1].z))[:, 2], ~hand.mask)
    assert figure.data[2].text[2 * len(columns) : 3 * len(columns)].count("−∞") == (~hand.mask).sum()
    assert np.array_equal(stages_table(stages, columns)["weight"], hand.weights)
    first = (
        f"t. The first 40 of {len(columns)} keys: 1 " if len(columns) > 40 else f"t. Each of {len(columns)} keys: 1 "
    )
    assert stages_alt(stages, columns, "t").startswith(first)


def test_hostile_tokens_are_drawn_letter_by_letter() -> None:
    hand, _ = case(6, 6)
    stages = checked(stages_figure(row_stages(hand), axis(6), hand.mask, title="<b>t</b>"))
    for text in (stages.layout.title.text, *stages.layout.yaxis.ticktext):
        assert "<img" not in text
        assert "<b>t" not in text


@pytest.mark.parametrize("kind", ["cross", "encoder", "decoder"])
def test_no_parameter_has_the_length_of_a_sentence_in_its_shape(kind: Any) -> None:
    products = matrix_products(kind)
    assert [each.b.shape for each in products if each.b.name.startswith("W")] == ["D × E"] * 3
    for a, b, c in ((each.a, each.b, each.c) for each in products):  # each is a product that can be taken
        assert a.columns == b.rows
        assert (c.rows, c.columns) == (a.rows, b.columns)


def test_in_cross_attention_queries_are_of_the_decoder_and_keys_of_the_encoder() -> None:
    table = products_table("cross", {"S": 7, "T": 5, "D": 32, "E": 8})
    assert table["product"][:2] == ["decoder's x · W^Q = Q", "encoder's output · W^K = K"]
    assert table["shapes"][:2] == ["(T × D) · (D × E) = T × E", "(S × D) · (D × E) = S × E"]
    assert table["numbers"][3] == "(5 × 8) · (8 × 7) = 5 × 7"
