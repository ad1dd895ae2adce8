"""The canvas without a browser: the content of its message, and answers that equal the tensors."""

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.components.canvas import Head, Question
from app.components.numbered import receive
from app.components.registration import sent
from app.compute.subject import Subject
from app.figures.canvas_message import (
    KindOfAttention,
    RunnerUp,
    Side,
    Written,
    canvas_message,
    message_id,
    quantised,
)
from app.library.checkpoints import CheckpointFile
from app.stage.canvas_of_scene import message_of
from app.stage.heads import opening_head
from app.stage.scene import Scene, Selection, scene_of
from app.views.shared.canvas_picture import alternatives, answer
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.canvas_alone import scene_with
from tests.support.drawn import attention_weights, components, unpacked_canvas
from tests.support.small_alignment import made_map
from transformer.analysis.edits import MaskCell, WeightsSet
from transformer.config import EOS
from transformer.model.attention_kinds import KINDS, Kind

Open = Callable[..., AppTest]
SENTENCE = "the cat sat on the mat"
PATTERNS: dict[Kind, str] = {
    "cross": "decoder.layers.*.cross_attention.weights",
    "encoder": "encoder.layers.*.self_attention.weights",
    "decoder": "decoder.layers.*.self_attention.weights",
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"attention_window": 1},
    {"positions": "learned"},
    {"positions": "none"},
]
SIZES = [Size(1, 1, 1), Size(2, 3, 4), Size(3, 1, 2), Size(1, 4, 8)]


def exact(scene: Scene, kind: Kind) -> np.ndarray:
    """(L, H, Q, K), computed beside the app."""
    translator = scene.subject.translator
    return attention_weights(translator.model, scene.translation.source_ids, scene.hypothesis.ids, PATTERNS[kind])


