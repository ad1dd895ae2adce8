"""How probabilities and weights are written: a share reads 0 or 1 only where it is exactly that."""

import random
import re

import pytest

from app.figures.shares import Share, decimal_text, probability_text, weight_text
from app.figures.theme import number

NEAR = random.Random(1)
APART = [10 ** -NEAR.uniform(0, 12) for _ in range(300)]
SHARES = [0.0, 1.0, 0.5, *APART, *(1 - each for each in APART)]


@pytest.mark.parametrize("share", [share for share in SHARES if 0 < share < 1])
def test_a_share_reads_1_only_where_it_is_1(share: float) -> None:
    texts = [
        *(probability_text(share, most, least) for most in (0, 1, 3) for least in (0, 1)),
        *(f"{100 * float(decimal_text(share, digits).lstrip('<>'))}%" for digits in (2, 3, 4)),
        f"{Share(share):.0%}",
        number(share) + "%",
    ]
    for text in texts:
        assert text.startswith(("<", ">")) or 0 < float(re.sub("×10.*", "", text[:-1])) < 100, text
    assert weight_text(share) not in ("1.0", "0", "")


def test_zero_and_one_are_written_as_such() -> None:
    assert [probability_text(share) for share in (0.0, 1.0)] == ["0%", "100%"]
    assert [decimal_text(share, 3) for share in (0.0, 1.0)] == ["0", "1"]
    assert weight_text(1.0) == "1.0"


@pytest.mark.parametrize(
    ("share", "most", "text"),
    [
        (0.99995, 3, "99.995%"),
        (0.99995, 1, ">99.9%"),
        (0.997, 1, "99.7%"),
        (1 - 1e-7, 3, ">99.999%"),
        (0.88, 3, "88%"),
        (0.997, 0, ">99%"),
        (0.031, 0, "3.1%"),
    ],
)
def test_near_100_per_cent_there_are_decimals(share: float, most: int, text: str) -> None:
    assert probability_text(share, most) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.99995, "0.99995"), (0.997, "0.997"), (0.42, "0.42"), (0.004, "<0.01"), (1 - 1e-7, ">0.99999")],
)
def test_near_1_there_are_more_decimals(share: float, text: str) -> None:
    assert decimal_text(share) == f"{Share(share):.2f}" == text


def test_a_share_in_a_text_is_a_number_otherwise() -> None:
    assert f"{Share(0.3):g}" == "0.3"
    assert f"{Share(0.31):.0%} {Share(0.031):.0%} {Share(0.9991):.1%}" == "31% 3% 99.9%"
    assert Share(0.25) + 0.5 == 0.75


def test_a_number_just_below_1_has_the_digits_that_distinguish_it() -> None:
    assert [number(value, 4) for value in (0.99995, 0.99999, 1.0, 0.38041)] == ["0.99995", "0.99999", "1.000", "0.3804"]
