"""Spelling: which word is taken, what stays as it is, and how the list of words is counted and stored."""

import random
import zlib

import pytest

from transformer.data.augmentation.source_noise import mistyped
from transformer.text import spelling
from transformer.text.spelling import LEAST, LONGEST, OTHER, WordList, changed_words, one_edit_candidates, word_list

TEXT = [
    *["Where is the nearest train station? The rain stops here."] * 60,
    *["I was born in Hamburg, from where the trains go. It isn't far, Anna."] * 40,
    *["We saw NASA and the form of mulch."] * 2,
    *["Das Mädchen liest ein grünes Buch, die Schule ist schön, die Füße und so groß."] * 40,
]


@pytest.fixture(scope="module")
def words() -> WordList:
    found = word_list(TEXT)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("Where is the nearst trian statoin?", "Where is the nearest train station?"),
        ("WHERE IS TEH STATOIN?", "WHERE IS THE STATION?"),
        ("where is hambrug", "where is hamburg"),  # the letter case is that of the sentence (recasing.py)
        ("I was in Hambrug", "I was in Hamburg"),
        ("I was in hambrug", "I was in Hamburg"),
        ("Hree is the train", "Here is the train"),
        ("Das Madchen ist schon", "Das Mädchen ist schön"),  # an accent that is missing is no rare typo
        ("It isnt far", "It isn't far"),
        ("Die Schule ist schoen", "Die Schule ist schön"),  # written out: there is no ö on the keyboard
        ("Das MAEDCHEN liest", "Das MAEDCHEN liest"),
        ("DAS MAEDCHEN LIEST", "DAS MÄDCHEN LIEST"),
        ("DIE FUESSE", "DIE FÜSSE"),  # Füße: capitals have no ß
        ("Die Fuesse und gross", "Die Füße und groß"),
        ("trian", "train"),
        ("teh trian", "teh trian"),  # most words are unknown
    ],
)
def test_an_unknown_word_becomes_the_known_word_that_was_meant(words: WordList, typed: str, expected: str) -> None:
    assert words.corrected(typed) == expected
    assert words.corrected(expected) == expected


@pytest.mark.parametrize(
    "typed",
    [
        "Where is the train?",
        "The form of the rain",  # "from" was meant, perhaps: it has no context
        "We saw mulhc",  # mulch is too rare to be what was meant
        "The NASE is here",  # an abbreviation
        "The xylophone",  # no known word is one edit away
        "it is hr",  # too short
        "The ttRain",  # a capital inside a word
        "Ou est le trian teh hree?",  # most words are unknown: another language
        "2nd </script> &nbsp; <b>",
        "The tr\u0301ain 🙂 日本語",
        "",
    ],
)
def test_what_stays_as_it_is(words: WordList, typed: str) -> None:
    assert words.corrected(typed) == typed


def test_words_that_differ_in_letter_case_only_are_not_changed() -> None:
    assert changed_words("THE STRASSE in hamburg", "The Straße in Hamburg") == []
    assert changed_words("Ich heisse anna", "Ich heiße Anna") == [("heisse", "heiße")]
    assert changed_words("ICH HEIS ANNA", "Ich heiße Anna") == [("HEIS", "heiße")]


def test_a_name_inside_a_sentence_needs_a_known_word_with_a_capital(words: WordList) -> None:
    assert words.corrected("I saw Annna") == "I saw Anna"
    assert words.corrected("I saw Staiton") == "I saw Staiton"  # "station" has a small letter
    assert words.corrected("Staiton is here") == "Station is here"  # the first word of a sentence


def test_of_several_words_the_most_probable_is_taken() -> None:
    counts = {"rain": 10 * OTHER, "ruin": 9, "main": 10 * OTHER}
    assert WordList(counts).corrected("rsin") == "rain"  # s is beside a on the keyboard
    assert WordList(counts).corrected("ruinn") == "ruin"  # typed twice is frequent, two edits are not tried
    assert WordList({"bottle": LEAST}).corrected("botttle") == "bottle"
    assert WordList({"bottle": LEAST - 1}).corrected("botttle") == "botttle"


