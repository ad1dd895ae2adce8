"""The file that a class takes home, opened from the disk: no server, no network."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from app.lessons.lesson_file import LessonScene
from app.notebook import Canvas
from app.take_home.hand_out import HandOut, hand_out
from app.take_home.handed_scenes import handed_scenes
from tests.browser.conftest import PATIENCE, Visit
from transformer import Translator

PAGES = ("translate", "attention", "hand", "steps", "decoding")


@pytest.mark.soak
def test_the_file_works_from_the_disk(
    browser: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(folder))
    scenes = [LessonScene(page, 1, page, {}, "en-de", "the cat sat on <b>mats</b>", "", "", "", 1) for page in PAGES]
    shown = [each.scene for each in handed_scenes(scenes, {})]
    file = tmp_path / "lesson.html"
    file.write_text(hand_out(HandOut("A lesson", "", date(2026, 11, 27), [], shown)), encoding="utf-8")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.emulate_media(reduced_motion="reduce", color_scheme="light")
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if request.url.startswith("file:") else problems.append(request.url))
    page.goto(file.as_uri())
    expect(page.locator("iframe")).to_have_count(len(PAGES))
    canvas = page.frame_locator("iframe >> nth=0")
    canvas.locator('.token[data-side="query"]').nth(1).hover()
    expect(canvas.locator(".say")).to_contain_text("gives")  # exact numbers, which are in the file
    canvas.locator('.token[data-side="query"]').nth(1).click()
    canvas.locator("button.weight:visible").first.click()
    expect(canvas.locator(".computed")).to_contain_text("Divided by √")
    canvas.get_by_label("Close the calculation").click()
    other = canvas.locator('.head[aria-checked="false"]').first
    other.click()
    canvas.locator(".arc").first.dispatch_event("click")
    expect(canvas.locator(".computed")).to_contain_text("This file has the calculation of one head only")
    expect(page.frame_locator("iframe >> nth=1").locator(".matrix canvas")).to_be_visible()
    expect(page.frame_locator("iframe >> nth=4").locator(".row.chosen")).to_be_visible()
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html")).to_have_attribute("data-scheme", "dark")
    expect(page.frame_locator("iframe >> nth=0").locator(".canvas .arc").first).to_be_attached()
    assert problems == []
    page.close()


def test_the_canvas_is_drawn_in_the_output_of_a_notebook(browser: Any, folder: Path) -> None:
    canvas = Canvas(Translator.load(folder / "en-de.safetensors"), "the cat sat")
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("request", lambda request: problems.append(request.url))
    page.set_content(f"<!doctype html><body>{canvas._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    frame.locator('.token[data-side="query"]').first.hover()
    expect(frame.locator(".say")).to_contain_text("gives")
    assert problems == []
    page.close()


def test_a_page_is_taken_home_from_the_menu(visit: Callable[..., Visit]) -> None:
    page = visit().open(sentence="the cat sat").page
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("button", name="Take home …").click()
    save = page.get_by_role("button", name="Hand-out (HTML)")
    expect(save).to_be_visible()
    expect(page.locator(".st-key-menu_line")).to_be_hidden()  # it would be above the window
    with page.expect_download() as started:
        save.click()
    assert started.value.suggested_filename == "how-is-my-sentence-translated.html"
