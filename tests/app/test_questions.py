"""Questions about the pictures: each has one right answer, which the layers of torch.nn find too, and says why."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute.cached_results import Attention
from app.compute.subject import Subject
from app.figures.axes import TokenAxis
from app.figures.shares import Share, decimal_text, probability_text
from app.languages import Language, speaking
from app.lessons.link_check import QUESTIONS, check_link
from app.library.checkpoints import CheckpointFile
from app.questions import KINDS_OF_QUESTIONS, ask
from app.questions.asked import kind_and_place
from app.questions.head_off import _Losses, _question
from app.questions.most_attended import LEAST_MARGIN
from app.questions.question import Place, Question, token_name
from app.questions.tensor_shape import tensor_shape
from app.stage.scene import Scene, Selection, scene_of
from app.state.choices import GIVEN_SHOWN
from app.take_home.exercises import masked_cells
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import components
from tests.support.recomputed_answers import Recomputed, in_float64
from tests.support.unmarked_texts import INSIDE, bracketed
from transformer.analysis.edits import Edit, HeadUniform, MaskCell, MaskOff
from transformer.config import DecodingConfig
from transformer.model.attention_kinds import Kind

SHIPPED = Path(__file__).parents[2] / "pretrained"
SENTENCES = ("the cat sat on the mat", "the the the", "</script> <b>the</b> cat", "cat")
NO_SEARCH = DecodingConfig(method="greedy", max_extra_length=4)


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Tiny models: post-norm, pre-norm with a window, learned positions and one head."""
    folder = tmp_path_factory.mktemp("asked")
    return [
        write_checkpoint(folder / "paper.safetensors"),
        write_checkpoint(folder / "window.safetensors", Size(2, 2, 4), 3, {"attention_window": 1, "norm": "pre"}),
        write_checkpoint(folder / "one.safetensors", Size(1, 1, 1), 4, {"positions": "learned"}),
    ]


def scene(path: Path, text: str = SENTENCES[0], *edits: Edit) -> Scene:
    return scene_of(Subject(CheckpointFile.at(path), edits), text, NO_SEARCH, Selection())


def asked(path: Path, kind: str, text: str = SENTENCES[0], seeds: int = 12) -> list[Question]:
    """The questions of these seeds that have a clear case."""
    shown = scene(path, text)
    found = (ask(kind, shown, seed=seed) for seed in range(seeds))  # type: ignore[arg-type]
    return [question for question in found if question]


def test_no_answer_is_wrong_or_ambiguous_when_torch_computes_it_again(checkpoints: list[Path]) -> None:
    kinds: set[str] = set()
    trained = {
        SHIPPED / "numbers.safetensors": ("forty-two",),
        SHIPPED / "reverse-window-1.safetensors": ("k f a z k",),
    }
    for path, texts in {**dict.fromkeys(checkpoints, SENTENCES), **trained}.items():
        again = in_float64(path)
        for text in texts:
            shown = scene(path, text)
            recomputed = Recomputed.of(*again, shown.translation.source_ids, shown.hypothesis.ids)
            for kind in KINDS_OF_QUESTIONS:
                for seed in range(3):
                    question = ask(kind, shown, seed=seed)
                    if question:
                        assert recomputed.mistake(question) == "", question
                        kinds.add(kind)
    assert kinds == set(KINDS_OF_QUESTIONS)


def test_the_second_computation_finds_a_wrong_answer(checkpoints: list[Path]) -> None:
    shown = scene(checkpoints[0])
    recomputed = Recomputed.of(*in_float64(checkpoints[0]), shown.translation.source_ids, shown.hypothesis.ids)
    for kind in KINDS_OF_QUESTIONS:
        for question in asked(checkpoints[0], kind, seeds=3):
            moved = replace(question, right=(question.right + 1) % len(question.answers))
            assert recomputed.mistake(moved), kind


@pytest.mark.parametrize("kind", KINDS_OF_QUESTIONS)
def test_the_same_seed_asks_the_same_and_others_ask_something_else(checkpoints: list[Path], kind: str) -> None:
    first = asked(checkpoints[0], kind)
    assert first == asked(checkpoints[0], kind)
    if kind not in ("head-off", "next-word"):  # a tiny model may have no clear case
        assert len({(question.prompt, question.answers) for question in first}) > 1


def test_answers_are_different_texts_and_a_repeated_word_has_its_position(checkpoints: list[Path]) -> None:
    tokens = TokenAxis("", "encoder", ("▁the", "▁cat", "the", "</s>"))
    assert [token_name(tokens, i) for i in range(4)] == ["“the” (token 1)", "“cat”", "“the” (token 3)", "“</s>”"]
    for kind in KINDS_OF_QUESTIONS:
        for question in asked(checkpoints[0], kind, SENTENCES[1], 4):
            assert len(set(question.answers)) == len(question.answers)
    with pytest.raises(ValueError, match="different answers"):
        Question("shape", "", ("a", "a"), 0, "", 1.0, Place())


