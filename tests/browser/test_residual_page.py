"""The Residual stream page: a click or keys alone choose the token, and the picture follows at once."""

import re
from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit, chosen_in
from tests.support.browser_pages import is_drawn

FLOW = "[...document.querySelectorAll('*')].find(node => node.shadowRoot?.querySelector('.flow')).shadowRoot"
NAMES_IN_BOXES = """svg => [...svg.querySelectorAll('.part')].map(part => {  // edges of the box and of the letters
    const box = part.querySelector('.box').getBBox(), name = part.querySelector('text'), style = getComputedStyle(name);
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = `${style.fontSize} ${style.fontFamily}`;
    const ink = pen.measureText(name.textContent), y = Number(name.getAttribute('y'));
    return [box.y, box.y + box.height, y - ink.actualBoundingBoxAscent, y, parseFloat(style.fontSize)];
})"""
HEADING = """() => [...document.querySelectorAll('*')].find(node => node.shadowRoot?.querySelector('.flow')).shadowRoot
    .querySelector('svg.flow-picture').getAttribute('aria-label')"""
AT_ONCE = """() => {
    const flow = [...document.querySelectorAll('*')].find(node => node.shadowRoot?.querySelector('.flow')).shadowRoot;
    flow.querySelectorAll('.chips')[1].children[1].click();
    return flow.querySelector('svg.flow-picture').getAttribute('aria-label');
}"""


@pytest.mark.soak
def test_keys_alone_choose_the_token(visit: Callable[..., Visit]) -> None:
    one = visit().open("residual", sentence="the cat sat", stream="encoder", s="1")
    is_drawn(one, "residual")
    page = one.page
    first = page.evaluate(HEADING)
    page.locator(".flow .chips [aria-checked='true']").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile(r"\bs=2\b"))
    one.settle()
    assert page.evaluate(HEADING) != first
    page.keyboard.press("End")  # the row of tokens keeps the focus
    page.keyboard.press("ArrowRight")  # beyond the end there is nothing
    one.settle()
    assert "</s>" in page.evaluate(HEADING)
    page.locator(".flow .chips").nth(1).get_by_role("radio").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**stream=decoder*")
    one.settle()
    assert "<s>, decoder" in page.evaluate(HEADING)


def test_another_token_is_drawn_before_the_server_answers(visit: Callable[..., Visit]) -> None:
    one = visit().open("residual", sentence="the cat sat", stream="encoder", s="1")
    is_drawn(one, "residual")
    assert ", decoder" in one.page.evaluate(AT_ONCE)  # one turn of the browser: no answer can have come
    one.page.wait_for_url(re.compile(r"\bt=2\b"))


@pytest.mark.soak
def test_the_picture_is_in_the_window_and_says_what_a_sub_layer_does_also_in_a_link(
    visit: Callable[..., Visit],
) -> None:
    one = visit(height=720).open("residual", sentence="the cat sat", stream="decoder", t="2")
    is_drawn(one, "residual")
    box = one.page.locator(".flow").bounding_box()
    assert box["y"] + box["height"] <= 720
    parts = one.page.locator(".flow-picture .part")
    assert parts.count() == 9  # three sub-layers in each of three layers
    parts.nth(4).click()
    assert one.page.locator(".flow .read").inner_text().startswith("Layer 2, encoder-decoder: adds a vector of length")
    one.settle()
    with one.running():
        one.page.keyboard.press("ArrowDown")
    says = one.page.locator(".flow .read").inner_text()
    assert says.startswith("Layer 2, feed-forward")
    assert one.page.locator(".flow-picture [aria-checked=true]").evaluate("row => row.matches(':focus')")
    chosen = {name: value[0] for name, value in chosen_in(one.page).items()}
    friend = visit().open("residual", sentence="the cat sat", **chosen)
    is_drawn(friend, "residual")
    assert friend.page.locator(".flow .read").inner_text() == says


ADDS = """svg => [...svg.querySelectorAll('.part')].map(
    part => parseFloat(part.querySelectorAll('text')[1].textContent.slice(1)))"""


