"""The Decoding page in a browser: it draws, its keys work, and a reference stays text."""

from collections.abc import Callable

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import click_cell

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"


def test_the_loop_is_seen_at_once_and_the_arrow_keys_walk_it(visit: Begin) -> None:
    one = visit().open("decoding", sentence=SENTENCE, t="2")
    page = one.page
    loop = page.locator("svg.loop")
    loop.wait_for()
    box = loop.bounding_box()
    assert box["y"] + box["height"] <= 900, "the first picture needs scrolling"
    filled = page.locator("svg.loop .grid").nth(1)
    assert filled.get_attribute("data-filled") == "2"
    page.keyboard.press("ArrowRight")
    page.locator("svg.loop .grid[data-filled='3']").wait_for()
    page.keyboard.press("ArrowLeft")
    page.locator("svg.loop .grid[data-filled='2']").wait_for()
    weights = page.locator("svg.loop rect.weight").evaluate_all("nodes => nodes.map(node => +node.dataset.weight)")
    assert abs(sum(weights) - 2) < 0.01  # a row of encoder-decoder attention and one of self-attention


def test_the_tree_is_walked_and_a_node_chosen_by_keys_alone(visit: Begin) -> None:
    one = visit().open("decoding", sentence=SENTENCE, part="tree", t="2")
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
        page.locator(".st-key-next_pieces button").first.click()
        page.get_by_role("heading", name="With your beginning").wait_for()
        one.settle()
        assert page.locator(".st-key-continued .headline").inner_text().strip()
        page.get_by_role("button", name="Take it back").click()
        page.get_by_role("heading", name="With your beginning").wait_for(state="detached")
        one.settle()


def test_a_click_on_the_lens_chooses_its_step(visit: Begin) -> None:
    one = visit(dark=True).open("decoding", sentence=SENTENCE, part="lens", t="1")
    page = one.page
    click_cell(page, "lens", 0, 2)
    page.locator(".picker button[aria-checked='true'][aria-label^='3:']").wait_for()


def test_a_hostile_reference_stays_text(visit: Begin) -> None:
    page = visit().open("decoding", sentence=SENTENCE, part="reference").page
    box = page.get_by_label("Your reference translation")
    box.fill("</script><img src=x onerror=alert(1)>")
    box.press("Enter")
    page.locator(".difference").wait_for()
    assert "<img" in page.locator(".difference").inner_text()
    assert page.locator("img[src='x']").count() == 0
