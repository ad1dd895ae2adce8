"""Training in a browser: a run is started, followed, stopped and resumed, and the slider goes back to its beginning."""

import os
import re
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

from app.library.runs import holder
from app.library.snapshots import OWNER
from tests.browser.conftest import PATIENCE, Visit
from tests.support.browser_pages import is_drawn
from tests.support.held_run import held
from transformer.decoding.translator import Translator

Begin = Callable[..., Visit]
SMALL = {"Updates": "120", "Encoder layers": "1"}


# Notes in window.both whether Stop and Resume were ever to be seen at once.
BOTH = """() => {
    const shown = () => [...document.querySelectorAll('.st-key-run_status button')].filter(each => each.offsetParent
        && ['Stop', 'Resume'].includes(each.innerText.trim()));
    window.both = false;
    new MutationObserver(() => { window.both ||= shown().length > 1; }).observe(document.body,
        {subtree: true, childList: true});
}"""


@pytest.fixture(autouse=True)
def only_the_toy(runs: Path) -> Iterator[None]:
    """Removes the runs that a test adds, also when it fails: it is run again."""
    before = set(runs.iterdir())
    yield
    for folder in set(runs.iterdir()) - before:
        if process := holder(folder):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def status(page: Any, words: str) -> None:
    """Waits until the line about the run has these words.

    Trap: the trainer gives way to everything else on the machine, so beside tests on all cores it needs ten times as
    long as alone.
    """
    page.locator(".st-key-run_status", has_text=words).wait_for(timeout=2 * PATIENCE)


def start_window(one: Visit) -> None:
    """Opens the window in which a run is started, for letters in reverse order."""
    one.page.get_by_role("button", name="Train a model …").click()
    one.page.get_by_role("radio", name="letters in reverse order").click()
    one.settle()


def test_a_run_is_started_stopped_and_resumed_and_shown_from_its_beginning(visit: Begin, runs: Path) -> None:
    one = visit().open("training", run="toy", details="true")
    page = one.page
    start_window(one)
    page.get_by_text("More options", exact=True).click()
    for label, value in SMALL.items():
        page.get_by_label(label, exact=True).fill(value)
        page.get_by_label(label, exact=True).press("Enter")
        one.settle()
    page.get_by_role("radio", name="32", exact=True).click()
    one.settle()
    page.get_by_role("button", name="Start", exact=True).click()
    status(page, "Running: ")  # nobody reloads the page; that it prepares is said first, so it can still be stopped
    page.evaluate(BOTH)
    page.get_by_role("button", name="Stop", exact=True).click()  # at once: the whole run takes a few seconds
    status(page, "Stopped after update ")
    page.get_by_role("button", name="Resume", exact=True).click()
    status(page, "Finished after update 120 of 120")
    assert not page.evaluate("both")
    page.locator(".st-key-picture_snapshots .hm image").wait_for(state="attached")
    page.locator(".st-key-picture_curve_loss .trace").first.wait_for(state="attached")
    one.settle()
    page.get_by_role("slider", name="Snapshot").focus()
    page.keyboard.press("Home")
    page.locator(".st-key-picture_snapshot_matrix .gtitle", has_text="after 0 updates").wait_for()
    untrained = Translator.load(runs / "reverse-1" / "snapshots" / "00000000.safetensors")
    written = untrained.translate("h e a d l i g h t", method="greedy", max_extra_length=8).text
    page.locator(".stage .says", has_text=written[:8].strip()).wait_for()
    page.get_by_role("button", name="Use this snapshot on all pages").click()
    page.wait_for_url("**checkpoint=reverse-1*")
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_value("update 0 of reverse-1")
    one.says("h e a d l i g h t")
    page.locator(".st-key-open_run button").click()  # the best checkpoint, on Translate
    expect(page.get_by_role("combobox", name="Checkpoint")).to_have_value("best of reverse-1")


@pytest.mark.soak
def test_the_reason_is_drawn_at_once_if_a_run_cannot_be_resumed(visit: Begin, runs: Path) -> None:
    stopped, busy = (Path(shutil.copytree(runs / "toy", runs / name)) for name in ("stopped", "busy"))
    (stopped / "average.safetensors").unlink()
    for folder in (stopped, busy):
        (folder / OWNER).touch()
    with held(busy):
        one = visit().open("training", run="stopped")
        one.page.get_by_role("button", name="Resume", exact=True).click()
        expect(one.page.locator(".st-key-problem")).to_contain_text("One run at a time: “busy” is still running.")


