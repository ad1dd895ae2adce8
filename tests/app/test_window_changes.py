"""Scaling, self-attention to r neighbours only: what each r costs the open model, and models trained with a window."""

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.compute.row_predictions import teacher_forced
from app.compute.subject import Subject
from app.library.checkpoints import checkpoints
from app.stage.scene import Selection, scene_of
from app.views.scaling.window_changes import Changes, window_changes
from app.views.scaling.window_chart import window_chart, window_table
from tests.support.app_checkpoints import write_checkpoint
from tests.support.canvas_alone import scene_with
from tests.support.drawn import chart, page_text
from transformer.analysis.edits import AttentionWindow, HeadOff, MaskCell

SENTENCE = "the cat sat on the mat"
SHIPPED = Path(__file__).parents[2] / "pretrained"


def test_each_change_is_that_of_a_pass_with_this_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    scene = scene_with(write_checkpoint(tmp_path / "usual.safetensors"))
    edited = scene.subject.edited(HeadOff("cross", 0, 0), AttentionWindow(0))
    scene = scene_of(edited, SENTENCE, scene.translation.settings, Selection())
    found, without = window_changes(scene), scene.subject.original.edited(HeadOff("cross", 0, 0))
    ids = scene.best(without).ids
    assert found.distances == tuple(range(max(len(scene.translation.source_ids), len(ids))))
    before = teacher_forced(without, scene.translation.source_ids, ids).score
    for r, change in zip(found.distances, found.own, strict=True):
        score = teacher_forced(without.edited(AttentionWindow(r)), scene.translation.source_ids, ids).score
        assert change == pytest.approx(score - before, abs=1e-4)
    assert found.own[-1] == pytest.approx(0, abs=1e-5)
    assert abs(found.own[0]) > 1e-3
    assert not found.small
    assert not found.trained


def test_a_cell_that_an_edit_allows_stays_allowed_in_the_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    scene = scene_with(write_checkpoint(tmp_path / "usual.safetensors"))
    allowed = scene.subject.edited(MaskCell("encoder", None, None, 0, 5, True))
    scene = scene_of(allowed, SENTENCE, scene.translation.settings, Selection())
    source, target = scene.translation.source_ids, scene.best(allowed).ids
    before, after = (
        teacher_forced(each, source, target).score for each in (allowed, allowed.edited(AttentionWindow(1)))
    )
    assert window_changes(scene).own[1] == pytest.approx(after - before, abs=1e-4)


def test_a_damaged_small_model_leaves_the_changes_of_the_open_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("en-de.safetensors", "family-base.safetensors", "family-window-1.safetensors", "families.json"):
        shutil.copy(SHIPPED / name, tmp_path)
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path))
    scene = scene_with(tmp_path / "en-de.safetensors", "I see.")
    assert window_changes(scene).trained
    broken = tmp_path / "family-window-1.safetensors"
    content = bytearray(broken.read_bytes())
    content[-2000:] = b"\xff" * 2000  # NaN
    broken.write_bytes(content)
    found = window_changes(scene)
    assert len(found.own) == len(found.distances)
    assert not found.trained


def test_small_models_that_were_trained_with_a_window_are_compared_with_one_that_was_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(SHIPPED))
    files = checkpoints()
    scene = scene_with(SHIPPED / "en-de.safetensors", "I was looking for my glasses all morning.")
    found, best = window_changes(scene), scene.best(scene.subject)
    small = {name: Subject(files[f"family-{name}"]) for name in ("base", "window-1", "window-4")}
    whole = small["base"].translator
    source = tuple(whole.sources.read(scene.translation.source, whole.settings).ids)
    target = (*whole.tokenizer.target.encode(best.text), best.ids[-1])
    base = teacher_forced(small["base"], source, target).score
    expected = [(r, teacher_forced(small[f"window-{r}"], source, target).score - base) for r in (1, 4)]
    assert dict(found.trained) == pytest.approx(dict(expected))
    restricted = teacher_forced(small["base"].edited(AttentionWindow(1)), source, target).score - base
    assert found.small[1] == pytest.approx(restricted, abs=1e-3)


def test_the_chart_and_the_table_have_all_numbers() -> None:
    changes = Changes((0, 1, 2), (-3.0, -1.0, 0.0), (-5.0, -2.0, 0.0), ((1, 0.5),))
    drawn = window_chart(changes, 1, title="")
    assert [line["y"].tolist() for line in drawn.data] == [[-3, -1, 0], [-5, -2, 0], [0.5]]
    assert drawn.layout["shapes"][0]["x0"] == 1
    lowest, highest = drawn.layout["yaxis"]["range"]
    assert lowest < -5
    assert highest > 0.5
    table = window_table(changes)
    assert [list(column) for column in table.values()] == [[0, 1, 2], [-3, -1, 0], [-5, -2, 0], [None, 0.5, None]]
    assert len(window_table(Changes((0,), (0.0,)))) == 2


def test_the_page_restricts_the_model_on_every_page_and_undoes_it(open_app: Callable[..., AppTest]) -> None:
    app = open_app("scaling", sentence=SENTENCE, details="true", window="1")
    assert "With r = 1 the log-probability changes by" in page_text(app)
    assert np.any(chart(app, "Log-probability of the translation with a window")["data"][0]["y"])
    app.button(key="window_edit").click().run()
    assert app.session_state["edits"] == ("window=1",)
    app.button(key="window_undo").click().run()
    assert app.session_state["edits"] == ()


def test_another_r_replaces_the_one_before(open_app: Callable[..., AppTest]) -> None:
    app = open_app("scaling", sentence=SENTENCE, details="true", window="3", edits="off=cross.1.1;window=1")
    app.button(key="window_edit").click().run()
    assert app.session_state["edits"] == ("off=cross.1.1", "window=3")
