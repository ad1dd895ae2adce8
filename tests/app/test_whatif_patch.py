"""What if, "Patch a vector": the grid has the effects of edited models, and a click makes one of them the model."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.library.word_pairs import with_another_word, with_the_next_word
from app.views.whatif import other_sentence, patch_part
from app.views.whatif.other_sentence import _length_mismatch
from tests.support.drawn import components, page_text
from transformer.analysis.edits import VectorPatched, edit_text, model_edits
from transformer.config import BOS, DecodingConfig
from transformer.decoding.translation import Translation
from transformer.decoding.translator import Translator
from transformer.model import EditedTransformer, Transformer
from transformer.text.tokenizer import Token

Open = Callable[..., AppTest]
SENTENCE, OTHER = "the old cat sat on the big mat", "the old cat sat on the small mat"


def grid(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "cell_grid")
    return found


def score(model: Transformer, source: tuple[int, ...], target: tuple[int, ...]) -> float:
    with torch.inference_mode():
        logits = model(torch.tensor([source]), torch.tensor([[BOS, *target[:-1]]]))[0].double()
    return float(logits.log_softmax(-1)[range(len(target)), list(target)].sum())


def test_each_cell_is_what_the_model_with_that_edit_prefers(open_app: Open, folder: Path) -> None:
    found = grid(open_app("whatif", experiment="patch", sentence=SENTENCE, patched_sentence=OTHER))
    translator = Translator.load(folder / "en-de.safetensors")
    own, other = (translator.translate(each).sentences[0] for each in (SENTENCE, OTHER))
    model, (y, z) = translator.model, (own.hypotheses[0].ids, other.hypotheses[0].ids)

    def preference(of: Transformer, source: tuple[int, ...]) -> float:
        return score(of, source, z) - score(of, source, y)

    start, end = (preference(model, each.source_ids) for each in (own, other))
    values = np.array(found["views"][0]["values"])
    assert values.shape == (1 + model.config.encoder_layers, len(own.source_ids))
    for row, position in ((0, 9), (1, 8), (1, 9), (len(values) - 1, len(own.source_ids) - 1)):
        edit = VectorPatched(row - 1 if row else None, position, other.source_ids)
        edited = EditedTransformer(model, model_edits([edit], model))
        expected = (preference(edited, own.source_ids) - start) / (end - start)
        assert values[row, position] == pytest.approx(expected, abs=1e-4)
    changed = [a != b for a, b in zip(own.source_ids, other.source_ids, strict=True)]
    assert ["→" in name for name in found["columns"]["names"]] == changed
    assert not found["framed"]


def test_the_patched_cell_is_framed_and_the_edited_model_is_translated_with_it(open_app: Open, folder: Path) -> None:
    ids = Translator.load(folder / "en-de.safetensors").translate(OTHER).sentences[0].source_ids
    edit = edit_text(VectorPatched(0, 9, ids))
    app = open_app("whatif", experiment="patch", sentence=SENTENCE, patched_sentence=OTHER, edits=edit)
    found = grid(app)
    assert (found["framed"], found["chosen"]) == (True, len(ids) + 9)
    (outcome,) = components(app, "outcome")
    assert outcome["summary"] != "Nothing is edited yet."


def test_it_opens_with_a_sentence_that_differs_in_one_word_and_can_be_patched(open_app: Open) -> None:
    app = open_app("whatif", experiment="patch", sentence=SENTENCE)
    found = grid(app)
    assert app.text_input(key="patched_sentence").value == OTHER
    assert np.isfinite(found["views"][0]["values"]).all()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("the cat sat on the mat today and tomorrow", "tokens"),
        (SENTENCE, "the same"),
        (" ".join([OTHER] * 40)[:400], "tokens"),
    ],
)
def test_what_cannot_be_patched_says_why_and_offers_what_can(open_app: Open, other: str, message: str) -> None:
    app = open_app("whatif", experiment="patch", sentence=SENTENCE, patched_sentence=other)
    assert not components(app, "cell_grid")
    assert message in page_text(app)
    app.button(key="patch_opening").click().run()
    assert grid(app)


def test_of_a_sentence_that_is_too_long_for_the_box_no_second_one_is_made(
    open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(other_sentence, "LONGEST_SECOND", len(SENTENCE) - 1)
    app = open_app("whatif", experiment="patch", sentence=SENTENCE)
    assert app.text_input(key="patched_sentence").value == ""
    assert "Type a second sentence" in page_text(app)


def test_of_sentences_of_different_length_the_words_are_named_and_their_tokens_counted() -> None:
    sentences = ("▁a", "▁cat", "▁sat"), ("▁the", "▁ele", "phan", "t", "▁sat")
    tokens = [tuple(Token(0, text, 0, 0, "ordinary") for text in texts) for texts in sentences]
    own, other = (Translation("", each, (0,) * len(each), (), (), DecodingConfig()) for each in tokens)
    assert "Yours has “a cat” (2 tokens) where the other one has “the ele phan t” (4 tokens)" in _length_mismatch(
        own, other
    )


def test_for_a_long_sentence_the_computation_waits_for_a_click(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patch_part, "QUICK", 10)
    app = open_app("whatif", experiment="patch", sentence=SENTENCE)
    assert not components(app, "cell_grid")
    next(each for each in app.button if each.label.startswith("Compute all")).click().run()
    assert grid(app)


@pytest.mark.parametrize(
    "sentence",
    ["cat", "Hello.", " ".join([SENTENCE] * 8), "the the the the", "the </script><img src=x onerror=alert(1)>"],
)
def test_any_sentence_is_shown_or_says_what_is_missing(open_app: Open, sentence: str) -> None:
    app = open_app("whatif", experiment="patch", sentence=sentence)
    assert not app.exception
    assert components(app, "cell_grid") or re.search(
        "Compute all|Type a second sentence|tokens", page_text(app) + str(app.button)
    )


def test_words_that_replace_each_other_keep_their_capital() -> None:
    found = with_another_word("He has a cat, for his dog.", "English")
    assert "She has a cat, for his dog." in found
    assert "He has a dog, for his dog." in found
    assert "He has a cat, at his dog." in found
    assert "He has a cat, for her dog." in found


def test_a_word_of_the_sentence_is_put_in_the_place_of_another() -> None:
    assert with_the_next_word("h e a") == ["e e a", "h a a"]
    assert with_the_next_word("the </script> the") == ["script </script> the", "the </the> the"]
    assert with_the_next_word("cat") == with_the_next_word("") == []
