"""The page Training and runs of the command line: one that is stopped while it prepares its text can be deleted, and
one that starts while the page is open is listed without a click."""

import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.library.runs import read_run
from app.library.snapshots import own_run_names, run_names
from app.views.training import manage_run, new_runs
from app.views.training.run_permission import LaunchError
from tests.support.drawn import page_text
from tests.support.held_run import held
from tests.support.small_training import toy_recipe
from tests.support.training_page import machine, opened
from transformer.errors import TrainingError
from transformer.training import train
from transformer.training import trainer as trainer_module

Open = Callable[..., AppTest]


@pytest.fixture
def prepared(runs: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of the command line that ended while it prepared its text."""

    def load_text(*_: object) -> None:
        (runs / "new" / "prepared").mkdir()
        raise TrainingError("The text cannot be read.")

    with monkeypatch.context() as patch:
        patch.setattr(trainer_module, "load_text", load_text)
        with pytest.raises(TrainingError, match="cannot be read"):
            train(toy_recipe(snapshots=(0, 3)), runs / "new", device="cpu")
    return runs / "new"


def test_a_run_of_the_command_line_that_was_stopped_while_it_prepared_its_text_is_deleted_on_the_page(
    prepared: Path, runs: Path, open_app: Open
) -> None:
    app = opened(run="new")
    text = page_text(app)
    assert "Stopped after update 0 of 12" in text
    assert "preparing" not in text
    assert machine(app)["news"] == ""
    assert machine(app)["problem"] == "This run was stopped before it stored its first snapshot."
    assert "rename_run" not in [button.key for button in app.button]
    app.button(key="delete_run").click().run()
    app.button(key="do_delete").click().run()
    assert not app.exception
    assert own_run_names() == []
    assert not prepared.exists()


def test_a_run_of_the_command_line_that_has_anything_else_in_its_folder_is_not_deleted(prepared: Path) -> None:
    (prepared / "my text.tsv").touch()
    run = read_run("new")
    assert run is not None
    assert not manage_run.may_delete(run)
    with pytest.raises(LaunchError, match="started here"):
        manage_run.delete("new")
    (prepared / "my text.tsv").unlink()
    assert manage_run.may_delete(run)
    with held(prepared), pytest.raises(LaunchError, match="is still running"):
        manage_run.delete("new")


def test_a_prepared_run_of_the_command_line_is_deleted_only_by_the_person_at_the_machine(
    prepared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_TRAINING", "on")
    monkeypatch.setattr("app.views.training.run_permission.is_at_this_machine", lambda: False)
    run = read_run("new")
    assert run is not None
    assert not manage_run.may_delete(run)
    with pytest.raises(LaunchError, match="another visitor"):
        manage_run.delete("new")


@pytest.mark.parametrize("before", [[], ["first"]])
def test_a_run_that_starts_while_the_page_is_open_is_listed_and_the_page_keeps_its_run(
    before: list[str], finished_run: Path, runs: Path, open_app: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in before:
        shutil.copytree(finished_run, runs / name)
    with ExitStack() as stack:

        def names_once_it_has_started() -> list[str]:
            if not (runs / "second").exists():
                shutil.copytree(finished_run, runs / "second")
                stack.enter_context(held(runs / "second"))  # it would open first
            return run_names()

        monkeypatch.setattr(new_runs, "run_names", names_once_it_has_started)
        app = opened()
        assert set(machine(app)["runs"]) == {*before, "second"}
        assert machine(app)["run"] == [*before, "second"][0]
