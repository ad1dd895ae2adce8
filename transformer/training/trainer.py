"""The training run, from top to bottom (paper, section 5).

    for update u = 1, 2, ...:
        validate, save, stop if due
        one update of the weights (training.py)

On a CPU with the same number of threads, a run that was killed and resumed ends in the same bits as a run that was not
(random_state.py). If device, precision or number of threads have changed, a warning says that the bits will differ.

If torchrun has started several processes (distributed.py), each runs this loop. Rank 0 has the folder of the run;
it validates, saves and reports.
"""

import json
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path

import torch

from transformer.config import Recipe
from transformer.data.batch_parts import Share
from transformer.data.training_data import Position, TrainingData
from transformer.device import choose_device
from transformer.errors import Stopped, TrainingError
from transformer.kernels.malloc import keep_freed_memory
from transformer.kernels.matmul import use_fast_matmul
from transformer.kernels.thread_waiting import spinning_on_free_cores
from transformer.model import Transformer
from transformer.text.pair_tokenizer import read_tokenizer
from transformer.text.tokenizer import Tokenizer
from transformer.training.autocast import arithmetic_of, use_tf32
from transformer.training.back_translation import write_sources
from transformer.training.compilation import compile_decoder_output
from transformer.training.distributed import Ranks, device_of_rank
from transformer.training.flops import measured_peak
from transformer.training.init_from import initialisation
from transformer.training.interrupt import Interrupt
from transformer.training.measurements import Update
from transformer.training.metrics import Metrics
from transformer.training.optimizer import make_optimizer
from transformer.training.prefetch import prefetched
from transformer.training.run_ending import finish
from transformer.training.run_folder import STATE, Run, fit_vocabulary
from transformer.training.run_recipe import keep_recipe, resume_command
from transformer.training.run_report import Report, app_of, describe
from transformer.training.run_start import expected_time, with_precision, with_updates
from transformer.training.training import Training
from transformer.training.training_state import Progress
from transformer.training.validation import Interrupted, ValidationText


def train(
    recipe: Recipe,
    run_dir: str | Path,
    resume: bool = False,
    device: str = "auto",
    ranks: Ranks | None = None,
) -> Path:
    """Trains a model by its recipe, or resumes its training.

    Args:
        run_dir: the folder of the run; run_folder.py says what is stored in it.
        resume: continue from the last saved state of the run in run_dir.
        device: "auto", "cpu", "cuda" or "mps".
        ranks: the processes of the run, if they are connected already.

    Returns:
        The path of the checkpoint to use: the average, unless the best single one scores better.

    Raises:
        HeadlightError: something a user can correct; also after a signal to stop, once the run is saved. (Under
            torchrun only rank 0 raises it.)
    """
    run_dir = Path(run_dir)
    keep_freed_memory()
    use_fast_matmul()
    with ExitStack() as opened:
        ranks = ranks or opened.enter_context(Ranks())
        where = choose_device(device) if ranks.size == 1 else device_of_rank(device, ranks.local)
        use_tf32(where)
        run = opened.enter_context(Run(run_dir, resume)) if ranks.is_main else None
        stop = opened.enter_context(Interrupt(run_dir, run is not None and run.resumed))
        training, report = set_up(recipe, run_dir, run, where, ranks)
        if report:
            opened.enter_context(report)
        training.connect()
        stop.defers = True
        with spinning_on_free_cores(where):
            last_save = loop(training, run, report, stop)
        if not (run and report):
            return Path(ranks.broadcast(b"").decode())
        if not stop:
            training.divergence.check_end()
            with suppress(Interrupted):
                return Path(ranks.broadcast(str(finish(training, run, report, lambda: bool(stop))).encode()).decode())
        raise stopped(training, run, stop, is_saved=last_save == training.progress.update)


def set_up(
    recipe: Recipe, run_dir: Path, run: Run | None, where: torch.device, ranks: Ranks
) -> tuple[Training, Report | None]:
    """The text, the model and the optimizer, new or as the folder of the run has them; on rank 0 also the report."""
    is_new = run is not None and not run.resumed
    if run and is_new:
        keep_recipe(run.folder, recipe)
    given = initialisation(recipe) if is_new else None
    data = load_text(recipe, run_dir, given.tokenizer if given else run.tokenizer() if run else None, where, ranks)
    recipe = with_updates(fit_vocabulary(recipe, data.tokenizer), data)
    recipe, time_text = with_precision(recipe, data, where, run, ranks), ""
    if run and is_new:
        data.warn()
        keep_recipe(run.folder, recipe)  # again, with what has been decided since
        time_text = expected_time(recipe, data, where, ranks.size)
    model = new_model(recipe, where)
    if given:
        given.copy_to(model, data.tokenizer)
    training = prepare(recipe, model, data, run, ranks)
    return training, started_report(training, run, data.size, time_text) if run else None


