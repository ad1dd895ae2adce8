"""The page Training says what there is to say without a run, with invalid files, and where training is switched off."""

import json
from pathlib import Path

import pytest

from app.library.snapshots import OWNER
from tests.support.drawn import array, chart, charts, page_text, title
from tests.support.training_page import Open, machine, opened


def test_without_a_run_the_page_says_how_to_get_one(open_app: Open) -> None:
    app = opened()
    assert "There is no run yet" in page_text(app)
    assert app.button(key="train_own_text")
    assert [title(figure) for figure in charts(app)] == ["Target distribution of step 1, V = 420, ε = 0.1"]


def test_a_run_with_invalid_files_is_listed_and_raises_no_error(runs: Path, open_app: Open) -> None:
    folder = runs / "<img src=x> <b>_x_ $y$"
    (folder / "snapshots").mkdir(parents=True)
    (folder / "metrics.jsonl").write_text(json.dumps({"update": 1, "kind": "train", "loss": 2.0}) + "\nrubbish\n{")
    (folder / "training.safetensors").write_bytes(b"rubbish")
    (folder / "average.safetensors").write_bytes(b"rubbish")
    (folder / "snapshots" / "00000001.safetensors").write_bytes(b"rubbish")
    app = opened()
    assert "The newest snapshot cannot be used" in machine(app)["problem"]
    assert array(chart(app, "Loss")["data"][0]["y"]).tolist() == [2.0]


def test_switched_off_the_page_says_so_and_has_no_button(
    toy: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (toy / OWNER).touch()
    (toy / "average.safetensors").unlink()
    assert "resume_run" in [button.key for button in opened().button]
    monkeypatch.setenv("HEADLIGHT_TRAINING", "off")
    app = opened()
    app.button(key="train_own_text").click().run()
    assert "switched off here" in page_text(app)
    assert not {"start_run", "stop_run", "resume_run"} & {button.key for button in app.button}
