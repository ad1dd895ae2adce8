"""What the page Scaling and softmax computes and draws without a model: softmax, random products, scores, costs."""

import numpy as np
import pytest
import torch

from app.figures.softmax import softmax
from app.figures.theme import number
from app.views.scaling.additive import additive_scores, costs, operations, weights
from app.views.scaling.comparisons import THRESHOLDS, count, count_table, share_curves, shares_above
from app.views.scaling.large_scores import (
    CANDIDATES,
    KEYS,
    QUERIES,
    SEED,
    SLIDER_WIDTHS,
    WIDTHS,
    growing_products,
    jacobian_norms,
    most_changed,
    random_products,
    random_sharpness,
    sharpness,
)
from app.views.scaling.scaling_charts import WITH, WITHOUT, curve, curve_table, histograms
from tests.support.drawn import checked
from transformer.model.attention import attend
from transformer.model.probe import Probe


def test_the_softmax_is_that_of_torch_and_a_fully_masked_row_is_zero() -> None:
    random = np.random.default_rng(0)
    scores, mask = 5 * random.normal(size=(6, 9)), random.random((6, 9)) < 0.6
    mask[2] = False
    wanted = torch.tensor(np.where(mask, scores, -np.inf)).softmax(-1).nan_to_num(0.0).numpy()
    assert np.allclose(softmax(scores, mask), wanted, atol=1e-14)
    assert np.isfinite(softmax(np.array([1e4, -1e4, 0.0]))).all()


def test_the_norm_of_the_jacobian_is_that_of_automatic_differentiation() -> None:
    scores = torch.tensor(np.random.default_rng(1).normal(size=(4, 7)), dtype=torch.float64)
    found = jacobian_norms(scores.softmax(-1).numpy())
    for row, norm in zip(scores, found, strict=True):
        jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), row)
        assert norm == pytest.approx(float(jacobian.norm()), rel=1e-10)
    assert jacobian_norms(np.array([[1.0, 0.0, 0.0]]))[0] == 0


@pytest.mark.parametrize("d_k", [4, 64, 512])
def test_random_products_have_variance_d_k_and_the_division_makes_it_one(d_k: int) -> None:
    products = random_products(d_k)
    assert products.shape == (QUERIES, KEYS)
    without, divided = random_sharpness(d_k)
    assert without.variance == pytest.approx(products.var())
    assert without.variance == pytest.approx(d_k, rel=0.2)
    assert divided.variance == pytest.approx(1, rel=0.2)
    assert np.array_equal(products, random_products.__wrapped__(d_k))  # drawn again from the same seed


def test_without_the_division_the_softmax_saturates_and_its_gradient_vanishes() -> None:
    narrow, wide = random_sharpness(4), random_sharpness(1024)
    assert wide[0].strongest > 0.9 > narrow[0].strongest > narrow[1].strongest
    assert wide[0].gradient < 0.5 * narrow[0].gradient
    assert wide[1].strongest == pytest.approx(narrow[1].strongest, abs=0.05)
    assert wide[1].gradient == pytest.approx(narrow[1].gradient, rel=0.15)


def test_the_word_that_is_shown_first_is_the_one_whose_weights_the_division_changes_most() -> None:
    products = np.array([[0.0, 1, 0], [90, 0, 0], [0, 6, 0], [0, 0, 7]])  # saturated with and without it: row 1
    assert most_changed(products, np.ones((4, 3), dtype=bool), 16) == 2
    assert most_changed(products[:1], np.ones((1, 3), dtype=bool), 16) == 0
    mask = np.array([[True, True, True], [True, True, True], [False, True, False], [True, True, True]])
    assert most_changed(products, mask, 16) == 0  # row 2 has one key


def test_additive_scores_are_those_of_the_formula_with_the_variance_asked_for() -> None:
    random = np.random.default_rng(2)
    query, key = random.normal(size=(3, 5)), random.normal(size=(4, 5))
    first, second, v = weights(5)
    wanted = np.array([[v @ np.tanh(first @ q + second @ k) for k in key] for q in query])
    found = additive_scores(query, key, np.ones((3, 4), dtype=bool), 2.5)
    assert np.allclose(found / found[0, 0], wanted / wanted[0, 0])
    assert found.var() == pytest.approx(2.5)
    assert np.isfinite(additive_scores(query[:1], key[:1], np.ones((1, 1), dtype=bool), 0.0)).all()


def test_operations_are_those_of_counting_them_one_by_one() -> None:
    q, k, e = 2, 3, 4
    dot = {"*": 0, "+": 0, "/": 0}
    add = {"*": 0, "+": 0, "tanh": 0}
    for _ in range(q * k):
        dot["*"] += e
        dot["+"] += e - 1
        dot["/"] += 1
        add["+"] += e + (e - 1)  # W_1 q + W_2 k, and within v . (...)
        add["tanh"] += e
        add["*"] += e
    table = costs(q, k, e)
    assert table["dot product"][:4] == [dot["*"], dot["+"], dot["/"], 0]
    assert table["additive"][:4] == [add["*"], add["+"], 0, add["tanh"]]
    assert operations(q, k, e) == (sum(dot.values()), sum(add.values()))


