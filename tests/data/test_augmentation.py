"""Each change of a training pair: what it does, what it leaves alone, how often it is applied."""

import random
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from pydantic import ValidationError

from transformer.config import TokenizerConfig
from transformer.data.augmentation.augment import augmented
from transformer.data.augmentation.source_noise import mistyped
from transformer.data.corpus import Pair
from transformer.data.mix_options import Augmentation
from transformer.text.normalisation import normalise
from transformer.text.tokenizer import Tokenizer

PLAIN = [("The ship sails to Kiel.", "Das Schiff fährt nach Kiel."), ("Are you well?", "Geht es dir gut?")]


@cache
def tokenizer() -> Tokenizer:
    """It has "the" and "are", but neither "The" nor "Are"."""
    return Tokenizer.train(["the ship sails to Kiel, are you well?"] * 20, TokenizerConfig(vocab_size=300))


def changed(pairs: Sequence[Pair], seed: int = 0, **rates: Any) -> list[Pair]:
    return list(augmented(pairs, Augmentation(**rates), random.Random(seed), tokenizer()))


def test_capitals_and_lower_case_exclude_each_other() -> None:
    with pytest.raises(ValidationError, match="their sum must be at most 1"):
        Augmentation(capitals=0.8, lower_case=0.3)


def test_without_rates_nothing_is_changed() -> None:
    assert changed(PLAIN) == PLAIN
    assert not Augmentation().is_on
    assert Augmentation(typo=0.1).is_on


def test_the_same_seed_gives_the_same_changes_and_another_seed_others() -> None:
    pairs = PLAIN * 50
    rates: dict[str, Any] = {"typo": 0.5, "join": 0.3, "capitals": 0.2, "copy": 0.1}
    assert changed(pairs, 1, **rates) == changed(pairs, 1, **rates) != changed(pairs, 2, **rates)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ("capitals", ["THE SHIP SAILS TO KIEL.", "ARE YOU WELL?"]),
        ("lower_case", ["the ship sails to kiel.", "are you well?"]),
        ("no_final_mark", ["The ship sails to Kiel", "Are you well"]),
        ("first_word", ["the ship sails to Kiel.", "are you well?"]),
        ("copy", ["Das Schiff fährt nach Kiel.", "Geht es dir gut?"]),
    ],
)
def test_a_change_of_the_source_leaves_the_target(rate: str, expected: list[str]) -> None:
    found = changed(PLAIN, 0, **{rate: 1.0})
    assert [source for source, _ in found] == expected
    assert [target for _, target in found] == [target for _, target in PLAIN]


@pytest.mark.parametrize("rate", ["capitals", "lower_case", "no_final_mark", "copy", "join", "typo", "first_word"])
def test_a_change_is_applied_as_often_as_its_rate_says(rate: str) -> None:
    pairs = [(f"the ship number{number} sails.", f"Schiff{number}") for number in range(4000)]
    pairs = [(source.capitalize(), target) for source, target in pairs]
    found = changed(pairs, 0, **{rate: 0.3})
    share = sum(one != other for one, other in zip(pairs, found, strict=True)) / len(pairs)
    assert 0.26 < share < 0.34
    assert len(found) == len(pairs)


def test_an_ellipsis_and_a_lone_mark_keep_their_marks() -> None:
    pairs = [("Well...", "Nun ..."), ("!", "!")]
    assert changed(pairs, no_final_mark=1.0) == pairs


def test_joined_pairs_are_whole_pairs_in_the_same_order_on_both_sides() -> None:
    pairs = [(f"s{number}.", f"t{number}.") for number in range(50)]
    sizes = set()
    for source, target in changed(pairs, join=1.0):
        assert source.replace("s", "t") == target
        sizes.add(len(source.split()))
    assert sizes == {2, 3}
    assert [pair[0].split()[0] for pair in changed(pairs, join=1.0)] == [source for source, _ in pairs]


def test_no_pair_is_joined_with_itself() -> None:
    pairs = [("a.", "b."), ("c.", "d."), ("e.", "f.")]
    joined = [source.split() for seed in range(50) for source, _ in changed(pairs, seed, join=1.0)]
    assert {len(each) for each in joined} == {2, 3}
    assert not any(first in others for first, *others in joined)
    assert changed(pairs[:1], join=1.0) == pairs[:1]


def test_a_long_source_is_not_made_longer() -> None:
    long = [("word " * 60, "Wort " * 60)]
    assert changed(long, join=1.0) == long


