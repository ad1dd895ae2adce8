"""How long a run takes, by timing a few updates of a model that is thrown away.

An update is forward, backward and Adam, as in training, on a batch of the first epoch. The order of the batches is
random, so the first few are a fair sample. Of a batch with more than `MOST_TOKENS` target tokens only some rows are
taken, so that timing takes seconds even where a whole batch would take minutes. Validations are not included: an
untrained model does not know when to end a translation.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch.amp import GradScaler

from transformer.config import PAD, Recipe, TrainingPrecision
from transformer.data.batches import Batch
from transformer.model import Transformer
from transformer.training.autocast import autocast
from transformer.training.loss import summed_loss
from transformer.training.optimizer import make_optimizer

MOST_TOKENS = 4_096  # of one timed update
MOST_UPDATES = 8
MEASURE_FOR = 3.0  # seconds, after which no other update is timed


@dataclass(frozen=True)
class Timing:
    """Timed updates: their number, the target tokens in them, and the seconds that they took."""

    updates: int
    tokens: int
    seconds: float

    @property
    def tokens_per_second(self) -> float:
        return self.tokens / self.seconds


class TimedModel:
    """A model of this recipe with random weights, to be timed."""

    def __init__(self, recipe: Recipe, device: torch.device):
        self._recipe, self._device = recipe, device
        self._model = Transformer(recipe.model).to(device).train()
        self._optimizer = make_optimizer(self._model, recipe.training)

    def update(self, batch: Batch, precision: TrainingPrecision) -> float:
        """The seconds that one update takes."""
        started = time.perf_counter()
        scaler = GradScaler(self._device.type, enabled=precision == "float16")
        with autocast(self._device, precision):
            loss = summed_loss(self._model, batch.to(self._device), self._recipe.training.label_smoothing)
        scaler.scale(loss / batch.target_tokens).backward()
        scaler.step(self._optimizer)
        scaler.update()
        self._optimizer.zero_grad()
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter() - started


def time_updates(model: TimedModel, batches: Sequence[Batch], precision: TrainingPrecision) -> Timing:
    """Times up to `MOST_UPDATES` updates, at least one. A first update before them is not timed, because it
    allocates memory."""
    parts = [some_rows(batch, MOST_TOKENS) for batch in batches[:MOST_UPDATES]]
    model.update(parts[0], precision)
    updates, tokens, seconds = 0, 0, 0.0
    for batch in parts:
        seconds += model.update(batch, precision)
        tokens += batch.target_tokens
        updates += 1
        if seconds > MEASURE_FOR:
            break
    return Timing(updates, tokens, seconds)


def some_rows(batch: Batch, tokens: int) -> Batch:
    """The first rows of a batch, with about `tokens` target tokens; at least one row, at most the whole batch."""
    if batch.target_tokens <= tokens:
        return batch
    rows = max(1, len(batch.labels) * tokens // batch.target_tokens)
    source, target, labels = batch.source[:rows], batch.target[:rows], batch.labels[:rows]
    return Batch(source, target, labels, int((labels != PAD).sum()))
