"""Before a class nothing is cut, scrolls or shows another page: pictures that elsewhere scroll fit into the window."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.test_lecture import FITS, NAME, is_at
from tests.support.browser_pages import PAGES, is_drawn
from tests.support.canvas_alone import QUERY
from tests.support.in_the_window import BOTTOM, TOO_SMALL

Begin = Callable[..., Visit]
SIZES = ({"width": 1280, "height": 720}, {"width": 1920, "height": 1080})
LONG = " ".join(["the cat sat on the mat and the dog sat on the cat"] * 5)
OFF = ";".join(f"off={kind}.{layer}.all" for kind in ("cross", "decoder") for layer in (1, 2))

# Pages that were cut or too small: what is chosen on them, and the parts that must be whole
WHOLE: tuple[tuple[str, dict[str, str], tuple[str, ...]], ...] = (
    ("steps", {"at": "decoder.layers.1.cross_attention.weights"}, (".walk .where",)),
    ("whatif", {"experiment": "heads", "edits": OFF}, (".st-key-edit_names", ".st-key-edits_line")),
    ("training", {"figure": "label-smoothing", "t": "3"}, (".picker-label", ".chart[aria-busy=false]")),
    ("scaling", {"figure": "comparisons", "sentence": LONG}, (".chart[aria-busy=false]",)),  # two lines below it
)
SHRINK = "document.documentElement.style.getPropertyValue('--lecture-shrink')"
ROWS = "node => new Set([...node.children].filter(one => !one.hidden).map(one => one.offsetTop)).size"

# What is in a node and itself that scrolls, or is longer than its place.
CUT_IN = """node => [node, ...node.querySelectorAll('*')].filter(one => {
    const {overflowX, overflowY} = getComputedStyle(one), isCut = overflow => !['visible', 'clip'].includes(overflow);
    return one.clientWidth && (isCut(overflowX) && one.scrollWidth > one.clientWidth + 1
        || isCut(overflowY) && one.scrollHeight > one.clientHeight + 2);
}).map(one => one.outerHTML.slice(0, 90))"""

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


@pytest.mark.soak
def test_pictures_and_hints_are_not_cut(visit: Begin) -> None:
    one = visit(width=1280, height=720).open(sentence="the cat sat", lecture="1")
    is_drawn(one, "translate")
    say = one.page.locator(".canvas .say")
    for begins in ("Point at a word", "While “"):
        if begins == "While “":
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


@pytest.mark.soak
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


@pytest.mark.soak
def test_a_long_translation_has_two_lines_and_the_picture_fits_below_it(visit: Begin) -> None:
    one = visit(width=1280, height=720).open("attention", sentence=LONG, lecture="1")
    is_drawn(one, "attention")
    tokens = one.page.locator(".st-key-translation_line .tokens")
    for size in SIZES:
        one.page.set_viewport_size(size)
        one.settle()
        one.page.wait_for_function(FITS)
        assert tokens.evaluate(CUT_IN) == []
        assert tokens.evaluate(ROWS) == 2
        assert one.page.locator(PAGES["attention"].pictures[0]).evaluate_all(BOTTOM) <= size["height"] + 1
        more = tokens.locator(".more")
        assert more.get_attribute("title") in tokens.get_attribute("aria-label")  # all of it
        assert more.evaluate("node => node.offsetLeft + node.offsetWidth") <= tokens.evaluate(
            "node => node.clientWidth"
        )


@pytest.mark.soak
def test_a_picture_becomes_lower_before_the_type_of_the_page_becomes_smaller(visit: Begin) -> None:
    one = visit(width=1280, height=720).open("scaling", sentence="the cat sat", figure="comparisons", lecture="1")
    one.page.locator(".chart[aria-busy=false]").wait_for()
    for page in ("scaling", "attention"):
        if page == "attention":
            one.open("attention", sentence="the cat sat", lecture="1")
            is_drawn(one, page)
        one.page.wait_for_function(FITS)
        one.page.locator(".st-key-headline").evaluate("node => { node.style.paddingBottom = '60px'; }")
        one.page.wait_for_timeout(300)  # what is watched has another size
        one.page.wait_for_function(FITS)
        assert one.page.evaluate(SHRINK) in ("", "1"), page


@pytest.mark.soak
@pytest.mark.parametrize("language", ["en", "de"])
def test_figures_and_lines_of_a_lecture_are_whole_and_legible(visit: Begin, language: str) -> None:
    one = visit(width=1280, height=720)
    for page, link, parts in WHOLE:
        one.open(page, **{"sentence": "the cat sat on the mat", "lecture": "1", "lang": language} | link)
        for part in parts:
            one.page.locator(part).first.wait_for()
        for size in SIZES:
            one.page.set_viewport_size(size)
            one.settle()
            one.page.wait_for_function(FITS)
            assert one.page.evaluate(TOO_SMALL, 14 * size["height"] / 720 if size == SIZES[0] else 20) == [], (
                page,
                size,
            )
            for part in parts:
                assert one.page.locator(part).first.evaluate(CUT_IN) == [], (page, part, size)
