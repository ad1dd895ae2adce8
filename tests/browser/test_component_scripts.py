"""The script of every component is one module in which no name is declared twice."""

from typing import Any

import pytest

from app.components.registration import HERE, bundle
from app.languages import LANGUAGES

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
        assert page.evaluate(PARSE, bundle(name, language)) == "parsed", language


def test_all_components_are_loaded() -> None:
    assert {"canvas", "chart", "lecture"} <= set(COMPONENTS)