# Typos


def distance(one: str, other: str) -> int:
    """Damerau's: letters inserted, left out, replaced, or two neighbours exchanged."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            row.append(min(row[-1] + 1, rows[-1][j] + 1, rows[-1][j - 1] + (a != b)))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                row[-1] = min(row[-1], rows[-2][j - 2] + 1)
        rows.append(row)
    return rows[-1][-1]


def test_a_typo_changes_one_letter_of_a_longer_word_and_not_its_first() -> None:
    kinds = set()
    for seed in range(300):
        source = mistyped("It was a quiet evening.", random.Random(seed))
        before, after = ["It", "was", "a", "quiet", "evening."], source.split()
        assert [distance(one, other) for one, other in zip(before, after, strict=True)].count(1) <= 1
        assert distance("It was a quiet evening.", source) <= 1
        assert after[:3] == ["It", "was", "a"]
        assert (after[3][0], after[4][0]) == ("q", "e")
        kinds.add(len(source) - len("It was a quiet evening."))
    assert kinds == {-1, 0, 1}


def test_a_text_without_longer_words_gets_no_typo() -> None:
    assert mistyped("I am 12345 :-)", random.Random(0)) == "I am 12345 :-)"


# Numbers


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+", text)


@pytest.mark.parametrize(
    ("rate", "pair"),
    [
        ("times", ("The train leaves at 7:45.", "Der Zug fährt um 7:45 Uhr ab.")),
        ("times", ("It is 19:05 now.", "Es ist jetzt 19.05 Uhr.")),
        ("prices", ("That is $12.50.", "Das macht 12,50 $.")),
        ("prices", ("It cost 3.99 euros.", "Es kostete 3,99 Euro.")),
        ("dates", ("She comes on March 5.", "Sie kommt am 5. März.")),
        ("dates", ("She comes on the 3rd of May.", "Sie kommt am 3. Mai.")),
        ("dates", ("We met on 14 July.", "Nous nous sommes vus le 14 juillet.")),
    ],
)
def test_digits_are_swapped_alike_on_both_sides_and_all_else_stays(rate: str, pair: Pair) -> None:
    seen = set()
    for seed in range(60):
        ((source, target),) = changed([pair], seed, **{rate: 1.0})
        assert numbers(source) == numbers(target)
        for before, after in zip(pair, (source, target), strict=True):
            assert re.sub(r"\d+(st|nd|rd|th)?", "#", after) == re.sub(r"\d+(st|nd|rd|th)?", "#", before)
        seen.add(source)
    assert len(seen) > 10


def test_times_are_times_and_days_are_days() -> None:
    for seed in range(200):
        ((source, _),) = changed([("At 7:45 and 22:10.", "Um 7:45 und 22:10.")], seed, times=1.0)
        for hour, minute in re.findall(r"(\d+):(\d\d)", source):
            assert 1 <= int(hour) <= 23
            assert int(minute) <= 59
        ((source, _),) = changed([("On May 2nd.", "Am 2. Mai.")], seed, dates=1.0)
        day, ending = re.findall(r"(\d+)(\w\w)", source)[0]
        assert 2 <= int(day) <= 28
        assert ending == {"2": "nd", "3": "rd", "22": "nd", "23": "rd", "21": "st"}.get(day, "th")


@pytest.mark.parametrize(
    "pair",
    [
        ("At 7:45.", "Um Viertel vor acht."),  # nothing to copy
        ("At 7:45 p.m.", "Um 19:45 Uhr."),  # another number
        ("From 7:45 to 7:45.", "Von 7:45 bis 7:45."),  # which is which?
        ("Version 1.2.50 is 12.5 MB.", "Version 1.2.50 hat 12,5 MB."),  # no prices
        ("May I have 5?", "Darf ich 5 haben?"),  # no date
        ("On March 1.", "Am 1. März."),  # in French 1er
        ("He won 25:70.", "Er gewann 25:70."),  # no time
    ],
)
def test_only_times_prices_and_dates_on_both_sides_are_changed(pair: Pair) -> None:
    for seed in range(20):
        assert changed([pair], seed, times=1.0, prices=1.0, dates=1.0) == [pair]


def test_a_target_that_is_copied_becomes_a_source_as_sources_are_read() -> None:
    ((source, target),) = changed([("He said no.", "Er sagte „nein“ – wirklich…")], 0, copy=1.0)
    assert (source, target) == (normalise(target), "Er sagte „nein“ – wirklich…")
    assert source != target