def stopped(training: Training, run: Run, stop: Interrupt, *, is_saved: bool) -> Stopped:
    """What a run that a signal has stopped raises."""
    kept = "everything is saved" if is_saved else "the saved state is from before the loss rose"
    again = " with torchrun, as before" if training.ranks.size > 1 else ""
    return Stopped(
        f"Stopped by {stop} after update {training.progress.update} of {training.recipe.training.updates}; {kept}. "
        f"To continue{again}: {resume_command(run.folder)}"
    )


def loop(training: Training, run: Run | None, report: Report | None, stop: Interrupt) -> int | None:
    """Trains until the run is finished or a signal stops it. On rank 0 it returns the update that was
    saved last."""
    progress, settings = training.progress, training.recipe.training
    saved = progress.update if run and run.resumed else None  # None: a new run saves before its first update
    while True:
        if run and report and training.validation_is_due and not stop:
            with suppress(Interrupted):  # after an interruption it is still due
                kept = training.validate(lambda: bool(stop))
                if training.divergence.may_be_saved:  # else the files would be newer than the state to resume from
                    run.keep_recent(training)
                    run.keep_best(training, kept)
                report.validation(kept, training.samples())
                saved = None
        ends = run is not None and (bool(stop) or training.is_finished)
        if ends:
            check(training, training.read(), report)
        if run:
            due = saved is None or ends or progress.update % settings.save_every == 0
            if progress.update != saved and due and training.divergence.may_be_saved:
                run.save(training)
                saved = progress.update
            if not training.validation_is_due:  # else wait: a snapshot is stored with the scores of its update
                run.snapshot(training)
        ends, signal = training.ranks.barrier(ends, stop.number)
        stop.receive(signal)  # of another rank: all stop after one more update
        if ends:
            return saved
        check(training, training.update(), report)


def check(training: Training, updates: Sequence[Update], report: Report | None) -> None:
    """Reports updates. Raises TrainingError if they show that the weights diverge."""
    if report:
        for update in updates:
            report.update(update)
            training.divergence.add(update.loss, update.tokens)


def load_text(
    recipe: Recipe, folder: Path, tokenizer: Tokenizer | None, where: torch.device, ranks: Ranks
) -> TrainingData:
    """The training text. Rank 0 writes the sources of monolingual files, and it has or trains the vocabulary, which the
    others get from it."""
    if ranks.is_main:
        write_sources(recipe.data, folder, where, is_resumed=(folder / STATE).exists())
    data = TrainingData(recipe, folder, tokenizer) if ranks.is_main else None
    vocabulary = ranks.broadcast(data.tokenizer.to_bytes() if data else b"")
    return data or TrainingData(recipe, folder, read_tokenizer(vocabulary))


def new_model(recipe: Recipe, where: torch.device) -> Transformer:
    """A model with random weights."""
    torch.manual_seed(recipe.training.seed)
    model = Transformer(recipe.model).to(where)
    compile_decoder_output(model, where, recipe.training.compile)
    return model


def prepare(recipe: Recipe, model: Transformer, data: TrainingData, run: Run | None, ranks: Ranks) -> Training:
    """The training with its optimizer and progress, new or restored from the folder of the run. Only rank 0 has a
    `run`; the others get its progress."""
    where = next(model.parameters()).device
    optimizer = make_optimizer(model, recipe.training)
    progress = Progress()
    if run:
        run.corpus = data.lengths | ({"corpus": data.files} if data.files else {})
        arithmetic = arithmetic_of(where, recipe.training.precision, ranks.size)
        progress = run.restore(recipe, model, optimizer, data, arithmetic)
    shared = ranks.broadcast(json.dumps(asdict(progress)).encode())
    progress = progress if run else Progress(**json.loads(shared))
    if progress.corpus != data.fingerprint:
        raise TrainingError(
            f"The training text here is not that of rank 0 ({data.fingerprint} here, {progress.corpus} there). Give "
            "every machine the same files."
        )
    settings = recipe.training
    share = Share(ranks.rank, ranks.size, settings.accumulate)
    total = 0 if where.type == "cpu" else (settings.updates - progress.update) * settings.accumulate
    batches = prefetched(where, data.stream(Position(progress.epoch, progress.batch), share, total))
    first_words, words = recipe.data.augment.first_word > 0, data.words() if run else None
    text = ValidationText(data.tokenizer, data.valid_batches, data.valid_pairs, first_words, words)
    return Training(recipe, model, optimizer, batches, text, progress, ranks)


def started_report(training: Training, run: Run, pairs: int, time_text: str) -> Report:
    """Creates the report of a run, and prints its first lines: the model, `time_text`, and where the run is stored."""
    progress = training.progress
    peak = training.ranks.size * measured_peak(training.device, training.recipe.training.precision)
    report = Report(training, Metrics(run.folder, progress.update, progress.validated), peak)
    begins = f"It continues after update {progress.update:,}" if run.resumed else f"The run is stored in {run.folder}"
    place = f"{begins}. Ctrl-C stops it and loses nothing. To watch it: {app_of(run.folder)}, page Training."
    report.say("\n".join(filter(None, (describe(training, pairs, peak), time_text, place))))
    return report
