"""How long a person waits until a page is there: on a server that has just started, and from one page to the next."""

import os
import statistics
import time
from pathlib import Path
from typing import Any

from app.pages import PAGES as ALL_PAGES
from app.pages import info
from tests.support.browser_driver import running_app
from tests.support.browser_pages import PAGES, is_idle

OPENING = "opening"  # the name of these rows

# Whether a selector finds something, through the shadow roots of components.
FINDS = """const finds = (selector) => {
    const parts = selector.split(' ');
    return document.querySelector(selector) !== null || [...document.querySelectorAll('*')].some(
        ({shadowRoot: root}) => root && parts.some((_, at) => {
            const outside = parts.slice(0, at).join(' '), inside = parts.slice(at).join(' ');
            return root.querySelector(inside) && (!outside || root.host.closest(outside));
        }));
};
"""

# Resolves when the last of the pictures is in the page and the browser has painted.
PAINTED = f"""(selectors) => new Promise(done => {{
    {FINDS}
    const check = () =>
        requestAnimationFrame(selectors.every(finds) ? () => requestAnimationFrame(() => done()) : check);
    check();
}})"""

# Begins to watch a change of page: window.headlightChange resolves when the pictures of the new page have been painted.
WATCH = (
    """([before, after, question]) => {
"""
    + FINDS
    + """
    const titled = () => document.querySelector('.st-key-question h1')?.textContent === question;
    let begun = null, seen = null, blank = 0;
    window.addEventListener('pointerdown', () => { begun = seen = performance.now(); }, {capture: true, once: true});
    window.headlightChange = new Promise(done => {
        const check = () => {
            const now = performance.now(), is_new = titled();
            const there = (is_new && after.every(finds)) || before.some(finds) || after.some(finds);
            if (begun !== null && there) { blank = Math.max(blank, now - seen); seen = now; }
            if (begun !== null && is_new && after.every(finds))
                requestAnimationFrame(() => done({all: performance.now() - begun, blank: blank > 50 ? blank : 0}));
            else requestAnimationFrame(check);
        };
        check();
    });
}"""
)


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


def page_change(browser: Any, address: str, runs: int) -> dict[str, tuple[float, float]]:
    """By page, medians in seconds: from the click on the link to it until its pictures are there, and how long of this
    no picture was in the window, neither of the page before nor of this one."""
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.set_default_timeout(60_000)
    page.goto(address)
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in PAGES}
    names = [each.name for each in ALL_PAGES]
    for run in range(runs + 1):
        for before, name in zip(names, [*names[1:], names[0]], strict=True):
            is_idle(page)
            link = page.locator(".st-key-next_question a")
            if name not in PAGES or before not in PAGES:
                link.click()
                page.get_by_role("heading", name=info(name).question).wait_for()
                continue
            page.evaluate(WATCH, [PAGES[before].pictures, PAGES[name].pictures, info(name).question])
            link.click()
            took = page.evaluate("() => window.headlightChange")
            if run:  # the first loads the scripts
                found[name].append((took["all"] / 1000, took["blank"] / 1000))
    page.close()
    return {name: tuple(map(statistics.median, zip(*times, strict=True))) for name, times in found.items() if times}


def opening(browser: Any, checkpoints: Path, folder: Path, runs: int) -> None:
    """Prints both."""
    picture, ready = fresh_server(browser, checkpoints, folder, min(runs, 5))
    print(
        f"fresh server to the first picture: {picture:.2f} s after it answers; to the page with its model {ready:.2f} s"
    )
    with running_app(checkpoints, folder / "log of pages") as address:
        pages = page_change(browser, address, min(runs, 5))
    print("change of page   all, s  blank, s")
    for name, (took, blank) in pages.items():
        print(f"{name:14} {took:8.2f} {blank:9.2f}")
    print(f"{'median':14} {statistics.median(took for took, _ in pages.values()):8.2f}")
    print(f"load of the machine (processes that want to run, mean of 5 minutes): {os.getloadavg()[1]:.1f}\n")
