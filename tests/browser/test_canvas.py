"""The canvas in a browser: alone on an empty page, on the page Translate, and with its server stopped."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest

from app.components.registration import bundle
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.stage.scene import Scene, Selection, scene_of
from app.views.shared.canvas_picture import message_of
from tests.browser.conftest import PATIENCE, Visit, chosen_in
from tests.support.app_checkpoints import write_checkpoint
from tests.support.browser_driver import started_app

Begin = Callable[..., Visit]
SENTENCE = "the cat sat on the mat"
QUERY, KEY = '.token[data-side="query"]', '.token[data-side="key"]'
MOUNT = """async ([script, style, bytes]) => {
    const host = document.createElement('div'), sheet = document.createElement('style');
    sheet.textContent = style;
    document.body.replaceChildren(host);
    const shadow = host.attachShadow({mode: 'open'}), root = document.createElement('div');
    root.className = 'root';
    shadow.append(sheet, root);
    const data = Uint8Array.from(atob(bytes), c => c.charCodeAt(0));
    const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));
    window.sent = [];
    const setTriggerValue = (name, value) => window.sent.push([name, value]);
    (await import(url)).default({data, parentElement: shadow, setTriggerValue});
}"""
# How long it takes from an event until what it changes is drawn, in ms
TAKES = """async ([selector, type]) => {
    const find = root => root.querySelector(selector)
        ?? [...root.querySelectorAll('*')].map(e => e.shadowRoot && find(e.shadowRoot)).find(Boolean);
    const node = find(document), begun = performance.now();
    node.dispatchEvent(new PointerEvent(type, {bubbles: true, composed: true, pointerType: 'mouse'}));
    if (type === 'click') node.click();
    node.getBoundingClientRect();
    return performance.now() - begun;
}"""


@pytest.fixture
def alone(browser: Any) -> Iterator[Callable[[Scene], Any]]:
    """Mounts the component on an empty page, without Streamlit and without a server."""
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.emulate_media(reduced_motion="reduce")
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("dialog", lambda dialog: (page.errors.append(dialog.message), dialog.dismiss()))

    def mount(scene: Scene) -> Any:
        style = "".join(
            Path(f"app/components/{name}.css").read_text(encoding="utf-8") for name in ("shared/base", "canvas/canvas")
        )
        page.set_content("<!doctype html><body></body>")
        page.evaluate(MOUNT, [bundle("canvas"), style, base64.b64encode(message_of(scene)).decode()])
        page.locator(".canvas .arc").first.wait_for(state="attached")
        return page

    yield mount
    assert page.errors == []
    page.close()


def scene_with(path: Path, text: str = SENTENCE) -> Scene:
    subject = Subject(CheckpointFile.at(path))
    return scene_of(subject, text, subject.translator.settings, Selection())


def test_mounted_alone_it_draws_points_and_walks(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = alone(scene)
    assert page.locator(QUERY).count() == len(scene.hypothesis.ids)
    assert page.locator(KEY).count() == len(scene.translation.source_ids)
    assert page.locator(".head").count() == 3 * 4
    say = page.locator(".say")
    page.locator(QUERY).nth(1).hover()
    assert say.inner_text().startswith("While it writes")
    page.mouse.move(1, 1)
    assert say.inner_text().startswith("Point at a word")
    page.locator(QUERY).first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.locator(QUERY).nth(1).get_attribute("aria-pressed") == "true"
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.locator(f"{KEY}.pinned").count() == 1
    assert "Heads that link" in page.locator(".facts").inner_text()
    page.keyboard.press("Escape")
    assert page.locator(".pinned").count() == 0
    page.locator(".head").nth(5).click()
    assert "Layer 2, head 2" in page.locator(".facts").inner_text()
    page.get_by_role("radio", name="Decoder self").click()
    assert page.locator(KEY).first.inner_text() == "<s>"
    assert [name for name, _ in page.evaluate("window.sent")] == ["chosen", "chosen"]


def test_an_arc_is_as_wide_as_its_weight(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"))
    page = alone(scene)
    page.locator(".head").nth(6).click()
    weights = scene.attention("cross").weights[1, 2]
    arcs = page.locator(".arc").evaluate_all(
        "nodes => nodes.map(n => [+n.dataset.query, +n.dataset.key, parseFloat(n.style.strokeWidth), +n.style.opacity])"
    )
    drawn = {(int(q), int(k)): width for q, k, width, opacity in arcs if opacity > 0}
    assert set(drawn) == {(int(q), int(k)) for q, k in zip(*np.nonzero(np.rint(255 * weights) >= 6), strict=True)}
    for (q, k), width in drawn.items():
        assert width == pytest.approx(1 + 8 * weights[q, k], abs=0.03)


def test_a_page_is_left_while_the_canvas_is_on_it(alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    """The canvas has the width 0 before it goes, in which nothing can be laid out."""
    page = alone(scene_with(write_checkpoint(tmp_path / "one.safetensors")))
    page.evaluate("document.body.firstElementChild.style.display = 'none'")
    page.evaluate("setTimeout(() => { window.alive = true; }, 200)")
    page.wait_for_function("() => window.alive")
    page.evaluate("document.body.firstElementChild.style.display = ''")
    page.wait_for_function("() => { window.dispatchEvent(new Event('resize')); return true; }")
    assert page.locator(".head").first.bounding_box()["width"] > 5
    assert not page.errors


@pytest.mark.parametrize("text", ["</script><img src=x onerror=alert(1)>", "the the the", "שלום עולם", "a", "x " * 40])
def test_whatever_is_typed_is_drawn_as_text(text: str, alone: Callable[[Scene], Any], tmp_path: Path) -> None:
    scene = scene_with(write_checkpoint(tmp_path / "one.safetensors"), text)
    page = alone(scene)
    shown = page.locator(KEY).evaluate_all("nodes => nodes.map(node => node.title)")
    assert shown == list(scene.source.tokens)
    assert page.locator("img").count() == 0
    page.locator(".segments button", has_text="Matrix").click()
    assert page.locator(".matrix .column").count() == len(shown)


def test_numbers_are_exact_and_a_click_on_a_number_opens_its_calculation(visit: Begin, folder: Path) -> None:
    one = visit().open(sentence=SENTENCE, layer="2", head="3")
    page = one.page
    scene = scene_with(folder / "en-de.safetensors")
    weights = scene.attention("cross").weights[1, 2]  # (T, S)
    query = 1
    key = int(weights[query].argmax())
    page.locator(QUERY).nth(query).click()
    share = float(weights[query, key])
    text = f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1f}%"
    page.locator(".weight.key", has_text=text).first.wait_for()
    assert text in page.locator(".say").inner_text()
    page.locator(".weight.key", has_text=text).first.click()
    page.locator(".computed .score.this", has_text=text).wait_for()
    found = scene.record("decoder.layers.1.cross_attention.products")["decoder.layers.1.cross_attention.products"]
    product = f"{found[2, query, key]:.2f}".replace("-", "−")
    assert f"q·k = {product}" in page.locator(".computed").inner_text()
    page.locator(".computed .link").click()
    page.wait_for_url("**/hand*t=*")
    assert (chosen_in(page)["t"], chosen_in(page)["s"]) == ([str(query + 1)], [str(key + 1)])


def test_looking_chooses_nothing_and_a_click_chooses_for_every_page(visit: Begin) -> None:
    one = visit().open(sentence=SENTENCE, layer="1", head="1")
    page = one.page
    page.locator(".head").nth(6).hover()
    assert "Layer 2, head 3 (preview)" in page.locator(".facts").inner_text().replace("\n", " ")
    one.settle()
    assert chosen_in(page)["head"] == ["1"]
    with one.running():
        page.locator(".head").nth(6).click()
    assert (chosen_in(page)["layer"], chosen_in(page)["head"]) == (["2"], ["3"])


def test_a_runner_up_is_taken_and_taken_back(visit: Begin) -> None:
    one = visit().open(sentence=SENTENCE)
    page = one.page
    before = page.locator(QUERY).all_inner_texts()
    runner = page.locator(".probability").nth(1).locator(".runner").first
    taken = runner.inner_text()
    with one.running():
        runner.click()
    page.locator(".undo").wait_for()
    after = page.locator(QUERY).all_inner_texts()
    assert after[:2] == [before[0], taken]
    with one.running():
        page.locator(".undo").click()
    page.locator(".undo").wait_for(state="detached")
    assert page.locator(QUERY).all_inner_texts() == before


def test_the_translation_writes_itself_once_and_any_key_shows_all_of_it(visit: Begin) -> None:
    one = visit()
    one.open(sentence=SENTENCE)
    page = one.page
    page.get_by_role("button", name="Write again").click()
    assert page.locator(f"{QUERY}.unwritten").count() > 0
    page.keyboard.press("Shift")
    assert page.locator(f"{QUERY}.unwritten").count() == 0
    page.get_by_role("button", name="Write again").click()
    top = page.locator(".st-key-translation_line .tokens span")
    hidden = ".st-key-translation_line .tokens span[style*='hidden']"
    counts = []
    for _ in range(12):
        page.wait_for_timeout(100)
        counts.append(page.locator(hidden).count())
    assert any(0 < count < top.count() for count in counts), counts  # the line at the top shows what is written
    page.wait_for_timeout(3300)
    assert page.locator(f"{QUERY}.unwritten").count() == 0
    assert page.locator(hidden).count() == 0


def test_it_works_with_the_server_stopped_and_in_under_50_ms(browser: Any, folder: Path, tmp_path: Path) -> None:
    page = browser.new_page()
    page.set_default_timeout(PATIENCE)
    page.emulate_media(reduced_motion="reduce")
    with started_app(folder, tmp_path / "log") as (address, _):
        page.goto(f"{address}/?sentence=the+cat+sat&kind=cross&layer=1&head=1")
        page.locator(".canvas .arc").first.wait_for(state="attached")
        page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
        page.wait_for_timeout(500)
    steps = [
        (f"{QUERY}[data-index='2']", "pointerover"),
        (f"{KEY}[data-index='1']", "pointerover"),
        (".head[data-layer='1'][data-head='2']", "pointerenter"),
        (".head[data-layer='2'][data-head='3']", "click"),
        (".kinds button:nth-child(3)", "click"),
        (".kinds button:nth-child(2)", "click"),
        (".segments button:nth-child(2)", "click"),
    ]
    took = {selector: min(page.evaluate(TAKES, [selector, kind]) for _ in range(3)) for selector, kind in steps}
    assert page.locator(".matrix .column").count() > 0
    assert max(took.values()) < 50, took
    page.locator(".head[data-layer='1'][data-head='2']").click()
    chosen = parse_qs(urlsplit(page.url).query)  # which a reload keeps
    assert (chosen["kind"], chosen["layer"], chosen["head"]) == (["encoder"], ["2"], ["3"])
    page.close()
