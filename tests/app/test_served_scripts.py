"""The scripts and style sheets of the components as files of the server."""

import re
from collections import Counter
from pathlib import Path

import pytest

from app.component_address import FOLDER
from app.components import served_scripts
from app.components.bundles import HERE, bundle, style_bundle
from app.components.served_scripts import file_of, loader, module_in, served_module
from app.languages import LANGUAGES
from tests.support.browser_driver import started_app
from tests.support.raw_client import ask

NAMES = [path.name for path in HERE.iterdir() if (path / f"{path.name}.js").exists()]
DECLARED = re.compile(r"^(?:async )?(?:const|let|function|class) (\w+|[\[{][^=]*[\]}] =)", re.MULTILINE)


def test_each_language_has_files_of_its_own_for_all_components() -> None:
    files = [file_of(name, spoken) for name in NAMES for spoken in LANGUAGES]
    scripts = [served_module(name, spoken) for name in NAMES for spoken in LANGUAGES]
    assert list(map(module_in, files)) == scripts
    assert len(set(files)) == len(files) > 100


@pytest.mark.parametrize("name", NAMES)
def test_no_two_modules_of_a_script_declare_the_same_name(name: str) -> None:
    """A script is its modules one after the other, so they share one scope."""
    declared = Counter(word for found in DECLARED.findall(bundle(name)) for word in re.findall(r"\w+", found))
    assert not [word for word, times in declared.items() if times > 1]


def test_a_changed_script_has_another_name_and_there_is_no_script_under_the_old_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = file_of("meter", "en")
    assert f"{FOLDER}/{before}" in loader("meter", "en")
    monkeypatch.setattr(served_scripts, "served_module", lambda name, spoken: "export default 1;")
    assert file_of("meter", "en") != before
    assert (module_in(before), module_in(file_of("meter", "en"))) == (None, "export default 1;")


def test_a_style_sheet_has_those_that_it_imports_before_its_own_rules() -> None:
    found = style_bundle("token_strip")
    assert "@import" not in found
    own = (HERE / "token_strip" / "token_strip.css").read_text().split("\n\n")[-1].splitlines()[-1]
    places = [found.index((HERE / "shared" / f"{name}.css").read_text()) for name in ("base", "token", "folded")]
    assert places == sorted(places)
    assert found.rindex(own) > places[-1]
    assert style_bundle("held_data") == (HERE / "shared" / "base.css").read_text()  # it has no sheet of its own


@pytest.mark.parametrize("path", ["", "/headlight"])
def test_the_server_sends_a_script_packed_and_the_browser_may_keep_it(folder: Path, tmp_path: Path, path: str) -> None:
    file = file_of("model_walk", "en")
    options = ["--server.baseUrlPath", path[1:]] if path else []
    with started_app(folder, tmp_path / "log", options=options) as (address, _):
        status, headers, text = ask(address, f"{path}/{FOLDER}/{file}")
        assert (status, text) == (200, served_module("model_walk", "en"))
        assert headers["Content-Type"].startswith("text/javascript")
        assert "immutable" in headers["Cache-Control"]
        assert "private" in headers["Cache-Control"]
        packed = ask(address, f"{path}/{FOLDER}/{file}", {"Accept-Encoding": "gzip"})[1]
        assert int(packed["Content-Length"]) < len(text) / 2
        for other in ("model_walk.en.0000000000000000.js", "model_walk.js", "..%2Fmain.py"):
            assert ask(address, f"{path}/{FOLDER}/{other}")[0] in (400, 404), other
