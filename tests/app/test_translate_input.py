"""What is typed on the Translate page: empty lines, limits, odd words, several sentences, capitals."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_checkpoints import write_checkpoint
from tests.support.decoding_page import healthy
from tests.support.drawn import components, page_text
from tests.support.translate_page import Open, words
from transformer.checkpoint.checkpoint_file import load_checkpoint, save_checkpoint
from transformer.decoding.translator import Translator
from transformer.text.recasing import recased
from transformer.text.spelling import WordList


@pytest.mark.parametrize(
    ("empty", "message"),
    [
        ("", "Type a sentence above"),
        ("   ", "Type a sentence above"),
        ("\u200b\u200b", "There is nothing to translate"),
    ],
)
def test_an_empty_line_gets_an_error_message(open_translate: Open, empty: str, message: str) -> None:
    app = open_translate()
    app.text_input(key="sentence").set_value("the cat sat").run()
    app.text_input(key="sentence").set_value(empty).run()
    healthy(app)
    assert message in words(app)
    assert "Still shown: “the cat sat”" in words(app)
    assert components(app, "canvas_channel")


def test_without_a_sentence_and_without_examples_a_page_has_its_question_and_promises_no_examples(
    open_app: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(tmp_path / "fr-en.safetensors", source_language="fr", target_language="en")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = open_app("masks")
    healthy(app)
    assert app.title[0].value == "Why must no token attend to later ones?"
    assert "Type a sentence above and press Enter." in page_text(app)
    assert [each for each in app.get("page_link") if each.proto.label.startswith("Next")]


@pytest.mark.parametrize(
    ("text", "problem"),
    [("x" * 5000, "5,000 characters"), ("word " * 300, "tokens"), ("Hi there. " * 200, "sentences")],
)
def test_what_is_too_long_gets_an_error_message_with_the_number_and_the_limit(
    open_translate: Open, text: str, problem: str
) -> None:
    app = open_translate()
    app.text_input(key="sentence").set_value(text).run()
    healthy(app)
    assert problem in words(app)
    assert "Still shown: " in words(app)


def test_the_meter_writes_thousands_as_the_error_message_does(open_translate: Open) -> None:
    app = open_translate()
    app.text_input(key="sentence").set_value("a " * 1200).run()
    healthy(app)
    (used, *_) = components(app, "meter")[0]["text"].split()
    assert "," in used
    assert used in words(app)


@pytest.mark.parametrize("text", ["</script><img src=x onerror=alert(1)>", "_a_ $x$ :red[b]", "the the the", "🙂", "a"])
def test_odd_words_are_translated_and_drawn(open_translate: Open, text: str) -> None:
    app = open_translate()
    app.text_input(key="sentence").set_value(text).run()
    healthy(app)
    assert components(app, "canvas_channel")
    for markdown in (*app.markdown, *app.caption):
        assert "alert(1)" not in markdown.value
        assert ":red[b]" not in markdown.value


def test_several_sentences_are_all_translated_and_one_is_shown(open_translate: Open) -> None:
    app = open_translate(sentence="The cat sat on the mat. Where is the nearest train station?")
    healthy(app)
    line = components(app, "translation_line")[0]
    assert line["sentences"] == ["The cat sat on the mat.", "Where is the nearest train station?"]
    app.session_state["nth"] = 1
    app.run()
    assert components(app, "token_strip")[0]["chips"][0]["text"].startswith("▁Where"[:2])
    assert components(app, "translation_line")[0]["shown"] == 1


@pytest.mark.parametrize("page", ["compare", "whatif", "beside"])
def test_a_page_without_the_translation_has_the_buttons_of_the_sentences_beside_its_heading(
    open_translate: Open, page: str
) -> None:
    sentences = ["The cat sat on the mat.", "Where is the nearest train station?"]
    app = open_translate(page, sentence=" ".join(sentences))
    healthy(app)
    note = components(app, "translation_line")[0]
    assert (note["sentences"], note["shown"], note["tokens"]) == (sentences, 0, [])
    one = open_translate(page, sentence=sentences[0])
    healthy(one)
    assert not components(one, "translation_line")


@pytest.mark.parametrize("page", ["masks", "compare", "whatif", "beside"])
def test_a_sentence_in_capitals_is_read_with_another_case_and_every_page_says_so(
    open_translate: Open, folder: Path, page: str
) -> None:
    typed = "THE CAT SAT ON THE MAT."
    translator = Translator.load(folder / "en-de.safetensors")
    expected = recased(typed, translator.tokenizer)
    assert expected != typed
    app = open_translate(page, sentence=typed)
    assert components(app, "translation_line")[0]["mark"]["words"] == f"read as: {expected}"
    assert not components(app, "translation_line")[0]["mark"]["leaves"]
    plain = open_translate(page, sentence=expected)
    assert all(line["mark"]["words"] == "" for line in components(plain, "translation_line"))


KNOWN = WordList(dict.fromkeys(["the", "cat", "sat", "on", "mat", "where", "is", "station", "train"], 50))


@pytest.fixture
def open_with_words(open_app: Callable[..., AppTest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """The app with a checkpoint that corrects spelling; the details are open."""
    file = write_checkpoint(tmp_path / "en-de.safetensors")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    save_checkpoint(file, replace(load_checkpoint(file), words=KNOWN))
    return partial(open_app, details="true")


def mark_of(app: AppTest) -> dict[str, Any]:
    healthy(app)
    found: dict[str, Any] = components(app, "translation_line")[0]["mark"]
    return found


def tokens_of(app: AppTest) -> str:
    return "".join(chip["text"] for chip in components(app, "token_strip")[0]["chips"])


def test_an_unknown_word_is_read_as_a_known_one_unless_the_visitor_wants_it_as_typed(open_with_words: Open) -> None:
    typed, right = "The caat sat on the mat.", "The cat sat on the mat."
    app = open_with_words(sentence=typed)
    assert (mark_of(app)["words"], mark_of(app)["leaves"]) == ("caat → cat", True)
    assert f"“{right}”" in mark_of(app)["help"]
    plain = open_with_words(sentence=right)
    assert tokens_of(app) == tokens_of(plain)
    assert mark_of(plain)["words"] == ""
    as_typed = open_with_words(sentence=typed, as_typed="true")
    assert (mark_of(as_typed)["words"], mark_of(as_typed)["leaves"]) == ("as typed", True)
    assert "caat → cat" in mark_of(as_typed)["help"]
    assert tokens_of(as_typed) != tokens_of(app)
    as_typed.text_input(key="sentence").set_value("The cta is here").run()
    assert mark_of(as_typed)["words"] == "cta → cat"  # the choice belonged to the other text


def test_what_was_typed_in_capitals_has_a_way_back_to_the_correction(open_with_words: Open) -> None:
    app = open_with_words(sentence="WHERE IS TEH STATION?")
    assert mark_of(app)["words"] == "TEH → the"
    as_typed = open_with_words(sentence="WHERE IS TEH STATION?", as_typed="true")
    assert (mark_of(as_typed)["words"], mark_of(as_typed)["leaves"]) == ("as typed", True)


def test_each_sentence_of_a_text_can_be_shown_as_typed(open_with_words: Open) -> None:
    app = open_with_words(sentence="The caat sat. The cat is on teh mat.", nth="2", as_typed="true")
    assert mark_of(app)["words"] == "as typed"
    assert components(app, "translation_line")[0]["shown"] == 1
    assert "teh → the" in mark_of(app)["help"]


def test_the_choice_stays_with_the_text_and_the_shown_sentence_with_the_choice() -> None:
    def script() -> None:
        import streamlit as st

        from app.state.choices import AS_TYPED, SHOWN_SENTENCE
        from app.state.events import read_as_typed, show_sentence, take_sentence

        show_sentence(1)
        read_as_typed(True)
        st.text(f"{SHOWN_SENTENCE.value} {AS_TYPED.value}")
        show_sentence(0)
        st.text(f"{SHOWN_SENTENCE.value} {AS_TYPED.value}")
        take_sentence("The cat sat.")
        st.text(f"{SHOWN_SENTENCE.value} {AS_TYPED.value}")

    run = AppTest.from_function(script).run()
    assert [text.value for text in run.text] == ["1 True", "0 True", "0 False"]
