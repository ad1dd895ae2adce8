"""Which translator reads what a visitor types."""

import pytest

from app.compute.cached_results import translate
from app.compute.subject import Subject
from app.compute.typed_text import reader
from app.library.checkpoints import checkpoints

GERMAN = ("Das ist gut.", "Wo bist du?", "Ich habe keine Zeit.", "Wann kommt der nächste Zug?")
ENGLISH = ("That is good.", "Where are you?", "I have no time.", "When does the next train come?")


def read(subject: Subject, sentence: str) -> str:
    """What the model reads of a sentence, in the letter case of the sentence."""
    found = reader(subject)
    assert found.sources.words is not None
    return found.sources._corrected(sentence)


@pytest.mark.parametrize(("name", "own", "other"), [("en-de", ENGLISH, GERMAN), ("de-en", GERMAN, ENGLISH)])
def test_a_sentence_in_another_language_is_not_corrected(
    monkeypatch: pytest.MonkeyPatch, name: str, own: tuple[str, ...], other: tuple[str, ...]
) -> None:
    monkeypatch.delenv("HEADLIGHT_CHECKPOINTS", raising=False)
    subject = Subject(checkpoints()[name])
    words = subject.translator.correcting_spelling().sources.words
    assert words is not None
    assert any(words.corrected(sentence) != sentence for sentence in other)  # so it matters
    assert all(words.corrected(sentence) == sentence for sentence in own)
    for sentence in (*own, *other):
        assert read(subject, sentence) == sentence


def test_a_sentence_is_corrected_beside_one_in_another_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_CHECKPOINTS", raising=False)
    subject = Subject(checkpoints()["en-de"])
    found = translate(subject, "Das ist gut. Where is teh house?", subject.translator.settings, correct_spelling=True)
    assert [each.source for each in found.sentences] == ["Das ist gut.", "Where is the house?"]


def test_what_shipped_models_make_of_typed_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_CHECKPOINTS", raising=False)
    typed = {
        "en-de": {
            "Where is the nearst trian station?": "Where is the nearest train station?",
            "I live in Hambrug.": "I live in Hamburg.",
            "My freind's name is Yusuf.": "My friend's name is Yusuf.",
            "Sofia and Marek met Dr. Nguyen in Kyiv.": "Sofia and Marek met Dr. Nguyen in Kyiv.",
        },
        "de-en": {
            "Das ist ein schoenes Maedchen.": "Das ist ein schönes Mädchen.",
            "Wir koennen ueber die Bruecke gehen.": "Wir können über die Brücke gehen.",
            "MEINE FÜSSE TUN WEH": "MEINE FÜSSE TUN WEH",
            "Ich muss mir die Haare kämmen.": "Ich muss mir die Haare kämmen.",
        },
        "en-fr": {"Where is teh station?": "Where is the station?"},
    }
    for name, sentences in typed.items():
        subject = Subject(checkpoints()[name])
        for sentence, expected in sentences.items():
            assert read(subject, sentence) == read(subject, expected) == expected