def test_a_typo_has_the_factor_of_its_most_frequent_kind() -> None:
    found = one_edit_candidates("tehn", "ehnt")
    assert found["then"] == 1  # two letters exchanged
    assert "tehn" not in found
    assert found["teen"] > found["tehen"] == 1
    assert found["hehn"] >= spelling.AT_FIRST
    cyrillic, latin = one_edit_candidates("дрм", "о")["дом"], one_edit_candidates("drm", "o")["dom"]
    assert cyrillic == latin < one_edit_candidates("däm", "o")["dom"]


def test_the_first_word_of_a_sentence_counts_as_it_is_written_inside() -> None:
    found = word_list(["Rain falls. The rain in Spain. Spain has rain.", "Perhaps. I am, I was."])
    assert found is not None
    assert found.counts == {
        "rain": 3, "Spain": 2, "I": 2, "am": 1, "falls": 1, "has": 1, "in": 1, "perhaps": 1, "the": 1, "was": 1,
    }  # fmt: skip
    assert list(found.counts) == sorted(found.counts, key=lambda word: (-found.counts[word], word))
    assert word_list(["12 34", "?!"]) is None


def test_only_the_most_frequent_words_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spelling, "MOST_WORDS", 2)
    found = word_list(["a b b c c c"])
    assert found == WordList({"c": 3, "b": 2})


def test_very_long_words_are_neither_kept_nor_corrected(words: WordList) -> None:
    long = "x" * (LONGEST + 1)
    assert word_list([f"a {long}"]) == WordList({"a": 1})
    typed = f"the train{'n' * 1_000_000} is here"  # it would take hours
    assert words.corrected(typed) == typed


def test_a_name_is_not_read_as_a_word_with_an_apostrophe() -> None:
    known = WordList({"Tom's": 1000, "Anna": 100, "meets": 100, "isn't": 100})
    assert known.corrected("Anna meets Tomas") == "Anna meets Tomas"
    assert known.corrected("Anna isnt") == "Anna isn't"


def test_a_list_that_is_stored_is_read_again(words: WordList) -> None:
    assert WordList.from_bytes(words.to_bytes()) == words
    letters = WordList({"i\u0307st": 1, "ﬁ": 2, "ΔΣ": 3})  # words in lower case may have combining marks
    assert WordList.from_bytes(letters.to_bytes()) == letters


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"no zlib",
        zlib.compress(b"\xff\xfe 1\n"),
        zlib.compress(b"x train\n"),
        zlib.compress(b"1\n"),
        zlib.compress(b"1 two words\n"),
        zlib.compress(f"{'9' * 13} train\n".encode()),  # not a number that a float can hold, if it is long enough
        zlib.compress("1 no\u00a0break\n".encode()),
        zlib.compress(f"1 {'x' * (LONGEST + 1)}\n".encode()),
        zlib.compress(b"1 <b>\n"),
        zlib.compress(b"3 train\n")[:-3],
        zlib.compress(bytes(spelling.MOST_BYTES + 1)),
        zlib.compress(b"1 a\n" * (spelling.MOST_WORDS + 1)),
    ],
)
def test_a_damaged_list_is_refused(damaged: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        WordList.from_bytes(damaged)


def test_most_typos_of_a_text_are_corrected_and_nothing_else_is(words: WordList) -> None:
    rng = random.Random(0)
    sentences = [sentence for sentence in TEXT[:100] for _ in range(4)]
    typed = [mistyped(sentence, rng) for sentence in sentences]
    right = sum(words.corrected(each) == sentence for each, sentence in zip(typed, sentences, strict=True))
    assert right > 0.75 * len(sentences)
    assert all(words.corrected(sentence) == sentence for sentence in set(TEXT))
    assert all(words.corrected(once) == once for once in map(words.corrected, typed))
