"""The bytes that are sent for a sentence, with the model that ships: a class may share one connection."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_driver import ROOT, running_app
from tests.support.browser_pages import PAGES, Wire, is_drawn

TWELVE = "The old man who lives here has never seen such a garden."
# Near 100 tokens. Two of them take turns: the browser keeps messages, so the sentence with which a page was opened is
# not sent again.
LONGEST = [
    " ".join([f"the {age} man has never seen such a beautiful garden as this one"] * 7) for age in ("old", "young")
]
WHOLE_PAGES = [name for name in PAGES if name != "beside"]  # that one has two other pages in frames


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app with what ships."""
    with running_app(ROOT / "pretrained", tmp_path_factory.mktemp("shipped") / "log") as address:
        yield address


@pytest.mark.soak
def test_at_most_twelve_words_cost_300_kb_the_longest_sentence_2500_kb_and_a_step_of_decoding_25_kb(
    browser: Any, shipped: str
) -> None:
    one = Visit(browser.new_page(), shipped)
    wire = Wire(one.page)
    for number, name in enumerate(WHOLE_PAGES):
        one.open(PAGES[name].path)
        if number:
            one.says(LONGEST[(number - 1) % 2])  # the tab has kept it, and the page is drawn again with it
            one.settle()
        is_drawn(one, name)
        for text, most in ((TWELVE, 300e3), (LONGEST[number % 2], 2.5e6)):
            wire.take()
            one.type(text)
            is_drawn(one, name)
            sent = wire.take()
            assert 1e3 < sent < most, f"{name}: {sent:,} bytes for {len(text.split())} words"
        if name == "decoding":  # only the choice is sent again, not all steps
            one.settle()
            wire.take()
            one.page.get_by_role("button", name="Next").click()
            one.page.wait_for_url("**t=2*")
            one.settle()
            assert 1e3 < wire.take() < 25e3
    assert int(one.page.locator(".meter .count").inner_text().split()[0]) > 85
    one.page.close()
    assert (one.outside, one.errors) == ([], [])
