"""Signs that a model guesses: names and numbers that are missing, improbable tokens."""

import math

import pytest

from transformer.analysis.guesses import certainty, missing_names, missing_numbers


def test_certainty_is_the_geometric_mean_of_the_probabilities() -> None:
    assert certainty([math.log(0.9), math.log(0.4)]) == pytest.approx(math.sqrt(0.9 * 0.4))


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("It cost 4711 euros in 1999.", "Es kostete 4711 Euro in 1998.", ["1999"]),
        ("I have 1,500 cows.", "Ich habe 1.500 Kühe.", []),
        ("I have 1,500 cows.", "J'ai 1 500 vaches.", []),
        ("J'ai 1 500 vaches.", "I have 1,500 cows.", []),
        ("En 2024 300 vaches", "300 cows in 2024", []),
        ("from 1990 to 2000", "1990 2000", []),
        ("Room 12, floor 3", "12 3", []),
        ("at 3:30", "um 3.30 Uhr", []),
        ("I have 2 dogs and 7 cats.", "Ich habe zwei Hunde und 8 Katzen.", ["7"]),
        ("7 and 7", "8", ["7"]),
        ("47", "4711", ["47"]),
    ],
)
def test_numbers_are_compared_whatever_separates_their_digits(source: str, target: str, missing: list[str]) -> None:
    assert missing_numbers(source, target) == missing


@pytest.mark.parametrize(
    ("source", "target", "missing"),
    [
        ("My friend Xylophilus lives in Boston.", "Mein Freund Xylo wohnt in Boston.", ["Xylophilus"]),
        ("We saw Mary's house on Monday.", "Wir haben am Montag Marys Haus gesehen.", []),
        ("I have been to Kyoto.", "Ich war in Kyōto.", []),
        ("Then I met Maria.", "Dann traf ich Marie.", []),
        ("Berta is here. Otto said: Come!", "Sie ist hier.", []),  # the first word has a capital anyway
        ("WE MET OTTO", "Wir trafen ihn", []),
        ("He works for NASA.", "Er arbeitet.", []),
        ("Tom said, 'Come here.'", "Tom sagte: „Komm her.“", []),
    ],
)
def test_names_may_be_adapted_but_not_replaced(source: str, target: str, missing: list[str]) -> None:
    assert missing_names(source, target, "en") == missing


def test_only_names_of_an_english_source_are_reported() -> None:
    assert missing_names("Ich sehe den Hund.", "I see the dog.", "de") == []
    assert missing_names("Nous vivons en Allemagne.", "We live in Germany.", "fr") == []
