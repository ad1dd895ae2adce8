"""Runs that are renamed, deleted, opened and added to the checkpoints, and text that came to nothing."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.languages import speaking
from app.library import checkpoints
from app.library.catalogue import curves_of, entry
from app.library.names import display_name
from app.library.names_of_languages import all_languages, is_language, name_of_language
from app.library.run_checkpoints import best_checkpoint, run_checkpoint
from app.library.runs import read_run, seconds_left
from app.library.snapshots import OWNER, snapshot_name
from app.library.tasks import language_name
from app.views.training import manage_run, run_log
from app.views.training.run_log import LOG, RECIPE
from app.views.training.run_permission import LaunchError
from app.views.training.run_words import about
from tests.support.drawn import page_text
from tests.support.held_run import held
from tests.support.pages import choose
from tests.support.training_page import machine, opened
from transformer.files.atomic_write import replacing
from transformer.recipe import load_recipe


@pytest.fixture
def own(finished_run: Path, runs: Path) -> Path:
    """A finished run that was started in the browser."""
    folder = Path(shutil.copytree(finished_run, runs / "reverse-1"))
    (folder / OWNER).touch()
    return folder


def window_title(app: AppTest) -> str:
    """The title of the window that is open, in Markdown."""
    titles = [block.proto.dialog.title for block in app.get("dialog")]
    assert len(titles) == 1
    return str(titles[0])


def test_a_run_is_renamed_and_can_still_be_resumed(own: Path, runs: Path) -> None:
    languages = 'source_language = "en"\ntarget_language = "de"\n'
    (own / RECIPE).write_text(f'[data]\ntrain = ["{own}/corpus.tsv", "{own}0/other.tsv"]\n{languages}')
    (own / LOG).write_text(f"{run_log.command_of(own)}\nError: {own}/corpus.tsv is gone.\n")
    assert manage_run.rename("reverse-1", " Größer als vorher ") == "Größer als vorher"
    moved = runs / "Größer als vorher"
    assert not own.exists()
    assert load_recipe(moved / RECIPE).data.train == (f"{moved}/corpus.tsv", f"{own}0/other.tsv")
    assert run_log.last_words(moved) == "corpus.tsv is gone."
    for name in ("", " ", "../x", "a/b", ".x", "x\0", "a" * 61, snapshot_name("x", 3), "x, best"):
        with pytest.raises(LaunchError, match="name"):
            manage_run.rename("Größer als vorher", name)
    shutil.copytree(moved, runs / "other")
    with pytest.raises(LaunchError, match="already a run “other”"):
        manage_run.rename("Größer als vorher", "other")


def test_a_run_is_deleted_once_it_has_stopped_and_only_if_it_was_started_here(own: Path, runs: Path) -> None:
    shutil.copytree(own, runs / "by hand")
    (runs / "by hand" / OWNER).unlink()
    with pytest.raises(LaunchError, match="started here"):
        manage_run.delete("by hand")
    with pytest.raises(LaunchError, match="started here"):
        manage_run.delete("../runs")
    with held(own):
        for action in (manage_run.delete, lambda name: manage_run.rename(name, "x")):
            with pytest.raises(LaunchError, match="is still running"):
                action("reverse-1")
    manage_run.delete("reverse-1")
    assert [path.name for path in runs.iterdir()] == ["by hand"]


def test_the_best_checkpoint_of_a_run_is_opened_and_added_to_the_others(
    own: Path, open_app: Callable[..., AppTest], folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {name: entry(checkpoints.CheckpointFile.at(own / f"{name}.safetensors")) for name in ("average", "best")}
    losses = {name: found.header.metrics["valid_loss"] for name, found in scores.items() if found.header}
    found = best_checkpoint("reverse-1")
    assert found is not None
    assert Path(found.path) == own / f"{min(losses, key=lambda name: losses[name])}.safetensors"
    assert run_checkpoint("reverse-1, best") == found
    assert display_name(found) == "best of reverse-1"
    assert run_checkpoint("none, best") is None
    app = opened(run="reverse-1")
    app.button(key="open_run").click().run()
    assert app.selectbox(key="checkpoint").value == "reverse-1, best"
    assert not app.exception
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(tmp_path / "mine"))
    (tmp_path / "mine").mkdir()
    manage_run.add_to_checkpoints("reverse-1")
    assert [path.name for path in sorted((tmp_path / "mine").iterdir())] == [
        "reverse-1.metrics.jsonl",
        "reverse-1.safetensors",
    ]
    with pytest.raises(LaunchError, match="already a checkpoint"):
        manage_run.add_to_checkpoints("reverse-1")
    monkeypatch.setattr("app.views.training.manage_run.is_at_this_machine", lambda: False)
    with pytest.raises(LaunchError, match="Only the person at the machine"):
        manage_run.add_to_checkpoints("reverse-1")


def test_a_run_is_renamed_and_deleted_on_the_page_after_a_question(own: Path, runs: Path, open_app: Any) -> None:
    app = opened(run="reverse-1")
    app.button(key="rename_run").click().run()
    app.text_input(key="new_name_of_run").set_value("a/b").run()
    app.button(key="do_rename").click().run()
    assert "A name has at most 60 characters" in page_text(app)
    app.text_input(key="new_name_of_run").set_value("mine").run()
    app.button(key="do_rename").click().run()
    assert [path.name for path in runs.iterdir()] == ["mine"]
    assert "Finished after update 12 of 12" in page_text(app.run())
    app.button(key="delete_run").click().run()
    app.button(key="no_delete").click().run()
    assert (runs / "mine").exists()
    app.run()
    app.button(key="delete_run").click().run()
    app.button(key="do_delete").click().run()
    assert not (runs / "mine").exists()
    assert not app.run().exception


def test_a_run_whose_text_came_to_nothing_is_gone_and_its_reason_is_said(runs: Path, open_app: Any) -> None:
    folder = runs / "en-de-1"
    folder.mkdir(parents=True)
    (folder / OWNER).touch()
    (folder / LOG).write_text(f"{run_log.command_of(folder)}\nError: None of the 7 training pairs is short enough.\n")
    (folder / "metrics.jsonl").touch()
    app = opened(run="en-de-1")
    assert "The training could not begin, so its run was deleted. None of the 7 training pairs" in page_text(app)
    assert not folder.exists()
    folder.mkdir()
    (folder / OWNER).touch()
    (folder / LOG).write_text(f"{run_log.command_of(folder)}\nError: Stopped by SIGTERM after update 0 of 9.\n")
    run = read_run("en-de-1")
    assert run is None or manage_run.remove_if_it_came_to_nothing(run) == ""


def test_a_run_that_ended_unexpectedly_before_it_saved_anything_keeps_its_log(runs: Path, open_app: Any) -> None:
    folder = runs / "reverse-1"
    folder.mkdir(parents=True)
    (folder / OWNER).touch()
    traceback = "Traceback (most recent call last):\n  File ...\nMemoryError\n"
    (folder / LOG).write_text(f"{run_log.command_of(folder)}\n{traceback}")
    text = page_text(opened(run="reverse-1"))
    assert "The training ended unexpectedly. Its output is in log.txt in its folder." in text
    assert (folder / LOG).read_text().endswith(traceback)


def test_a_run_that_could_not_be_deleted_stays_on_the_page_with_the_reason(
    own: Path, runs: Path, open_app: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(own, runs / "other")
    (runs / "other" / "new").touch()  # so it comes first in the list

    def fails(name: str) -> None:
        raise LaunchError(f"“{name}” is still running. Stop it first.")

    monkeypatch.setattr("app.views.training.manage_run.delete", fails)
    app = opened(run="reverse-1")
    app.button(key="delete_run").click().run()
    app.button(key="do_delete").click().run()
    app.run()
    assert "“reverse-1” is still running. Stop it first." in page_text(app)
    assert machine(app)["run"] == "reverse-1"


def test_a_checkpoint_of_the_same_name_is_not_taken_for_that_of_the_run(
    own: Path, runs: Path, open_app: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Path(shutil.copytree(folder, tmp_path / "checkpoints"))
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(place))
    own.rename(runs / "small")  # as after `train reverse`, of which there is a checkpoint
    app = opened(run="small", checkpoint="small")
    assert "In the list of checkpoints" not in page_text(app)
    assert machine(app)["model"].startswith("“small” (")
    assert curves_of(checkpoints.checkpoints()["small"]) == {}
    app.button(key="add_run").click().run()
    assert "There is already a checkpoint “small”. Rename the run first." in page_text(app)
    (place / "small.safetensors").unlink()
    manage_run.add_to_checkpoints("small")
    app = opened(run="small", checkpoint="small")
    assert "In the list of checkpoints" in page_text(app)
    assert machine(app)["model"] == ""


def test_the_time_that_is_left_is_that_of_the_updates_that_are_left(own: Path) -> None:
    lines = [{"update": n, "kind": "train", "seconds": 2.0 * n} for n in range(1, 9)]
    (own / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    os.remove(own / "training.safetensors")
    run = read_run("reverse-1")
    assert run is not None
    assert seconds_left(run) == pytest.approx((run.updates - run.update) * 2.0)
    assert [about(seconds) for seconds in (3, 50, 100, 3600, 9000, 11_000)] == [
        "about 5 seconds", "about 50 seconds", "about 2 minutes", "about 60 minutes", "about 150 minutes",
        "about 3 hours",
    ]  # fmt: skip


def test_a_window_changes_the_run_for_which_it_was_opened_whatever_run_is_on_the_page(
    own: Path, runs: Path, open_app: Any
) -> None:
    for name in ("other", "third"):
        shutil.copytree(own, runs / name)
    app = opened(run="reverse-1")
    app.button(key="rename_run").click().run()
    choose(app, run="other").run()
    app.text_input(key="new_name_of_run").set_value("mine").run()
    app.button(key="do_rename").click().run()
    assert sorted(path.name for path in runs.iterdir()) == ["mine", "other", "third"]
    assert machine(app.run())["run"] == "other"
    choose(app, run="mine").run()
    app.button(key="delete_run").click().run()
    choose(app, run="other").run()
    assert window_title(app) == "Delete the run “mine”?"
    app.button(key="do_delete").click().run()
    assert sorted(path.name for path in runs.iterdir()) == ["other", "third"]
    assert machine(app.run())["run"] == "other"


def test_a_window_is_closed_if_its_run_is_deleted_meanwhile(own: Path, runs: Path, open_app: Any) -> None:
    shutil.copytree(own, runs / "other")
    app = opened(run="reverse-1")
    app.button(key="delete_run").click().run()
    shutil.rmtree(own)
    app.run()
    assert not app.exception
    assert "do_delete" not in [button.key for button in app.button]
    assert machine(app)["run"] == "other"


def test_the_name_of_a_run_is_text_in_the_title_of_a_window(own: Path, runs: Path, open_app: Any) -> None:
    """Streamlit reads titles as Markdown."""
    name = "_a_ [b](c) $d$ é"
    own.rename(runs / name)
    app = opened(run=name)
    app.button(key="delete_run").click().run()
    assert window_title(app) == "Delete the run “\\_a\\_ \\[b\\]\\(c\\) \\$d\\$ é”?"


def test_a_run_whose_recipe_cannot_be_written_keeps_its_name(
    own: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder that is read-only."""
    recipe = (own / "recipe.toml").read_text()
    (own / LOG).write_text(f"{run_log.command_of(own)}\n")

    def refused(target: Path) -> Any:
        if target.name == LOG and target.parent.name == "mine":
            raise PermissionError(13, "Permission denied")
        return replacing(target)

    monkeypatch.setattr(manage_run, "replacing", refused)
    with pytest.raises(LaunchError, match=r"The run was not renamed: Permission denied\."):
        manage_run.rename("reverse-1", "mine")
    assert [path.name for path in runs.iterdir()] == ["reverse-1"]
    assert (own / "recipe.toml").read_text() == recipe


def test_languages_are_named_in_the_language_of_the_interface() -> None:
    tags = ("de", "pt-BR", "zh-Hant", "sr-Latn", "gsw")
    english = ["German", "Brazilian Portuguese", "Traditional Chinese", "Serbian (Latin)", "Swiss German"]
    assert [name_of_language(tag) for tag in tags] == english
    with speaking("de"):
        assert [name_of_language(tag) for tag in ("de", "gsw")] == ["Deutsch", "Schweizerdeutsch"]
        assert language_name("Middle Low German") == "Middle Low German"
        assert all_languages()["sw"] == "Suaheli"
    assert len(all_languages()) > 500
    assert not any(is_language(name) for name in ("", "letters", "../x", "Middle Low German", "x"))
