"""How long a person waits: the app in a real browser, page by page, beside BertViz's model view of the same tensors.

    python -m tests.benchmarks.app [--checkpoints FOLDER] [--runs 20] [--rows opening translate steps ...] [--words 12]
                                   [--people 10]

For each page, and for some parts of one that take a choice, the table gives the median over the runs of: Enter in the
sentence box to the last picture drawn; a click on another head (or token, or "next") to the last picture that is in the
window, and to the last one below it, to which one would have to scroll; then what one such run sends to the browser.
"Drawn" is seen in the page: a picture counts when its data are those of the new sentence and the browser has painted.
The browser asks for less motion, so the translation is complete at once; its animation takes up to 3 s. With
`--words 5 10 20 40` the table shows how times grow with the sentence. For comparison, app_yardstick.py measures
BertViz's model view. The table begins with two rows of app_opening.py: a fresh server until the first picture, and a
change of page. With `--people 10`, ten visitors press Enter at once, each with another sentence, and the time that the
last of them waits is compared with that of one alone. Their browsers run on this machine, too, and are part of these
times.

Milliseconds depend on the machine: compare rows of one table, not tables of two machines. Close other programs.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import sync_playwright

from tests.benchmarks.app_changes import BEGIN, SETTLED
from tests.benchmarks.app_opening import OPENING, opening
from tests.benchmarks.app_yardstick import yardstick
from tests.support.browser_driver import FLAGS, ROOT, browser_path, running_app
from tests.support.browser_pages import PAGES, Wire, is_idle
from transformer.decoding.translator import Translator

TEXT = (
    "the old man who lives in this house has never seen such a beautiful garden as the one behind our little "
    "train station where my sister and her friends used to play when they were young and free and very happy"
)

WINDOW: dict[str, Any] = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
HEAD, ON_CANVAS, TOKEN = ".switches [data-name='head'] button", ".canvas .head", ".picker button"
RADIO = "[role='radio']"


class Row(NamedTuple):
    """What is opened, and what is clicked there: another head or token, the next step."""

    page: str
    click: str
    part: str = ""  # of the page, as its address has it


ROWS = {
    "translate": Row("translate", ON_CANVAS),
    "steps": Row("steps", ".walk .next"),
    "hand": Row("hand", HEAD),
    "hand, tokens": Row("hand", f".st-key-query_scene .words {RADIO}"),
    "hand, all": Row("hand", HEAD, "written=all&details=true"),
    "attention": Row("attention", ON_CANVAS),
    "attention, row": Row("attention", TOKEN, "one=true&details=true"),
    "attention, words": Row("attention", ON_CANVAS, "more=alignment&details=true"),
    "multihead": Row("multihead", ".switches [data-name='layer'] button"),
    "masks": Row("masks", ".st-key-causal .segments button"),
    "residual": Row("residual", f".st-key-flow {RADIO}"),
    "positions": Row("positions", ".st-key-order .tools button"),
    "scaling": Row("scaling", ".st-key-softmax_scene .modes button"),
    "decoding": Row("decoding", ".st-key-picture_next_token button:has-text('Next')"),
    "decoding, tree": Row("decoding", ".st-key-picture_next_token button:has-text('Next')", "part=tree&details=true"),
    "decoding, lens": Row("decoding", ".st-key-picture_next_token button:has-text('Next')", "part=lens&details=true"),
    "whatif": Row("whatif", ".boards .cell", "ranked=true"),  # Enter ranks all heads, a click switches one off
}


def sentence(words: int, run: int, row: str = "") -> str:
    """A sentence of so many words; each run and row has another one, so that no result is in a cache."""
    all_words = TEXT.split()
    turned = all_words[run % len(all_words) :] + all_words[: run % len(all_words)]
    found = (turned * 3)[:words]
    if row:
        place = list(ROWS).index(row) % (words - 1)
        found.insert(0, found.pop(place + 1))
    return " ".join(found) + "."


def measure(page: Any, wire: Wire, row: str, words: int, runs: int) -> dict[str, float]:
    """Medians of one row."""
    enter, click, seen, bytes_enter, bytes_click = [], [], [], [], []
    box = page.get_by_label("Sentence", exact=True)
    for run in range(runs + 1):
        box.fill(sentence(words, run, row))
        is_idle(page)
        wire.take()
        page.evaluate(BEGIN)
        box.press("Enter")
        took = page.evaluate(SETTLED)
        sent = wire.take()
        pressed = None
        target = page.locator(ROWS[row].click)
        if target.count() > 1:
            page.evaluate(BEGIN)
            target.nth(1 + run % (target.count() - 1)).click()
            pressed = page.evaluate(SETTLED)
        elif target.count() == 1 and target.is_enabled():
            page.evaluate(BEGIN)
            target.click()
            pressed = page.evaluate(SETTLED)
        if run == 0:
            continue  # the first loads the drawing library
        enter.append(took["all"])
        bytes_enter.append(sent)
        if pressed is not None:
            click.append(pressed["all"])
            seen.append(pressed["seen"])
            bytes_click.append(wire.take())
    return {
        "enter": statistics.median(enter) / 1000,
        "seen": statistics.median(seen) / 1000 if seen else float("nan"),
        "click": statistics.median(click) / 1000 if click else float("nan"),
        "kB": statistics.median(bytes_enter) / 1000,
        "kB click": statistics.median(bytes_click) / 1000 if bytes_click else float("nan"),
    }


def waits(pages: list[Any], words: int, runs: int) -> float:
    """Median seconds until the last of these visitors, who press Enter at once, has all pictures of the first page."""
    longest = []
    for run in range(runs + 1):
        for number, page in enumerate(pages):
            page.get_by_label("Sentence", exact=True).fill(sentence(words, run * len(pages) + number))
        for page in pages:
            is_idle(page)
            page.evaluate(BEGIN)
        begun = time.perf_counter()
        for page in pages:
            page.get_by_label("Sentence", exact=True).press("Enter")
        for page in pages:
            page.evaluate(SETTLED)
        longest.append(time.perf_counter() - begun)
    return statistics.median(longest[1:])


def people(browser: Any, address: str, count: int, words: int, runs: int) -> None:
    """Prints how long one visitor waits, and how long the last of so many at once."""
    pages = []
    for _ in range(count):
        pages.append(browser.new_page(**WINDOW))
        pages[-1].set_default_timeout(300_000)
        pages[-1].goto(address)
        is_idle(pages[-1])
    alone, together = waits(pages[:1], words, runs), waits(pages, words, runs)
    print(f"\nEnter to pictures on the first page: {alone:.2f} s for one visitor alone, {together:.2f} s for the last")
    print(f"of {count} at once: {together / alone:.1f} times as long for {count} times the work.", flush=True)
    for page in pages:
        page.close()


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=Path, default=ROOT / "pretrained")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--rows", nargs="+", default=[OPENING, *ROWS], choices=[OPENING, *ROWS], metavar="ROW")
    parser.add_argument("--people", type=int, default=0)
    parser.add_argument("--words", nargs="+", type=int, default=[12])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        kept = Path(folder) / "checkpoints"
        shutil.copytree(options.checkpoints, kept)
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        rows = [name for name in options.rows if name != OPENING]
        if OPENING in options.rows:
            opening(browser, kept, Path(folder), options.runs)
        if not rows:
            return
        with running_app(kept, Path(folder) / "log") as address:
            print("row               words  Enter, s  click, s  all, s  sent, kB  by click")
            for name in rows:
                for words in options.words:
                    page = browser.new_page(**WINDOW)  # a new page for each row: "Next" has an end
                    page.set_default_timeout(120_000)
                    wire = Wire(page)
                    row = ROWS[name]
                    page.goto(f"{address}/{PAGES[row.page].path}?{row.part}")
                    is_idle(page)
                    found = measure(page, wire, name, words, options.runs)
                    page.close()
                    print(
                        f"{name:17} {words:5} {found['enter']:9.2f} {found['seen']:9.2f} {found['click']:7.2f} "
                        f"{found['kB']:9.0f} {found['kB click']:9.0f}",
                        flush=True,
                    )
            if options.people:
                people(browser, address, options.people, options.words[0], min(options.runs, 5))
        print("\nBertViz's stock model view, from a file:")
        first = min(kept.glob("*.safetensors"), key=lambda path: (path.stem != "en-de", path.stem))
        translator = Translator.load(first)
        for words in options.words:
            sentences = [sentence(words, run) for run in range(options.runs)]
            print(f"{words:5} words: {yardstick(translator, browser, Path(folder), sentences):.2f} s", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
