"""The matrix of the causal mask alone in a browser, for models with an attention window and with an edited mask."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from app.languages import LANGUAGES
from app.views.shared.causal_picture import message, passes, scores_before, scores_message
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import scene_with
from tests.support.component_alone import draw, mount
from transformer.analysis.edits import parse_edit

SHOWN = """() => {
    const isShown = each => getComputedStyle(each.parentNode).opacity > 0;
    const shown = [...document.querySelectorAll('svg .cell')].filter(isShown);
    const hatched = [...document.querySelectorAll('svg .hidden-cell')].filter(isShown);
    return [shown.length, hatched.length > 0];
}"""


def test_scores_outside_the_attention_window_are_shown(browser: Any, tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "window.safetensors", options={"attention_window": 1}))
    scores = {"scores": scores_message(scores_before(scene, 0, 0), 0, 0), "shown": 0, "received": 0}
    page = browser.new_page()
    page.emulate_media(reduced_motion="reduce")
    mount(page, "causal_matrix")
    draw(page, message(scene, *passes(scene), 0, 0) | scores)
    size = len(scene.target)
    assert page.evaluate(SHOWN) == [2 * size - 1, True]  # the diagonal and the cells left of it
    chosen = page.get_by_role("radio", checked=True)
    chosen.focus()
    page.keyboard.press("Alt+ArrowRight")  # a key of the browser
    expect(chosen).to_have_text("With the mask")
    page.get_by_role("radio", name="Scores before").click()
    assert page.evaluate(SHOWN) == [size * size, False]
    expect(page.locator(".score")).to_contain_text("those outside the attention window")
    page.close()


def test_what_masks_a_cell_is_read_from_the_mask_of_the_pass(browser: Any, tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "window.safetensors", options={"attention_window": 1}))
    scores = {"scores": scores_message(scores_before(scene, 0, 0), 0, 0), "shown": 1, "received": 0}
    page = browser.new_page()
    mount(page, "causal_matrix")
    draw(page, message(scene, *passes(scene), 0, 0) | scores)
    page.locator("svg.picture").focus()
    for key in ("ArrowRight", "ArrowRight"):  # row 2, two keys after its own
        page.keyboard.press(key)
    expect(page.locator(".status")).to_contain_text("outside its attention window")

    plain = scene_with(write_checkpoint(tmp_path / "plain.safetensors"))
    open_pass = passes(plain)[1]  # as after an edit that has taken the causal mask away
    draw(page, message(plain, open_pass, open_pass, 0, 0) | scores | {"shown": 2, "received": 1})
    expect(page.locator(".score")).to_contain_text("the mask sets none of them")

    closed = replace(plain, subject=plain.subject.edited(parse_edit("forbid=decoder.1.1.2.1")))
    draw(page, message(closed, *passes(closed), 0, 0) | scores | {"shown": 2, "received": 2})
    expect(page.locator(".score")).to_contain_text("right of the line to −∞, and an edit those that it forbids")
    page.close()


def test_above_a_small_matrix_its_caption_is_whole(browser: Any, tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    data = message(scene, *passes(scene), 0, 0) | {"shown": 0, "received": 0, "height": 200}
    page = browser.new_page()
    page.set_viewport_size({"width": 760, "height": 720})
    mount(page, "causal_matrix")
    draw(page, data)
    expect(page.get_by_text("Rows are queries, columns are keys: the tokens that the decoder has read")).to_be_visible()
    page.close()


def test_on_a_phone_the_heading_of_the_probabilities_ends_in_the_window_in_every_language(
    browser: Any, tmp_path: Path
) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    data = message(scene, *passes(scene), 0, 0) | {"shown": 0, "received": 0}
    for language in LANGUAGES:
        page = browser.new_page()
        page.set_viewport_size({"width": 390, "height": 844})
        mount(page, "causal_matrix", language=language)
        draw(page, data)
        headings = page.locator("svg.picture .quiet")
        headings.last.wait_for()
        width = page.locator("svg.picture").bounding_box()["width"]
        edges = headings.evaluate_all("nodes => nodes.map(node => node.getBBox()).map(box => box.x + box.width)")
        assert max(edges) <= width + 1, (language, edges)
        page.close()
