"""The pages of the app, and how to see that one has drawn: what tests and benchmarks of all pages stand on."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Page:
    """`title` in the navigation; `pictures`: selectors that are there once everything is drawn."""

    title: str
    pictures: tuple[str, ...]


HEATMAP = ".js-plotly-plot .hm image"
CHART = ".js-plotly-plot .plot"

PAGES: dict[str, Page] = {
    "translate": Page("Translate", (".st-key-lines svg .line", ".st-key-mosaic .hm image", ".st-key-matrix .hm image")),
    "steps": Page("Step by step", ("svg.map .box.on", HEATMAP)),
    "hand": Page("One head by hand", (HEATMAP,)),
    "attention": Page("Attention", (".st-key-mosaic .hm image", ".st-key-matrix .hm image")),
    "masks": Page("Masks", (HEATMAP,)),
    "positions": Page("Positions", (HEATMAP, CHART)),
    "scaling": Page("Scaling and softmax", (CHART,)),
    "decoding": Page("Decoding", (CHART,)),
}


def is_drawn(one: Any, name: str) -> None:
    """Waits until the page has drawn."""
    for selector in PAGES[name].pictures:
        one.page.locator(selector).first.wait_for(state="attached")
    one.settle()
