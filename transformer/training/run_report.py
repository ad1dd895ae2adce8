"""What a run reports: a progress bar with the time left on a terminal, plain lines elsewhere, and metrics."""

import shlex
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from transformer.config import OF_TRANSLATIONS, Recipe
from transformer.files.untrusted_values import printable
from transformer.training.flops import readable, training_flop
from transformer.training.measurements import Update
from transformer.training.metrics import Metrics
from transformer.training.run_recipe import command
from transformer.training.samples import Sample
from transformer.training.training import Training
from transformer.training.update_timing import Timing

APP_RUNS = Path(__file__).resolve().parents[2] / "runs"  # the folder of runs of the app, if HEADLIGHT_RUNS is not set
NEWEST = 10  # the time left is estimated from the speed over so many of the last lines


class Report:
    """Displays the progress of a training inside of its `with` block. It does not change what is trained.

    Args:
        peak: floating-point operations per second that all devices together can reach.
    """

    def __init__(self, training: Training, metrics: Metrics, peak: float):
        self._training = training
        self._config = config = training.recipe.training
        self._peak = peak
        self._metrics = metrics
        self._made = deque([(training.progress.update, training.progress.seconds)], maxlen=NEWEST)
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
        self._task: TaskID = self._bar.add_task("", total=config.updates, completed=training.progress.update, text="")

    def __enter__(self) -> "Report":
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()
        self._metrics.close()

    def say(self, text: str) -> None:
        """Prints a line to stderr, above the bar."""
        self._console.print(text, markup=False, soft_wrap=True)  # a path stays on one line

    def update(self, update: Update) -> None:
        """Reports an update, once its measurements have been read."""
        self._bar.update(self._task, completed=update.number)
        if update.number % self._config.log_every == 0 or update.number == self._config.updates:
            self._line(update)

    def _line(self, update: Update) -> None:
        """Writes a line of metrics and prints one. Loss and speed are those of all updates since the last line."""
        progress = self._training.progress
        took = max(progress.recent_seconds, 1e-9)
        values = {
            "loss": progress.recent_loss / progress.recent_tokens,
            "rate": update.rate,
            "gradient_norm": update.gradient_norm,
            "tokens_per_second": progress.recent_tokens / took,
            "mfu": progress.recent_flop / took / self._peak,
            "epoch": progress.epoch,
            "target_tokens": progress.tokens,
            "seconds": progress.seconds,
        }
        self._metrics.write(progress.update, "train", values)
        speed = f"{values['tokens_per_second']:,.0f} tokens/s ({values['mfu']:.0%} MFU)"
        text = f"loss {values['loss']:.3f}  {speed}"
        self._bar.update(self._task, text=text)
        if not self._console.is_terminal:
            first, started = self._made[0]
            seconds_each = (progress.seconds - started) / (progress.update - first)
            left = (self._config.updates - progress.update) * seconds_each
            count = f"update {progress.update}/{self._config.updates}"
            self.say(f"{count}  epoch {progress.epoch + 1}  {text}  {clock(left)} left")
            self._made.append((progress.update, progress.seconds))
        self._training.metrics_written()

    def validation(self, kept: bool, samples: Sequence[Sample]) -> None:
        """After every validation: reports its scores, whether it is the best so far or as good, and sample texts."""
        progress = self._training.progress
        self._metrics.write(progress.update, "valid", progress.scores)
        numbers = [f"{name} {value:.3f}" for name, value in progress.scores.items() if isinstance(value, float)]
        is_best = progress.best_update == progress.update
        said = "" if not kept else "  (best so far)" if is_best else "  (as good as the best so far)"
        self.say(f"update {progress.update} validation: {'  '.join(numbers)}{said}")
        if samples:
            text = samples_text(samples)
            self._metrics.write_samples(progress.update, samples, text)
            self.say(text)


