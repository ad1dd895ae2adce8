"""The page Training: runs, the time machine, and what is said when there is nothing to show."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from app.library.snapshots import RECIPE
from app.views.training.run_plan import LaunchError, Plan, Size, TextPlan
from tests.app.test_runs import HOLD
from tests.support.drawn import array, chart, charts, open_view, title
from tests.support.pages import switch_page
from tests.support.patience import PATIENCE
from tests.support.small_training import toy_recipe
from transformer.analysis.trace import trace
from transformer.data.cleaning import Counts
from transformer.decoding.translator import Translator
from transformer.recipe import recipe_text
from transformer.training.metrics import read_metrics

Open = Callable[..., AppTest]


@pytest.fixture
def toy(finished_run: Path, runs: Path, open_app: Open) -> Path:
    """A finished run in the folder of runs, and the app's checkpoints in theirs."""
    return Path(shutil.copytree(finished_run, runs / "toy"))


def said(app: AppTest) -> str:
    found = [*app.text, *app.caption, *app.info, *app.warning, *app.subheader, *app.header]
    return "\n".join(str(each.value) for each in found)


def slider(app: AppTest) -> Any:
    return next(each for each in app.select_slider if each.label == "After update")


def at(app: AppTest) -> int:
    """The snapshot that is shown."""
    return int(slider(app).value)


def test_curves_draw_the_numbers_of_the_metrics_file(toy: Path) -> None:
    app = open_view("training")
    lines = read_metrics(toy / "metrics.jsonl")
    for words, kind, name in (
        ("Loss", "train", "loss"),
        ("Norm of the gradient", "train", "gradient_norm"),
        ("Speed", "train", "tokens_per_second"),
        ("Learning rate", "train", "rate"),
        ("BLEU and chrF", "valid", "bleu"),
    ):
        line = chart(app, words)["data"][0]
        expected = [(entry["update"], entry[name]) for entry in lines if entry["kind"] == kind]
        assert list(zip(array(line["x"]).tolist(), array(line["y"]).tolist(), strict=True)) == expected
    names = [line["name"] for line in chart(app, "Learning rate")["data"]]
    assert names == ["toy", "toy, equation 3 (warm-up 4)"]
    assert "Finished after update 12 of 12" in said(app)


def test_the_page_says_what_became_of_the_pairs_of_a_text(toy: Path) -> None:
    assert "pairs read" not in said(open_view("training"))  # a toy has no text
    counts = Counts(read=9000, empty=2, duplicates=1500, learnt=7498)
    counts.write(toy / "corpus.json")
    assert "The text: 9,000 pairs read: 2 with an empty side, 1,500 duplicates, 7,498 to learn from." in said(
        open_view("training")
    )
    for broken in ("", "[" * 5000, "[1]", '{"read": "many"}'):
        (toy / "corpus.json").write_text(broken)
        assert "pairs read" not in said(open_view("training"))


def test_two_runs_stand_in_one_picture(toy: Path, runs: Path) -> None:
    shutil.copytree(toy, runs / "other")
    app = open_view("training", run="toy")
    app.multiselect(key="compare").set_value(["other"]).run()
    names = [line["name"] for line in chart(app, "Speed")["data"]]
    assert names == ["toy", "other"]
    assert len({line["line"]["color"] for line in chart(app, "Speed")["data"]}) == 2
    app.selectbox(key="run").set_value("other").run()  # which is no longer another one
    assert not app.exception
    assert [line["name"] for line in chart(app, "Speed")["data"]] == ["other"]


@pytest.mark.parametrize("update", [0, 6])
def test_the_time_machine_shows_what_a_snapshot_writes_and_attends_to(toy: Path, update: int) -> None:
    app = open_view("training", run="toy", at_update=str(update))
    snapshot = Translator.load(toy / "snapshots" / f"{update:08d}.safetensors")
    sentence, right = "h e a d l i g h t", "t h g i l d a e h"
    greedy = snapshot.translate(sentence, method="greedy", max_extra_length=8)
    assert greedy.text in said(app)
    forced = snapshot.score(sentence, right)
    assert app.metric[0].value == f"{-forced.score / len(forced.ids):.3f}"
    found = trace(
        snapshot.model, greedy.sentences[0].source_ids, forced.ids, ["decoder.layers.0.cross_attention.weights"]
    )
    weights = found.arrays["decoder.layers.0.cross_attention.weights"]  # (H, T, S)
    drawn = array(chart(app, f"after {update} updates")["data"][0]["z"])
    assert any(np.array_equal(drawn, head.astype(np.float32)) for head in weights)
    losses = chart(app, "Loss")["data"][-1]
    assert losses["name"] == "toy, this sentence"
    assert array(losses["x"]).tolist() == [0, 3, 6, 12]


