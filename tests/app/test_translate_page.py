"""The Translate page, run without a browser: what it says, and that what it draws are the tensors."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute import cached_results
from app.figures.canvas_message import quantised
from tests.support.app_checkpoints import write_checkpoint
from tests.support.decoding_page import healthy
from tests.support.drawn import attention_weights, components, open_view, unpacked_canvas
from tests.support.patience import PATIENCE
from tests.support.translate_page import Open, head_of, words
from transformer.decoding.translation import TranslatedText
from transformer.decoding.translator import Translator

EXAMPLE = "I was looking for my glasses all morning."


def upload(app: AppTest, name: str, content: bytes) -> None:
    uploader: Any = app.get("file_uploader")[0]
    uploader.upload(name, content, "application/octet-stream").run()


def expected(folder: Path, text: str, site: str, hypothesis: int = 0, **settings: Any) -> np.ndarray:
    """(L, H, Q, K) computed beside the app."""
    translator = Translator.load(folder / "en-de.safetensors")
    found = translator.translate(text, **{"n_best": 3, **settings}).sentences[0]
    return attention_weights(translator.model, found.source_ids, found.hypotheses[hypothesis].ids, f"{site}.weights")


CROSS = "decoder.layers.*.cross_attention"


def weights_of(app: AppTest) -> np.ndarray:
    """Encoder-decoder attention as the canvas gets it: (L, H, T, S), a byte each."""
    messages = (each.proto for each in app.get("bidi_component") if each.proto.component_name == "headlight_canvas")
    return unpacked_canvas(next(messages).bytes)[1]["cross"]


def test_it_opens_with_an_example_already_translated(open_translate: Open) -> None:
    app = open_translate()
    healthy(app)
    assert app.text_input(key="sentence").value == EXAMPLE
    assert components(app, "token_strip")[0]["chips"][0]["text"] == "▁I"


def test_the_help_of_a_heading_explains_the_text_below_the_tokens(open_translate: Open) -> None:
    helps = {heading.value: heading.help for heading in open_translate().subheader}
    reads, writes = helps["The encoder reads"], helps["The decoder writes"]
    assert "▁ marks the start of a word" in reads
    assert "its id" in reads
    assert "its id" in writes


def test_the_probabilities_shown_are_those_of_the_search(open_translate: Open, folder: Path) -> None:
    app = open_translate()
    found = Translator.load(folder / "en-de.safetensors").translate(EXAMPLE, n_best=3).sentences[0].hypotheses[0]
    strips = [
        json.loads(e.proto.json) for e in app.get("bidi_component") if e.proto.component_name.endswith("token_strip")
    ]
    assert [chip["share"] for chip in strips[1]["chips"]] == pytest.approx(np.exp(found.log_probabilities))
    assert strips[1]["headline"] == found.text


def test_encoder_and_decoder_of_different_depth_offer_their_own_layers(open_translate: Open) -> None:
    app = open_translate(kind="decoder", layer="3")
    healthy(app)
    app.session_state["kind"] = "encoder"
    healthy(app.run())
    assert head_of(app)[1] <= 2


def test_another_checkpoint_brings_its_own_example_and_its_own_heads(open_translate: Open) -> None:
    app = open_translate(layer="3", head="4")
    app.selectbox(key="checkpoint").select("small").run()
    healthy(app)
    assert app.text_input(key="sentence").value == "h e a d l i g h t"
    assert head_of(app)[1:] == (1, 1)


def test_a_file_that_is_not_a_checkpoint_gets_an_error_message(open_translate: Open) -> None:
    app = open_translate(checkpoint="wrong")
    healthy(app)
    assert "cannot be opened" in words(app)
    assert not components(app, "canvas_channel")


def test_an_uploaded_checkpoint_is_opened_for_this_visitor_alone(open_translate: Open, folder: Path) -> None:
    app = open_translate()
    content = (folder / "small.safetensors").read_bytes()
    upload(app, "mine.safetensors", content)
    healthy(app)
    assert app.selectbox(key="checkpoint").value == "mine (yours)"
    assert "mine (yours)" not in open_translate().selectbox(key="checkpoint").options


def test_an_uploaded_file_that_is_not_a_checkpoint_gets_an_error_message_and_changes_nothing(
    open_translate: Open,
) -> None:
    app = open_translate()
    upload(app, "bad.safetensors", b"junk")
    healthy(app)
    assert "Your file was not opened." in words(app)
    assert "/" not in words(app).split("Your file was not opened.")[1].split("bad.safetensors")[0]
    assert app.selectbox(key="checkpoint").value == "en-de"


def test_another_alternative_brings_its_own_pictures(open_translate: Open, folder: Path) -> None:
    app = open_translate(layer="1", head="1")
    app.session_state["alternative"] = 1
    app.run()
    healthy(app)
    assert np.array_equal(weights_of(app), quantised(expected(folder, EXAMPLE, CROSS, hypothesis=1)))


@pytest.mark.parametrize(("at_limit", "reason"), [(True, "at the length limit"), (False, "its best hypothesis")])
def test_an_alternative_that_was_cut_off_says_why(
    open_translate: Open, monkeypatch: pytest.MonkeyPatch, at_limit: bool, reason: str
) -> None:
    translate = cached_results.translate

    def cut_off(*args: Any, **how: Any) -> TranslatedText:
        found = translate(*args, **how)
        (sentence,) = found.sentences
        best, second, *others = sentence.hypotheses
        second = replace(second, finished=False, at_limit=at_limit)
        return replace(found, sentences=(replace(sentence, hypotheses=(best, second, *others)),))

    monkeypatch.setattr(cached_results, "translate", cut_off)
    app = open_translate(alternative="2")
    healthy(app)
    assert any(reason in caption.value for caption in app.caption)


@pytest.mark.parametrize("method", ["greedy", "sampling", "beam"])
def test_every_method_translates(open_translate: Open, folder: Path, method: str) -> None:
    text = "Where is the nearest train station?"  # whose best translation is not the greedy one
    app = open_translate(sentence=text, method=method, layer="1", head="1")
    healthy(app)
    found, beams = (
        expected(folder, text, CROSS, method=each, n_best=1 if each == "greedy" else 3) for each in (method, "beam")
    )
    assert np.array_equal(weights_of(app), quantised(found))
    assert np.array_equal(found, beams) == (method == "beam")


def test_a_card_makes_the_browser_fetch_nothing(open_translate: Open) -> None:
    app = open_translate()
    app.button(key="model_card").click().run()
    shown = " ".join(markdown.value for markdown in app.markdown)
    assert "A card" in shown
    assert "![" not in shown


def test_fewer_translations_are_shown_where_the_beam_has_become_smaller(open_translate: Open) -> None:
    app = open_translate()
    for beam, shown in ((4, 3), (1, None), (2, 2), (4, 3), (3, 3), (2, 2)):
        next(each for each in app.slider if each.key == "beam").set_value(beam).run()
        healthy(app)
        assert [each.value for each in app.slider if each.key == "alternatives"] == ([shown] if shown else [])


def test_an_empty_folder_says_what_to_do(open_translate: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = AppTest.from_file(
        str(Path(__file__).resolve().parents[2] / "app" / "main.py"), default_timeout=PATIENCE
    ).run()
    healthy(app)
    assert "There is no checkpoint yet" in words(app)


@pytest.mark.parametrize("address", [{}, {"alternative": "2"}])
def test_a_translation_can_be_translated_back_by_a_checkpoint_for_the_other_way(
    address: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_checkpoint(tmp_path / "en-de.safetensors", source_language="en", target_language="de")
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = open_view("translate", sentence="the cat sat", details="true")
    assert not [button for button in app.button if button.key == "translate_back"]
    write_checkpoint(tmp_path / "de-en.safetensors", source_language="de", target_language="en")
    app = open_view("translate", sentence="the cat sat", details="true", **address)
    written = components(app, "token_strip")[1]["headline"]
    app.button(key="translate_back").click().run()
    healthy(app)
    assert app.selectbox(key="checkpoint").value == "de-en"
    assert app.text_input(key="sentence").value == written
    assert app.button(key="translate_back").label == "Translate it back into German"
    assert "alternative" not in app.query_params
