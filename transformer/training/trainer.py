"""The training run, from top to bottom (paper, section 5).

    for update u = 1, 2, ...:
        rate from the schedule (equation 3)
        one update of the weights (update.py)
        and now and then: report, validate, save

Everything random is a function of (seed, u) for dropout and of (seed, epoch) for the data, so a run that was killed and
resumed ends in the same bits as one that was left alone (on the CPU, with as many threads; where it cannot, it says
so). Trap: a random generator that runs on from one update to the next breaks this. Test:
test_a_killed_run_ends_in_the_same_bits.

Where torchrun has started several processes, rank 0 follows the recipe and the others assist it (ranks.py).
"""

import json
import time
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path

import torch
from torch.optim import AdamW

from transformer.checkpoint.checkpoint_file import load_checkpoint
from transformer.config import Recipe
from transformer.data.training_data import Position, TrainingData
from transformer.errors import Stopped, TrainingError
from transformer.kernels.malloc import keep_freed_memory
from transformer.kernels.matmul import use_fast_matmul
from transformer.model import Transformer
from transformer.text.tokenizer import Tokenizer
from transformer.training.compilation import compile_layers
from transformer.training.device import arithmetic_of, choose_device, device_of_rank
from transformer.training.distributed import Ranks
from transformer.training.divergence import check_end, may_be_saved
from transformer.training.flops import measured_peak
from transformer.training.init_from import Start, begin
from transformer.training.interrupt import Interrupt
from transformer.training.learning_rate import learning_rate
from transformer.training.metrics import Metrics
from transformer.training.optimizer import make_optimizer
from transformer.training.prefetch import made_for
from transformer.training.run_folder import Run, fit_vocabulary
from transformer.training.run_report import Report, describe
from transformer.training.thread_waiting import spinning_on_free_cores
from transformer.training.training_state import Progress
from transformer.training.update import one_update
from transformer.training.validation import Interrupted, validate
from transformer.training.validation_schedule import goodness, is_finished, validation_is_due


def train(
    recipe: Recipe,
    run_dir: Path,
    resume: bool = False,
    init_from: Path | None = None,
    own_vocabulary: bool = False,
    device: str = "auto",
) -> Path:
    """Trains a model by its recipe, or goes on with it.

    Args:
        run_dir: the folder of the run; see run.py for what it gets.
        resume: go on from where the run in run_dir was saved last.
        init_from: a checkpoint whose weights and vocabulary to start with.
        own_vocabulary: start with its weights, and with the recipe's vocabulary (start.py).
        device: "auto", "cpu", "cuda" or "mps".

    Returns:
        The path of the checkpoint to use: the average if it scores better than the best single one.

    Raises:
        HeadlightError: something a user can mend; also when the run was told to stop, after saving. (Under torchrun
            only rank 0 raises it.)
    """
    keep_freed_memory()
    use_fast_matmul()
    with Ranks() as ranks:
        where = choose_device(device) if ranks.size == 1 else device_of_rank(device, ranks.local)
        if not ranks.first:
            with Interrupt() as stop:
                return assist(recipe, run_dir, where, stop, ranks)
        with Run(run_dir, resume) as run, Interrupt(run.resumed) as stop:
            start = begin(run, resume, init_from, own_vocabulary)
            return follow(recipe, run, start, where, stop, ranks)


def follow(recipe: Recipe, run: Run, start: Start | None, where: torch.device, stop: Interrupt, ranks: Ranks) -> Path:
    """The recipe from top to bottom, in a run's folder that nobody else writes to: what `train` says."""
    data = TrainingData(recipe, run.folder, start.tokenizer if start else run.tokenizer())
    ranks.give(data.tokenizer.to_bytes())
    recipe = fit_vocabulary(recipe, data.tokenizer)
    run.lengths = data.lengths
    model, optimizer = untrained(recipe, where)
    if start:
        start.copy_to(model, data.tokenizer)
    computed_in = arithmetic_of(where, recipe.training.precision)
    progress = run.restore(recipe, model, optimizer, data.fingerprint, data.judged_by, computed_in)
    ranks.give(json.dumps(asdict(progress)).encode())

    settings = recipe.training
    batches = made_for(where, data.stream(Position(progress.epoch, progress.batch)))
    peak = ranks.size * measured_peak(where, settings.precision)
    report = Report(recipe, Metrics(run.folder, progress.update, progress.validated), progress, peak)
    report.say(describe(model, where, ranks.size, data, peak))
    saved = progress.update if run.resumed else None  # None: a new run shows at once that its folder can be written
    ranks.join(model, optimizer, progress.update, settings.label_smoothing)
    stop.asks = True
    with report, spinning_on_free_cores(where):
        while True:
            if validation_is_due(progress, settings) and not stop:
                with suppress(Interrupted):  # then it stays due
                    check(model, data, recipe, run, progress, report, stop)
                    saved = None
            update, ends = progress.update, bool(stop) or is_finished(progress, settings)
            due = saved is None or ends or update % settings.save_every == 0
            good = may_be_saved(progress, settings.warmup, recipe.model.vocab_size)
            if update != saved and due and good:
                run.save(recipe, model, data.tokenizer, optimizer, progress)
                saved = update
            if not validation_is_due(progress, settings):  # a rung has the scores of its update
                run.rung(recipe, model, data.tokenizer, progress)
            stop.hear(ranks.meet(ends, stop.number)[1])  # others may have been told to stop: after one more update
            if ends:
                break
            began = time.monotonic()
            rate = learning_rate(update + 1, settings, recipe.model.d_model)
            made = one_update(model, optimizer, batches, progress, recipe, rate, ranks)
            seconds = time.monotonic() - began
            progress.seconds += seconds
            report.update(progress, made, rate, seconds)
        if not stop:
            check_end(progress, settings.warmup, recipe.model.vocab_size)
            with suppress(Interrupted):
                chosen = finish(run, recipe, data, progress, where, report, stop)
                ranks.give(str(chosen).encode())
                return chosen
    kept = "everything is saved" if saved == progress.update else "what is saved is from before its loss climbed"
    raise Stopped(
        f"Stopped by {stop} after update {progress.update} of {settings.updates}; {kept}. "
        f"To go on, give the same command with --resume (and --run-dir {run.folder})."
    )


