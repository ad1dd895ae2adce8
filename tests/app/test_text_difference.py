"""The difference of two translations, word by word: words that are equal, changed, missing or added."""

from typing import Any

import pytest

from app.views.shared.text_difference import difference, difference_data, difference_table, words
from tests.support.decoding_figures import HOSTILE


def test_words_are_equal_changed_missing_or_added() -> None:
    found = difference("Wo ist der nächste Bahnhof hier?", "Wo ist die nächste Station?")
    assert found == [
        ("equal", "Wo ist", "Wo ist"),
        ("changed", "der", "die"),
        ("equal", "nächste", "nächste"),
        ("changed", "Bahnhof hier", "Station"),
        ("equal", "?", "?"),
    ]
    assert difference("a b", "a b c")[-1] == ("added", "", "c")
    assert difference("a b c", "a c")[1] == ("missing", "b", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's twenty-one.", ["It's", " twenty-one", "."]),
        ("", []),
        ("東京 is", ["東", "京", " is"]),
        ("<b>x</b>", ["<", "b", ">", "x", "<", "/", "b", ">"]),
    ],
)
def test_punctuation_and_letters_without_spaces_are_words_of_their_own(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("मैं हिन्दी बोलता हूँ।", ["मैं", " हिन्दी", " बोलता", " हूँ", "।"]),
        ("தமிழ் மொழி", ["தமிழ்", " மொழி"]),
        ("שָׁלוֹם, עוֹלָם", ["שָׁלוֹם", ",", " עוֹלָם"]),
        ("cafe\u0301 noir", ["cafe\u0301", " noir"]),
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("กั้น", ["กั้", "น"]),
        ("か\u3099", ["か\u3099"]),
    ],
)
def test_combining_marks_belong_to_the_character_before_them(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_changed_vowel_sign_of_hindi_changes_one_word() -> None:
    data = difference_data("वह हिन्दी बोलता है", "वह हिन्दी बोलती है", label="l")
    assert data["summary"] == "3 words equal, 1 changed, 0 missing, 0 added."


@pytest.mark.parametrize("text", ["Ja.", "a  b", HOSTILE, "", "_a_ $x$ :red[b]", "the the the"])
def test_nothing_of_either_text_is_lost(text: str) -> None:
    for reference in ("", "the a b", text):
        stretches = difference(reference, text)
        assert "".join(new for _, _, new in stretches).replace(" ", "") == text.replace(" ", "")
        assert "".join(old for _, old, _ in stretches).replace(" ", "") == reference.replace(" ", "")
        if text == reference:
            assert {what for what, _, _ in stretches} <= {"equal"}


def test_every_change_is_named_in_words_too() -> None:
    data: dict[str, Any] = difference_data("a b c", "a x c d", label="l")
    assert [stretch["mark"] for stretch in data["stretches"]] == ["", "changed", "", "+ added"]
    assert data["summary"] == "2 words equal, 1 changed, 0 missing, 1 added."
    assert str(difference_data("a", "a", label="l")["summary"]).startswith("1 word equal")
    assert list(difference_table("a b", "b", ("old", "new"))["old"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "found"),
    [("l'été, well-known", ["l'été", ",", " well-known"]), ("T-シャツ", ["T", "-", "シ", "ャ", "ツ"])],
)
def test_characters_of_scripts_without_spaces_are_words_also_after_a_hyphen(text: str, found: list[str]) -> None:
    assert words(text) == found
