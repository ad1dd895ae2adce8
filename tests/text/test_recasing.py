"""Sentences in capitals, or without any, get their usual case back; all other text stays as it is."""

from pathlib import Path
from typing import Any, Literal

import pytest

from transformer.checkpoint.checkpoint_file import TrainedModel, load_checkpoint, save_checkpoint
from transformer.config import DecodingConfig, TokenizerConfig
from transformer.decoding.request import SourceReader, reads_first_words
from transformer.decoding.translator import Translator
from transformer.text.recasing import NEARBY, recased, with_known_first_word
from transformer.text.tokenizer import Tokenizer

SHIPPED = Path(__file__).parents[2] / "pretrained"


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(SHIPPED / "de-en.safetensors")


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("WHERE IS THE STATION?", "Where is the station?"),
        ("where is the station?", "Where is the station?"),
        ("TOM AND I DON'T LIKE BOSTON.", "Tom and I don't like Boston."),
        ("tom and i don't like boston.", "Tom and I don't like Boston."),
        ("WIR FAHREN MIT DEM ZUG NACH HAUSE. KOMM MIT!", "Wir fahren mit dem Zug nach Hause. Komm mit!"),
        ("ich habe keine zeit.", "Ich habe keine Zeit."),
        ("ICH WEISS DAS NICHT, ABER WIR WISSEN ES.", "Ich weiß das nicht, aber wir wissen es."),
        ("the cat sees i and tom", "the cat sees I and Tom"),
        ("the cat of tom", "the cat of Tom"),
        ("THE CAT OF TOM", "The cat of Tom"),
        ("IT IS 7:45 P.M.", None),
    ],
)
def test_words_get_the_case_in_which_the_vocabulary_knows_them(
    typed: str, expected: str | None, translator: Translator
) -> None:
    found = recased(typed, translator.tokenizer)
    assert found.lower().replace("ß", "ss") == typed.lower().replace("ß", "ss")
    assert expected is None or found == expected


@pytest.mark.parametrize(
    "text", ["Where is the STATION?", "iPhone", "Tom", "", "7:45 + 3 = ?", "K F A Z", "k f a z", "你好吗", "?!"]
)
def test_text_with_its_case_and_text_without_words_stays(text: str, translator: Translator) -> None:
    assert recased(text, translator.tokenizer) == text


@pytest.mark.parametrize("name", ["reverse", "numbers"])
@pytest.mark.parametrize("text", ["forty-two", "ten", "where is anna?"])
def test_a_vocabulary_without_capitals_gets_none(name: str, text: str) -> None:
    assert recased(text, load_checkpoint(SHIPPED / f"{name}.safetensors").tokenizer) == text


@pytest.mark.parametrize("kind", ["unigram", "bpe"])
def test_both_kinds_of_vocabularies_serve(kind: Literal["unigram", "bpe"]) -> None:
    lines = ["the cat saw Anna", "Anna saw the cat", "a cat and Anna"] * 20
    tokenizer = Tokenizer.train(lines, TokenizerConfig(kind=kind, vocab_size=300))
    assert recased("THE CAT SAW ANNA", tokenizer).endswith(" cat saw Anna")
    assert recased("the cat saw anna", tokenizer).endswith(" cat saw Anna")


def test_recasing_twice_is_recasing_once(translator: Translator) -> None:
    for text in ("WHERE IS THE STATION?", "wir gehen mit anna nach hause", "DAS IST EIN TEST."):
        once = recased(text, translator.tokenizer)
        assert recased(once, translator.tokenizer) == once


@pytest.mark.parametrize("length", [3, 400])
def test_the_time_grows_with_the_length_of_a_text_and_not_with_its_square(length: int, translator: Translator) -> None:
    """What is read for a word is bounded: a line of a file may have a million characters."""
    read = 0

    class Counting(str):
        def __getitem__(self, at: Any) -> str:
            nonlocal read
            found = super().__getitem__(at)
            read += len(found)
            return found

    text = Counting("wir gehen nach hause. " * length)
    assert recased(text, translator.tokenizer).startswith("Wir gehen nach Hause. Wir gehen")
    assert read < 5 * length * NEARBY


# In the translator


