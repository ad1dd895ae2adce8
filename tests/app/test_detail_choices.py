"""A copied link has the controls of the details: whoever opens it sees the same figures."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import components, copied_link
from tests.support.pages import switch_page

Open = Callable[..., AppTest]
APP = Path("app")
SENTENCE = "the cat sat on the mat"
SAMPLING = {"method": "sampling", "top_k": "20", "top_p": "0.5"}
CONTROLS = {
    "slider", "select_slider", "selectbox", "multiselect", "segmented_control", "pills", "toggle", "checkbox", "radio",
    "number_input",
}  # fmt: skip
NO_PICTURE = {  # controls that choose what is trained, and the slider that chooses a checkpoint
    "start_window.py", "size_options.py", "checkpoint_choice.py",
}  # fmt: skip

OWN = {"edit_choices.toggle"}  # functions of the app with such a name


def controls() -> Iterator[tuple[Path, ast.Call]]:
    for path in APP.rglob("*.py"):
        if path.name in NO_PICTURE:
            continue
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = ast.unparse(call.func) if isinstance(call, ast.Call) else ""
            if isinstance(call, ast.Call) and called.rpartition(".")[2] in CONTROLS and called not in OWN:
                yield path, call


def test_every_control_of_a_page_has_an_entry_in_the_table_of_choices() -> None:
    found = list(controls())
    assert len(found) > 20
    for path, call in found:
        keys = [ast.unparse(word.value) for word in call.keywords if word.arg == "key"]
        shared = any(word.arg is None for word in call.keywords)  # the search settings: **_widget(choice)
        assert shared or (keys and keys[0].endswith(".key")), f"{path}:{call.lineno}: no choice has its value"


PLACES: list[tuple[str, dict[str, str], str, Any]] = [  # page, its address, the control, another value
    ("decoding", {"part": "lens"}, "lens_cells", "token"),
    ("decoding", {"part": "tree"}, "show_pruned", False),
    ("decoding", {"part": "loop"}, "tried_temperature", 2.0),
    ("decoding", {"part": "loop", **SAMPLING}, "tried_top_k", 3),
    ("decoding", {"part": "loop", **SAMPLING}, "tried_top_p", 0.75),
    ("decoding", {"part": "penalty", "checkpoint": "numbers", "sentence": "forty-two"}, "alpha_paper", 1.5),
    ("decoding", {"part": "penalty", "checkpoint": "numbers", "sentence": "forty-two"}, "alpha_power", 0.2),
    ("hand", {"written": "values"}, "summed_dimension", 3),
    ("multihead", {"checkpoint": "wide"}, "slice_from", 128),
    ("multihead", {"checkpoint": "wide"}, "written_from", 60),
    ("lessons", {}, "scenes_of", "masks"),
]


@pytest.fixture
def checkpoints(folder: Path) -> Iterator[None]:
    """With a model that ends its translations, and a wide one."""
    shipped = Path("pretrained") / "numbers.safetensors"
    files = [folder / "numbers.safetensors", folder / "wide.safetensors"]
    files[0].write_bytes(shipped.read_bytes())
    write_checkpoint(files[1], Size(1, 1, 1), options={"d_model": 256})
    yield
    for file in files:
        file.unlink()


def value_of(app: AppTest, key: str) -> Any:
    (value,) = [
        getattr(each, "value", None)
        for kind in ("slider", "select_slider", "selectbox", "button_group", "toggle", "number_input")
        for each in app.get(kind)
        if each.key == key
    ]
    return value


@pytest.mark.usefixtures("checkpoints")
@pytest.mark.parametrize(("page", "address", "key", "other"), PLACES, ids=[place[2] for place in PLACES])
def test_a_copied_link_has_a_control_of_the_details(
    open_app: Open, page: str, address: dict[str, str], key: str, other: Any
) -> None:
    app = open_app(page, **{"sentence": SENTENCE, "details": "true", **address})
    usual = value_of(app, key)
    assert usual != other
    assert key not in copied_link(app)
    app.session_state[key] = other  # as the widget does
    app.run()
    assert value_of(app, key) == other
    copied = copied_link(app)
    assert key in copied
    opened = open_app(page, **copied)
    assert value_of(opened, key) == other
    assert copied_link(opened) == copied
    switch_page(switch_page(app, "attention").run(), page).run()
    assert value_of(app, key) == other  # the visitor has come back to the page
    app.session_state[key] = usual
    app.run()
    assert key not in copied_link(app)


@pytest.mark.parametrize("key", [place[2] for place in PLACES])
@pytest.mark.parametrize(
    "nonsense", ["x", "NaN", *(pytest.param(each, marks=pytest.mark.soak) for each in ("", "-1", "1e999", "99999"))]
)
def test_nonsense_for_a_control_of_the_details_gets_the_usual_value(open_app: Open, key: str, nonsense: str) -> None:
    page, address = next((page, address) for page, address, name, other in PLACES if name == key)
    if "checkpoint" in address:
        address = {}
    usual = {"sentence": SENTENCE, "details": "true", **address}
    app = open_app(page, **usual, **{key: nonsense})
    assert not app.exception
    assert copied_link(open_app(page, **usual)).keys() | {key} >= copied_link(app).keys()


def test_a_new_setting_of_the_search_resets_what_was_tried_without_a_search(open_app: Open) -> None:
    app = open_app("decoding", sentence=SENTENCE, details="true", part="loop", method="sampling")
    app.slider(key="tried_temperature").set_value(2.0).run()
    app.slider(key="temperature").set_value(0.5).run()
    assert app.slider(key="tried_temperature").value == 0.5


def test_a_copied_link_has_whose_scores_are_shown(open_app: Open) -> None:
    def mode(app: AppTest) -> int:
        (found,) = (each.proto for each in app.get("bidi_component") if "softmax_scene" in each.proto.component_name)
        return int(json.loads(found.bytes)["mode"])

    app = open_app("scaling", sentence=SENTENCE)
    assert "scores_of" not in copied_link(app)
    assert mode(app) == 0
    again = open_app("scaling", **copied_link(app), scores_of="words")
    assert mode(again) == 1
    assert copied_link(again)["scores_of"] == "words"


def test_a_copied_link_has_which_heads_are_left(open_app: Open) -> None:
    app = open_app("multihead", sentence=SENTENCE)
    assert "heads_left" not in copied_link(app)
    assert components(app, "head_grid")[0]["mode"] == 0
    again = open_app("multihead", **copied_link(app), heads_left="alone")
    assert components(again, "head_grid")[0]["mode"] == 1
    assert copied_link(again)["heads_left"] == "alone"
