"""What if, "Change a word": what the grid says is what the model does with the changed sentence."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute import word_results
from app.views.whatif import words_data, words_part
from tests.support.drawn import components, copied_link
from tests.support.pages import choose
from transformer.config import BOS
from transformer.decoding.translator import Translator

Open = Callable[..., AppTest]
SENTENCE = "the old cat sat on the big mat"


def grid(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "cell_grid")
    return found


def values(app: AppTest, name: str) -> np.ndarray:
    return np.array(next(view["values"] for view in grid(app)["views"] if view["name"] == name))


def log_probabilities(translator: Translator, source: tuple[int, ...], target: tuple[int, ...]) -> np.ndarray:
    with torch.inference_mode():
        logits = translator.model(torch.tensor([source]), torch.tensor([[BOS, *target[:-1]]]))[0].double()
    return np.asarray(logits.log_softmax(-1)[range(len(target)), list(target)])


def test_occlusion_is_the_loss_without_the_word_and_the_most_important_word_is_left_out_first(
    open_app: Open, folder: Path
) -> None:
    app = open_app("whatif", experiment="words", sentence=SENTENCE)
    translator = Translator.load(folder / "en-de.safetensors")
    own = translator.translate(SENTENCE).sentences[0]
    ids, target = own.source_ids, own.hypotheses[0].ids
    found, names = values(app, "Occlusion"), grid(app)["columns"]["names"]
    assert names == SENTENCE.split()
    encode = translator.tokenizer.encode
    before, start = log_probabilities(translator, ids, target), 0
    for word, name in enumerate(names):
        size = len(encode(name))
        without = (*ids[:start], *ids[start + size :])
        expected = before - log_probabilities(translator, without, target)
        np.testing.assert_allclose(found[:, word], expected, rtol=0, atol=1e-4)
        start += size
    most_needed = int(found.sum(axis=0).argmax())
    assert grid(app)["columns"]["gone"] == [word == most_needed for word in range(len(names))]
    (outcome,) = components(app, "outcome")
    assert outcome["rows"][1]["label"] == f"Without “{names[most_needed]}”"


def test_another_word_is_translated_as_the_sentence_with_it(open_app: Open, folder: Path) -> None:
    app = open_app("whatif", experiment="words", sentence=SENTENCE, changed_word="7", new_word="small")
    translator = Translator.load(folder / "en-de.safetensors")
    expected = translator.translate(SENTENCE.replace("big", "small")).sentences[0].hypotheses[0]
    (outcome,) = components(app, "outcome")
    assert [token["text"] for token in outcome["rows"][1]["tokens"]] == list(expected.tokens)
    assert outcome["rows"][1]["label"] == "“small” for “big”"
    assert grid(app)["columns"]["gone"].index(True) == 6


@pytest.mark.parametrize(
    ("sentence", "word", "new", "read"),
    [
        ("the cat sat.", 4, "!", "the cat sat!"),  # no space before it
        ("the cat sat.", 2, "don’t\u00a0", "the don't sat."),
        ("the cat sat.", 2, "\u200b", "the sat."),  # invisible, so nothing
    ],
)
def test_another_word_is_read_as_in_a_typed_sentence(
    open_app: Open, folder: Path, sentence: str, word: int, new: str, read: str
) -> None:
    app = open_app("whatif", experiment="words", sentence=sentence, changed_word=str(word), new_word=new)
    expected = Translator.load(folder / "en-de.safetensors").translate(read).sentences[0].hypotheses[0]
    (outcome,) = components(app, "outcome")
    assert [token["share"] for token in outcome["rows"][1]["tokens"]] == pytest.approx(
        np.exp(expected.log_probabilities), abs=1e-4
    )


def test_a_sentence_that_another_word_makes_too_long_is_refused(open_app: Open) -> None:
    app = open_app("whatif", experiment="words", sentence=SENTENCE, changed_word="1", new_word="☃" * 60)
    assert any(text.value.startswith("The changed sentence has ") for text in app.text)
    assert not components(app, "outcome")


def test_another_word_stays_in_place_of_the_same_word(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app("whatif", experiment="words", sentence=SENTENCE)
    word = grid(app)["columns"]["gone"].index(True)
    app.text_input(key="new_word").set_value("small").run()
    other = (word + 1) % len(SENTENCE.split())
    monkeypatch.setattr(words_data.Words, "most_needed", other)  # as after another search
    app.run()
    assert grid(app)["columns"]["gone"].index(True) == word


@pytest.mark.parametrize("new", ["small", ""])
def test_a_copied_link_says_which_word_is_replaced_also_if_it_is_the_one_that_the_page_opens_with(
    open_app: Open, monkeypatch: pytest.MonkeyPatch, new: str
) -> None:
    app = open_app("whatif", experiment="words", sentence=SENTENCE)
    assert "changed_word" not in copied_link(app)  # nothing is chosen yet
    word = grid(app)["columns"]["gone"].index(True)
    choose(app, changed_word=word, new_word=new).run()  # a click, and a typed word
    copied = copied_link(app)
    monkeypatch.setattr(words_data.Words, "most_needed", (word + 1) % len(SENTENCE.split()))  # as on another machine
    opened = open_app("whatif", **copied)
    assert grid(opened)["columns"] == grid(app)["columns"]
    (sent,), (received,) = components(app, "outcome"), components(opened, "outcome")
    assert sent["rows"] == received["rows"]
    assert copied_link(opened) == copied


def test_where_no_word_is_needed_none_is_called_most_important(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        word_results, "occlusion", lambda subject, source, target, words: np.full((len(words), len(target)), -0.3)
    )
    app = open_app("whatif", experiment="words", sentence=SENTENCE)
    says = " ".join(str(text.value) for text in (*app.markdown, *app.text, *app.caption))
    assert "Whichever word is left out" in says
    assert "matters most" not in says


def test_a_small_loss_is_not_called_none(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        word_results, "occlusion", lambda subject, source, target, words: np.full((len(words), len(target)), 0.001)
    )
    app = open_app("whatif", experiment="words", sentence=SENTENCE)
    says = " ".join(str(text.value) for text in app.text)
    assert "Whichever word is left out, the log-probability of the translation falls by less than 0.05." in says


@pytest.mark.parametrize("experiment", ["words", "patch"])
def test_grids_of_the_original_model_say_so_where_the_model_is_edited(open_app: Open, experiment: str) -> None:
    plain, edited = (
        grid(open_app("whatif", experiment=experiment, sentence=SENTENCE, edits=edits))["views"]
        for edits in ("", "off=cross.1.2")
    )
    assert [view["values"] for view in plain] == [view["values"] for view in edited]
    assert all(view["means"].endswith("Of the original model, without the edits.") for view in edited)
    assert not any("original model" in view["means"] for view in plain)


def test_shares_are_those_of_attention_without_the_end(open_app: Open) -> None:
    app = open_app("whatif", experiment="words", sentence=SENTENCE)
    for name in ("Attention", "Rollout"):
        sums = values(app, name).sum(axis=1)
        assert (sums > 0).all()
        assert (sums < 1).all()


def test_integrated_gradients_are_computed_after_a_click(open_app: Open) -> None:
    app = open_app("whatif", experiment="words", sentence="the cat", details="true")
    assert len(grid(app)["views"]) == 4
    app.button(key="integrate").click().run()
    assert not app.exception
    assert [view["name"] for view in grid(app)["views"]][2] == "Integrated gradients"
    assert any("a sum is wrong by at most" in str(each.value) for each in app.markdown)
    assert not app.run().exception  # when they are known already
    assert len(grid(app)["views"]) == 5


def test_for_a_long_sentence_the_computation_waits_for_a_click(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words_part, "QUICK", 10)
    app = open_app("whatif", experiment="words", sentence=SENTENCE)
    assert not components(app, "cell_grid")
    monkeypatch.setattr(words_part, "LONGEST", 10)
    next(each for each in app.button if each.label.startswith("Compute what")).click().run()
    assert not any(each.key == "integrate" for each in app.button)
    assert grid(app)


@pytest.mark.parametrize(
    "sentence",
    ["cat", ".", " ".join([SENTENCE] * 8), "the the the the", "the </script><img src=x onerror=alert(1)>", "☃"],
)
def test_any_sentence_is_shown(open_app: Open, sentence: str) -> None:
    app = open_app("whatif", experiment="words", sentence=sentence, new_word="</s> \u2028☃")
    assert not app.exception
    assert components(app, "cell_grid") or re.search("Compute what", str(app.button))