def test_a_question_is_about_what_is_selected(checkpoints: list[Path]) -> None:
    shown = scene(checkpoints[0])
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


def test_a_head_without_a_clear_answer_is_not_asked_about(checkpoints: list[Path]) -> None:
    equal = scene(checkpoints[0], SENTENCES[0], *(HeadUniform("encoder", 0, head) for head in range(4)))
    assert ask("most-attended", equal, Place("", "encoder", 0)) is None
    assert ask("most-attended", equal, Place("", "encoder"))


def test_the_questions_are_about_the_edited_model(checkpoints: list[Path]) -> None:
    """Without the causal mask nothing is removed; a cell that an edit forbids is."""
    assert ask("masked-cells", scene(checkpoints[0], SENTENCES[0], MaskOff("causal"))) is None
    forbidden = scene(checkpoints[0], SENTENCES[0], MaskCell("cross", 0, 0, 1, 2, False))
    question = ask("masked-cells", forbidden, Place("", "cross", 0, 0))
    assert question
    assert "row 2" in question.answers[question.right] or question.answers[question.right] == "1"


def test_what_is_said_about_a_mask_is_true_for_a_window_and_an_edited_mask(checkpoints: list[Path]) -> None:
    plain, window, _ = checkpoints
    edited = scene(plain, SENTENCES[0], MaskCell("decoder", 0, 0, 3, 1, False))
    ranges = 0
    for shown in (scene(plain), scene(window), edited):
        mask = shown.record("decoder.layers.0.self_attention.mask")["decoder.layers.0.self_attention.mask"][0]
        for seed in range(24):
            question = ask("masked-cells", shown, Place("", "decoder", 0, 0), seed)
            assert question
            if found := re.search(r"Row (\d+) may attend to tokens? (\d+)(?: to (\d+))?\.", question.why):
                row, first, last = (int(number or found[2]) for number in found.groups())
                assert (np.flatnonzero(mask[row - 1]) + 1).tolist() == list(range(first, last + 1))
                ranges += 1
            assert "Row t may" not in question.why or shown.subject == scene(plain).subject
    assert ranges > 10
    short = scene(window, "the the the")
    assert len(short.source) == 4  # of 16 cells the window removes 6, as the causal mask would
    reasons = [ask("masked-cells", short, Place("", "encoder", 0, 0), seed) for seed in range(8)]
    assert "It removes 6 cells of 4 × 4 = 16." in [question.why for question in reasons if question]


