"""Normalisation of text: quotes, dashes and spaces, and what is left as it is."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transformer.text.normalisation import clean, normalise

CASES = [
    ("“Don’t,” she said.", '"Don\'t," she said.'),
    ("„Ach“, sagte er. «Non» ‚nein‘ ‹oui›", "\"Ach\", sagte er. \"Non\" 'nein' 'oui'"),
    ("1914–1918, a word—another, −5, well‑known", "1914-1918, a word - another, -5, well-known"),
    ("Wait…", "Wait..."),
    ("10\u00a0000\u202f€\u2009!", "10 000 € !"),
    ("  two\t\twords\r\n here\u2028and\x85there ", "two words here and there"),
    ("zero\u200bwidth so\u00adft bo\u2060om \ufeffx", "zerowidth soft boom x"),
    ("nul\x00 bell\x07 esc\x1b[0m del\x7f", "nul bell esc[0m del"),
    ("left\u200eright\u202emarks\u2069", "leftrightmarks"),
    ("Äpfel äußern ÖL Straße", "Äpfel äußern ÖL Straße"),
    ("A\u0308pfel cafe\u0301", "Äpfel café"),
    ("a▁b", "a_b"),
    ("half \ud83d sign", "half \ufffd sign"),
    ("½ ﬁ ² Ⅷ １２", "½ ﬁ ² Ⅷ １２"),
    ("", ""),
    (" \u200b\n", ""),
]


@pytest.mark.parametrize(("typed", "plain"), CASES)
def test_typed_text_is_normalised(typed: str, plain: str) -> None:
    assert normalise(typed) == plain


@pytest.mark.parametrize("text", ["👩‍👩‍👧", "🏳️‍🌈 e", "می‌خواهم", "क्‍ष", "❤️", "🇩🇪", "👍🏽"])
def test_joiners_within_emoji_and_words_are_kept(text: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("text", ["zero\u200djoiner", "a\u200c b", "\u200dx", "x\u200d\u200d", "😀\u200d x"])
def test_stray_joiners_are_removed(text: str) -> None:
    assert "\u200d" not in normalise(text)
    assert "\u200c" not in normalise(text)


def test_clean_keeps_typography() -> None:
    assert clean(" „Ach …“ –\u00a0so’n\u200b ") == "„Ach …“ – so’n"


@given(st.text(st.characters() | st.sampled_from("\u200d\u200c\u0301 \u00ad\ud800’—▁👩")))
@example("a\u200b\u0301")
@example("\u200d\u200b\u200d👩")
@example("\u0627\u200c\u2019")  # a joiner beside a quote that becomes plain
@example("\u0627\u200d\u212a")  # ... beside a Kelvin sign, which NFC makes a K
@example("क\u200c▁")
@example("e\u0301\u200d\u0301")  # ... beside an accent, which NFC makes part of a letter
@example("u\u200d\u0308\u200d\u0301\u200dक")  # ... between accents, which NFC combines when it is removed
@example("\u1ffd")  # an accent that NFC makes one that becomes plain
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    for function in (clean, normalise):
        once = function(text)
        assert function(once) == once
    assert clean(normalise(text)) == normalise(text) == normalise(clean(text))


@given(st.text(st.characters() | st.sampled_from("\u200b\u00ad\x00\t\u2028 ▁")))
def test_no_invisible_character_remains(text: str) -> None:
    plain = normalise(text)
    assert plain == unicodedata.normalize("NFC", plain) == " ".join(plain.split())
    assert not {"Cc", "Cs", "Zl", "Zp"} & {unicodedata.category(character) for character in plain}
    assert "▁" not in plain
    plain.encode()


@given(st.text(st.characters(categories=["L", "N", "So"], exclude_characters="▁")))
def test_letters_digits_and_emoji_are_never_changed(text: str) -> None:
    assert normalise(text) == unicodedata.normalize("NFC", text)