def test_the_newest_snapshot_is_shown_until_another_one_is_taken(toy: Path) -> None:
    app = open_view("training")
    assert at(app) == 12
    shutil.copy(toy / "snapshots" / "00000012.safetensors", toy / "snapshots" / "00000015.safetensors")
    assert at(app.run()) == 15
    slider(app).set_value(3).run()
    shutil.copy(toy / "snapshots" / "00000012.safetensors", toy / "snapshots" / "00000018.safetensors")
    assert at(app.run()) == 3
    assert app.query_params["at_update"] in ("3", ["3"])


def test_the_page_moves_another_slider_than_the_reader(toy: Path) -> None:
    """What a browser still says of the slider that was there before is nothing that the reader did."""
    app = open_view("training")
    before = slider(app).key
    shutil.copy(toy / "snapshots" / "00000012.safetensors", toy / "snapshots" / "00000015.safetensors")
    app.run()
    assert slider(app).key != before
    moved = slider(app).key
    slider(app).set_value(3).run()
    assert slider(app).key == moved  # it keeps the focus
    assert app.session_state["at_update"] == 3


def test_play_begins_with_the_untrained_model_and_ends_with_the_newest(toy: Path) -> None:
    app = open_view("training")
    app.button(key="play").click().run()
    seen: list[int] = [at(app)]
    for _ in range(6):
        seen.append(at(app.run()))
    assert sorted(set(seen)) == seen[: len(set(seen))]
    assert seen[-1] == 12
    assert seen[0] < 12
    assert app.button(key="play").label == "Play"


def test_another_page_stops_the_play_and_keeps_what_is_chosen(toy: Path) -> None:
    shutil.copytree(toy, toy.with_name("zoo"))
    app = open_view("training", run="toy")
    app.selectbox(key="run").set_value("zoo").run()
    app.selectbox(key="run_attention").set_value("encoder").run()
    app.button(key="play").click().run()
    assert app.button(key="play").label == "Pause"
    switch_page(app, "masks").run()
    switch_page(app, "training").run()
    assert app.button(key="play").label == "Play"
    assert (app.selectbox(key="run").value, app.selectbox(key="run_attention").value) == ("zoo", "encoder")


def test_a_sentence_and_a_translation_of_ones_own_are_taken(toy: Path) -> None:
    app = open_view("training", run="toy")
    app.text_input(key="run_sentence").set_value("a b c").run()
    assert app.text_input(key="run_right").placeholder == "c b a"
    app.text_input(key="run_right").set_value("b b").run()
    assert "b b" in said(app)
    app.text_input(key="run_sentence").set_value("<img src=x> _a_ 🚂 " * 15).run()
    assert not app.exception
    app.text_input(key="run_sentence").set_value("a " * 149).run()
    assert "tokens; the page shows up to" in said(app)


def test_a_snapshot_opens_on_every_page_by_its_name_in_the_address(toy: Path) -> None:
    app = open_view("attention", checkpoint="toy, update 3")
    assert app.selectbox(key="checkpoint").value == "toy, update 3"
    for name in ("toy, update 4", "../toy, update 3", "none, update 3"):
        assert open_view("attention", checkpoint=name).selectbox(key="checkpoint").value == "en-de"


def test_the_button_opens_the_snapshot_and_its_sentence(toy: Path) -> None:
    app = open_view("training", at_update="3")
    app.button(key="open_snapshot").click().run()
    assert not app.exception
    assert app.selectbox(key="checkpoint").value == "toy, update 3"
    assert app.text_input(key="sentence").value == "h e a d l i g h t"


def test_without_a_run_the_page_says_how_to_get_one(open_app: Open) -> None:
    app = open_view("training")
    assert "There is no run yet" in said(app)
    assert app.button(key="start_run")
    assert [title(figure) for figure in charts(app)] == ["Target distribution of step 1, V = 420, ε = 0.1"]


