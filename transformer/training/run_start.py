"""What is decided when a run starts, because it depends on the text and on the machine: the number of updates, and the
precision. Both become a part of the recipe of the run. Then the time that the run will take is estimated."""

import logging
import math
from dataclasses import replace
from itertools import islice
from typing import Any

import torch

from transformer.config import Recipe
from transformer.data.batches import Batch
from transformer.data.training_data import Position, TrainingData
from transformer.training.distributed import Ranks
from transformer.training.precision import faster_precision
from transformer.training.run_folder import Run
from transformer.training.run_report import describe_time
from transformer.training.training_state import read_progress
from transformer.training.update_timing import MOST_UPDATES, TimedModel, time_updates

log = logging.getLogger(__name__)

PRECISIONS = ("float32", "bfloat16", "float16")


def with_updates(recipe: Recipe, data: TrainingData) -> Recipe:
    """The recipe with the number of updates that its epochs take."""
    settings = recipe.training
    if settings.epochs is None:
        return recipe
    updates = max(1, math.ceil(settings.epochs * data.batches_per_epoch / settings.accumulate))
    return replace(recipe, training=replace(settings, epochs=None, updates=updates))


def with_precision(recipe: Recipe, data: TrainingData, where: torch.device, run: Run | None, ranks: Ranks) -> Recipe:
    """The recipe with a precision in place of "auto": that of the run if it is resumed, or else the faster one. Rank 0
    decides for all ranks, because only rank 0 has the state of the run."""
    chosen: str = recipe.training.precision
    if run and chosen == "auto":
        chosen = saved_precision(run) if run.resumed else "auto"
        if chosen not in PRECISIONS:
            chosen, measured = faster_precision(recipe, first_batches(data), where)
            log.info("%s", measured)
    shared: Any = ranks.broadcast(chosen.encode()).decode()
    return replace(recipe, training=replace(recipe.training, precision=shared))


def saved_precision(run: Run) -> str:
    """The precision of a run that is resumed."""
    progress, recipe = read_progress(run.state)
    stated = recipe["training"].get("precision", "auto")  # missing in the state of an older version
    return str(progress.computed_in.partition(" ")[0] if stated == "auto" else stated)


def first_batches(data: TrainingData) -> list[Batch]:
    """The first few batches of the first epoch. The order of its batches is random."""
    return [batch for batch, _ in islice(data.stream(Position()), MOST_UPDATES)]


def expected_time(recipe: Recipe, data: TrainingData, where: torch.device, processes: int) -> str:
    """How long the updates of a run will take on so many processes like this one."""
    batches = first_batches(data)
    timing = time_updates(TimedModel(recipe, where), batches, recipe.training.precision)
    tokens = recipe.training.updates * recipe.training.accumulate * sum(one.target_tokens for one in batches)
    return describe_time(recipe, timing, tokens / len(batches), processes)