def assist(recipe: Recipe, run_dir: Path, where: torch.device, stop: Interrupt, ranks: Ranks) -> Path:
    """What ranks after the first do: their part of every update, from where rank 0 stands to where it ends."""
    data = TrainingData(recipe, run_dir, Tokenizer.from_bytes(ranks.take()))
    recipe = fit_vocabulary(recipe, data.tokenizer)
    model, optimizer = untrained(recipe, where)
    progress = Progress(**json.loads(ranks.take()))
    if progress.corpus != data.fingerprint:
        raise TrainingError(
            f"The training text here is not that of rank 0 ({data.fingerprint} here, {progress.corpus} there). Give "
            "every machine the same files."
        )
    batches = made_for(where, data.stream(Position(progress.epoch, progress.batch)))
    ranks.join(model, optimizer, progress.update, recipe.training.label_smoothing)
    stop.asks = True
    with spinning_on_free_cores(where):
        while not ranks.meet(signal=stop.number)[0]:
            rate = learning_rate(progress.update + 1, recipe.training, recipe.model.d_model)
            one_update(model, optimizer, batches, progress, recipe, rate, ranks)
    return Path(ranks.take().decode())


def untrained(recipe: Recipe, where: torch.device) -> tuple[Transformer, AdamW]:
    """The model as the seed makes it, and its optimizer."""
    torch.manual_seed(recipe.training.seed)
    model = Transformer(recipe.model).to(where)
    compile_layers(model, where, recipe.training.compile)
    return model, make_optimizer(model, recipe.training)


def judge(
    model: Transformer, data: TrainingData, recipe: Recipe, update: int, stop: Interrupt
) -> dict[str, float | str]:
    """The scores of a model on the validation text. Raises Interrupted if the run is told to stop meanwhile."""
    text = data.tokenizer, data.valid_batches, data.valid_pairs
    return validate(model, *text, recipe, update, lambda: bool(stop))


def check(
    model: Transformer,
    data: TrainingData,
    recipe: Recipe,
    run: Run,
    progress: Progress,
    report: Report,
    stop: Interrupt,
) -> None:
    """Validates, keeps this checkpoint for the average unless its loss is high, and as the best one if it is.

    Raises:
        Interrupted: the run was told to stop meanwhile; nothing has changed.
    """
    progress.scores = judge(model, data, recipe, progress.update, stop)
    progress.validated = progress.update
    value = goodness(progress.scores, recipe)
    improved = progress.best is None or value > progress.best
    if improved:
        progress.best, progress.best_update, progress.without_improvement = value, progress.update, 0
    else:
        progress.without_improvement += 1
    if may_be_saved(progress, recipe.training.warmup, recipe.model.vocab_size):
        run.snapshot(recipe, model, data.tokenizer, progress)
    if improved:
        run.checkpoint("best", recipe, model, data.tokenizer, progress)
    report.validation(progress, improved)


def finish(
    run: Run,
    recipe: Recipe,
    data: TrainingData,
    progress: Progress,
    device: torch.device,
    report: Report,
    stop: Interrupt,
) -> Path:
    """Averages the last checkpoints (section 6.1), and says which of average and best to use.

    Raises:
        Interrupted: the run was told to stop; resuming comes back here.
    """
    settings = recipe.training
    if progress.update < settings.updates:
        report.say(f"No better {settings.best_by} in {settings.patience} validations.")
    taken = run.snapshots()[-settings.average_last :]  # the recipe may ask for fewer since
    averaged = load_checkpoint(run.average(taken), device)
    scores = judge(averaged.model, data, recipe, progress.update, stop)
    value, best = goodness(scores, recipe), progress.best
    names = [path.name for path in taken]
    run.checkpoint("average", recipe, averaged.model, data.tokenizer, replace(progress, scores=scores), names)
    chosen = run.path("average" if best is None or value >= best else "best")
    report.say(
        f"Finished after update {progress.update}. {settings.best_by} {abs(value):.3f} for the average of the last "
        f"{len(taken)} checkpoints, {abs(best or 0.0):.3f} for the best single one (update {progress.best_update}).\n"
        f"Use {chosen}"
    )
    return chosen
