"""The pictures of the page Decoding alone in a browser."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from app.compute.subject import Subject
from app.figures.axes import TokenAxis
from app.library.checkpoints import CheckpointFile
from app.stage.scene import Selection, scene_of
from app.views.decoding.frame_section import frame_of
from app.views.decoding.loop_data import DecodingStep, Sizes, loop_picture
from app.views.decoding.page import with_tree
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import SENTENCE
from tests.support.component_alone import draw, hold, mount

TOO_HIGH = "node => node.scrollHeight > node.clientHeight + 1"


def loop_of(tokens: int) -> dict[str, Any]:
    """The data of the loop for a source of so many tokens."""
    source = TokenAxis("English", "encoder", ("▁sentence",) * tokens)
    target = TokenAxis("German", "decoder", ("<s>",), ("</s>",))
    step = DecodingStep(0, np.full(tokens, 1 / tokens), np.ones(1), 0, 0, (0.5, 0.5))
    return loop_picture(source, target, step, Sizes(1, 1, 1, 8, 8, 100))


def draw_frame(page: Any, frame: dict[str, Any]) -> None:
    """Draws the first step of the frame."""
    hold(page, "loop", frame | {"scene": "one"})
    draw(page, {"scene": "one", "step": 0, "received": 0})


def test_after_a_long_sentence_a_short_one_has_no_button_for_fewer_tokens(browser: Any) -> None:
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    mount(page, "decoding_loop")
    draw(page, loop_of(80))
    page.get_by_role("button", name="All tokens").click()
    expect(page.get_by_role("button", name="Fewer tokens")).to_be_visible()
    draw(page, loop_of(3))
    expect(page.locator("button")).to_have_count(0)
    page.close()


@pytest.mark.parametrize("method", ["sampling", "beam"])
def test_on_a_phone_the_reason_is_whole_and_keys_can_scroll_the_hypotheses(
    method: Any, browser: Any, tmp_path: Path
) -> None:
    subject = Subject(CheckpointFile.at(write_checkpoint(tmp_path / "one.safetensors")))
    settings = replace(subject.translator.settings, method=method, beam=5, n_best=5)
    scene = with_tree(scene_of(subject, SENTENCE, settings, Selection()))
    page = browser.new_page()
    page.set_viewport_size({"width": 390, "height": 844})
    mount(page, "next_token")
    draw_frame(page, frame_of(scene, 0, 0))
    rows = page.locator(".beam-rows")
    assert rows.evaluate(TOO_HIGH)
    assert rows.get_attribute("tabindex") == "0"
    assert not page.locator(".why").evaluate(TOO_HIGH)
    page.close()


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.soak)])
def test_the_hypotheses_stay_in_their_place_however_long_the_texts_above_them_are(
    width: int, browser: Any, tmp_path: Path
) -> None:
    subject = Subject(CheckpointFile.at(write_checkpoint(tmp_path / "one.safetensors")))
    scene = with_tree(scene_of(subject, SENTENCE, replace(subject.translator.settings, beam=5), Selection()))
    frame = frame_of(scene, 0, 0)
    frame["steps"][1]["why"] += " It is alternative 2." * 12
    frame["beams"]["end"] = {"title": "At the end of the search. " * 12, "rows": [{"node": 1, "number": "−1.0"}]}
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": 844})
    mount(page, "next_token")
    draw_frame(page, frame)
    places = []
    for chip in page.locator(".written .chips button").all()[1:]:
        chip.click()
        places.append((page.locator(".beams").bounding_box(), page.locator(".beam-rows").bounding_box()))
    assert len(places) == len(frame["steps"]) > 2
    assert all(place == places[0] for place in places)
    page.close()


def test_tokens_become_smaller_where_they_do_not_fit(browser: Any, tmp_path: Path) -> None:
    subject = Subject(CheckpointFile.at(write_checkpoint(tmp_path / "one.safetensors")))
    frame = frame_of(with_tree(scene_of(subject, SENTENCE, subject.translator.settings, Selection())), 0, 0)
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    mount(page, "next_token")
    chips = page.locator(".source .chips")
    for count, smaller in [(8, False), (14, True)]:
        frame["source"]["tokens"] = ["▁sentence"] * count
        frame["steps"] = [step | {"weights": [1 / count] * count} for step in frame["steps"]]
        draw_frame(page, frame)
        assert not chips.evaluate(TOO_HIGH)
        assert ("many" in str(chips.get_attribute("class")).split()) == smaller
    page.close()


@pytest.mark.parametrize("least", ["least certain, step 1: 5%", "least certain, step 1: 3.46% → 4.04%" * 2])
def test_what_is_said_beside_the_written_tokens_is_whole_or_left_out(least: str, browser: Any, tmp_path: Path) -> None:
    subject = Subject(CheckpointFile.at(write_checkpoint(tmp_path / "one.safetensors")))
    frame = frame_of(with_tree(scene_of(subject, SENTENCE, subject.translator.settings, Selection())), 0, 0)
    frame["least"] = {"step": 0, "words": least}
    page = browser.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    mount(page, "next_token")
    draw_frame(page, frame)
    heading, more = (page.locator(f".head {part}").bounding_box() for part in ("h3", ".more"))
    left_out = more["y"] >= heading["y"] + heading["height"]
    assert left_out or more["x"] + more["width"] <= heading["x"] + heading["width"]
    assert left_out == (len(least) > 30)
    page.close()
