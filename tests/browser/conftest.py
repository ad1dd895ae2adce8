"""The real app in a real browser: one server and one browser for all tests, a tab of its own for each visitor.

Every page that a test opens is watched: a request that would leave the machine is stopped and remembered, and so are
errors of the console. The fixture `visit` fails the test at its end if there was either.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.app_families import write_families
from tests.support.asked import Asked
from tests.support.browser_driver import FLAGS, browser_path, running_app
from tests.support.browser_pages import is_drawn, is_idle
from tests.support.canvas_alone import alone as alone
from tests.support.patience import PATIENCE as SECONDS
from tests.support.small_alignment import made_map
from tests.support.small_training import toy_recipe
from transformer.checkpoint.checkpoint_file import load_checkpoint, save_checkpoint
from transformer.text.spelling import WordList
from transformer.training import train

# Streamlit looks for its own health below the path of the page first; harmless (and on "/" it does not happen).
HARMLESS = ("/_stcore/health", "/_stcore/host-config")
ALONE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
PATIENCE = 1000 * SECONDS  # ms

# Says in window.begun whether the script has begun to run since.
BEGUN = """() => {
    const at_work = '[data-test-script-state]:not([data-test-script-state="notRunning"])';
    const look = () => { window.begun ||= Boolean(document.querySelector(at_work)); };
    window.begun = false;
    new MutationObserver(look).observe(document.body, {subtree: true, attributeFilter: ['data-test-script-state']});
    look();
}"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser test that fails is run again, at most twice, and the summary says so: in a browser that shares its
    cores with other tests, what is looked at may come later than anywhere else. A defect fails three times."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=2))


def _missing(reason: str) -> None:
    if os.environ.get("CI", "") not in ("", "0", "false"):
        pytest.fail(f"{reason} The browser tests must run in CI.")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A Chromium or Chrome of this machine that finds nothing but this machine.

    It is one window with a tab for each visitor, so that Streamlit's own scripts are fetched once; to the app, each tab
    is a visitor of its own.
    """
    try:
        from playwright.sync_api import expect, sync_playwright
    except ImportError:
        _missing("playwright is not installed: pip install -r tests/requirements.txt.")
    expect.set_options(timeout=PATIENCE)
    found = browser_path()
    with sync_playwright() as playwright:
        if not found and not Path(playwright.chromium.executable_path).exists():
            _missing("No Chromium or Chrome was found (HEADLIGHT_BROWSER may name one).")
        window = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=found, args=[*FLAGS, ALONE]
        )
        yield window
        window.close()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny checkpoints: of the first it was measured which heads align, the second translates the other way round and
    corrects spelling, one has many heads, one is a family's."""
    path = tmp_path_factory.mktemp("checkpoints")
    made_map(write_checkpoint(path / "en-de.safetensors", source_language="en", target_language="de"), 3, 4)
    other = write_checkpoint(path / "de-en.safetensors", Size(1, 1, 1), source_language="de", target_language="en")
    words = WordList(dict.fromkeys(("die", "Katze", "sitzt", "auf", "der", "Matte"), 50))
    save_checkpoint(other, replace(load_checkpoint(other), words=words))
    write_checkpoint(path / "small.safetensors", Size(1, 1, 1), toy="reverse")
    write_checkpoint(path / "wide.safetensors", Size(1, 1, 20), options={"d_model": 40})
    write_checkpoint(path / "family-heads-1.safetensors", Size(1, 1, 1))
    write_families(path)
    return path


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of training runs with one that is finished."""
    path = tmp_path_factory.mktemp("runs")
    train(toy_recipe(best_by="loss", snapshots=(0, 3, 6, 12)), path / "toy", device="cpu")
    return path


@pytest.fixture(scope="session")
def server(folder: Path, runs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app, started as a user starts it."""
    log = tmp_path_factory.mktemp("server") / "log"
    with running_app(folder, log, runs) as address:
        yield address
    assert "Traceback" not in log.read_text(), log.read_text()


