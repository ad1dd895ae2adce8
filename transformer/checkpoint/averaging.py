"""Averaging checkpoints (paper, section 6.1: the last 5 of the base model, the last 20 of the big one).

The mean of the weights of several checkpoints of one run often translates better than each of them. The mean of
checkpoints of different runs is useless, because equal positions in their weights have learnt different things.
"""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint.checkpoint_file import (
    Checkpoint,
    TrainedModel,
    load_checkpoint,
    save_checkpoint,
)
from transformer.checkpoint.header import Header, read_header
from transformer.checkpoint.length_statistics import lengths_in
from transformer.errors import CheckpointError


def average_checkpoints(out: str | Path, paths: Sequence[str | Path]) -> None:
    """Writes the mean of the weights of `paths` to `out`, with the tokenizer, recipe and words of the first.

    Only the first checkpoint, one other at a time, and the sum are in memory. The sum is in float64, because in float32
    the mean of equal weights may differ from these weights. (Trap: a shared matrix summed once for each of its names.
    Test: test_the_average_of_equal_checkpoints_is_that_checkpoint.) The result has not been evaluated, so its
    metrics contain no scores. They contain the names of the checkpoints, the latest update, the lengths of the training
    sentences and, if all checkpoints have the same, the training files. It is stored in half precision if the first is.

    Raises:
        CheckpointError: one cannot be loaded, or has another architecture or tokenizer than the first. The message
            names all checkpoints with another architecture.
    """
    if not paths:
        raise CheckpointError("Name at least one checkpoint to average.")
    headers = [read_header(path) for path in paths]
    _check_alike(headers)
    first = _mean(paths)
    averaged = TrainedModel(first.model, first.tokenizer, first.recipe, _metrics(headers), first.words)
    save_checkpoint(out, averaged, half=headers[0].half)


def _check_alike(headers: Sequence[Header]) -> None:
    """Raises CheckpointError if one has another architecture than the first. Dropout is not part of it."""
    problems = []
    for header in headers[1:]:
        own = asdict(headers[0].config)
        names = [name for name, value in asdict(header.config).items() if value != own[name] and "dropout" not in name]
        if names:
            problems.append(
                f"{header.path} has another architecture than {headers[0].path}: {', '.join(names)} differ."
            )
    if problems:
        raise CheckpointError(
            "\n".join(["These checkpoints cannot be averaged. Name checkpoints of one run.", *problems])
        )


@torch.no_grad()
def _mean(paths: Sequence[str | Path]) -> Checkpoint:
    """The first checkpoint, with the mean of the weights of all."""
    first = load_checkpoint(paths[0])
    sums = {name: weight.detach().to(torch.float64) for name, weight in first.model.named_parameters()}
    for path in paths[1:]:
        _add(sums, load_checkpoint(path), first)
    for name, weight in first.model.named_parameters():
        weight.copy_(sums[name] / len(paths))
    return first


def _metrics(headers: Sequence[Header]) -> dict[str, Any]:
    """What is known of the average: from which checkpoints it is made, and what they have in common."""
    stated = [header.metrics.get("update") for header in headers]
    updates = [update for update in stated if type(update) is int]
    corpora = [header.metrics.get("corpus") for header in headers]
    same = {"corpus": corpora[0]} if corpora[0] and corpora.count(corpora[0]) == len(corpora) else {}
    made = {"averaged": [header.path.name for header in headers], "update": max(updates, default=None)}
    return lengths_in(headers[0].metrics) | same | made


def _add(sums: dict[str, torch.Tensor], other: Checkpoint, first: Checkpoint) -> None:
    """Adds the weights of `other`. A function of its own, so that `other` is freed before the next one is loaded."""
    _same_tokenizer(first, other)
    for name, weight in other.model.named_parameters():
        sums[name] += weight.detach()


def _same_tokenizer(first: Checkpoint, other: Checkpoint) -> None:
    if first.tokenizer.to_bytes() != other.tokenizer.to_bytes():
        raise CheckpointError(
            f"These checkpoints cannot be averaged: {other.path} has another vocabulary than {first.path}, so the same "
            "row of their embeddings means different tokens. Name checkpoints of one run."
        )
