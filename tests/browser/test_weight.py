"""The bytes that are sent for a sentence, with the model that ships: a class may share one connection."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_driver import ROOT, running_app
from tests.support.browser_pages import PAGES, Wire, is_drawn

TWELVE = "The old man who lives here has never seen such a garden."
LONGEST = " ".join(["the old man has never seen such a beautiful garden as this one"] * 7)  # near 100 tokens


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app with what ships."""
    with running_app(ROOT / "pretrained", tmp_path_factory.mktemp("shipped") / "log") as address:
        yield address


@pytest.mark.parametrize("names", [["translate", "multihead"], pytest.param(list(PAGES), marks=pytest.mark.soak)])
def test_twelve_words_cost_at_most_300_kb_and_the_longest_sentence_2500_kb(
    browser: Any, shipped: str, names: list[str]
) -> None:
    one = Visit(browser.new_page(), shipped)
    wire = Wire(one.page)
    for name in names:
        one.open(PAGES[name].path)
        if name != names[0]:
            one.says(LONGEST)  # the tab has kept it, and the page is drawn again with it
            one.settle()
        is_drawn(one, name)
        for text, most in ((TWELVE, 300e3), (LONGEST, 2.5e6)):
            wire.take()
            one.type(text)
            is_drawn(one, name)
            sent = wire.take()
            assert 1e3 < sent < most, f"{name}: {sent:,} bytes for {len(text.split())} words"
    assert int(one.page.locator(".meter .count").inner_text().split()[0]) > 85
    one.page.close()
    assert (one.outside, one.errors) == ([], [])
