"""The benchmark of sentences that are typed otherwise (tests/benchmarks/typed_otherwise.py)."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

from tests.benchmarks.typed_otherwise import in_twos, measured

PAIRS = [(f"The ship number {word} sails to Kiel today.", f"Das Schiff {word}.") for word in ("one", "two", "three")]


def test_each_change_is_scored_beside_the_same_sentences_as_they_are() -> None:
    """By a translator that copies, so BLEU tells how many n-grams each change leaves."""
    asked: list[list[str]] = []

    def translate(lines: Sequence[str]) -> list[Any]:
        asked.append(list(lines))
        return [SimpleNamespace(text=line) for line in lines]

    pairs = [(source, source) for source, _ in PAIRS]
    correcting = SimpleNamespace(translate=translate)
    as_typed = SimpleNamespace(translate=lambda lines: translate(["cut off"] * len(lines)))
    as_typed.correcting_spelling = lambda: correcting
    found = measured(cast(Any, as_typed), [*pairs, *pairs], 99)
    assert found.pop("with one typo, spelling not corrected") == (0, 0)
    assert list(found) == [
        "all in capitals",
        "without capitals",
        "without a final mark",
        "with one typo",
        "two in one line",
    ]
    assert all(round(plain) == 100 for _, plain in found.values())
    changed = {name: bleu for name, (bleu, _) in found.items()}
    assert changed["all in capitals"] < changed["without capitals"] < changed["without a final mark"] < 100
    assert changed["with one typo"] < 100
    assert round(changed["two in one line"]) == 100
    plain, capitals, small, unmarked, mistyped, twos = asked[:-2]
    assert plain == [source for source, _ in PAIRS]
    assert capitals[0] == "THE SHIP NUMBER ONE SAILS TO KIEL TODAY."
    assert small[0] == "the ship number one sails to kiel today."
    assert unmarked[0] == "The ship number one sails to Kiel today"
    assert all(one != other for one, other in zip(plain, mistyped, strict=True))
    assert twos == [f"{plain[0]} {plain[1]}"]


def test_a_line_that_is_left_alone_is_left_out() -> None:
    assert in_twos(["a", "b", "c"]) == ["a b"]
