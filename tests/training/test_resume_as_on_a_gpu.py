"""What is different on a GPU, here on a CPU: batches prefetched and pinned, layers compiled, products in bfloat16.

Such a run ends in the same bits when it was killed and resumed.
"""

import os
import signal
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from tests.support.patience import PATIENCE
from tests.support.small_training import MODEL, assert_same_run, corpus_recipe, in_new_process, metadata, wrap_update
from transformer.config import Recipe
from transformer.training import trainer
from transformer.training.prefetch import prefetched
from transformer.training.training import Training


def go(recipe: Recipe, run: Path, prefetch: bool, resume: bool = False, killed_at: int | None = None) -> None:
    """A run in its own process. `prefetch`: batches are prefetched as for a GPU."""

    def after(training: Training) -> None:
        if training.progress.update == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
        wrap_update(patch, after=after)
        if prefetch:
            patch.setattr(torch.Tensor, "pin_memory", torch.Tensor.clone)
            patch.setattr(trainer, "prefetched", lambda where, batches: prefetched(torch.device("cuda"), batches))
        trainer.train(recipe, run, resume=resume, device="cpu")


@pytest.mark.soak
@pytest.mark.parametrize("compiled", [False, True])
def test_a_killed_run_with_prefetch_ends_in_the_bits_of_an_uninterrupted_run_without(
    compiled: bool, tmp_path: Path
) -> None:
    recipe = corpus_recipe(tmp_path, updates=8, accumulate=2, save_every=3, validate_every=8, precision="bfloat16")
    recipe = replace(recipe, model=replace(MODEL, dropout=0.2), training=replace(recipe.training, compile=compiled))
    alone, run = tmp_path / "alone", tmp_path / "run"
    processes = [in_new_process(go, recipe, alone, False), in_new_process(go, recipe, run, True, False, 5)]
    for process in processes:
        process.join(timeout=PATIENCE)
    assert [process.exitcode for process in processes] == [0, -signal.SIGKILL]
    assert metadata(run / "training.safetensors")["progress"]["update"] == 3
    last = in_new_process(go, recipe, run, True, True)
    last.join(timeout=PATIENCE)
    assert last.exitcode == 0
    assert_same_run(run, alone)
