"""Charts in an open page: they follow its width and its ground, and cost nothing when nobody asked."""

from collections.abc import Callable

from tests.browser.conftest import Visit
from tests.browser.pages import is_drawn

Begin = Callable[..., Visit]
MATRIX = ".st-key-matrix .js-plotly-plot"
NARROWER = """before => {
    const chart = document.querySelector('.js-plotly-plot');
    const width = chart.querySelector('.main-svg').getBoundingClientRect().width;
    return width < before - 100 && Math.abs(width - chart.parentElement.clientWidth) < 1;
}"""
COUNT_RUNS = """() => {
    const app = document.querySelector('[data-testid="stApp"]');
    window.runs = 0;
    new MutationObserver(() => { window.runs += app.dataset.testScriptState === 'running'; })
        .observe(app, {attributes: true, attributeFilter: ['data-test-script-state']});
}"""


def test_a_chart_follows_the_width_of_the_page(visit: Begin) -> None:
    one = visit(width=1900).open("residual")
    is_drawn(one, "residual")
    before = one.page.locator(".js-plotly-plot .main-svg").first.bounding_box()["width"]
    one.page.set_viewport_size({"width": 1300, "height": 900})
    one.page.wait_for_function(NARROWER, arg=before)


def test_a_click_that_chooses_nothing_runs_nothing(visit: Begin) -> None:
    one = visit().open()
    one.drawn()
    one.page.evaluate(COUNT_RUNS)
    one.page.locator(f"{MATRIX} .hm image").first.click(force=True)
    one.page.wait_for_timeout(1500)
    assert one.page.evaluate("runs") == 0
    one.page.locator(".st-key-mosaic .scatterlayer path.point").first.click(force=True)
    one.page.wait_for_function("runs > 0")


def test_charts_can_be_read_after_the_ground_has_changed(visit: Begin) -> None:
    one = visit().open()
    one.drawn()
    title = one.page.locator(f"{MATRIX} .gtitle")
    assert title.evaluate("node => getComputedStyle(node).fill") == "rgb(28, 36, 48)"
    one.page.emulate_media(color_scheme="dark")
    one.page.wait_for_function(
        f"getComputedStyle(document.querySelector('{MATRIX} .gtitle')).fill === 'rgb(232, 236, 243)'"
    )
