"""For tests and benchmarks: the pages of the app, how to wait until one is drawn, and how many bytes were sent."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """`path` in the address, `title` in the navigation; `pictures`: selectors that are there once all is drawn."""

    path: str
    title: str
    pictures: tuple[str, ...]


CHART = ".js-plotly-plot .trace"
CHARTS_ARE_DRAWN = """() => [...document.querySelectorAll('.chart')].every(
    chart => chart.ariaBusy === 'false' || !chart.clientWidth)"""

PAGES: dict[str, Page] = {
    "translate": Page("", "Translate", (".canvas .token", ".canvas .arc", ".canvas .head")),
    "steps": Page("steps", "Step by step", ("svg.map .box.on", ".walk h2")),
    "hand": Page("hand", "Query, key, value", (".st-key-query_scene .row",)),
    "attention": Page("attention", "Attention", (".canvas .matrix .name", ".canvas .matrix canvas", ".canvas .head")),
    "multihead": Page("multihead", "Heads", (".heads .grid .head-map", ".heads .one .cell")),
    "masks": Page("masks", "Masks", (".st-key-causal svg.picture",)),
    "residual": Page("residual", "Residual stream", (".flow-picture .part",)),
    "positions": Page("positions", "Positions", (".st-key-order svg.picture",)),
    "scaling": Page("scaling", "Scaling and softmax", (".st-key-softmax_scene .share",)),
    "decoding": Page("decoding", "Decoding", (".st-key-picture_next_token .row.chosen",)),
    "training": Page("training", "Training", (".machine .rows button", ".head-map .cell")),
    "whatif": Page("whatif", "What if", (".boards .cell", ".tokens li")),
    "models": Page("models", "Models", (".cards button", CHART)),
    "compare": Page("compare", "Compare", (".st-key-compared .tokens",)),
    "beside": Page("beside", "Side by side", (".frames iframe",)),
    "lessons": Page(
        "lessons", "Lessons", (".st-key-lesson_in-ten-minutes", ".st-key-lesson_23-questions", ".st-key-own_lesson")
    ),
}


def is_idle(page: Any) -> None:
    """Waits until the script of the page has run, and its charts are drawn.

    A page that has not reached the server yet says "notRunning" too. So this waits first for the sentence box, which
    every page has: once it is there, the first run has begun.
    """
    page.wait_for_timeout(150)  # so that a run that was just caused has begun
    page.locator(".st-key-sentence input").wait_for(state="attached")
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    page.locator('[data-testid="stMainBlockContainer"]').wait_for()
    page.wait_for_timeout(150)
    page.wait_for_function(CHARTS_ARE_DRAWN)


def is_drawn(one: Any, name: str) -> None:
    """Waits until the page has drawn. If all its pictures are there already, it returns at once."""
    pictures = [one.page.locator(selector).first for selector in PAGES[name].pictures]
    if all(picture.count() for picture in pictures):
        return
    for picture in pictures:
        picture.wait_for(state="attached")
    one.settle()


class Wire:
    """Counts the bytes that the server sends over the websocket."""

    def __init__(self, page: Any):
        self.sent = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._count))

    def _count(self, frame: Any) -> None:
        self.sent += len(frame)

    def take(self) -> int:
        sent, self.sent = self.sent, 0
        return sent


PLACE_OF_CELL = """([picture, row, column, panel]) => {
    const plot = document.querySelector(`.st-key-${picture} .js-plotly-plot`), layout = plot._fullLayout;
    const x = layout[`xaxis${panel}`], y = layout[`yaxis${panel}`], box = plot.getBoundingClientRect();
    return [box.x + x._offset + x.l2p(column), box.y + y._offset + y.l2p(row)];
}"""


def click_cell(page: Any, picture: str, row: int, column: int, panel: str = "") -> None:
    """Clicks the middle of a cell of a heat map, both from 0, in the container with this key."""
    page.locator(f".st-key-{picture} .hm image").first.scroll_into_view_if_needed()
    page.mouse.click(*page.evaluate(PLACE_OF_CELL, [picture, row, column, panel]))
