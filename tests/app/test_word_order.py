"""The first picture of Positions: the words shuffled, with positions and without."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
import torch
from streamlit.testing.v1 import AppTest

from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.stage.scene import Scene, Selection, scene_of
from app.views.positions.page import table
from app.views.shared.order_translations import next_seed
from app.views.shared.word_orders import Moved, differences, shuffled
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import components, written
from transformer.config import EOS, DecodingConfig
from transformer.decoding.translator import Translator
from transformer.text.recasing import recased

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat."


def picture(app: AppTest) -> dict[str, Any]:
    assert not app.exception, app.exception[0].message
    (found,) = components(app, "word_order")
    return found


def rows(app: AppTest) -> dict[str, list[str]]:
    """What is translated in order and shuffled, by what was done."""
    (found,) = components(app, "comparison")
    return {row["label"]: [cell["text"] for cell in row["cells"]] for row in found["rows"]}


def without_positions(translator: Translator) -> Translator:
    """Another copy of the checkpoint whose encoder has a table of zeros."""
    part = translator.model.encoder.embedding
    part.positions = type(part.positions)(translator.model.config)  # the decoder keeps its own
    with torch.no_grad():
        part.positions.table.zero_()
    return translator


@pytest.mark.parametrize("tokens", [("▁the", "▁cat", "s", ",", "▁sat", ".", "</s>"), ("▁a", "▁b", "</s>")])
@pytest.mark.parametrize("seed", range(5))
def test_words_are_shuffled_whole_and_punctuation_stays(tokens: tuple[str, ...], seed: int) -> None:
    order = shuffled(tokens, seed)
    assert order is not None
    assert sorted(order) == list(range(len(tokens)))
    words = " ".join(tokens[token] for token in order)
    assert words != " ".join(tokens)
    assert order[-1] == len(tokens) - 1
    if "s" in tokens:
        assert "▁cat s" in words
        assert order[-2] == len(tokens) - 2
    assert shuffled(tokens, seed) == order


@pytest.mark.parametrize("tokens", [("▁Hello", "!", "</s>"), ("▁the", "▁the", "</s>"), ("</s>",), (".", "?", "</s>")])
def test_one_word_or_the_same_word_again_has_no_other_order(tokens: tuple[str, ...]) -> None:
    assert shuffled(tokens, 1) is None


@pytest.mark.parametrize(
    "tokens", [("▁the", "▁the", "▁the", "▁cat", "</s>"), ("▁a", "▁b", "▁c", "</s>"), ("▁the", "▁cat", "s", "</s>")]
)
def test_another_shuffle_is_another_order_where_there_is_one(tokens: tuple[str, ...]) -> None:
    ids = tuple(sorted(set(tokens)).index(token) for token in tokens)
    scene = cast(
        Scene, SimpleNamespace(source=SimpleNamespace(tokens=tokens), translation=SimpleNamespace(source_ids=ids))
    )
    for seed in range(1, 8):
        now, following = (shuffled(tokens, each) for each in (seed, next_seed(scene, seed)))
        assert None not in (now, following)
        assert (now == following) == (tokens[1:3] == ("▁cat", "s"))  # two words: the other order is the only one


def said(app: AppTest) -> str:
    """What the page says below its picture."""
    return " ".join(each.value for each in app.text)


def test_the_only_other_order_cannot_be_drawn_again(open_app: Open) -> None:
    assert picture(open_app("positions", sentence="cat dog"))["again"] is False
    assert picture(open_app("positions", sentence=SENTENCE))["again"] is True


def test_that_both_orders_have_the_same_translation_is_said(open_app: Open) -> None:
    found = set()
    for sentence in (SENTENCE, "on the"):
        app = open_app("positions", sentence=sentence)
        same = len(set(next(iter(rows(app).values())))) == 1
        assert ("For the shuffled order the model writes the same translation" in said(app)) == same
        found.add(same)
    assert found == {True, False}


def test_with_positions_is_with_positions_if_an_edit_takes_them_away(open_app: Open) -> None:
    original = open_app("positions", sentence=SENTENCE)
    app = open_app("positions", sentence=SENTENCE, edits="positions=off")
    assert rows(app) == rows(original)
    assert max(picture(app)["bars"][0]["shares"]) > 0.01
    assert "Your edit takes the positions away." in said(app)
    assert "Your edit" not in said(original)


def test_outputs_that_are_only_permuted_have_not_moved_and_others_have_by_their_share() -> None:
    plain = np.random.default_rng(0).normal(size=(4, 6))
    order = (2, 0, 3, 1)
    other = plain[list(order)]
    assert differences(plain, other, order).largest == 0
    assert (differences(plain, other, order).shares == 0).all()
    other[1] *= 1.5  # token 0 is at the second position
    found = differences(plain, other, order)
    np.testing.assert_allclose(found.shares, [0.5, 0, 0, 0], atol=1e-12)
    assert found.largest == pytest.approx(0.5 * np.abs(plain[0]).max())


@pytest.mark.parametrize("options", [{}, {"norm": "pre"}, {"positions": "learned"}])
def test_the_bars_are_the_distances_of_the_encoders_outputs(
    open_app: Open, folder: Path, options: dict[str, Any]
) -> None:
    path = write_checkpoint(folder / "order.safetensors", options=options)
    try:
        found = picture(open_app("positions", checkpoint="order", sentence=SENTENCE, shuffle="3"))
        translator = Translator.load(path)
        ids = [*translator.tokenizer.encode(recased(SENTENCE, translator.tokenizer)), EOS]
        order = found["order"]
        assert sorted(order) == list(range(len(ids)))
        for bars, by in zip(found["bars"], (translator, without_positions(Translator.load(path))), strict=True):
            with torch.inference_mode():
                plain = by.model.encoder(torch.tensor([ids]))[0]
                other = by.model.encoder(torch.tensor([[ids[token] for token in order]]))[0]
            moved = torch.empty_like(other)
            moved[order] = other
            expected = (moved - plain).norm(dim=-1) / plain.norm(dim=-1)
            np.testing.assert_allclose(bars["shares"], expected, rtol=1e-3, atol=2e-5)
        assert max(found["bars"][0]["shares"]) > 0.01
        assert max(found["bars"][1]["shares"]) < 1e-4
        assert 0 <= written(found["bars"][1]["title"].rpartition("at most ")[2]) < 1e-4
    finally:
        path.unlink()


def test_what_is_translated_is_what_models_with_and_without_a_table_write(open_app: Open, folder: Path) -> None:
    app = open_app("positions", sentence=SENTENCE, shuffle="3")
    order = picture(app)["order"]
    as_it_is, taken_away = rows(app).values()
    path = folder / "en-de.safetensors"
    for shown, by in (
        (as_it_is, Translator.load(path)),
        (taken_away, without_positions(Translator.load(path)).edited({})),
    ):
        ids = [*by.tokenizer.encode(recased(SENTENCE, by.tokenizer)), EOS]
        for text, source in zip(shown, (ids, [ids[token] for token in order]), strict=True):
            assert (by.translate_ids(source).text or "(nothing)") == text
    assert taken_away[0] == taken_away[1]


def test_a_model_trained_without_positions_says_so_and_writes_the_same_for_both_orders(
    open_app: Open, folder: Path
) -> None:
    path = write_checkpoint(folder / "family-none.safetensors", Size(1, 1, 2), options={"positions": "none"})
    family = {"name": "positions", "option": "model.positions", "members": [{"member": "none", "value": "none"}]}
    report = folder / "families.json"
    report.write_text(json.dumps({"families": [family], "members": {}}), encoding="utf-8")
    try:
        own = open_app("positions", checkpoint="family-none", sentence=SENTENCE)
        assert len(picture(own)["bars"]) == 1
        (texts,) = rows(own).values()
        assert texts[0] == texts[1]
        assert any("does not matter to its encoder" in element.value for element in own.text)
        beside = rows(open_app("positions", sentence=SENTENCE))
        assert beside["A small model that was trained without positions"] == texts
    finally:
        path.unlink()
        report.unlink()


def test_with_an_attention_window_the_page_says_that_neighbours_are_known(open_app: Open, folder: Path) -> None:
    path = write_checkpoint(folder / "window.safetensors", options={"attention_window": 1})
    try:
        app = open_app("positions", checkpoint="window", sentence=SENTENCE)
        assert max(picture(app)["bars"][1]["shares"]) > 1e-3
        assert any("attention window" in element.value for element in app.text)
    finally:
        path.unlink()


@pytest.mark.parametrize(
    ("window", "edits", "words"),
    [
        (None, "", "the outputs are the same, in another order"),
        (1, "", "This model has no positions, but an attention window"),
        (None, "patch=1.2.5-6-3", "it was edited, and the edits depend on the places"),
    ],
)
def test_a_model_without_positions_is_said_to_have_none(
    open_app: Open, folder: Path, window: int | None, edits: str, words: str
) -> None:
    options = {"positions": "none", "attention_window": window}
    path = write_checkpoint(folder / "bare.safetensors", options=options)
    try:
        app = open_app("positions", checkpoint="bare", sentence=SENTENCE, edits=edits)
        said = [element.value for element in app.text]
        assert any(words in text for text in said)
        assert not any("only the positions, which are added to the words" in text for text in said)
        scene = scene_of(Subject(CheckpointFile.at(path)), SENTENCE, DecodingConfig(), Selection())
        order, none = tuple(range(len(scene.source.tokens))), Moved(np.zeros(len(scene.source.tokens)), 0.0)
        assert list(table(scene, order, none, none)) == ["token", "place", "place after shuffling", "moved"]
    finally:
        path.unlink()


def test_where_nothing_can_be_shuffled_an_example_is_offered(open_app: Open) -> None:
    app = open_app("positions", sentence="the")
    assert components(app, "word_order") == []
    app.button(key="take_example").click().run()
    assert picture(app)


@pytest.mark.parametrize("sentence", ["the the the cat", "</script><img src=x onerror=alert(1)> :red[b] cat"])
def test_odd_sentences_stay_text(open_app: Open, sentence: str) -> None:
    app = open_app("positions", sentence=sentence)
    assert picture(app)
    for element in (*app.markdown, *app.caption):
        assert "alert(1)" not in element.value
