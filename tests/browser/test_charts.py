"""Charts in an open page: they follow its width and its background, and are not drawn again without a reason."""

import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

Begin = Callable[..., Visit]
MATRIX = ".st-key-scroll_head_matrix .js-plotly-plot"
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


FARTHEST_FROM_THE_MIDDLE = """() => {
    const plot = document.querySelector('.st-key-scroll_head_matrix .js-plotly-plot');
    const image = plot.querySelector('.hm image').getBoundingClientRect();
    const z = plot.calcdata[0][0].z, columns = z[0].length, rows = z.length;
    return [...plot.querySelectorAll('.plain-texts text')].map(text => {
        const box = text.getBoundingClientRect();
        const across = (box.x + box.width / 2 - image.x) / (image.width / columns);
        const down = (box.y + box.height / 2 - image.y) / (image.height / rows);
        const px = Math.abs(across - Math.floor(across) - 0.5) * image.width / columns;
        return Math.max(px, Math.abs(down - Math.floor(down) - 0.5) * image.height / rows);
    });
}"""


@pytest.mark.soak
def test_a_chart_follows_the_width_of_the_page(visit: Begin) -> None:
    one = visit(width=1900).open("residual", details="true")
    is_drawn(one, "residual")
    before = one.page.locator(".js-plotly-plot .main-svg").first.bounding_box()["width"]
    one.page.set_viewport_size({"width": 1300, "height": 900})
    one.page.wait_for_function(NARROWER, arg=before)


def matrix_drawn(one: Visit) -> None:
    """Waits for the matrix in the details of Attention."""
    is_drawn(one, "attention")
    one.page.locator(f"{MATRIX} .hm image").first.wait_for(state="attached")
    one.settle()


@pytest.mark.soak
def test_a_click_that_chooses_nothing_runs_nothing(visit: Begin) -> None:
    one = visit().open("scaling", sentence="the cat sat", details="true")
    cells = one.page.locator(".st-key-picture_function_additive .hm image").first
    cells.wait_for(state="attached")
    one.settle()
    one.page.evaluate(COUNT_RUNS)
    cells.click(force=True)
    one.page.wait_for_timeout(1500)
    assert one.page.evaluate("runs") == 0


@pytest.mark.soak
def test_where_only_the_mark_has_moved_the_cells_are_not_drawn_again(visit: Begin) -> None:
    one = visit().open(
        "attention", sentence="the cat sat", kind="cross", layer="1", head="1", t="1", s="1", details="true"
    )
    matrix_drawn(one)
    page = one.page
    frames = f"() => JSON.stringify(document.querySelector('{MATRIX}').layout.shapes)"
    before, cells = page.evaluate(frames), page.locator(f"{MATRIX} .hm image")
    cells.evaluate("image => { image.kept = true; }")
    page.locator('.st-key-lines .token[data-side="0"]').nth(1).focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**s=2*")
    one.settle()
    assert page.evaluate(frames) != before
    assert cells.evaluate("image => image.kept === true")


@pytest.mark.soak
def test_numbers_are_in_the_middle_of_their_cells(visit: Begin) -> None:
    one = visit().open("attention", kind="cross", layer="1", head="1", sentence="the cat sat", details="true")
    matrix_drawn(one)
    page = one.page
    off = page.evaluate(FARTHEST_FROM_THE_MIDDLE)
    assert len(off) == page.locator(".st-key-scroll_head_matrix .plain-texts text").count() > 9
    assert max(off) < 2.5


POINT_AT_A_NEGATIVE_NUMBER = """() => {
    for (const plot of document.querySelectorAll('.js-plotly-plot')) {
        const bars = plot.data.findIndex(trace => trace.type === 'bar' && /[xy]:.4f/.test(trace.hovertemplate));
        const at = bars < 0 ? -1 : [...plot._fullData[bars].y].findIndex(value => value < -0.001);
        if (at < 0) continue;
        window.Plotly.Fx.hover(plot, [{curveNumber: bars, pointNumber: at}]);
        return true;
    }
}"""


@pytest.mark.soak
def test_what_is_pointed_at_has_the_minus_of_the_pictures(visit: Begin) -> None:
    one = visit().open("hand", sentence="the cat sat", details="true")
    is_drawn(one, "hand")
    one.page.wait_for_function(POINT_AT_A_NEGATIVE_NUMBER)
    one.page.locator(".hoverlayer text").filter(has_text=re.compile(r"−\d")).first.wait_for()
    assert not one.page.locator(".hoverlayer").filter(has_text="-").count()


@pytest.mark.soak
def test_charts_can_be_read_after_the_ground_has_changed(visit: Begin) -> None:
    one = visit().open("attention", kind="cross", sentence="the cat sat", details="true")
    matrix_drawn(one)
    title = one.page.locator(f"{MATRIX} .gtitle")
    assert title.evaluate("node => getComputedStyle(node).fill") == "rgb(28, 36, 48)"
    one.page.emulate_media(color_scheme="dark")
    one.page.wait_for_function(
        f"() => getComputedStyle(document.querySelector('{MATRIX} .gtitle')).fill === 'rgb(232, 236, 243)'"
    )
