"""The command `train` hands over the recipe and the run folder, and refuses what cannot be trained."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import run
from transformer.checkpoint.header import read_header
from transformer.config import Recipe
from transformer.recipe import load_recipe
from transformer.training.run_recipe import keep_recipe, resume_command


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Recipe, Path, dict[str, Any]]]:
    """What the training was called with; nothing is trained."""
    calls: list[tuple[Recipe, Path, dict[str, Any]]] = []
    monkeypatch.setattr(
        "transformer.training.train",
        lambda recipe, run_dir, resume, device, ranks: calls.append(
            (recipe, run_dir, {"resume": resume, "device": device})
        ),
    )
    return calls


def test_a_recipe_that_fits_a_checkpoint_is_the_same_when_it_resumes(
    trained: list[tuple[Recipe, Path, dict[str, Any]]], checkpoint: Path, tmp_path: Path
) -> None:
    text = tmp_path / "my.en-de.tsv"
    text.write_text("".join(f"sentence {number}\tSatz {number}\n" for number in range(60)))
    command = ("train", "own-text", "--set", f"data.train={text}", "--run-dir", tmp_path / "run")
    for options in (("--init-from", checkpoint), ("--init-from", checkpoint, "--resume")):
        result = run(*command, *options)
        assert result.exit_code == 0, result.stderr
    assert trained[0][0] == trained[1][0]
    assert trained[1][0].model.d_model == read_header(checkpoint).config.d_model


def test_the_folder_of_a_run_on_ones_own_text_is_found_by_the_name_of_the_text(
    trained: list[tuple[Recipe, Path, dict[str, Any]]],
    checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    text = tmp_path / "my.en-de.tsv"
    text.write_text("".join(f"sentence {number}\tSatz {number}\n" for number in range(60)))
    command = ("train", "own-text", "--set", f"data.train={text}")
    assert run(*command, "--init-from", checkpoint).exit_code == 0
    recipe, folder, _ = trained[0]
    assert folder == Path("runs/my")
    folder.mkdir(parents=True)
    keep_recipe(folder, recipe)
    assert run(*command, "--resume").exit_code == 0
    assert trained[1][:2] == (recipe, folder)


def test_train_hands_over_the_recipe_as_overridden(trained: list[tuple[Recipe, Path, dict[str, Any]]]) -> None:
    result = run("train", "reverse", "--set", "training.updates=7", "--set", "data.toy=copy", "--device", "cpu")
    assert result.exit_code == 0
    recipe, folder, more = trained[0]
    assert (recipe.training.updates, recipe.data.toy) == (7, "copy")
    assert folder == Path("runs/reverse")
    assert more == {"resume": False, "device": "cpu"}
    assert (recipe.training.init_from, recipe.training.own_vocabulary) == (None, False)
    run("train", "reverse", "--run-dir", "here", "--resume", "--init-from", "x y.safetensors", "--own-vocabulary")
    assert trained[1][1:] == (Path("here"), {"resume": True, "device": "auto"})
    resumed = trained[1][0].training
    assert (resumed.init_from, resumed.own_vocabulary) == ("x y.safetensors", True)


def test_a_command_that_resumes_a_run_need_not_repeat_what_it_was_started_with(
    trained: list[tuple[Recipe, Path, dict[str, Any]]], tmp_path: Path
) -> None:
    file = tmp_path / "a 😀.safetensors"
    started = load_recipe("reverse", [f"training.init_from={file}", "training.own_vocabulary=true"])
    keep_recipe(tmp_path, started)
    for options, expected in (
        ((), (str(file), True)),
        (("--init-from", "b.safetensors"), ("b.safetensors", False)),  # with the vocabulary of that checkpoint
    ):
        found = run("train", "reverse", "--run-dir", tmp_path, "--resume", *options)
        assert found.exit_code == 0, found.stderr
        training = trained.pop()[0].training
        assert (training.init_from, training.own_vocabulary) == expected


def test_a_run_of_a_fitted_recipe_whose_checkpoint_to_start_with_is_gone_is_resumed_by_its_folder(
    trained: list[tuple[Recipe, Path, dict[str, Any]]], checkpoint: Path, tmp_path: Path
) -> None:
    text, first, folder = tmp_path / "my.en-de.tsv", tmp_path / "first.safetensors", tmp_path / "run"
    text.write_text("".join(f"sentence {number}\tSatz {number}\n" for number in range(60)))
    first.write_bytes(checkpoint.read_bytes())
    command = ("train", "own-text", "--set", f"data.train={text}", "--run-dir", folder)
    assert run(*command, "--init-from", first).exit_code == 0
    recipe, *_ = trained.pop()
    folder.mkdir()
    keep_recipe(folder, recipe)
    first.unlink()
    found = run(*command, "--resume")
    assert found.exit_code == 1
    assert "first.safetensors cannot be read" in found.stderr
    assert resume_command(folder) in found.stderr
    assert not trained
    assert run("train", "--resume", folder).exit_code == 0
    assert trained[0][0] == recipe


def test_a_checkpoint_to_start_with_that_does_not_exist_is_named_with_what_to_do(
    trained: list[tuple[Recipe, Path, dict[str, Any]]],
) -> None:
    found = run("train", "reverse", "--init-from", "none.safetensors")
    assert found.exit_code == 2
    assert "- training.init_from: none.safetensors" in found.stderr
    assert "give --init-from CHECKPOINT" in found.stderr
    assert not trained


def test_a_vocabulary_of_its_own_without_a_checkpoint_is_refused(
    trained: list[tuple[Recipe, Path, dict[str, Any]]],
) -> None:
    found = run("train", "reverse", "--own-vocabulary")
    assert found.exit_code == 2
    assert "add training.init_from (--init-from CHECKPOINT)" in found.stderr
    assert "reverse.toml" not in found.stderr
    assert not trained


def test_a_wrong_recipe_or_a_missing_corpus_trains_nothing(trained: list[tuple[Recipe, Path, dict[str, Any]]]) -> None:
    wrong = run("train", "reverse", "--set", "training.updats=7", "--set", "model.heads=0")
    assert wrong.exit_code == 2
    assert "Did you mean updates?" in wrong.stderr
    assert "model.heads = 0" in wrong.stderr
    missing = run("train", "paper-base", "--set", "data.train=nowhere.en-de.tsv")
    assert missing.exit_code == 2
    assert "data.train: nowhere.en-de.tsv" in missing.stderr
    assert not trained


@pytest.mark.parametrize("name", ["", ".", "..", "/", "/tmp", "../x", "a/b", "a\0b"])
def test_a_name_that_cannot_be_a_folder_needs_a_run_dir(
    name: str, trained: list[tuple[Recipe, Path, dict[str, Any]]]
) -> None:
    result = run("train", "reverse", "--set", f"name={name}")
    assert (result.exit_code, trained) == (2, [])
    assert "give --run-dir" in result.stderr
    assert run("train", "reverse", "--set", f"name={name}", "--run-dir", "here").exit_code == 0
