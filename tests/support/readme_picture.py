"""Takes the README's picture of the app: `python -m tests.support.readme_picture`."""

import tempfile
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import sync_playwright

from tests.support.browser_driver import FLAGS, ROOT, browser_path, running_app

SHOWN = {"checkpoint": "en-de", "sentence": "I was looking for my glasses all morning."}


def main() -> None:
    """Opens the page with the checkpoints that ship, and saves what a visitor sees as app/picture.png."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_app(ROOT / "pretrained", Path(folder) / "log") as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720}, color_scheme="light", reduced_motion="reduce")
        page.set_default_timeout(180_000)
        page.goto(f"{address}/?{urlencode(SHOWN)}")
        page.locator(".canvas .arc").first.wait_for(state="attached")
        page.locator(".canvas .token", has_text="Brille").first.hover()
        page.wait_for_timeout(1500)
        page.screenshot(path=ROOT / "app" / "picture.png")
        browser.close()


if __name__ == "__main__":
    main()