def decoded(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f4")


def checkpoints_of_all_sorts() -> list[tuple[Size, int, dict[str, Any]]]:
    """20: each option with sizes that differ in depth and heads."""
    return [(SIZES[(i + i // 4) % 4], i, OPTIONS[i % len(OPTIONS)]) for i in range(20)]


@pytest.mark.parametrize(("size", "seed", "options"), checkpoints_of_all_sorts())
def test_a_written_number_is_the_tensors(size: Size, seed: int, options: dict[str, Any], tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors", size, seed, options))
    header, packed, masks = unpacked_canvas(message_of(scene))
    for kind in KINDS:
        weights = exact(scene, kind)
        assert packed[kind].shape == weights.shape
        assert np.abs(packed[kind] / 255 - weights).max() <= 1 / 510 + 1e-6
        assert (packed[kind][:, :, ~masks[kind]] == 0).all()
        layers, heads, queries, _ = weights.shape
        head = Head(kind, seed % layers, seed % heads)
        query, key = seed % queries, int(weights[head.layer, head.head, seed % queries].argmax())
        whole = answer(scene, Question("head", head, 0, 0))
        assert whole is not None
        assert np.array_equal(decoded(whole["weights"]), weights[head.layer, head.head].ravel())
        linked = answer(scene, Question("link", head, query, key))
        assert linked is not None
        assert np.array_equal(decoded(linked["weights"]), weights[:, :, query, key].ravel())
        one = answer(scene, Question("cell", head, query, key))
        assert one is not None
        assert one["weights"] == pytest.approx(weights[head.layer, head.head, query], abs=5e-5)
    assert header["target"]["probabilities"] == pytest.approx(np.exp(scene.hypothesis.log_probabilities), rel=1e-4)


def test_a_mask_that_is_edited_in_one_head_is_that_of_this_head_alone(tmp_path: Path) -> None:
    subject = Subject(CheckpointFile.at(write_checkpoint(tmp_path / "one.safetensors")))
    edited = subject.edited(MaskCell("decoder", 1, 2, 1, 3, True), MaskCell("cross", 0, 3, 2, 0, False))
    scene = scene_of(edited, SENTENCE, edited.translator.settings, Selection())
    header, packed, masks = unpacked_canvas(message_of(scene))
    assert [kind.get("ownMasks", False) for kind in header["kinds"] if kind["name"] != "encoder"] == [True, True]
    usual = np.tri(len(scene.target), dtype=bool)
    for (layer, head), cell, allowed, kind in (((1, 2), (1, 3), True, "decoder"), ((0, 3), (2, 0), False, "cross")):
        expected = np.broadcast_to(usual if kind == "decoder" else True, packed[kind].shape).copy()
        expected[layer, head][cell] = allowed
        assert np.array_equal(masks[kind], expected)
    assert masks["encoder"].ndim == 2


def test_the_calculation_of_a_weight_adds_up(tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    for kind in KINDS:
        queries, keys = (len(axis) for axis in scene.axes(kind))
        for query in range(queries):
            found = answer(scene, Question("cell", Head(kind, 1, 2), query, query % keys))
            assert found is not None
            key = query % keys
            assert np.dot(found["query"], found["keyVector"]) == pytest.approx(found["product"], rel=1e-4, abs=1e-4)
            scores = np.array([-np.inf if score is None else score for score in found["scores"]])
            if np.isfinite(scores[key]):
                assert found["product"] / np.sqrt(found["width"]) == pytest.approx(scores[key], rel=1e-4, abs=1e-4)
            powers = np.exp(scores - scores.max())
            assert powers / powers.sum() == pytest.approx(found["weights"], abs=1e-5)
            assert found["added"] == pytest.approx(np.linalg.norm(found["value"]) * found["weights"][key], rel=1e-4)


def test_the_scores_of_an_edited_row_are_those_of_its_softmax(tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    edited = replace(scene, subject=scene.subject.edited(WeightsSet("cross", 1, 2, 0, ((0, 1), (1, 3)))))
    found = answer(edited, Question("cell", Head("cross", 1, 2), 0, 1))
    assert found is not None
    scores = np.array([-np.inf if score is None else score for score in found["scores"]])
    powers = np.exp(scores - scores.max())
    assert powers / powers.sum() == pytest.approx(found["weights"], abs=1e-5)
    assert found["weights"][:2] == pytest.approx([0.25, 0.75], abs=1e-5)
    assert found["product"] / np.sqrt(found["width"]) != pytest.approx(scores[1], abs=1e-3)  # before the edit


def test_the_score_of_a_later_token_is_said_to_be_masked(tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    found = answer(scene, Question("cell", Head("decoder", 0, 0), 0, 1))
    assert found is not None
    assert found["scores"][1] is None
    assert found["weights"][1] == 0


@pytest.mark.parametrize(
    "question",
    [
        Question("head", Head("cross", 99, 0), 0, 0),
        Question("head", Head("cross", 0, 99), 0, 0),
        Question("cell", Head("encoder", 0, 0), 99, 0),
        Question("link", Head("decoder", 0, 0), 0, 99),
    ],
)
def test_a_question_about_what_is_not_there_has_no_answer(question: Question, tmp_path: Path) -> None:
    assert answer(scene_with(write_checkpoint(tmp_path / "one.safetensors")), question) is None


def test_a_translation_that_is_found_and_given_too_is_listed_once(tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    [best] = scene.translation.hypotheses
    searched = (best, *(replace(best, ids=best.ids[:count]) for count in (1, 2)))
    given = replace(searched[1], node=None)
    both = replace(scene.translation, hypotheses=(*searched, given))
    scene = replace(scene, translation=both, given=given, shown=3)
    listed = alternatives(scene)
    assert [one["detail"].startswith("yours") for one in listed] == [False, False, True]
    assert [replace(scene, shown=shown).shown_in_list for shown in range(4)] == [0, 2, 1, 2]


def test_runners_up_are_the_most_probable_other_tokens(tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    target = unpacked_canvas(message_of(scene))[0]["target"]
    logits = scene.record("logits")["logits"]
    for step, (row, runners, chosen) in enumerate(zip(logits, target["runners"], scene.hypothesis.ids, strict=True)):
        least = EOS if step else EOS + 1  # </s> and tokens of the text, no <pad>, <unk>, <s>
        best = [id for id in np.argsort(-row, kind="stable").tolist() if id >= least and id != chosen][:5]
        assert [runner["id"] for runner in runners] == best
        shares = [runner["probability"] for runner in runners]
        assert shares == sorted(shares, reverse=True)


def test_it_opens_with_the_head_that_aligns_where_that_was_measured(tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "one.safetensors")
    scene = scene_with(path)
    _, why = opening_head(scene, "cross")
    assert "attends sharply to words" in why
    found = made_map(path, 3, 4)
    assert found is not None
    aligning, why = opening_head(scene, "cross")
    assert "best aligns the words that its rows predict" in why
    assert unpacked_canvas(message_of(scene))[0]["kinds"][0]["opening"] == list(aligning)
    assert "attends sharply to words" in opening_head(scene, "encoder")[1]


@pytest.mark.parametrize(
    "text", ["</script><img src=x onerror=alert(1)>", "the the the", "שלום עולם", "a", "🙂", "\u202eabc", "x" * 90]
)
def test_whatever_is_typed_arrives_as_it_is(text: str, tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"), text)
    header, packed, _ = unpacked_canvas(message_of(scene))
    assert len(header["source"]["tokens"]) == len(scene.translation.source_tokens) == packed["cross"].shape[3]
    assert all(token.isprintable() for token in header["source"]["tokens"])


def test_a_message_for_a_component_that_is_gone_is_ignored() -> None:
    """It was sent just before another page was opened."""
    assert sent("gone", "asked") is None
    assert receive("gone") == ("", -1)


def test_a_message_is_named_after_what_it_shows() -> None:
    def message(weight: float, token: str) -> bytes:
        weights = np.full((1, 1, 1, 1), weight, np.float32)
        kind = KindOfAttention(
            "Title", "Short", "#000000", weights, np.ones((1, 1), bool), (0, 0), "because", [["rests"]]
        )
        written = Written(Side("To", ["b"]), ["<s>"], [0.5], [[RunnerUp(7, "c", 0.1)]])
        return canvas_message(Side("From", [token]), written, {"cross": kind}, {})

    same, others = message(1.0, "a"), (message(0.5, "a"), message(1.0, "b"))
    assert message_id(message(1.0, "a")) == message_id(same)
    assert all(message_id(other) != message_id(same) for other in others)


def test_a_weight_is_rounded_to_the_nearest_of_255_steps() -> None:
    assert quantised(np.array([0.0, 1.0, 0.5, 1 / 255, -0.1, 1.1])).tolist() == [0, 255, 128, 1, 0, 255]


def wire(app: AppTest) -> dict[str, Any]:
    (found,) = components(app, "canvas_channel")
    return found


def test_the_page_opens_on_the_head_of_its_address_and_says_which_is_shown(open_app: Open) -> None:
    assert wire(open_app(kind="encoder", layer="2", head="4"))["chosen"] == {"kind": "encoder", "layer": 1, "head": 3}
    app = open_app(layer="99", head="0", kind="nonsense")
    chosen = wire(app)["chosen"]
    assert chosen["kind"] == "cross"
    assert 0 <= chosen["layer"] < 3