def test_numbers_of_a_question_about_a_head_have_no_minus_zero_and_read_1_only_where_they_are_1(
    checkpoints: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = scene(checkpoints[0])
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


def test_without_the_causal_mask_a_question_about_a_step_has_the_probability_of_this_step(
    checkpoints: list[Path],
) -> None:
    shown = scene(checkpoints[0], SENTENCES[0], MaskOff("causal"))
    for step, value in enumerate(shown.hypothesis.log_probabilities):
        question = ask("above-half", shown, Place("decoding", row=step))
        assert question
        assert question.margin == pytest.approx(abs(float(np.exp(value)) - 0.5), abs=1e-6)


@pytest.mark.parametrize("edit", [MaskOff("causal"), MaskCell("decoder", None, None, 1, 4, True)], ids=str)
@pytest.mark.parametrize("kind", ["cross", "decoder"])
def test_a_question_about_a_head_that_is_off_names_the_attention_of_the_steps_whose_loss_it_asks_about(
    checkpoints: list[Path], edit: Edit, kind: Kind
) -> None:
    """A row of a pass over the whole translation attends to later tokens, which its step does not have."""
    plain, shown = scene(checkpoints[0]), scene(checkpoints[0], SENTENCES[0], edit)
    size, heads = len(shown.hypothesis.ids), [(1, head) for head in range(4)]
    assert (plain.hypothesis.ids, size > 4) == (shown.hypothesis.ids, True)
    lost = {head: -(4 - number) * np.eye(size)[1] for number, head in enumerate(heads)}  # most at step 2
    question = _question(shown, _Losses(kind, np.zeros(size), lost), heads[0], heads)
    in_steps, in_pass = (each.attention(kind).weights[1, :, 1].max(axis=-1) for each in (plain, shown))  # (H)
    assert not np.allclose(in_steps, in_pass, atol=0.01)
    for answer, weight in zip(question.answers, in_steps, strict=True):
        assert answer.endswith(f", {decimal_text(float(weight))})")


def test_the_question_on_masks_is_about_the_causal_mask_that_the_page_draws_also_without_it(
    checkpoints: list[Path],
) -> None:
    plain = scene(checkpoints[0])
    edited = scene(checkpoints[0], SENTENCES[0], MaskOff("causal"))
    for seed in range(4):
        question = ask("masked-cells", edited, Place("masks", "decoder", 0, 0), seed)
        assert question
        assert question == ask("masked-cells", plain, Place("masks", "decoder", 0, 0), seed)


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


def words_of(question: Question) -> tuple[str, ...]:
    return (question.prompt, *question.answers, question.why)


def test_a_question_is_in_the_language_of_its_visitor_and_two_languages_do_not_mix(checkpoints: list[Path]) -> None:
    def asked_in(spoken: Language) -> list[Question]:
        with speaking(spoken):
            return [question for path in checkpoints for kind in KINDS_OF_QUESTIONS for question in asked(path, kind)]

    with ThreadPoolExecutor(2) as pool:
        english, german, again = pool.map(asked_in, ("en", "de", "en"))
    assert english == again
    assert {question.kind for question in german} >= {"most-attended", "shape", "masked-cells", "above-half"}
    for one, other in zip(english, german, strict=True):
        assert (one.kind, one.right, one.place, one.margin) == (other.kind, other.right, other.place, other.margin)
        assert one.prompt != other.prompt
        assert one.why != other.why
        assert not re.search(r"\b(the|row|layer|which|is|are|weight|gets)\b", quoted_removed(" ".join(words_of(other))))
    shape = next(question for question in german if question.kind == "shape")
    assert shape.prompt.startswith("Welche Form hat dieser Tensor")


def quoted_removed(text: str) -> str:
    """Without the tokens, which are the visitor's."""
    return re.sub("„[^“]*“", "", text).lower()


def test_all_words_of_a_question_are_marked_for_translation(checkpoints: list[Path]) -> None:
    with bracketed():
        found = [question for path in checkpoints for kind in KINDS_OF_QUESTIONS for question in asked(path, kind)]
    assert len({question.kind for question in found}) >= 4
    for question in found:
        for text in words_of(question):
            while INSIDE.search(text):
                text = INSIDE.sub("", text)
            assert not re.search("[a-z]{2}", text), question


def test_the_text_of_a_lesson_names_kind_and_place() -> None:
    assert kind_and_place("most-attended?kind=encoder&layer=4&head=2&row=3", "attention") == (
        "most-attended",
        Place("attention", "encoder", 3, 1, 2),
    )
    assert kind_and_place("above-half?column=5") == ("above-half", Place(key=4))
    assert kind_and_place("next-word") == ("next-word", None)
    assert kind_and_place("nonsense?layer=0")[0] is None
    assert kind_and_place("shape?layer=x") == ("shape", Place())


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


def test_a_lesson_may_name_each_kind_of_question() -> None:
    """The list in link_check.py is written again, because a lesson is checked without torch."""
    assert tuple(KINDS_OF_QUESTIONS) == tuple(QUESTIONS)


def test_the_output_of_a_layer_is_asked_about_where_it_is(checkpoints: list[Path]) -> None:
    for path, name in zip(checkpoints, ("norm_out", "residual_sum"), strict=False):
        site = f"encoder.layers.0.feed_forward.{name}"
        question = tensor_shape(scene(path), Place("steps", site=site), Random(1))
        assert question
        assert "output of the layer" in question.prompt
        assert question.place.site == site


def test_the_exercise_on_the_mask_is_true_for_the_mask_of_the_model(checkpoints: list[Path]) -> None:
    plain, window, _ = checkpoints
    exercise = masked_cells(scene(plain))
    assert exercise
    assert "to earlier tokens" in exercise.task
    exercise = masked_cells(scene(window))
    assert exercise
    assert "and to the token before it" in exercise.task
    rows = len(scene(window).hypothesis.ids)
    assert exercise.answer.startswith(f"{rows * rows - 2 * rows + 1}.")
    assert masked_cells(scene(plain, SENTENCES[0], MaskOff("causal"))) is None
    assert masked_cells(scene(plain, SENTENCES[0], MaskCell("decoder", 0, 0, 1, 2, True))) is None
    assert masked_cells(scene(plain, SENTENCES[0], MaskCell("decoder", 1, 2, 1, 2, True))) is None


def test_the_advice_on_a_whole_address_can_be_followed() -> None:
    for link, advice in (
        ("http://localhost:8501/?kind=cross", "translate?kind=cross"),
        ("http://localhost:8501/masks?layer=2", "masks?layer=2"),
    ):
        assert advice in check_link(link)[2][0][1]
        assert check_link(advice)[2] == []
