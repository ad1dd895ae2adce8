"""Names and numbers are swapped on both sides alike, and nothing else is."""

import random
import re
from collections import Counter

import pytest

from transformer.data.augmentation.name_swapping import Names

PAIRS = [
    ("Tom lives in Boston.", "Tom wohnt in Boston."),
    ("In Boston it is cold, Mary.", "In Boston ist es kalt, Mary."),
    ("Hotel Mary has 25 rooms and 1 cat.", "Hotel Mary hat 25 Zimmer und 1 Katze."),
    ("The hotel is new.", "Das Hotel ist neu."),
    ("Tom saw Tom's cat.", "Tom sah Toms Katze."),
    ("Tom told Tom.", "Tom hat es Tom gesagt."),
    ("I read UNO and Go.", "Ich las UNO und Go."),
]


def swapped(rate: float = 1.0, seed: int = 0) -> list[tuple[str, str]]:
    return list(Names(PAIRS).swapped(PAIRS, rate, random.Random(seed)))


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_a_name_becomes_the_same_other_name_on_both_sides() -> None:
    for seed in range(20):
        source, target = swapped(seed=seed)[0]
        tom, lives, into, boston = words(source)
        assert (lives, into) == ("lives", "in")
        assert target == f"{tom} wohnt in {boston}."
        names = words(swapped(seed=seed)[5][0])
        assert names[0] == names[2]


def test_a_number_gets_as_many_other_digits() -> None:
    found = set()
    for seed in range(20):
        source, target = swapped(seed=seed)[2]
        number = words(source)[3]
        assert words(target)[3] == number
        assert len(number) == 2
        assert number[0] != "0"
        assert words(source)[6] == words(target)[6] == "1"  # of one thing there may be no two
        found.add(number)
    assert len(found) > 5


def test_a_number_longer_than_python_converts_is_not_changed() -> None:
    pairs = [("9" * 5000, "9" * 5000)]
    assert list(Names(pairs).swapped(pairs, 1.0, random.Random(0))) == pairs


def test_words_that_are_not_names_are_not_changed() -> None:
    """In lower case elsewhere, not equally often on both sides, all in capitals, or too short."""
    for seed in range(20):
        after = swapped(seed=seed)
        assert all(side.startswith("In ") for side in after[1])
        assert after[2][0].startswith("Hotel ")
        assert after[3:5] == PAIRS[3:5]
        assert after[6] == PAIRS[6]


def test_half_of_the_new_names_are_from_the_text_and_half_are_combinations() -> None:
    found = Counter(words(swapped(seed=seed)[0][0])[0] for seed in range(400))
    known = found["Tom"] + found["Boston"] + found["Mary"]
    assert 200 < known < 300  # one that is made of twice the same is of the text, too
    assert "Bosry" in found
    assert all(name[0].isupper() and name[1:].islower() for name in found)


@pytest.mark.parametrize("rate", [0.0, 0.3])
def test_the_rate_of_swaps_is_the_requested_one(rate: float) -> None:
    pairs = [(f"Go to {name}.", f"Geh nach {name}.") for name in ("Ada", "Berta", "Carl", "Dora", "Emil") * 400]
    after = Names(pairs).swapped(pairs, rate, random.Random(5))
    changed = sum(one != other for one, other in zip(pairs, after, strict=True)) / len(pairs)
    assert rate * 0.8 <= changed <= rate  # a name may be swapped for itself


def test_a_name_that_was_once_written_in_lower_case_is_still_a_name() -> None:
    for often, swapped in ((99, False), (100, True)):
        pairs = [("Ada met Tom.", "Ada traf Tom.")] * often + [("ada is here", "Sie ist da")]
        after = {word for pair in Names(pairs).swapped(pairs, 1.0, random.Random(0)) for word in words(pair[0])[:1]}
        assert (after > {"Ada", "ada"}) == swapped


def test_the_same_generator_gives_the_same_swaps() -> None:
    assert swapped(0.5, seed=3) == swapped(0.5, seed=3) != swapped(0.5, seed=4)


def test_a_text_without_names_is_not_changed() -> None:
    pairs = [("the cat", "die Katze"), ("", "")]
    assert list(Names(pairs).swapped(pairs, 1.0, random.Random(0))) == pairs
