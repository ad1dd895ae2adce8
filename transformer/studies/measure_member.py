"""Measures a finished member of a family: one `result.json` in the folder of its run.

    parameters, updates, tokens, seconds   what its training cost
    train loss                             the last one in the metrics, with label smoothing and dropout
    loss, perplexity                       per token of the scored text, without smoothing and dropout (table 3)
    BLEU, chrF, exact match                greedy and with beam 4, sources grouped (evaluation.py)

The pairs are those of a text, or 1,000 that a toy task draws and keeps out of every training (toy_tasks.py).

Perplexity per token can be compared between members only if they have the same vocabulary.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from transformer.config import Recipe
from transformer.data.batches import Batch, batch_indices, collate
from transformer.data.corpus import read_pairs
from transformer.data.encoding import encode_pairs
from transformer.data.pair_sources import toy_test_pairs
from transformer.decoding.translator import Translator
from transformer.errors import CorpusError, HeadlightError
from transformer.evaluation import evaluate
from transformer.files.atomic_write import replacing
from transformer.files.strict_json import parse_json
from transformer.files.untrusted_values import shown
from transformer.model import Transformer
from transformer.progress_bar import show_progress
from transformer.studies.training_queue import Training
from transformer.training.loss import mean_loss
from transformer.training.metrics import read_metrics
from transformer.training.resume_check import FREE, differences

RESULT = "result.json"
# Options that a result does not depend on, by section. (`updates` is not one of them: a run may be resumed with more
# updates, but a table compares runs with the same number.)
WITHOUT_EFFECT: dict[str, set[str]] = {
    "model": set(),
    "tokenizer": FREE["tokenizer"],
    "data": FREE["data"],
    "training": {"log_every", "save_every", "half", "compile", "keep_best", "snapshots"},
    "decoding": set(),
}
BATCH = 4000  # tokens; more if a sentence has more


def measure(
    training: Training, folder: Path, checkpoint: Path, scored_on: Path | None, device: torch.device
) -> dict[str, Any]:
    """Scores the checkpoint that a run chose, and writes `result.json` into the run's folder.

    Args:
        folder: of the run. checkpoint: inside it.
        scored_on: a .tsv or .tsv.gz file, columns as in the recipe; None: pairs of the recipe's toy task.

    Returns:
        What is in that file.

    Raises:
        HeadlightError: the text or the checkpoint cannot be read, or no pair of the text is short enough for the model.
        OSError: the file cannot be written.
    """
    data = training.recipe.data
    pairs = toy_test_pairs(data) if scored_on is None else read_pairs(scored_on, data.source_column, data.target_column)
    translator = Translator.load(checkpoint, device)
    model, kept = translator.model, translator.checkpoint
    assert kept is not None
    longest = model.config.max_positions - 1
    encoded = encode_pairs(translator.tokenizer, pairs, longest)
    if not len(encoded):
        raise CorpusError(
            f"{scored_on or training.scored_on}: every pair has more than {longest:,} tokens on a side, too many for "
            "this model. Score it on shorter sentences, or raise model.max_positions."
        )
    room = max(BATCH, 1 + int(np.maximum(*encoded.lengths).max()))
    batches = [collate(*encoded.select(indices)) for indices in batch_indices(*encoded.lengths, room, 0, 0)]
    result: dict[str, Any] = {
        "member": training.member,
        "seed": training.seed,
        "parameters": sum(weight.numel() for weight in model.parameters()),
        "updates": kept.metrics["update"],
        "target_tokens": kept.metrics["target_tokens"],
        "seconds": kept.metrics["seconds"],
        "train_loss": _last_train_loss(folder),
        "scored_on": training.scored_on,
        **loss_per_token(model, batches),
    }
    if not model.config.causal_training:
        model.decoder.training = True  # only this module: no causal mask, and no dropout in its layers
        unmasked = loss_per_token(model, batches)
        model.eval()
        result |= {f"{name}_without_mask": value for name, value in unmasked.items()}
    for name, settings in (
        ("greedy", replace(translator.settings, method="greedy", n_best=1)),
        ("beam_4", replace(translator.settings, method="beam", beam=4, n_best=1)),
    ):
        with show_progress("sentences") as advance:
            result[name] = evaluate(translator, pairs, settings, advance)
    result |= {"checkpoint": checkpoint.name, "recipe": asdict(training.recipe)}
    write_json(folder / RESULT, result)
    return result


def read_result(training: Training, folder: Path) -> dict[str, Any] | None:
    """What `measure` wrote; None if this run has no result yet.

    Raises:
        HeadlightError: the file is damaged, or the run has another recipe or was scored on another text than in the
            queue.
    """
    path = folder / RESULT
    if not path.exists():
        return None
    try:
        result = parse_json(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise _no_result(f"The run in {folder}", error) from None
    return checked(result, training, f"The run in {folder}")


def checked(result: Any, training: Training, whose: str) -> dict[str, Any]:
    """The result that was read from a file, after a check that it is a result of this run.

    Args:
        whose: the name of the run, with which messages begin.

    Raises:
        HeadlightError: it is not a result, or was made with another recipe, or scored on another text.
    """
    try:
        for number in (result["perplexity"], result["beam_4"]["bleu"], result["greedy"]["bleu"], result["parameters"]):
            float(number)
        text = str(result["scored_on"])
        odd = differences(result["recipe"], training.recipe, WITHOUT_EFFECT)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _no_result(whose, error) from None
    if odd:
        raise HeadlightError(
            f"{whose} was made with another recipe: {'; '.join(odd)}. Move it away to repeat it, or change the queue "
            "back."
        )
    if text != training.scored_on:
        raise HeadlightError(
            f"{whose} was scored on {shown(text)}, and the queue scores on {training.scored_on}: such scores cannot be "
            f"compared. Remove its {RESULT} to score it again, or change the queue back."
        )
    assert isinstance(result, dict)
    return result


def recorded(recipe: Recipe) -> dict[str, Any]:
    """The options of the recipe that a result depends on: without the seed, which the result has, and without paths."""
    sections = {
        section: {option: value for option, value in asdict(getattr(recipe, section)).items() if option not in free}
        for section, free in WITHOUT_EFFECT.items()
    }
    sections["training"].pop("seed")
    return sections


def loss_per_token(model: Transformer, batches: list[Batch]) -> dict[str, float]:
    """`loss` in nats per target token (</s> counts), without label smoothing, and its `perplexity`."""
    mean = mean_loss(model, batches)
    return {"loss": mean.loss, "perplexity": mean.perplexity}


def write_json(path: Path, value: object) -> None:
    """Replaces the file atomically.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _no_result(whose: str, error: Exception) -> HeadlightError:
    return HeadlightError(f"{whose} has a damaged result: {shown(str(error))}. Remove its {RESULT} to score it again.")


def _last_train_loss(folder: Path) -> float | None:
    found = [line["loss"] for line in read_metrics(folder / "metrics.jsonl") if line["kind"] == "train"]
    return float(found[-1]) if found else None
