"""Before a class nothing is cut, scrolls or shows another page: pictures that elsewhere scroll fit into the window."""

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_lecture import NAME, is_at
from tests.support.browser_pages import is_drawn
from tests.support.canvas_alone import QUERY

Begin = Callable[..., Visit]

# Counts in window.frames those in which something of the page before is in sight below the title of the next one.
WATCH_LEFT = """title => {
    window.frames = 0;
    const sees = node => node.checkVisibility({checkVisibilityCSS: true}) && node.getBoundingClientRect().height > 2;
    const look = () => {
        const main = document.querySelector('[data-testid=stMain]');
        if (main.querySelector('h1')?.textContent === title) {
            window.frames += [...main.querySelectorAll('[data-stale="true"]')].some(sees);
        }
        requestAnimationFrame(look);
    };
    look();
}"""


def test_pictures_and_hints_are_not_cut(visit: Begin) -> None:
    one = visit(width=1280, height=720).open(sentence="the cat sat", lecture="1")
    is_drawn(one, "translate")
    say = one.page.locator(".canvas .say")
    for begins in ("Point at a word", "While it writes"):
        if begins == "While it writes":
            one.page.locator(QUERY).first.click()
        expect(say).to_contain_text(begins)
        assert say.evaluate("node => node.scrollHeight <= node.clientHeight + 1"), say.inner_text()
        assert "which heads link" not in say.inner_text()  # with a third sentence it would be too long
    one.open("steps", sentence="the cat sat on the mat and the cat", at="encoder.embedding.output", lecture="1")
    frame = one.page.locator(".walk .frame")
    frame.locator("image").wait_for()
    one.settle()
    assert 8 <= frame.locator(".row").count() <= 13  # fewer do not fill the height, and more scroll
    assert frame.evaluate("node => node.scrollHeight <= node.clientHeight"), "the last row is faded"


def test_of_the_page_before_nothing_is_seen_below_the_next_title(visit: Begin) -> None:
    one = visit(width=1280, height=720).open(lecture="1", lesson=NAME, scene="5")
    is_at(one.page, 4)
    one.settle()
    one.page.evaluate(WATCH_LEFT, "The order of words")
    with one.running():
        one.page.keyboard.press("ArrowRight")
    is_at(one.page, 5)
    assert one.page.evaluate("window.frames") <= 1  # the frame in which the title comes
    expect(one.page.locator("html.leaves-a-page")).to_have_count(0)
