"""The canvas alone on an empty page: what it draws and what it says of heads and tokens."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.stage.scene import Scene, Selection, scene_of
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import KEY, QUERY, SENTENCE, scene_with
from transformer.analysis.edits import MaskCell


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
