"""Questions about the pictures: each has one right answer, which the layers of torch.nn find too, and says why."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute.cached_results import Attention
from app.compute.subject import Subject
from app.figures.axes import TokenAxis
from app.figures.shares import Share, probability_text
from app.library.checkpoints import CheckpointFile
from app.questions import KINDS_OF_QUESTIONS, ask
from app.questions.head_off import _Losses, _question
from app.questions.most_attended import LEAST_MARGIN
from app.questions.question import Place, Question, token_name
from app.questions.tensor_shape import tensor_shape
from app.stage.scene import Scene, Selection, scene_of
from app.state.choices import GIVEN_SHOWN
from tests.support.drawn import components
from tests.support.recomputed_answers import Recomputed, in_float64
from tests.support.small_questions import NO_SEARCH, SENTENCES, asked, scene

SHIPPED = Path(__file__).parents[2] / "pretrained"
TRAINED = ((SHIPPED / "numbers.safetensors", "forty-two"), (SHIPPED / "reverse-window-1.safetensors", "k f a z k"))


def test_no_answer_is_wrong_or_ambiguous_when_torch_computes_it_again(question_checkpoints: list[Path]) -> None:
    kinds: set[str] = set()
    for path, text in (*product(question_checkpoints, SENTENCES), *TRAINED):
        shown = scene(path, text)
        recomputed = Recomputed.of(*in_float64(path), shown.translation.source_ids, shown.hypothesis.ids)
        for question in [each for kind in KINDS_OF_QUESTIONS for each in asked(path, kind, text, seeds=3)]:
            assert recomputed.mistake(question) == "", question
            kinds.add(question.kind)
    assert kinds == set(KINDS_OF_QUESTIONS)


def test_the_second_computation_finds_a_wrong_answer(question_checkpoints: list[Path]) -> None:
    kinds: set[str] = set()
    for path, text in ((question_checkpoints[0], SENTENCES[0]), *TRAINED):
        shown = scene(path, text)
        recomputed = Recomputed.of(*in_float64(path), shown.translation.source_ids, shown.hypothesis.ids)
        for question in [each for kind in KINDS_OF_QUESTIONS for each in asked(path, kind, text, seeds=3)]:
            moved = replace(question, right=(question.right + 1) % len(question.answers))
            assert recomputed.mistake(moved), question
            kinds.add(question.kind)
    assert kinds == set(KINDS_OF_QUESTIONS)


@pytest.mark.parametrize("kind", KINDS_OF_QUESTIONS)
def test_the_same_seed_asks_the_same_and_others_ask_something_else(question_checkpoints: list[Path], kind: str) -> None:
    first = asked(question_checkpoints[0], kind)
    assert first == asked(question_checkpoints[0], kind)
    if kind not in ("head-off", "next-word"):  # a tiny model may have no clear case
        assert len({(question.prompt, question.answers) for question in first}) > 1


def test_answers_are_different_texts_and_a_repeated_word_has_its_position(question_checkpoints: list[Path]) -> None:
    tokens = TokenAxis("", "encoder", ("▁the", "▁cat", "the", "</s>"))
    assert [token_name(tokens, i) for i in range(4)] == ["“the” (token 1)", "“cat”", "“the” (token 3)", "“</s>”"]
    for kind in KINDS_OF_QUESTIONS:
        for question in asked(question_checkpoints[0], kind, SENTENCES[1], 4):
            assert len(set(question.answers)) == len(question.answers)
    with pytest.raises(ValueError, match="different answers"):
        Question("shape", "", ("a", "a"), 0, "", 1.0, Place())


def test_a_question_is_about_what_is_selected(question_checkpoints: list[Path]) -> None:
    shown = scene(question_checkpoints[0])
    weights = shown.attention("encoder").weights  # (L, H, S, S)
    top = np.sort(weights, axis=-1)
    clear = np.argwhere(top[..., -1] - top[..., -2] >= LEAST_MARGIN)
    layer, head, row = map(int, clear[0])
    question = ask("most-attended", shown, Place("", "encoder", layer, head, row))
    assert question
    assert question.place == Place("attention", "encoder", layer, head, row)
    assert f"layer {layer + 1}, head {head + 1}" in question.prompt
    assert question.margin >= LEAST_MARGIN
    assert ask("most-attended", shown, Place("", "encoder", 99, 0, 0)) is None


def test_numbers_of_a_question_about_a_head_have_no_minus_zero_and_read_1_only_where_they_are_1(
    question_checkpoints: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = scene(question_checkpoints[0])
    size, heads = len(shown.hypothesis.ids), [(0, 0), (0, 1), (0, 2)]
    weights = np.full((2, 4, size, len(shown.source)), 0.0, np.float32)
    weights[..., 0] = 0.998
    monkeypatch.setattr(Scene, "attention", lambda *_: Attention(weights, weights >= 0))
    one = np.eye(size)[0]
    losses = _Losses("cross", np.zeros(size), dict(zip(heads, (-2 * one, 0.01 * one, -one), strict=True)))
    question = _question(shown, losses, heads[0], heads)
    assert "0.0 (layer 1, head 2)" in question.why
    assert "−0.0" not in question.why
    assert all("0.998)" in answer for answer in question.answers)


def test_a_question_on_the_page_decoding_has_the_probability_of_its_picture() -> None:
    settings = replace(NO_SEARCH, method="sampling", temperature=2.0)
    subject = Subject(CheckpointFile.at(SHIPPED / "reverse-window-1.safetensors"))
    shown = scene_of(subject, "k f a z k", settings, Selection())
    logits = shown.record("logits")["logits"].astype(np.float64)
    for kind, page in (("above-half", "decoding"), ("next-word", "decoding"), ("next-word", "translate")):
        question = ask(kind, shown, Place(page))  # type: ignore[arg-type]
        assert question
        step = question.place.row or 0
        powers = np.exp((logits[step] - logits[step].max()) / (2.0 if page == "decoding" else 1.0))
        share = float(powers[shown.hypothesis.ids[step]] / powers.sum())
        assert (f"{Share(share):.2f}" if kind == "above-half" else probability_text(share)) in question.why


def test_a_translation_that_the_visitor_typed_is_read_and_not_written() -> None:
    subject = Subject(CheckpointFile.at(SHIPPED / "reverse-window-1.safetensors"))
    written = scene_of(subject, "k f a z k", NO_SEARCH, Selection()).hypothesis.text
    typed = scene_of(subject, "k f a z k", NO_SEARCH, Selection(alternative=GIVEN_SHOWN, given=written))
    assert typed.is_given
    for seed in range(6):
        for kind, place in (("next-word", Place()), ("above-half", Place("decoding"))):
            question = ask(kind, typed, place, seed)  # type: ignore[arg-type]
            assert question
            assert "writ" not in question.prompt


def test_the_browser_does_not_get_the_right_answer_before_it_is_revealed(open_app: Callable[..., AppTest]) -> None:
    app = open_app("masks", sentence=SENTENCES[0])
    app.button(key="predict").click().run()
    assert not app.exception
    (card,) = components(app, "question_card")
    assert (card["right"], card["why"], card["chosen"]) == (-1, "", -1)
    assert len(card["answers"]) > 1
    app.session_state["answered"] = (card["questionId"], 0, True)
    (card,) = components(app.run(), "question_card")
    assert card["why"]
    assert 0 <= card["right"] < len(card["answers"])


def test_the_output_of_a_layer_is_asked_about_where_it_is(question_checkpoints: list[Path]) -> None:
    for path, name in zip(question_checkpoints, ("norm_out", "residual_sum"), strict=False):
        site = f"encoder.layers.0.feed_forward.{name}"
        question = tensor_shape(scene(path), Place("steps", site=site), Random(1))
        assert question
        assert "output of the layer" in question.prompt
        assert question.place.site == site