def test_comparisons_are_counted_cell_by_cell() -> None:
    values = softmax(2 * np.random.default_rng(3).normal(size=(2, 3, 4, 4)), np.tril(np.ones((4, 4), dtype=bool)))
    mask = np.broadcast_to(np.tril(np.ones((4, 4), dtype=bool)), values.shape)
    found = count(values, mask, 0.25)
    assert found.cells == 2 * 3 * 16
    assert found.allowed == 2 * 3 * 10
    assert found.above == sum(v > 0.25 for v in values.ravel())
    assert found.mass == pytest.approx(values[values > 0.25].sum() / values.sum())
    table = count_table({"decoder": found}, 0.25)
    assert table["comparisons"] == [96, 96]
    shares = shares_above(values[mask])
    for threshold, share in zip(THRESHOLDS[::20], shares[::20], strict=True):
        assert share == pytest.approx((values[mask] > threshold).mean())
    assert shares_above(np.array([])).tolist() == [0] * len(THRESHOLDS)


def test_histograms_hold_every_score_and_name_the_variance() -> None:
    scores = np.random.default_rng(4).normal(size=500)
    figure = checked(histograms(8 * scores, scores, title="t"))
    assert [float(np.sum(bar.y)) for bar in figure.data] == pytest.approx([1, 1])
    assert figure.data[0].name == f"{WITHOUT}: variance {number(float((8 * scores).var()))}"
    assert figure.data[1].name.startswith(WITH)
    assert list(figure.data[0].x) == list(figure.data[1].x)


@pytest.mark.parametrize("what", ["variance", "strongest", "gradient"])
def test_a_curve_passes_through_the_chosen_width_even_if_it_is_not_a_power_of_two(what: str) -> None:
    figure = checked(curve(what, 48, title="t"))
    for second, line in enumerate(figure.data[::2]):
        assert list(line.x) == sorted({*WIDTHS, 48})
        wanted = [getattr(random_sharpness(width)[second], what) for width in line.x]
        assert np.allclose(line.y, wanted)
    assert figure.data[1].y[0] == pytest.approx(getattr(random_sharpness(48)[0], what))
    assert curve_table(48)["d_k"] == sorted({*WIDTHS, 48})


def test_the_curves_start_at_all_cells_and_end_at_none() -> None:
    values = softmax(np.random.default_rng(7).normal(size=(1, 2, 5, 6)))
    figure = checked(share_curves({"cross": values}, {"cross": np.ones(values.shape, dtype=bool)}, 0.01))
    assert (figure.data[0].y[0], figure.data[0].y[-1]) == (1, 0)


def test_the_sites_are_those_of_equation_one() -> None:
    torch.manual_seed(0)
    query, key, value = (torch.randn(1, 2, 5, 8, dtype=torch.float64) for _ in range(3))
    probe = Probe(["products", "scores", "mask", "masked_scores", "weights"], ["*"])
    attend(query, key, value, None, probe)
    products, scores, weights = (probe.records[name][0, 0].numpy() for name in ("products", "scores", "weights"))
    assert np.allclose(products, query[0, 0].numpy() @ key[0, 0].numpy().T)
    assert np.allclose(scores, products / np.sqrt(8))
    assert np.allclose(weights, softmax(scores))
    assert sharpness(scores).variance == pytest.approx(sharpness(products).variance / 8)


def test_the_growing_query_adds_terms_to_the_same_sums() -> None:
    products = growing_products((1, 2, 64))
    random = np.random.default_rng(SEED)
    query = random.standard_normal((CANDIDATES, 1, 64))
    key = random.standard_normal((CANDIDATES, KEYS, 64))
    first = (query * key)[..., 0]  # (CANDIDATES, KEYS)
    (chosen,) = np.flatnonzero(np.isclose(first, products[0]).all(axis=1))
    assert np.allclose(products[1], (query * key)[chosen, :, :2].sum(axis=-1))
    assert np.allclose(products[2], (query * key)[chosen].sum(axis=-1))


def test_the_growing_query_is_as_sharp_as_most() -> None:
    products, roots = growing_products(SLIDER_WIDTHS), np.sqrt(SLIDER_WIDTHS)[:, None]
    for divisor in (np.ones_like(roots), roots):
        shown = softmax(products / divisor).max(axis=-1)
        usual = [
            np.median(softmax(random_products(width) / root).max(axis=-1))
            for width, root in zip(SLIDER_WIDTHS, divisor[:, 0], strict=True)
        ]
        assert np.abs(shown - usual).mean() < 0.1
