"""A second Ctrl-C stops a run at once, while it saves because of the first: what was saved before is not damaged."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save_file

from tests.support.small_training import assert_same_run, metadata, stop_after, toy_recipe
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.errors import Stopped
from transformer.training import train


def test_a_run_in_another_thread_than_the_main_one_leaves_the_signals_alone(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    with ThreadPoolExecutor(1) as pool:
        pool.submit(train, toy_recipe(updates=2), tmp_path / "run", device="cpu").result()
    assert metadata(tmp_path / "run" / "training.safetensors")["progress"]["update"] == 2
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize(
    ("where", "name"),
    [("transformer.training.training_state", ".training"), ("transformer.checkpoint.checkpoint_file", ".last")],
)
def test_a_second_ctrl_c_while_a_run_saves_leaves_what_was_saved_before(
    where: str, name: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first Ctrl-C comes in update 6. The run then saves, and the second comes when half of a file is written."""
    run, recipe, before = tmp_path / "run", toy_recipe(best_by="loss", snapshots=(0, 5, 7, 99)), signal.getsignal(2)

    def save(tensors: Any, path: Path, metadata: Any) -> None:
        save_file(tensors, path, metadata)
        if name in str(path) and '"update": 6' in str(metadata):
            os.truncate(path, path.stat().st_size // 2)
            os.kill(os.getpid(), signal.SIGINT)

    stop_after(6, monkeypatch, signal.SIGINT)
    monkeypatch.setattr(f"{where}.save_file", save)
    with pytest.raises(Stopped, match=r"immediately by a second Ctrl-C; the run is as it was .* train --resume "):
        train(recipe, run, device="cpu")
    monkeypatch.undo()
    assert signal.getsignal(signal.SIGINT) == before
    assert not list(run.rglob("*.tmp"))
    assert metadata(run / "training.safetensors")["progress"]["update"] == 5  # saved when it was validated
    assert load_checkpoint(run / "last.safetensors").metrics["update"] in (5, 6)
    train(recipe, run, resume=True, device="cpu")
    assert_same_run(run, finished)
