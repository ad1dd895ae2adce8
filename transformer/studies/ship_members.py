"""Copies members of a queue into the folder of checkpoints, as `PREFIX-NAME.safetensors`, each with its card.

The members that are copied have a `lesson` in the queue (a few sentences on what the member shows). Of a member with
several seeds, the run with the first seed is copied. The file is the checkpoint that the run chose and that was scored.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformer.checkpoint.header import read_header
from transformer.errors import HeadlightError
from transformer.files.atomic_write import replacing
from transformer.studies.measure_member import read_result
from transformer.studies.study_report import SIGNATURES, number, table
from transformer.studies.training_queue import Queue, Training

Result = dict[str, Any]

EXACT: dict[str, Callable[[Result], str]] = {  # of toy tasks
    "exact match, beam 4": lambda result: f"{result['beam_4']['exact_match']:.1%}",
    "exact match, greedy": lambda result: f"{result['greedy']['exact_match']:.1%}",
}
MEASURED: dict[str, Callable[[Result], str]] = {
    "perplexity per token": lambda result: number(result["perplexity"], 2),
    "BLEU, beam 4": lambda result: f"{result['beam_4']['bleu']:.1f}",
    "BLEU, greedy": lambda result: f"{result['greedy']['bleu']:.1f}",
    "chrF, beam 4": lambda result: f"{result['beam_4']['chrf']:.1f}",
    "chrF, greedy": lambda result: f"{result['greedy']['chrf']:.1f}",
}


def ship(queue: Queue, runs: Path, folder: Path) -> list[Path]:
    """Copies every member that has a lesson and a result into `folder`. A file that is already there is not changed if
    its run was on another machine.

    Returns:
        The checkpoints that were written.

    Raises:
        HeadlightError: a result is damaged or of another recipe, or its checkpoint is missing.
        OSError: the folder cannot be written to.
    """
    first = {training.member: training for training in reversed(queue.trainings)}
    results = {name: read_result(training, runs / training.folder) for name, training in first.items()}
    base = results[next(iter(queue.recipes))]
    written: list[Path] = []
    for name in queue.lessons:
        training, result = first[name], results[name]
        if result is None or base is None:
            continue
        source = runs / training.folder / result["checkpoint"]
        target = folder / f"{queue.prefix}-{name}.safetensors"
        if not source.is_file() and target.is_file():
            continue  # its run was on another machine, and only its result was imported
        if not source.is_file():
            raise HeadlightError(f"{source}, which was scored, is missing. Remove {source.parent} to repeat the run.")
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(target) as temporary:
            shutil.copyfile(source, temporary)
        with replacing(target.with_suffix(".md")) as temporary:
            temporary.write_text(card(queue, target, training, result, base), encoding="utf-8")
        written.append(target)
    return written


def card(queue: Queue, checkpoint: Path, training: Training, result: Result, base: Result) -> str:
    """The card of this member. `result` is that of this run, `base` that of the first member.

    Raises CheckpointError if the file `checkpoint` is not a checkpoint.
    """
    name, model = training.member, training.recipe.model
    precision = "half" if read_header(checkpoint).half else "single"
    loss = "" if result["train_loss"] is None else f"; the training loss was {result['train_loss']:.2f} at the end"
    changes = queue.changes[name]
    facts = queue.facts | {
        "Architecture": f"N = {model.encoder_layers} + {model.decoder_layers} layers, d_model {model.d_model}, d_ff "
        f"{model.d_ff}, h = {model.heads}, {model.norm}-norm, positions {model.positions}: {result['parameters']:,} "
        f"parameters, stored in {precision} precision",
        "Unlike the base": ", ".join(f"`{change}`" for change in changes) or "nothing: this is the base",
        "Recipe": f"the run {training.folder} of `python -m transformer queue {queue.name}`",
        "Training": f"the checkpoint is of update {result['updates']:,} of {training.recipe.training.updates:,}, after "
        f"{result['target_tokens'] / 1e6:.1f} million target tokens; seed {training.seed}{loss}",
    }
    compared = {f"{queue.prefix}-{name}": result} | ({} if result is base else {"the base": base})
    scores = [["", *compared]]
    for measure, read in ((EXACT if queue.is_toy else {}) | MEASURED).items():
        scores.append([measure, *(read(one) for one in compared.values())])
    if "perplexity_without_mask" in result:
        seen = [f"{one['perplexity_without_mask']:.2f}" if one is result else "" for one in compared.values()]
        scores.append(["perplexity per token, attending to the tokens after it too, as in training", *seen])
    rows = [["", ""], *map(list, facts.items())]
    parts = [f"# {queue.prefix}-{name}", "", queue.lessons[name].strip(), "", *table(rows), ""]
    parts += ["## Scores", ""]
    data = f" --data {queue.text}" if queue.scored_on else ""
    parts += [f"`python -m transformer evaluate {checkpoint}{data} --beam 4`", ""]
    parts += [*table(scores), "", SIGNATURES.format(**result["beam_4"]), ""]
    about = "All members, the paper's table, and where the order differs from the paper's"
    parts += [f"{about}: [{queue.name}]({queue.name}.md).", ""]
    return "\n".join(parts)
