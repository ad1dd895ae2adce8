"""Training in a browser: a run is started, watched, stopped and resumed, and the slider goes back to its beginning."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.benchmarks.toys import fresh_pairs, mass, mirrored
from tests.browser.conftest import PATIENCE, Visit
from transformer.decoding.translator import Translator
from transformer.recipe import load_recipe

Begin = Callable[..., Visit]
SMALL = {"Updates": "40", "Encoder layers": "1"}


def standing(page: Any, words: str) -> None:
    """Waits until the line about the run has these words.

    Trap: the trainer gives way to everything else on the machine, so beside tests on all cores it needs ten times as
    long as alone.
    """
    page.locator(".st-key-run_status", has_text=words).wait_for(timeout=10 * PATIENCE)


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


@pytest.mark.soak
def test_the_anti_diagonal_forms_while_one_watches(visit: Begin, runs: Path) -> None:
    """The toy as the page offers it, to its end: new rungs come into the picture, and the last one looks backwards."""
    page = visit().open("training", run="toy").page
    page.get_by_text("Start a run", exact=True).click()
    page.get_by_role("button", name="Start", exact=True).click()
    standing(page, "Running: update ")
    matrix = page.locator(".st-key-picture_rung_matrix .gtitle")
    seen, finished = set(), page.locator(".st-key-run_status", has_text="Finished after update 1,200 of 1,200")
    until = time.monotonic() + 15 * 60
    while not finished.count() and time.monotonic() < until:
        if matrix.count():
            seen.add(matrix.first.text_content())
        page.wait_for_timeout(500)
    assert finished.count()
    assert len(seen) >= 5
    (ladder,) = [path for path in runs.glob("*/ladder") if (path / "00001200.safetensors").exists()]
    pairs = fresh_pairs(load_recipe("reverse").data, 50)
    first, last = (
        mass(Translator.load(ladder / f"{update:08d}.safetensors"), pairs, mirrored).max() for update in (0, 1200)
    )
    assert first < 0.2 < 0.6 < last
