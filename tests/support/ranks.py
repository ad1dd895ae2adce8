"""Several ranks of one training on this machine, and a comparison of their run with that of one rank.

They are forked from a process that has imported torch, with torchrun's environment: faster than torchrun itself.
"""

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.free_port import free_port
from tests.support.patience import PATIENCE
from tests.support.small_training import in_new_process, lines, tensors
from transformer.config import Recipe
from transformer.errors import HeadlightError
from transformer.training import train

# The bias of the keys does not change the softmax, so its gradient is only rounding error. Adam would scale this up to
# full steps, unless its epsilon is larger than the error.
EXACT: dict[str, Any] = {"precision": "float32", "adam_epsilon": 1e-4}


def exact(recipe: Recipe, **data: Any) -> Recipe:
    """Without dropout, because each rank drops other units."""
    model = replace(recipe.model, dropout=0.0, embedding_dropout=0.0)
    return replace(recipe, model=model, data=replace(recipe.data, **data))


def assert_same_but_for_rounding(run: Path, other: Path) -> None:
    """Weights, moments and metrics of two finished runs."""
    ours, theirs = tensors(run / "training.safetensors"), tensors(other / "training.safetensors")
    assert ours.keys() == theirs.keys()
    for name, tensor in ours.items():
        assert torch.allclose(tensor, theirs[name], rtol=1e-4, atol=2e-5), name
    assert tensors(run / "last.safetensors").keys() == tensors(other / "last.safetensors").keys()
    assert len(lines(run)) == len(lines(other))
    for line, expected in zip(lines(run), lines(other), strict=True):
        assert line == {
            name: value if isinstance(value, str | list) else pytest.approx(value, rel=1e-3)
            for name, value in expected.items()
        }


def together(size: int, function: Callable[..., None], *arguments: Any) -> list[int]:
    """Runs `function(rank, *arguments)` on so many ranks. Returns their exit codes."""
    port = free_port()
    ranks = [in_new_process(as_rank, rank, size, port, function, *arguments) for rank in range(size)]
    try:
        for process in ranks:
            process.join(timeout=PATIENCE)
            assert process.exitcode is not None, "it hangs"
    finally:
        for process in ranks:
            process.kill()
    return [int(process.exitcode or 0) for process in ranks]


def as_rank(rank: int, size: int, port: int, function: Callable[..., None], *arguments: Any) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(size), "TORCHELASTIC_RUN_ID": "test"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    function(rank, *arguments)


def go(rank: int, recipe: Recipe, run: Path, resume: bool = False) -> None:
    """What the command `train` does, but the error message goes into a file."""
    try:
        train(recipe, run, resume=resume, device="cpu")
    except HeadlightError as error:
        with run.with_name("messages").open("a") as file:
            file.write(f"{error}\n")
        raise SystemExit(1) from None


def messages(folder: Path) -> str:
    return (folder / "messages").read_text()
