"""The first visit of a fresh server: the stored picture, before torch is imported."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from app.languages import LANGUAGES, Language, speaking
from app.library.checkpoints import CheckpointFile
from app.library.first_picture_file import read_picture, write_picture
from app.stage import first_visit
from app.views.translate.make_first_picture import make
from tests.support.app_checkpoints import write_checkpoint
from tests.support.drawn import unpacked_canvas

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "pretrained" / "en-de.safetensors"
FIRST_PARTS = (
    "import app.pages, app.state.address, app.stage.first_visit, app.stage.lecture.lecture, "
    "app.stage.lecture.presenter, app.classroom.class_routes, app.views.translate.first_picture, sys"
)


@pytest.fixture
def stored(folder: Path) -> Iterator[CheckpointFile]:
    """The first checkpoint of the folder, with its first picture beside it."""
    file = CheckpointFile.at(folder / "en-de.safetensors")
    path = write_picture(make(file), Path(file.path))
    yield file
    path.unlink()


@pytest.fixture
def first_run(
    stored: CheckpointFile, open_app: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., AppTest]]:
    """Opens the app on a fresh server, and stops where torch would be imported."""
    monkeypatch.setattr(first_visit, "_load", lambda page, file: st.stop())
    first_visit._over.clear()
    yield open_app
    first_visit._over.set()


def places(block: Any, path: tuple[int, ...] = ()) -> dict[tuple[int, ...], tuple[str, str]]:
    """Kind and key of all that is drawn, by its place in the page; components have a name instead of a key."""
    found = {}
    for index, each in block.children.items():
        proto = getattr(each, "proto", None)
        name = getattr(proto, "component_name", "") or getattr(each, "key", "") or getattr(proto, "id", "")
        found[*path, index] = (each.type, str(name))
        found |= places(each, (*path, index)) if hasattr(each, "children") else {}
    return found


@pytest.mark.parametrize("given", LANGUAGES)
def test_the_stored_picture_is_what_the_model_draws(given: Language) -> None:
    with speaking(given):
        stored, made = read_picture(CheckpointFile.at(SHIPPED)), make(CheckpointFile.at(SHIPPED))
    again = "python -m app.views.translate.make_first_picture"
    assert stored, f"it is of another checkpoint: {again}"
    for name in ("of", "label", "task", "used", "most", "text", "alternatives"):
        assert getattr(stored, name) == getattr(made, name), again
    (before, weights, masks), (after, new_weights, new_masks) = (
        unpacked_canvas(stored.message),
        unpacked_canvas(made.message),
    )
    assert rounded(before) == rounded(after), again
    for kind, found in weights.items():
        assert abs(found.astype(int) - new_weights[kind].astype(int)).max() <= 1, again
        assert (masks[kind] == new_masks[kind]).all(), again


def rounded(value: Any) -> Any:
    """Without what differs from machine to machine: the last digits, and the id that is made of them."""
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items() if name != "id" or isinstance(each, int)}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 3) if isinstance(value, float) else value


def test_a_stored_picture_is_small() -> None:
    assert SHIPPED.with_suffix(".first-picture.json").stat().st_size < 100_000


@pytest.mark.parametrize("change", ["header", "weights", "size"])
def test_a_picture_of_another_checkpoint_is_not_shown(change: str, tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "en-de.safetensors")
    write_picture(make(CheckpointFile.at(path)), path)
    assert read_picture(CheckpointFile.at(path))
    content = bytearray(path.read_bytes())
    if change == "size":
        content += b"\0"
    else:
        content[20 if change == "header" else -20] ^= 1
    path.write_bytes(content)
    assert read_picture(CheckpointFile.at(path)) is None


@pytest.mark.parametrize("text", ["", "{}", "[]", "no JSON", '{"task": 1}', '{"of": "", "task": {"examples": 3}}'])
def test_a_damaged_picture_is_not_shown(text: str, tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "en-de.safetensors")
    path.with_suffix(".first-picture.json").write_text(text, encoding="utf-8")
    assert read_picture(CheckpointFile.at(path)) is None


def test_what_draws_the_first_picture_does_not_import_torch() -> None:
    code = f"{FIRST_PARTS}; sys.exit('torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not found.returncode, found.stderr


def test_what_draws_the_first_page_does_not_import_the_compiler_of_torch() -> None:
    code = "import app.stage.top, app.views.translate.page, sys; sys.exit('torch._dynamo' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert not found.returncode, found.stderr


def test_what_the_first_run_draws_is_at_the_same_place_in_the_second(first_run: Callable[..., AppTest]) -> None:
    app = first_run()
    assert not app.exception
    before, sentence = places(app.main), app.text_input(key="sentence").value
    assert "headlight_canvas" in str(before)
    first_visit._over.set()
    app.run()
    after = places(app.main)
    assert {place: after.get(place) for place in before} == before
    assert app.text_input(key="sentence").value == sentence


@pytest.mark.parametrize(
    "address", [{"sentence": "a dog"}, {"beam": "2"}, {"checkpoint": "small"}, {"details": "true"}]
)
def test_a_link_to_anything_else_does_not_show_it(address: dict[str, str], first_run: Callable[..., AppTest]) -> None:
    app = first_run(**address)
    assert not app.exception
    assert not app.text_input
    assert app.title[0].value == "How is my sentence translated?"


def test_a_link_to_another_head_shows_it(first_run: Callable[..., AppTest]) -> None:
    assert first_run(kind="encoder", layer="2", head="1").text_input(key="sentence").value


def test_a_visitor_in_german_sees_it_in_german(stored: CheckpointFile, first_run: Callable[..., AppTest]) -> None:
    with speaking("de"):
        path = write_picture(make(stored), Path(stored.path))
    try:
        app = first_run(lang="de")
    finally:
        path.unlink()
    assert app.title[0].value == "Wie wird mein Satz übersetzt?"
    (picture,) = [each for each in app.get("bidi_component") if each.proto.component_name == "headlight_canvas_de"]
    assert "Encoder-Decoder-Attention" in str(unpacked_canvas(picture.proto.bytes)[0])
