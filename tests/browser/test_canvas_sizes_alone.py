"""The canvas alone on an empty page: it fits its frame, and says or shows what does not fit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from app.stage.scene import Scene
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import KEY, QUERY, scene_with


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
