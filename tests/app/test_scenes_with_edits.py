"""Scenes of a lesson that edit the model: each shows its own edits, and those of the visitor can be restored."""

from collections.abc import Callable
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.support.pages import switch_page

Open = Callable[..., AppTest]
EXPERIMENTS = """# Experiments
minutes: 3

For a test.

## Heads
minutes: 1
show: whatif?experiment=heads
sentence: the cat sat

## No causal mask
minutes: 1
show: whatif?experiment=masks&edits=mask=causal

## Padding
minutes: 1
show: whatif?experiment=masks&shown_mask=padding
"""


@pytest.fixture
def pressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Keys of a lecture that are pressed in the next run. There is the lesson `experiments`."""
    (tmp_path / "experiments.md").write_text(EXPERIMENTS)
    monkeypatch.setenv("HEADLIGHT_LESSONS", str(tmp_path))
    waiting: list[tuple[str, int]] = []

    def keys(*state: object, on_choose: Callable[[str, int], None], **more: object) -> None:
        if waiting:
            on_choose(*waiting.pop())
            st.stop()

    monkeypatch.setattr("app.components.lecture", keys)
    return waiting


def experiment_and_edits(app: AppTest) -> tuple[str, tuple[str, ...]]:
    assert not app.exception
    return app.session_state["experiment"], app.session_state.get("edits", ())


@pytest.mark.parametrize("before", [0, 1])
def test_an_experiment_that_the_page_before_reports_neither_replaces_nor_edits_that_of_the_scene(
    open_app: Open, pressed: list[tuple[str, int]], before: int
) -> None:
    app = open_app("whatif", lecture="1", lesson="experiments", scene=str(before + 1)).run()
    reported = app._tree.get_widget_states()
    pressed.append(("scene", 2))
    app.run()
    app._run(reported)  # on its way when the key was pressed
    assert app.title[0].value == "Padding"
    assert experiment_and_edits(app) == ("masks", ())
    assert experiment_and_edits(app.run()) == ("masks", ())
    app.button_group(key="experiment").set_value("heads").run()
    assert experiment_and_edits(app) == ("heads", ())
    app.button_group(key="experiment").set_value("masks").run()  # now it is the visitor who opens it
    assert experiment_and_edits(app) == ("masks", ("mask=causal",))


def test_an_edit_of_a_link_that_cannot_be_read_is_not_put_aside(open_app: Open) -> None:
    app = open_app("whatif", experiment="heads", edits="off=cross.1.2;weights=cross.2.1.1.1-", sentence="a cat")
    app.query_params.clear()
    app.query_params["sentence"] = "the cat sat"
    switch_page(app, "whatif").run()  # the page before was another one
    switch_page(app, "attention").run()
    app.query_params["sentence"], app.query_params["edits"] = "the cat sat", "off=cross.1.1"
    switch_page(app, "whatif").run()
    assert not app.exception
    assert app.button(key="restore_edits").label == "Restore your own edit"


def test_a_scene_shows_its_own_edits_and_those_of_the_visitor_can_be_restored(
    open_app: Open, pressed: list[tuple[str, int]]
) -> None:
    app = open_app("whatif", experiment="masks", edits="off=cross.1.2", sentence="a cat")
    app.query_params.clear()
    switch_page(app, "lessons").run()
    for key, value in {"lecture": "1", "lesson": "experiments", "scene": "1", "sentence": "the cat sat"}.items():
        app.query_params[key] = value
    switch_page(app, "whatif").run()
    for scene, edits in ((1, ("mask=causal",)), (2, ()), (1, ("mask=causal",))):
        pressed.append(("scene", scene))
        app.run()
        assert experiment_and_edits(app.run()) == ("masks", edits)
    pressed.append(("lecture", 0))
    app.run()
    assert experiment_and_edits(app.run()) == ("masks", ("mask=causal",))
    assert app.button(key="restore_edits").label == "Restore your own edit"
    app.button(key="restore_edits").click().run()
    assert experiment_and_edits(app) == ("masks", ("off=cross.1.2",))
    assert not [each for each in app.button if each.key in ("restore_edits", "forget_edits")]