def samples_text(samples: Sequence[Sample]) -> str:
    """Three lines for each sample. A translation may have any character; those that control a terminal are escaped."""
    lines = [f"  {name:<11} {printable(text)}" for sample in samples for name, text in asdict(sample).items()]
    return "\n".join(lines)


def describe(training: Training, pairs: int, peak: float) -> str:
    """The first lines that a run prints. The cost per token is the mean over the validation text."""
    model, device, ranks = training.model, training.device, training.ranks.size
    where = f"{device}" if ranks == 1 else f"{ranks} x {device.type}"
    flop = sum(training_flop(model.config, batch) for batch in training.text.batches)
    tokens = sum(batch.target_tokens for batch in training.text.batches)
    return (
        f"{model.parameter_count:,} parameters on {where}; {pairs:,} training pairs; vocabulary of "
        f"{model.config.vocab_size:,} tokens\n"
        f"Each target token takes {readable(flop / tokens, 'FLOP')}, forward and backward; large matrix products reach "
        f"{readable(peak, 'FLOP/s')} here (the peak)."
    )


def ending(training: Training, taken: int, values: tuple[float, float | None], sentences: int, chosen: Path) -> str:
    """The last lines that a run prints: how good its checkpoints are, and what to do with the one to use.

    Args:
        taken: how many checkpoints were averaged.
        values: the `goodness` of the average and of the best single checkpoint (validation_schedule.py).
        sentences: how many were translated for these.
        chosen: the checkpoint to use.
    """
    settings, progress = training.recipe.training, training.progress
    average, best = values
    translated = settings.best_by in OF_TRANSLATIONS
    digits = 1 if translated else 3
    of = f" of {sentences:,} validation sentences" if translated else ""
    later = (
        f"; that of update {progress.kept_update:,} is as good and is kept"
        if progress.kept_update > progress.best_update
        else ""
    )
    return (
        f"Finished after update {progress.update:,}. {settings.best_by}{of}: {abs(average):.{digits}f} for the average "
        f"of the last {taken} checkpoints, {abs(best or 0.0):.{digits}f} for the best single one (update "
        f"{progress.best_update:,}){later}.\n"
        f"The checkpoint to use is {chosen}\n"
        f"  To translate:      {command('translate', str(chosen))}\n"
        f"  To see inside it:  {app_of(chosen.parent)}, page Training, run {chosen.parent.name}, Open"
    )


def app_of(folder: Path) -> str:
    """The app, and how it must be started to list the run in this folder; by default it lists those in runs/ of the
    repository."""
    runs = folder.resolve().parent
    return "the app" if runs == APP_RUNS else f"the app, started with HEADLIGHT_RUNS={shlex.quote(str(runs))}"


def describe_time(recipe: Recipe, timing: Timing, tokens: float, processes: int = 1) -> str:
    """The line that says how long a run will take.

    Args:
        timing: measured in one process.
        tokens: target tokens in all its updates.
        processes: how many share each update.
    """
    on = f" on each of {processes} processes" if processes > 1 else ""
    return (
        f"{recipe.training.updates:,} updates will take about {rough(tokens / timing.tokens_per_second / processes)}"
        f"{', less if patience ends the run' * (recipe.training.patience > 0)}; validations come on top ("
        f"{timing.updates} timed update{'s' * (timing.updates > 1)} of a model of this size: "
        f"{timing.tokens_per_second:,.0f} target tokens per second{on}). To train for less time, set "
        "training.epochs or training.updates."
    )


def rough(seconds: float) -> str:
    """An estimate in the unit that suits it: `50 seconds`, `93 minutes`, `5.2 hours`, `3.1 days`."""
    for below, unit, name in ((120, 1, "seconds"), (7_200, 60, "minutes"), (172_800, 3_600, "hours")):
        if seconds < below:
            return f"{max(1.0, seconds / unit):.{int(unit == 3_600)}f} {name}"
    return f"{seconds / 86_400:.1f} days"


def clock(seconds: float) -> str:
    """3723 -> "1:02:03"."""
    minutes, second = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{second:02d}"