@pytest.mark.soak
def test_taking_a_snapshot_moves_nothing_and_the_translation_is_above(visit: Begin, runs: Path) -> None:
    one = visit(height=720).open("training", run="toy", sentence="the cat sat")
    is_drawn(one, "training")
    page, machine = one.page, one.page.locator(".machine")
    expect(page.locator(".st-key-translation_line .tokens")).to_be_visible()
    one.settle()
    place = machine.bounding_box()
    with one.running():
        page.get_by_role("button", name="Use this snapshot on all pages").click()
    page.wait_for_url("**checkpoint=toy*")
    name = page.get_by_role("combobox", name="Checkpoint")
    expect(name).to_have_value("update 12 of toy")
    name.hover()
    expect(name).to_have_attribute("title", "update 12 of toy")
    assert machine.bounding_box() == place


TOY = "“toy” (a smaller model than the one at the top of the page)"


@pytest.mark.soak
def test_the_snapshots_are_walked_through_without_the_server(visit: Begin, runs: Path) -> None:
    """By slider, arrow keys, click and Play; what is written large is what that snapshot writes."""
    one = visit().open("training", run="toy")
    page = one.page
    rows, says, when = page.get_by_role("radio"), page.locator(".stage .says"), page.locator(".stage .when")
    expect(when).to_have_text(f"After 12 updates {TOY} writes")
    asked = one.asked.count
    rows.nth(2).click()
    expect(when).to_have_text(f"After 6 updates {TOY} writes")
    page.keyboard.press("ArrowUp")
    expect(when).to_have_text(f"After 3 updates {TOY} writes")
    page.get_by_role("slider", name="Snapshot").press("Home")
    expect(when).to_have_text(f"The untrained {TOY} writes")
    expect(rows.nth(0)).to_have_attribute("aria-checked", "true")
    untrained = Translator.load(runs / "toy" / "snapshots" / "00000000.safetensors")
    written = untrained.translate("h e a d l i g h t", method="greedy", max_extra_length=8).text
    assert says.inner_text().removesuffix("…").strip() == written
    assert one.asked.count == asked  # only the value at which the slider stops is sent, and later
    page.wait_for_function("() => location.search.includes('at_update=0')")
    page.get_by_role("button", name="Play", exact=True).click()
    expect(when).to_have_text(f"After 12 updates {TOY} writes")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.wait_for_function(
        "() => !location.search.includes('at_update')"
    )  # where Play ended, it goes on after a reload
    page.get_by_role("button", name="Play", exact=True).click()  # from the newest: it begins at the first
    expect(when).to_have_text(f"After 12 updates {TOY} writes")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    page.wait_for_timeout(1000)
    assert "at_update" not in page.url
    page.locator(".head-map .cell").first.hover()
    expect(page.locator(".pointed")).to_have_text(re.compile(r"“.+” to “.+”: [01]\.\d\d"))


@pytest.mark.soak
def test_a_run_that_starts_later_is_listed_without_a_click_and_the_page_stays_as_it_is(
    visit: Begin, runs: Path
) -> None:
    one = visit().open("training", run="toy", details="true")
    page, machine = one.page, one.page.locator(".machine")
    is_drawn(one, "training")
    box = page.get_by_label("Sentence", exact=True)
    box.fill("a draft")
    place = machine.bounding_box()
    shutil.copytree(runs / "toy", runs / "late")
    names = page.get_by_role("combobox", name="Run", exact=True)
    expect(names.locator("option", has_text="late")).to_be_attached()
    one.settle()
    expect(names).to_have_value("toy")
    expect(box).to_be_focused()
    expect(box).to_have_value("a draft")
    assert machine.bounding_box() == place


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
    page.get_by_role("slider", name="Snapshot").focus()
    page.keyboard.press(key)
    page.locator(".st-key-picture_snapshot_matrix .gtitle", has_text=f"after {update:,} updates").wait_for()
    found = drawn(page)
    assert found is not None
    assert found[0] == update
    return found[1]


@pytest.mark.soak
def test_the_anti_diagonal_forms_from_snapshot_to_snapshot(visit: Begin) -> None:
    """`reverse` as the page offers it, to its end, with a stop on the way. All is read from the matrix in the page."""
    one = visit().open("training", run="toy", details="true")
    page = one.page
    start_window(one)
    page.get_by_role("button", name="Start", exact=True).click()
    status(page, "Running: update ")
    before = watch(page, lambda seen: len(seen) >= 3)
    page.get_by_role("button", name="Stop", exact=True).click()
    status(page, "Stopped after update ")
    page.get_by_role("button", name="Resume", exact=True).click()
    status(page, "Running: update ")
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
