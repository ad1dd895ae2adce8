"""The language of the interface, chosen in the menu."""

from collections.abc import Callable

import pytest

from app.languages import _, speaking
from app.pages import info
from tests.browser.conftest import Visit, chosen_in

Begin = Callable[..., Visit]


def switch_to(one: Visit, language: str) -> None:
    """By its button in the menu; the page is loaded again."""
    one.page.locator(".st-key-menu button").first.click()
    button = one.page.get_by_role("button", name=language, exact=True)
    button.wait_for()
    with one.page.expect_navigation():
        button.click()
    one.settle()


def test_the_menu_switches_the_language_and_the_sentence_stays(visit: Begin) -> None:
    from playwright.sync_api import expect

    one = visit().open("masks")
    one.type("the old garden")
    with speaking("de"):
        label, german = _("Sentence"), _(info("masks").question)
    switch_to(one, "Deutsch")
    expect(one.page.get_by_label(label, exact=True)).to_have_value("the old garden")
    expect(one.page.get_by_role("heading", name=german)).to_be_visible()
    expect(one.page).to_have_title(f"{german} Headlight")
    assert one.page.evaluate("document.documentElement.lang") == "de"
    assert chosen_in(one.page)["lang"] == ["de"]
    switch_to(one, "English")
    one.says("the old garden")
    expect(one.page.get_by_role("heading", name=info("masks").question)).to_be_visible()
    assert one.page.evaluate("document.documentElement.lang") == "en"
    assert "lang" not in chosen_in(one.page)


@pytest.mark.soak
def test_the_language_stays_on_the_next_page_in_its_link_and_after_a_reload(visit: Begin) -> None:
    from playwright.sync_api import expect

    one = visit().open(lang="de")
    with speaking("de"):
        title, question = _(info("residual").title), _(info("residual").question)
    link = one.link(title)
    assert link.get_attribute("href") == "residual?lang=de"
    with one.running():
        link.click()
    expect(one.page.get_by_role("heading", name=question)).to_be_visible()
    one.page.wait_for_url("**/residual?*lang=de*")
    one.page.reload()
    one.settle()
    expect(one.page.get_by_role("heading", name=question)).to_be_visible()
    expect(one.page).to_have_title(f"{question} Headlight")
