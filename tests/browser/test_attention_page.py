"""The Attention page in a browser: heads by key and click, the table, one row everywhere, BertViz without a network."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tests.browser.conftest import Visit, chosen_in
from tests.support.canvas_alone import scene_with

Begin = Callable[..., Visit]
HOSTILE = "</script><img src=x onerror=alert(1)> the the"


@pytest.mark.soak
def test_heads_are_turned_on_and_off_by_key_and_click(visit: Begin) -> None:
    one = visit().open("attention", kind="cross", details="true", layer="2", head="2", sentence="the cat sat")
    one.drawn()
    page = one.page
    heads = page.locator(".st-key-lines .heads .head")
    pressed = lambda: [head.get_attribute("aria-pressed") == "true" for head in heads.all()]  # noqa: E731
    drawn = lambda: set(page.locator(".st-key-lines .line").evaluate_all("l => l.map(n => +n.dataset.head)"))  # noqa: E731
    assert pressed() == [False, True, False, False]
    heads.nth(2).click()
    assert pressed() == [False, True, True, False]
    page.keyboard.press("1")
    page.keyboard.press("2")
    assert pressed() == [True, False, True, False]
    assert drawn() == {0, 2}
    heads.nth(3).dblclick()
    assert pressed() == [False, False, False, True]
    page.keyboard.press("4")  # the last one stays
    assert drawn() == {3}
    page.locator(".st-key-lines .heads button", has_text="all").click()
    assert drawn() == {0, 1, 2, 3}
    page.wait_for_url("**lines_on=2-1-2-3-4**")  # a copied link has them
    assert drawn() == {0, 1, 2, 3}
    page.locator('.st-key-lines .token[data-side="1"]').first.hover()
    assert "(head " in page.locator(".st-key-lines .status").inner_text()


@pytest.mark.soak
def test_the_table_sorts_by_a_column_and_chooses_a_head_by_click_and_key(visit: Begin) -> None:
    one = visit().open("attention", kind="cross", details="true", layer="1", head="1", sentence="the cat sat")
    one.drawn()
    page = one.page
    rows = page.locator(".st-key-ranking tbody tr")
    page.locator(".st-key-ranking th button", has_text="entropy").click()
    column = [float(row.locator("td").nth(3).inner_text()) for row in rows.all()]
    assert column == sorted(column, reverse=True)
    frame = page.locator(".st-key-ranking .ranking")
    frame.evaluate("frame => { frame.style.height = '9rem'; frame.scrollTop = 90; }")
    assert frame.evaluate("frame => frame.scrollTop") == 90
    page.locator(".st-key-ranking th button", has_text="distance").click()
    assert frame.evaluate("frame => { frame.style.height = '9rem'; return frame.scrollTop; }") == 0
    page.locator(".st-key-ranking th button", has_text="entropy").click()
    assert page.locator(".st-key-ranking th[aria-sort='descending']").count() == 1
    layer, head = (rows.nth(4).locator("td").nth(i).inner_text() for i in (0, 1))
    rows.nth(4).click()
    page.locator(f'svg.picture[aria-label$="layer {layer}, head {head}"]').wait_for()
    one.settle()
    assert [float(row.locator("td").nth(3).inner_text()) for row in rows.all()] == column  # still sorted
    page.locator(".st-key-ranking tr[aria-selected='true']").focus()
    page.keyboard.press("Home")
    layer, head = (rows.nth(0).locator("td").nth(i).inner_text() for i in (0, 1))
    page.keyboard.press("Enter")
    page.locator(f'svg.picture[aria-label$="layer {layer}, head {head}"]').wait_for()


@pytest.mark.soak
def test_a_pinned_row_is_followed_by_every_picture_and_let_go_again(visit: Begin) -> None:
    one = visit().open("attention", kind="cross", details="true", layer="1", head="1", sentence="the cat sat")
    one.drawn()
    page = one.page
    shapes = "document.querySelector('.st-key-scroll_head_matrix .js-plotly-plot').layout.shapes?.length ?? 0"
    assert page.evaluate(shapes) == 1  # the chosen cell
    token = page.locator('.st-key-lines .token[data-side="1"]')
    token.nth(2).focus()
    page.keyboard.press("Enter")
    page.locator(".st-key-pick_t [aria-checked='true'][aria-label^='3:']").wait_for()
    one.settle()
    assert page.evaluate(shapes) == 2
    assert token.nth(2).get_attribute("aria-pressed") == "true"
    page.locator(".st-key-pick_t [aria-checked='true']").press("ArrowRight")
    page.locator('.st-key-lines .token[data-side="1"][data-index="3"][aria-pressed="true"]').wait_for()
    one.settle()
    token.nth(3).focus()
    page.keyboard.press("Escape")
    page.wait_for_function(f"() => ({shapes}) === 1")
    assert page.locator('.st-key-lines .token[aria-pressed="true"]').count() == 0
    page.locator(".st-key-pick_t button").nth(1).click()  # and a token in the bar isolates its row
    page.locator('.st-key-lines .token[data-side="1"][data-index="1"][aria-pressed="true"]').wait_for()


@pytest.mark.soak
def test_a_cell_is_chosen_by_a_click_or_a_key_among_the_lines_and_worked_out_by_hand(visit: Begin) -> None:
    one = visit().open(
        "attention", details="true", layer="1", head="1", sentence="the cat sat", kind="cross", t="1", s="1"
    )
    one.drawn()
    page = one.page
    page.locator('.st-key-lines .token[data-side="0"]').nth(1).focus()
    page.keyboard.press("Enter")
    page.locator(".st-key-chosen_cell").get_by_text("attends to key 2").wait_for()
    one.settle()
    assert page.locator('.st-key-lines .token[data-side="0"][data-index="1"][aria-pressed="true"]').count() == 1
    page.locator(".st-key-scroll_head_matrix").scroll_into_view_if_needed()
    cells = page.locator(".st-key-head_matrix .hm image").first.bounding_box()
    rows, columns = page.evaluate(
        "(() => { const z = document.querySelector('.st-key-head_matrix .js-plotly-plot').calcdata[0][0].z;"
        " return [z.length, z[0].length]; })()"
    )
    page.mouse.click(cells["x"] + 2.5 * cells["width"] / columns, cells["y"] + 1.5 * cells["height"] / rows)
    page.locator(".st-key-chosen_cell").get_by_text("Row 2 (").wait_for()
    page.locator(".st-key-chosen_cell").get_by_text("attends to key 3").wait_for()
    page.get_by_role("button", name="Work it out by hand").click()
    page.wait_for_url("**/hand*")
    one.settle()
    assert (chosen_in(page)["t"], chosen_in(page)["s"]) == (["2"], ["3"])


def test_bertviz_draws_our_weights_without_a_network_and_hostile_words_stay_words(visit: Begin) -> None:
    one = visit().open("attention", kind="cross", details="true", more="bertviz", sentence=HOSTILE)
    one.drawn()
    page = one.page
    frame = page.frame_locator("iframe")
    frame.locator("#attention line").first.wait_for(state="attached")
    sums = "() => bertviz_params.attention[0].attn[0][0].map(row => row.reduce((sum, weight) => sum + weight, 0))"
    assert page.frames[-1].evaluate(sums) == pytest.approx([1.0] * frame.locator("#left text").count(), abs=0.02)
    tokens = frame.locator("#right text").all_inner_texts()
    assert len(tokens) == page.locator('.st-key-lines .token[data-side="0"]').count()
    assert frame.locator("img, [onerror]").count() == 0
    for view, drawn in (("Model view", "#vis svg line"), ("Neuron view", "#expanded .element")):
        page.get_by_text(view, exact=True).click()
        one.settle()
        page.frame_locator("iframe").locator(drawn).first.wait_for(state="attached")
    scores = page.frame_locator("iframe").locator("#expanded #leftText text").first
    scores.hover()
    assert page.frame_locator("iframe").locator("#dotproducts rect[data-value]").count() == len(tokens)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download as HTML").click()
    alone = Path(saved.value.path()).read_text()
    other = page.context.new_page()
    other.set_content(alone)
    other.locator("#expanded .element").first.wait_for(state="attached")
    assert other.locator("img").count() == 0
    other.close()


@pytest.mark.soak
def test_the_alignment_follows_the_threshold_and_is_saved_in_pharaoh_format(visit: Begin) -> None:
    one = visit().open(
        "attention", kind="cross", details="true", more="alignment", threshold="0.05", sentence="the cat sat"
    )
    one.drawn()
    page = one.page
    lines = page.locator(".st-key-picture_alignment .line")
    lines.first.wait_for(state="attached")
    links = lines.evaluate_all("nodes => nodes.map(n => [+n.dataset.k, +n.dataset.q, +n.dataset.weight])")
    assert np.array(links)[:, 2].min() >= 0.05
    with page.expect_download() as saved:
        page.locator(".st-key-pharaoh button").click()
    pairs = Path(saved.value.path()).read_text().split()
    assert sorted(pairs) == sorted(f"{int(k)}-{int(q)}" for k, q, _ in links)


@pytest.mark.soak
def test_a_click_on_the_map_of_heads_that_align_chooses_a_head_or_those_of_a_layer(visit: Begin) -> None:
    one = visit().open(
        "attention",
        kind="cross",
        details="true",
        more="alignment",
        threshold="0.05",
        layer="1",
        head="1",
        sentence="the cat sat",
    )
    one.drawn()
    page = one.page
    chosen = lambda: re.findall(r"\d\.\d", page.locator("[data-testid='stMultiSelect']").inner_text())  # noqa: E731
    cells = page.locator(".st-key-head_map .scatterlayer .points path.point")
    assert cells.count() == 3 * (4 + 1)
    assert chosen() == ["1.2", "3.4"]  # the best
    cells.nth(1 * 5 + 2).click(force=True)
    page.locator('svg.picture[aria-label$="layer 2, head 3"]').wait_for()  # the whole page follows
    one.settle()
    assert chosen() == ["2.3"]
    cells.nth(2 * 5 + 4).click(force=True)
    page.locator("[data-testid='stMultiSelect']").get_by_text("3.4").wait_for()
    one.settle()
    assert chosen() == ["3.1", "3.2", "3.3", "3.4"]
    page.locator(".st-key-table_head_map button").click()
    page.locator("[data-testid='stDataFrame']").first.wait_for()


WRITTEN = """
    const own = CanvasRenderingContext2D.prototype.fillText;
    window.written = [];
    CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { window.written.push(text); own.call(this, text, ...at); };
"""  # noqa: E501


@pytest.mark.soak
def test_cells_of_the_matrix_below_a_tenth_have_their_own_percentage(visit: Begin, folder: Path) -> None:
    sentence = "the cat sat on the mat because it was too tired"
    one = visit()
    one.before_its_scripts(WRITTEN)
    one.open("attention", kind="encoder", layer="1", head="1", sentence=sentence)
    one.drawn()
    one.page.wait_for_function("() => window.written.length")  # the exact weights have come
    weights = scene_with(folder / "en-de.safetensors", sentence).attention("encoder").weights[0, 0]
    assert (weights < 0.0995).any()
    texts = {text for text in one.page.evaluate("window.written") if isinstance(text, str)}  # heads have numbers
    rounded = {f"{100 * weight:.0f}%" for weight in weights.flat if 0.01 <= weight < 0.995}
    assert texts - {"<1%", ">99%", "100%"} == rounded
