"""A training: a recipe, a model, its optimizer, the batches, and the progress, which only its methods change.

    gradient = d/dw (sum of the loss over all target tokens of the batches) / their number, clipped if asked
    one step of Adam at the rate of this update (paper, section 5.3 and equation 3)

Several processes share the work (data_parallel.py); but for dropout, the result is the same.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_
from torch.optim import AdamW

from transformer.checkpoint.checkpoint_file import TrainedModel
from transformer.config import Recipe, TrainingConfig
from transformer.data.batches import Batch
from transformer.data.training_data import Position
from transformer.errors import TrainingError
from transformer.model import Transformer
from transformer.recipe_files import recipe_for_checkpoint
from transformer.training.autocast import autocast
from transformer.training.data_parallel import DataParallel
from transformer.training.distributed import Ranks
from transformer.training.divergence import RESUME_ADVICE, Divergence
from transformer.training.flops import training_flop
from transformer.training.learning_rate import learning_rate
from transformer.training.loss_scaling import LossScale
from transformer.training.measurements import READ_EVERY, Measurements, Update
from transformer.training.random_state import set_random_state
from transformer.training.samples import Sample, sample_translations
from transformer.training.training_state import Progress
from transformer.training.validation import ValidationText, validate
from transformer.training.validation_schedule import goodness, is_as_good, is_finished, validation_is_due


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
        self.loss_scale = LossScale(self.device, self.recipe.training.precision, self.progress)
        self.divergence = Divergence(self.progress, self.recipe.training.warmup, self.recipe.model.vocab_size)
        self.measurements = Measurements()
        self.failed = torch.zeros((), device=self.device)  # 1: the gradient of an update was NaN or infinite

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

    def trained(self, metrics: dict[str, Any]) -> TrainedModel:
        """The model as it is now, for a checkpoint with these metrics."""
        text = self.text
        return TrainedModel(self.model, text.tokenizer, recipe_for_checkpoint(self.recipe), metrics, text.words)

    def connect(self) -> None:
        """Gives all ranks the weights and moments of rank 0, and adds up their gradients from here on."""
        self.parallel.connect(self.optimizer, self.progress.update)

    def update(self) -> list[Update]:
        """Makes the next update, all ranks together.

        Returns:
            What was measured in this update. On a CUDA device, except in float16, mostly nothing, and from time to time
            what was measured in all updates since the last time (measurements.py).

        Raises:
            TrainingError: the loss or the gradient of one of these updates is NaN or infinite. The weights,
                in memory and on disk, are from before that update.
        """
        started, settings, progress = time.monotonic(), self.recipe.training, self.progress
        rate = learning_rate(progress.update + 1, settings, self.recipe.model.d_model)
        self.model.train()
        drawn = [next(self.batches) for _ in range(settings.accumulate)]
        self.ranks.barrier()  # a rank that has no batch has reported why
        self._step([batch for batch, _ in drawn], rate)
        after = drawn[-1][1]
        progress.update, progress.epoch, progress.batch = progress.update + 1, after.epoch, after.batch
        read = self.read() if self.reads_each or reading_is_due(progress.update, settings) else []
        progress.seconds += (seconds := time.monotonic() - started)
        progress.recent_seconds += seconds
        return read

    @property
    def reads_each(self) -> bool:
        """Whether the numbers of each update are read: waiting for a CPU takes no time (for MPS it was not measured),
        and loss scaling needs them."""
        return self.device.type != "cuda" or self.loss_scale.is_used

    def read(self) -> list[Update]:
        """What was measured in the updates since the last call. Raises TrainingError as `update` does."""
        read, progress = self.measurements.read(), self.progress
        for update in read:
            if not math.isfinite(update.gradient_norm):
                raise not_finite(update.number, update.rate)
            progress.tokens += update.tokens
            progress.recent_loss += update.loss
            progress.recent_tokens += update.tokens
            progress.recent_flop += update.flop
        return read

    def _step(self, batches: Sequence[Batch], rate: float) -> None:
        number, tokens = self.progress.update + 1, sum(batch.whole.target_tokens for batch in batches)
        loss, norm = self._gradients(batches, tokens)
        if self.reads_each:
            while not math.isfinite(norm):
                self.optimizer.zero_grad()
                if not self.loss_scale.overflowed():
                    raise not_finite(number, rate)
                loss, norm = self._gradients(batches, tokens)
        else:
            # From the first NaN on, Adam's kernel changes no weight. The run ends when the numbers are read.
            self.failed = torch.maximum(self.failed, (~norm.isfinite()).float())
            self.optimizer.found_inf = self.failed  # type: ignore[attr-defined]
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.loss_scale.step(self.optimizer)
        self.optimizer.zero_grad()
        flop = sum(training_flop(self.recipe.model, batch) for batch in batches)
        self.measurements.add(Update(number, math.nan, tokens, math.nan, flop, rate), loss, norm)

    def _gradients(self, batches: Sequence[Batch], tokens: int) -> tuple[Tensor, Tensor]:
        """Computes the gradient of each weight, clipped. Returns the summed loss of all ranks and the norm before
        clipping, two scalars."""
        settings, mine = self.recipe.training, [batch for batch in batches if len(batch.labels)]
        set_random_state(settings.seed, self.progress.update, self.ranks.rank)
        total = torch.zeros((), device=self.device)
        for number, batch in enumerate(mine, start=1):
            with self.parallel.synchronised(last=number == len(mine)):
                with autocast(self.device, settings.precision):
                    loss = self.parallel.loss(batch.to(self.device))
                self.loss_scale.scaled(loss * self.ranks.size / tokens).backward()
            total += loss.detach()
        # Trap: if it were clipped before it is unscaled, a gradient would get a norm that is far too small
        # (test_a_gradient_is_clipped_after_it_is_unscaled).
        self.loss_scale.unscale(self.optimizer)
        norm = clip_grad_norm_(self.model.parameters(), settings.clip_norm or math.inf)
        return self.parallel.sum(total), norm

    def evaluate(
        self, model: Transformer, stop: Callable[[], bool], sentences: int | None = None
    ) -> dict[str, float | str]:
        """The scores of a model on the validation text. Raises Interrupted if `stop` says so.

        Args:
            sentences: how many are translated; None: as many as the recipe says.
        """
        recipe = self.recipe
        if sentences is not None:
            recipe = replace(recipe, training=replace(recipe.training, validation_sentences=sentences))
        return validate(model, self.text, recipe, self.progress.update, stop)

    def validate(self, stop: Callable[[], bool]) -> bool:
        """Evaluates the model. Returns whether it is kept as the best; weights that may not be saved never are.

        Raises:
            Interrupted: `stop` said so; nothing has changed.
        """
        progress = self.progress
        progress.scores = self.evaluate(self.model, stop)
        progress.validated = progress.update
        value, best = goodness(progress.scores, self.recipe), progress.best
        kept = self.divergence.may_be_saved and (best is None or is_as_good(value, best, self.recipe))
        if kept:
            progress.kept_update = progress.update
        if kept and (best is None or value > best):
            progress.best, progress.best_update, progress.without_improvement = value, progress.update, 0
        elif progress.update > self.recipe.training.warmup:
            progress.without_improvement += 1
        return kept

    def samples(self) -> list[Sample]:
        """A few sentences of the validation text as the model translates them now; none if `validation_sentences` is
        0."""
        wanted = self.recipe.training.validation_sentences
        return sample_translations(self.model, self.text, self.recipe.decoding.max_extra_length) if wanted else []

    def metrics_written(self) -> None:
        """Sets to 0 what was added up for a line of metrics, because the line has been written."""
        progress = self.progress
        progress.recent_loss, progress.recent_tokens = 0.0, 0
        progress.recent_flop, progress.recent_seconds = 0.0, 0.0


def reading_is_due(update: int, settings: TrainingConfig) -> bool:
    """Whether the measurements of a GPU are read after this update: every `READ_EVERY` updates, and before
    they are reported, the model is validated, or its weights are saved."""
    steps = (READ_EVERY, settings.log_every, settings.validate_every, settings.save_every)
    return update in (settings.updates, *settings.snapshots) or any(update % step == 0 for step in steps)


def not_finite(update: int, rate: float) -> TrainingError:
    """The error of an update whose gradient is NaN or infinite."""
    return TrainingError(
        f"The loss or its gradient is NaN or infinite at update {update} (rate {rate:.2g}). The last saved state is "
        f"good. {RESUME_ADVICE}"
    )
