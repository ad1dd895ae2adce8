"""A page that is loaded again is as the visitor left it from the first frame on: its sentence, and light or dark."""

from collections.abc import Callable

import pytest

from tests.browser.conftest import Visit
from tests.support.browser_pages import is_drawn

# Notes in each frame which sentence and which translation can be seen, the colour behind the page, and whether the page
# waits for the sentence of its tab. Without the timer that shows the page in any case.
NOTES = """
window.seen = {sentence: [], translation: [], background: [], waits: []};
const later = window.setTimeout;
window.setTimeout = (act, ms, ...more) => ms === 5000 ? 0 : later(act, ms, ...more);
const note = (name, value) => { if (window.seen[name].at(-1) !== value) window.seen[name].push(value); };
const look = () => {
    const box = document.querySelector('.st-key-box input'), line = document.querySelector('.st-key-headline');
    const host = line?.querySelector('[data-testid="stBidiComponentIsolated"]');
    const tokens = (host?.shadowRoot ?? host?.firstElementChild?.shadowRoot)?.querySelector('.root')?.textContent;
    if (box?.value && getComputedStyle(box).color !== 'rgba(0, 0, 0, 0)') note('sentence', box.value);
    if (tokens && line.checkVisibility({opacityProperty: true, visibilityProperty: true})) note('translation', tokens);
    note('waits', document.documentElement.dataset.restores ?? 'no');
    note('background', getComputedStyle(document.documentElement).backgroundColor);
    requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


@pytest.mark.parametrize("page", ["translate", pytest.param("decoding", marks=pytest.mark.soak)])
def test_the_example_is_not_seen_before_the_sentence_of_the_tab(visit: Callable[..., Visit], page: str) -> None:
    one = visit()
    one.before_its_scripts(NOTES)
    one.open(page)
    is_drawn(one, page)
    (example,) = one.page.evaluate("window.seen.sentence")
    assert example
    one.type("the cat sat")
    translation = one.page.evaluate("window.seen.translation.at(-1)")
    one.page.reload()
    one.says("the cat sat")
    is_drawn(one, page)
    one.page.locator("html:not([data-restores])").wait_for(state="attached")
    is_drawn(one, page)
    seen = one.page.evaluate("window.seen")
    assert (seen["sentence"], seen["translation"]) == (["the cat sat"], [translation])
    assert seen["waits"] == ["", "asked", "no"]


def test_a_page_of_which_nothing_was_typed_is_not_hidden(visit: Callable[..., Visit]) -> None:
    one = visit()
    one.before_its_scripts(NOTES)
    one.open()
    one.page.reload()
    one.drawn()
    assert one.page.evaluate("window.seen.waits") == ["no"]


@pytest.mark.parametrize(("system", "chosen"), [("dark", "Light"), ("light", "Dark"), ("dark", "")])
def test_a_page_begins_light_or_dark_as_it_was_chosen(visit: Callable[..., Visit], system: str, chosen: str) -> None:
    one = visit()
    one.before_its_scripts(NOTES)
    one.page.emulate_media(color_scheme=system)
    one.open()
    if chosen:
        one.page.evaluate(f"localStorage.setItem(`stActiveTheme-${{location.pathname}}-v2`, '\"{chosen}\"')")
    one.page.reload()
    one.drawn()
    dark = "rgb(16, 21, 29)"
    assert (dark in one.page.evaluate("window.seen.background")) == ((chosen.lower() or system) == "dark")


def test_a_page_that_never_receives_the_sentence_is_shown_all_the_same(visit: Callable[..., Visit]) -> None:
    one = visit()
    one.open()
    one.type("the cat sat")
    one.page.route("**/component-scripts/tab_memory*", lambda route: route.abort())
    one.page.reload()
    one.page.locator("html:not([data-restores]) .st-key-headline").wait_for()
    assert all("net::ERR_FAILED" in error or "tab_memory" in error for error in one.errors)
    one.errors.clear()
