"""The canvas alone on an empty page: which messages and answers it takes, and what it says before they are here."""

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import expect

from app.components.canvas import Head, Question
from app.figures.canvas_message import header_of, message_id
from app.figures.shares import probability_text
from app.stage.canvas_of_scene import message_of
from app.stage.scene import Scene
from app.views.shared.canvas_picture import answer
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.canvas_alone import KEY, MOUNT, QUERY, parts_of, scene_with

# What the server sends over the wire: the newest message is shown, with an answer to a question.
TELL = """([message, answer]) => {
    const line = window.headlightCanvases.get(message);
    line.send = (question) => { window.asked = question; };
    line.state = {message, chosen: {kind: 'cross', layer: 0, head: 0}, received: 0, acts: false, alternatives: [],
        shown: 0, canUndo: false, writes: false, below: 3, form: 'arcs', formName: 'translate_form', answer};
    line.received?.(line.state);
}"""


def test_attention_that_a_byte_rounds_to_0_is_not_called_none(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    """Before the exact weights are here."""
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = alone(scene)
    message = bytearray(message_of(scene))
    start = 4 + int.from_bytes(message[:4], "little")
    for kind in header_of(bytes(message))["kinds"]:
        weights = np.zeros(kind["shape"], np.uint8)
        weights[..., 0] = 255
        message[start : start + weights.size] = weights.tobytes()
        start += weights.size
    page.evaluate(MOUNT, [*parts_of(scene)[:2], base64.b64encode(message).decode()])
    page.locator(".canvas .arc").first.wait_for(state="attached")
    page.locator(KEY).nth(2).hover()
    expect(page.locator(".say")).to_contain_text("gets less than 0.2% of the attention of any query")
    page.get_by_role("radio", name="Decoder self").click()
    page.locator(KEY).last.hover()
    expect(page.locator(".say")).to_contain_text("gets less than 0.2% of the attention of any query")


def test_an_answer_about_the_sentence_before_is_not_taken(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    """Of two sentences one after the other, as when the tab remembers another than the first example."""
    path = write_checkpoint(tmp_path / "one.safetensors")
    before, now = scene_with(path, "a cat"), scene_with(path)
    page = alone(before)
    asked, answers = [], []
    for scene in (before, now):
        shown = message_id(message_of(scene))
        page.evaluate(MOUNT, parts_of(scene))
        page.evaluate(TELL, [shown, None])
        page.wait_for_function("(id) => window.asked?.message === id", arg=shown)
        asked.append(page.evaluate("window.asked"))
        answers.append({"id": asked[-1]["id"], "answer": answer(scene, Question("head", Head("cross", 0, 0), 0, 0))})
    page.evaluate(TELL, [shown, answers[0]])
    page.evaluate(TELL, [shown, answers[1]])
    weights = now.attention("cross").weights[0, 0]  # (T, S)
    for query, row in enumerate(weights):
        page.locator(QUERY).nth(query).hover()
        most = float(row.max())
        assert f"gives {probability_text(most, 3)} of" in page.locator(".say").inner_text()


def test_after_a_change_to_a_smaller_model_no_head_of_the_larger_one_is_shown(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    page = alone(scene_with(write_checkpoint(tmp_path / "large.safetensors")))
    page.locator(".head").last.click()
    page.get_by_role("radio", name="Encoder self").click()
    small = scene_with(write_checkpoint(tmp_path / "small.safetensors", Size(1, 1, 1)))
    page.evaluate("bytes => again(bytes)", base64.b64encode(message_of(small)).decode())
    expect(page.locator(".head")).to_have_count(1)
    for kind in ("Decoder self", "Encoder-decoder"):
        page.get_by_role("radio", name=kind).click()
        expect(page.locator(".facts")).to_contain_text("Layer 1, head 1")


def answer_to(page: Any, scene: Scene, shown: str, asked: dict[str, Any]) -> None:
    """Gives the page the answer to its question, while the decoder's self-attention is chosen."""
    head = Head(asked["kind"], asked["layer"], asked["head"])
    found = answer(scene, Question(asked["asks"], head, asked["query"], asked["key"]))
    page.evaluate(TELL.replace("'cross'", "'decoder'"), [shown, {"id": asked["id"], "answer": found}])


def test_a_cell_of_the_matrix_is_unpinned_by_escape_and_masked_keys_share_nothing(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page, shown = alone(scene), message_id(message_of(scene))
    page.get_by_role("radio", name="Decoder self").click()
    page.get_by_role("radio", name="Matrix").click()
    page.evaluate(TELL, [shown, None])
    page.get_by_role("radio", name="Decoder self").click()
    grid = page.locator(".matrix canvas")
    grid.focus()
    page.keyboard.press("Enter")  # the first row, in which only the first key is allowed
    asked = page.evaluate("window.asked")
    while asked["asks"] != "cell":  # questions are asked one at a time
        answer_to(page, scene, shown, asked)
        page.wait_for_function("(id) => window.asked.id !== id", arg=asked["id"])
        asked = page.evaluate("window.asked")
    answer_to(page, scene, shown, asked)
    expect(page.locator(".computed .steps")).to_contain_text("100%")
    assert "other key" not in page.locator(".computed").inner_text()
    page.keyboard.press("Escape")
    expect(page.locator(".computed")).to_be_hidden()
    expect(grid).to_be_focused()
    assert "Heads that link" in page.locator(".facts").inner_text()
    page.keyboard.press("Escape")
    assert "Heads that link" not in page.locator(".facts").inner_text()
