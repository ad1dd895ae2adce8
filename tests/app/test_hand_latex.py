"""The formulas of the page Query, key, value: their numbers add up, and their digits are enough for a calculator."""

import math
import re

import numpy as np
import pytest

from app.figures.attention_stages import plain, short
from app.views.hand.arithmetic import ByHand
from app.views.hand.latex import TERMS, Writing, digits
from app.views.hand.numpy_snippet import numpy_snippet
from tests.support.head_by_hand import axis, case, printed


def test_a_query_that_may_attend_to_one_key_has_a_sum_over_1_key() -> None:
    hand, _ = case()
    alone = ByHand(hand.query, hand.keys, hand.values, np.arange(6) == 1, 1)
    assert "over 1 key}" in Writing(alone, 0).summary()
    assert "over 6 keys}" in Writing(ByHand(hand.query, hand.keys, hand.values, np.ones(6, bool), 1), 0).summary()


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.38041, "0.3804"), (12.3412, "12.34"), (-1.5, "-1.500"), (14923.4, "14{,}923"), (0.0, "0"), (1e-9, "10^{-9}")],
)
def test_numbers_are_written_with_four_digits(value: float, text: str) -> None:
    assert digits(value).endswith(text)
    assert digits(-np.inf) == r"-\infty"
    assert plain(-np.inf) == "−∞"
    assert plain(0.00001234) == "1.234×10⁻⁵"


def numbers(latex: str) -> list[float]:
    """All plain numbers in brackets: the factors, and the sum of the left-out terms."""
    bare = re.sub(r"\\textcolor\{#[0-9a-f]{6}\}\{([^{}]*)\}", r"\1", latex)
    return [float(found) for found in re.findall(r"\((-?[0-9.]+)\)", bare)]


def test_the_written_terms_and_the_sum_of_the_others_add_up_to_the_product() -> None:
    hand, _ = case(d_k=32)
    written = Writing(hand, 2).product()
    found = numbers(written)
    assert rf"\text{{and {32 - TERMS} more, together}}" in written
    pairs = [a * b for a, b in zip(found[:-1:2], found[1:-1:2], strict=True)]
    assert len(pairs) == TERMS
    assert sum(pairs) + found[-1] == pytest.approx(float(hand.products[1]), abs=0.01)
    assert [abs(pair) for pair in pairs] == pytest.approx(sorted(map(abs, pairs), reverse=True), abs=0.001)
    assert f"= {digits(float(hand.products[1]))}" in written


def test_all_terms_can_be_written_out() -> None:
    hand, _ = case(d_k=32)
    written = Writing(hand, 2, terms=None).product()
    assert "more, together" not in written
    assert len(numbers(written)) == 64


def test_the_exponentials_are_those_of_keys_that_may_be_attended_to() -> None:
    hand, _ = case(keys=6, seed=3)
    assert not hand.mask.all()
    written = Writing(hand, 2, terms=None).softmax()
    assert written.count(r"\underset") == hand.mask.sum()
    assert r"\infty" not in Writing(hand, 2).summary()
    forbidden = ByHand(hand.query, hand.keys, hand.values, hand.mask, int(np.flatnonzero(~hand.mask)[0]))
    assert r"-\infty" in Writing(forbidden, 2).summary()
    assert r"\mathbf{0}" in Writing(forbidden, 2).summary()


@pytest.mark.parametrize("scale", [1.0, 2.6, 30.0])  # scores around 1, 15 and (with the largest subtracted) 1,000
def test_a_calculator_gets_the_exponentials_that_are_written(scale: float) -> None:
    hand, _ = case(scale=scale)
    exponent, e = re.findall(r"e\^\{([-0-9. ]+)\} & = ([^&]+) &", Writing(hand, 2).summary())[0]
    mantissa, _, power = e.replace(" ", "").partition(r"\cdot10^")
    written = float(mantissa) * 10.0 ** int(power.strip("{}") or 0)
    assert math.exp(sum(float(part) for part in exponent.replace("- ", "-").split())) == pytest.approx(
        written, rel=3e-4
    )


def near_1(apart: float = 0.00005) -> ByHand:
    """Three keys, of which the first has all but `apart` of the weight."""
    keys = np.array([[10.0], [10.0 + math.log(apart / 2)], [10.0 + math.log(apart / 2)]], np.float32)
    return ByHand(np.ones(1, np.float32), keys, np.ones((3, 1), np.float32), np.ones(3, bool), 0)


@pytest.mark.parametrize("apart", [0.00005, 0.000001])
def test_a_weight_that_is_not_1_is_written_with_the_digits_that_say_so(apart: float) -> None:
    hand = near_1(apart)
    for latex in (Writing(hand, 0).summary(), Writing(hand, 0).softmax()):
        (weight,) = re.findall(r"\\mathbf\{([0-9.]+)\}", latex)
        assert float(weight) == pytest.approx(hand.weights[0], abs=apart / 10)
        assert float(weight) < 1
    e, total = (
        float(number.replace("{,}", ""))
        for number in re.findall(r"([0-9.{},]+) / ([0-9.{},]+) & = ", Writing(hand, 0).summary())[-1]
    )
    assert e / total == pytest.approx(hand.weights[0], abs=apart / 5)  # so a calculator gets it, too
    assert float(printed(numpy_snippet(hand, axis(1), axis(3), query=0, title="t"))["weight"]) == float(weight)
    assert plain(hand.weights[0]).startswith("0.99")
    assert short(hand.weights[0]) == ">0.99"


def test_each_factor_of_a_term_is_named_below_it() -> None:
    hand, _ = case(d_k=32)
    written = Writing(hand, 2).product()
    for i in hand.order[:TERMS]:
        for name in (f"q_{{3,{i}}}", f"k_{{{hand.chosen + 1},{i}}}"):
            assert re.search(
                rf"\\underset\{{\\textstyle \\textcolor\{{#[0-9a-f]+\}}\{{{re.escape(name)}\}}\}}", written
            ), name


def test_no_formula_holds_a_token() -> None:
    hand, _ = case()
    writing = Writing(hand, 1)
    for latex in (writing.summary(), writing.product(), writing.scale(), writing.mask(), writing.softmax()):
        assert "script" not in latex
        assert latex.count("{") == latex.count("}")
