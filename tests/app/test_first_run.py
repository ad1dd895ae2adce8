"""The page Training opens with a run that suits the visitor: of their model, of their languages, or their own."""

import os
import shutil
import time
from pathlib import Path

import pytest

from app.library.tasks import EXAMPLES
from tests.support.app_checkpoints import Size, write_checkpoint
from tests.support.drawn import open_view, page_text
from tests.support.small_training import corpus_recipe
from tests.support.training_page import machine
from transformer.training.metrics import read_metrics
from transformer.training.trainer import train


@pytest.fixture
def translation(toy: Path, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Checkpoints for two language pairs, and a run of each that ships: `en-de-small` is English to German."""
    place = tmp_path / "shipped"
    write_checkpoint(place / "en-de.safetensors", source_language="en", target_language="de")
    write_checkpoint(place / "de-en.safetensors", source_language="de", target_language="en")
    kept = place / "example-runs" / "en-de-small" / "snapshots"
    kept.mkdir(parents=True)
    for update in (0, 10):
        shutil.copy(place / "en-de.safetensors", kept / f"{update:08d}.safetensors")
    shutil.copytree(toy, place / "example-runs" / "another")
    (place / "example-runs" / "en-de-small" / "metrics.jsonl").touch()
    monkeypatch.setenv("HEADLIGHT_CHECKPOINTS", str(place))
    return place


def test_it_opens_with_a_translation_on_the_sentence_of_the_page(translation: Path) -> None:
    app = open_view("training", sentence="a b")
    assert machine(app)["run"] == "en-de-small"  # and not with the run of the folder of runs
    assert "“a b”" in page_text(app)


def test_the_picture_says_which_model_it_is_where_that_is_not_the_one_above(translation: Path) -> None:
    assert machine(open_view("training"))["model"] == "“en-de-small” (not the model at the top of the page)"
    write_checkpoint(
        translation / "large.safetensors", Size(3, 3, 4), source_language="en", target_language="de"
    )  # fmt: skip
    found = machine(open_view("training", checkpoint="large"))
    assert found["model"] == "“en-de-small” (a smaller model than the one at the top of the page)"
    assert found["head"]["reads"] == "Rows: the final translation, which all snapshots read"
    assert machine(open_view("training", checkpoint="en-de-small, update 10"))["model"] == ""
    edited = machine(open_view("training", checkpoint="en-de-small, update 10", edits="off=cross.1.1"))
    assert edited["model"] == "“en-de-small” (without the edits of the model at the top of the page)"


def test_a_sentence_of_another_language_is_not_used_and_the_page_says_so(translation: Path) -> None:
    app = open_view("training", checkpoint="de-en", sentence="ein Satz")
    assert machine(app)["run"] == "en-de-small"
    assert "Your sentence is for German → English, this run for English → German. The example" in page_text(app)
    assert EXAMPLES["en"][0] in page_text(app)
    assert "ein Satz" not in page_text(app)


def test_the_reason_for_an_example_is_not_the_same_languages(translation: Path, runs: Path) -> None:
    kept = runs / "numbers" / "snapshots"
    write_checkpoint(kept / "00000000.safetensors", Size(1, 1, 1), toy="numbers")
    (runs / "numbers" / "metrics.jsonl").touch()
    texts = page_text(open_view("training", run="numbers", sentence="a b"))
    assert "This run has learned a toy task, and your sentence may have words that it does not know." in texts
    assert "Your sentence is for" not in texts


def test_a_toy_opens_with_the_run_of_its_task(translation: Path) -> None:
    write_checkpoint(translation / "letters.safetensors", Size(1, 1, 1), toy="reverse")
    app = open_view("training", checkpoint="letters", sentence="b a c")
    assert machine(app)["run"] == "another"
    assert "“b a c”" in page_text(app)


def test_the_visitors_own_run_opens_while_it_is_trained_and_anothers_does_not(
    translation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.views.training.launch_run.is_busy", lambda folder: True)
    assert machine(open_view("training"))["run"] == "toy"
    monkeypatch.setattr("app.views.training.page.is_owner", lambda run: False)
    assert machine(open_view("training"))["run"] == "en-de-small"


def test_a_run_of_the_command_line_opens_for_a_day_and_with_its_checkpoint_and_its_use_is_in_view(
    translation: Path, runs: Path, tmp_path: Path
) -> None:
    train(corpus_recipe(tmp_path, updates=2), runs / "mine", device="cpu")
    app = open_view("training")
    assert machine(app)["run"] == "mine"
    best = max(line["bleu"] for line in read_metrics(runs / "mine" / "metrics.jsonl") if line["kind"] == "valid")
    finished = f"Finished after update 2 of 2, best BLEU {best:.1f} on"
    assert finished in page_text(app)  # without the details
    assert {"Open", "Add to my checkpoints"} <= {each.label for each in app.button}
    yesterday = time.time() - 25 * 3600
    os.utime(runs / "mine" / "metrics.jsonl", (yesterday, yesterday))
    assert machine(open_view("training"))["run"] == "en-de-small"
    app.button(key="open_run").click().run()
    assert app.query_params["checkpoint"] == "mine, best"
    assert machine(open_view("training", checkpoint="mine, best"))["run"] == "mine"
