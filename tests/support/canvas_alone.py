"""The canvas on an empty page, without Streamlit and without a server; a scene for it."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.components.bundles import bundle, style_bundle
from app.compute.subject import Subject
from app.library.checkpoints import CheckpointFile
from app.stage.canvas_of_scene import message_of
from app.stage.scene import Scene, Selection, scene_of
from tests.support.patience import PATIENCE

SENTENCE = "the cat sat on the mat"
QUERY, KEY = '.token[data-side="query"]', '.token[data-side="key"]'
# Mounts the component; what it reports to the server is appended to `window.sent`, and `again` gives it another message
MOUNT = """async ([script, style, bytes]) => {
    const host = document.createElement('div'), sheet = document.createElement('style');
    sheet.textContent = style;
    document.body.replaceChildren(host);
    const shadow = host.attachShadow({mode: 'open'}), root = document.createElement('div');
    root.className = 'root';
    shadow.append(sheet, root);
    const bytesOf = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)), data = bytesOf(bytes);
    const url = URL.createObjectURL(new Blob([script], {type: 'text/javascript'}));
    window.sent = [];
    const setTriggerValue = (name, value) => window.sent.push([name, value]);
    const component = (await import(url)).default;
    component({data, parentElement: shadow, setTriggerValue});
    window.again = bytes => component({data: bytesOf(bytes), parentElement: shadow, setTriggerValue});
}"""


def parts_of(scene: Scene) -> list[str]:
    """Script, style and data of a canvas."""
    return [bundle("canvas"), style_bundle("canvas"), base64.b64encode(message_of(scene)).decode()]


def scene_with(path: Path, text: str = SENTENCE) -> Scene:
    """The scene of a sentence that a checkpoint translates."""
    subject = Subject(CheckpointFile.at(path))
    return scene_of(subject, text, subject.translator.settings, Selection())


@pytest.fixture
def alone(browser: Any) -> Iterator[Callable[[Scene], Any]]:
    """Mounts the component on an empty page, without Streamlit and without a server."""
    page = browser.new_page()
    page.set_default_timeout(1000 * PATIENCE)
    page.emulate_media(reduced_motion="reduce")
    page.errors = []
    page.on("pageerror", lambda error: page.errors.append(str(error)))
    page.on("dialog", lambda dialog: (page.errors.append(dialog.message), dialog.dismiss()))

    def mount(scene: Scene) -> Any:
        page.set_content("<!doctype html><body></body>")
        page.evaluate(MOUNT, parts_of(scene))
        page.locator(".canvas .arc").first.wait_for(state="attached")
        return page

    yield mount
    assert page.errors == []
    page.close()