def test_a_sentence_in_capitals_is_translated_as_the_plain_one_and_says_what_was_typed(translator: Translator) -> None:
    plain, capitals = translator.translate_sentences(["Ich habe keine Zeit.", "ICH HABE KEINE ZEIT."])
    assert capitals.source == plain.source == "Ich habe keine Zeit."
    assert (capitals.text, capitals.source_ids) == (plain.text, plain.source_ids)
    assert (plain.typed, capitals.typed) == ("", "ICH HABE KEINE ZEIT.")
    assert "".join(capitals.source[token.begin : token.end] for token in capitals.source_tokens) == capitals.source


def test_a_given_translation_is_scored_for_the_recased_sentence(translator: Translator) -> None:
    plain, capitals = (translator.score(one, "I have no time.") for one in ("Ich habe Zeit.", "ICH HABE ZEIT."))
    assert plain == capitals


def test_a_sentence_that_only_its_usual_case_makes_too_long_is_read_as_it_is() -> None:
    tokenizer = load_checkpoint(SHIPPED / "en-de.safetensors").tokenizer
    typed = "wrong columns give a warning before training."
    tokens = len(tokenizer.encode(typed))
    assert len(tokenizer.encode(recased(typed, tokenizer))) > tokens
    request = SourceReader(tokenizer, max_positions=tokens + 1).read(typed, DecodingConfig())
    assert (request.problem, request.source, request.typed) == (None, typed, "")


# The first word


@pytest.mark.parametrize(
    ("sentence", "read"),
    [
        ("Attention is all you need.", "attention is all you need."),
        ("Progress in Berlin is slow.", "progress in Berlin is slow."),
        ('"Progress is slow."', None),  # after a mark it is not one token in lower case either
        ("Where is the station?", None),  # one token with its capital
        ("Tom is here.", None),
        ("Wojciechowska is here.", None),  # not in the vocabulary at all
        ("ATTENTION is here.", None),
        ("I'm here.", None),
        ("7:45", None),
        ("", None),
    ],
)
def test_a_first_word_that_is_one_token_in_lower_case_only_is_read_so(sentence: str, read: str | None) -> None:
    tokenizer = load_checkpoint(SHIPPED / "en-de.safetensors").tokenizer
    assert with_known_first_word(sentence, tokenizer) == (read or sentence)


@pytest.mark.parametrize(
    ("typed", "lowered"),
    [
        ("Progress in berlin is slow.", True),
        ("Attention, i am in berlin.", True),
        ("PROGRESS IN BERLIN!", True),
        ("progress in berlin", False),  # not a sentence, so no capital is lost
        ("Hi.", False),
    ],
)
def test_what_is_read_is_read_again_as_it_is(typed: str, lowered: bool) -> None:
    reader = SourceReader(load_checkpoint(SHIPPED / "en-de.safetensors").tokenizer, 99, first_words=True)
    once = reader.read(typed, DecodingConfig())
    assert reader.read(once.source, DecodingConfig()).source == once.source
    assert once.lowered == lowered


def test_another_model_gets_the_capital_of_the_first_word_back(translator: Translator) -> None:
    """The target of a reverse model, for example, begins with a capital."""
    by = Translator(translator.model, translator.tokenizer, first_words=True)
    (found,) = by.translate_sentences(["Hast du Zeit?"])
    assert (found.source, found.sentence) == ("hast du Zeit?", "Hast du Zeit?")
    (plain,) = translator.translate_sentences(["vergiss mich, Tom"])
    assert plain.sentence == plain.source == "vergiss mich, Tom"


@pytest.mark.parametrize("typed", ["Attention, please.", "ATTENTION, PLEASE.", "attention, please."])
def test_a_model_that_has_learnt_first_words_in_lower_case_reads_them_so(typed: str, tmp_path: Path) -> None:
    whole = load_checkpoint(SHIPPED / "en-de.safetensors")
    recipe = {"data": {"augment": {"first_word": 0.5}}}
    save_checkpoint(tmp_path / "learnt.safetensors", TrainedModel(whole.model, whole.tokenizer, recipe))
    found = Translator.load(tmp_path / "learnt.safetensors").sources.read(typed, DecodingConfig())
    assert (found.source, found.typed) == ("attention, please.", typed if typed[0] == "A" else "")
    assert SourceReader(whole.tokenizer, 99).read(typed, DecodingConfig()).source == "Attention, please."


@pytest.mark.parametrize(
    "recipe", [None, {}, {"data": 1}, {"data": {"augment": None}}, {"data": {"augment": {"first_word": "yes"}}}]
)
def test_a_recipe_that_does_not_say_so_leaves_first_words_as_they_are(recipe: Any) -> None:
    assert not reads_first_words(recipe)
