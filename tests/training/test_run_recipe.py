"""The folder of a run has its recipe, and is all that resuming needs."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.support.small_training import corpus_recipe, metadata, stop_after
from transformer.cli import app
from transformer.config import Recipe
from transformer.data.mix_options import MixPart
from transformer.errors import ConfigError, Stopped, TrainingError
from transformer.recipe import RECIPE, load_recipe, recipe_text
from transformer.training import train
from transformer.training.run_recipe import keep_recipe, read_run_recipe, resume_command


def relative_recipe(folder: Path, **training: Any) -> Recipe:
    """Of a corpus in the current folder."""
    recipe = corpus_recipe(folder, **training)
    return replace(recipe, data=replace(recipe.data, train=("corpus.tsv",)))


def test_a_run_is_resumed_by_its_folder_alone_from_any_other_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, elsewhere = tmp_path / "runs" / "my run", tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    recipe = relative_recipe(tmp_path, updates=6)
    stop_after(2, monkeypatch)
    with pytest.raises(Stopped) as stopped:
        train(recipe, Path("runs/my run"), device="cpu")
    assert str(stopped.value).endswith("-m transformer train --resume 'runs/my run'")
    monkeypatch.undo()
    written = (run / RECIPE).read_text()
    monkeypatch.chdir(elsewhere)

    def resume(*options: str) -> str:
        return CliRunner().invoke(app, ["train", "--resume", str(run), "--device", "cpu", *options]).output

    assert "model.dropout: 0.1 then, 0.3 now" in resume("--set", "model.dropout=0.3")
    assert (run / RECIPE).read_text() == written
    assert "Finished after update 6" in resume()
    assert (run / RECIPE).read_text() == written
    assert "Finished after update 7" in resume("--set", "training.updates=7")
    monkeypatch.chdir(tmp_path)
    assert read_run_recipe(run).training.updates == 7
    assert metadata(run / "training.safetensors")["progress"]["update"] == 7


def test_paths_are_found_from_elsewhere_and_stay_as_given_where_the_run_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, run = tmp_path / "home", tmp_path / "home" / "run"
    (home / "set").mkdir(parents=True)
    run.mkdir()
    monkeypatch.chdir(home)
    recipe = relative_recipe(tmp_path)
    data = replace(recipe.data, train=("a.tsv", "hf:set::train", "hf:some/name:de-en", "/b.tsv"), valid="v.tsv")
    recipe = replace(recipe, data=data, model=replace(recipe.model, vocab_size=350))
    keep_recipe(run, recipe)
    assert read_run_recipe(run) == recipe == load_recipe(run / RECIPE)
    monkeypatch.chdir(tmp_path)
    found = read_run_recipe(run, ["data.prepared=here"]).data
    assert found.train == (f"{home}/a.tsv", f"hf:{home}/set::train", "hf:some/name:de-en", "/b.tsv")
    assert (found.valid, found.prepared) == (f"{home}/v.tsv", "here")
    keep_recipe(run, replace(recipe, data=replace(data, train=(), mix=(MixPart(file="a.tsv", weight=2),))))
    monkeypatch.chdir(home)
    assert read_run_recipe(run).data.folder == str(tmp_path)
    other = (run / RECIPE).read_text().replace(str(tmp_path), "/no/such/folder")  # the run of another machine
    (run / RECIPE).write_text(other)
    assert read_run_recipe(run).data.folder is None


def test_a_recipe_that_no_run_has_written_is_not_overwritten(tmp_path: Path) -> None:
    recipe = corpus_recipe(tmp_path)
    mine = f"# my comment\n{recipe_text(replace(recipe, model=replace(recipe.model, vocab_size=350)))}"
    (tmp_path / RECIPE).write_text(mine)
    keep_recipe(tmp_path, recipe)
    for text in (mine, "no recipe"):
        (tmp_path / RECIPE).write_text(text)
        with pytest.raises(TrainingError, match=r"recipe\.toml differs from the recipe of this run.*Move it"):
            keep_recipe(tmp_path, replace(recipe, training=replace(recipe.training, updates=99)))
        assert (tmp_path / RECIPE).read_text() == text


def test_a_folder_without_a_recipe_says_how_it_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match=r"has no recipe\.toml.*train RECIPE\.toml --resume --run-dir"):
        read_run_recipe(tmp_path)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    for arguments, sentence in (
        (["run"], "run is a folder. If it is that of a run, --resume continues it"),
        (["--resume", "run", "--run-dir", "x"], "leave --run-dir out"),
        (["--resume", "rum"], "There is no folder rum"),
    ):
        result = CliRunner().invoke(app, ["train", *arguments])
        assert (result.exit_code, sentence in result.output) == (2, True), result.output
    (tmp_path / "reverse").mkdir()  # named like a recipe that is included
    result = CliRunner().invoke(app, ["train", "reverse", "--set", "training.updates=none"])
    assert "training.updates" in result.output


def test_a_command_is_given_as_the_user_can_give_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: str(Path(sys.executable).with_name(name)))
    assert resume_command(Path("runs/mine")) == "python -m transformer train --resume runs/mine"
    monkeypatch.setattr("shutil.which", lambda name: "/usr/bin/python")
    monkeypatch.setattr("sys.executable", str(tmp_path / ".venv" / "bin" / "python"))
    assert resume_command(Path("my runs")) == f"{tmp_path}/.venv/bin/python -m transformer train --resume 'my runs'"
    monkeypatch.chdir(tmp_path)
    assert resume_command(Path("runs/mine")) == ".venv/bin/python -m transformer train --resume runs/mine"
