"""Ten people at once, for a while: each keeps seeing their own sentence, and the server does not grow."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_driver import started_app
from tests.support.browser_pages import PAGES

WORDS = ("cat", "dog", "garden", "street", "train", "house", "tree", "bread", "river", "friend")
SENTENCES = 12  # of each visitor
GROWTH = 150e6  # bytes; pictures of sentences that nobody sees any more are not kept for ever


def memory(process: int) -> int:
    """Bytes that a process has in memory."""
    return 1024 * int(subprocess.check_output(["ps", "-o", "rss=", "-p", str(process)]))


@pytest.mark.soak
def test_ten_visitors_see_their_own_sentences_and_the_server_stays_small(
    browser: Any, folder: Path, tmp_path: Path
) -> None:
    sizes = []
    with started_app(folder, tmp_path / "log") as (address, process):
        pages = list(PAGES.values())[: len(WORDS)]  # Training has no sentence
        visitors = [Visit(browser.new_page(), address).open(page.path) for page in pages]
        for number in range(SENTENCES):
            texts = [f"the {word} and the {WORDS[(i + number) % len(WORDS)]}" for i, word in enumerate(WORDS)]
            for one, text in zip(visitors, texts, strict=True):
                box = one.page.get_by_label("Sentence", exact=True)
                box.fill(text)
                box.press("Enter")
            for one, text in zip(visitors, texts, strict=True):
                one.settle()
                one.says(text)
                assert one.page.locator('[data-testid="stException"]').count() == 0
            sizes.append(memory(process))
        for one in visitors:
            one.page.close()
            assert (one.outside, one.errors) == ([], [])
    print("memory after each round, MB:", [round(size / 1e6) for size in sizes])
    assert sizes[-1] - sizes[SENTENCES // 2] < GROWTH