@pytest.mark.soak
@pytest.mark.parametrize("address", [{"stream": "encoder", "s": "1"}, {"stream": "decoder", "t": "3"}])
def test_the_sub_layer_that_adds_most_is_marked_until_another_is_chosen(
    visit: Callable[..., Visit], address: dict[str, str]
) -> None:
    one = visit(height=720).open("residual", sentence="the cat sat", **address)
    is_drawn(one, "residual")
    added = one.page.locator("svg.flow-picture").evaluate(ADDS)
    parts, says = one.page.locator(".flow-picture .part"), one.page.locator(".flow .read")
    marked = parts.evaluate_all("all => all.findIndex(part => part.getAttribute('aria-checked') === 'true')")
    assert added[marked] == max(added)
    assert "adds most of all: a vector of length" in says.inner_text()
    other = added.index(min(added))
    with one.running():
        parts.nth(other).click()
    one.page.mouse.move(0, 0)
    assert "most of all" not in says.inner_text()
    assert parts.nth(other).get_attribute("aria-checked") == "true"


def test_a_residual_connection_is_taken_away_at_once_and_put_back_and_nothing_jumps(
    visit: Callable[..., Visit],
) -> None:
    one = visit(height=720).open("residual", sentence="the cat sat", stream="encoder", s="1")
    is_drawn(one, "residual")
    button = one.page.get_by_role("button", name="its residual connection")
    place = button.bounding_box()
    with one.running():
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
    (edit,) = chosen_in(one.page)["edits"]
    assert edit.startswith("noresidual=encoder.")
    assert "without its residual connection" in one.page.locator(".flow .read").inner_text()
    assert one.page.locator(".flow-picture .before").count() == 5  # the lengths of the original model
    assert button.bounding_box() == place
    with one.running():
        button.click()
    assert "edits" not in chosen_in(one.page)


@pytest.mark.soak
def test_a_vector_that_an_edit_puts_in_is_said_to_be_of_another_sentence(visit: Callable[..., Visit]) -> None:
    edits = "patch=1.2.17-93-3;patch=embedding.2.17-93-3"
    address = {"sentence": "the cat sat", "stream": "encoder", "s": "2", "sub_layer": "2", "edits": edits}
    one = visit(height=720).open("residual", **address)
    is_drawn(one, "residual")
    says, picture = one.page.locator(".flow .read"), one.page.locator("svg.flow-picture")
    assert says.inner_text().endswith("An edit replaces the new stream by a vector of another sentence.")
    assert picture.locator("> text").get_by_text("vector of another sentence").count() == 1
    with one.running():
        one.page.locator(".flow .chips").first.get_by_role("radio").nth(2).click()
    assert "another sentence" not in says.inner_text()
    assert picture.locator("> text").get_by_text("embedding + position").count() == 1


@pytest.mark.soak
def test_the_buttons_name_the_sub_layer_that_they_take_away(visit: Callable[..., Visit]) -> None:
    one = visit(height=720).open("residual", sentence="the cat sat", stream="decoder", t="2")
    is_drawn(one, "residual")
    parts, button = one.page.locator(".flow-picture .part"), one.page.locator(".flow .edits button").first
    places = []
    for place, name in ((3, "2 self-attention"), (4, "2 encoder-decoder"), (5, "2 feed-forward")):
        parts.nth(place).click()
        assert button.inner_text() == name
        places.append(button.bounding_box())
    assert places[0] == places[1] == places[2]
    with one.running():
        button.click()
    assert chosen_in(one.page)["edits"] == ["skip=decoder.2.feed_forward"]


