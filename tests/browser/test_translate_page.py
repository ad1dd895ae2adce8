"""The Translate page in a browser: it draws the tensors, its mouse and keys work, and nothing leaves the machine."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.browser.conftest import Visit

Begin = Callable[..., Visit]
EXAMPLE = "I was looking for my glasses all morning."
same = partial(np.allclose, rtol=1e-4, atol=1e-6)  # another thread count rounds differently


def typed(chips: list[str]) -> str:
    """The text that the chips of a source spell: tokens, bytes and the end sign put together again."""
    spelled = b"".join(
        bytes([int(chip[3:5], 16)]) if re.fullmatch("<0x..>", chip) else chip.encode() for chip in chips[:-1]
    )
    return spelled.decode().replace("▁", " ").strip()


def test_it_opens_with_a_drawn_example(visit: Begin) -> None:
    one = visit().open(details="true")
    one.drawn()
    one.says(EXAMPLE)
    assert one.page.locator(".st-key-translation .headline").inner_text().strip()


@pytest.mark.soak
def test_the_lines_answer_to_mouse_and_keyboard(visit: Begin) -> None:
    one = visit().open("attention", kind="cross", layer="1", head="1", sentence="the cat", details="true")
    one.drawn()
    page = one.page
    all_lines = page.locator(".st-key-lines svg .line").count()
    status = page.locator(".st-key-lines .status")
    token = page.locator('.st-key-lines .token[data-side="1"]')
    token.nth(1).hover()
    assert "attends to" in status.inner_text()
    assert page.locator(".st-key-lines .number").count() > 0
    page.mouse.move(5, 5)
    assert "attends to" not in status.inner_text()
    assert page.locator(".st-key-lines svg .line").count() == all_lines
    token.nth(0).focus()
    page.keyboard.press("ArrowRight")
    assert status.inner_text().startswith("reads")
    page.keyboard.press("Enter")
    assert token.nth(1).get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowUp")
    assert "is attended to by" in status.inner_text()
    page.keyboard.press("Escape")
    assert token.nth(1).get_attribute("aria-pressed") == "false"


def test_the_length_is_counted_while_typing_and_enter_translates(visit: Begin) -> None:
    one = visit().open(details="true")
    one.drawn()
    page = one.page
    before = page.locator(".st-key-translation .headline").inner_text(), page.locator(".meter .count").text_content()
    box = page.get_by_label("Sentence", exact=True)
    box.fill("")
    box.press_sequentially("Where is the")
    page.locator(".meter .count", has_not_text=before[1]).wait_for(state="attached")
    assert page.locator(".st-key-translation .headline").inner_text() == before[0]  # counted, not yet translated
    box.press_sequentially(" nearest station?")
    with one.running():
        box.press("Enter")
    one.drawn()
    assert "Where" in "".join(page.locator(".st-key-source_tokens .chip .text").all_inner_texts())


def test_an_unknown_word_is_read_as_a_known_one_until_the_visitor_wants_it_as_typed(visit: Begin) -> None:
    one = visit().open(checkpoint="de-en", sentence="die Katez sitzt auf der Mattte")
    one.drawn()
    mark = one.page.locator(".st-key-headline .mark")
    with one.running():
        mark.filter(has_text="Katez → Katze, Mattte → Matte").click()
    mark.filter(has_text="as typed").wait_for()
    assert "as_typed=true" in one.page.url
    with one.running():
        mark.click()
    mark.filter(has_text="Katez → Katze").wait_for()
    one.type("die Katze sitzt auf der Matte")
    mark.wait_for(state="detached")
    assert "as_typed=true" not in one.page.url


def test_the_sentence_is_in_the_copied_link_but_not_in_the_address(visit: Begin) -> None:
    one = visit(clipboard=True).open()
    one.type("the cat sat")
    one.drawn()
    assert "cat" not in one.page.url
    one.page.locator(".st-key-menu button").first.click()
    menu = one.page.get_by_test_id("stPopoverBody").filter(has_text="opens on this computer only: for others, start")
    menu.get_by_text("Open your own checkpoint").wait_for()  # the last part of the menu
    one.settle()
    size = menu.bounding_box()
    one.page.get_by_role("button", name="Copy link").click()
    one.page.get_by_text("Copied.").wait_for(state="attached")
    assert menu.bounding_box() == size
    link = one.page.evaluate("navigator.clipboard.readText()")
    again = visit()
    again.page.goto(link)
    again.drawn()
    again.says("the cat sat")
    assert "cat" not in again.page.url


@pytest.mark.soak
def test_the_second_sentence_of_a_batch_is_in_the_copied_link_too(visit: Begin) -> None:
    one = visit(clipboard=True).open("masks", sentence="the animal was tired", details="true")
    box = one.page.get_by_label("Second sentence of the batch")
    box.fill("the mat")
    box.press("Enter")
    one.settle()
    assert "mat" not in one.page.url
    one.page.locator(".st-key-menu button").first.click()
    one.page.get_by_role("button", name="Copy link").click()
    one.page.get_by_text("Copied.").wait_for()
    again = visit()
    again.page.goto(one.page.evaluate("navigator.clipboard.readText()"))
    again.settle()
    again.says("the animal was tired")
    assert again.page.get_by_label("Second sentence of the batch").input_value() == "the mat"
    assert "mat" not in again.page.url


@pytest.mark.soak
def test_a_click_translates_back_with_the_checkpoint_for_the_other_direction(visit: Begin) -> None:
    one = visit().open(sentence="the cat sat", details="true")
    one.drawn()
    written = one.page.locator(".st-key-translation .headline").inner_text()
    one.page.get_by_role("button", name="Translate it back into English").click()
    one.page.wait_for_url("**checkpoint=de-en*")
    one.says(written)


@pytest.mark.soak
def test_a_forced_translation_does_not_come_back_with_another_sentence(visit: Begin) -> None:
    one = visit().open(sentence="the cat sat", details="true")
    one.drawn()
    page = one.page
    page.get_by_text("Give a translation of your own").click()
    page.get_by_label("Your translation").fill("Das Tier war müde")
    page.get_by_label("Your translation").press("Enter")
    own = page.locator(".choices .detail", has_text="yours")
    own.wait_for()
    one.settle()
    one.type("the mat")
    page.get_by_role("radio", name="Encoder self").click()  # the browser sends again what its boxes hold
    one.settle()
    assert own.count() == 0
    assert page.get_by_label("Your translation").input_value() == ""


@pytest.mark.soak
def test_hostile_words_are_drawn_as_words(visit: Begin) -> None:
    one = visit().open(details="true")
    one.drawn()
    page = one.page
    for words in ("</script><img src=x onerror=alert(1)>", "_a_ $x$ :red[b]", "the the the", "🙂"):
        one.type(words)
        one.drawn()
        chips = page.locator(".st-key-source_tokens .chip .text").all_inner_texts()
        if words == "🙂":
            assert sum(chip.startswith("<0x") for chip in chips) == 4
            assert page.locator(".st-key-source_tokens .chip.byte").count() == 4
        else:
            assert typed(chips) == words
        assert page.locator("img[src='x'], [onerror]").count() == 0


@pytest.mark.parametrize("words", [pytest.param("", marks=pytest.mark.soak), "x" * 5000])
def test_an_empty_line_and_five_thousand_characters_are_refused_with_a_notice(visit: Begin, words: str) -> None:
    one = visit().open()
    one.drawn()
    one.type(words)
    notice = one.page.locator(".st-key-text_no_scene")
    notice.wait_for()
    assert ("5,000 characters" if words else "Type a sentence") in notice.inner_text()
    assert one.page.locator(".canvas .arc").count() > 0  # the sentence before


@pytest.mark.soak
def test_lines_can_be_saved(visit: Begin) -> None:
    one = visit().open("attention", layer="1", head="1", details="true")
    one.drawn()
    page = one.page
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as saved:
            page.locator(".st-key-export_lines").get_by_role("button", name=kind).click()
        content = Path(saved.value.path()).read_bytes()
        assert content.startswith(start)
        assert len(content) > 3000


@pytest.mark.soak
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(1280, "dark"), (1920, "light"), (390, "light")],
    ids=["1280 dark", "1920 light", "phone"],
)
def test_it_fits_the_screen_in_light_and_dark(visit: Begin, width: int, scheme: str) -> None:
    one = visit(width=width, dark=scheme == "dark").open(details="true")
    one.drawn()
    page = one.page
    main = page.locator('[data-testid="stMain"]')
    assert main.evaluate("n => n.scrollWidth <= n.clientWidth + 1")
    ground = page.locator('[data-testid="stApp"]').evaluate("n => getComputedStyle(n).backgroundColor")
    assert (ground == "rgb(16, 21, 29)") == (scheme == "dark")
    box = page.locator(".canvas").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width


@pytest.mark.soak
def test_the_button_of_a_sentence_keeps_the_focus(visit: Begin) -> None:
    one = visit().open(sentence="The cat sat. The dog ran.")
    one.drawn()
    second = one.page.get_by_role("button", name="Sentence 2")
    second.focus()
    with one.running():
        one.page.keyboard.press("Enter")
    one.page.locator(".sentences [aria-pressed=true]", has_text="2").wait_for()
    assert second.evaluate("button => button.getRootNode().activeElement === button")
