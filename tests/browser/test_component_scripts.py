"""The script of every component is one module in which no name is declared twice, and the browser fetches it once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.component_address import FOLDER
from app.components.bundles import HERE
from app.components.served_scripts import served_module
from app.languages import LANGUAGES
from tests.browser.conftest import Visit
from tests.support.browser_driver import started_app
from tests.support.browser_pages import Wire, is_drawn

COMPONENTS = sorted(path.stem for path in HERE.glob("*/*.js") if path.stem == path.parent.name)
# A module is parsed, and its names are declared, before any of it runs: the first line ends it.
PARSE = """async (script) => {
    const url = URL.createObjectURL(new Blob(["throw 'parsed';\\n", script], {type: 'text/javascript'}));
    try { await import(url); } catch (error) { return String(error); }
}"""


@pytest.fixture(scope="module")
def page(browser: Any) -> Any:
    page = browser.new_page()
    yield page
    page.close()


def test_a_name_that_is_declared_twice_is_found(page: Any) -> None:
    assert "already been declared" in page.evaluate(PARSE, "const a = 1;\nconst a = 2;")


@pytest.mark.parametrize("name", COMPONENTS)
def test_the_script_of_a_component_can_be_loaded_in_every_language(page: Any, name: str) -> None:
    for language in LANGUAGES:
        assert page.evaluate(PARSE, served_module(name, language)) == "parsed", language


def test_all_components_are_loaded() -> None:
    assert {"canvas", "chart", "lecture"} <= set(COMPONENTS)


# ----- in the app -----

Begin = Callable[..., Visit]


@pytest.mark.soak
def test_a_script_that_could_not_be_fetched_is_fetched_again(visit: Begin) -> None:
    one = visit()
    one.page.route(f"**/{FOLDER}/canvas.*.js", lambda route: route.abort())
    one.open()
    one.drawn()
    assert [error for error in one.errors if "net::ERR_FAILED" not in error] == []
    one.errors.clear()


def test_a_step_of_the_walk_does_not_send_its_script_again(visit: Begin) -> None:
    one = visit()
    wire = Wire(one.page)
    one.open("steps", at="encoder.embedding.tokens", detail="exam")
    is_drawn(one, "steps")
    wire.take()
    one.page.locator(".walk .player button:last-child").click()
    one.page.wait_for_url("**at=encoder.embedding.scaled*")
    one.settle()
    assert 1e3 < wire.take() < 20e3 < len(served_module("model_walk", "en"))


@pytest.mark.soak
@pytest.mark.parametrize("spoken", ["en", "de"])
def test_below_a_path_the_picture_is_drawn_in_each_language(
    browser: Any, folder: Path, tmp_path: Path, spoken: str
) -> None:
    with started_app(folder, tmp_path / "log", options=["--server.baseUrlPath", "headlight"]) as (address, _):
        one = Visit(browser.new_page(), f"{address}/headlight")
        fetched: list[str] = []
        one.page.on("request", lambda request: fetched.append(request.url))
        one.open("steps", lang=spoken)
        is_drawn(one, "steps")
        one.page.close()
    assert any(f"/headlight/{FOLDER}/model_walk.{spoken}." in url for url in fetched)
    assert (one.outside, one.errors) == ([], [])