def test_switched_off_the_page_says_so_and_has_no_button(
    toy: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / RECIPE).write_text(recipe_text(toy_recipe()))
    (toy / "average.safetensors").unlink()
    assert "resume_run" in [button.key for button in open_view("training").button]
    monkeypatch.setenv("HEADLIGHT_TRAINING", "off")
    app = open_view("training")
    assert "switched off here" in said(app)
    assert not {"start_run", "stop_run", "resume_run"} & {button.key for button in app.button}


def test_what_was_uploaded_is_what_is_trained_on(open_app: Open, runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plans: list[Plan] = []

    def start(plan: Plan) -> str:
        plans.append(plan)
        raise LaunchError("not <b>today</b>")

    monkeypatch.setattr("app.views.training.launch_run.start", start)
    app = open_view("training")
    app.button_group(key="start_task").set_value("text").run()
    app.file_uploader(key="corpus").set_value(("../../evil name.tsv", b"a\tb\n", "text/plain")).run()
    app.selectbox(key="start_target").set_value("fr").run()
    app.number_input(key="start_updates").set_value(50).run()
    app.button(key="start_run").click().run()
    assert plans == [TextPlan(b"a\tb\n", "en", "fr", Size(50, 2, 1, 4, 128))]
    assert "not <b>today</b>" in [text.value for text in app.text]  # as text


def test_a_run_that_runs_shows_where_it_stands_and_can_be_stopped(toy: Path) -> None:
    (toy / RECIPE).write_text(recipe_text(toy_recipe()))
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLD, toy / ".lock"], stdin=pipe, stdout=pipe) as process:
        assert process.stdout
        process.stdout.readline()
        app = open_view("training")
        assert "Running: update 12 of 12, loss " in said(app)
        assert "now preparing to go on" in said(app)
        (toy / "metrics.jsonl").touch()  # as the trainer does when all is ready
        assert "now averaging its last checkpoints and validating the average" in said(app.run())
        metrics = (toy / "metrics.jsonl").read_text().splitlines(keepends=True)
        (toy / "metrics.jsonl").write_text("".join(line for line in metrics if '"valid"' not in line))
        assert "now validating" in said(app.run())
        app.button(key="stop_run").click().run()
        assert process.wait(PATIENCE) == -signal.SIGTERM
    app.run()
    assert "Finished after update 12 of 12" in said(app)


def test_before_its_first_lines_a_run_says_what_it_does(toy: Path) -> None:
    (toy / RECIPE).write_text(recipe_text(toy_recipe()))
    lock, metrics, state = toy / ".lock", toy / "metrics.jsonl", toy / "training.safetensors"
    with subprocess.Popen([sys.executable, "-c", HOLD, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        metrics.unlink()
        state.unlink()
        for snapshot in (toy / "snapshots").iterdir():
            snapshot.unlink()
        app = open_view("training")
        assert "Running: preparing its text and its model" in said(app)
        metrics.touch()
        assert "Running: update 0, making its first updates" in said(app.run())
        process.kill()


def test_an_open_snapshot_has_a_slider_on_every_page(toy: Path) -> None:
    app = open_view("translate", checkpoint="toy, update 3", sentence="a b")
    app.select_slider(key="snapshot").set_value(12).run()
    assert app.selectbox(key="checkpoint").value == "toy, update 12"
    assert app.text_input(key="sentence").value == "a b"
    app.selectbox(key="checkpoint").set_value("small").run()
    assert "snapshot" not in [slider.key for slider in app.select_slider]


def test_text_without_a_file_is_refused_with_a_sentence(open_app: Open, runs: Path) -> None:
    app = open_view("training")
    app.button_group(key="start_task").set_value("text").run()
    app.button(key="start_run").click().run()
    assert "Choose a file first" in said(app)
    assert not runs.exists()


def test_a_run_whose_files_are_none_breaks_nothing(runs: Path, open_app: Open) -> None:
    folder = runs / "<img src=x> <b>_x_ $y$"
    (folder / "snapshots").mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(json.dumps({"update": 1, "kind": "train", "loss": 2.0}) + "\nrubbish\n{")
    (folder / "training.safetensors").write_bytes(b"rubbish")
    (folder / "average.safetensors").write_bytes(b"rubbish")
    (folder / "snapshots" / "00000001.safetensors").write_bytes(b"rubbish")
    app = open_view("training")
    assert "The newest snapshot cannot be opened" in said(app)
    assert array(chart(app, "Loss")["data"][0]["y"]).tolist() == [2.0]
