"""Training in a browser: a run is started, watched, stopped and resumed, and the slider goes back to its beginning."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
SMALL = {"Updates": "40", "Encoder layers": "1"}


def standing(page: Any, words: str) -> None:
    """Waits until the line about the run has these words."""
    page.locator(".st-key-run_status", has_text=words).wait_for()


def test_a_run_is_started_watched_stopped_and_resumed_and_seen_from_its_beginning(visit: Begin, runs: Path) -> None:
    one = visit().open("training", run="toy")
    page = one.page
    page.get_by_text("Start a run", exact=True).click()
    for label, value in SMALL.items():
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Enter")
        one.settle()
    page.get_by_role("radio", name="32", exact=True).click()
    one.settle()
    page.get_by_role("button", name="Start", exact=True).click()
    standing(page, "Running: update ")  # nobody reloads the page
    page.locator(".st-key-picture_ladder .hm image").wait_for(state="attached")
    page.get_by_role("button", name="Stop", exact=True).click()
    standing(page, "Stopped after update ")
    assert (runs / "reverse-1" / "last.safetensors").exists()
    page.get_by_role("button", name="Resume", exact=True).click()
    standing(page, "Finished after update 40 of 40")
    page.locator(".st-key-picture_curve_loss .trace").first.wait_for(state="attached")
    one.settle()
    slider = page.get_by_role("slider", name="After update")
    slider.focus()
    page.keyboard.press("Home")
    page.locator(".st-key-picture_rung_matrix .gtitle", has_text="after 0 updates").wait_for()
    untrained = Translator.load(runs / "reverse-1" / "ladder" / "00000000.safetensors")
    written = untrained.translate("h e a d l i g h t", method="greedy", max_extra_length=8).text
    page.locator(".st-key-headline", has_text=written[:8].strip()).wait_for()
    page.get_by_role("button", name="Open this snapshot on the other pages").click()
    page.get_by_role("link", name="It is open: see all its heads").click()
    page.wait_for_url("**/attention?**checkpoint=reverse-1*")
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_value("reverse-1, update 0")
    one.says("h e a d l i g h t")
