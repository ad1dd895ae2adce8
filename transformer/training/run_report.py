"""What a run says while it runs: a bar with time left on a terminal, plain lines elsewhere, and metrics."""

from types import TracebackType

import torch
from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from transformer.config import Recipe
from transformer.data.training_data import TrainingData
from transformer.model import Transformer
from transformer.training.divergence import watch
from transformer.training.flops import readable, training_flop
from transformer.training.metrics import Metrics
from transformer.training.training_state import Progress
from transformer.training.update import Update


class Report:
    """Shown while `with report:` lasts. What is not yet in the metrics is gathered in `progress`, so that a resumed run
    writes the same lines."""

    def __init__(self, recipe: Recipe, metrics: Metrics, progress: Progress, peak: float):
        """`peak`: floating-point operations a second that all devices together reach at best."""
        self._config = config = recipe.training
        self._vocab_size = recipe.model.vocab_size
        self._peak = peak
        self._metrics = metrics
        self._console = Console(stderr=True, highlight=False)
        self._bar = Bar(
            TextColumn("update {task.completed:.0f}/{task.total:.0f}"),
            BarColumn(),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task: TaskID = self._bar.add_task("", total=config.updates, completed=progress.update, text="")

    def __enter__(self) -> "Report":
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()
        self._metrics.close()

    def say(self, text: str) -> None:
        """Prints a line to stderr, above the bar."""
        self._console.print(text, markup=False, soft_wrap=True)  # a path stays in one piece

    def update(self, progress: Progress, made: Update, rate: float, seconds: float) -> None:
        """After every update, which took so many `seconds`. Raises TrainingError if the weights diverge."""
        progress.recent_loss += made.loss
        progress.recent_tokens += made.tokens
        progress.recent_flop += made.flop
        progress.recent_seconds += seconds
        self._bar.update(self._task, completed=progress.update)
        if progress.update % self._config.log_every == 0 or progress.update == self._config.updates:
            self._line(progress, made, rate)
        watch(progress, made.loss, made.tokens, self._config.warmup, self._vocab_size)

    def _line(self, progress: Progress, made: Update, rate: float) -> None:
        """Of all updates since the line before: metrics, and a line to read."""
        took = max(progress.recent_seconds, 1e-9)
        values = {
            "loss": progress.recent_loss / progress.recent_tokens,
            "rate": rate,
            "gradient_norm": made.gradient_norm,
            "tokens_per_second": progress.recent_tokens / took,
            "share_of_peak": progress.recent_flop / took / self._peak,
            "epoch": progress.epoch,
            "target_tokens": progress.tokens,
            "seconds": progress.seconds,
        }
        self._metrics.write(progress.update, "train", values)
        speed = f"{values['tokens_per_second']:,.0f} tokens/s ({values['share_of_peak']:.0%} of peak)"
        text = f"loss {values['loss']:.3f}  {speed}"
        self._bar.update(self._task, text=text)
        if not self._console.is_terminal:
            left = (self._config.updates - progress.update) * progress.seconds / progress.update
            count = f"update {progress.update}/{self._config.updates}"
            self.say(f"{count}  epoch {progress.epoch + 1}  {text}  {clock(left)} left")
        progress.recent_loss, progress.recent_tokens = 0.0, 0
        progress.recent_flop, progress.recent_seconds = 0.0, 0.0

    def validation(self, progress: Progress, improved: bool) -> None:
        """After every validation: its scores, and whether they are the best so far."""
        self._metrics.write(progress.update, "valid", progress.scores)
        numbers = [f"{name} {value:.3f}" for name, value in progress.scores.items() if isinstance(value, float)]
        self.say(f"update {progress.update} validation: {'  '.join(numbers)}{'  (best so far)' if improved else ''}")


def describe(model: Transformer, device: torch.device, ranks: int, data: TrainingData, peak: float) -> str:
    """The first lines of a run, which so many processes share. What a piece costs is said of the validation text."""
    parameters = sum(parameter.numel() for parameter in model.parameters())
    where = f"{device}" if ranks == 1 else f"{ranks} x {device.type}"
    flop = sum(training_flop(model.config, batch) for batch in data.valid_batches)
    tokens = sum(batch.target_tokens for batch in data.valid_batches)
    return (
        f"{parameters:,} parameters on {where}; {data.size:,} training pairs; {model.config.vocab_size:,} pieces\n"
        f"A target piece takes {readable(flop / tokens, 'FLOP')}, forward and backward; large products make "
        f"{readable(peak, 'FLOP/s')} here (the peak)."
    )


def clock(seconds: float) -> str:
    """1:02:03."""
    minutes, second = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{second:02d}"
