"""The length penalty and the length limit, in numbers worked out by hand."""

import pytest

from transformer.config import DecodingConfig
from transformer.decoding.length_penalty import length_limit, length_penalty


def test_length_penalties_have_the_values_worked_out_by_hand() -> None:
    paper = DecodingConfig(length_penalty="paper", alpha=0.6)
    assert length_penalty(1, paper) == 1.0  # (6/6)^0.6
    assert length_penalty(7, paper) == pytest.approx(1.5157165665)  # 2^0.6
    assert length_penalty(13, DecodingConfig(length_penalty="paper", alpha=2.0)) == pytest.approx(9.0)  # 3^2
    power = DecodingConfig(length_penalty="power", alpha=0.5)
    assert length_penalty(1, power) == 1.0
    assert length_penalty(9, power) == pytest.approx(3.0)
    assert length_penalty(9, DecodingConfig(length_penalty="none", alpha=0.5)) == 1.0


def test_the_length_limit_is_the_length_of_the_source_plus_the_extra_length_within_the_positions() -> None:
    settings = DecodingConfig(max_extra_length=50)
    assert length_limit(12, settings, max_positions=1024) == 62
    assert length_limit(12, settings, max_positions=40) == 40
