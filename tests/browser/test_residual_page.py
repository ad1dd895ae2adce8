"""The Residual stream page: keys alone choose the token and the stack, and the picture follows."""

import re
from collections.abc import Callable

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn


def test_keys_alone_choose_the_token_and_the_stack(visit: Callable[..., Visit]) -> None:
    one = visit().open("residual", sentence="the cat sat", kind="encoder", s="1")
    is_drawn(one, "residual")
    page = one.page
    title = page.locator(".st-key-picture_stream .gtitle")
    page.get_by_role("radiogroup", name="Token").get_by_role("radio", checked=True).focus()
    page.keyboard.press("ArrowRight")
    title.filter(has_text="encoder, position 1:").wait_for()
    page.wait_for_url(re.compile(r"\bs=2\b"))
    one.settle()
    page.keyboard.press("End")  # the row of tokens keeps the focus
    title.filter(has_text="</s>").wait_for()
    one.settle()
    page.keyboard.press("ArrowRight")  # beyond the end there is nothing
    one.settle()
    assert "</s>" in title.text_content()
    stacks = page.locator(".switches [data-name='stack']")
    stacks.get_by_role("radio", name="encoder").focus()
    page.keyboard.press("ArrowRight")
    title.filter(has_text="decoder, position 0:").wait_for()
    page.wait_for_url(re.compile("kind=cross"))
