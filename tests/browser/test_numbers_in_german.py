"""In German, all that a browser draws has German numbers: the app's own components, charts, and Streamlit's widgets."""

import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_pages import PAGES, is_drawn
from tests.support.english_numbers import english_numbers

Begin = Callable[..., Visit]

# A line for each text and each name. Not what is code, nor what Streamlit's tables say without being drawn.
LINES = """root => {
    const skipped = node => node.matches('style, script, code, pre, annotation, table[role=grid]');
    const names = node => ['aria-label', 'alt', 'title'].map(name => node.getAttribute(name) ?? '');
    const lines = node => node.nodeType === 3 ? [node.data] : node.nodeType !== 1 || skipped(node) ? []
        : [...names(node), ...[...node.childNodes, ...(node.shadowRoot?.childNodes ?? [])].flatMap(lines)];
    return lines(root).filter(line => line.trim());
}"""
IN_ENGLISH = re.compile(r"One seed: it may be chance|in the paper")  # what a file of results says


def english_lines(one: Visit) -> list[str]:
    lines = one.page.locator("[data-testid='stApp']").evaluate(LINES)
    return [line for line in lines if english_numbers(line) and not IN_ENGLISH.search(line)]


@pytest.mark.soak
@pytest.mark.parametrize("name", PAGES)
def test_a_german_page_is_drawn_with_german_numbers(visit: Begin, name: str) -> None:
    one = visit().open(PAGES[name].path, lang="de", details="true", sentence="the cat sat")
    is_drawn(one, name)
    assert english_lines(one) == []


@pytest.mark.soak
def test_a_chart_writes_shares_and_decimals_in_german(visit: Begin) -> None:
    one = visit().open("scaling", lang="de", details="true")
    is_drawn(one, "scaling")
    chart = one.page.locator(".js-plotly-plot").first
    assert re.fullmatch(r"\d+\u00a0%", chart.locator(".ytick text").last.text_content() or "")
    chart.evaluate("plot => Plotly.Fx.hover(plot, [{curveNumber: 0, pointNumber: 0}])")
    hover = one.page.locator(".hoverlayer text").filter(has_text="%")
    hover.first.wait_for()
    assert re.search(r"\d,\d\u00a0%", hover.first.text_content() or "")


@pytest.mark.soak
def test_a_slider_that_is_drawn_at_once_has_a_german_number(visit: Begin) -> None:
    one = visit().open("attention", lang="de", details="true", more="alignment", threshold="0.4")
    values = one.page.locator("[data-testid='stSliderThumbValue']")
    values.filter(has_text=re.compile(r"\d,\d")).first.wait_for()
    assert not values.filter(has_text=re.compile(r"\d\.\d")).count()
