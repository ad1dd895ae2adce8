"""A disk that is full when a run writes a checkpoint or prepared text: an error message, and nothing is lost.

(What happens to a state on a full disk is in test_trouble.py, to prepared text in tests/data/test_prepared_store.py.)
"""

import errno
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save_file

from tests.support.small_training import assert_same_run, corpus_recipe, toy_recipe
from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.data.cleaning import Counts
from transformer.errors import CorpusError, HeadlightError
from transformer.training import train

SOAK = ["recent/.00000005", ".best", ".average"]


@pytest.mark.parametrize(
    "name", ["snapshots/.00000000", ".last", *(pytest.param(name, marks=pytest.mark.soak) for name in SOAK)]
)
def test_a_run_on_a_full_disk_keeps_its_files_and_is_resumed_to_the_same_end(
    name: str, finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tensors: Any, path: Path, metadata: Any) -> None:
        save_file(tensors, path, metadata)
        if name in str(path):
            with path.open("r+b") as file:
                file.truncate(100)
            raise OSError(errno.ENOSPC, "No space left on device")

    run, recipe = tmp_path / "run", toy_recipe(best_by="loss", snapshots=(0, 5, 7, 99))
    monkeypatch.setattr("transformer.checkpoint.checkpoint_file.save_file", full)
    with pytest.raises(HeadlightError, match=r"could not be written: .*No space left.*free some space.*--resume"):
        train(recipe, run, device="cpu")
    assert not list(run.rglob("*.tmp"))
    for path in run.rglob("*.safetensors"):
        if path.name != "training.safetensors":
            load_checkpoint(path)
    monkeypatch.undo()
    train(recipe, run, resume=True, device="cpu")
    assert_same_run(run, finished)


def test_a_disk_that_is_full_when_the_counts_of_the_text_are_written_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, recipe = Counts.write, corpus_recipe(tmp_path, updates=1)

    def full(counts: Counts, path: Path) -> None:
        write(counts, path)
        if "corpus.json" in path.name:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as while_full:
        while_full.setattr(Counts, "write", full)
        with pytest.raises(CorpusError, match=r"corpus\.json cannot be written: No space left.*command again"):
            train(recipe, tmp_path / "run", device="cpu")
    assert not list((tmp_path / "run").rglob("*.tmp"))
    assert not (tmp_path / "run" / "corpus.json").exists()
    train(recipe, tmp_path / "run", device="cpu")
    assert Counts.from_file(tmp_path / "run" / "corpus.json").read == 150
