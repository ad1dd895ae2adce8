"""The canvas alone on an empty page: what it draws, what it says, and which answers it takes."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from app.components.canvas import Head, Question
from app.compute.subject import Subject
from app.figures.canvas_message import header_of, message_id
from app.figures.shares import probability_text
from app.library.checkpoints import CheckpointFile
from app.stage.canvas_of_scene import message_of
from app.stage.scene import Scene, Selection, scene_of
from app.views.shared.canvas_picture import answer
from tests.browser.conftest import PATIENCE
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.canvas_alone import KEY, MOUNT, QUERY, SENTENCE, parts_of, scene_with
from transformer.analysis.edits import MaskCell

# What the server sends over the wire: the newest message is shown, with an answer to a question.
TELL = """([message, answer]) => {
    const line = window.headlightCanvases.get(message);
    line.send = (question) => { window.asked = question; };
    line.state = {message, chosen: {kind: 'cross', layer: 0, head: 0}, received: 0, acts: false, alternatives: [],
        shown: 0, canUndo: false, writes: false, below: 3, form: 'arcs', formName: 'translate_form', answer};
    line.received?.(line.state);
}"""


@pytest.fixture
def alone(browser: Any) -> Iterator[Callable[[Scene], Any]]:
    """Mounts the component on an empty page, without Streamlit and without a server."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.emulate_media(reduced_motion="reduce")
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("dialog", lambda dialog: (page.errors.append(dialog.message), dialog.dismiss()))

    def mount(scene: Scene) -> Any:
        page.set_content("<!doctype html><body></body>")
        page.evaluate(MOUNT, parts_of(scene))
        page.locator(".canvas .arc").first.wait_for(state="attached")
        return page

    yield mount
    assert page.errors == []
    page.close()


def test_mounted_alone_it_draws_points_and_walks(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = alone(scene)
    assert page.locator(QUERY).count() == len(scene.hypothesis.ids)
    assert page.locator(KEY).count() == len(scene.translation.source_ids)
    assert page.locator(".head").count() == 3 * 4
    say = page.locator(".say")
    page.locator(QUERY).nth(1).hover()
    assert say.inner_text().startswith("While “")
    page.mouse.move(1, 1)
    assert say.inner_text().startswith("Point at a word")
    page.locator(QUERY).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(QUERY).nth(1).get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator(f"{KEY}.pinned").count() == 1
    assert "Heads that link" in page.locator(".facts").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".pinned").count() == 0
    page.locator(".head").nth(5).click()
    assert "Layer 2, head 2" in page.locator(".facts").inner_text()
    page.get_by_role("radio", name="Decoder self").click()
    assert page.locator(KEY).first.inner_text() == "<s>"
    assert [name for name, _ in page.evaluate("window.sent")] == ["chosen", "chosen"]


