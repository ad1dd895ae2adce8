"""What a reload and the browser's Back button do: a lecturer uses both."""

from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.conftest import Visit, chosen_in

Begin = Callable[..., Visit]


def test_a_reload_keeps_the_sentence_in_the_tab_and_what_was_chosen_in_the_address(visit: Begin) -> None:
    one = visit().open("hand")
    one.type("the old garden")
    assert not {"kind", "layer", "head"} & set(chosen_in(one.page))  # the reader has chosen none
    other = one.page.locator(".switches [data-name='head'] [aria-checked='false']").last
    head = other.inner_text()
    other.click()
    one.page.wait_for_url(f"**head={head}*")
    one.settle()
    one.page.reload()
    one.says("the old garden")
    one.settle()
    assert chosen_in(one.page)["head"] == [head]
    assert not {"kind", "layer"} & set(chosen_in(one.page))
    assert "garden" not in one.page.url


@pytest.mark.soak
def test_the_sentence_of_a_link_counts_for_more_than_the_one_the_tab_has_kept(visit: Begin) -> None:
    one = visit().open()
    one.type("the old garden")
    one.open(sentence="a new house")
    one.says("a new house")
    one.page.reload()
    one.says("a new house")


@pytest.mark.soak
def test_the_example_at_the_beginning_can_be_typed_although_the_tab_has_kept_another_sentence(visit: Begin) -> None:
    one = visit().open()
    example = one.page.get_by_label("Sentence", exact=True).input_value()
    one.type("the old garden")
    one.open()
    one.says("the old garden")
    one.type(example)
    one.says(example)
    one.page.reload()
    one.settle()
    one.says(example)


@pytest.mark.soak
def test_what_a_link_says_is_there_on_the_next_page(visit: Begin) -> None:
    one = visit().open("hand", checkpoint="wide", beam="2")
    for link, path in (("Residual stream", "residual"), ("Masks", "masks")):
        one.link(link).click()
        one.page.wait_for_url(f"**/{path}?*checkpoint=wide*")
        one.settle()
        query = parse_qs(urlsplit(one.page.url).query)
        assert (query["checkpoint"], query["beam"]) == (["wide"], ["2"])
        assert "wide" in one.page.get_by_role("combobox", name="Checkpoint").input_value()


def test_back_leads_to_the_page_before_however_much_was_chosen_since(visit: Begin) -> None:
    one = visit().open()
    page = one.page
    one.link("Query, key, value").click()
    page.wait_for_url("**/hand*")
    one.settle()
    for head in (1, 0):
        page.locator(".switches [data-name='head'] button").nth(head).click()
        one.settle()
    one.link("Masks").click()
    page.wait_for_url("**/masks*")
    one.settle()
    page.go_back()
    page.wait_for_url("**/hand*")
    one.settle()
    page.locator(".st-key-query_scene .row").first.wait_for(state="attached")
    page.go_back()
    page.wait_for_url(lambda url: urlsplit(url).path == "/")
    one.drawn()


@pytest.mark.soak
def test_the_first_page_has_its_name_as_an_address_too(visit: Begin) -> None:
    one = visit().open("translate", sentence="the cat sat", kind="encoder", layer="2", head="1")
    one.says("the cat sat")
    one.drawn()
    one.settle()
    assert urlsplit(one.page.url).path == "/"
    assert "layer=2" in one.page.url
    assert one.page.get_by_role("dialog").count() == 0


@pytest.mark.soak
def test_the_next_page_begins_at_its_top_however_far_the_last_one_was_scrolled(visit: Begin) -> None:
    one = visit().open("positions", details="true")
    main = one.page.get_by_test_id("stMain")
    following = one.page.locator(".st-key-next_question a")
    following.scroll_into_view_if_needed()
    assert main.evaluate("element => element.scrollTop") > 0
    following.click()
    one.page.wait_for_url("**/residual*")
    one.settle()
    assert main.evaluate("element => element.scrollTop") == 0
    assert main.evaluate("element => element.scrollHeight > 2 * element.clientHeight")
