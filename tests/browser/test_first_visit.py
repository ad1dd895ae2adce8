"""The first visit of a fresh server: nothing moves when the page takes over from the stored picture."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.library.checkpoints import CheckpointFile
from app.library.first_picture_file import write_picture
from app.views.translate.make_first_picture import make
from tests.browser.conftest import PATIENCE
from tests.support.app_checkpoints import write_checkpoint
from tests.support.browser_driver import started_app

KEYS = ("top", "box", "checkpoints", "headline", "question", "picture_canvas", "page_links")
PLACES = """(keys) => keys.map((key) => {
    const {x, y, width, height} = document.querySelector(`.st-key-${key}`).getBoundingClientRect();
    return [key, x, y, width, height].join(" ");
})"""
LOADING = "text=Loading the model"
SLOWLY = """
import sys, time

class Slowly:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            sys.meta_path.remove(self)
            time.sleep(5)

sys.meta_path.insert(0, Slowly())
"""  # so that the model is still being loaded when the test looks, however fast the machine is


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[str]:
    """The address of a server that nobody has visited."""
    folder = tmp_path / "checkpoints"
    path = write_checkpoint(folder / "en-de.safetensors", source_language="en", target_language="de")
    write_checkpoint(folder / "other.safetensors", source_language="en", target_language="fr")
    write_picture(make(CheckpointFile.at(path)), path)
    (tmp_path / "sitecustomize.py").write_text(SLOWLY)
    with started_app(folder, tmp_path / "log", variables={"PYTHONPATH": str(tmp_path)}) as (address, _):
        yield address
    assert "Traceback" not in (tmp_path / "log").read_text()


def first_picture(browser: Any, address: str) -> Any:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(reduced_motion="reduce")
    page.goto(address)
    page.locator(".canvas .arc").first.wait_for(state="attached")
    return page


def is_ready(page: Any) -> None:
    """The page itself is drawn: its canvas takes clicks on the runners-up."""
    page.locator(".canvas button.runner").first.wait_for(state="attached")
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()


def test_nothing_moves_and_nothing_is_drawn_again_when_the_page_replaces_the_stored_picture(
    browser: Any, fresh: str
) -> None:
    page, other = first_picture(browser, fresh), browser.new_page()
    other.goto(fresh)  # while the model is loaded for the first visitor
    page.locator(LOADING).wait_for()
    page.evaluate("document.querySelectorAll('.st-key-sentence input, .canvas .token').forEach(e => e.mark = true)")
    before = page.evaluate(PLACES, KEYS)
    is_ready(page)
    page.locator(LOADING).wait_for(state="detached")
    assert page.evaluate(PLACES, KEYS) == before
    assert page.locator(".st-key-sentence input").evaluate("e => e.mark")
    other.locator(".canvas .arc").first.wait_for(state="attached")
    is_ready(other)
    other.close()
    page.close()


@pytest.mark.soak
def test_a_sentence_that_is_typed_while_the_model_is_loaded_is_translated(browser: Any, fresh: str) -> None:
    page = first_picture(browser, fresh)
    page.get_by_label("Sentence", exact=True).fill("a cat")
    page.get_by_label("Sentence", exact=True).press("Enter")
    page.locator(LOADING).wait_for()
    assert page.locator(".canvas .arc").count()
    is_ready(page)
    tokens = page.locator('.token[data-side="key"]').all_inner_texts()
    assert "".join(tokens) == "acat</s>"
    page.close()
