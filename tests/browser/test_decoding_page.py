"""The Decoding page in a browser: steps change without the server, keys work, and a reference stays text."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import click_cell, is_drawn

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"


FRAME = ".st-key-picture_next_token"
BOXES = """root => ['.source', '.encoder', '.written', '.decoder', '.rows', '.row', '.beams', '.line button'].flatMap(
    name => [...root.querySelectorAll(name)].map(node => {
        const { x, y, width, height } = node.getBoundingClientRect();
        return [name, x, y, width, height].join(' ');
    }))"""
STEPS = """root => {
    const buttons = root.querySelectorAll('.line button'), took = [];
    for (let n = 0; n < 4; n++) {
        const before = performance.now();
        buttons[n < 2 ? 2 : 0].click();
        root.getBoundingClientRect();
        took.push(performance.now() - before);
    }
    return took;
}"""


def step_of(page: Any) -> str | None:
    return page.locator(f"{FRAME} .root").get_attribute("data-step")


@pytest.mark.soak
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)])
def test_the_frame_is_in_the_window_and_nothing_moves_from_step_to_step(visit: Begin, width: int, height: int) -> None:
    one = visit(width=width, height=height).open("decoding", sentence=SENTENCE, t="2")
    is_drawn(one, "decoding")
    page = one.page
    box = page.locator(FRAME).bounding_box()
    assert box["y"] + box["height"] <= height, "the picture needs scrolling"
    root = page.locator(f"{FRAME} .root")
    places = root.evaluate(BOXES)
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        assert root.evaluate(BOXES) == places
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width


@pytest.mark.soak
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_last_step_lists_the_finished_hypotheses_in_the_same_room(visit: Begin, width: int, height: int) -> None:
    one = visit(width=width, height=height)
    one.open("decoding", sentence="the cat sat", checkpoint="wide", beam="12", t="1")  # a search that finishes
    is_drawn(one, "decoding")
    beams, chips = one.page.locator(f"{FRAME} .beams"), one.page.locator(f"{FRAME} .written .chips button")
    before = beams.bounding_box()
    assert "sum of log p" in beams.locator("h3").inner_text()
    chips.last.click()
    assert beams.locator("h3").inner_text().startswith("At the end of the search: finished hypotheses, sorted by score")
    finished = [text for text in beams.locator(".sum").all_inner_texts() if text.startswith("finished")]
    scores = [float(text.split()[-1].replace("−", "-")) for text in finished]
    assert scores == sorted(scores, reverse=True) != []
    assert beams.bounding_box() == before
    chips.nth(1).click()
    assert not any("finished" in text for text in beams.locator(".sum").all_inner_texts())


@pytest.mark.soak
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_least_certain_step_is_marked_and_takes_no_room(visit: Begin, width: int, height: int) -> None:
    one = visit(width=width, height=height).open("decoding", sentence=SENTENCE)
    is_drawn(one, "decoding")
    page = one.page
    root = page.locator(f"{FRAME} .root")
    least, marked = page.locator(f"{FRAME} .least"), page.locator(f"{FRAME} .written .chip.doubtful")
    assert least.inner_text().startswith("least certain, step ")
    assert marked.get_attribute("aria-label").endswith(least.inner_text())
    assert page.locator(f"{FRAME} .written h3").bounding_box()["height"] <= 22  # one line
    with_it = root.evaluate(BOXES)
    root.evaluate("root => root.querySelector('.least').style.display = 'none'")
    assert root.evaluate(BOXES) == with_it
    root.evaluate("root => root.querySelector('.least').style.display = ''")
    index = marked.evaluate("chip => [...chip.parentNode.children].indexOf(chip)")
    least.focus()
    page.keyboard.press("Enter")
    assert step_of(page) == str(index)
    assert root.evaluate(BOXES) == with_it


@pytest.mark.soak
def test_on_a_phone_the_distribution_is_reached_without_scrolling_sideways(visit: Begin) -> None:
    one = visit(width=390, height=844).open("decoding", sentence=SENTENCE, t="2")
    is_drawn(one, "decoding")
    page = one.page
    assert page.locator(f"{FRAME} .rows").bounding_box()["y"] < 600
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390
    for target in page.locator(f"{FRAME} .line button").all():
        assert target.bounding_box()["height"] >= 44


def test_all_steps_are_walked_at_once_without_the_server(visit: Begin) -> None:
    one = visit().open("decoding", sentence=SENTENCE)
    is_drawn(one, "decoding")
    page = one.page
    page.context.set_offline(True)
    try:
        assert step_of(page) == "1"
        chosen = page.locator(f"{FRAME} .row.chosen .name")
        first = chosen.inner_text()
        page.keyboard.press("ArrowRight")
        assert step_of(page) == "2"
        read = page.locator(f"{FRAME} .written .chip").nth(1)
        assert "newest" in read.get_attribute("class").split()
        assert read.text_content() == first.removeprefix("…")
        page.locator(f"{FRAME} .written .chip").nth(4).click()  # one that is not written yet: the step that writes it
        assert step_of(page) == "4"
        page.get_by_role("button", name="Back").click()
        assert step_of(page) == "3"
        page.get_by_role("button", name="Play").click()
        page.locator(f"{FRAME} .root[data-step='5']").wait_for()
        page.get_by_role("button", name="Pause").click()
        took = page.locator(f"{FRAME} .root").evaluate(STEPS)
        assert sorted(took)[1] < 50, took  # ms
    finally:
        page.context.set_offline(False)


@pytest.mark.soak
def test_the_step_at_which_the_reader_stops_is_chosen_for_every_page(visit: Begin) -> None:
    one = visit().open("decoding", sentence=SENTENCE, details="true", part="lens")
    is_drawn(one, "decoding")
    page = one.page
    page.evaluate(f"() => {{ window.frame = document.querySelector('{FRAME}').firstElementChild; }}")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.locator(".picker button[aria-checked='true'][aria-label^='3:']").wait_for()
    one.settle()
    assert chosen_in(page)["t"] == ["3"]
    assert step_of(page) == "3"
    assert page.evaluate(f"() => window.frame === document.querySelector('{FRAME}').firstElementChild")
    click_cell(page, "lens", 0, 4)  # and a step chosen below moves the frame
    page.locator(f"{FRAME} .root[data-step='5']").wait_for()


@pytest.mark.soak
def test_the_chosen_token_moves_into_the_loop_unless_motion_is_reduced(visit: Begin) -> None:
    one = visit().open("decoding", sentence=SENTENCE)
    is_drawn(one, "decoding")
    page = one.page
    moving = f"""() => {{
        const root = [...document.querySelectorAll('{FRAME} *')].find(node => node.shadowRoot)?.shadowRoot
            ?? document.querySelector('{FRAME}');
        root.querySelectorAll('.line button')[2].click();
        return root.querySelectorAll('.flying').length;
    }}"""
    assert page.evaluate(moving) == 1
    page.locator(f"{FRAME} .flying").wait_for(state="detached")
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate(moving) == 0


def test_another_token_of_the_list_is_continued_with(visit: Begin) -> None:
    one = visit().open("decoding", sentence=SENTENCE, t="2")
    is_drawn(one, "decoding")
    page = one.page
    page.locator(f"{FRAME} button.row:not(.chosen):not(:disabled)").first.click()
    page.get_by_text("at step 2 instead:").wait_for()
    assert step_of(page) == "2"


def test_the_tree_is_walked_and_a_node_chosen_by_keys_alone(visit: Begin) -> None:
    one = visit().open("decoding", sentence=SENTENCE, part="tree", t="2", details="true")
    page = one.page
    page.locator("svg.tree .node.on").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    chosen = page.evaluate(
        "() => { let at = document.activeElement; while (at.shadowRoot) at = at.shadowRoot.activeElement;"
        " return at.dataset.id; }"
    )
    page.keyboard.press("Enter")
    page.locator(f"svg.tree .node.on[data-id='{chosen}']").wait_for()
    one.settle()
    assert chosen_in(page)["t"] == ["1"]  # the step of the node is the step of the page
    for _ in range(2):  # taken back, the same token can be taken again
        page.locator(".st-key-next_tokens button").first.click()
        page.get_by_role("heading", name="With your beginning").wait_for()
        one.settle()
        assert page.locator(".st-key-continued .headline").inner_text().strip()
        page.get_by_role("button", name="Take it back").click()
        page.get_by_role("heading", name="With your beginning").wait_for(state="detached")
        one.settle()


@pytest.mark.soak
def test_a_click_on_the_lens_chooses_its_step(visit: Begin) -> None:
    one = visit(dark=True).open("decoding", sentence=SENTENCE, part="lens", t="1", details="true")
    page = one.page
    click_cell(page, "lens", 0, 2)
    page.locator(".picker button[aria-checked='true'][aria-label^='3:']").wait_for()


@pytest.mark.soak
def test_a_hostile_reference_stays_text(visit: Begin) -> None:
    page = visit().open("decoding", sentence=SENTENCE, part="reference", details="true").page
    box = page.get_by_label("Your reference translation")
    box.fill("</script><img src=x onerror=alert(1)>")
    box.press("Enter")
    page.locator(".difference").wait_for()
    assert "<img" in page.locator(".difference").inner_text()
    assert page.locator("img[src='x']").count() == 0
