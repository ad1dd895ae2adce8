"""The curves of the page Training are the numbers of the metrics files of its runs."""

import shutil
from pathlib import Path

from tests.support.drawn import array, chart, page_text
from tests.support.training_page import opened
from transformer.training.metrics import read_metrics


def test_curves_draw_the_numbers_of_the_metrics_file(toy: Path) -> None:
    app = opened()
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
    assert "Finished after update 12 of 12" in page_text(app)


def test_two_runs_are_in_one_picture(toy: Path, runs: Path) -> None:
    shutil.copytree(toy, runs / "other")
    app = opened(run="toy")
    app.multiselect(key="compare").set_value(["other"]).run()
    names = [line["name"] for line in chart(app, "Speed")["data"]]
    assert names == ["toy", "other"]
    assert len({line["line"]["color"] for line in chart(app, "Speed")["data"]}) == 2
    app.session_state["run"] = "other"  # which is no longer another one
    app.run()
    assert not app.exception
    assert [line["name"] for line in chart(app, "Speed")["data"]] == ["other"]
