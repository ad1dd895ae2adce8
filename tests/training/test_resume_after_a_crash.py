"""What a crash may leave in the folder of a run is refused, dropped or made again when the run is resumed."""

import json
import os
from pathlib import Path

import pytest
from safetensors import safe_open
from safetensors.torch import save_file

from tests.support.small_training import lines, stop_after, tensors, toy_recipe
from tests.training.conftest import Runs
from transformer.checkpoint.header import read_header
from transformer.errors import TrainingError
from transformer.training import train
from transformer.training.metrics import Metrics
from transformer.training.training_state import read_progress


@pytest.mark.parametrize("damage", ["cut", "emptied", "something else"])
def test_a_damaged_state_is_refused_with_a_message(damage: str, stopped: Runs) -> None:
    recipe, run = stopped
    file = run / "training.safetensors"
    if damage == "something else":
        file.write_bytes((run / "last.safetensors").read_bytes())
    else:
        os.truncate(file, 0 if damage == "emptied" else file.stat().st_size // 2)
    with pytest.raises(TrainingError, match="is not the state of a training run"):
        train(recipe, run, resume=True, device="cpu")


def test_temporary_files_of_a_killed_run_are_ignored_and_removed(stopped: Runs) -> None:
    recipe, run = stopped
    torn = [run / ".training.safetensors.123.tmp", run / "recent" / ".00000002.safetensors.123.tmp"]
    torn[1].parent.mkdir(exist_ok=True)
    for path in torn:
        path.write_bytes(b"half a fi")
    train(recipe, run, resume=True, device="cpu")
    assert not any(path.exists() for path in torn)


def test_snapshots_after_the_last_save_are_taken_again(tmp_path: Path) -> None:
    run = tmp_path / "run"
    train(toy_recipe(updates=4, snapshots=(0, 2)), run, device="cpu")
    late = run / "snapshots" / "00000006.safetensors"
    late.write_bytes(b"of a run that was killed before it was saved")
    early = (run / "snapshots" / "00000002.safetensors").stat().st_mtime_ns
    train(toy_recipe(updates=8, snapshots=(0, 2, 6)), run, resume=True, device="cpu")
    assert read_header(late).metrics["update"] == 6
    assert (run / "snapshots" / "00000002.safetensors").stat().st_mtime_ns == early


def test_metrics_after_the_last_save_and_invalid_lines_are_dropped(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    for update in (5, 10, 15):
        metrics.write(update, "train", {"loss": 1.0})
        metrics.write(update, "valid", {"bleu": 2.0})
    metrics.close()
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"kind": "train"}\n{"update": "5", "kind": "train"}\n{"update": 5}\n[5]\n{"update": 20, "ki')
    with (tmp_path / "metrics.jsonl").open("ab") as file:
        file.write(b"\xff\xfe\n" + b"[" * 100_000)
    Metrics(tmp_path, update=10, validated=5).close()  # killed after the state of update 10, before its validation
    assert [(line["update"], line["kind"]) for line in lines(tmp_path)] == [(5, "train"), (5, "valid"), (10, "train")]


def test_a_snapshot_whose_validation_was_still_due_is_taken_with_its_scores_on_resuming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, recipe = tmp_path / "run", toy_recipe(updates=4, validate_every=2, snapshots=(2,))
    stop_after(2, monkeypatch)
    with pytest.raises(TrainingError, match="Stopped"):
        train(recipe, run, device="cpu")
    monkeypatch.undo()
    train(recipe, run, resume=True, device="cpu")
    assert "valid_loss" in read_header(run / "snapshots" / "00000002.safetensors").metrics


def test_a_copy_of_a_snapshot_is_not_averaged_and_raises_no_error(stopped: Runs) -> None:
    recipe, run = stopped
    copies = [
        run / folder / name for folder in ("recent", "snapshots") for name in ("._2.safetensors", "a copy.safetensors")
    ]
    for path in copies:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((run / "last.safetensors").read_bytes())
    train(recipe, run, resume=True, device="cpu")
    assert all(path.exists() for path in copies)
    averaged = read_header(run / "average.safetensors").metrics["averaged"]
    assert [name for name in averaged if not name[:8].isdigit()] == []


@pytest.mark.parametrize(("flop", "refused"), [(1e18, False), (1e31, True)])
def test_a_state_holds_the_operations_of_a_large_model_since_the_last_line(
    stopped: Runs, flop: float, refused: bool
) -> None:
    _, run = stopped
    file = run / "training.safetensors"
    with safe_open(file, framework="pt") as opened:
        metadata = opened.metadata()
    metadata.pop("checksums")
    values = json.loads(metadata["progress"]) | {"recent_flop": flop}
    save_file(tensors(file), file, metadata | {"progress": json.dumps(values)})
    if refused:
        with pytest.raises(TrainingError, match=r"progress\.recent_flop = 1e\+31: should be at most 1e\+30"):
            read_progress(file)
    else:
        assert read_progress(file)[0].recent_flop == flop
