"""The page Training: which snapshots of a run are shown, for which sentence, and what is said of those that are not."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from app.library.runs import read_run
from app.views.training.snapshot_question import question
from app.views.training.snapshot_sweep import sweep
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import open_view, page_text
from tests.support.held_run import held
from tests.support.pages import choose
from tests.support.training_page import machine, opened
from transformer.recipe import load_recipe, recipe_text


@pytest.fixture
def begun(toy: Path) -> Path:
    """The same run before it has saved anything."""
    (toy / "metrics.jsonl").write_text("")
    for file in (*toy.glob("*.safetensors"), *toy.glob("*/*.safetensors")):
        file.unlink()
    return toy


@pytest.mark.parametrize(
    ("planned", "said"),
    [
        ((0, 3), "stores its first snapshot when its text and its model are prepared"),
        ((3, 6), "stores its first snapshot after 3 updates"),
        ((), "has stored no snapshots"),
    ],
)
def test_a_run_of_the_command_line_says_from_its_recipe_when_its_first_snapshot_comes(
    begun: Path, planned: tuple[int, ...], said: str
) -> None:
    recipe = load_recipe(begun / "recipe.toml")
    recipe = replace(recipe, training=replace(recipe.training, snapshots=planned))
    (begun / "recipe.toml").write_text(recipe_text(recipe), encoding="utf-8")
    with held(begun):
        (begun / "metrics.jsonl").touch()
        app = opened(run="toy")
        assert said in machine(app)["problem"]
        assert machine(app)["news"] == "In training: update 0 of 12"
    after = "was stopped before it stored its first snapshot" if planned else "has stored no snapshots"
    assert after in machine(app.run())["problem"]


def test_sample_translations_say_when_the_first_snapshot_comes(begun: Path, finished_run: Path) -> None:
    lines = (finished_run / "metrics.jsonl").read_text().splitlines(keepends=True)
    (begun / "metrics.jsonl").write_text("".join(line for line in lines if json.loads(line)["update"] <= 5))
    with held(begun):
        (begun / "metrics.jsonl").touch()
        text = page_text(opened(run="toy"))
    assert "This run stores its first snapshot after 6 updates." in text
    assert "stored no snapshots" not in text


def test_a_recipe_in_the_folder_of_a_run_that_cannot_be_read_is_no_error(begun: Path) -> None:
    for text in ("[", 'name = "x"\n[training]\nupdates = -3\n', "\x00"):
        (begun / "recipe.toml").write_text(text)
        run = read_run("toy")
        assert run is not None
        assert (run.recipe, run.updates) == (None, 0)


@pytest.mark.parametrize("damaged", [0, 6, 12])
def test_a_damaged_snapshot_is_left_out_and_named_and_the_others_are_shown(toy: Path, damaged: int) -> None:
    (toy / "snapshots" / f"{damaged:08d}.safetensors").write_bytes(b"rubbish")
    app = opened(run="toy")
    assert [row["number"] for row in machine(app)["rows"]] == [each for each in (0, 3, 6, 12) if each != damaged]
    assert machine(app)["problem"] == ""
    assert f"Left out, because it cannot be used: the snapshot of update {damaged}." in page_text(app)
    assert "The snapshots in full" in page_text(app)
    (toy / "snapshots" / "00000003.safetensors").write_bytes(b"")
    first, second = sorted((damaged, 3))
    assert f"Left out, because they cannot be used: the snapshots of the updates {first}; {second}." in page_text(
        app.run()
    )


def test_a_snapshot_of_another_model_is_left_out_and_named(toy: Path) -> None:
    write_checkpoint(toy / "snapshots" / "00000003.safetensors")
    app = opened(run="toy")
    assert [row["number"] for row in machine(app)["rows"]] == [0, 6, 12]
    assert "Left out, because it cannot be used: the snapshot of update 3." in page_text(app)


def test_a_snapshot_that_was_deleted_a_moment_ago_is_not_called_unusable(toy: Path) -> None:
    """As by a run that is resumed, after the folder was listed."""
    run = read_run("toy")
    assert run is not None
    asked = question(run, None)
    (toy / "snapshots" / "00000003.safetensors").unlink()
    seen = sweep(asked)
    assert (seen.updates, seen.unusable) == ([0, 6, 12], [])


@pytest.fixture
def numbers(toy: Path) -> Path:
    """A run that reads English number words."""
    folder = toy.with_name("numbers")
    write_checkpoint(folder / "snapshots" / "00000000.safetensors", Size(1, 1, 1), toy="numbers")
    (folder / "metrics.jsonl").touch()
    os.utime(folder / "metrics.jsonl", (1e9, 1e9))
    return folder


def test_a_sentence_that_was_typed_for_a_run_is_used_only_for_runs_that_read_the_same(toy: Path, numbers: Path) -> None:
    shutil.copytree(toy, toy.with_name("again"))
    app = opened(run="toy")
    app.text_input(key="run_sentence").set_value("a b c").run()
    assert "“a b c”" in page_text(app)
    assert "“a b c”" in page_text(choose(app, run="again").run())
    assert app.text_input(key="run_sentence").value == "a b c"
    assert "“a b c”" not in page_text(choose(app, run="numbers").run())
    assert app.text_input(key="run_sentence").value == ""
    assert "“two”" in page_text(choose(app, run_sentence="two").run())


def test_a_sentence_and_its_translation_are_those_of_a_link_whatever_was_typed_before(toy: Path, numbers: Path) -> None:
    app = opened(run="toy", run_sentence="a b c", run_right="c b")
    assert "right translation, “c b”" in page_text(app)
    choose(app, run="numbers", run_sentence="two", run_right="zwei").run()
    assert "“two”" in page_text(app)
    assert "right translation, “zwei”" in page_text(app)


def test_runs_whose_names_have_commas_are_compared_by_an_address(toy: Path) -> None:
    for name in ("a, b", "a"):
        shutil.copytree(toy, toy.with_name(name))
    app = opened(run="toy")
    app.multiselect(key="compare").set_value(["a, b", "a"]).run()
    address = {key: value[0] if isinstance(value, list) else value for key, value in app.query_params.items()}
    assert open_view("training", **address).multiselect(key="compare").value == ["a, b", "a"]
    assert opened(run="toy", compare="a/none/a").multiselect(key="compare").value == ["a"]
