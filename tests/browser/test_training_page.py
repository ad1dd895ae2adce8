"""Training in a browser: a run is started, watched, stopped and resumed, and the slider goes back to its beginning."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PATIENCE, Visit
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
SMALL = {"Updates": "40", "Encoder layers": "1"}


# Notes in window.both whether Stop and Resume were ever to be seen at once.
BOTH = """() => {
    const shown = () => [...document.querySelectorAll('.st-key-run_status button')].filter(each => each.offsetParent);
    window.both = false;
    new MutationObserver(() => { window.both ||= shown().length > 1; }).observe(document.body,
        {subtree: true, childList: true});
}"""


def standing(page: Any, words: str) -> None:
    """Waits until the line about the run has these words.

    Trap: the trainer gives way to everything else on the machine, so beside tests on all cores it needs ten times as
    long as alone.
    """
    page.locator(".st-key-run_status", has_text=words).wait_for(timeout=2 * PATIENCE)


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
    standing(page, "Running: ")  # nobody reloads the page; that it prepares is said first, so it can still be stopped
    page.locator(".st-key-picture_snapshots .hm image").wait_for(state="attached")
    page.evaluate(BOTH)
    page.get_by_role("button", name="Stop", exact=True).click()
    standing(page, "Stopped after update ")
    assert (runs / "reverse-1" / "last.safetensors").exists()
    page.get_by_role("button", name="Resume", exact=True).click()
    standing(page, "Finished after update 40 of 40")
    assert not page.evaluate("both")
    page.locator(".st-key-picture_curve_loss .trace").first.wait_for(state="attached")
    one.settle()
    slider = page.get_by_role("slider", name="After update")
    slider.focus()
    page.keyboard.press("Home")
    page.locator(".st-key-picture_snapshot_matrix .gtitle", has_text="after 0 updates").wait_for()
    untrained = Translator.load(runs / "reverse-1" / "snapshots" / "00000000.safetensors")
    written = untrained.translate("h e a d l i g h t", method="greedy", max_extra_length=8).text
    page.locator(".st-key-headline", has_text=written[:8].strip()).wait_for()
    page.get_by_role("button", name="Open this snapshot on the other pages").click()
    page.get_by_role("link", name="It is open: see all its heads").click()
    page.wait_for_url("**/attention?**checkpoint=reverse-1*")
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_value("reverse-1, update 0")
    one.says("h e a d l i g h t")


CUT = """boxes => boxes.flatMap(box => [box, ...box.querySelectorAll('*')])
    .filter(node => node.clientWidth && node.scrollWidth > node.clientWidth + 1).map(node => node.textContent)"""


def test_the_numbers_of_a_snapshot_are_not_cut_on_a_narrow_page(visit: Begin) -> None:
    one = visit().open("training", run="toy")
    metrics = one.page.locator(".st-key-snapshot_says [data-testid='stMetric']")
    for width in (1280, 768):
        one.page.set_viewport_size({"width": width, "height": 900})
        one.settle()
        assert metrics.count() == 2
        assert metrics.evaluate_all(CUT) == []


# What the large matrix of the chosen snapshot shows: after how many updates, and the numbers that it is drawn from.
DRAWN = r"""() => {
    const plot = document.querySelector('.st-key-picture_snapshot_matrix .js-plotly-plot');
    const title = plot?.querySelector('.gtitle')?.textContent;
    if (!title || title !== plot.layout.title.text || !plot.querySelector('.hm image')) return null;
    const [, update] = /after ([\d,]+) updates/.exec(title);
    return [Number(update.replaceAll(',', '')), [...plot.calcdata[0][0].z].map((row) => [...row])];
}"""


def drawn(page: Any) -> tuple[int, float] | None:
    """After how many updates the drawn matrix is, and how much of its attention lies on the anti-diagonal: the mean
    over the rows that predict a letter. None: nothing is drawn yet."""
    found = page.evaluate(DRAWN)
    if found is None:
        return None
    update, rows = found[0], np.array(found[1])
    assert rows.shape[0] == rows.shape[1] > 5  # as many letters as in the source, and </s>
    assert rows.sum(axis=1) == pytest.approx(1, abs=1e-3)
    letters = len(rows) - 1
    return update, float(np.mean([rows[t, letters - 1 - t] for t in range(letters)]))


def watch(page: Any, until: Callable[[dict[int, float]], object]) -> dict[int, float]:
    """What is drawn while one looks on and touches nothing: the share on the anti-diagonal after each update that came
    into the picture, until that is enough."""
    seen: dict[int, float] = {}
    end = time.monotonic() + PATIENCE / 1000 * 20
    while not until(seen):
        assert time.monotonic() < end, f"this is all that was drawn: {seen}"
        page.wait_for_timeout(300)
        found = drawn(page)
        if found is not None:
            seen[found[0]] = found[1]
    return seen


def slide(page: Any, key: str, update: int) -> float:
    """Takes the slider to its beginning (Home) or its end (End): the share that is then drawn, after this update."""
    page.get_by_role("slider", name="After update").focus()
    page.keyboard.press(key)
    page.locator(".st-key-picture_snapshot_matrix .gtitle", has_text=f"after {update:,} updates").wait_for()
    found = drawn(page)
    assert found is not None
    assert found[0] == update
    return found[1]


@pytest.mark.soak
def test_the_anti_diagonal_forms_while_one_watches(visit: Begin) -> None:
    """`reverse` as the page offers it, to its end, with a stop on the way. All is read from the matrix in the page."""
    one = visit().open("training", run="toy")
    page = one.page
    page.get_by_text("Start a run", exact=True).click()
    page.get_by_role("button", name="Start", exact=True).click()
    standing(page, "Running: update ")
    before = watch(page, lambda seen: len(seen) >= 3)
    page.get_by_role("button", name="Stop", exact=True).click()
    standing(page, "Stopped after update ")
    page.get_by_role("button", name="Resume", exact=True).click()
    standing(page, "Running: update ")
    finished = page.locator(".st-key-run_status", has_text="Finished after update 1,200 of 1,200")
    after = watch(page, lambda seen: finished.count() and 1200 in seen)
    print(f"drawn before the stop: {before}, after it: {after}")
    assert min(before) < 200
    assert before[min(before)] < 0.3  # a tenth would be chance
    assert len(after.keys() - before.keys()) >= 4  # it forms before one's eyes, not only at the end
    assert after[1200] > 0.7
    one.settle()
    assert slide(page, "Home", 0) < 0.2
    assert slide(page, "End", 1200) == pytest.approx(after[1200])
