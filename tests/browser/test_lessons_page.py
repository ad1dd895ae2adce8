"""Lessons in a browser: a page is saved as a scene, uploaded in a file, and opened again from the list of lessons."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

SENTENCE = "the cat sat on the mat"


@pytest.mark.soak
def test_a_page_that_was_saved_as_a_scene_is_opened_by_an_uploaded_lesson(visit: Callable[..., Visit]) -> None:
    one = visit().open("masks", sentence=SENTENCE, mask_taken="true")
    is_drawn(one, "masks")
    page = one.page
    page.locator(".st-key-menu button").first.click()
    page.get_by_role("button", name="Save as scene").click()
    text = page.locator("[data-testid=stDialog] [data-testid=stCode] code")
    expect(text).to_contain_text("show: masks?mask_taken=true")
    expect(page.locator("[data-testid=stPopoverBody]")).to_be_hidden()  # it would cover the text
    scene = text.inner_text()
    one.open("lessons", sentence="another cat")
    is_drawn(one, "lessons")
    for lesson, problem in (
        (f"# Mine\nminutes: 3\n\n{scene}", "Line 2: The lesson has 3 minutes, its scenes together have 1."),
        (f"# Mine\nminutes: 1\n\n{scene}", None),
    ):
        file = {"name": "mine.md", "mimeType": "text/markdown", "buffer": lesson.encode()}
        page.locator(".st-key-lesson_upload input[type=file]").set_input_files(files=[file])
        if problem:
            expect(page.get_by_text(problem)).to_be_visible()
    page.locator("[class*='st-key-lesson_own-']").get_by_role("link", name="Start").click()
    is_drawn(one, "masks")
    expect(page).to_have_url(re.compile("mask_taken=true"))
    expect(page).not_to_have_url(re.compile("sentence="))
    expect(page.get_by_label("Sentence", exact=True)).to_have_value(SENTENCE)