@pytest.mark.soak
def test_a_reload_keeps_the_token_also_of_a_sentence_that_is_in_no_address(visit: Callable[..., Visit]) -> None:
    one = visit().open("residual", kind="cross")  # with which the decoder's token is shown at first
    one.type("the old garden is old")
    one.page.locator(".flow .chips").first.get_by_role("radio").nth(3).click()
    one.page.wait_for_url(re.compile(r"\bs=4\b"))
    one.settle()
    before = one.page.evaluate(HEADING)
    one.page.reload()
    one.says("the old garden is old")
    one.settle()
    is_drawn(one, "residual")
    assert one.page.evaluate(HEADING) == before
    assert chosen_in(one.page)["s"] == ["4"]


@pytest.mark.soak
def test_the_names_of_low_rows_are_inside_their_boxes(visit: Callable[..., Visit]) -> None:
    one = visit(height=720).open("residual", sentence="the cat sat", stream="decoder", t="2")
    is_drawn(one, "residual")
    one.page.locator(".flow").evaluate(
        "flow => { flow.style.height = '17.5rem'; }"
    )  # as low as 18 rows and an edit are
    low = "svg => svg.querySelector('.part .box').getBBox().height < 15"
    picture = one.page.locator("svg.flow-picture")
    one.page.wait_for_function(f"() => ({low})({FLOW}.querySelector('svg.flow-picture'))")
    for top, bottom, highest, baseline, size in picture.evaluate(NAMES_IN_BOXES):
        assert top <= highest
        assert baseline <= bottom
        assert size >= 14


@pytest.mark.soak
def test_another_checkpoint_opens_with_the_sub_layer_that_adds_most(visit: Callable[..., Visit]) -> None:
    one = visit(height=720).open("residual", sentence="the cat sat", stream="decoder", t="2")
    is_drawn(one, "residual")
    added = one.page.locator("svg.flow-picture").evaluate(ADDS)
    one.page.locator(".flow-picture .part").nth(added.index(min(added[:3]))).click()
    with one.running():
        one.page.get_by_role("button", name="its residual connection").click()
    one.page.locator(".st-key-checkpoint input").click()
    with one.running():
        one.page.get_by_role("option", name="small").click()
    one.page.wait_for_function(f"() => {FLOW}.querySelectorAll('svg.flow-picture .part').length === 3")
    assert "adds most of all" in one.page.locator(".flow .read").inner_text()


@pytest.mark.soak
def test_the_chosen_token_and_sub_layer_are_in_view_also_by_keys_and_in_a_link(visit: Callable[..., Visit]) -> None:
    one = visit(width=700, height=720).open(
        "residual", sentence="the cat sat on the mat " * 5, stream="encoder", s="25"
    )
    is_drawn(one, "residual")
    chosen = one.page.locator(".flow .chips [aria-checked='true']")
    inside = """node => { const row = node.parentElement.getBoundingClientRect(), box = node.getBoundingClientRect();
        return box.left >= row.left - 1 && box.right <= row.right + 1; }"""
    assert chosen.evaluate(inside)
    chosen.focus()
    one.page.keyboard.press("Home")
    assert chosen.evaluate(inside)
    one.settle()
    one.page.locator(".flow").evaluate("flow => { flow.style.height = '12rem'; }")
    one.page.locator(".flow-picture .part").first.focus()
    one.page.keyboard.press("End")
    assert one.page.locator(".flow-picture .part:focus").evaluate(
        "part => part.getBoundingClientRect().top < part.closest('.frame').getBoundingClientRect().bottom - 10"
    )


@pytest.mark.soak
@pytest.mark.parametrize("language", ["de", "fr"])
def test_the_words_about_a_sub_layer_are_not_cut(visit: Callable[..., Visit], language: str) -> None:
    edits = "noresidual=decoder.2.cross_attention"
    one = visit(height=720).open(
        "residual", sentence="the cat sat", stream="decoder", t="2", edits=edits, lang=language
    )
    is_drawn(one, "residual")
    for part in range(9):
        one.page.locator(".flow-picture .part").nth(part).hover()
        assert one.page.locator(".flow .read").evaluate("read => read.scrollHeight <= read.clientHeight + 1")
        assert one.page.locator(".flow .read").evaluate("read => read.scrollWidth <= read.clientWidth + 1")
