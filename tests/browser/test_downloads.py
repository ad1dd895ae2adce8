"""One button at each picture saves it: as an image, as an HTML page that needs no network, or as numbers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

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


@pytest.mark.soak
def test_a_saved_canvas_says_what_it_shows_and_has_a_margin(visit: Begin) -> None:
    one = visit().open(sentence="the </script> cat", kind="cross", layer="2", head="3")
    one.page.locator(".canvas .arc").first.wait_for(state="attached")
    one.page.locator(".st-key-download_canvas button").first.click()
    one.settle()
    opened = one.page.locator("[data-testid='stPopoverBody']", has_text="CSV")
    drawn = ElementTree.parse(saved(one.page, "Save the picture as SVG", opened)).getroot()
    name, sentence = (node.text or "" for node in drawn.findall("{*}text"))
    assert "layer 2, head 3" in name.lower()
    assert sentence == "the </script> cat"
    (inside,) = drawn.findall("{*}g/{*}svg")
    assert float(drawn.attrib["width"]) == float(inside.attrib["width"]) + 32
    assert inside.attrib["overflow"] == "visible", "low letters of the last line are cut"
    assert "click" not in "".join(drawn.itertext()), "a hint of the page is in the file"
    buttons = [
        opened.get_by_role("button", name=kind, exact=True).bounding_box()
        for kind in ("Save the picture as SVG", "CSV")
    ]
    assert abs(buttons[0]["y"] - buttons[1]["y"]) < 8


def drawn(one: Visit, key: str) -> ElementTree.Element:
    """The picture `key` of the page, saved as SVG."""
    one.page.locator(f".st-key-download_{key} button").first.click()
    one.settle()
    opened = one.page.locator("[data-testid='stPopoverBody']", has_text="CSV")
    return ElementTree.parse(saved(one.page, "Save the picture as SVG", opened)).getroot()


@pytest.mark.soak
def test_the_names_of_columns_are_as_slanted_in_the_file_as_on_the_page(visit: Begin) -> None:
    one = visit().open(sentence="the cat sat on the mat", kind="cross", layer="2", head="3")
    one.page.get_by_text("Matrix", exact=True).click()
    names = one.page.locator(".matrix .column")
    names.first.wait_for()
    whole = drawn(one, "canvas")
    slanted = [group for group in whole.findall(".//{*}g") if "matrix(0.64" in group.attrib.get("transform", "")]
    assert ["".join(group.itertext()) for group in slanted] == names.all_inner_texts()
    on_page = names.evaluate_all("nodes => nodes.map(node => node.offsetWidth)")
    for group, width in zip(slanted, on_page, strict=True):
        (text,) = group.findall("{*}text")
        assert abs(float(text.attrib["textLength"]) - width) < 2, "a name is stretched"
    assert names.first.evaluate("node => getComputedStyle(node).transform").startswith("matrix(0.64")


@pytest.mark.soak
def test_a_word_in_a_saved_map_is_as_wide_as_on_the_page_in_whatever_font(visit: Begin) -> None:
    one = visit().open("multihead", sentence="the cat sat on the mat")
    is_drawn(one, "multihead")
    one.page.locator(".one .head-map text").first.wait_for()
    names = [text for svg in drawn(one, "head_grid").findall(".//{*}svg") for text in svg.findall("{*}text")]
    words = [name for name in names if name.attrib.get("class") == "column" and "".join(name.itertext()).strip()]
    assert words, "the map has names of its columns"
    assert all(float(word.attrib["textLength"]) > 5 for word in words)


@pytest.mark.soak
def test_the_list_of_downloads_leaves_half_of_the_window_and_closes_by_escape_and_by_a_click_beside_it(
    visit: Begin,
) -> None:
    one = visit(height=720).open("masks", sentence="the cat sat on the mat")
    is_drawn(one, "masks")
    button, opened = one.page.locator(".st-key-download_causal button"), one.page.get_by_test_id("stPopoverBody")
    for close in (lambda: one.page.keyboard.press("Escape"), lambda: one.page.mouse.click(640, 130)):
        with one.running():
            button.click()
        opened.get_by_role("button", name="CSV", exact=True).wait_for()
        assert opened.bounding_box()["height"] <= 360
        close()
        opened.wait_for(state="hidden")


@pytest.mark.soak
def test_the_grid_of_switches_is_saved_with_its_cells(visit: Begin) -> None:
    one = visit().open("whatif", sentence="the cat sat on the mat", ranked="true")
    one.page.locator(".st-key-download_head_switches button").first.wait_for()
    cells = one.page.locator(".boards .cell").count()
    whole = drawn(one, "head_switches")
    frames = [box for box in whole.findall(".//{*}rect") if box.attrib["fill"] == "none"]
    assert len(frames) >= cells, "a cell has no frame"
    assert "Encoder self-attention" in "".join(whole.itertext())


@pytest.mark.soak
def test_no_control_is_in_a_saved_time_machine(visit: Begin) -> None:
    one = visit().open("training", sentence="the cat sat on the mat")
    one.page.locator(".machine .snapshots [role=radio]").first.wait_for()
    words = " ".join(drawn(one, "time_machine").itertext())
    assert "what it writes" in words
    assert not [control for control in ("Play", "Run", "Use this snapshot") if control in words]


@pytest.mark.soak
@pytest.mark.parametrize(
    ("page", "key", "address", "words"),
    [
        ("scaling", "softmax_scene", {}, ["Not divided:", "Divided:"]),
        ("whatif", "padded_batch", {"experiment": "masks", "padded_with": "the cat", "edits": "mask=padding"}, []),
    ],
)
def test_two_panels_are_saved_beside_each_other(
    visit: Begin, page: str, key: str, address: dict[str, str], words: list[str]
) -> None:
    one = visit().open(page, sentence="the cat sat on the mat", **address)
    one.page.locator(f".st-key-picture_{key} svg").last.wait_for()
    whole = drawn(one, key)
    first, second = (
        {name: float(svg.attrib[name]) for name in ("x", "width")} for svg in whole.findall("{*}g/{*}svg//{*}svg")
    )
    assert second["x"] >= first["x"] + first["width"] - 1
    assert float(whole.attrib["width"]) >= second["x"] + second["width"] + 31
    assert all(word in "".join(whole.itertext()) for word in words)


HEIGHTS = """key => [...document.querySelectorAll(`.st-key-picture_${key} *`)].filter(node => node.shadowRoot).flatMap(
    node => [...node.shadowRoot.querySelectorAll('.picture')].map(each => each.getBoundingClientRect().height))"""


@pytest.mark.soak
@pytest.mark.parametrize(
    ("page", "key", "details"),
    [("hand", "query_scene", "false"), ("steps", "map", "true")],
)
def test_a_picture_has_the_size_of_the_page_also_in_a_large_window(
    visit: Begin, page: str, key: str, details: str
) -> None:
    one = visit(width=1920, height=1080).open(page, sentence="the cat sat", station="source.text", details=details)
    is_drawn(one, page)
    heights = one.page.evaluate(HEIGHTS, key)
    parts = drawn(one, key).findall("{*}g/{*}svg")
    assert [float(part.attrib["height"]) for part in parts] == pytest.approx(heights, abs=1)
    assert not [part for part in parts if " height:" in part.attrib.get("style", "")]
    tops = [float(part.attrib.get("y", 0)) for part in parts]
    assert tops == pytest.approx([sum(heights[:place]) for place in range(len(parts))], abs=1)
