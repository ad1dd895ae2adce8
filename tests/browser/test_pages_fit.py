"""Title, picture and controls of each page are in the window when it opens, and no text on it is too small to read."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_pages import PAGES, is_drawn
from tests.support.phone import wrong_on_a_phone

Begin = Callable[..., Visit]
SENTENCES = ("the cat sat on the mat because it was too tired", "cat", " ".join(["the cat sat on the mat"] * 15))
SIZES = ((1280, 720), (1920, 1080))
PHONE_PICTURE = 700  # px: the first picture of a phone's page has begun, and fits up to here or scrolls by itself

# The lowest edge of what holds these nodes: their component, or the element of the page that they are in.
BOTTOM = """nodes => Math.max(...nodes.map(node => {
    const holder = node.getRootNode().host ?? node.closest('[data-testid=stElementContainer]') ?? node;
    return holder.getBoundingClientRect().bottom;
}))"""

# Texts in sight that are smaller than `least` px, as they appear on the screen.
TOO_SMALL = """least => {
    const found = [];
    const look = root => {
        const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (node.shadowRoot) look(node.shadowRoot);
            if (node.nodeType !== Node.TEXT_NODE || !node.data.trim()) continue;
            const parent = node.parentElement, range = document.createRange();
            if (!parent || ['STYLE', 'SCRIPT', 'TITLE', 'DESC'].includes(parent.tagName)) continue;
            range.selectNodeContents(node);
            const box = range.getBoundingClientRect(), style = getComputedStyle(parent);
            if (box.bottom < 0 || box.top > innerHeight || !box.width) continue;
            if (!parent.checkVisibility({checkOpacity: true}) || style.clipPath !== 'none') continue;
            if (parent.closest('.katex-mathml, [data-testid=stIconMaterial]')) continue;
            const matrix = parent.getScreenCTM?.();
            const scale = matrix ? Math.hypot(matrix.a, matrix.b) : 1;
            const size = parseFloat(style.fontSize) * scale;
            if (size < least - 0.1) found.push(`${size.toFixed(1)}: ${node.data.trim().slice(0, 30)}`);
        }
    };
    look(document.querySelector('[data-testid=stMain]'));
    return found;
}"""


# Controls in the window beside the pictures, those of the top included. What is inside a picture belongs to it, and so
# do the buttons of a card; a group of which one is chosen is one control.
CONTROLS = """() => {
    const main = document.querySelector('[data-testid=stMain]'), found = [];
    const bars = [...main.querySelectorAll('*')].filter(node => node.shadowRoot?.querySelector('.switches'));
    const nodes = [main, ...bars.map(node => node.shadowRoot)].flatMap(root =>
        [...root.querySelectorAll('button, input, select, a[href], summary, [role=radiogroup]')]);
    for (const node of nodes) {
        const box = node.getBoundingClientRect();
        if (!box.width || box.top > innerHeight || !node.checkVisibility({checkOpacity: true})) continue;
        if (node.parentElement?.closest('[role=radiogroup], .js-plotly-plot, label, .st-key-cards')) continue;
        if (node.closest('.st-key-checkpoint') && !node.matches('input')) continue;
        found.push((node.getAttribute('aria-label') || node.textContent || node.tagName).trim().slice(0, 40));
    }
    return found;
}"""
MOST_CONTROLS = 12
MOST_PICTURES = 2  # in the window, with a button for downloads each


def edges(page: Any, name: str) -> dict[str, float]:
    """The lower edges of what must be in the window."""
    selectors = {"heading": ".st-key-question h1", "picture": PAGES[name].pictures[0]}
    if page.locator(".st-key-chosen .switches").count():
        selectors["controls"] = ".st-key-chosen .switches"
    return {part: page.locator(selector).evaluate_all(BOTTOM) for part, selector in selectors.items()}


WIDER = "document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth"  # px that the page is too wide


@pytest.mark.parametrize("name", PAGES)
def test_heading_picture_and_controls_are_in_the_window_and_legible(visit: Begin, name: str) -> None:
    """With the usual, the shortest and the longest sentence, before a class and on a phone: one visit."""
    one = visit(width=SIZES[0][0], height=SIZES[0][1]).open(PAGES[name].path, sentence=SENTENCES[0])
    is_drawn(one, name)
    controls = one.page.evaluate(CONTROLS)
    assert len(controls) <= MOST_CONTROLS, "\n".join(controls)
    assert sum("Download" in control for control in controls) <= MOST_PICTURES
    for sentence in SENTENCES:
        if name == "positions" and " " not in sentence:  # nothing to shuffle: the page says so
            continue
        if sentence != SENTENCES[0]:
            one.type(sentence)
            is_drawn(one, name)
        for width, height in SIZES:
            one.page.set_viewport_size({"width": width, "height": height})
            one.settle()
            for part, bottom in edges(one.page, name).items():
                assert bottom <= height + 1, (part, sentence[:30], width, bottom)
            assert one.page.evaluate(WIDER) <= 0, f"the page scrolls sideways at {width} px with {sentence[:30]}"
            assert one.page.evaluate(TOO_SMALL, min(14 * height / 720, 20)) == [], (sentence[:30], width)
    one.type(SENTENCES[0])
    one.page.set_viewport_size({"width": 390, "height": 844})
    one.settle()
    tops = [one.page.locator(picture).first.bounding_box()["y"] for picture in PAGES[name].pictures]
    assert min(tops) < PHONE_PICTURE, name
    assert one.page.evaluate(WIDER) <= 0, "the page of a phone scrolls sideways"
    assert wrong_on_a_phone(one.page) == {"cut": [], "small": []}
