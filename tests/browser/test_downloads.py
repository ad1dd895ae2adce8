"""One button at each picture saves it: as a drawing, as a page of its own that needs no network, and its numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

Begin = Callable[..., Visit]
STARTS = {"SVG": b"<svg", "PNG": b"\x89PNG", "HTML": b"<!doctype html>"}


def saved(page: Any, name: str, folder: Any) -> Path:
    """The file that a button of the opened list of downloads gives."""
    with page.expect_download() as download:
        folder.get_by_role("button", name=name, exact=True).click()
    return Path(download.value.path())


def test_a_chart_is_saved_as_svg_png_html_and_csv(visit: Begin, tmp_path: Path) -> None:
    one = visit().open("residual", sentence="the </script> cat", details="true")
    is_drawn(one, "residual")
    chart = one.page.locator("[class*='st-key-picture_']:has(.js-plotly-plot .trace)").first
    key = next(name for name in chart.get_attribute("class").split() if name.startswith("st-key-picture_"))
    one.page.locator(f".{key.replace('picture', 'download')} button").first.click()
    one.settle()
    opened = one.page.locator("[data-testid='stPopoverBody']", has_text="CSV")
    for kind, start in STARTS.items():
        content = saved(one.page, f"Save the picture as {kind}", opened).read_bytes()
        assert content.startswith(start)
        assert len(content) > 3000
    table = saved(one.page, "CSV", opened).read_text()
    assert len(table.splitlines()) > 2
    page_of_its_own = tmp_path / "figure.html"
    page_of_its_own.write_bytes(content)
    alone = one.page.context.new_page()
    requests: list[str] = []
    alone.on("request", lambda request: requests.append(request.url))
    alone.goto(page_of_its_own.as_uri())
    alone.locator(".js-plotly-plot .trace").first.wait_for(state="attached")
    alone.close()
    assert requests == [page_of_its_own.as_uri()]
