"""The line that says when the model guesses: of the included checkpoints, as a visitor sees it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.compute import doctor_findings, reverse_choice
from app.library.vocabularies import language_of, reader_of, vocabularies
from app.stage import frame, guess_line
from app.stage.preferred_line import TITLE
from tests.support.pages import MAIN, switch_page
from tests.support.patience import PATIENCE
from transformer.analysis.doctor import Finding

SHIPPED = MAIN.parents[1] / "pretrained"
Open = Callable[..., AppTest]
CHANGED = "The serial number is 8800913577."  # the number loses a digit in the translation
SHORTER = "The order number is 2844862."  # the same, and the other direction prefers a translation that has it


@pytest.fixture
def open_page(monkeypatch: pytest.MonkeyPatch) -> Open:
    """Opens a page of the app on the included checkpoints."""
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    st.cache_data.clear()
    st.cache_resource.clear()

    def opened(sentence: str, checkpoint: str = "en-de", **session: object) -> AppTest:
        app = AppTest.from_file(str(MAIN), default_timeout=PATIENCE)
        switch_page(app, "residual")
        app.query_params["sentence"], app.query_params["checkpoint"] = sentence, checkpoint
        for name, value in session.items():
            app.session_state[name] = value
        app.run()
        assert not app.exception, app.exception[0].message
        return app

    return opened


def shown_texts(app: AppTest) -> list[str]:
    return [text.value for text in app.text]


def lines(app: AppTest) -> int:
    return sum(block.proto.popover.label == "Why?" for block in app.get("popover"))


@pytest.mark.parametrize("sentence", ["Where is the nearest train station?", "I was looking for my glasses."])
def test_nothing_is_said_where_the_model_knows_its_words(open_page: Open, sentence: str) -> None:
    assert lines(open_page(sentence)) == 0


def test_a_german_sentence_is_offered_the_checkpoint_that_reads_it(open_page: Open) -> None:
    app = open_page("Wo ist der nächste Bahnhof, bitte?")
    assert "This looks like German" in shown_texts(app)
    assert lines(app) == 1
    assert app.button(key="guess_remedy").label == "Open German → English"
    app.button(key="guess_remedy").click().run()
    assert not app.exception
    assert app.session_state["checkpoint"] == "de-en"
    assert app.text_input(key="sentence").value == "Wo ist der nächste Bahnhof, bitte?"
    assert "This looks like German" not in shown_texts(app)


def test_of_a_sentence_that_the_model_copies_the_reason_is_the_copy_not_a_probability(open_page: Open) -> None:
    copied, other = (" ".join(shown_texts(open_page(text))) for text in ("Ich bin müde.", "Je n'ai jamais vu la mer."))
    assert "The model has copied the sentence" in copied
    assert "more probable" not in copied
    assert "These words are more probable in French" in other


def test_nothing_but_the_language_is_said_of_a_sentence_in_another_one(open_page: Open) -> None:
    texts = shown_texts(open_page("Anna hat 4711 Bücher gelesen und Xylophilus den ganzen Morgen gesucht."))
    assert "This looks like German" in texts
    assert not [text for text in texts if "not in the translation" in text or "The model is guessing" in text]


@pytest.mark.parametrize("sentence", ["Ich bin müde.", "Ich weiß es nicht.", "Das Buch ist rot."])
def test_a_german_sentence_of_three_words_is_enough(open_page: Open, sentence: str) -> None:
    assert "This looks like German" in shown_texts(open_page(sentence))


def test_an_english_sentence_is_not_german(open_page: Open) -> None:
    app = open_page("Where is the nearest train station?", "de-en")
    assert "This looks like English" in shown_texts(app)
    assert app.button(key="guess_remedy").label == "Open English → German"


def test_for_french_which_no_checkpoint_reads_nothing_is_offered(open_page: Open) -> None:
    app = open_page("Je n'ai jamais vu un aussi beau jardin.")
    assert "This looks like French" in shown_texts(app)
    assert "guess_remedy" not in [button.key for button in app.button]


def test_words_of_an_unknown_language_are_reported(open_page: Open) -> None:
    assert "This does not look like English" in shown_texts(open_page("tove outgrabe mome rath burble"))


def test_a_sentence_in_capitals_is_read_in_its_usual_case_so_nothing_is_said(open_page: Open) -> None:
    assert lines(open_page("WHERE IS THE NEAREST TRAIN STATION?")) == 0


def test_a_number_that_is_missing_is_named(open_page: Open) -> None:
    app = open_page(CHANGED)
    assert [text for text in shown_texts(app) if text.endswith("not in the translation")]
    assert lines(app) == 1


def test_a_sign_is_said_at_once_and_the_doctor_is_asked_after_the_picture(
    open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []

    def noted(of: object, name: str) -> None:
        real = getattr(of, name)

        def note(*given: object) -> object:
            order.append(name)
            return real(*given)

        monkeypatch.setattr(of, name, note)

    for of, name in ((guess_line, "guesses"), (doctor_findings, "findings"), (frame, "next_question")):
        noted(of, name)
    app = open_page("Wo ist der nächste Bahnhof, bitte?")
    assert order == ["guesses", "next_question", "findings"]
    assert lines(app) == 1


def test_of_an_edited_model_the_edits_may_be_the_cause(open_page: Open) -> None:
    app = open_page(
        "Where is the nearest train station?",
        edits=tuple(f"skip=decoder.{layer}.cross_attention" for layer in range(1, 7)),
    )
    says = [caption.value for caption in app.caption]
    assert "The model is edited, which may be the cause. Undo the edits to compare." in says
    assert not [text for text in says if "has not learned to translate" in text]


def test_a_toy_task_may_write_other_numbers(open_page: Open) -> None:
    app = open_page("42", "numbers")
    assert not [text for text in shown_texts(app) if "not in the translation" in text]


def test_an_improbable_translation_is_marked_and_one_typed_by_the_visitor_is_not(open_page: Open) -> None:
    sentence = "The hedge fund shorted volatile derivatives."
    app = open_page(sentence)
    assert [
        text
        for text in shown_texts(app)
        if text.startswith("The model is guessing: its tokens have a probability of 4")
    ]
    assert lines(open_page(sentence, given="Der Fonds", alternative=-1)) == 0


@pytest.mark.parametrize(
    ("text", "own", "expected"),
    [
        ("The cat sleeps on the window all day.", "en", None),
        ("A man in a red shirt is riding a bike.", "en", None),  # a caption
        ("Die Katze schläft den ganzen Tag am Fenster.", "en", "de"),
        ("Le chat dort toute la journée à la fenêtre.", "en", "fr"),
        ("De kat slaapt de hele dag op het raam.", "en", ""),
        ("Die Katze schläft den ganzen Tag am Fenster.", "de", None),
        ("The cat sleeps on the window all day.", "de", "en"),
        ("Le chat dort toute la journée à la fenêtre.", "de", "fr"),
        ("Ich bin müde.", "en", "de"),
        ("Ich weiß es nicht.", "en", "de"),
        ("I am tired.", "en", None),
        ("We left early.", "en", None),
        ("Ja.", "en", None),  # too short to tell
        ("Die Katze schläft den ganzen Tag am Fenster.", "xx", None),  # a checkpoint of a language that none here has
    ],
)
def test_the_vocabularies_distinguish_the_languages(
    text: str, own: str, expected: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    assert language_of(text, own, 0.4, vocabularies()) == expected


def test_a_model_that_copies_a_sentence_shows_that_it_is_in_the_target_language(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    known = vocabularies()
    assert language_of("Go home.", "de", 0.9, known) is None  # too short to tell
    assert language_of("Go home.", "de", 0.9, known, copied_into="en") == "en"
    assert language_of("Hello Tom!", "en", 0.9, known, copied_into="de") is None  # a name is copied into any language


def test_the_reader_of_a_language_writes_the_language_of_the_model_if_one_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    known = vocabularies()
    german, french = reader_of("en", "de", known), reader_of("en", "fr", known)
    assert german
    assert french
    assert (german.name, french.name) == ("en-de", "en-fr")
    assert reader_of("fr", "en", known) is None


def test_a_damaged_file_in_the_folder_has_no_vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "wrong.safetensors").write_bytes(b"nonsense")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    assert vocabularies() == []


MISTAKEN = "He locked the door and the windows and drove to work."  # the best translation of the search has no windows


def test_the_model_of_the_other_direction_offers_the_translation_from_which_it_finds_the_sentence(
    open_page: Open,
) -> None:
    app = open_page(MISTAKEN)
    assert TITLE in shown_texts(app)
    app.button(key="show_preferred").click().run()
    assert not app.exception
    assert "Fenster" in app.session_state["given"]
    assert TITLE not in shown_texts(app)


def test_it_is_offered_behind_a_sign_that_says_more(open_page: Open) -> None:
    app = open_page(SHORTER)
    assert lines(app) == 1
    assert TITLE not in shown_texts(app)
    assert any("“Die Bestellungsnummer lautet 2844862.”" in text for text in shown_texts(app))
    app.button(key="show_preferred").click().run()
    assert "2844862" in app.session_state["given"]


@pytest.mark.parametrize(
    ("checkpoint", "session"),
    [("en-de", {"method": "greedy"}), ("en-de", {"edits": ("off=cross.2.6",)}), ("en-fr", {})],
)
def test_it_is_not_asked_without_a_beam_with_edits_or_if_there_is_none(
    open_page: Open, monkeypatch: pytest.MonkeyPatch, checkpoint: str, session: dict[str, object]
) -> None:
    asked = []
    monkeypatch.setattr(reverse_choice, "reverse_scores", lambda *given: asked.append(given))
    open_page(MISTAKEN, checkpoint, **session)
    assert not asked


@pytest.mark.parametrize(
    ("finding", "seen", "chosen"),
    [
        (Finding("large_gains", "title", "says", "advice"), "LayerNorm, sub-layer by sub-layer", {}),
        (
            Finding("untrained_positions", "title", "says", "advice", stack="encoder"),
            "The encoding",
            {"kind": "encoder"},
        ),
        (Finding("empty", "title", "says", "advice"), "", {"t": 0}),
    ],
)
def test_the_button_of_a_finding_opens_the_details_and_the_step_that_show_it(
    open_app: Callable[..., AppTest],
    monkeypatch: pytest.MonkeyPatch,
    finding: Finding,
    seen: str,
    chosen: dict[str, object],
) -> None:
    monkeypatch.setattr(doctor_findings, "findings", lambda *given: (finding,))
    app = open_app(checkpoint="small", sentence="a b c", t="2")
    app.button(key=f"doctor_0_{finding.name}").click().run()
    assert not app.exception
    assert not seen or seen in [header.value for header in app.header]
    assert {name: app.session_state[name] for name in chosen} == chosen
