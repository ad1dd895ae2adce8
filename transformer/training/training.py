"""A training: a recipe, a model, its optimizer, the batches, and the progress, which changes here alone.

    gradient = d/dw (sum of the loss over all target tokens of the batches) / their number, then clipped if asked
    one step of Adam at the rate of this update (paper, section 5.3 and equation 3)

Several processes share the work (data_parallel.py); the result is the same.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from transformer.checkpoint.checkpoint_file import TrainedModel
from transformer.config import Recipe
from transformer.data.batches import Batch
from transformer.data.training_data import Position
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.training.data_parallel import DataParallel
from transformer.training.device import autocast
from transformer.training.distributed import Ranks
from transformer.training.divergence import RESUME_ADVICE, check_end, may_be_saved, watch
from transformer.training.flops import training_flop
from transformer.training.learning_rate import learning_rate
from transformer.training.random_state import set_random_state
from transformer.training.training_state import Progress
from transformer.training.validation import ValidationText, validate
from transformer.training.validation_schedule import goodness, is_finished, validation_is_due


@dataclass(frozen=True)
class Update:
    """What was measured in one update, all ranks together."""

    loss: float  # nats, summed over the target tokens
    tokens: int  # the number of those
    gradient_norm: float  # before clipping
    flop: int  # floating-point operations of its matrix products
    rate: float  # the learning rate


@dataclass
class Training:
    """The training of one model in this process.

    Attributes:
        batches: the batches of the recipe, from the position of the progress on, each with the position after it.
        text: what the model is evaluated on.
    """

    recipe: Recipe
    model: Transformer
    optimizer: AdamW
    batches: Iterator[tuple[Batch, Position]]
    text: ValidationText
    progress: Progress = field(default_factory=Progress)
    ranks: Ranks = field(default_factory=Ranks)

    def __post_init__(self) -> None:
        self.parallel = DataParallel(self.ranks, self.model, self.recipe.training.label_smoothing)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def is_finished(self) -> bool:
        """All updates are made, or the score has not improved for too long."""
        return is_finished(self.progress, self.recipe.training)

    @property
    def validation_is_due(self) -> bool:
        return validation_is_due(self.progress, self.recipe.training)

    @property
    def may_be_saved(self) -> bool:
        """Whether the loss shows no sign of divergence."""
        return may_be_saved(self.progress, self.recipe.training.warmup, self.recipe.model.vocab_size)

    def trained(self, metrics: dict[str, Any]) -> TrainedModel:
        """The model as it is now, for a checkpoint with these metrics."""
        return TrainedModel(self.model, self.text.tokenizer, asdict(self.recipe), metrics)

    def connect(self) -> None:
        """Gives all ranks the weights and moments of rank 0, and adds up their gradients from here on."""
        self.parallel.connect(self.optimizer, self.progress.update)

    def update(self) -> Update:
        """Makes the next update, all ranks together.

        Raises:
            TrainingError: the loss is NaN or infinite: weights and the files on disk are those of the update before; or
                the weights diverge.
        """
        started, settings, progress = time.monotonic(), self.recipe.training, self.progress
        rate = learning_rate(progress.update + 1, settings, self.recipe.model.d_model)
        self.model.train()
        set_random_state(settings.seed, progress.update, self.ranks.rank)
        drawn = [next(self.batches) for _ in range(settings.accumulate)]
        self.ranks.barrier()  # a rank that has no batch has reported why
        update = self._step([batch for batch, _ in drawn], rate)
        after = drawn[-1][1]
        progress.update, progress.epoch, progress.batch = progress.update + 1, after.epoch, after.batch
        progress.tokens += update.tokens
        seconds = time.monotonic() - started
        progress.seconds += seconds
        progress.recent_loss += update.loss
        progress.recent_tokens += update.tokens
        progress.recent_flop += update.flop
        progress.recent_seconds += seconds
        return update

    def _step(self, batches: Sequence[Batch], rate: float) -> Update:
        settings = self.recipe.training
        tokens = sum(batch.target_tokens for batch in batches)
        part = self.parallel.part(batches)
        total = torch.zeros((), device=self.device)
        for number, batch in enumerate(part, start=1):
            with self.parallel.synchronised(last=number == len(part)):
                with autocast(self.device, settings.precision):
                    loss = self.parallel.loss(batch.to(self.device))
                (loss * self.ranks.size / tokens).backward()
            total += loss.detach()
        total = self.parallel.sum(total)
        norm = float(clip_grad_norm_(self.model.parameters(), settings.clip_norm or math.inf))
        if not math.isfinite(norm):
            raise TrainingError(
                f"The loss or its gradient is NaN or infinite at update {self.progress.update + 1} (epoch "
                f"{self.progress.epoch + 1}, rate {rate:.2g}). The last saved state is good. {RESUME_ADVICE}"
            )
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.step()
        self.optimizer.zero_grad()
        flop = sum(training_flop(self.recipe.model, batch) for batch in batches)
        return Update(float(total), tokens, norm, flop, rate)

    def check(self, update: Update) -> None:
        """Raises TrainingError if the losses of this and earlier updates show that the weights diverge."""
        watch(self.progress, update.loss, update.tokens, self.recipe.training.warmup, self.recipe.model.vocab_size)

    def check_end(self) -> None:
        """Raises TrainingError if the loss is too high for the last weights to be saved."""
        check_end(self.progress, self.recipe.training.warmup, self.recipe.model.vocab_size)

    def evaluate(self, model: Transformer, stop: Callable[[], bool]) -> dict[str, float | str]:
        """The scores of a model on the validation text. Raises Interrupted if `stop` says so."""
        return validate(model, self.text, self.recipe, self.progress.update, stop)

    def validate(self, stop: Callable[[], bool]) -> bool:
        """Evaluates the model. Returns whether it is the best so far.

        Raises:
            Interrupted: `stop` said so; nothing has changed.
        """
        progress = self.progress
        progress.scores = self.evaluate(self.model, stop)
        progress.validated = progress.update
        value = goodness(progress.scores, self.recipe)
        improved = progress.best is None or value > progress.best
        if improved:
            progress.best, progress.best_update, progress.without_improvement = value, progress.update, 0
        else:
            progress.without_improvement += 1
        return improved

    def metrics_written(self) -> None:
        """What was added up since the last line of metrics is written."""
        progress = self.progress
        progress.recent_loss, progress.recent_tokens = 0.0, 0
        progress.recent_flop, progress.recent_seconds = 0.0, 0.0
