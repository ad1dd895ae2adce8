"""How long a person waits until a page is there: on a server that has just started, and from one page to the next."""

import statistics
import time
from pathlib import Path
from typing import Any

from app.pages import PAGES as ALL_PAGES
from tests.support.browser_driver import running_app
from tests.support.browser_pages import PAGES, is_idle

OPENING = "opening"  # the name of these rows

# Resolves when the last of the pictures is in the page and the browser has painted.
PAINTED = """(selectors) => new Promise(done => {
    const check = () => {
        const there = selectors.every(selector => [...document.querySelectorAll('*')].some(
            node => node.matches(selector) || node.shadowRoot?.querySelector(selector)));
        requestAnimationFrame(there ? () => requestAnimationFrame(() => done()) : check);
    };
    check();
})"""


def fresh_server(browser: Any, checkpoints: Path, folder: Path, runs: int) -> tuple[float, float]:
    """Median seconds from the first answer of a server that has just started to the first picture, and to the page
    that translates what is typed."""
    picture, ready = [], []
    for run in range(runs):
        context = browser.new_context(viewport={"width": 1280, "height": 720})  # with an empty cache
        page = context.new_page()
        page.set_default_timeout(120_000)
        with running_app(checkpoints, folder / f"log of server {run}") as address:
            begun = time.perf_counter()
            page.goto(address, wait_until="commit")
            page.evaluate(PAINTED, [".canvas .token", ".canvas .arc"])
            picture.append(time.perf_counter() - begun)
            page.locator(".st-key-next_question").wait_for()
            is_idle(page)
            ready.append(time.perf_counter() - begun)
        context.close()
    return statistics.median(picture), statistics.median(ready)


def page_change(browser: Any, address: str, runs: int) -> dict[str, float]:
    """Median seconds from the click on the next question to the picture of that page, by page."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(60_000)
    page.goto(address)
    found: dict[str, list[float]] = {name: [] for name in PAGES}
    names = [each.name for each in ALL_PAGES]
    for run in range(runs + 1):
        for name in [*names[1:], names[0]]:
            is_idle(page)
            begun = time.perf_counter()
            page.locator(".st-key-next_question a").click()
            if name not in PAGES:
                continue
            page.evaluate(PAINTED, PAGES[name].pictures)
            if run:
                found[name].append(time.perf_counter() - begun)
    page.close()
    return {name: statistics.median(times) for name, times in found.items()}


def opening(browser: Any, checkpoints: Path, folder: Path, runs: int) -> None:
    """Prints both."""
    picture, ready = fresh_server(browser, checkpoints, folder, min(runs, 5))
    print(
        f"fresh server to the first picture: {picture:.2f} s after it answers; to the page with its model {ready:.2f} s"
    )
    with running_app(checkpoints, folder / "log of pages") as address:
        pages = page_change(browser, address, min(runs, 5))
    slowest = max(pages, key=lambda name: pages[name])
    print(
        f"change of page: {statistics.median(pages.values()):.2f} s, the slowest ({slowest}) {pages[slowest]:.2f} s\n"
    )