class Visit:
    """One visitor's page."""

    def __init__(self, page: Any, address: str):
        self.page = page
        self.address = address
        self.outside: list[str] = []
        self.errors: list[str] = []
        self.ends_with_the_test = False  # whether the test changed the tab for good
        self.asked = Asked(page)
        page.set_default_timeout(PATIENCE)
        page.on("request", lambda request: self._watch(request.url))
        page.on("websocket", lambda socket: self._watch(socket.url))
        page.on("console", self._complain)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("dialog", self._dismiss)

    def _watch(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme in ("http", "https", "ws", "wss") and parts.netloc != urlsplit(self.address).netloc:
            self.outside.append(url)

    def _complain(self, message: Any) -> None:
        if message.type == "error" and not any(part in str(message.location) + message.text for part in HARMLESS):
            self.errors.append(message.text)

    def _dismiss(self, dialog: Any) -> None:
        self.errors.append(f"a dialog opened: {dialog.message}")
        dialog.dismiss()

    def open(self, path: str = "", **parameters: str) -> "Visit":
        """Opens a page by its name in the address; "" is the first."""
        self.page.goto(f"{self.address}/{path}?{urlencode(parameters)}")
        self.settle()
        return self

    def before_its_scripts(self, script: str) -> None:
        """Runs this in each page of the tab before its own scripts."""
        self.ends_with_the_test = True
        self.page.add_init_script(script)

    def leave(self) -> None:
        """Makes the tab as good as new for another visitor: it holds nothing, and there is no page to go back to."""
        self.page.unroute_all()
        self.page.mouse.move(-1, -1)
        self.page.goto(f"{self.address}/_stcore/health")  # a page of the same server without scripts
        self.page.evaluate("sessionStorage.clear()")
        tools = self.page.context.new_cdp_session(self.page)
        tools.send("Page.resetNavigationHistory")
        tools.detach()
        self.outside.clear()
        self.errors.clear()

    def settle(self) -> None:
        """Waits until the script has run, for all that was asked, and the page has drawn what it sent."""
        is_idle(self.page)
        while not self.asked.is_answered:
            self.asked.wait()
            is_idle(self.page)

    def says(self, sentence: str) -> None:
        """Waits until the sentence box holds the sentence; fails when it does not come to that."""
        from playwright.sync_api import expect

        expect(self.page.get_by_label("Sentence", exact=True)).to_have_value(sentence)

    def drawn(self) -> None:
        """Waits for the three pictures of Translate and Attention."""
        is_drawn(self, "attention" if "/attention" in self.page.url else "translate")

    def type(self, sentence: str) -> None:
        """Types a sentence and presses Enter."""
        box = self.page.get_by_label("Sentence", exact=True)
        with self.running():
            box.fill(sentence)
            box.press("Enter")

    def follow(self, title: str) -> None:
        """Goes to another page by its link in the menu of pages."""
        with self.running():
            self.link(title).click()

    def link(self, title: str) -> Any:
        """Opens the menu of pages; gives the link to a page."""
        self.page.locator("[class*='st-key-pages_of_'] button").click()
        link = self.page.locator(".st-key-page_list").get_by_role("link", name=re.compile(f"^{re.escape(title)} [A-Z]"))
        link.wait_for()
        return link

    @contextmanager
    def running(self) -> Iterator[None]:
        """What is done in it makes the script run: waits until that has begun, has ended, and the page has drawn."""
        from playwright.sync_api import TimeoutError as NotSeen

        self.page.locator('[data-test-script-state="notRunning"]').wait_for()  # one that ran on would begin no more
        self.page.evaluate(BEGUN)
        yield
        with suppress(NotSeen):  # where it went by unseen, what the test waits for says so
            self.page.wait_for_function("() => window.begun", timeout=20_000)
        self.settle()


def chosen_in(page: Any) -> dict[str, list[str]]:
    """The choices in the address of a page."""
    return parse_qs(urlsplit(page.url).query)


@pytest.fixture(scope="session")
def free_tabs() -> list[Visit]:
    """Tabs whose visitors have left. In an open tab the app is there in half the CPU time that it takes in a new one,
    because the browser has compiled Streamlit's scripts."""
    return []


@pytest.fixture
def visit(browser: Any, server: str, free_tabs: list[Visit]) -> Iterator[Callable[..., Visit]]:
    """Opens the app as a new visitor: how large the window is, on dark ground or light, clipboard open or closed."""
    visits: list[Visit] = []

    def begin(*, width: int = 1280, height: int = 900, dark: bool = False, clipboard: bool = False) -> Visit:
        if clipboard:
            browser.grant_permissions(["clipboard-read", "clipboard-write"])
        one = free_tabs.pop() if free_tabs else Visit(browser.new_page(), server)
        one.page.bring_to_front()  # behind another tab, charts keep their old size
        one.page.set_viewport_size({"width": width, "height": height})
        one.page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="null")
        visits.append(one)
        return one

    yield begin
    browser.clear_permissions()
    complaints = [(one.outside[:], one.errors[:]) for one in visits]
    for one in visits:
        if one.ends_with_the_test or any(one.errors) or one.page.is_closed():
            one.page.close()
        else:
            one.leave()
            free_tabs.append(one)
    for outside, errors in complaints:
        assert outside == [], "requests left the machine"
        assert errors == [], "the page complained"
