"""Everything drawn has its final place from the first frame on, so nothing moves before a click."""

import base64
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit

from app.components.bundles import bundle
from app.stage.canvas_of_scene import message_of
from tests.browser.conftest import PATIENCE, Visit
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import MOUNT, scene_with

# Notes in each frame where things are.
NOTES = """
window.seen = {top: [], placeholder: [], links: [], tokens: [], shown: []};
const deep = (selector, root = document) => root.querySelector(selector)
    ?? [...root.querySelectorAll('*')].map((node) => node.shadowRoot && deep(selector, node.shadowRoot)).find(Boolean);
const note = (name, value) => { if (window.seen[name].at(-1) !== value) window.seen[name].push(value); };
const look = () => {
    const find = (key) => document.querySelector(`.st-key-${key}`);
    const top = find('top'), links = find('page_links'), box = find('sentence')?.querySelector('input');
    const svg = deep('.canvas .arcs svg'), token = deep('.token[data-side="query"]');
    if (top) note('top', top.getBoundingClientRect().y);
    if (box?.value === '') note('placeholder', getComputedStyle(box, '::placeholder').opacity);
    if (links) note('links', links.getBoundingClientRect().y);
    if (token) note('tokens', [svg.style.height, token.style.left, token.style.top].join());
    if (token?.classList.contains('unwritten')) note('shown', +getComputedStyle(token).opacity);
    requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


def _after(seconds: float) -> Callable[[Any], None]:
    def handle(route: Any) -> None:
        time.sleep(seconds)
        route.continue_()

    return handle


@pytest.mark.parametrize("motion", ["no-preference", pytest.param("reduce", marks=pytest.mark.soak)])
def test_picture_and_links_are_in_their_places_from_the_first_frame(visit: Callable[..., Visit], motion: str) -> None:
    one = visit(height=720)
    one.page.emulate_media(reduced_motion=motion)
    one.page.route(re.compile(r"/page-style\."), _after(1))
    refused = list[str]()
    one.page.on("response", lambda response: refused.append(response.url) if response.status >= 400 else None)
    one.before_its_scripts(NOTES)
    one.open()
    one.page.locator(".canvas .arc").first.wait_for(state="attached")
    assert one.page.evaluate("window.seen.placeholder[0] ?? '0'") == "0", "the box is drawn as if it were empty"
    one.type("a cat")
    one.type("")
    one.page.locator(".st-key-text_no_scene").wait_for()
    seen = one.page.evaluate("window.seen")
    # A line that appears beside the translation may move them for one frame, by less than a line.
    assert len(seen["top"]) == 1, seen["top"]
    assert max(seen["links"]) - min(seen["links"]) < 10, seen["links"]
    assert seen["links"][0] == seen["links"][-1]
    heights = {float(place.split("px")[0]) for place in seen["tokens"]}
    assert max(heights) - min(heights) < 5, heights
    assert seen["shown"] in ([], [0]), "a token is seen before it is written"
    assert not refused, "an address was tried that does not exist"


# Notes in each frame where what follows the picture is seen.
BELOW = """
window.below = [];
const look = () => {
    const text = document.querySelector('.st-key-text_below_picture');
    const y = text && getComputedStyle(text).visibility === 'visible' && text.getBoundingClientRect().y;
    if (text && y !== false && window.below.at(-1) !== y) window.below.push(y);
    requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


@pytest.mark.parametrize(
    "name",
    ["steps", *(pytest.param(name, marks=pytest.mark.soak) for name in ("decoding", "hand", "models", "whatif"))],
)
def test_what_follows_a_picture_is_seen_only_where_it_stays(name: str, visit: Callable[..., Visit]) -> None:
    one = visit(height=720)
    one.before_its_scripts(BELOW)
    one.page.route(re.compile(r"/component-scripts/"), _after(0.2))
    one.open(name)
    seen = one.page.evaluate("window.below")
    assert max(seen) - min(seen) < 5, seen


def test_tokens_are_placed_when_the_type_is_there_in_which_they_are_measured(browser: Any, tmp_path: Path) -> None:
    font = next((Path(streamlit.__file__).parent / "static").rglob("SourceSansVF-Upright*.woff2"))
    message = message_of(scene_with(write_checkpoint(tmp_path / "one.safetensors")))
    asked: list[Any] = []
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.route("**/slow.woff2", lambda route: asked.append(route))
    page.set_content(
        "<!doctype html><style>@font-face { font-family: slow; src: url(http://127.0.0.1:1/slow.woff2); }"
        "body { font-family: slow, monospace; }</style><body></body>"
    )
    page.evaluate(MOUNT, [bundle("canvas"), "", base64.b64encode(message).decode()])
    page.wait_for_timeout(400)
    assert page.locator(".token").count() == 0
    asked[0].fulfill(path=font, headers={"Access-Control-Allow-Origin": "*"})
    page.locator(".token").first.wait_for(state="attached")
    assert page.evaluate("document.fonts.check('16px slow')")
    page.close()
