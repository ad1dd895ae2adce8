"""The line of the doctor says what is wrong with a model and leads to it, and the doctor runs once."""

from pathlib import Path

import pytest
import streamlit as st

from app.compute.doctor_findings import findings
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from tests.support.drawn import open_view
from tests.support.models_page import PRETRAINED
from transformer.checkpoint.checkpoint_file import TrainedModel, save_checkpoint
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator


def test_the_doctor_finds_nothing_where_nothing_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(PRETRAINED))
    for page in ("translate", "masks"):
        app = open_view(page, checkpoint="reverse")
        assert not [each for each in app.get("popover") if each.proto.popover.label == "Why?"]


def test_the_doctor_says_what_is_wrong_in_one_line_and_leads_to_the_head(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    translator = Translator.load(PRETRAINED / "reverse.safetensors")
    attention = translator.model.encoder.layers[1].self_attention
    attention.query.weight.data[: translator.model.config.d_k] = 0
    kept = translator.checkpoint
    assert kept is not None
    save_checkpoint(tmp_path / "sick.safetensors", TrainedModel(kept.model, kept.tokenizer, kept.recipe))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    app = open_view("translate", sentence="a <b> H c")
    assert "The vocabulary lacks letters of this sentence" in [text.value for text in app.text]
    assert any("“<”" in text.value for text in app.text)
    app.button(key="doctor_1_same_head").click().run()
    assert not app.exception
    assert (app.session_state["kind"], app.session_state["layer"], app.session_state["head"]) == ("encoder", 2, 1)


def test_the_doctor_runs_once_with_or_without_a_search_tree(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Translation] = []

    def examine(translator: Translator, known: object, translation: Translation, *rest: object) -> tuple[()]:
        asked.append(translation)
        return ()

    monkeypatch.setattr("app.compute.doctor_findings.doctor.examine", examine)
    st.cache_data.clear()
    file = CheckpointFile.at(folder / "en-de.safetensors")
    for keep_tree in (True, False):
        (translation,) = Translator.load(file.path).translate_sentences(["the cat"], keep_tree=keep_tree)
        assert bool(translation.tree) == keep_tree
        assert findings(Subject(file), translation, translation.hypotheses[0]) == ()
    assert [each.tree for each in asked] == [()]