def test_heads_that_attend_to_a_word_from_several_others_too_are_named(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = alone(scene)
    weights = np.rint(255 * scene.attention("cross").weights)  # (N, H, T, S)
    layers, heads, rows, keys = weights.shape
    mentioned = []
    for query, key in ((0, 0), (1, 2), (2, keys - 1)):
        page.locator(QUERY).nth(query).click()
        page.locator(KEY).nth(key).click()
        columns = weights[..., key].reshape(layers * heads, rows)
        most = np.argsort(-columns[:, query], kind="stable")[:6]
        linked = [i for i in most if columns[i, query] > 0]
        counts = {i: np.sum(2 * np.delete(columns[i], query) >= columns[i, query]) for i in linked}
        anyway = [i for i, count in counts.items() if count > 1 and 4 * count >= rows - 1]
        text = page.locator(".facts").inner_text()
        mentioned.append("everal other tokens attend to" in text)
        assert mentioned[-1] == bool(anyway)
        if 0 < len(anyway) < 6:
            assert all(f"layer {i // heads + 1} head {i % heads + 1}" in text for i in anyway)
        page.keyboard.press("Escape")
    assert any(mentioned)


def test_a_mask_that_is_edited_in_one_head_is_said_of_this_head_alone(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    subject = Subject(CheckpointFile.at(write_checkpoint(tmp_path / "one.safetensors")))
    edited = subject.edited(MaskCell("decoder", 1, 2, 1, 3, True))
    page = alone(scene_of(edited, SENTENCE, edited.translator.settings, Selection()))
    page.get_by_role("radio", name="Decoder self").click()
    page.locator(".head").nth(6).click()
    page.locator(QUERY).nth(1).click()
    page.locator(KEY).nth(3).click()
    assert page.locator(".linked button").all_inner_texts() == ["layer 2, head 3"]
    assert "cannot attend" not in page.locator(".say").inner_text()
    page.locator(".head").nth(5).click()
    assert "it comes later, so it is masked" in page.locator(".say").inner_text()


def test_an_arc_is_as_wide_as_its_weight(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = alone(scene)
    page.locator(".head").nth(6).click()
    weights = scene.attention("cross").weights[1, 2]
    arcs = page.locator(".arc").evaluate_all(
        "nodes => nodes.map(n => [+n.dataset.query, +n.dataset.key, parseFloat(n.style.strokeWidth), +n.style.opacity])"
    )
    drawn = {(int(q), int(k)): width for q, k, width, opacity in arcs if opacity > 0}
    assert set(drawn) == {(int(q), int(k)) for q, k in zip(*np.nonzero(np.rint(255 * weights) >= 6), strict=True)}
    for (q, k), width in drawn.items():
        assert width == pytest.approx(1 + 8 * weights[q, k], abs=0.03)


def test_runners_up_that_cannot_be_clicked_are_as_wide_as_their_token(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    page = alone(scene_with(write_checkpoint(tmp_path / "one.safetensors")))
    runners = page.locator(".probability div.runner")
    assert runners.count()
    beyond = runners.evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right - one.parentElement.getBoundingClientRect().right)"
    )
    assert max(beyond) < 0.5, "the picture is wider than its frame, so its right edge fades"


def test_a_page_is_left_while_the_canvas_is_on_it(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    """The canvas has the width 0 before it goes, in which nothing can be laid out."""
    page = alone(scene_with(write_checkpoint(tmp_path / "one.safetensors")))
    page.evaluate("document.body.firstElementChild.style.display = 'none'")
    page.evaluate("setTimeout(() => { window.alive = true; }, 200)")
    page.wait_for_function("() => window.alive")
    page.evaluate("document.body.firstElementChild.style.display = ''")
    page.wait_for_function("() => { window.dispatchEvent(new Event('resize')); return true; }")
    assert page.locator(".head").first.bounding_box()["width"] > 5
    assert not page.errors


def test_another_kind_shows_all_its_heads_also_while_a_calculation_is_open(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    """The small pictures are hidden then, and what is hidden has no width."""
    page = alone(scene_with(write_checkpoint(tmp_path / "one.safetensors")))
    head = page.locator(".head").first
    wide = head.bounding_box()["width"]
    page.locator(QUERY).nth(1).click()
    page.locator(".weight.key:not([hidden])").first.click()
    page.locator(".computed .close").wait_for()
    page.get_by_role("radio", name="Decoder self").click()
    assert head.bounding_box()["width"] == wide


@pytest.mark.parametrize(
    "text",
    [
        "</script><img src=x onerror=alert(1)>",
        "שלום עולם",
        *(pytest.param(text, marks=pytest.mark.soak) for text in ("the the the", "a", "x " * 40)),
    ],
)
def test_whatever_is_typed_is_drawn_as_text(text: str, alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"), text)
    page = alone(scene)
    shown = page.locator(KEY).evaluate_all("nodes => nodes.map(node => node.title)")
    assert shown == list(scene.source.tokens)
    assert page.locator("img").count() == 0
    page.locator(".segments button", has_text="Matrix").click()
    assert page.locator(".matrix .column").count() == len(shown)


def test_the_matrix_names_its_axes_and_a_row_of_self_attention_what_it_reads_and_writes(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = alone(scene)
    page.locator(".segments button", has_text="Matrix").click()
    expect(page.locator(".matrix .axis")).to_have_text(["Columns: source", "Rows: writes"])
    page.locator(".kinds button", has_text="Decoder self").click()
    expect(page.locator(".matrix .axis")).to_have_text(["Columns: reads", "Rows: reads → writes"])
    reads = page.locator(".matrix .column").all_inner_texts()
    rows = page.locator(".matrix .row").all_inner_texts()
    assert [row.split(" → ")[0] for row in rows] == reads
    assert len(rows) == len(scene.hypothesis.ids)


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


BEFORE_A_CLASS = (
    "sheet => { document.head.append(Object.assign(document.createElement('style'), {textContent: sheet})); }"
)
# Tokens that are in sight, those that stick out of their frame, and the size of their smallest type, in px.
IN_SIGHT = """() => {
    const root = document.body.firstElementChild.shadowRoot, frame = root.querySelector('.frame-of-stage');
    const box = frame.getBoundingClientRect(), tokens = [...root.querySelectorAll('.token')];
    const out = tokens.map(each => each.getBoundingClientRect()).filter(each =>
        each.left < box.left - 1 || each.right > box.right + 1 || each.top < box.top || each.bottom > box.bottom);
    const covers = (a, b) =>
        a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const boxes = tokens.map(each => each.getBoundingClientRect());
    return {
        out: out.length, wide: frame.scrollWidth - frame.clientWidth, high: frame.scrollHeight - frame.clientHeight,
        covered: boxes.filter((a, i) => boxes.some((b, j) => j > i && covers(a, b))).length,
        least: Math.min(...tokens.map(each => parseFloat(getComputedStyle(each.firstElementChild).fontSize))),
    };
}"""


@pytest.mark.parametrize(
    ("width", "height", "rem"), [(1280, 720, 18.4), pytest.param(1920, 1080, 27.6, marks=pytest.mark.soak)]
)
@pytest.mark.parametrize("words", [20, pytest.param(50, marks=pytest.mark.soak), 96])
def test_before_a_class_a_long_sentence_is_in_several_rows_and_what_is_left_out_is_said(
    alone: Callable[[Scene], Any], tmp_path: Path, words: int, width: int, height: int, rem: float
) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"), "the cat sat on the mat " * (words // 6))
    page = alone(scene)
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(
        BEFORE_A_CLASS, f"html {{ font-size: {rem}px; }} :root {{ --lecture-below: 6; }} body {{ margin: 0; }}"
    )
    page.evaluate("window.dispatchEvent(new Event('resize'))")
    page.locator(".canvas.whole").wait_for()
    for kind in ("Encoder-decoder", "Encoder self"):
        page.get_by_role("radio", name=kind).click()
        found = page.evaluate(IN_SIGHT)
        assert (found["out"], found["wide"], found["high"], found["covered"]) == (0, 0, 0, 0), found
        assert found["least"] >= 14 * height / 720
        for side, tokens in ((KEY, scene.source.tokens), (QUERY, scene.target.tokens)):
            if kind == "Encoder self":
                tokens = scene.source.tokens
            shown, label = page.locator(side).count(), page.locator(f".label.{'first' if side == KEY else 'second'}")
            assert (f"The first {shown} of {len(tokens)} tokens" in label.inner_text()) == (shown < len(tokens))
            assert shown >= min(len(tokens), 20)


LONG = "the cat sat on the mat because it was too tired"


def test_above_a_row_that_scrolls_is_the_number_of_its_own_tokens(
    alone: Callable[[Scene], Any], tmp_path: Path
) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"), LONG)
    page = alone(scene)
    page.set_viewport_size({"width": 800, "height": 720})
    assert len(scene.translation.source_ids) != len(scene.hypothesis.ids)
    count = len(scene.translation.source_ids)
    expect(page.locator(".label.first")).to_contain_text(f". {count} tokens: scroll sideways")


@pytest.mark.parametrize(("words", "fits"), [(18, True), (48, False)])
def test_a_matrix_is_low_enough_for_the_window_or_fades_where_it_goes_on(
    alone: Callable[[Scene], Any], tmp_path: Path, words: int, fits: bool
) -> None:
    text = "the cat sat on the mat " * (words // 6)
    page = alone(scene_with(write_checkpoint(tmp_path / "one.safetensors"), text))
    page.set_viewport_size({"width": 1280, "height": 520})
    page.get_by_role("radio", name="Encoder self").click()
    page.get_by_role("radio", name="Matrix").click()
    frame = page.locator(".frame-of-stage")
    assert frame.evaluate("node => node.scrollHeight <= node.clientHeight") == fits
    fades = "node => getComputedStyle(node).getPropertyValue('--beneath')"
    assert bool(frame.evaluate(fades)) != fits
