"""What a page may load, also from text of a stranger, and which visitor may stop a run."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Visit
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.browser_driver import running_app
from tests.support.hostile_card import hostile_card

Begin = Callable[..., Visit]


@pytest.fixture
def attacker() -> Iterator[tuple[str, list[str]]]:
    """The address of a server on this machine, which the browser can reach, and the paths that it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(404)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", asked
        server.shutdown()


@pytest.mark.soak
def test_a_card_makes_the_browser_fetch_nothing(browser: Any, attacker: tuple[str, list[str]], tmp_path: Path) -> None:
    address, asked = attacker
    write_checkpoint(tmp_path / "en-de.safetensors", Size(1, 1, 1))
    (tmp_path / "en-de.md").write_text(hostile_card(address), encoding="utf-8")
    with running_app(tmp_path, tmp_path / "log") as app:
        page = browser.new_page()
        try:
            # Without its Content-Security-Policy, which would stop what the page tries to fetch.
            browser.new_cdp_session(page).send("Page.setBypassCSP", {"enabled": True})
            page.goto(f"{app}/models?details=true")
            page.evaluate("address => fetch(`${address}/works`, {mode: 'no-cors'})", address)
            assert asked == ["/works"]
            page.locator(".st-key-menu button").first.click()
            page.get_by_role("button", name="Model card").click()
            card = page.get_by_role("dialog", name="Model card")
            card.get_by_text("text after all of it").wait_for()
            assert card.locator("img, picture, video, iframe, object, image, link, style").count() == 0
            page.keyboard.press("Escape")
            page.wait_for_timeout(500)
        finally:
            page.close()
    assert asked == ["/works"]


def test_the_policy_of_the_page_lets_it_fetch_from_its_own_server_only(
    visit: Begin, attacker: tuple[str, list[str]]
) -> None:
    address, asked = attacker
    one = visit().open()
    script = "document.body.append(Object.assign(new Image(), {src: address + '/image'}))"
    one.page.evaluate(f"address => {{ {script}; return fetch(address + '/fetch').catch(() => null) }}", address)
    one.page.wait_for_timeout(300)
    assert asked == []
    assert any("Content Security Policy" in error for error in one.errors)
    one.errors.clear()
    one.outside.clear()  # they were stopped
